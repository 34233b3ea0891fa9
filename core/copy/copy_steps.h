/* SPDX-License-Identifier: MIT */
/*
 * copy_steps.h - what making a copy and making it once more (copy.h) have in common.
 *
 *   concurrency: as copy.h; all but complete() with the stream's mutex, so that no thread consumes.
 */
#ifndef PXT_COPY_STEPS_H
#define PXT_COPY_STEPS_H

#include "core/copy/copy.h"

/* So often is a copy begun anew of which writers overwrote too much meanwhile. */
#define PXT_COPY_TRIES 8u

/* Positions of a lane. */
struct pxt_copy_span {
	uint64_t open; /* the first slot that its writer has not stored yet; head: there is none */
	uint64_t head;
};

/* The moment of the copy. */
void pxt_copy_begin(struct pxt_copy *copy, struct pxt_stream *stream);
void pxt_copy_gate(struct pxt_block *to, struct pxt_block *from);
/* Heads, then slots.  False: better once more, if that is possible. */
bool pxt_copy_lanes(struct pxt_copy *copy, struct pxt_block *from, struct pxt_copy_span *spans);
/* Without the mutex: waits for what is unfinished; what is not there then never will be. */
void pxt_copy_complete(
    trace_id_t trid, struct pxt_copy *copy, struct pxt_copy_span *spans, bool quiet);

#endif
