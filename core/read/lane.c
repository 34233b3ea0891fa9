/* SPDX-License-Identifier: MIT */
/* lane.c - where a lane's consumer is, and what begins after that; see lane.h. */
#include "core/read/lane.h"

void pxt_lane_head(struct pxt_lane *lane, uint64_t *pos, uint64_t *seq)
{
	uint64_t head = pxt_cursor_load(&lane->head);
	uint64_t epoch = pxt_twins_load(&lane->epoch);

	*pos = pxt_epoch_pos(epoch, head);
	*seq = pxt_epoch_seq(epoch, head);
}

#if PXT_SMALL
void pxt_lane_move(struct pxt_block *block, struct pxt_lane *lane, uint64_t pos, uint64_t seq)
{
	pxt_lane_move_here(block, lane, pos, seq);
}

bool pxt_lane_is_whole(const struct pxt_ring *ring, const struct pxt_slot *slot)
{
	return pxt_lane_is_whole_here(ring, slot);
}
#endif

void pxt_lane_advance(struct pxt_block *block, struct pxt_lane *lane, uint32_t slots)
{
	pxt_lane_move(
	    block, lane, lane->pos + slots + pxt_carry((uint32_t)lane->seq), lane->seq + 1u);
}

void pxt_lane_jump(struct pxt_block *block, struct pxt_lane *lane, uint64_t pos, uint64_t seq)
{
	pxt_gap_lost(block, seq - lane->seq);
	pxt_wide_set(&lane->first_lost, 0);
	pxt_lane_move(block, lane, pos, seq);
	pxt_lane_publish(lane);
	pxt_block_end_turn(block);
	/* So that a writer looks where the first unread record is now. */
	atomic_store_explicit(&lane->calm, (uint32_t)pos, memory_order_relaxed);
}

/* ---- What is after the position ---- */

uint64_t pxt_lane_next_begin(
    const struct pxt_ring *ring, uint64_t from, uint64_t end, struct pxt_slot *slot)
{
	/* Bound: the slots of the ring. */
	for (; from < end; from++) {
		*slot = pxt_slot_load(&ring->slots[(uint32_t)from & ring->mask]);
		if (pxt_tag_begins(ring->mask, slot->word[0], (uint32_t)from))
			break;
	}
	return from;
}

/* Stamps rise along a lane, so this is the smallest of all that have one.  [proof: floor] */
uint64_t pxt_lane_floor(const struct pxt_ring *ring)
{
	uint32_t size = ring->mask + 1u;
	uint64_t from = ring->lane->pos;
	struct pxt_slot slot = { { 0 } };
	uint64_t pos;
	uint64_t seq;

	pxt_lane_head(ring->lane, &pos, &seq);
	/* Overtaken since: of what is left. */
	if (pos - from > size)
		from = pos - size;
	/* Bound: the slots of the ring. */
	for (; (from = pxt_lane_next_begin(ring, from, pos, &slot)) < pos; from++) {
		if (!pxt_lane_is_mark(&slot))
			return pxt_slot_ticks(&slot);
	}
	return UINT64_MAX;
}

bool pxt_lane_all_drained(struct pxt_block *block)
{
	for (uint32_t i = 0; i <= pxt_block_last(block); i++) {
		struct pxt_lane *lane = pxt_block_lane(block, i);
		uint64_t pos;
		uint64_t seq;

		pxt_lane_head(lane, &pos, &seq);
		if (pos != lane->pos)
			return false;
	}
	return !block->oob[0].info;
}
