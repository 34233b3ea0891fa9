/* SPDX-License-Identifier: MIT */
/* callers.c - connections of a stream's door: who is let in, what is heard and said. */
#include "attach/owner.h"

#include <errno.h>
#include <string.h>

unsigned pxt_door_count(const struct pxt_door *door, enum pxt_caller_kind kind)
{
	unsigned count = 0;

	for (unsigned i = 0; i < PXT_DOOR_PLACES; i++)
		count += door->caller[i].kind == kind;
	return count;
}

/* A guest's memory is looked at for as long as something is in it; its place is free after that. */
void pxt_door_hang_up(struct pxt_door *door, unsigned i)
{
	struct pxt_caller *caller = &door->caller[i];
	int fd = door->files->caller[i];

	if (caller->kind == PXT_CALLER_GUEST) {
		pxt_door_guest_goes(door, i);
	} else if (caller->kind != PXT_CALLER_GONE) {
		if (caller->kind == PXT_CALLER_FOLLOWS)
			pxt_door_follow_end(caller);
		caller->kind = PXT_CALLER_NONE;
	}
	door->files->caller[i] = 0;
	if (fd)
		pxt_port_local_hang_up(fd);
}

/* ---- Letting in ---- */

/* Guests and followers leave enough places: somebody who asks, or who says nothing, has to go. */
static unsigned make_room(struct pxt_door *door)
{
	unsigned longest = PXT_DOOR_PLACES;

	for (unsigned i = 0; i < PXT_DOOR_PLACES; i++) {
		const struct pxt_caller *caller = &door->caller[i];

		if (caller->kind == PXT_CALLER_NONE)
			return i;
		if (caller->kind == PXT_CALLER_ASKS &&
		    (longest == PXT_DOOR_PLACES || caller->heard < door->caller[longest].heard))
			longest = i;
	}
	return longest;
}

/* No more at once than there are places beside guests: whoever comes in such crowds waits a turn. */
void pxt_door_let_in(struct pxt_door *door)
{
	for (unsigned left = PXT_DOOR_SPARE; left; left--) {
		unsigned i;
		int32_t pid;
		int fd;
		int error = pxt_port_local_accept(door->files->listener, &fd, &pid);

		door->deaf = error == EMFILE;
		if (error)
			return;
		i = make_room(door);
		pxt_door_hang_up(door, i);
		door->files->caller[i] = fd;
		door->caller[i] =
		    (struct pxt_caller){ .kind = PXT_CALLER_ASKS, .pid = pid, .heard = door->turn };
	}
}

/* ---- Saying ---- */

/* EAGAIN: it does not take what it was told before; EPIPE. */
static int say(struct pxt_door *door, unsigned i, uint32_t what, int error)
{
	struct pxt_door_out *out = &door->out;
	size_t text = out->text[0] ? strlen(out->text) + 1u : 0u;

	out->reply.magic = PXT_DOOR_MAGIC;
	out->reply.version = PXT_DOOR_VERSION;
	out->reply.what = what;
	out->reply.error = error;
	out->reply.text_bytes = (uint32_t)text;
	return pxt_port_local_send(door->files->caller[i], out, sizeof(out->reply) + text, NULL);
}

static void say_error(struct pxt_door *door, unsigned i, uint32_t what, int error, const char *why)
{
	memset(&door->out, 0, sizeof(door->out));
	memcpy(door->out.text, why, strlen(why));
	(void)say(door, i, what, error);
	pxt_door_hang_up(door, i);
}

/* ---- Hearing ---- */

static unsigned descriptors_of(uint32_t what)
{
	switch (what) {
	case PXT_DOOR_ATTACH:
		return 2;
	case PXT_DOOR_SNAPSHOT:
	case PXT_DOOR_FOLLOW:
		return 1;
	default:
		return 0;
	}
}

/* What speaks against a message of @bytes bytes as a whole; NULL: nothing. */
static const char *malformed(const struct pxt_door *door, size_t bytes, unsigned descriptors)
{
	const struct pxt_door_request *request = &door->in.request;

	if (bytes < sizeof(*request))
		return "too short for a request";
	if (request->magic != PXT_DOOR_MAGIC)
		return "not a request";
	if (request->text_bytes != bytes - sizeof(*request))
		return "a text of another length than the request says";
	if (request->text_bytes && door->in.text[request->text_bytes - 1u] != '\0')
		return "a text without an end";
	if (request->what < PXT_DOOR_ATTACH || request->what > PXT_DOOR_FOLLOW)
		return "an unknown request";
	if (request->text_bytes && request->what != PXT_DOOR_FILTER)
		return "a text that belongs to nothing";
	if (descriptors > descriptors_of(request->what))
		return "a descriptor that belongs to nothing";
	if (descriptors < descriptors_of(request->what))
		return "a descriptor is missing";
	return NULL;
}

/* Another version's messages may be of any form: that is said before anything else is looked at. */
static bool other_version(const struct pxt_door *door, size_t bytes)
{
	const struct pxt_door_request *request = &door->in.request;

	return bytes >= 2u * sizeof(uint32_t) && request->magic == PXT_DOOR_MAGIC &&
	       request->version != PXT_DOOR_VERSION;
}

static void take_request(
    struct pxt_door *door, unsigned i, size_t bytes, const struct pxt_port_passed *passed)
{
	const struct pxt_door_request *request = &door->in.request;
	const char *why = malformed(door, bytes, passed->count);
	int error;

	if (other_version(door, bytes)) {
		say_error(door, i, 0, ENOTSUP, "another version");
	} else if (why) {
		say_error(door, i, 0, EPROTO, why);
	} else {
		memset(&door->out, 0, sizeof(door->out));
		error = pxt_door_do(door, i, request, door->in.text, passed->fd, door->out.text);
		if (!error)
			error = pxt_door_status(door, &door->out.reply.status);
		/* Who asks and does not listen goes. */
		if (say(door, i, request->what, error))
			pxt_door_hang_up(door, i);
		PXT_TESTPOINT(PXT_TP_OWNER_SAID);
	}
}

void pxt_door_hear(struct pxt_door *door, unsigned i)
{
	struct pxt_caller *caller = &door->caller[i];
	struct pxt_port_passed passed;
	size_t bytes;
	int error;

	/* Its place may have become another one's in this turn. */
	if (!door->files->caller[i])
		return;
	error = pxt_port_local_receive(
	    door->files->caller[i], &door->in, sizeof(door->in), &bytes, &passed);
	if (error == EAGAIN)
		return;
	/* Guests and followers have nothing more to say. */
	if (error == EPIPE || caller->kind != PXT_CALLER_ASKS) {
		pxt_door_hang_up(door, i);
	} else {
		caller->heard = door->turn;
		if (error)
			say_error(door, i, 0, EPROTO,
			    error == EMSGSIZE ? "too long for a request" : "too many descriptors");
		else
			take_request(door, i, bytes, &passed);
	}
	pxt_port_local_drop(&passed);
}

void pxt_door_tell_guests(struct pxt_door *door)
{
	for (unsigned i = 0; i < PXT_DOOR_PLACES; i++) {
		struct pxt_caller *caller = &door->caller[i];
		bool runs = pxt_block_state(door->stream->block) != PXT_GATE_OFF;

		if (caller->kind != PXT_CALLER_GUEST || caller->runs == runs)
			continue;
		memset(&door->out, 0, sizeof(door->out));
		door->out.reply.status.state = runs ? PXT_DOOR_RUNNING : PXT_DOOR_STOPPED;
		/* One that is stopped by a debugger hears of it later; one that is gone shows that. */
		if (say(door, i, runs ? PXT_DOOR_START : PXT_DOOR_STOP, 0) == 0)
			caller->runs = runs;
		else
			door->late = true;
	}
}
