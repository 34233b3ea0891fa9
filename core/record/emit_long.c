/* SPDX-License-Identifier: MIT */
/*
 * emit_long.c - one stream that overwrites, with plain stamps, beyond the common case: other sizes of
 * data, and what ends it.  See emit_short.h.
 */
#define PXT_TRACE_PATH /* format/compiler.h */
#include "core/process/context.h"
#include "core/record/careful.h"
#include "core/record/emit_pieces.h"
#include "core/record/emit_short.h"
#include "core/stream/stream.h"

static PXT_NOINLINE void emit_and_leave(
    uint32_t id, const void *data, size_t bytes, const void *address, const struct pxt_block *hot)
{
	pxt_wanted_mask only = (pxt_wanted_mask)(1u << hot->index);

	pxt_careful_each(only, only, id, data, bytes, address);
	pxt_short_leave(pxt_self.entry);
}

void pxt_emit_unusual(uint64_t low, uint64_t high, uint32_t info, struct pxt_thread *entry,
    const struct pxt_block *hot)
{
	const void *address = (const void *)pxt_context_address(low >> 32 | high << 32);
	uint32_t first = (uint32_t)(high >> 32);
	unsigned char data[PXT_SHORT_DATA];

	memcpy(data, &first, sizeof(data));
	(void)entry;
	emit_and_leave(pxt_info_id(info), data, pxt_info_bytes(info), address, hot);
}

void pxt_emit_wake(struct pxt_block *block)
{
	pxt_block_wake(block);
	pxt_short_leave(pxt_self.entry);
}

/* More than a few slots: four in a turn. */
static PXT_NOINLINE void finish_long(
    struct pxt_block *hot, pxt_cell *slot, uint64_t tag, const unsigned char *data, size_t left)
{
	const size_t piece = PXT_SLOT_PAYLOAD;

	/* Bound: a quarter of the record's slots. */
	PXT_BOUND(turns, left / (4 * piece));
	for (; left > 4 * piece; left -= 4 * piece) {
		PXT_ROUND(turns);
		pxt_pieces_full(slot, tag, data);
		pxt_pieces_full(slot + 1, tag, data + piece);
		pxt_pieces_full(slot + 2, tag, data + 2 * piece);
		pxt_pieces_full(slot + 3, tag, data + 3 * piece);
		data += 4 * piece;
		slot += 4;
	}
	pxt_pieces_rest(slot, tag, data, left);
	pxt_short_end(pxt_self.entry, hot);
}

/* Up to the stream's maximum. */
void pxt_emit_long(
    size_t id, const unsigned char *data, size_t bytes, const void *address, struct pxt_block *hot)
{
	uint32_t cpu = *pxt_self.cpu;
	struct pxt_lane *lane = pxt_block_lane_of(hot, cpu);
	uint32_t slots = pxt_slots_for(PXT_CTX_BYTES + (uint32_t)bytes);
	uint64_t head;
	uint64_t ticks;
	pxt_cell *slot;
	uint32_t first;
	uint64_t tag;

	if (PXT_UNLIKELY(!pxt_short_find(lane, slots, &head))) {
		emit_and_leave((uint32_t)id, data, bytes, address, hot);
		return;
	}
	ticks = pxt_port_ticks_plain();
	if (PXT_UNLIKELY(!pxt_short_take(lane, pxt_head_step(slots), &head))) {
		emit_and_leave((uint32_t)id, data, bytes, address, hot);
		return;
	}
	slot = pxt_short_slot(hot, lane, head, &tag);
	pxt_short_put_begin(slot, (uint32_t)tag,
	    pxt_slot_info((uint32_t)id, (uint32_t)bytes, false, false, pxt_context_cpu(cpu)),
	    ticks);
	memcpy(&first, data, PXT_SHORT_DATA);
	pxt_short_put_context(slot + 1, tag, pxt_context(pxt_self.index, address), first);
	if (bytes > (size_t)8 * PXT_SLOT_PAYLOAD) {
		finish_long(hot, slot + 2, tag, data + PXT_SHORT_DATA, bytes - PXT_SHORT_DATA);
		return;
	}
	pxt_pieces_rest(slot + 2, tag, data + PXT_SHORT_DATA, bytes - PXT_SHORT_DATA);
	pxt_short_end(pxt_self.entry, hot);
}

void pxt_emit_few(
    size_t id, const unsigned char *data, size_t bytes, const void *address, struct pxt_block *hot)
{
	pxt_short_record(pxt_fork.self_at, pxt_self.entry, hot, (uint32_t)id, (uint32_t)bytes,
	    pxt_piece_first(data, bytes), address);
}
