/* SPDX-License-Identifier: MIT */
/* discard.c - the policy DISCARD as a writer meets it; see discard.h. */
#define PXT_TRACE_PATH /* format/compiler.h */
#include "core/record/discard.h"

/*
 * Counted, and no record is a usual one until one has put a mark.  Each refusal leaves another value,
 * so that a writer that read `calm` before it does not raise it.
 */
static PXT_COLD void refuse(struct pxt_block *block, struct pxt_lane *lane, uint64_t refused)
{
	uint32_t pos = pxt_head_pos(pxt_cursor_peek(&lane->head));

	pxt_counter_up(&lane->refused);
	/* Release: pairs with the acquire below; who reads this finds the count. */
	atomic_store_explicit(
	    &lane->calm, pos - 1u - ((uint32_t)refused & 0xffffu), memory_order_release);
	pxt_block_wake_at(block, UINT32_MAX);
}

/* The mark into the first slot of @place, which is the record's alone afterwards. */
static PXT_COLD void put_mark(struct pxt_place *place, uint64_t refused)
{
	struct pxt_lane *lane = place->ring.lane;

	pxt_ring_store_mark(place, PXT_MARK_REFUSED, refused);
	place->pos++;
	/* Only saves marks: a thread that sees the old number puts one more. */
	atomic_store_explicit(&lane->marked, (uint32_t)refused, memory_order_relaxed);
}

bool pxt_discard_reserve(
    struct pxt_block *block, struct pxt_place *place, uint32_t slots, unsigned how)
{
	struct pxt_lane *lane = place->ring.lane;
	/* Acquire: before the count, see refuse(). */
	uint32_t calm = atomic_load_explicit(&lane->calm, memory_order_acquire);
	uint64_t refused = pxt_counter_load(&lane->refused);
	bool marks = (uint32_t)refused != atomic_load_explicit(&lane->marked, memory_order_relaxed);
	enum pxt_reserve got = pxt_ring_reserve(place, slots + marks, how | PXT_TAKE_FREE);
	uint32_t end;

	if (PXT_UNLIKELY(got != PXT_RESERVED && got != PXT_RESERVED_LAST)) {
		refuse(block, lane, refused);
		return false;
	}
	end = place->pos + slots + marks + pxt_carry(place->seq);
	pxt_ring_raise_calm(&place->ring, calm, end, end - place->used);
	if (PXT_UNLIKELY(marks))
		put_mark(place, refused);
	return true;
}
