/* SPDX-License-Identifier: MIT */
/*
 * connections.c - connections of a stream's control socket: accepted, received from, sent to, and closed,
 * also where the other process is gone.
 */
#include "attach/owner.h"

unsigned pxt_connections_count(const struct pxt_ctlsock *ctlsock, enum pxt_connection_kind kind)
{
	unsigned count = 0;

	for (unsigned i = 0; i < PXT_CTLSOCK_PLACES; i++)
		count += ctlsock->connection[i].kind == kind;
	return count;
}

/* A producer's memory is read for as long as something is in it. */
void pxt_connections_close(struct pxt_ctlsock *ctlsock, unsigned i)
{
	struct pxt_connection *connection = &ctlsock->connection[i];
	int fd = ctlsock->files->connection[i];

	if (connection->kind == PXT_CONNECTION_PRODUCER)
		pxt_producers_remove(ctlsock, i);
	else if (connection->kind == PXT_CONNECTION_FOLLOWS)
		pxt_follow_close(ctlsock, connection);
	connection->kind = PXT_CONNECTION_NONE;
	ctlsock->files->connection[i] = 0;
	if (connection->end)
		pxt_port_local_close(connection->end);
	connection->end = 0;
	if (fd && connection->guest)
		pxt_port_local_close(fd);
	else if (fd)
		pxt_port_local_hang_up(fd);
}

/* ---- Letting in ---- */

/* Producers and followers leave enough places: somebody who asks, or who says nothing, has to go. */
static unsigned make_room(struct pxt_ctlsock *ctlsock)
{
	unsigned longest = PXT_CTLSOCK_PLACES;

	for (unsigned i = 0; i < PXT_CTLSOCK_PLACES; i++) {
		const struct pxt_connection *connection = &ctlsock->connection[i];

		if (connection->kind == PXT_CONNECTION_NONE)
			return i;
		if (connection->kind == PXT_CONNECTION_ASKS &&
		    (longest == PXT_CTLSOCK_PLACES ||
		        connection->received < ctlsock->connection[longest].received))
			longest = i;
	}
	return longest;
}

/* No more at once than there are places beside producers: a process that comes in such crowds waits a turn. */
bool pxt_connections_accept(struct pxt_ctlsock *ctlsock)
{
	for (unsigned left = PXT_CTLSOCK_SPARE; left; left--) {
		unsigned i;
		int32_t pid;
		int fd;
		int error = pxt_port_local_accept(ctlsock->files->listener, &fd, &pid);

		ctlsock->deaf = error == EMFILE;
		ctlsock->closed = error == EBADF;
		if (error)
			return error == EAGAIN;
		i = make_room(ctlsock);
		pxt_connections_close(ctlsock, i);
		ctlsock->files->connection[i] = fd;
		ctlsock->connection[i] = (struct pxt_connection){
			.kind = PXT_CONNECTION_ASKS, .pid = pid, .received = ctlsock->turn
		};
		ctlsock->crowd = ctlsock->files->door != 0;
		pxt_connections_receive(ctlsock, i);
		/* Most have sent their message.  What others send from here on, the door shows. */
		if (ctlsock->files->door && ctlsock->connection[i].kind == PXT_CONNECTION_ASKS) {
			pxt_port_local_door_enter(ctlsock->files->door, fd);
			pxt_connections_receive(ctlsock, i);
		}
	}
	/* Others stand at the door. */
	ctlsock->crowd = false;
	return false;
}

/* ---- Replies ---- */

/* EAGAIN: the peer has not read earlier messages; EPIPE. */
static int send_reply(struct pxt_ctlsock *ctlsock, unsigned i, uint32_t what, int error)
{
	struct pxt_ctlsock_out *out = &ctlsock->out;
	size_t text = out->text[0] ? strlen(out->text) + 1u : 0u;

	out->reply.magic = PXT_CTLSOCK_MAGIC;
	out->reply.version = PXT_CTLSOCK_VERSION;
	out->reply.what = what;
	out->reply.error = error;
	out->reply.text_bytes = (uint32_t)text;
	return pxt_port_local_send(
	    ctlsock->files->connection[i], out, sizeof(out->reply) + text, NULL);
}

static void send_error(
    struct pxt_ctlsock *ctlsock, unsigned i, uint32_t what, int error, const char *why)
{
	memset(&ctlsock->out, 0, sizeof(ctlsock->out));
	memcpy(ctlsock->out.text, why, strlen(why));
	(void)send_reply(ctlsock, i, what, error);
	pxt_connections_close(ctlsock, i);
}

/* ---- Hearing ---- */

static unsigned descriptors_of(const struct pxt_ctlsock_request *request)
{
	switch (request->what) {
	case PXT_CTLSOCK_ATTACH:
		return 2;
	case PXT_CTLSOCK_GUEST:
		return request->how ? 0 : 1;
	case PXT_CTLSOCK_SNAPSHOT:
	case PXT_CTLSOCK_FOLLOW:
		return 1;
	default:
		return 0;
	}
}

/* What speaks against a message of @bytes bytes as a whole; NULL: nothing. */
static const char *malformed(const struct pxt_ctlsock *ctlsock, size_t bytes, unsigned descriptors)
{
	const struct pxt_ctlsock_request *request = &ctlsock->in.request;

	if (bytes < sizeof(*request))
		return "too short for a request";
	if (request->magic != PXT_CTLSOCK_MAGIC)
		return "not a request";
	if (request->text_bytes != bytes - sizeof(*request))
		return "a text of another length than the request says";
	if (request->text_bytes && ctlsock->in.text[request->text_bytes - 1u] != '\0')
		return "a text without an end";
	if (request->what < PXT_CTLSOCK_ATTACH || request->what > PXT_CTLSOCK_GUEST)
		return "an unknown request";
	if (request->text_bytes && request->what != PXT_CTLSOCK_FILTER)
		return "a text that belongs to nothing";
	if (descriptors > descriptors_of(request))
		return "a descriptor that belongs to nothing";
	if (descriptors < descriptors_of(request))
		return "a descriptor is missing";
	return NULL;
}

/* Another version's messages may be of any form: that is said before anything else is looked at. */
static bool other_version(const struct pxt_ctlsock *ctlsock, size_t bytes)
{
	const struct pxt_ctlsock_request *request = &ctlsock->in.request;

	return bytes >= 2u * sizeof(uint32_t) && request->magic == PXT_CTLSOCK_MAGIC &&
	       request->version != PXT_CTLSOCK_VERSION;
}

/* What the same process was attached as before its last exec, after which it is @guest. */
static void end_former(struct pxt_ctlsock *ctlsock, struct pxt_connection *guest)
{
	if (!guest->pid)
		return;
	guest->life.main = pxt_producers_main(ctlsock, guest);
	for (unsigned i = 0; i < PXT_CTLSOCK_PLACES; i++) {
		const struct pxt_connection *connection = &ctlsock->connection[i];

		if (connection->kind == PXT_CONNECTION_PRODUCER && connection->guest &&
		    connection->pid == guest->pid)
			pxt_connections_close(ctlsock, i);
	}
}

/* Who it is, and what tells of its end. */
static void know_guest(struct pxt_ctlsock *ctlsock, unsigned i)
{
	struct pxt_connection *guest = &ctlsock->connection[i];
	int error = ENOTSUP;

	if (ctlsock->files->door)
		error = pxt_port_local_life(
		    ctlsock->files->connection[i], guest->pid, &guest->end, &guest->life.number);
	if (error)
		guest->end = 0;
	guest->life.ended = error == ESRCH;
	guest->unknown = guest->life.ended ? 0 : error;
	end_former(ctlsock, guest);
}

/* Requests of another version, or malformed ones, are answered by an error. */
static void take_request(
    struct pxt_ctlsock *ctlsock, unsigned i, size_t bytes, const struct pxt_port_passed *passed)
{
	const struct pxt_ctlsock_request *request = &ctlsock->in.request;
	const char *why = malformed(ctlsock, bytes, passed->count);
	int error;

	if (other_version(ctlsock, bytes)) {
		send_error(ctlsock, i, 0, ENOTSUP, "another version");
	} else if (why) {
		send_error(ctlsock, i, 0, EPROTO, why);
	} else {
		memset(&ctlsock->out, 0, sizeof(ctlsock->out));
		if (request->what == PXT_CTLSOCK_GUEST)
			know_guest(ctlsock, i);
		error = pxt_request_do(
		    ctlsock, i, request, ctlsock->in.text, passed, ctlsock->out.text);
		if (request->what == PXT_CTLSOCK_GUEST) {
			if (error)
				pxt_connections_close(ctlsock, i);
			return;
		}
		if (!error)
			error = pxt_request_status(ctlsock, &ctlsock->out.reply.status);
		/* Who asks and does not listen goes. */
		if (send_reply(ctlsock, i, request->what, error))
			pxt_connections_close(ctlsock, i);
		PXT_TESTPOINT(PXT_TP_OWNER_SAID);
	}
}

void pxt_connections_receive(struct pxt_ctlsock *ctlsock, unsigned i)
{
	struct pxt_connection *connection = &ctlsock->connection[i];
	struct pxt_port_passed passed;
	size_t bytes;
	int error;

	/* Its place may have become another one's in this turn. */
	if (!ctlsock->files->connection[i])
		return;
	/* It has ended: that is all that its descriptor tells. */
	if (connection->kind == PXT_CONNECTION_PRODUCER && connection->guest) {
		ctlsock->crowd = true;
		pxt_connections_close(ctlsock, i);
		return;
	}
	error = pxt_port_local_receive(
	    ctlsock->files->connection[i], &ctlsock->in, sizeof(ctlsock->in), &bytes, &passed);
	if (error == EAGAIN)
		return;
	/* Producers and followers have nothing more to say. */
	if (error == EPIPE || connection->kind != PXT_CONNECTION_ASKS) {
		pxt_connections_close(ctlsock, i);
	} else {
		connection->received = ctlsock->turn;
		if (error)
			send_error(ctlsock, i, 0, EPROTO,
			    error == EMSGSIZE ? "too long for a request" : "too many descriptors");
		else
			take_request(ctlsock, i, bytes, &passed);
	}
	pxt_port_local_drop(&passed);
}

void pxt_connections_notify(struct pxt_ctlsock *ctlsock)
{
	for (unsigned i = 0; i < PXT_CTLSOCK_PLACES; i++) {
		struct pxt_connection *connection = &ctlsock->connection[i];
		bool runs = pxt_block_state(ctlsock->stream->block) != PXT_GATE_OFF;

		if (connection->kind != PXT_CONNECTION_PRODUCER || connection->guest ||
		    connection->runs == runs)
			continue;
		memset(&ctlsock->out, 0, sizeof(ctlsock->out));
		ctlsock->out.reply.status.state = runs ? PXT_CTLSOCK_RUNNING : PXT_CTLSOCK_STOPPED;
		/* One that is stopped by a debugger hears of it later; one that is gone shows that. */
		if (send_reply(ctlsock, i, runs ? PXT_CTLSOCK_START : PXT_CTLSOCK_STOP, 0) == 0)
			connection->runs = runs;
		else
			ctlsock->late = true;
	}
}
