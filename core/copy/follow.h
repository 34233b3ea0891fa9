/* SPDX-License-Identifier: MIT */
/*
 * follow.h - a log that grows, made from private copies of a stream one after the other: for those
 * who look on while a stream goes on.  (Unit Trace To Log makes it: tolog/follow.c.)
 *
 *   concurrency: one caller at a time for one follower; beside everybody else, consumers too.
 *
 * Of the stream nothing is taken: its own readers, flushes and policies notice nothing.  A follower
 * that comes back too late has missed what was overwritten meanwhile; its log says how much.
 */
#ifndef PXT_FOLLOW_H
#define PXT_FOLLOW_H

#include "core/stream/stream.h"

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
 * too much is in use: a thread that reads it gives back what was read.  An error: of the write, or the stream is gone; it may be tried again all
 * the same, and what was on its way then goes out first.  Cost: a copy of what is new.
 */
int pxt_follow_step(struct pxt_follow *follow);
/*
 * Gives everything back.  @write: after the end of the log, as far as that goes; else the stream is not looked
 * at any more, and nothing is written.
 */
void pxt_follow_end(struct pxt_follow *follow, bool write);

#endif
