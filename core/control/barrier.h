/* SPDX-License-Identifier: MIT */
/*
 * barrier.h - START and STOP by call: where they are put, and whether they find room.
 *
 *   concurrency: under the stream's mutex, with the lanes closed; pxt_barrier_start_has_place()
 *   beside writers, too: then the answer may be old when it is returned.
 *
 * With several lanes a mark goes into each, so that the merge knows what comes before.  In a stream
 * that does not overwrite and is full, the event is kept beside the lanes (struct pxt_oob).  A Core
 * that makes neither event has barrier_none.c, where a START always finds its place.
 */
#ifndef PXT_BARRIER_H
#define PXT_BARRIER_H

#include "core/stream/block.h"

/* START or STOP with its data.  False: there was no place at all. */
bool pxt_barrier_put(
    struct pxt_block *block, uint32_t id, const void *data, uint32_t bytes, const void *caller);
/* Data of STOP; 0: by call, 1: full. */
#define PXT_STOP_BY_SIGNAL 2
/* STOP with its data, after all that the closed lanes hold. */
void pxt_barrier_put_stop(struct pxt_block *block, int why, const void *caller);
/* The automatic STOP that no thread was told of goes beside the lanes, before a START.  False: no place. */
bool pxt_barrier_put_owed_stop(struct pxt_block *block);
/* Whether a START, and all that must come with it, finds its place. */
bool pxt_barrier_start_has_place(struct pxt_block *block);
/* Of a stream that does not overwrite: nothing can be recorded before something was read. */
bool pxt_barrier_is_full(struct pxt_block *block);

#endif
