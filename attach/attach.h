/* SPDX-License-Identifier: MIT */
/*
 * attach.h - streams with a name, and processes that attach to them: what the files of this unit
 * have in common.  core/stream/share.h tells how it works, format/ctlsock.h what is said at the control socket.
 *
 *   concurrency     helper   pull   producers' helper
 *   helper (ctlsock.c)        -      X          -            X: by the stream's mutex; one thread a stream
 *   pull (intake.c)        X      X          -            consumer, control calls, helper
 *
 * Who may attach: a process that may connect to the socket.  Names lie in a folder of mode 0700 of the user
 * (port/posix/local.c: check_folder()); a path has the file system's permissions.  No credential is compared.
 *
 * Which file does what: DESIGN.md, 1.3.
 */
#ifndef PXT_ATTACH_H
#define PXT_ATTACH_H

#include "core/stream/share.h"
#include "format/ctlsock.h"

/* The unit's table for Core (attach/ctlsock.c). */
extern const struct pxt_share_ops pxt_attach_share;

/* ---- Names (attach/name.c) ---- */

/* Whether @name can be a stream's: length, no ".", "..", "". */
bool pxt_name_valid(const char *name);
/*
 * The socket's path of @name, in the first of the user's folders that has it, or with @make in the
 * first that they can have, which is made where it is missing.  EACCES: the folder is not the user's
 * alone; EINVAL: the path is too long; or 0.
 */
int pxt_name_path(const char *name, bool make, char path[PXT_CTLSOCK_PATH]);

/* ---- Attaching (attach/producer.c, attach/guest.c) ---- */

struct pxt_port_passed;

/* The socket of the stream with that name.  ENOENT: its process has left it; or as the port says. */
int pxt_producer_connect(const char *name, int *connection);
/* The stream in a file of its own in memory, which *memory is, as others may see it. */
int pxt_producer_make(const trace_attr_t *given, int *memory, struct pxt_stream **stream);
/* Gives it its identifier; on an error it is gone. */
int pxt_producer_publish(struct pxt_stream *stream, trace_id_t *trid);
/* Sends the owner a message.  ENOENT: it has gone; ENOTSUP. */
int pxt_producer_request(
    int connection, uint32_t what, int how, const struct pxt_port_passed *files);
/* One call of this process' own, as if its program had made it.  False: the stream is gone. */
bool pxt_producer_set_running(trace_id_t trid, bool running);
/* posix_trace_attach_np() of a guest.  Takes the process lock. */
int pxt_guest_attach(const char *name, const trace_attr_t *attr, trace_id_t *trid);

/* ---- A producer's directory (attach/producer_directory.c) ---- */

/*
 * *fd: sealed memory with a copy of this process' directory that is kept up to date; it stays this
 * unit's.  EAGAIN (no descriptor, or no such memory here), ENOTSUP, ENOMEM or 0.  Takes the process lock.
 */
int pxt_producer_directory(int *fd);
/* In a forked child, which has nothing of it but the descriptor.  Async-signal-safe. */
void pxt_producer_directory_forget(void);

/* ---- Producers' memory (attach/intake.c, intake_pull.c); helper: begin, learn, end; all else with the mutex ---- */

struct pxt_producer_memory; /* one producer */

/* A record of 4,095 bytes of data: whole slots, and what a writer may load before its data. */
#define PXT_PRODUCER_PAYLOAD                                                                       \
	((PXT_CTX_BYTES + PXT_THREAD_EXTRA_BYTES + PXT_DATA_MAX + PXT_SLOT_PAYLOAD - 1u) /         \
	    PXT_SLOT_PAYLOAD * PXT_SLOT_PAYLOAD)
/* Slots of records on their way, of which the largest is one: they stay in the nearest cache. */
#define PXT_PRODUCER_ROW 512u
_Static_assert(PXT_PRODUCER_PAYLOAD / PXT_SLOT_PAYLOAD < PXT_PRODUCER_ROW, "one record at least");

/* Room for both. */
struct pxt_producer_payload {
	unsigned char before[16]; /* loaded along with what follows, never used */
	unsigned char bytes[PXT_PRODUCER_PAYLOAD];
	struct pxt_slot row[PXT_PRODUCER_ROW];
};

/*
 * Memfds of a producer's, -1: none.  A guest's has its directory and its wish (core/stream/share.h) behind the stream,
 * and may count its locks (format/locktally.h).
 */
struct pxt_intake_files {
	int stream;
	int directory;
};

/*
 * Maps @files for reading and checks them whole: sealed against shrinking, headers, geometry, clock.
 * ENOTSUP (another layout or version), EINVAL (no such memory, or not sealed), ENOMEM or 0.  @pid: as the
 * system tells it of the connection (not what the memory says).  What is kept of it is allocated here, so
 * that places which nobody takes cost nothing.  *spare: what the last ones left, or NULL; short
 * processes come one after another.
 */
int pxt_intake_begin(const struct pxt_intake_files *files, int32_t pid,
    struct pxt_producer_memory **made, struct pxt_producer_memory **spare);
/* What the stream does not want is told a guest; all others hear messages. */
void pxt_intake_wish(struct pxt_producer_memory *producer, uint32_t unwanted);
/*
 * Takes over names and descriptions that came since, into this process' name map; without any lock.
 * Called by the helper when a producer arrives, each period, and when a pull has met a type that is
 * not known yet (which wants_types() tells then).
 */
void pxt_intake_numbers_learn(struct pxt_producer_memory *producer);
bool pxt_intake_numbers_wanted(const struct pxt_producer_memory *producer);
/* The producer has gone: what is finished in its memory is still pulled, nothing is waited for. */
void pxt_intake_gone(struct pxt_producer_memory *producer);
/* A process that executes another program goes on with the same first thread. */
struct pxt_intake_life {
	uint64_t number; /* pxt_port_local_life() */
	uint32_t main;   /* the owner's entry of its first thread before; 0: not known */
	bool ended;      /* before it was asked who it is */
};
/* The owner's entry of the first thread; 0: it has none, or is another process than this one.  With the mutex. */
uint32_t pxt_intake_main(
    struct pxt_producer_memory *producer, int32_t pid, const struct pxt_intake_life *life);
void pxt_intake_goes_on(struct pxt_producer_memory *producer, const struct pxt_intake_life *life);
bool pxt_intake_has_gone(const struct pxt_producer_memory *producer);
/* Gone, and nothing is left to pull. */
bool pxt_intake_empty(struct pxt_producer_memory *producer);
void pxt_intake_end(struct pxt_producer_memory *producer, struct pxt_producer_memory **spare);
void pxt_intake_free(struct pxt_producer_memory *spare);
/*
 * struct pxt_share_ops, pull: from @count producers at once, in the order of their stamps.  @producers:
 * entries may be NULL.  @payload: used meanwhile.
 */
uint64_t pxt_intake_pull(struct pxt_stream *stream, struct pxt_producer_memory *const *producers,
    unsigned count, struct pxt_producer_payload *payload, uint64_t clock, bool all);
/* The stream starts at @ticks: older records are nobody's.  */
void pxt_intake_started(struct pxt_producer_memory *producer, uint64_t ticks);

#endif
