/* SPDX-License-Identifier: MIT */
/*
 * narrow.h - the fast path of a board's trace point: one processor, words of 32 bits, one lane.  One
 * stream is live, its stamps are plain, nothing unusual is where the record goes, and the data
 * is not cut.  Everything else is the slow path's, which begins anew.
 *
 *   concurrency: as emit.h.
 */
#ifndef PXT_NARROW_H
#define PXT_NARROW_H

#include "core/record/emit.h"

#if PXT_NARROW

#include "core/process/threads.h"
#include "core/record/slowpath.h"
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

/* By bytes: one load where the processor has it for any address, and no call where it has not. */
PXT_INLINE uint32_t pxt_narrow_half(const unsigned char *data)
{
	return data[0] | (uint32_t)data[1] << 8;
}

PXT_INLINE uint32_t pxt_narrow_word(const unsigned char *data)
{
	return data[0] | (uint32_t)data[1] << 8 | (uint32_t)data[2] << 16 | (uint32_t)data[3] << 24;
}

/* Fewer bytes than a word has, and zeros. */
PXT_INLINE uint32_t pxt_narrow_few(const unsigned char *data, size_t bytes)
{
	uint32_t word = 0;

	while (bytes > 0)
		word = word << 8 | data[--bytes];
	return word;
}

/* What is after the context's slot: up to 12 bytes in each, and zeros. */
static PXT_NOINLINE void pxt_narrow_rest(
    pxt_cell *slot, uint32_t tag, const unsigned char *data, size_t left)
{
	uint32_t second = 0;
	uint32_t third = 0;
	uint32_t first;

	/* Bound: the slots of the record. */
	for (; left >= PXT_SLOT_PAYLOAD; left -= PXT_SLOT_PAYLOAD) {
		pxt_narrow_put(slot++, tag, pxt_narrow_word(data), pxt_narrow_word(data + 4),
		    pxt_narrow_word(data + 8));
		data += PXT_SLOT_PAYLOAD;
	}
	if (!left)
		return;
	if (left < 4) {
		first = pxt_narrow_few(data, left);
	} else {
		first = pxt_narrow_word(data);
		if (left < 8) {
			second = pxt_narrow_few(data + 4, left - 4);
		} else {
			second = pxt_narrow_word(data + 4);
			third = pxt_narrow_few(data + 8, left - 8);
		}
	}
	pxt_narrow_put(slot, tag, first, second, third);
}

/* The slot of the context, with as much of the data as it has room for. */
PXT_INLINE void pxt_narrow_context(pxt_cell *slot, uint32_t tag, uint32_t thread, uint32_t address,
    const unsigned char *data, size_t bytes)
{
	uint32_t first;
	uint32_t last = 0;

	if (PXT_LIKELY(bytes >= sizeof(first))) {
		first = pxt_narrow_word(data);
		if (bytes > sizeof(first))
			last = bytes == sizeof(first) + 1u ? data[4] : pxt_narrow_half(data + 4);
	} else {
		first = pxt_narrow_few(data, bytes);
	}
	pxt_narrow_put(slot, tag, thread | address << 16, address >> 16 | first << 16,
	    first >> 16 | last << 16);
}

/* Where the next record of @lane goes, as the sum of its head as if it were open.  False: it is a special case. */
PXT_INLINE bool pxt_narrow_find(struct pxt_lane *lane, uint32_t slots, uint32_t *sum)
{
	const uint64_t head = pxt_cursor_glance(&lane->head) & ~PXT_HEAD_CLOSED;

	*sum = pxt_cursor_sum(head);
	return PXT_LIKELY(
	    pxt_ring_is_fast(lane, pxt_head_pos(head), slots) && !pxt_carry(pxt_head_seq(head)));
}

/* The caller is inside.  False: nothing was done. */
PXT_INLINE bool pxt_narrow_record(const struct pxt_who *self, uint32_t id,
    const unsigned char *data, size_t bytes, const void *address)
{
	struct pxt_block *hot = atomic_load_explicit(&pxt_fork.hot, memory_order_relaxed);
	struct pxt_lane *lane = pxt_block_lane(hot, 0);
	uint32_t slots = 2u;
	uint64_t ticks;
	uint64_t head;
	uint32_t sum;
	uint32_t tag;
	uint32_t at;
	pxt_cell *slot;

	if (PXT_UNLIKELY(!pxt_word_is(&hot->no_short, 0u) || !PXT_LOOK_HOT(hot, id) ||
	                 bytes > hot->max_data))
		return false;
	if (PXT_UNLIKELY(bytes > PXT_NARROW_FIRST)) {
		slots = pxt_slots_for(PXT_CTX_BYTES + (uint32_t)bytes);
		PXT_NOW(slots); /* not in front of the test */
	}
	if (!pxt_narrow_find(lane, slots, &sum))
		return false;
	ticks = pxt_port_ticks();
	if (PXT_UNLIKELY(!pxt_cursor_take(&lane->head, sum, slots, 2u, &head)))
		return false;
	at = pxt_head_pos(head) & hot->slot_mask;
	tag = (pxt_head_pos(head) - at + (pxt_head_seq(head) & hot->slot_mask)) & PXT_TAG_MASK;
	slot = pxt_lane_slots(lane) + at;
	pxt_narrow_put(slot, tag | PXT_SLOT_BEGIN,
	    pxt_slot_info(id, (uint32_t)bytes, false, false, 0), (uint32_t)ticks,
	    (uint32_t)(ticks >> 32));
	pxt_narrow_context(slot + 1, tag, self->index, (uint32_t)(uintptr_t)address, data, bytes);
	if (PXT_UNLIKELY(bytes > PXT_NARROW_FIRST))
		pxt_narrow_rest(slot + 2, tag, data + PXT_NARROW_FIRST, bytes - PXT_NARROW_FIRST);
	pxt_slowpath_wake(hot, 0);
	return true;
}

PXT_INLINE void pxt_narrow_leave(struct pxt_thread *entry)
{
	atomic_signal_fence(memory_order_seq_cst);
	atomic_store_explicit(&entry->passes,
	    atomic_load_explicit(&entry->passes, memory_order_relaxed) + 1u, memory_order_relaxed);
}

PXT_INLINE void pxt_narrow_emit(uint32_t id, const void *data, size_t bytes, const void *address)
{
	const struct pxt_who *self = &pxt_self;
	uint32_t outside;

	if (PXT_UNLIKELY(self->epoch != pxt_fork_epoch())) {
		pxt_slowpath_emit(id, data, bytes, address);
		return;
	}
	/* Without a place it is always odd. */
	outside = atomic_load_explicit(&self->entry->passes, memory_order_relaxed);
	if (PXT_LIKELY(!(outside & 1u))) {
		/* As pxt_enter() and pxt_leave(); one processor sees its own stores in order. */
		atomic_store_explicit(&self->entry->passes, outside + 1u, memory_order_relaxed);
		atomic_signal_fence(memory_order_seq_cst);
		if (PXT_LIKELY(pxt_narrow_record(self, id, data, bytes, address))) {
			pxt_narrow_leave(self->entry);
			return;
		}
		pxt_narrow_leave(self->entry);
	}
	pxt_slowpath_emit(id, data, bytes, address);
}

#endif
#endif
