/* SPDX-License-Identifier: MIT */
/*
 * plain.h - what a record holds, out of its ring: continuation slots of any, data and context of a
 * plain one, whose context is one number in the first continuation slot, with 4 bytes of data.
 *
 *   concurrency: as consumer.h.
 */
#ifndef PXT_PLAIN_H
#define PXT_PLAIN_H

#include "core/ring/ring.h"

/* The begin slot says what is read. */
PXT_INLINE bool pxt_plain_is(uint32_t info)
{
	return PXT_CTX_BYTES == 8 && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ &&
	       !pxt_info_extra(info);
}

/* Loads a continuation slot; false: it is not one of record @seq. */
PXT_INLINE bool pxt_plain_piece(
    const struct pxt_ring *ring, uint32_t pos, uint32_t seq, struct pxt_halves *piece)
{
	*piece = pxt_slot_load_halves(&ring->slots[pos & ring->mask]);
	if (PXT_UNLIKELY((uint32_t)piece->low != pxt_tag(ring->mask, pos, seq)))
		return false;
	PXT_TESTPOINT(PXT_TP_PIECE_READ);
	return true;
}

PXT_INLINE bool pxt_plain_rest_here(
    const struct pxt_ring *ring, uint32_t pos, uint32_t seq, struct pxt_slot *to, uint32_t slots)
{
	/* Bound: the slots of the record. */
	for (uint32_t i = 1; i < slots; i++) {
		struct pxt_halves piece;

		if (!pxt_plain_piece(ring, pos + i, seq, &piece))
			return false;
		piece.low &= UINT64_C(0xffffffff00000000);
		to[i] = pxt_slot_of(piece);
	}
	return true;
}

/* The continuation slots of any record, with tag 0; @to: its begin slot.  False: as above. */
#if PXT_SMALL
bool pxt_plain_rest(
    const struct pxt_ring *ring, uint32_t pos, uint32_t seq, struct pxt_slot *to, uint32_t slots);
#else
PXT_INLINE bool pxt_plain_rest(
    const struct pxt_ring *ring, uint32_t pos, uint32_t seq, struct pxt_slot *to, uint32_t slots)
{
	return pxt_plain_rest_here(ring, pos, seq, to, slots);
}
#endif

/* @count bytes of a piece's 12. */
PXT_INLINE void pxt_plain_copy(unsigned char *to, const struct pxt_halves *piece, size_t count)
{
	uint32_t first = (uint32_t)(piece->low >> 32);
	unsigned char bytes[PXT_SLOT_PAYLOAD];

	if (PXT_LIKELY(count >= sizeof(bytes))) {
		memcpy(to, &first, 4);
		memcpy(to + 4, &piece->high, 8);
		return;
	}
	memcpy(bytes, &first, 4);
	memcpy(bytes + 4, &piece->high, 8);
	memcpy(to, bytes, count);
}

/*
 * The record @seq at @pos, which begins with @info: its context, and its data up to @room bytes.
 * False: overwritten, or not whole.  Bound: the slots of the record.
 */
PXT_INLINE bool pxt_plain_read(const struct pxt_ring *ring, uint32_t pos, uint32_t seq,
    uint32_t info, unsigned char *data, size_t room, uint64_t *ctx)
{
	const uint32_t end = pos + pxt_info_slots(info, PXT_CTX_BYTES);
	size_t left = pxt_info_bytes(info);
	struct pxt_halves piece;
	uint32_t first;

	if (!pxt_plain_piece(ring, ++pos, seq, &piece))
		return false;
	*ctx = piece.low >> 32 | piece.high << 32;
	first = (uint32_t)(piece.high >> 32);
	left = left < room ? left : room;
	if (PXT_LIKELY(left >= 4)) {
		memcpy(data, &first, 4);
		data += 4;
		left -= 4;
	} else {
		for (; left; left--, first >>= 8)
			*data++ = (unsigned char)first;
	}
	while (++pos != end) {
		size_t count = left < PXT_SLOT_PAYLOAD ? left : PXT_SLOT_PAYLOAD;

		if (!pxt_plain_piece(ring, pos, seq, &piece))
			return false;
		if (PXT_UNLIKELY(!count))
			continue;
		pxt_plain_copy(data, &piece, count);
		data += count;
		left -= count;
	}
	return true;
}

#endif
