/* SPDX-License-Identifier: MIT */
/*
 * position.h - the arithmetic of a ring: what a cursor, an epoch and a slot's tag say.
 *
 * A lane's cursor has 32 bits of a position and 31 of a record's number.  The epoch counts the quarters
 * of both, so that the two together are 64-bit numbers.  A tag is the lap of its position and the low
 * bits of its record's number.
 *
 * The rules are stated here once: for the ring, its reader, private copies, attached processes
 * and pxtrace recover, which each walk through slots in their own way.
 *
 *   concurrency: computes; reads no memory.
 */
#ifndef PXT_POSITION_H
#define PXT_POSITION_H

#include "format/ids.h"
#include "format/slot.h"

#define PXT_HEAD_CLOSED UINT64_C(1)
#define PXT_SEQ_MASK    0x7fffffffu
#define PXT_TAG_MASK    0x7fffffffu

/* ---- A count of two words: @turns tells how often @low crossed a multiple of 2^31, or is one behind ---- */

PXT_INLINE uint64_t pxt_count_of(uint32_t low, uint32_t turns)
{
	turns += (turns ^ low >> 31) & 1u;
	return (uint64_t)(turns >> 1) << 32 | low;
}

/* ---- The cursor: [63:32] position [31:1] number [0] closed ---- */

PXT_INLINE uint32_t pxt_head_pos(uint64_t head)
{
	return (uint32_t)(head >> 32);
}

PXT_INLINE uint32_t pxt_head_seq(uint64_t head)
{
	return (uint32_t)head >> 1;
}

/* By so much a record of @slots moves head. */
PXT_INLINE uint64_t pxt_head_step(uint32_t slots)
{
	return ((uint64_t)slots << 32) + 2u;
}

/* 1 for the one record whose number carries into the position: one slot after it stays unused. */
PXT_INLINE uint32_t pxt_carry(uint32_t seq)
{
	return (seq & PXT_SEQ_MASK) == PXT_SEQ_MASK;
}

/* ---- The epoch ---- */

/*
 * It has the layout of head: each half is the number of quarters that pos (2^30) and seq (2^29
 * records, above the closed bit) have run through, rotated so that its two low bits are where
 * head has the same two bits.  One exclusive-or tells whether head is in a new quarter.
 */
#define PXT_EPOCH_BITS     UINT64_C(0xc0000000c0000000)
#define PXT_EPOCH_POS_BITS 30u
#define PXT_EPOCH_SEQ_BITS 29u

PXT_INLINE uint32_t pxt_epoch_half(uint32_t half)
{
	return half << 2 | half >> 30;
}

PXT_INLINE uint64_t pxt_epoch_make(uint32_t pos_quarters, uint32_t seq_quarters)
{
	return (uint64_t)(pos_quarters << 30 | pos_quarters >> 2) << 32 |
	       (seq_quarters << 30 | seq_quarters >> 2);
}

/* Puts a quarter count and the low bits of a counter together; @bits: of a quarter. */
PXT_INLINE uint64_t pxt_epoch_widen(uint32_t quarters, uint32_t value, uint32_t bits)
{
	uint32_t ahead = ((value >> bits) - quarters) & 3u;
	uint64_t whole = quarters;

	/* 3: the epoch was brought forward after the value was read. */
	whole += ahead == 3u ? UINT64_C(0xffffffffffffffff) : ahead;
	return whole << bits | (value & ((1u << bits) - 1u));
}

/* The position, and the number, of @head, which was read before @epoch. */
PXT_INLINE uint64_t pxt_epoch_pos(uint64_t epoch, uint64_t head)
{
	return pxt_epoch_widen(
	    pxt_epoch_half((uint32_t)(epoch >> 32)), pxt_head_pos(head), PXT_EPOCH_POS_BITS);
}

PXT_INLINE uint64_t pxt_epoch_seq(uint64_t epoch, uint64_t head)
{
	return pxt_epoch_widen(
	    pxt_epoch_half((uint32_t)epoch), pxt_head_seq(head), PXT_EPOCH_SEQ_BITS);
}

/* ---- The tag ---- */

/* @mask, here and below: slots of the ring, less one. */
PXT_INLINE uint32_t pxt_tag(uint32_t mask, uint32_t pos, uint32_t seq)
{
	return ((pos & ~mask) | (seq & mask)) & PXT_TAG_MASK;
}

/* How far the tag @have is ahead of @want, in a sense whose sign tells newer from older. */
PXT_INLINE int32_t pxt_tag_ahead(uint32_t have, uint32_t want)
{
	return (int32_t)((have - want) << 1);
}

/* The same of laps alone.  Below 0: the slot of this lap was not stored yet; above 0: a newer one is. */
PXT_INLINE int32_t pxt_tag_lap_ahead(uint32_t mask, uint32_t tag, uint32_t pos)
{
	return pxt_tag_ahead(tag & ~mask, pos & ~mask);
}

/* Whether the slot with first word @tag, at @pos, begins a record of this lap. */
PXT_INLINE bool pxt_tag_begins(uint32_t mask, uint32_t tag, uint32_t pos)
{
	return (tag & PXT_SLOT_BEGIN) && ((tag ^ pos) & ~mask & PXT_TAG_MASK) == 0;
}

/* How many numbers after @seq the record with @tag has: less than a ring. */
PXT_INLINE uint32_t pxt_tag_after(uint32_t mask, uint32_t tag, uint32_t seq)
{
	return (tag - seq) & mask;
}

/*
 * How many numbers before @last the record has that begins with @tag and @info: one of the newest N,
 * whose low bits tell the distance.  A mark has the number of the record after it.
 */
PXT_INLINE uint32_t pxt_tag_before(uint32_t mask, uint32_t tag, uint32_t info, uint32_t last)
{
	uint32_t back = (last - tag) & mask;

	if (!back && pxt_info_id(info) != PXT_ID_MARK)
		back = mask + 1u;
	return back;
}

#endif
