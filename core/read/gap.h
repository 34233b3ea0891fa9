/* SPDX-License-Identifier: MIT */
/*
 * gap.h - what was lost before the next event, and whether that was reported.
 *
 *   concurrency: as consumer.h.
 */
#ifndef PXT_GAP_H
#define PXT_GAP_H

#include "core/stream/block.h"

/* LOOP: a gap is reported by OVERFLOW, then RESUME, before whatever comes next. */
enum pxt_gap {
	PXT_GAP_NONE,
	PXT_GAP_OVERFLOW_DUE,
	PXT_GAP_RESUME_DUE
};

/* Counts records that were lost before what comes next. */
void pxt_gap_lost(struct pxt_block *block, uint64_t records);
/* LOOP: a gap, for which OVERFLOW (with the stamp of the first lost, 0 unknown), RESUME are due. */
void pxt_gap_begin(struct pxt_block *block, uint64_t ticks);

#endif
