/* SPDX-License-Identifier: MIT */
/*
 * lane.h - one lane as its consumer sees it: how far it was read, and what begins after that.
 *
 *   concurrency: as consumer.h; head() and floor(), in control calls, too, by the stream's mutex.
 */
#ifndef PXT_LANE_H
#define PXT_LANE_H

#include "core/read/gap.h"

/* Head's position and number, all 64 bits, in one consistent pair. */
void pxt_lane_head(struct pxt_lane *lane, uint64_t *pos, uint64_t *seq);
/* The first place from @from on where something begins, and its slot; @end: nothing does. */
uint64_t pxt_lane_next_begin(
    const struct pxt_ring *ring, uint64_t from, uint64_t end, struct pxt_slot *slot);
PXT_INLINE bool pxt_lane_is_mark(const struct pxt_slot *slot)
{
	return pxt_info_id(slot->word[1]) == PXT_ID_MARK;
}

/* A START or STOP by call is where it is. */
PXT_INLINE bool pxt_lane_is_barrier(const struct pxt_slot *slot)
{
	return pxt_lane_is_mark(slot) && pxt_info_bytes(slot->word[1]) == PXT_MARK_BARRIER;
}

/* The stamp of the first record from the position on that has one; UINT64_MAX: none has. */
uint64_t pxt_lane_floor(const struct pxt_ring *ring);
/* Something is left before the START or STOP that is beside the lanes. */
PXT_INLINE bool pxt_lane_left(const struct pxt_lane *lane)
{
	return (int32_t)((uint32_t)lane->pos - lane->oob_pos[0]) < 0;
}

/* Slots of the record that begins with @info. */
PXT_INLINE uint32_t pxt_lane_record_slots(uint32_t info)
{
	return pxt_info_id(info) == PXT_ID_MARK ? 1u : pxt_info_slots(info, PXT_CTX_BYTES);
}

/* The front is @slot, and all its slots are there. */
PXT_INLINE bool pxt_lane_is_whole_here(const struct pxt_ring *ring, const struct pxt_slot *slot)
{
	uint32_t pos = (uint32_t)ring->lane->pos;
	uint32_t seq = (uint32_t)ring->lane->seq;
	uint32_t end = pos + pxt_lane_record_slots(slot->word[1]);

	if (slot->word[0] != (pxt_tag(ring->mask, pos, seq) | PXT_SLOT_BEGIN))
		return false;
	/* Bound: the slots of the record. */
	while (++pos != end) {
		if (pxt_slot_peek_acquire(&ring->slots[pos & ring->mask]) !=
		    pxt_tag(ring->mask, pos, seq))
			return false;
	}
	return true;
}

#if PXT_SMALL
bool pxt_lane_is_whole(const struct pxt_ring *ring, const struct pxt_slot *slot);
#else
PXT_INLINE bool pxt_lane_is_whole(const struct pxt_ring *ring, const struct pxt_slot *slot)
{
	return pxt_lane_is_whole_here(ring, slot);
}
#endif

/* All before the position was read: policies that do not overwrite have its room from now on. */
PXT_INLINE void pxt_lane_publish(struct pxt_lane *lane)
{
	/* Pairs with the acquire in pxt_ring_reserve(): the slots were read. */
	if (atomic_load_explicit(&lane->limit, memory_order_relaxed) != (uint32_t)lane->pos)
		atomic_store_explicit(&lane->limit, (uint32_t)lane->pos, memory_order_release);
}

/*
 * Moves the position there, after records that were read.  LOOP: either the stamp of what comes next
 * is known from here on, in case it is overwritten before it is read, or `limit` is exact, so that
 * the writer that overwrites it can tell; else that is told in larger steps.
 */
PXT_INLINE void pxt_lane_move_here(
    struct pxt_block *block, struct pxt_lane *lane, uint64_t pos, uint64_t seq)
{
	const uint32_t mask = block->slot_mask;
	const uint32_t want = pxt_tag(mask, (uint32_t)pos, (uint32_t)seq) | PXT_SLOT_BEGIN;
	struct pxt_halves front = pxt_slot_load_halves(&pxt_lane_cells(lane)[(uint32_t)pos & mask]);
	bool there =
	    (uint32_t)front.low == want && pxt_info_id((uint32_t)(front.low >> 32)) != PXT_ID_MARK;

	lane->pos = pos;
	lane->seq = seq;
	lane->front_state = PXT_FRONT_UNKNOWN;
	lane->ruins = 0;
	lane->next_ticks = there ? front.high : 0;
	if (!there || (uint32_t)pos - atomic_load_explicit(&lane->limit, memory_order_relaxed) >
	                  block->limit_step)
		pxt_lane_publish(lane);
}

#if PXT_SMALL
void pxt_lane_move(struct pxt_block *block, struct pxt_lane *lane, uint64_t pos, uint64_t seq);
#else
PXT_INLINE void pxt_lane_move(
    struct pxt_block *block, struct pxt_lane *lane, uint64_t pos, uint64_t seq)
{
	pxt_lane_move_here(block, lane, pos, seq);
}
#endif

/* Goes to the record @seq at @pos; what lies before it is lost. */
void pxt_lane_jump(struct pxt_block *block, struct pxt_lane *lane, uint64_t pos, uint64_t seq);
/* Moves the position after a record of @slots slots. */
void pxt_lane_advance(struct pxt_block *block, struct pxt_lane *lane, uint32_t slots);

/* ---- All lanes ---- */

/* Nothing is in any lane or out-of-band record, and no thread's record is unfinished. */
bool pxt_lane_all_drained(struct pxt_block *block);

#endif
