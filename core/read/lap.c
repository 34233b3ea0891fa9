/* SPDX-License-Identifier: MIT */
/* lap.c - what a lane's consumer does after writers overtook it (LOOP); see lap.h. */
#include "core/read/lap.h"

/*
 * The newest mark, if it is at @pos or after it.  Its place has 32 bits: an old one may repeat, so that the
 * slot there is asked.
 */
static bool newest_mark(
    const struct pxt_ring *ring, uint64_t pos, uint64_t end, uint64_t *at, struct pxt_slot *slot)
{
	*at = pos + (uint32_t)(ring->lane->barrier_pos - (uint32_t)pos);
	return *at < end && pxt_lane_next_begin(ring, *at, *at + 1u, slot) == *at &&
	       pxt_lane_is_barrier(slot);
}

uint64_t pxt_lap_marks_before(
    const struct pxt_block *block, const struct pxt_ring *ring, uint64_t pos, uint64_t end)
{
	uint64_t passed = ring->lane->barrier;
	struct pxt_slot slot;
	uint64_t last;

	if (passed == block->barriers || !newest_mark(ring, pos, end, &last, &slot))
		return block->barriers;
	if (passed + 1u == block->barriers)
		return passed;
	/* Several are left: which is the first?  Bound: the slots of the ring. */
	for (; (pos = pxt_lane_next_begin(ring, pos, last, &slot)) < last; pos++) {
		if (pxt_lane_is_barrier(&slot))
			return pxt_slot_ticks(&slot) - 1u;
	}
	return block->barriers - 1u;
}

/*
 * Overtaken again before anything was read since the last time: writers get more room, up to half
 * a lap, or a slow reader would never find a record that stays.
 */
static uint32_t slack_for(struct pxt_block *block, struct pxt_lane *lane, uint32_t size)
{
	if (lane->lap_turn != block->turn)
		lane->lap_slack = 0;
	else
		lane->lap_slack = lane->lap_slack ? lane->lap_slack * 2u : size / 16u;
	lane->lap_turn = block->turn;
	if (lane->lap_slack > size / 2u)
		lane->lap_slack = size / 2u;
	return lane->lap_slack;
}

void pxt_lap_pass(struct pxt_block *block, struct pxt_ring *ring, bool reading)
{
	struct pxt_lane *lane = ring->lane;
	uint32_t size = ring->mask + 1u;
	uint64_t gone = lane->next_ticks ? lane->next_ticks : pxt_wide_load(&lane->first_lost);
	struct pxt_slot slot;
	uint64_t pos;
	uint64_t seq;
	uint64_t from;
	uint64_t least;

	PXT_TESTPOINT(PXT_TP_LAPPED);
	pxt_lane_head(lane, &pos, &seq);
	from = pos - size + (reading ? slack_for(block, lane, size) : 0u);
	from = pxt_lane_next_begin(ring, from < lane->pos ? lane->pos : from, pos, &slot);
	if (from < pos)
		seq -= pxt_tag_before(ring->mask, slot.word[0], slot.word[1], (uint32_t)seq);
	pxt_gap_begin(block, gone);
	lane->barrier = pxt_lap_marks_before(block, ring, from, pos);
	pxt_lane_jump(block, lane, from, seq);
	lane->ruins = (uint32_t)(from - (pos - size));
	/* Rule 3 of merge.c; where nothing that is left has begun, what was lost says it. */
	least = pxt_lane_floor(ring);
	if (least == UINT64_MAX)
		least = gone;
	if (pxt_block_merges(block) && least > block->give_up)
		block->give_up = least;
}

void pxt_lap_notice_all(struct pxt_block *block)
{
	for (uint32_t i = 0; i <= pxt_block_last(block); i++) {
		struct pxt_ring ring = pxt_block_ring(block, i);
		uint64_t pos;
		uint64_t seq;

		pxt_lane_head(ring.lane, &pos, &seq);
		if (pos - ring.lane->pos > ring.mask + 1u)
			pxt_lap_pass(block, &ring, false);
	}
}
