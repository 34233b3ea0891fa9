/* SPDX-License-Identifier: MIT */
/*
 * narrow.h - the short path of a board's trace point: one processor, words of 32 bits, one lane.  One
 * stream is live, its stamps are plain, nothing unusual is where the record goes, and the data
 * is not cut.  Everything else is the careful path's, which begins anew.
 *
 *   concurrency: as emit.h.
 */
#ifndef PXT_NARROW_H
#define PXT_NARROW_H

#include "core/record/emit.h"

#if PXT_NARROW

#include "core/process/threads.h"
#include "core/record/careful.h"
#include "core/ring/ring.h"
#include "core/stream/block.h"
#include "core/stream/wanted.h"

#include <string.h>

/* Data in the slot of the context. */
#define PXT_NARROW_FIRST (PXT_SLOT_PAYLOAD - PXT_CTX_BYTES)

/* Unless a newer lap is there already, as in pxt_ring_put(). */
PXT_INLINE void pxt_narrow_put(
    pxt_cell *slot, uint32_t tag, uint32_t first, uint32_t second, uint32_t third)
{
	if (PXT_LIKELY(!(pxt_slot_behind(slot, tag) & 0x40000000u)))
		pxt_slot_store(slot, (uint64_t)first << 32 | tag, (uint64_t)third << 32 | second);
}

/* What is after the context's slot: up to 12 bytes in each, and zeros. */
static PXT_NOINLINE void pxt_narrow_rest(
    pxt_cell *slot, uint32_t tag, const unsigned char *data, size_t left)
{
	/* Bound: the slots of the record. */
	for (; left; slot++) {
		uint32_t word[3] = { 0, 0, 0 };
		size_t piece = left < sizeof(word) ? left : sizeof(word);

		memcpy(word, data, piece);
		pxt_narrow_put(slot, tag, word[0], word[1], word[2]);
		data += piece;
		left -= piece;
	}
}

/* Of the data, as much as is in the context's slot. */
PXT_INLINE uint64_t pxt_narrow_first(const unsigned char *data, size_t bytes)
{
	uint64_t first = 0;
	uint32_t four;
	uint16_t two = 0;

	if (PXT_UNLIKELY(bytes != sizeof(four) && bytes < PXT_NARROW_FIRST)) {
		while (bytes > 0)
			first = first << 8 | data[--bytes];
		return first;
	}
	memcpy(&four, data, sizeof(four));
	if (bytes != sizeof(four))
		memcpy(&two, data + sizeof(four), sizeof(two));
	return four | (uint64_t)two << 32;
}

/* The place of a usual record, and its stamp; NULL: there is none. */
PXT_INLINE pxt_cell *pxt_narrow_take(
    struct pxt_block *hot, uint32_t slots, uint32_t *tag, uint64_t *ticks)
{
	struct pxt_lane *lane = pxt_block_lane(hot, 0);
	/* Halves of two moments make an exchange fail. */
	uint64_t head = lane->head & ~PXT_HEAD_CLOSED;
	const uint32_t pos = pxt_head_pos(head);
	const uint32_t at = pos & hot->slot_mask;

	if (PXT_UNLIKELY(!pxt_ring_calm(lane, pos, slots)))
		return NULL;
	*ticks = pxt_port_ticks();
	*tag = (pos - at + (pxt_head_seq(head) & hot->slot_mask)) & PXT_TAG_MASK;
	if (PXT_UNLIKELY(!pxt_cursor_move(&lane->head, &head, pxt_head_step(slots))))
		return NULL;
	return pxt_lane_slots(lane) + at;
}

/* The caller is inside.  False: nothing was done. */
PXT_INLINE bool pxt_narrow_record(
    uint32_t thread, uint32_t id, const unsigned char *data, size_t bytes, const void *address)
{
	/* Acquire: pairs with the release in core/stream/wanted.c. */
	struct pxt_block *hot = atomic_load_explicit(&pxt_fork.hot, memory_order_acquire);
	const uint32_t place = (uint32_t)(uintptr_t)address;
	uint32_t slots = 2u;
	uint64_t first;
	uint64_t ticks;
	uint32_t tag;
	pxt_cell *slot;

	if (PXT_UNLIKELY(!pxt_word_is(&hot->no_short, 0u) || !PXT_LOOK_HOT(hot, id) ||
	                 bytes > hot->max_data))
		return false;
	if (PXT_UNLIKELY(bytes > PXT_NARROW_FIRST))
		slots = pxt_slots_for(PXT_CTX_BYTES + (uint32_t)bytes);
	slot = pxt_narrow_take(hot, slots, &tag, &ticks);
	if (PXT_UNLIKELY(!slot))
		return false;
	pxt_narrow_put(slot, tag | PXT_SLOT_BEGIN,
	    pxt_slot_info(id, (uint32_t)bytes, false, false, 0), (uint32_t)ticks,
	    (uint32_t)(ticks >> 32));
	first = pxt_narrow_first(data, bytes);
	pxt_narrow_put(slot + 1, tag, thread | place << 16, place >> 16 | (uint32_t)first << 16,
	    (uint32_t)(first >> 16));
	if (PXT_UNLIKELY(bytes > PXT_NARROW_FIRST))
		pxt_narrow_rest(slot + 2, tag, data + PXT_NARROW_FIRST, bytes - PXT_NARROW_FIRST);
	pxt_careful_wake(hot, 0);
	return true;
}

PXT_INLINE void pxt_narrow_emit(uint32_t id, const void *data, size_t bytes, const void *address)
{
	struct pxt_who *self = &pxt_self;
	_Atomic uint32_t *passes;
	uint32_t outside;

	if (PXT_UNLIKELY(self->epoch != pxt_fork_epoch())) {
		pxt_careful_emit(id, data, bytes, address);
		return;
	}
	/* Without a place it is always odd. */
	passes = &self->entry->passes;
	outside = atomic_load_explicit(passes, memory_order_relaxed);
	if (PXT_LIKELY(!(outside & 1u))) {
		bool done;

		/* As pxt_enter() and pxt_leave(). */
		atomic_store_explicit(passes, outside + 1u, memory_order_relaxed);
		atomic_signal_fence(memory_order_seq_cst);
		done = pxt_narrow_record(self->index, id, data, bytes, address);
		atomic_store_explicit(passes, outside + 2u, memory_order_release);
		if (PXT_LIKELY(done))
			return;
	}
	pxt_careful_emit(id, data, bytes, address);
}

#endif
#endif
