/* SPDX-License-Identifier: MIT */
/*
 * run.c - records in a row, as a log takes them: what next(), slots() and done() do one by one,
 * as long as the turn (consumer.h) tells what comes next.
 */
#include "core/consumer.h"
#include "core/merge.h"

/* A lane while records are taken out of it: what goes back into the lane at the end. */
struct streak {
	struct pxt_ring ring;
	uint64_t pos;
	uint64_t seq;
};

/* Copies the record at @from behind its begin slot; false: not whole, or overwritten. */
PXT_INLINE bool copy_rest(const struct streak *from, struct pxt_slot *to, uint32_t slots)
{
	uint32_t pos = (uint32_t)from->pos;

	for (uint32_t i = 1; i < slots; i++) {
		struct pxt_halves piece =
		    pxt_slot_load_halves(&from->ring.slots[(pos + i) & from->ring.mask]);

		if (PXT_UNLIKELY((uint32_t)piece.low !=
		                 pxt_tag(from->ring.mask, pos + i, (uint32_t)from->seq)))
			return false;
		PXT_TESTPOINT(PXT_TP_PIECE_READ);
		piece.low &= UINT64_C(0xffffffff00000000);
		to[i] = pxt_slot_of(piece);
	}
	return true;
}

enum step {
	STEP_TAKEN,
	STEP_TURN, /* the turn is over */
	STEP_END,  /* it is not wanted, or there is no room, or it is not whole */
};

/* One record, if it comes next; *front is what stands there. */
PXT_INLINE enum step take_one(
    const struct pxt_block *block, struct streak *from, struct pxt_run *run, uint64_t until)
{
	uint32_t pos = (uint32_t)from->pos;
	struct pxt_halves front = pxt_slot_load_halves(&from->ring.slots[pos & from->ring.mask]);
	uint32_t info = (uint32_t)(front.low >> 32);
	uint32_t slots = pxt_info_slots(info, PXT_CTX_BYTES);
	uint32_t id = pxt_info_id(info);

	if ((uint32_t)front.low !=
	        (pxt_tag(from->ring.mask, pos, (uint32_t)from->seq) | PXT_SLOT_BEGIN) ||
	    id == PXT_ID_MARK || front.high >= block->turn_end)
		return STEP_TURN;
	if (front.high > until || slots > run->room - run->slots)
		return STEP_END;
	PXT_TESTPOINT(PXT_TP_FRONT_SEEN);
	if (!copy_rest(from, run->to + run->slots, slots))
		return STEP_END;
	run->to[run->slots] = pxt_slot_of((struct pxt_halves){
	    (front.low & UINT64_C(0xffffffff00000000)) | PXT_SLOT_BEGIN, front.high });
	run->slots += slots;
	run->records++;
	run->least = front.high < run->least ? front.high : run->least;
	run->most = front.high > run->most ? front.high : run->most;
	run->last_id = id;
	from->pos += slots + pxt_carry((uint32_t)from->seq);
	from->seq++;
	return STEP_TAKEN;
}

/* Takes what the lane whose turn it is has; counted at once, in case the process dies now. */
static enum step take_turn(struct pxt_block *block, struct pxt_run *run, uint64_t until)
{
	struct streak from = { .ring = pxt_block_ring(block, block->turn_lane) };
	uint32_t before = run->records;
	enum step step;

	from.pos = from.ring.lane->pos;
	from.seq = from.ring.lane->seq;
	/* Bound: each round moves the position forward, and fills the room. */
	do
		step = take_one(block, &from, run, until);
	while (step == STEP_TAKEN);
	if (run->records != before) {
		pxt_lane_move(block, &from.ring, from.pos, from.seq);
		block->retrieved += run->records - before;
	}
	return step;
}

/* Several lanes: whose turn it becomes.  False: only next() can tell. */
static bool next_turn(struct pxt_block *block)
{
	uint32_t lane;

	block->turn_end = 0;
	return pxt_block_merges(block) && pxt_merge_pick(block, &lane) == PXT_NEXT_READY &&
	       block->turn_end && !block->gap;
}

void pxt_consumer_run(struct pxt_stream *stream, struct pxt_run *run, uint64_t until)
{
	struct pxt_block *block = stream->block;
	uint32_t before;

	run->slots = 0;
	run->records = 0;
	run->least = UINT64_MAX;
	run->most = 0;
	if (block->lost_before || !block->turn_end)
		return;
	/* Bound: each round takes a record; who has none was overtaken since, and only next() tells. */
	do
		before = run->records;
	while (take_turn(block, run, until) == STEP_TURN && run->records != before &&
	       next_turn(block));
	if (!run->records)
		return;
	block->turn += run->records;
	if (block->last_ticks < run->most)
		block->last_ticks = run->most;
	if (PXT_UNLIKELY(pxt_block_state(block) == PXT_GATE_AUTO || block->owes_stop))
		block->freed_since_full = 1;
	PXT_TESTPOINT(PXT_TP_CONSUMED);
}
