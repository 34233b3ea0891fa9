/* SPDX-License-Identifier: MIT */
/*
 * emit_short.h - the common case of a trace point, inline and short: one stream is live, it overwrites,
 * its stamps are plain, nothing unusual is where the record goes (core/ring/ring.h: calm), and the
 * data fits into the slot of the context.
 *
 *   concurrency: as core/record/emit.h.
 *
 * Everything else ends in a call of one of the functions below, after which nothing is left to do, and
 * what is needed after the exchange alone is worked out there: so hardly a register is saved.
 */
#ifndef PXT_EMIT_SHORT_H
#define PXT_EMIT_SHORT_H

#include "core/record/careful.h"
#include "core/record/short.h"

#if PXT_SHORT_CONTEXT

#include "core/process/context.h"
#include "core/process/threads.h"
#include "core/stream/stream.h"
#include "core/stream/wanted.h"

/* ---- What is not the common case (emit_long.c, emit_several.c); the caller is inside ---- */

/* Not the hot stream's alone, or its data must be cut. */
PXT_NOINLINE void pxt_emit_inside(size_t id, const void *data, size_t bytes, const void *address);
/* Fewer bytes, and more. */
PXT_NOINLINE void pxt_emit_few(
    size_t id, const unsigned char *data, size_t bytes, const void *address, struct pxt_block *hot);
PXT_NOINLINE void pxt_emit_long(
    size_t id, const unsigned char *data, size_t bytes, const void *address, struct pxt_block *hot);
/* No usual place in the hot stream: nothing was taken yet. */
PXT_NOINLINE void pxt_emit_unusual(uint64_t low, uint64_t high, uint32_t info,
    struct pxt_thread *entry, const struct pxt_block *hot);
/* The record is stored; a thread sleeps. */
PXT_NOINLINE void pxt_emit_wake(struct pxt_block *block);

/* ---- The trace point ---- */

PXT_INLINE void pxt_short_end(struct pxt_thread *entry, struct pxt_block *block)
{
	PXT_TESTPOINT(PXT_TP_STORED);
	/* [proof: wake]  Not ordered after the slots: the sleeper's membarrier sees to it (ruling 13). */
	if (PXT_UNLIKELY(!pxt_word_is(&block->asleep, 0u)))
		pxt_emit_wake(block);
	else
		pxt_short_leave(entry);
}

/*
 * Up to PXT_SHORT_DATA bytes, which are in @first already.  The slots' words are put together as far as
 * they can be before the exchange, and the rest is worked out after it from what the exchange leaves:
 * so nine registers are enough.
 */
PXT_INLINE void pxt_short_record(intptr_t self, struct pxt_thread *entry, struct pxt_block *hot,
    uint32_t id, uint32_t bytes, uint32_t first, const void *address)
{
	uint32_t cpu = pxt_self_cpu(self);
	/* pxt_context(), in two halves. */
	uint64_t high = (uint64_t)first << 32 | (uint32_t)((uintptr_t)address >> 16);
	uint64_t low = (uint64_t)(uintptr_t)address << 48 | pxt_self_index_high(self);
	struct pxt_lane *lane = pxt_block_lane_of(hot, cpu);
	uint32_t info = pxt_self_with_cpu_bits(self, cpu << 24) + id + (bytes << 10);
	uint64_t head;
	uint64_t ticks;
	pxt_cell *slot;
	uint64_t tag;

	PXT_NOW(high);
	PXT_NOW(low);
	if (PXT_UNLIKELY(!pxt_short_find(lane, 2u, &head))) {
		pxt_emit_unusual(low, high, info, entry, hot);
		return;
	}
	ticks = pxt_port_ticks_plain();
	if (PXT_UNLIKELY(!pxt_short_take(lane, hot->short_step, &head))) {
		pxt_emit_unusual(low, high, info, entry, hot);
		return;
	}
	slot = pxt_short_slot(hot, lane, head, &tag);
	pxt_short_put_begin(slot, (uint32_t)tag, info, ticks);
	pxt_short_put(slot + 1, tag, low, high);
	PXT_TESTPOINT(PXT_TP_MIDDLE_STORED);
	pxt_short_end(entry, hot);
}

PXT_INLINE void pxt_emit_short(
    uint32_t id, const void *data, size_t bytes, const void *address PXT_LOOK_PARAMETER)
{
	const intptr_t self = pxt_fork.self_at;
	struct pxt_thread *entry;
	struct pxt_block *hot;

	if (PXT_UNLIKELY(!pxt_self_known(self, pxt_fork_epoch()))) {
		pxt_careful_emit(id, data, bytes, address);
		return;
	}
	/*
	 * Not before: a handler that comes here first may be the one that registers the thread.
	 * Acquire: pairs with the release in pxt_threads_register().
	 */
	atomic_signal_fence(memory_order_acquire);
	entry = pxt_self_entry(self);
	if (PXT_UNLIKELY(pxt_own_odd(&entry->passes))) {
		pxt_careful_emit(id, data, bytes, address);
		return;
	}
	/* As pxt_enter().  [proof: enter] */
	pxt_own_up(&entry->passes);
	atomic_signal_fence(memory_order_seq_cst);
	PXT_TESTPOINT(PXT_TP_ENTERED);
	/* Acquire: pairs with the release in core/stream/wanted.c. */
	hot = atomic_load_explicit(&pxt_fork.hot, memory_order_acquire);
	if (PXT_UNLIKELY(!pxt_word_is(&hot->no_short, 0u) || !PXT_LOOK_HOT(hot, id))) {
		pxt_emit_inside(id, data, bytes, address);
		return;
	}
	PXT_TESTPOINT(PXT_TP_GATE_SEEN);
	if (PXT_LIKELY(bytes == PXT_SHORT_DATA)) {
		uint32_t first;

		/* It fits: see put_in_force() in core/stream/wanted.c. */
		memcpy(&first, data, PXT_SHORT_DATA);
		pxt_short_record(self, entry, hot, id, PXT_SHORT_DATA, first, address);
	} else if (bytes < PXT_SHORT_DATA) {
		pxt_emit_few(id, data, bytes, address, hot);
	} else if (PXT_LIKELY(bytes <= hot->max_data)) {
		pxt_emit_long(id, data, bytes, address, hot);
	} else {
		pxt_emit_inside(id, data, bytes, address);
	}
}

#else

PXT_INLINE void pxt_emit_short(
    uint32_t id, const void *data, size_t bytes, const void *address PXT_LOOK_PARAMETER)
{
	pxt_careful_emit(id, data, bytes, address);
}

#endif

#endif
