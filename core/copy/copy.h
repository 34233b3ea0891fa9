/* SPDX-License-Identifier: MIT */
/*
 * copy.h - what a stream holds at one moment, as a stream of its own that no other thread can find.
 *
 *   concurrency   take   writers   consumer, control
 *   take                -       -              X           (X: the stream's mutex)
 *
 * A thread that has a copy consumes it as any stream (consumer.h), without a lock.  What a consumer does
 * to its stream, limits, counts, an automatic STOP that was handed out, it does to words of the
 * copy.
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

#endif
