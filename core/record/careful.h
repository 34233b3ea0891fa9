/* SPDX-License-Identifier: MIT */
/*
 * careful.h - the careful way of a trace point: any number of streams, any policy, any stamps, trace
 * points inside of each other, and threads without a place in the thread table.  Wakes a sleeping reader, and
 * the flusher at its mark.
 *
 *   concurrency: as emit.h.
 */
#ifndef PXT_CAREFUL_H
#define PXT_CAREFUL_H

#include "core/record/emit.h"
#include "core/stream/block.h"
#include "core/stream/wanted.h"

/* All of a trace point; the caller is not inside. */
PXT_NOINLINE void pxt_careful_emit(size_t id, const void *data, size_t bytes, const void *address);
/* The streams in @mask one by one; the caller is inside, and has seen those in @live running. */
PXT_NOINLINE void pxt_careful_each(pxt_wanted_mask mask, pxt_wanted_mask live, uint32_t id,
    const void *data, size_t bytes, const void *address);

/* The record is stored. */
PXT_INLINE void pxt_careful_wake(struct pxt_block *block, uint32_t used)
{
	PXT_TESTPOINT(PXT_TP_STORED);
	pxt_block_wake_at(block, used);
}

#endif
