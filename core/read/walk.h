/* SPDX-License-Identifier: MIT */
/*
 * walk.h - along the lane whose turn it is (consumer.h), record by record, as long as it is plain
 * that the next one comes next.
 *
 *   concurrency: as consumer.h; a walk lives within one call of its consumer.
 *
 * Use: begin(); front() and on() for each record; end(), if one was taken.
 */
#ifndef PXT_WALK_H
#define PXT_WALK_H

#include "core/read/gap.h"
#include "core/read/lane.h"
#include "core/read/restart.h"

struct pxt_walk {
	struct pxt_ring ring;
	uint64_t pos;
	uint64_t seq;
	uint64_t turn_end;
	uint32_t records; /* taken */
};

PXT_INLINE struct pxt_walk pxt_walk_begin(struct pxt_block *block)
{
	struct pxt_ring ring = pxt_block_ring(block, block->turn_lane);

	return (struct pxt_walk){ .ring = ring,
		.pos = ring.lane->pos,
		.seq = ring.lane->seq,
		.turn_end = block->turn_end };
}

/* The begin slot of the record that comes next; whether that is whole shows when it is read. */
PXT_INLINE bool pxt_walk_front(
    struct pxt_block *block, const struct pxt_walk *walk, struct pxt_halves *front)
{
	uint32_t pos = (uint32_t)walk->pos;
	uint32_t tag = pxt_tag(walk->ring.mask, pos, (uint32_t)walk->seq);

	*front = pxt_slot_load_halves(&walk->ring.slots[pos & walk->ring.mask]);
	if (PXT_UNLIKELY((uint32_t)front->low != (tag | PXT_SLOT_BEGIN) ||
	                 front->high >= walk->turn_end ||
	                 pxt_info_id((uint32_t)(front->low >> 32)) == PXT_ID_MARK ||
	                 pxt_gap_is_untold(block, walk->records)))
		return false;
	PXT_TESTPOINT(PXT_TP_FRONT_SEEN);
	return true;
}

PXT_INLINE void pxt_walk_on(struct pxt_walk *walk, uint32_t slots)
{
	walk->pos += slots + pxt_carry((uint32_t)walk->seq);
	walk->seq++;
	walk->records++;
}

/* Counted at once, in case the process dies now.  @last: the largest stamp among them. */
PXT_INLINE void pxt_walk_end(struct pxt_stream *stream, const struct pxt_walk *walk, uint64_t last)
{
	struct pxt_block *block = stream->block;

	pxt_lane_move(block, walk->ring.lane, walk->pos, walk->seq);
	block->retrieved += walk->records;
	block->turn += walk->records;
	/* What is reported never decreases. */
	if (block->last_ticks < last)
		block->last_ticks = last;
	PXT_TESTPOINT(PXT_TP_CONSUMED);
	pxt_restart_freed(stream, true);
}

#endif
