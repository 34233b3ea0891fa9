/* SPDX-License-Identifier: MIT */
/*
 * merge.h - which lane's front record comes next.
 *
 *   concurrency: as lane.h.
 */
#ifndef PXT_MERGE_H
#define PXT_MERGE_H

#include "core/read/lane.h"

enum pxt_next {
	PXT_NEXT_NONE,  /* nothing recorded */
	PXT_NEXT_READY, /* *item is the next event */
	PXT_NEXT_HELD,  /* something is there, but an unfinished record must be waited for */
};

/*
 * READY: the front of lane *chosen is next, and front_info and front_ticks are its begin slot's.
 * Opens the turn of that lane, as far as what was found out holds for more (consumer.h).
 */
#if CONFIG_PTRACE_LANES_MAX > 1
enum pxt_next pxt_merge_pick(struct pxt_block *block, uint32_t *chosen);
/* A turn was taken to its end: opens the next one.  False: only pxt_consumer_next() can tell. */
bool pxt_merge_next_turn(struct pxt_block *block);
#else
PXT_INLINE enum pxt_next pxt_merge_pick(struct pxt_block *block, uint32_t *chosen)
{
	struct pxt_ring ring = pxt_block_ring(block, 0);

	*chosen = 0;
	if (ring.lane->front_state != PXT_FRONT_READY)
		pxt_lane_look(block, &ring);
	block->turn_lane = 0;
	block->snapshot = ring.lane->look_ticks;
	if (ring.lane->front_state != PXT_FRONT_READY)
		return ring.lane->front_state == PXT_FRONT_BUSY ? PXT_NEXT_HELD : PXT_NEXT_NONE;
	block->turn_end = block->oob[0].info ? 0 : ring.lane->look_ticks + pxt_lane_look_ticks();
	return PXT_NEXT_READY;
}

PXT_INLINE bool pxt_merge_next_turn(struct pxt_block *block)
{
	pxt_block_end_turn(block);
	return false;
}
#endif

/*
 * ---- The counter stepped back ----
 *
 * The machine was suspended, or the process restored elsewhere.  A stamp is read before its record is
 * there.  So a front that was there before the clock was read has no later stamp, or it is of a time
 * before the step.  It does not wait for the clock then, and holds nothing else up; waits that were
 * begun before the step begin anew.
 */

#if CONFIG_PTRACE_LANES_MAX > 1
/* As pxt_merge_pick(), which says HELD, but for fronts of before the step, one at a time. */
enum pxt_next pxt_merge_stepback_pick(struct pxt_block *block, uint32_t *chosen);
#else
PXT_OFF_RETURNS(PXT_NEXT_HELD, enum pxt_next, pxt_merge_stepback_pick, struct pxt_block *block,
    uint32_t *chosen);
#endif

#endif
