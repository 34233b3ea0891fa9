/* SPDX-License-Identifier: MIT */
/* front.c - which record a lane has to offer next; see front.h. */
#include "core/read/front.h"

#include "core/read/discarded.h"
#include "core/read/lap.h"
#include "core/read/unfinished.h"

/* What is whole at the lane's position.  UNKNOWN: a mark, which was passed. */
static enum pxt_front take_front(
    struct pxt_block *block, const struct pxt_ring *ring, uint32_t info, uint64_t ticks)
{
	struct pxt_lane *lane = ring->lane;

	if (PXT_UNLIKELY(pxt_info_id(info) == PXT_ID_MARK)) {
		if (pxt_info_bytes(info) == PXT_MARK_REFUSED)
			pxt_discarded_pass(lane, (uint32_t)ticks);
		else
			lane->barrier = ticks;
		pxt_lane_move(block, lane, lane->pos + 1u, lane->seq);
		return PXT_FRONT_UNKNOWN;
	}
	PXT_TESTPOINT(PXT_TP_FRONT_SEEN);
	lane->front_info = info;
	lane->front_ticks = ticks;
	return PXT_FRONT_READY;
}

/* The slot at the position is not what was expected: head tells why. */
static enum pxt_front look_at_head(struct pxt_block *block, struct pxt_ring *ring)
{
	struct pxt_lane *lane = ring->lane;
	uint32_t size = ring->mask + 1u;
	uint32_t want = pxt_tag(ring->mask, (uint32_t)lane->pos, (uint32_t)lane->seq);
	struct pxt_slot slot;
	uint64_t pos;
	uint64_t seq;

	lane->look_ticks = pxt_port_ticks();
	pxt_lane_head(lane, &pos, &seq);
	if (pos == lane->pos) {
		pxt_lane_publish(lane);
		return PXT_FRONT_EMPTY;
	}
	/* Not older than head: pairs with the slot's release. */
	slot = pxt_slot_load(&ring->slots[(uint32_t)lane->pos & ring->mask]);
	if (pos - lane->pos <= size && seq - lane->seq <= size) {
		if (pxt_lane_is_whole(ring, &slot))
			return take_front(block, ring, slot.word[1], pxt_slot_ticks(&slot));
		if (pxt_tag_ahead(slot.word[0], want) <= 0) {
			if (pxt_unfinished_expired(block, ring))
				return PXT_FRONT_UNKNOWN;
			lane->floor = pxt_lane_floor(ring);
			return PXT_FRONT_BUSY;
		}
	}
	pxt_lap_pass(block, ring, true);
	return PXT_FRONT_UNKNOWN;
}

static enum pxt_front look_at_slot(struct pxt_block *block, struct pxt_ring *ring)
{
	const struct pxt_lane *lane = ring->lane;
	struct pxt_slot slot = pxt_slot_load(&ring->slots[(uint32_t)lane->pos & ring->mask]);

	/*
	 * A tag repeats after 2^31 slots.  A record whose stamp is far from the last look at head
	 * might be such a stranger, so head is asked; this keeps the reader off the writers' line.
	 */
	if (PXT_LIKELY(pxt_lane_is_whole(ring, &slot)) &&
	    (int64_t)(pxt_slot_ticks(&slot) - lane->look_ticks) < (int64_t)pxt_front_look_ticks())
		return take_front(block, ring, slot.word[1], pxt_slot_ticks(&slot));
	return look_at_head(block, ring);
}

void pxt_front_look(struct pxt_block *block, struct pxt_ring *ring)
{
	enum pxt_front front;

	/* Bound: each round without a result moves the position forward. */
	do
		front = look_at_slot(block, ring);
	while (front == PXT_FRONT_UNKNOWN);
	ring->lane->front_state = front;
}
