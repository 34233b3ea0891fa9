/* SPDX-License-Identifier: MIT */
/*
 * run.c - records in a row, as a log takes them: what next(), slots() and done() do one by one,
 * as long as the window (window.h) tells what comes next.
 */
#include "core/consumer.h"
#include "core/window.h"

/* A lane while records are taken out of it: what goes back into the lane at the end. */
struct streak {
	struct pxt_ring ring;
	uint64_t pos;
	uint64_t seq;
	uint64_t end; /* several lanes: behind the last record that was scanned */
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
	STEP_TURN, /* another lane may come next */
	STEP_END,  /* only next() can tell, or it is not wanted, or there is no room */
};

/* One record, if it comes next; *front is what stands there. */
PXT_INLINE enum step take_one(struct pxt_block *block, struct streak *from, struct pxt_run *run,
    uint64_t until, struct pxt_halves *front)
{
	uint32_t pos = (uint32_t)from->pos;
	uint32_t info;
	uint32_t slots;
	uint32_t id;

	*front = pxt_slot_load_halves(&from->ring.slots[pos & from->ring.mask]);
	info = (uint32_t)(front->low >> 32);
	id = pxt_info_id(info);
	if ((uint32_t)front->low !=
	        (pxt_tag(from->ring.mask, pos, (uint32_t)from->seq) | PXT_SLOT_BEGIN) ||
	    id == PXT_ID_MARK || id == PXT_ID_VOID)
		return STEP_END;
	if (front->high >= block->turn_end || from->pos >= from->end)
		return STEP_TURN;
	slots = pxt_info_slots(info, PXT_CTX_BYTES);
	if (front->high > until || slots > run->room - run->slots)
		return STEP_END;
	PXT_TESTPOINT(PXT_TP_FRONT_SEEN);
	if (!copy_rest(from, run->to + run->slots, slots))
		return STEP_END;
	run->to[run->slots] = pxt_slot_of((struct pxt_halves){
	    (front->low & UINT64_C(0xffffffff00000000)) | PXT_SLOT_BEGIN, front->high });
	run->slots += slots;
	run->records++;
	run->least = front->high < run->least ? front->high : run->least;
	run->most = front->high > run->most ? front->high : run->most;
	run->last_id = id;
	from->pos += slots + pxt_carry((uint32_t)from->seq);
	from->seq++;
	return STEP_TAKEN;
}

/* Takes what the lane whose turn it is has. */
static enum step take_turn(
    struct pxt_block *block, struct pxt_run *run, uint64_t until, struct pxt_halves *front)
{
	struct streak from = { .ring = pxt_block_ring(block, block->turn_lane) };
	enum step step;

	from.pos = from.ring.lane->pos;
	from.seq = from.ring.lane->seq;
	from.end = pxt_block_merges(block) ? from.ring.lane->scan_pos : UINT64_MAX;
	/* Bound: each round moves the position forward, and fills the room. */
	do
		step = take_one(block, &from, run, until, front);
	while (step == STEP_TAKEN);
	if (from.pos != from.ring.lane->pos)
		pxt_lane_move(block, &from.ring, from.pos, from.seq);
	return step;
}

void pxt_consumer_run(struct pxt_stream *stream, struct pxt_run *run, uint64_t until)
{
	struct pxt_block *block = stream->block;
	struct pxt_halves front;

	run->slots = 0;
	run->records = 0;
	run->least = UINT64_MAX;
	run->most = 0;
	if (block->lost_before)
		return;
	/* Bound: whoever's turn it becomes has a record to take. */
	while (block->turn_end) {
		if (take_turn(block, run, until, &front) != STEP_TURN ||
		    !pxt_merge_turn(block, front))
			break;
	}
	if (!run->records)
		return;
	block->retrieved += run->records;
	block->turn += run->records;
	if (block->last_ticks < run->most)
		block->last_ticks = run->most;
	if (PXT_UNLIKELY(pxt_block_state(block) == PXT_GATE_AUTO || block->owes_stop))
		block->freed_since_full = 1;
	PXT_TESTPOINT(PXT_TP_CONSUMED);
}
