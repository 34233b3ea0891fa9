/* SPDX-License-Identifier: MIT */
/*
 * pieces.h - the first and the last bytes of an event's data, as words of slots: a slot that is put
 * together in memory costs a stall when it is loaded as a whole.
 *
 *   concurrency: reads what belongs to the caller alone.
 */
#ifndef PXT_PIECES_H
#define PXT_PIECES_H

#include "format/compiler.h"
#include "format/slot.h"

#include <stddef.h>
#include <stdint.h>
#include <string.h>

PXT_INLINE uint32_t pxt_piece_load4(const unsigned char *bytes)
{
	uint32_t value;

	memcpy(&value, bytes, 4);
	return value;
}

PXT_INLINE uint64_t pxt_piece_load8(const unsigned char *bytes)
{
	uint64_t value;

	memcpy(&value, bytes, 8);
	return value;
}

#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__

/* Up to eight bytes, the rest zero; two overlapping loads instead of a loop. */
PXT_INLINE uint64_t pxt_piece_load_some(const unsigned char *bytes, uint32_t count)
{
	uint16_t first;
	uint16_t last;

	if (count >= 8)
		return pxt_piece_load8(bytes);
	if (count >= 4)
		return pxt_piece_load4(bytes) | (uint64_t)pxt_piece_load4(bytes + count - 4)
		                                    << 8 * (count - 4);
	if (count < 2)
		return count ? *bytes : 0;
	memcpy(&first, bytes, 2);
	memcpy(&last, bytes + count - 2, 2);
	return (uint64_t)first | (uint64_t)last << 8 * (count - 2);
}

#else

PXT_INLINE uint64_t pxt_piece_load_some(const unsigned char *bytes, uint32_t count)
{
	uint64_t value = 0;

	memcpy(&value, bytes, count < 8 ? count : 8);
	return value;
}

#endif

PXT_INLINE uint64_t pxt_piece_pair(uint32_t low, uint32_t high)
{
	return (uint64_t)high << 32 | low;
}

/* Up to four bytes, the rest zero: the data that is after the context. */
PXT_INLINE uint32_t pxt_piece_first(const unsigned char *data, size_t bytes)
{
	uint32_t first = 0;

	if (PXT_LIKELY(bytes >= 4)) {
		memcpy(&first, data, 4);
		return first;
	}
	/* Bound: 3 bytes. */
	PXT_BOUND(bytes, 3);
	for (uint32_t i = 0; i < bytes; i++) {
		PXT_ROUND(bytes);
		first |= (uint32_t)data[i] << 8 * i;
	}
	return first;
}

/*
 * The last 1 to 12 bytes, the rest zero.  The four bytes before them are the event's, too, so two
 * loads that overlap do instead of a loop.
 */
PXT_INLINE void pxt_piece_last(
    const unsigned char *data, size_t left, uint32_t *first, uint64_t *rest)
{
	*rest = 0;
	if (left > 4) {
		memcpy(first, data, 4);
		memcpy(rest, data + left - 8, 8);
		*rest >>= 8 * (PXT_SLOT_PAYLOAD - left);
	} else {
		memcpy(first, data + left - 4, 4);
		*first >>= 8 * (4 - left);
	}
}

#endif
