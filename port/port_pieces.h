/* SPDX-License-Identifier: MIT */
/*
 * port_pieces.h - slots out of bytes, and as two numbers, by what stores and loads one slot; behind that of a port
 * that has no shorter way.
 */
#ifndef PXT_PORT_PIECES_H
#define PXT_PORT_PIECES_H

#include "format/slot.h"

#include <stdint.h>
#include <string.h>

/* @tag and twelve bytes, which need no alignment, as halves of a slot. */
PXT_INLINE struct pxt_halves pxt_slot_piece(uint32_t tag, const unsigned char *bytes)
{
	uint32_t first;
	uint64_t rest;

	memcpy(&first, bytes, 4);
	memcpy(&rest, bytes + 4, 8);
	return (struct pxt_halves){ (uint64_t)first << 32 | tag, rest };
}

/*
 * Stores @tag and the twelve bytes at @bytes.  The four bytes before @bytes can be loaded, too.
 */
PXT_INLINE void pxt_slot_store_piece(pxt_cell *slot, uint32_t tag, const unsigned char *bytes)
{
	struct pxt_halves piece = pxt_slot_piece(tag, bytes);

	pxt_slot_store(slot, piece.low, piece.high);
}

/* Both again for callers that know that vector moves may be used. */
PXT_INLINE void pxt_slot_store_piece_plain(pxt_cell *slot, uint32_t tag, const unsigned char *bytes)
{
	struct pxt_halves piece = pxt_slot_piece(tag, bytes);

	pxt_slot_store_plain(slot, piece.low, piece.high);
}

PXT_INLINE struct pxt_halves pxt_slot_load_halves(const pxt_cell *slot)
{
	struct pxt_slot loaded = pxt_slot_load(slot);

	return pxt_slot_halves(&loaded);
}

#endif
