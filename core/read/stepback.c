/* SPDX-License-Identifier: MIT */
/* stepback.c - what was recorded before the counter stepped back; see stepback.h. */
#include "core/read/stepback.h"

/* The latest stamp of a front that is known, if that is after @now; else @now. */
static uint64_t latest_front(struct pxt_block *block, uint64_t now)
{
	uint64_t latest = now;

	for (uint32_t i = 0; i <= pxt_block_last(block); i++) {
		const struct pxt_lane *lane = pxt_block_lane(block, i);

		if (lane->front_state == PXT_FRONT_READY && lane->front_ticks > latest)
			latest = lane->front_ticks;
	}
	return latest;
}

/*
 * What is chosen by a snapshot ahead of the clock holds for that choice alone: afterwards lanes that
 * were seen empty may hold what returned before such a snapshot.
 */
enum pxt_next pxt_stepback_pick(struct pxt_block *block, uint32_t *chosen)
{
	const uint64_t now = pxt_port_ticks_ordered();
	const uint64_t latest = latest_front(block, now);
	enum pxt_next found;

	if (latest == now)
		return PXT_NEXT_HELD;
	pxt_merge_refill(block, latest);
	found = pxt_merge_pick(block, chosen);
	if (block->snapshot > now)
		block->snapshot = now;
	block->turn_end = 0;
	return found;
}

bool pxt_stepback_forgives(struct pxt_block *block)
{
	if (block->give_up <= pxt_port_ticks_ordered())
		return false;
	block->give_up = 0;
	return true;
}
