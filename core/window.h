/* SPDX-License-Identifier: MIT */
/*
 * window.h - which records may be handed out without asking everybody again.
 *
 *   who beside whom: as consumer.h.
 *
 * Once it was found out which record comes next, most of what was looked at stays as it is while
 * more are taken: the other lanes' fronts, the snapshot, what is due beside the lanes.  So the
 * answer is kept as two bounds on stamps:
 *
 *   turn_end   the record at turn_lane's position comes next if its stamp is below
 *   window     one of turn_lanes' fronts comes next if the smallest of their stamps is below
 *
 * A front that is not whole and of its lap, a mark, a void record, a stamp beyond the bounds:
 * then everything is asked again (consumer.c, merge.c), and that begins a new window.  Writers
 * cannot make a window wrong: what they add is later than it, what they overwrite is seen by
 * its tag.  Everything else that changes what comes next ends it: pxt_window_end().
 *
 * One lane: the window ends half a second after the last look at head, so that a tag that
 * comes again (core/lane.c) is not taken for the old one.  Several lanes: rules 1, 2 and 4 of
 * core/merge.c as a bound; no window while rules 3 or 5, a barrier or a side record have a say.
 */
#ifndef PXT_WINDOW_H
#define PXT_WINDOW_H

#include "core/consumer.h"
#include "core/merge.h"

PXT_INLINE void pxt_window_end(struct pxt_block *block)
{
	block->window = 0;
	block->turn_end = 0;
}

/*
 * The record that comes next, if the window tells; *lane, *front and its stamp are set.  Whether
 * it is finished shows when it is read.
 */
PXT_INLINE bool pxt_window_next(struct pxt_block *block, uint32_t *index, struct pxt_halves *front)
{
	if (!block->turn_end)
		return false;
	/* Bound: a turn goes to a lane whose front, as it was seen, is within its bounds. */
	for (unsigned round = 0; round < 2; round++) {
		struct pxt_ring ring = pxt_block_ring(block, block->turn_lane);
		uint32_t pos = (uint32_t)ring.lane->pos;
		uint32_t want = pxt_tag(ring.mask, pos, (uint32_t)ring.lane->seq) | PXT_SLOT_BEGIN;

		*index = block->turn_lane;
		*front = pxt_slot_load_halves(&ring.slots[pos & ring.mask]);
		if ((uint32_t)front->low != want ||
		    pxt_info_id((uint32_t)(front->low >> 32)) - PXT_ID_MARK <=
		        PXT_ID_VOID - PXT_ID_MARK)
			return false;
		if (PXT_LIKELY(front->high < block->turn_end) && pxt_merge_covers(block, ring.lane))
			return true;
		if (!pxt_merge_turn(block, *front))
			return false;
	}
	return false;
}

#endif
