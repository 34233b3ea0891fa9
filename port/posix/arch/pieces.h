/* SPDX-License-Identifier: MIT */
/*
 * pieces.h - slots out of bytes, and as two numbers, by what stores and loads one slot.  Included after
 * that by the headers of processors.
 */
#ifndef PXT_ARCH_PIECES_H
#define PXT_ARCH_PIECES_H

#include "format/slot.h"

#include <stdint.h>
#include <string.h>

/*
 * Stores @tag and the twelve bytes at @bytes.  The four bytes before @bytes can be loaded, too.
 */
PXT_INLINE void pxt_slot_store_piece(pxt_cell *slot, uint32_t tag, const unsigned char *bytes)
{
	uint32_t first;
	uint64_t rest;

	memcpy(&first, bytes, 4);
	memcpy(&rest, bytes + 4, 8);
	pxt_slot_store(slot, (uint64_t)first << 32 | tag, rest);
}

/* Both again for callers that know that vector moves may be used. */
PXT_INLINE void pxt_slot_store_piece_plain(pxt_cell *slot, uint32_t tag, const unsigned char *bytes)
{
	uint32_t first;
	uint64_t rest;

	memcpy(&first, bytes, 4);
	memcpy(&rest, bytes + 4, 8);
	pxt_slot_store_plain(slot, (uint64_t)first << 32 | tag, rest);
}

PXT_INLINE struct pxt_halves pxt_slot_load_halves(const pxt_cell *slot)
{
	struct pxt_slot loaded = pxt_slot_load(slot);

	return pxt_slot_halves(&loaded);
}

#endif
