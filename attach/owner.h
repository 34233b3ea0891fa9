/* SPDX-License-Identifier: MIT */
/*
 * owner.h - the owner's side of a stream with a name: what its files have in common.
 *
 *   concurrency       helper   pull, state   open, close
 *   helper                   -          X             -       close() waits for the helper's end
 *   pull, state              X          X             X       X: by the stream's mutex
 *
 * The helper thread alone talks to others and calls public functions for them.  Under the stream's
 * mutex it only puts a guest's memory into `present` or takes it out, or looks.  Everything
 * that a caller can make it do has a bound: messages of a fixed size, places in a table, one request at a time.
 * It does not wait for callers, but as long as the function does that a request stands for: STOP, FILTER and
 * SNAPSHOT for what threads, guests' too, are in the middle of, each at most some hold-back times; FLUSH,
 * and CLEAR of a stream with a log, for the owner's own device.
 */
#ifndef PXT_OWNER_H
#define PXT_OWNER_H

#include "attach/attach.h"
#include "core/copy/follow.h"
#include "port/port_local.h"
#include "port/port_thread.h"

#include <stdatomic.h>

/* Beside guests: those who ask, and those who follow. */
#define PXT_DOOR_SPARE     8u
#define PXT_DOOR_FOLLOWERS 4u
#define PXT_DOOR_PLACES    (CONFIG_PTRACE_ATTACH_MAX + PXT_DOOR_SPARE)

_Static_assert(PXT_DOOR_PLACES + 2u <= PXT_PORT_WATCH_MAX, "all can be watched at once");
_Static_assert(PXT_DOOR_FOLLOWERS < PXT_DOOR_SPARE, "somebody can always ask");

enum pxt_caller_kind {
	PXT_CALLER_NONE = 0,
	PXT_CALLER_ASKS,
	PXT_CALLER_GUEST,
	PXT_CALLER_GONE, /* a guest that left: its memory is not empty yet */
	PXT_CALLER_FOLLOWS,
};

struct pxt_caller {
	enum pxt_caller_kind kind;
	int32_t pid;
	uint64_t heard; /* door.turn when it spoke last */
	uint32_t guest; /* GUEST, GONE: of door.present */
	bool runs;      /* GUEST: what it was told */
	struct pxt_follow *follow;
};

struct pxt_door_out {
	struct pxt_door_reply reply;
	char text[128];
};

struct pxt_door {
	struct pxt_stream *stream;
	trace_id_t trid;
	struct pxt_door_files *files;
	struct pxt_port_thread thread;
	_Atomic uint32_t ending;

	/* The helper's: here and behind `present`. */
	uint64_t turn;
	uint64_t pulled; /* when, in ticks */
	bool deaf;       /* there was no descriptor for who came: not at once again */
	bool late;       /* somebody could not be told yet */
	bool learns;     /* a guest has a type that is not known yet */

	/* With the stream's mutex: the memory that is pulled from. */
	struct pxt_guest_memory *present[CONFIG_PTRACE_ATTACH_MAX];

	struct pxt_guest_memory *guests[CONFIG_PTRACE_ATTACH_MAX]; /* NULL: nobody has the place */
	struct pxt_port_watch watch[PXT_DOOR_PLACES + 2u];
	struct pxt_caller caller[PXT_DOOR_PLACES];
	char path[PXT_DOOR_PATH];
	struct pxt_port_place place;
	char executable[sizeof(((struct pxt_door_status *)0)->executable)];
	struct {
		struct pxt_door_request request;
		char text[PXT_DOOR_TEXT];
	} in;
	struct pxt_door_out out;
	struct pxt_guest_payload payload; /* with the stream's mutex, too */
};

/*
 * Descriptors, 0: none.  In static memory: a forked child, which does not have the rest, closes
 * them.
 */
struct pxt_door_files {
	int listener;
	int bell;
	int caller[PXT_DOOR_PLACES];
};

/* ---- Names (name.c) ---- */

/* EEXIST, EACCES, EINVAL, EAGAIN, ENOMEM or 0: then clients can connect to @path. */
int pxt_door_claim(const char *path, int *listener, struct pxt_port_place *place);
void pxt_door_give_up(const char *path, int listener, const struct pxt_port_place *place);

/* ---- Callers (callers.c); the helper ---- */

/* Those who want to be let in; whoever has asked nothing for longest makes room for them. */
void pxt_door_let_in(struct pxt_door *door);
/* One message of caller @i, and the answer. */
void pxt_door_hear(struct pxt_door *door, unsigned i);
/* Guests that do not know yet that the stream was started or stopped. */
void pxt_door_tell_guests(struct pxt_door *door);
/* The connection ends, from whichever side. */
void pxt_door_hang_up(struct pxt_door *door, unsigned i);
/* How many callers are of @kind. */
unsigned pxt_door_count(const struct pxt_door *door, enum pxt_caller_kind kind);

/* ---- Guests (guests.c); the helper ---- */

/* An errno value, 0 or: it is one from now on.  @fd: its stream, its directory. */
int pxt_door_guest_comes(struct pxt_door *door, unsigned i, const int fd[2]);
/* Its connection has ended. */
void pxt_door_guest_goes(struct pxt_door *door, unsigned i);
/* Types that guests have defined by now.  False: there are no guests. */
bool pxt_door_learn(struct pxt_door *door);
/* What guests have recorded, and what became of those that have left. */
void pxt_door_collect(struct pxt_door *door);
/* All of them, whatever is left; nobody pulls any more. */
void pxt_door_guests_end(struct pxt_door *door);

/* ---- Requests (request.c, ask_*.c, follow.c); the helper ---- */

/* What the stream is, and does. */
int pxt_door_status(struct pxt_door *door, struct pxt_door_status *status);
/*
 * An errno value; then @text may say what was wrong.  @fd: descriptors stay the caller's, who has
 * checked @what, that there are as many as are needed, and that the text ends in NUL.
 */
int pxt_door_do(struct pxt_door *door, unsigned i, const struct pxt_door_request *request,
    const char *words, const int *fd, char text[128]);
/* What a unit does that may be off: ENOTSUP then. */
int pxt_door_do_flush(struct pxt_door *door);
int pxt_door_do_filter(
    struct pxt_door *door, int how, const char *words, uint32_t bytes, char text[128]);
uint32_t pxt_door_filtered(struct pxt_block *block);
int pxt_door_do_snapshot(struct pxt_door *door, int fd);
int pxt_door_do_follow(struct pxt_door *door, unsigned i, int fd);
/* What is new for those who follow. */
void pxt_door_follow_all(struct pxt_door *door);
void pxt_door_follow_end(struct pxt_caller *caller);

#endif
