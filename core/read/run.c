/* SPDX-License-Identifier: MIT */
/*
 * run.c - records in a row, as a log takes them: what next(), slots() and done() do one by one, as
 * long as the turn (consumer.h) tells what comes next.
 */
#include "core/read/run.h"

#include "core/read/merge.h"
#include "core/read/plain.h"
#include "core/read/walk.h"

/* What the lane has in its turn.  False: the next is not wanted, has no room, or is not whole. */
static bool take_turn(struct pxt_stream *stream, struct pxt_run *run, uint64_t until)
{
	struct pxt_walk walk = pxt_walk_begin(stream->block);
	struct pxt_run copy = *run;
	/* Not after a pointer, as long as slots are stored; but where bytes are saved. */
	struct pxt_run *own = PXT_SMALL ? run : &copy;
	struct pxt_halves front;
	bool wanted = true;

	/* Bound: each round moves the position forward, and fills the room. */
	while (pxt_walk_front(stream->block, &walk, &front)) {
		uint32_t info = (uint32_t)(front.low >> 32);
		uint32_t slots = pxt_info_slots(info, PXT_CTX_BYTES);

		wanted = own->records < own->limit && front.high <= until &&
		         slots <= own->room - own->slots &&
		         pxt_plain_rest(&walk.ring, (uint32_t)walk.pos, (uint32_t)walk.seq,
		             own->to + own->slots, slots);
		if (!wanted)
			break;
		front.low = (front.low & UINT64_C(0xffffffff00000000)) | PXT_SLOT_BEGIN;
		own->to[own->slots] = pxt_slot_of(front);
		own->slots += slots;
		own->records++;
		own->least = front.high < own->least ? front.high : own->least;
		own->most = front.high > own->most ? front.high : own->most;
		own->last_id = pxt_info_id(info);
		pxt_walk_on(&walk, slots);
	}
	if (!PXT_SMALL)
		*run = copy;
	if (walk.records)
		pxt_walk_end(stream, &walk, own->most);
	return wanted;
}

void pxt_run_take(struct pxt_stream *stream, struct pxt_run *run, uint64_t until)
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
	/* Bound: each round takes a record; who has none was overtaken since: only next() can tell. */
	do
		before = run->records;
	while (
	    take_turn(stream, run, until) && run->records != before && pxt_merge_next_turn(block));
}
