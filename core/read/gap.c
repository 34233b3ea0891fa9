/* SPDX-License-Identifier: MIT */
/* gap.c - losses on the way to the reader; see gap.h. */
#include "core/read/gap.h"

void pxt_gap_lost(struct pxt_block *block, uint64_t records)
{
	block->lost += records;
	block->lost_before += records;
}

void pxt_gap_begin(struct pxt_block *block, uint64_t ticks)
{
	/* OVERFLOW was told, nothing was handed out since: still the same gap. */
	if (block->gap == PXT_GAP_RESUME_DUE)
		return;
	if (block->gap == PXT_GAP_NONE ||
	    (ticks && (!block->gap_ticks || ticks < block->gap_ticks)))
		block->gap_ticks = ticks;
	block->gap = PXT_GAP_OVERFLOW_DUE;
}
