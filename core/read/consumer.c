/* SPDX-License-Identifier: MIT */
/*
 * consumer.c - the sequence of items that a stream holds, whose reported times never decrease; see
 * consumer.h.
 */
#include "core/read/consumer.h"

#include "core/process/context.h"
#include "core/stream/share.h"

/* ---- An automatic stop ends ---- */

/* [proof: restart] */
void pxt_consumer_restart(struct pxt_stream *stream)
{
	struct pxt_block *block = stream->block;
	uint64_t start = pxt_port_ticks_ordered();

	pxt_block_end_turn(block);
	/* What other processes have recorded by now comes before this moment, or is bound by it. */
	start = pxt_share_pull(block, start, pxt_share_takes_all(block));
	for (uint32_t i = 0; i <= pxt_block_last(block); i++) {
		struct pxt_ring ring = pxt_block_ring(block, i);
		uint64_t late = pxt_lane_floor(&ring);

		/* What a late writer has recorded comes after the START, and not later than it was. */
		start = late < start ? late : start;
	}
	if (pxt_lane_gap_refused(block) && block->with_log)
		pxt_lane_gap_begin(block, pxt_wide_load(&block->auto_stop_ticks));
	pxt_gate_begin_run(block);
	pxt_admit_note_start(block, atomic_load_explicit(&block->gate, memory_order_relaxed));
	block->start_ticks = start;
	pxt_gate_step(block,
	    pxt_admit_system(block, PXT_ID_START) ? PXT_STEP_RESTART : PXT_STEP_RESTART_MUTE);
	pxt_gate_switch(block, PXT_GATE_RUNNING, 0);
}

/* [proof: settle] */
void pxt_consumer_settle(struct pxt_stream *stream)
{
	struct pxt_block *block = stream->block;

	if (pxt_block_state(block) != PXT_GATE_AUTO)
		return;
	if (!pxt_gate_stop_told(block) && pxt_admit_system(block, PXT_ID_STOP))
		return;
	/* After a STOP that was handed out there is nothing but late writers' records. */
	if (pxt_gate_stop_told(block) || pxt_lane_all_drained(block))
		pxt_consumer_restart(stream);
}

void pxt_consumer_go_on(struct pxt_stream *stream, bool record)
{
	struct pxt_block *block = stream->block;

	block->freed_since_full |= record;
	if (!block->with_log)
		pxt_consumer_settle(stream);
}

#if PXT_SMALL
void pxt_consumer_freed(struct pxt_stream *stream, bool record)
{
	pxt_consumer_freed_here(stream, record);
}
#endif

/*
 * ---- Synthetic events ----
 *
 * They are in no ring: OVERFLOW and RESUME around a gap, STOP and START of an automatic stop.
 */

void pxt_consumer_make(
    struct pxt_item *item, uint32_t id, uint64_t ticks, const void *data, uint32_t bytes)
{
	const uint32_t index = pxt_threads_who()->index;

	item->kind = PXT_ITEM_MADE;
	item->lane = 0;
	item->info = pxt_slot_info(id, bytes, false, pxt_context_extra(index), PXT_CPU_UNKNOWN);
	item->slots = pxt_info_slots(item->info, PXT_CTX_BYTES);
	item->ticks = ticks;
	item->stamp = ticks;
	item->ctx = pxt_context(pxt_context_own(index, &item->thread), NULL);
	if (bytes)
		memcpy(item->data, data, bytes);
}

/* The START that is due after an automatic stop. */
static void synthetic_start(struct pxt_block *block, struct pxt_item *item)
{
	pxt_consumer_make(
	    item, PXT_ID_START, block->start_ticks, pxt_admit_start_data(block), PXT_START_BYTES);
}

/*
 * A gap is reported before whatever comes next, and no later: OVERFLOW, RESUME, then that.  If one
 * of them is due, it takes the place of *item.
 */
static void synthetic_gap_first(struct pxt_block *block, struct pxt_item *item)
{
	uint64_t ticks = item->ticks;

	if (block->gap == PXT_GAP_OVERFLOW_DUE && pxt_admit_system(block, PXT_ID_OVERFLOW))
		pxt_consumer_make(item, PXT_ID_OVERFLOW,
		    block->gap_ticks < ticks ? block->gap_ticks : ticks, NULL, 0);
	else if (block->gap != PXT_GAP_NONE && pxt_admit_system(block, PXT_ID_RESUME))
		pxt_consumer_make(item, PXT_ID_RESUME, ticks, NULL, 0);
}

/*
 * True: *item is the STOP, since the last record of an automatically stopped stream was handed out.
 * [proof: next_stop]
 */
static bool synthetic_stop(struct pxt_block *block, struct pxt_item *item)
{
	const int automatic = 1;
	bool due = pxt_gate_stop_is_due(block);
	/* Before the lanes are looked at: what comes into one later returns later than that. */
	uint64_t ticks = pxt_wide_load(&block->auto_stop_ticks);

	if (!due || !pxt_admit_system(block, PXT_ID_STOP) || !pxt_lane_all_drained(block))
		return false;
	/* Other processes may hold what is older than the stop, and younger than this. */
	if (pxt_block_merges(block) && block->snapshot < ticks)
		ticks = block->snapshot;
	/* Writers may have died before they said when: then the last stamp serves. */
	pxt_consumer_make(item, PXT_ID_STOP, ticks, &automatic, sizeof(automatic));
	return true;
}

/* The event @id was handed out. */
static void synthetic_done(struct pxt_block *block, uint32_t id)
{
	if (id == PXT_ID_OVERFLOW || id == PXT_ID_RESUME) {
		block->gap = id == PXT_ID_OVERFLOW ? PXT_GAP_RESUME_DUE : PXT_GAP_NONE;
		/* What comes after the gap may be overwritten by now. */
		pxt_block_lane(block, block->turn_lane)->front_state = PXT_FRONT_UNKNOWN;
	} else if (id == PXT_ID_START) {
		pxt_gate_step(block, PXT_STEP_START_TOLD);
	} else {
		pxt_gate_step(block, PXT_STEP_STOP_TOLD);
	}
}

/* ---- What comes next ---- */

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
	item->thread = oob->thread;
	if (pxt_info_bytes(oob->info))
		memcpy(item->data,
		    pxt_info_id(oob->info) == PXT_ID_START ? pxt_admit_oob_data(block) : &oob->why,
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
		found = pxt_merge_stepback_pick(block, &item->lane);
	if (found == PXT_NEXT_READY) {
		struct pxt_lane *lane = pxt_block_lane(block, item->lane);

		pxt_lane_discarded_tell(block, lane);
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
		synthetic_start(block, item);
	} else if (PXT_UNLIKELY(pxt_gate_stop_told(block))) {
		/* What came since, from a writer that is late, belongs after the START. */
		found = PXT_NEXT_NONE;
	} else {
		found = next_record(block, item);
		if (found == PXT_NEXT_NONE && synthetic_stop(block, item))
			found = PXT_NEXT_READY;
	}
	if (found != PXT_NEXT_READY)
		return found;
	if (pxt_lane_gap_is_unreported(block, 0))
		(void)pxt_lane_gap_refused(block);
	if (PXT_UNLIKELY(block->gap != PXT_GAP_NONE)) {
		synthetic_gap_first(block, item);
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
	struct pxt_walk walk = pxt_consumer_walk_begin(block);
	struct pxt_halves front;

	if (!pxt_consumer_walk_front(block, &walk, &front))
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
	for (uint32_t i = 0; i + 1u < PXT_OOBS; i++)
		block->oob[i] = block->oob[i + 1u];
	block->oob[PXT_OOBS - 1].info = 0;
	for (uint32_t i = 0; i <= pxt_block_last(block); i++) {
		uint32_t *pos = pxt_block_lane(block, i)->oob_pos;

		for (uint32_t k = 0; k + 1u < PXT_OOBS; k++)
			pos[k] = pos[k + 1u];
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
		synthetic_done(block, pxt_info_id(item->info));
	else
		/* A gap before it is not reported any more. */
		block->gap = PXT_GAP_NONE;
	if (item->kind == PXT_ITEM_RECORD)
		done_record(block, item);
	else if (item->kind == PXT_ITEM_OOB)
		done_oob(block);
	pxt_consumer_freed(stream, item->kind == PXT_ITEM_RECORD);
}
