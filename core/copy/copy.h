/* SPDX-License-Identifier: MIT */
/*
 * copy.h - what a stream holds at one moment, as a stream of its own that no other thread can find; and a log
 * that grows, made of such copies.
 *
 *   concurrency   take   writers   consumer, control
 *   take                -       -              X           (X: the stream's mutex)
 *
 * A thread that has a copy consumes it as any stream (consumer.h), without a lock.  What a consumer
 * changes in its stream (limits, counts, whether an automatic STOP was handed out) it changes in the copy alone.
 */
#ifndef PXT_COPY_H
#define PXT_COPY_H

#include "core/stream/stream.h"

/* So often is a copy begun anew of which writers overwrote too much meanwhile. */
#define PXT_COPY_TRIES 8u

struct pxt_copy {
	uint64_t moment;          /* records with later stamps do not belong to it */
	uint64_t retrieved;       /* by others, before */
	uint64_t lost_told;       /* to others, before */
	uint64_t refused;         /* by lanes; the copy's own say 0 */
	bool again;               /* made more than once: it goes on where its consumer is */
	struct pxt_stream stream; /* in no table: no identifier, no log yet */
};

/*
 * EINVAL (no such active stream), ENOMEM, or 0: then pxt_copy_free() is due.  Waits up to a
 * hold-back time for records that are unfinished at the moment; those that stay so are lost in
 * the copy.
 */
int pxt_copy_take(trace_id_t trid, struct pxt_copy *copy);
void pxt_copy_free(struct pxt_copy *copy);
/*
 * The same copy once more, of what there is by now, in the same memory: its consumer goes on where it is,
 * whatever the stream's own has done meanwhile.  What was overwritten since, or refused, is lost
 * to the copy, too.  @stream: the same one; it may be about to end (`closing`), but not be gone.  EINVAL: it is
 * another one; or 0.  Not for a copy of which a flush with `exact` has left something out.
 */
int pxt_copy_again(struct pxt_stream *stream, struct pxt_copy *copy);

/*
 * A log that grows, made from private copies of a stream one after the other: for those
 * who look on while a stream goes on.  (Unit Trace To Log makes it: tolog/follow.c.)
 *
 *   concurrency: one caller at a time for one follower; beside everybody else, consumers too.
 *
 * Of the stream nothing is taken: its own readers, flushes and policies notice nothing.  A follower
 * that comes back too late has missed what was overwritten meanwhile; its log says how much.
 */

struct pxt_follow;

/* Bytes in memory that wait for the reader: while there are more, nothing is written. */
#define PXT_FOLLOW_UNREAD ((uint64_t)16 << 20)

/*
 * Begins a log in the file @fd, which stays the caller's, of what @trid holds and of what comes.
 * EINVAL (no such stream, not a file that takes a log), EMFILE, ENOMEM, or an error of the first write.
 */
int pxt_follow_begin(trace_id_t trid, int fd, struct pxt_follow **made);
/*
 * Writes what came since, unless the file is one in memory without a name (memfd_create()) of which
 * too much is in use: a thread that reads it gives back what was read.  An error: of the write, or the stream
 * is gone; the caller may try again, and what was on its way then goes out first.  Cost: a copy of what is new.
 */
int pxt_follow_step(struct pxt_follow *follow);
/*
 * Gives everything back.  @write: after the end of the log, as far as that goes; else the stream is not looked
 * at any more, and nothing is written.
 */
void pxt_follow_end(struct pxt_follow *follow, bool write);

#endif
