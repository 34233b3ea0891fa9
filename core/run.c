/* SPDX-License-Identifier: MIT */
/*
 * run.c - records in a row, as a log takes them, and a reader of many: what next(), slots() and done() do one by one,
 * as long as the turn (consumer.h) tells what comes next.
 */
#include "core/consumer.h"
#include "core/merge.h"

/* What is taken in one turn, until it is added to the run. */
struct streak {
	struct pxt_ring ring;
	uint64_t pos;
	uint64_t seq;
	struct pxt_slot *to;
	uint32_t records;
	uint32_t last_id;
	uint64_t least;
	uint64_t most;
};

/* Copies the record at @pos behind its begin slot; false: not whole, or overwritten. */
PXT_INLINE bool copy_rest(const struct pxt_ring *ring, uint32_t pos, uint32_t seq,
    struct pxt_slot *to, const struct pxt_slot *end)
{
	/* Bound: the slots of the record. */
	while (++to < end) {
		struct pxt_halves piece = pxt_slot_load_halves(&ring->slots[++pos & ring->mask]);

		if (PXT_UNLIKELY((uint32_t)piece.low != pxt_tag(ring->mask, pos, seq)))
			return false;
		PXT_TESTPOINT(PXT_TP_PIECE_READ);
		piece.low &= UINT64_C(0xffffffff00000000);
		*to = pxt_slot_of(piece);
	}
	return true;
}

enum step {
	STEP_TAKEN,
	STEP_TURN, /* the turn is over */
	STEP_END,  /* it is not wanted, or there is no room, or it is not whole */
};

/* One record, if it comes next: its stamp is below @turn_end, up to @until, and it fits before @end. */
PXT_INLINE enum step take_one(
    struct streak *from, uint64_t turn_end, uint64_t until, const struct pxt_slot *end)
{
	uint32_t pos = (uint32_t)from->pos;
	uint32_t seq = (uint32_t)from->seq;
	struct pxt_halves front = pxt_slot_load_halves(&from->ring.slots[pos & from->ring.mask]);
	uint32_t info = (uint32_t)(front.low >> 32);
	uint32_t slots = pxt_info_slots(info, PXT_CTX_BYTES);

	if ((uint32_t)front.low != (pxt_tag(from->ring.mask, pos, seq) | PXT_SLOT_BEGIN) ||
	    pxt_info_id(info) == PXT_ID_MARK || front.high >= turn_end)
		return STEP_TURN;
	if (front.high > until || slots > (size_t)(end - from->to))
		return STEP_END;
	PXT_TESTPOINT(PXT_TP_FRONT_SEEN);
	if (!copy_rest(&from->ring, pos, seq, from->to, from->to + slots))
		return STEP_END;
	*from->to = pxt_slot_of((struct pxt_halves){
	    (front.low & UINT64_C(0xffffffff00000000)) | PXT_SLOT_BEGIN, front.high });
	from->to += slots;
	from->records++;
	from->least = front.high < from->least ? front.high : from->least;
	from->most = front.high > from->most ? front.high : from->most;
	from->last_id = pxt_info_id(info);
	from->pos += slots + pxt_carry(seq);
	from->seq++;
	return STEP_TAKEN;
}

/* Counted at once, in case the process dies now. */
static void add(struct pxt_block *block, struct pxt_run *run, struct streak *from)
{
	pxt_lane_move(block, &from->ring, from->pos, from->seq);
	block->retrieved += from->records;
	run->slots = (uint32_t)(from->to - run->to);
	run->records += from->records;
	run->last_id = from->last_id;
	run->least = from->least;
	run->most = from->most;
}

/* Takes what the lane whose turn it is has. */
static enum step take_turn(struct pxt_block *block, struct pxt_run *run, uint64_t until)
{
	struct streak from = { .ring = pxt_block_ring(block, block->turn_lane),
		.to = run->to + run->slots,
		.least = run->least,
		.most = run->most };
	const uint64_t turn_end = block->turn_end;
	const uint32_t limit = run->limit - run->records;
	enum step step = STEP_END;

	from.pos = from.ring.lane->pos;
	from.seq = from.ring.lane->seq;
	/* Bound: each round moves the position forward, and fills the room. */
	while (from.records < limit) {
		step = take_one(&from, turn_end, until, run->to + run->room);
		if (step != STEP_TAKEN)
			break;
		step = STEP_END;
	}
	if (from.records)
		add(block, run, &from);
	return step;
}

/* Several lanes: whose turn it becomes.  False: only next() can tell, who tells of losses, too. */
static bool next_turn(struct pxt_block *block)
{
	uint32_t lane;

	pxt_consumer_look_again(block);
	if (!pxt_block_merges(block) || pxt_merge_pick(block, &lane) != PXT_NEXT_READY)
		return false;
	if (block->gap || block->lost_before)
		pxt_consumer_look_again(block);
	return block->turn_end != 0;
}

void pxt_consumer_run(struct pxt_stream *stream, struct pxt_run *run, uint64_t until)
{
	struct pxt_block *block = stream->block;
	uint32_t before;

	run->slots = 0;
	run->records = 0;
	run->last_id = 0;
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
	pxt_consumer_freed(stream, true);
	PXT_TESTPOINT(PXT_TP_CONSUMED);
}
