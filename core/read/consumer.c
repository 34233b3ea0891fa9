/* SPDX-License-Identifier: MIT */
/*
 * consumer.c - the sequence of items that a stream holds, whose reported times never decrease; see
 * consumer.h.
 */
#include "core/read/consumer.h"

#include "core/read/discarded.h"
#include "core/read/stepback.h"
#include "core/read/synthetic.h"
#include "core/read/walk.h"
#include "core/stream/gate.h"

#include <string.h>
#include <trace.h>

static bool oob_is_next(struct pxt_block *block)
{
	if (!block->oob[0].info)
		return false;
	for (uint32_t lane = 0; lane <= pxt_block_last(block); lane++) {
		if (pxt_lane_left(pxt_block_lane(block, lane)))
			return false;
	}
	return true;
}

PXT_INLINE void take_record(struct pxt_item *item, uint32_t info, uint64_t ticks)
{
	item->kind = PXT_ITEM_RECORD;
	item->info = info;
	item->slots = pxt_info_slots(info, PXT_CTX_BYTES);
	item->ticks = ticks;
}

static void take_oob(struct pxt_block *block, struct pxt_item *item)
{
	const struct pxt_oob *oob = &block->oob[0];

	take_record(item, oob->info, oob->ticks);
	item->kind = PXT_ITEM_OOB;
	item->lane = 0;
	item->ctx = oob->ctx;
	if (pxt_info_bytes(oob->info))
		memcpy(item->data,
		    pxt_info_id(oob->info) == PXT_ID_START ? pxt_oob_data(block) : &oob->why,
		    pxt_info_bytes(oob->info));
}

static enum pxt_next next_record(struct pxt_block *block, struct pxt_item *item)
{
	enum pxt_next found = PXT_NEXT_READY;

	if (PXT_UNLIKELY(oob_is_next(block))) {
		take_oob(block, item);
		return found;
	}
	found = pxt_merge_pick(block, &item->lane);
	if (found == PXT_NEXT_HELD)
		found = pxt_stepback_pick(block, &item->lane);
	if (found == PXT_NEXT_READY) {
		struct pxt_lane *lane = pxt_block_lane(block, item->lane);

		pxt_discarded_tell(block, lane);
		take_record(item, lane->front_info, lane->front_ticks);
	}
	return found;
}

PXT_INLINE void hand_out(struct pxt_block *block, struct pxt_item *item)
{
	item->stamp = item->ticks;
	if (item->ticks < block->last_ticks)
		item->ticks = block->last_ticks;
	item->lost_before = block->lost_before;
}

/* Everything that may come next is asked.  [proof: next] */
static PXT_NOINLINE enum pxt_next find_next(struct pxt_block *block, struct pxt_item *item)
{
	enum pxt_next found = PXT_NEXT_READY;

	pxt_block_end_turn(block);
	if (PXT_UNLIKELY(pxt_gate_owes_start(block))) {
		pxt_synthetic_start(block, item);
	} else if (PXT_UNLIKELY(pxt_gate_stop_told(block))) {
		/* What came since, from a writer that is late, belongs after the START. */
		found = PXT_NEXT_NONE;
	} else {
		found = next_record(block, item);
		if (found == PXT_NEXT_NONE && pxt_synthetic_stop(block, item))
			found = PXT_NEXT_READY;
	}
	if (found != PXT_NEXT_READY)
		return found;
	if (pxt_gap_is_untold(block, 0))
		(void)pxt_gap_refused(block);
	if (PXT_UNLIKELY(block->gap != PXT_GAP_NONE)) {
		pxt_synthetic_gap_first(block, item);
		pxt_block_end_turn(block);
	}
	hand_out(block, item);
	/* No thread read a clock for what is made here; its moment may even be unknown. */
	if (item->kind == PXT_ITEM_MADE)
		item->stamp = item->ticks;
	return PXT_NEXT_READY;
}

/* The record that comes next, if it is still its lane's turn. */
PXT_INLINE bool next_in_turn(struct pxt_block *block, struct pxt_item *item)
{
	struct pxt_walk walk = pxt_walk_begin(block);
	struct pxt_halves front;

	if (!pxt_walk_front(block, &walk, &front))
		return false;
	item->lane = block->turn_lane;
	take_record(item, (uint32_t)(front.low >> 32), front.high);
	return true;
}

enum pxt_next pxt_consumer_next(struct pxt_stream *stream, struct pxt_item *item)
{
	struct pxt_block *block = stream->block;

	if (PXT_UNLIKELY(!block->turn_end || !next_in_turn(block, item)))
		return find_next(block, item);
	hand_out(block, item);
	return PXT_NEXT_READY;
}

/* ---- Done with it ---- */

static void done_oob(struct pxt_block *block)
{
	block->retrieved += !block->oob[0].automatic;
	memmove(block->oob, block->oob + 1, sizeof(block->oob) - sizeof(block->oob[0]));
	block->oob[PXT_OOBS - 1].info = 0;
	for (uint32_t i = 0; i <= pxt_block_last(block); i++) {
		uint32_t *pos = pxt_block_lane(block, i)->oob_pos;

		memmove(pos, pos + 1, (PXT_OOBS - 1u) * sizeof(*pos));
	}
}

static void done_record(struct pxt_block *block, const struct pxt_item *item)
{
	pxt_lane_advance(block, pxt_block_lane(block, item->lane), item->slots);
	block->retrieved++;
	PXT_TESTPOINT(PXT_TP_CONSUMED);
}

void pxt_consumer_done(struct pxt_stream *stream, const struct pxt_item *item)
{
	struct pxt_block *block = stream->block;

	block->last_ticks = item->ticks;
	block->lost_before = 0;
	block->turn++;
	if (item->kind == PXT_ITEM_MADE)
		pxt_synthetic_done(block, pxt_info_id(item->info));
	else
		/* Of a gap before it nothing is told any more, whatever was filtered. */
		block->gap = PXT_GAP_NONE;
	if (item->kind == PXT_ITEM_RECORD)
		done_record(block, item);
	else if (item->kind == PXT_ITEM_OOB)
		done_oob(block);
	pxt_restart_freed(stream, item->kind == PXT_ITEM_RECORD);
}
