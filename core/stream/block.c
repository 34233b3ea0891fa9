/* SPDX-License-Identifier: MIT */
/* block.c - the memory of a stream: where its lanes are, how much room is left, who sleeps; see block.h. */
#include "core/stream/block.h"

#include "core/process/process.h"
#include "port/port.h"

#include <stddef.h>

void pxt_block_lay_out(struct pxt_block *block)
{
	const uint32_t lanes = pxt_block_lanes(block);
	const size_t ring = ((size_t)block->slot_mask + 1u) * sizeof(pxt_cell);

	block->lane_stride = sizeof(struct pxt_lane);
	for (uint32_t i = 0; i < lanes; i++) {
		struct pxt_lane *lane = pxt_block_lane(block, i);

		lane->cells_at = (lanes - i) * sizeof(struct pxt_lane) + i * ring;
		lane->reader_cells_at = lane->cells_at;
	}
}

uint32_t pxt_block_announce_sleep(struct pxt_block *block)
{
	uint32_t seen = atomic_load_explicit(&block->asleep, memory_order_relaxed);

	/* Another one sleeps already: what wakes it wakes this one, too. */
	if (seen & PXT_ASLEEP)
		return seen;
	block->sleeps += PXT_SLEEP_STEP;
	seen = block->sleeps | PXT_WOKEN | PXT_ASLEEP;
	atomic_store_explicit(&block->asleep, seen, memory_order_seq_cst);
	return seen;
}

/* [proof: woken] */
void pxt_block_wake(struct pxt_block *block)
{
	uint32_t seen;

	/* A thread that is about to sleep does not. */
	(void)atomic_fetch_and_explicit(&block->asleep, ~PXT_ASLEEP, memory_order_acq_rel);
	seen = atomic_load_explicit(&block->asleep, memory_order_relaxed);
	/* 0: another writer has done it.  A new sleeper has looked after the record was stored. */
	if (!seen || (seen & PXT_ASLEEP))
		return;
	PXT_TESTPOINT(PXT_TP_WAKES);
	pxt_port_wake(&block->asleep);
	/* Not before: a writer that ends in between leaves the rest to the next.  Of this sleep alone. */
	(void)atomic_compare_exchange_strong_explicit(
	    &block->asleep, &seen, 0u, memory_order_relaxed, memory_order_relaxed);
}

PXT_COLD void pxt_block_refuse(struct pxt_block *block, struct pxt_lane *lane)
{
	pxt_counter_up(&lane->refused);
	/* Pairs with the exchange of the reader, which counts behind it: one of the two sees the other. */
	atomic_thread_fence(memory_order_seq_cst);
	if (!atomic_load_explicit(&block->untold, memory_order_relaxed))
		atomic_store_explicit(&block->untold, 1u, memory_order_release);
	pxt_block_wake_at(block, UINT32_MAX);
}

uint32_t pxt_block_room(struct pxt_block *block)
{
	uint32_t least = block->slot_mask + 1u;

	if (block->full_policy == POSIX_TRACE_LOOP)
		return least;
	for (uint32_t i = 0; i <= pxt_block_last(block); i++) {
		struct pxt_lane *lane = pxt_block_lane(block, i);
		uint32_t used = pxt_head_pos(pxt_cursor_load(&lane->head)) -
		                atomic_load_explicit(&lane->limit, memory_order_acquire);
		uint32_t left = used < block->slot_mask + 1u ? block->slot_mask + 1u - used : 0u;

		least = left < least ? left : least;
	}
	return least;
}

/* ---- What stands for the hot stream where there is none (core/process/process.h) ---- */

/* As far into a block as a trace point looks that finds no hot stream. */
struct pxt_no_hot {
	PXT_ALIGNED(PXT_CACHE_LINE) unsigned char before[offsetof(struct pxt_block, no_short)];
	uint32_t no_short;
};

const struct pxt_no_hot pxt_no_hot = { .no_short = 1u };
