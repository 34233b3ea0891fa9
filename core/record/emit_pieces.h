/* SPDX-License-Identifier: MIT */
/*
 * emit_pieces.h - what is after the slot of the context, on the short way: the record does not
 * cross the ring's end.
 *
 *   concurrency: as emit.h.
 */
#ifndef PXT_EMIT_PIECES_H
#define PXT_EMIT_PIECES_H

#include "core/record/short.h"
#include "core/ring/pieces.h"

#if PXT_SHORT_CONTEXT

/* One slot full of data. */
PXT_INLINE void pxt_pieces_full(pxt_cell *slot, uint64_t tag, const unsigned char *data)
{
	if (PXT_LIKELY(!pxt_short_late(slot, tag)))
		pxt_slot_store_piece_plain(slot, (uint32_t)tag, data);
	PXT_TESTPOINT(PXT_TP_MIDDLE_STORED);
}

/* What is after the context's slot. */
PXT_INLINE void pxt_pieces_rest(
    pxt_cell *slot, uint64_t tag, const unsigned char *data, size_t left)
{
	uint32_t first;
	uint64_t last;

	/* Bound: the slots of the record. */
	PXT_BOUND(slots, left / PXT_SLOT_PAYLOAD);
	for (; left > PXT_SLOT_PAYLOAD; left -= PXT_SLOT_PAYLOAD) {
		PXT_ROUND(slots);
		pxt_pieces_full(slot++, tag, data);
		data += PXT_SLOT_PAYLOAD;
	}
	pxt_piece_last(data, left, &first, &last);
	pxt_short_put(slot, tag, (uint64_t)first << 32, last);
	PXT_TESTPOINT(PXT_TP_MIDDLE_STORED);
}

#endif

#endif
