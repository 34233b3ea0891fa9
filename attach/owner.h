/* SPDX-License-Identifier: MIT */
/*
 * owner.h - the owner's side of a stream with a name: what its files have in common.
 *
 *   concurrency       helper   pull, state   open, close
 *   helper                   -          X             -       close() waits for the helper's end
 *   pull, state              X          X             X       X: by the stream's mutex
 *
 * The helper thread alone talks to others and calls public functions for them.  Under the stream's
 * mutex it only puts a producer's memory into `present` or takes it out, or looks.  Everything
 * that a caller can make it do has a bound: messages of a fixed size, places in a table, one request at a time.
 * It does not wait for connections.  A request takes as long as its function: STOP, FILTER and SNAPSHOT wait for
 * threads that are inside a trace point, producers' too, some hold-back times at most; FLUSH, and CLEAR of a stream
 * with a log, wait for the owner's own device.
 */
#ifndef PXT_OWNER_H
#define PXT_OWNER_H

#include "attach/attach.h"
#include "core/copy/copy.h"
#include "port/port_local.h"

/* Connections beside producers: clients, of which some follow. */
#define PXT_CTLSOCK_SPARE     8u
#define PXT_CTLSOCK_FOLLOWERS 4u
#define PXT_CTLSOCK_PLACES    (CONFIG_PTRACE_ATTACH_MAX + PXT_CTLSOCK_SPARE)
/* Memory of processes that live, and of those that have ended or execute another program, until it was read. */
#define PXT_CTLSOCK_MEMORIES  (4u * CONFIG_PTRACE_ATTACH_MAX)

_Static_assert(PXT_CTLSOCK_PLACES + 2u <= PXT_PORT_WATCH_MAX, "all can be watched at once");
_Static_assert(PXT_CTLSOCK_FOLLOWERS < PXT_CTLSOCK_SPARE, "somebody can always ask");

enum pxt_connection_kind {
	PXT_CONNECTION_NONE = 0,
	PXT_CONNECTION_ASKS,
	PXT_CONNECTION_PRODUCER,
	PXT_CONNECTION_FOLLOWS,
};

struct pxt_connection {
	enum pxt_connection_kind kind;
	int32_t pid;
	uint64_t received;           /* ctlsock.turn when it spoke last */
	uint32_t producer;           /* PRODUCER: of ctlsock.present */
	struct pxt_intake_life life; /* a guest's, before its last exec */
	int end; /* ... and, until it is attached, the descriptor that tells of its end; 0: none, */
	int unknown; /* ... because of this error */
	bool runs;   /* PRODUCER: the last message was START */
	bool guest;  /* PRODUCER: its descriptor shows its end only */
	struct pxt_follow *follow;
};

struct pxt_ctlsock_out {
	struct pxt_ctlsock_reply reply;
	char text[128];
};

struct pxt_ctlsock {
	struct pxt_stream *stream;
	trace_id_t trid;
	struct pxt_ctlsock_files *files;
	struct pxt_port_thread thread;
	_Atomic uint32_t ending;
	_Atomic uint32_t fate; /* enum pxt_helper */
	pxt_wide known_until;  /* ticks: who has sent a message before is attached; by the helper */
	/* The helper takes messages, and may have some whose sender is not attached yet. */
	_Atomic uint32_t hears;
	_Atomic int32_t helper; /* its thread's number */

	/* The helper's: here and after `present`. */
	uint64_t turn;
	uint64_t pulled; /* when, in ticks */
	uint64_t looked; /* ... all descriptors were looked at, or before */
	bool deaf;       /* there was no descriptor for who came: not at once again */
	bool closed;     /* the program has closed the listener: nobody comes any more */
	bool mute;       /* ... or the bell: looks now and then */
	bool late;       /* somebody could not be told yet */
	bool crowd;      /* guests: one came or ended, others will */
	bool learns;     /* a producer has a type that is not known yet */

	uint64_t started; /* ticks, with the stream's mutex; 0: the stream does not run */

	/* With the stream's mutex: the memory that is pulled from. */
	struct pxt_producer_memory *present[PXT_CTLSOCK_MEMORIES];
	uint32_t memories; /* places that somebody had: the rest is empty */

	/* NULL: nobody has the place. */
	struct pxt_producer_memory *producers[PXT_CTLSOCK_MEMORIES];
	struct pxt_producer_memory *spare; /* for those who come next; or NULL */
	struct pxt_port_watch watch[PXT_CTLSOCK_PLACES + 2u];
	struct pxt_connection connection[PXT_CTLSOCK_PLACES];
	char path[PXT_CTLSOCK_PATH];
	struct pxt_port_place place;
	char executable[sizeof(((struct pxt_ctlsock_status *)0)->executable)];
	struct {
		struct pxt_ctlsock_request request;
		char text[PXT_CTLSOCK_TEXT];
	} in;
	struct pxt_ctlsock_out out;
	struct pxt_producer_payload payload; /* with the stream's mutex, too */
};

/*
 * Descriptors, 0: none.  In static memory: a forked child, which does not have the rest, closes
 * them.
 */
struct pxt_ctlsock_files {
	_Atomic uint32_t left; /* a helper that was not waited for has them still */
	int listener;
	int door; /* takes guests: ready while somebody waits at the listener, or with a message */
	int bell;
	int ringer;
	int connection[PXT_CTLSOCK_PLACES];
};

/*
 * A write into memory that another process sent can take as long as that process likes: it may hold the lock of
 * that memory's inode.  So the helper is waited for with a limit, and gives everything back by itself if it
 * comes later.
 */
enum pxt_helper {
	PXT_HELPER_RUNS,
	PXT_HELPER_DONE, /* connections are closed: the thread that joins it frees the rest */
	PXT_HELPER_LEFT, /* nobody waits any more */
};

/* The stream is being shut down, or was. */
PXT_INLINE bool pxt_ctlsock_ending(const struct pxt_ctlsock *ctlsock)
{
	return atomic_load_explicit(&ctlsock->ending, memory_order_acquire) != 0;
}

/* ... and nobody waits for the helper any more: the stream's place may be another one's. */
PXT_INLINE bool pxt_ctlsock_left(const struct pxt_ctlsock *ctlsock)
{
	return atomic_load_explicit(&ctlsock->fate, memory_order_acquire) == PXT_HELPER_LEFT;
}

/* ---- Names (name.c) ---- */

/* EEXIST, EACCES, EINVAL, EAGAIN, ENOMEM or 0: then clients can connect to @path. */
int pxt_name_claim(const char *path, int *listener, struct pxt_port_place *place);
void pxt_name_give_up(const char *path, int listener, const struct pxt_port_place *place);

/* ---- Connections (connections.c); the helper ---- */

/*
 * Those who want to be let in, and what they say; a process that has asked nothing for longest makes room for
 * them.  False: there may be more.
 */
bool pxt_connections_accept(struct pxt_ctlsock *ctlsock);
/* One message of caller @i, and the answer. */
void pxt_connections_receive(struct pxt_ctlsock *ctlsock, unsigned i);
/* Producers that do not know yet that the stream was started or stopped. */
void pxt_connections_notify(struct pxt_ctlsock *ctlsock);
/* The connection ends, from whichever side. */
void pxt_connections_close(struct pxt_ctlsock *ctlsock, unsigned i);
/* How many connections are of @kind. */
unsigned pxt_connections_count(const struct pxt_ctlsock *ctlsock, enum pxt_connection_kind kind);

/* ---- Producers (producers.c); the helper ---- */

/* An errno value, 0 or: it is one from now on. */
int pxt_producers_add(
    struct pxt_ctlsock *ctlsock, unsigned i, const struct pxt_intake_files *files);
/*
 * The same of one that does not wait for an answer.  The connection's descriptor becomes the one that
 * tells of the process' end.
 */
int pxt_producers_add_guest(
    struct pxt_ctlsock *ctlsock, unsigned i, const struct pxt_intake_files *files);
/* The owner's entry of the process' first thread, as it was attached before; 0: it was not. */
uint32_t pxt_producers_main(struct pxt_ctlsock *ctlsock, const struct pxt_connection *guest);
/* Guests see what the stream wants now.  With the stream's mutex. */
void pxt_producers_wish(struct pxt_ctlsock *ctlsock);
/* Its connection has ended. */
void pxt_producers_remove(struct pxt_ctlsock *ctlsock, unsigned i);
/* Whether some have ended whose memory is not empty yet. */
bool pxt_producers_left(const struct pxt_ctlsock *ctlsock);
/* Types that producers have defined by now.  False: there are no producers. */
bool pxt_producers_learn(struct pxt_ctlsock *ctlsock);
/* What producers have recorded, and what became of those that have left. */
void pxt_producers_collect(struct pxt_ctlsock *ctlsock);
/* All of them, whatever is left; nobody pulls any more. */
void pxt_producers_end(struct pxt_ctlsock *ctlsock);

/* ---- Requests (connections.c, ask_filter.c, follow.c); the helper ---- */

/* What the stream is, and does. */
int pxt_connections_status(struct pxt_ctlsock *ctlsock, struct pxt_ctlsock_status *status);
/*
 * An errno value; then @text may say what was wrong.  @passed: descriptors stay the caller's, who has
 * checked @what, that there are as many as are needed, and that the text ends in NUL.
 */
int pxt_connections_do(struct pxt_ctlsock *ctlsock, unsigned i,
    const struct pxt_ctlsock_request *request, const char *words,
    const struct pxt_port_passed *passed, char text[128]);

/* What a unit does that may be off: ENOTSUP then. */
#if CONFIG_PTRACE_TOLOG
PXT_INLINE int pxt_ask_flush(struct pxt_ctlsock *ctlsock)
{
	return posix_trace_flush(ctlsock->trid);
}
#else
PXT_OFF_RETURNS(ENOTSUP, int, pxt_ask_flush, struct pxt_ctlsock *ctlsock);
#endif

#if CONFIG_PTRACE_FILTER
int pxt_ask_filter(
    struct pxt_ctlsock *ctlsock, int how, const char *words, uint32_t bytes, char text[128]);
uint32_t pxt_ask_filter_now(struct pxt_block *block);
#else
PXT_OFF_RETURNS(ENOTSUP, int, pxt_ask_filter, struct pxt_ctlsock *ctlsock, int how,
    const char *words, uint32_t bytes, char text[128]);
PXT_OFF_RETURNS(0, uint32_t, pxt_ask_filter_now, struct pxt_block *block);
#endif

#if CONFIG_PTRACE_SNAPSHOT
int pxt_follow_snapshot(struct pxt_ctlsock *ctlsock, int fd);
int pxt_follow_begin_log(struct pxt_ctlsock *ctlsock, unsigned i, int fd);
/* What is new for those who follow. */
void pxt_follow_all(struct pxt_ctlsock *ctlsock);
void pxt_follow_close(struct pxt_ctlsock *ctlsock, struct pxt_connection *connection);
#else
PXT_OFF_RETURNS(ENOTSUP, int, pxt_follow_snapshot, struct pxt_ctlsock *ctlsock, int fd);
PXT_OFF_RETURNS(
    ENOTSUP, int, pxt_follow_begin_log, struct pxt_ctlsock *ctlsock, unsigned i, int fd);
PXT_OFF(pxt_follow_all, struct pxt_ctlsock *ctlsock);
PXT_OFF(pxt_follow_close, struct pxt_ctlsock *ctlsock, struct pxt_connection *connection);
#endif

#endif
