/* SPDX-License-Identifier: MIT */
/* block.c - the memory of a stream: where its lanes are, how much room is left, who sleeps; see block.h. */
#include "core/stream/block.h"

#include "port/port.h"

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

void pxt_block_wake(struct pxt_block *block)
{
	if (atomic_exchange_explicit(&block->asleep, 0u, memory_order_acq_rel))
		pxt_port_wake(&block->asleep);
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
