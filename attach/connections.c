/* SPDX-License-Identifier: MIT */
/*
 * connections.c - connections of a stream's control socket: accepted, received from, sent to, and closed,
 * also where the other process is gone; and what others may ask there.
 *
 * Requests are the public functions, called with the stream's identifier as the program itself calls them; so what
 * they may do beside others, and what they record of it, is what is known of them.
 */
#include "attach/owner.h"

#include "core/control/control.h"
#include "core/read/consumer.h"

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
		error = pxt_connections_do(
		    ctlsock, i, request, ctlsock->in.text, passed, ctlsock->out.text);
		if (request->what == PXT_CTLSOCK_GUEST) {
			if (error)
				pxt_connections_close(ctlsock, i);
			return;
		}
		if (!error)
			error = pxt_connections_status(ctlsock, &ctlsock->out.reply.status);
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

/* ---- What others may ask of a stream ---- */

/* ---- What it is ---- */

static uint32_t state_of(struct pxt_block *block)
{
	switch (pxt_block_state(block)) {
	case PXT_GATE_OFF:
		return PXT_CTLSOCK_STOPPED;
	case PXT_GATE_AUTO:
		return PXT_CTLSOCK_FULL;
	default:
		return PXT_CTLSOCK_RUNNING;
	}
}

/* Slots that hold what was not read yet; of a lane that was overtaken: all. */
static uint64_t slots_used(struct pxt_block *block)
{
	uint64_t size = (uint64_t)block->slot_mask + 1u;
	uint64_t sum = 0;

	for (uint32_t i = 0; i <= pxt_block_last(block); i++) {
		struct pxt_lane *lane = pxt_block_lane(block, i);
		uint64_t held = pxt_lane_end(lane) - lane->pos;

		sum += held < size ? held : size;
	}
	return sum;
}

static void fill(struct pxt_ctlsock *ctlsock, struct pxt_ctlsock_status *status)
{
	struct pxt_block *block = ctlsock->stream->block;
	struct posix_trace_counts_np counts;

	pxt_status_counts(ctlsock->stream, &counts);
	status->pid = block->pid;
	status->state = state_of(block);
	status->full_policy = block->full_policy;
	status->with_log = block->with_log;
	status->filtered = pxt_ask_filter_now(block);
	status->slot_count = ((uint64_t)block->slot_mask + 1u) * pxt_block_lanes(block);
	status->slots_used = slots_used(block);
	status->written = counts.posix_written_np;
	status->retrieved = counts.posix_retrieved_np;
	status->lost = counts.posix_lost_np;
	status->cleared = counts.posix_cleared_np;
	status->held = counts.posix_held_np;
	status->created_sec = block->created.realtime.tv_sec;
	status->created_nsec = (uint32_t)block->created.realtime.tv_nsec;
	(void)strncpy(status->name, block->attr._pxt_name, sizeof(status->name) - 1u);
}

int pxt_connections_status(struct pxt_ctlsock *ctlsock, struct pxt_ctlsock_status *status)
{
	memset(status, 0, sizeof(*status));
	if (pxt_ctlsock_ending(ctlsock) || !pxt_stream_enter(ctlsock->stream))
		return ECANCELED;
	fill(ctlsock, status);
	pxt_stream_unlock(ctlsock->stream);
	status->producers = pxt_connections_count(ctlsock, PXT_CONNECTION_PRODUCER);
	memcpy(status->executable, ctlsock->executable, sizeof(status->executable));
	return 0;
}

/* ---- What it does ---- */

/* The stream tells who was not let in. */
static int attach(struct pxt_ctlsock *ctlsock, unsigned i,
    const struct pxt_ctlsock_request *request, const struct pxt_port_passed *passed)
{
	const struct pxt_intake_files files = { passed->fd[0],
		passed->count > 1 ? passed->fd[1] : -1 };
	int error;

	if (request->what != PXT_CTLSOCK_GUEST)
		error = pxt_producers_add(ctlsock, i, &files);
	else if (request->how)
		error = request->how & 0xffff;
	else
		error = pxt_producers_add_guest(ctlsock, i, &files);
	if (error && pxt_stream_enter(ctlsock->stream)) {
		pxt_sysevent_error_of(ctlsock->stream->block, POSIX_TRACE_ERROR_ATTACH_NP, error,
		    ctlsock->connection[i].pid);
		pxt_stream_unlock(ctlsock->stream);
	}
	return error;
}

int pxt_connections_do(struct pxt_ctlsock *ctlsock, unsigned i,
    const struct pxt_ctlsock_request *request, const char *words,
    const struct pxt_port_passed *passed, char text[128])
{
	/* Core waits for types to be learnt, when it stops or copies; here that would be for itself. */
	(void)pxt_producers_learn(ctlsock);
	switch ((enum pxt_ctlsock_what)request->what) {
	case PXT_CTLSOCK_ATTACH:
	case PXT_CTLSOCK_GUEST:
		return attach(ctlsock, i, request, passed);
	case PXT_CTLSOCK_STATUS:
		return 0;
	case PXT_CTLSOCK_START:
		return posix_trace_start(ctlsock->trid);
	case PXT_CTLSOCK_STOP:
		return posix_trace_stop(ctlsock->trid);
	case PXT_CTLSOCK_CLEAR:
		return posix_trace_clear(ctlsock->trid);
	case PXT_CTLSOCK_FLUSH:
		return pxt_ask_flush(ctlsock);
	case PXT_CTLSOCK_FILTER:
		return pxt_ask_filter(ctlsock, request->how, words, request->text_bytes, text);
	case PXT_CTLSOCK_SNAPSHOT:
		return pxt_follow_snapshot(ctlsock, passed->fd[0]);
	case PXT_CTLSOCK_FOLLOW:
		return pxt_follow_begin_log(ctlsock, i, passed->fd[0]);
	default:
		return EPROTO;
	}
}
