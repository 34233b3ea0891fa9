/* SPDX-License-Identifier: MIT */
/*
 * short.h - the steps of the short trace points: a place in the ring, its slots, and the way out.
 *
 *   concurrency: as core/record/emit.h.
 */
#ifndef PXT_SHORT_H
#define PXT_SHORT_H

#include "core/process/threads.h"
#include "core/ring/ring.h"
#include "core/stream/block.h"

/* The slot that carries the context has room for 4 bytes of data, and is put together in registers. */
#if PXT_CTX_BYTES == 8 && defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
#define PXT_SHORT_CONTEXT 1
#else
#define PXT_SHORT_CONTEXT 0
#endif

#if PXT_SHORT_CONTEXT

#define PXT_SHORT_DATA 4u /* bytes in the slot that carries the context */

/* ---- Slots ---- */

/* Whether the old slot is newer than this lap: (tag - old) * 2 is negative. */
PXT_INLINE bool pxt_short_late(const pxt_cell *slot, uint64_t tag)
{
	bool late = (pxt_slot_behind(slot, (uint32_t)tag) & 0x40000000u) != 0;

	if (PXT_LIKELY(!late))
		PXT_TESTPOINT(PXT_TP_LOOKED);
	return late;
}

PXT_INLINE void pxt_short_put(pxt_cell *slot, uint64_t tag, uint64_t low, uint64_t high)
{
	if (PXT_LIKELY(!pxt_short_late(slot, tag)))
		pxt_slot_store_plain(slot, low | tag, high);
}

PXT_INLINE void pxt_short_put_begin(pxt_cell *slot, uint32_t tag, uint32_t info, uint64_t ticks)
{
	pxt_short_put(slot, tag + PXT_SLOT_BEGIN, (uint64_t)info << 32, ticks);
	PXT_TESTPOINT(PXT_TP_BEGIN_STORED);
}

PXT_INLINE void pxt_short_put_context(pxt_cell *slot, uint64_t tag, uint64_t ctx, uint32_t data)
{
	pxt_short_put(slot, tag, ctx << 32, (uint64_t)data << 32 | ctx >> 32);
	PXT_TESTPOINT(PXT_TP_MIDDLE_STORED);
}

/* ---- Places ---- */

/*
 * Where the next record of @lane goes, if it is a usual one; *head: as if the lane were open, so that
 * the exchange fails where it is not.
 */
PXT_INLINE bool pxt_short_find(struct pxt_lane *lane, uint32_t slots, uint64_t *head)
{
	*head = pxt_cursor_peek(&lane->head) & ~PXT_HEAD_CLOSED;
	PXT_TESTPOINT(PXT_TP_HEAD_SEEN);
	return PXT_LIKELY(pxt_ring_calm(lane, pxt_head_pos(*head), slots));
}

/* Takes it, after the reading of the counter; @step: pxt_head_step().  False: a thread was faster, or the lane is closed. */
PXT_INLINE bool pxt_short_take(struct pxt_lane *lane, uint64_t step, uint64_t *head)
{
	PXT_TESTPOINT(PXT_TP_STAMPED);
	if (PXT_UNLIKELY(!pxt_cursor_move(&lane->head, head, step)))
		return false;
	PXT_TESTPOINT(PXT_TP_RESERVED);
	return true;
}

/* The first slot after @head, and the tag of all slots of the record: it does not cross the ring's end. */
PXT_INLINE pxt_cell *pxt_short_slot(
    const struct pxt_block *block, struct pxt_lane *lane, uint64_t head, uint64_t *tag)
{
	uint32_t seq = pxt_head_seq(head) & block->slot_mask;
	uint32_t pos;
	uint32_t at;

	PXT_NOW(seq);
	pos = pxt_head_pos(head);
	at = pos & block->slot_mask;
	/* Whole, so that it is put into a slot's first word as it is. */
	*tag = (pos - at + seq) & PXT_TAG_MASK;
	PXT_NOW(*tag);
	return pxt_lane_slots(lane) + at;
}

/* ---- Leaving ---- */

PXT_INLINE void pxt_short_leave(struct pxt_thread *entry)
{
	/* Release: a thread that sees it sees no later access of this trace point.  [proof: leave] */
	pxt_own_up(&entry->passes);
	PXT_TESTPOINT(PXT_TP_LEFT);
}

#endif

#endif
