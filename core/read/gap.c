/* SPDX-License-Identifier: MIT */
/* gap.c - losses on the way to the reader; see gap.h. */
#include "core/read/gap.h"

#include "core/stream/gate.h"

/*
 * A writer that finds the stream stopped by itself is refused behind the stop: the restart tells it.  So
 * while the stream runs, or is stopped by call, all who were refused came before the last start or stop,
 * once the reader has come there.
 */
bool pxt_gap_tells(struct pxt_block *block, uint32_t taken)
{
	uint64_t passed = taken;

	/* Acquire, with the automatic stop: who was refused behind it has not been counted yet. */
	if (pxt_gate_was_auto(block) || block->oob[0].info ||
	    block->full_policy == POSIX_TRACE_DISCARD_NP)
		return false;
	for (uint32_t i = 0; i <= pxt_block_last(block); i++)
		passed += pxt_block_lane(block, i)->seq;
	return passed >= block->calls_at;
}

uint64_t pxt_gap_refused(struct pxt_block *block)
{
	uint64_t refused = 0;
	uint64_t more;

	(void)atomic_exchange_explicit(&block->untold, 0u, memory_order_seq_cst);
	atomic_thread_fence(memory_order_seq_cst);
	for (uint32_t i = 0; i <= pxt_block_last(block); i++)
		refused += pxt_counter_load(&pxt_block_lane(block, i)->refused);
	more = refused - block->refused_told;
	block->lost_before += more;
	block->refused_told = refused;
	return more;
}

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
