/* SPDX-License-Identifier: MIT */
/*
 * emit.c - where every trace point comes in; see emit.h.
 *
 * The common case is the fast path: one stream is live, its stamps are plain, nothing
 * unusual is where the record goes (core/ring/ring.h: fast_end), and the data fits into the slot of the
 * context.  Everything else ends in a call of another function, after which nothing is left to do, and
 * what only the end needs is computed after the exchange: so few registers are saved.
 *
 *     pxt_emit  the fast path
 *        |-> emit_few, emit_long   other sizes of data, up to the stream's maximum
 *        |-> emit_inside           several streams, with plain stamps: emit_fours, emit_others
 *        |-> slowpath.c            all else: no room, or the last; other stamps, data that is cut, a
 *                                  handler inside a trace point, a thread that is not known
 */
#define PXT_TRACE_PATH /* format/compiler.h */
#include "core/record/emit.h"

#include "core/process/context.h"
#include "core/record/narrow.h"
#include "core/record/slowpath.h"
#include "core/stream/gate.h"

#if PXT_SHORT_CONTEXT

#define PXT_SHORT_DATA 4u /* bytes in the slot that carries the context */

/* ---- Slots ---- */

/* Whether the old slot is newer than this lap: (tag - old) * 2 is negative. */
PXT_INLINE bool is_late(const pxt_cell *slot, uint64_t tag)
{
	bool late = (pxt_slot_behind(slot, (uint32_t)tag) & 0x40000000u) != 0;

	if (PXT_LIKELY(!late))
		PXT_TESTPOINT(PXT_TP_LOOKED);
	return late;
}

PXT_INLINE void put_slot(pxt_cell *slot, uint64_t tag, uint64_t low, uint64_t high)
{
	if (PXT_LIKELY(!is_late(slot, tag)))
		pxt_slot_store_plain(slot, low | tag, high);
}

PXT_INLINE void put_begin(pxt_cell *slot, uint32_t tag, uint32_t info, uint64_t ticks)
{
	put_slot(slot, tag + PXT_SLOT_BEGIN, (uint64_t)info << 32, ticks);
	PXT_TESTPOINT(PXT_TP_BEGIN_STORED);
}

PXT_INLINE void put_context(pxt_cell *slot, uint64_t tag, uint64_t ctx, uint32_t data)
{
	put_slot(slot, tag, ctx << 32, (uint64_t)data << 32 | ctx >> 32);
	PXT_TESTPOINT(PXT_TP_MIDDLE_STORED);
}

/* ---- Places ---- */

/*
 * Where the next record of @lane goes, if it is a usual one; *head: as if the lane were open, so that
 * the exchange fails where it is not.
 */
PXT_INLINE bool find_place(struct pxt_lane *lane, uint32_t slots, uint64_t *head)
{
	*head = pxt_cursor_peek(&lane->head) & ~PXT_HEAD_CLOSED;
	PXT_TESTPOINT(PXT_TP_HEAD_SEEN);
	return PXT_LIKELY(pxt_ring_is_fast(lane, pxt_head_pos(*head), slots));
}

/* Takes it, after the reading of the counter; @step: pxt_head_step().  False: a thread was faster, or the lane is closed. */
PXT_INLINE bool take_place(struct pxt_lane *lane, uint64_t step, uint64_t *head)
{
	PXT_TESTPOINT(PXT_TP_STAMPED);
	if (PXT_UNLIKELY(!pxt_cursor_move(&lane->head, head, step)))
		return false;
	PXT_TESTPOINT(PXT_TP_RESERVED);
	return true;
}

/* The first slot after @head, and the tag of all slots of the record: it does not cross the ring's end. */
PXT_INLINE pxt_cell *first_slot(
    const struct pxt_block *block, struct pxt_lane *lane, uint64_t head, uint64_t *tag)
{
	uint32_t seq = pxt_head_seq(head) & block->slot_mask;
	uint32_t pos;
	uint32_t at;

	PXT_NOW(seq);
	pos = pxt_head_pos(head);
	at = pos & block->slot_mask;
	/* Whole, so that it is put into a slot's first word as it is. */
	*tag = (pos - at + seq) & PXT_TAG_MASK;
	PXT_NOW(*tag);
	return pxt_lane_slots(lane) + at;
}

/* ---- Leaving ---- */

PXT_INLINE void leave(struct pxt_thread *entry)
{
	/* Release: a thread that sees it sees no later access of this trace point.  [proof: leave] */
	pxt_own_up(&entry->passes);
	PXT_TESTPOINT(PXT_TP_LEFT);
}

/* ---- Data after the context's slot; the record does not cross the ring's end ---- */

/* One slot full of data. */
PXT_INLINE void put_full(pxt_cell *slot, uint64_t tag, const unsigned char *data)
{
	if (PXT_LIKELY(!is_late(slot, tag)))
		pxt_slot_store_piece_plain(slot, (uint32_t)tag, data);
	PXT_TESTPOINT(PXT_TP_MIDDLE_STORED);
}

/* What is after the context's slot. */
PXT_INLINE void put_rest(pxt_cell *slot, uint64_t tag, const unsigned char *data, size_t left)
{
	uint32_t first;
	uint64_t last;

	/* Bound: the slots of the record. */
	PXT_BOUND(slots, left / PXT_SLOT_PAYLOAD);
	for (; left > PXT_SLOT_PAYLOAD; left -= PXT_SLOT_PAYLOAD) {
		PXT_ROUND(slots);
		put_full(slot++, tag, data);
		data += PXT_SLOT_PAYLOAD;
	}
	pxt_piece_last(data, left, &first, &last);
	put_slot(slot, tag, (uint64_t)first << 32, last);
	PXT_TESTPOINT(PXT_TP_MIDDLE_STORED);
}

/* ---- The ends of a trace point ---- */

static PXT_NOINLINE void emit_and_leave(uint32_t id, const void *data, size_t bytes,
    const void *address, const struct pxt_block *hot, struct pxt_thread *entry)
{
	pxt_wanted_mask only = (pxt_wanted_mask)(1u << hot->index);

	pxt_slowpath_each(only, only, id, data, bytes, address);
	leave(entry);
}

/* No usual place in the hot stream: nothing was taken yet. */
static PXT_NOINLINE void emit_unusual(uint64_t low, uint64_t high, uint32_t info,
    struct pxt_thread *entry, const struct pxt_block *hot)
{
	const void *address = (const void *)pxt_context_address(low >> 32 | high << 32);
	uint32_t first = (uint32_t)(high >> 32);
	unsigned char data[PXT_SHORT_DATA];

	memcpy(data, &first, sizeof(data));
	emit_and_leave(pxt_info_id(info), data, pxt_info_bytes(info), address, hot, entry);
}

/* The record is stored; a thread sleeps.  Usual records are below the mark at which a flusher is woken. */
static PXT_NOINLINE void wake_and_leave(struct pxt_block *block)
{
	uint32_t seen = atomic_load_explicit(&block->asleep, memory_order_relaxed);

	/* Or because the writer that was to wake it has not called yet. */
	if (!block->mark || !(seen & PXT_ASLEEP))
		pxt_block_wake(block);
	leave(pxt_self.entry);
}

PXT_INLINE void end_record(struct pxt_thread *entry, struct pxt_block *block)
{
	PXT_TESTPOINT(PXT_TP_STORED);
	/* [proof: wake]  Not ordered after the slots: the sleeper's membarrier sees to it (ruling 13). */
	if (PXT_UNLIKELY(!pxt_word_is(&block->asleep, 0u)))
		wake_and_leave(block);
	else
		leave(entry);
}

/*
 * Up to PXT_SHORT_DATA bytes, which are in @first already.  The slots' words are put together as far as
 * they can be before the exchange, and the rest is worked out after it from what the exchange leaves:
 * so nine registers are enough.
 */
PXT_INLINE void record_short(intptr_t self, struct pxt_thread *entry, struct pxt_block *hot,
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
	if (PXT_UNLIKELY(!find_place(lane, 2u, &head))) {
		emit_unusual(low, high, info, entry, hot);
		return;
	}
	ticks = pxt_port_ticks_plain();
	if (PXT_UNLIKELY(!take_place(lane, hot->short_step, &head))) {
		emit_unusual(low, high, info, entry, hot);
		return;
	}
	slot = first_slot(hot, lane, head, &tag);
	put_begin(slot, (uint32_t)tag, info, ticks);
	put_slot(slot + 1, tag, low, high);
	PXT_TESTPOINT(PXT_TP_MIDDLE_STORED);
	end_record(entry, hot);
}

/* ---- Other sizes of data, into one stream ---- */

/* Fewer bytes. */
static PXT_NOINLINE void emit_few(
    size_t id, const unsigned char *data, size_t bytes, const void *address, struct pxt_block *hot)
{
	record_short(pxt_fork.self_at, pxt_self.entry, hot, (uint32_t)id, (uint32_t)bytes,
	    pxt_piece_first(data, bytes), address);
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
		put_full(slot, tag, data);
		put_full(slot + 1, tag, data + piece);
		put_full(slot + 2, tag, data + 2 * piece);
		put_full(slot + 3, tag, data + 3 * piece);
		data += 4 * piece;
		slot += 4;
	}
	put_rest(slot, tag, data, left);
	end_record(pxt_self.entry, hot);
}

/* More bytes than the context's slot has room for, up to the stream's maximum. */
static PXT_NOINLINE void emit_long(
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

	if (PXT_UNLIKELY(!find_place(lane, slots, &head))) {
		emit_and_leave((uint32_t)id, data, bytes, address, hot, pxt_self.entry);
		return;
	}
	ticks = pxt_port_ticks_plain();
	if (PXT_UNLIKELY(!take_place(lane, pxt_head_step(slots), &head))) {
		emit_and_leave((uint32_t)id, data, bytes, address, hot, pxt_self.entry);
		return;
	}
	slot = first_slot(hot, lane, head, &tag);
	put_begin(slot, (uint32_t)tag,
	    pxt_slot_info((uint32_t)id, (uint32_t)bytes, false, false, pxt_context_cpu(cpu)),
	    ticks);
	memcpy(&first, data, PXT_SHORT_DATA);
	put_context(slot + 1, tag, pxt_context(pxt_self.index, address), first);
	if (bytes > (size_t)8 * PXT_SLOT_PAYLOAD) {
		finish_long(hot, slot + 2, tag, data + PXT_SHORT_DATA, bytes - PXT_SHORT_DATA);
		return;
	}
	put_rest(slot + 2, tag, data + PXT_SHORT_DATA, bytes - PXT_SHORT_DATA);
	end_record(pxt_self.entry, hot);
}

/* ---- Several streams ---- */

/* One of several streams, and the place that it has for the record. */
struct target {
	struct pxt_block *block;
	struct pxt_lane *lane;
	uint64_t head;
};

/* What goes into each; the context's slot in two halves. */
struct several {
	uint32_t info;
	uint64_t low;
	uint64_t high;
	const unsigned char *data;
};

/* The record into a place that was found; false: it is not there any more. */
PXT_INLINE bool put_target(
    const struct target *target, const struct several *event, uint32_t bytes, uint64_t ticks)
{
	/* Found, as all before the end: NOLINTNEXTLINE(clang-analyzer-core.uninitialized.Assign) */
	uint64_t head = target->head;
	uint64_t tag;
	/* Before the exchange: what is loaded after it waits for it. */
	pxt_cell *slot = first_slot(target->block, target->lane, head, &tag);

	if (PXT_UNLIKELY(!take_place(
	        target->lane, pxt_head_step(pxt_slots_for(PXT_CTX_BYTES + bytes)), &head)))
		return false;
	put_begin(slot, (uint32_t)tag, event->info, ticks);
	put_slot(slot + 1, tag, event->low, event->high);
	PXT_TESTPOINT(PXT_TP_MIDDLE_STORED);
	if (bytes > PXT_SHORT_DATA)
		put_rest(slot + 2, tag, event->data + PXT_SHORT_DATA, bytes - PXT_SHORT_DATA);
	pxt_slowpath_wake(target->block, 0);
	return true;
}

/* False: stream @index does not take the event whole, or not with a plain stamp. */
PXT_INLINE bool find_target(
    struct target *target, unsigned index, uint32_t id, size_t bytes, uint32_t cpu)
{
	struct pxt_block *block = atomic_load_explicit(&pxt_blocks[index], memory_order_acquire);
	uint32_t gate;

	if (PXT_UNLIKELY(!block))
		return false;
	/* As in emit_into(). */
	gate = atomic_load_explicit(&block->gate, memory_order_acquire);
	if (PXT_UNLIKELY((gate & (PXT_GATE_STATE | PXT_GATE_CAREFUL)) != PXT_GATE_RUNNING ||
	                 bytes > block->max_data || !pxt_admit(block, gate, id)))
		return false;
	PXT_TESTPOINT(PXT_TP_GATE_SEEN);
	target->block = block;
	target->lane = pxt_block_lane_of(block, cpu);
	return true;
}

/*
 * Several streams, and out: all heads are looked at, the counter is read once, all places are taken.  For the
 * streams for which that was not to be nothing was done: they take the slow path.
 */
PXT_INLINE void emit_several(
    uint32_t mask, uint32_t id, const unsigned char *data, size_t size, const void *address)
{
	const intptr_t self = pxt_fork.self_at;
	const uint32_t cpu = pxt_self_cpu(self);
	const uint32_t bytes = (uint32_t)size;
	const struct several event = {
		.info = pxt_slot_info(id, bytes, false, false, pxt_context_cpu(cpu)),
		.low = (uint64_t)(uintptr_t)address << 48 | pxt_self_index_high(self),
		.high = pxt_piece_pair(
		    (uint32_t)((uintptr_t)address >> 16), pxt_piece_first(data, bytes)),
		.data = data,
	};
	struct target targets[CONFIG_PTRACE_MAX_STREAMS];
	struct target *end = targets; /* after those that have a usual place */
	uint32_t missed = 0;
	uint32_t live = 0; /* of those, were seen running */
	uint64_t ticks;

	/* Bound: the streams of the process. */
	PXT_BOUND(finding, CONFIG_PTRACE_MAX_STREAMS);
	for (; mask; mask &= mask - 1u) {
		const bool found = find_target(end, (unsigned)__builtin_ctz(mask), id, bytes, cpu);

		PXT_ROUND(finding);
		if (PXT_LIKELY(found) &&
		    find_place(end->lane, pxt_slots_for(PXT_CTX_BYTES + bytes), &end->head)) {
			end++;
			continue;
		}
		missed |= mask & -mask;
		live |= found ? mask & -mask : 0u;
	}
	ticks = pxt_port_ticks_plain();
	/* Bound: the same. */
	PXT_BOUND(storing, CONFIG_PTRACE_MAX_STREAMS);
	for (const struct target *target = targets; target != end; target++) {
		PXT_ROUND(storing);
		if (PXT_UNLIKELY(!put_target(target, &event, bytes, ticks))) {
			missed |= UINT32_C(1) << target->block->index;
			live |= UINT32_C(1) << target->block->index;
		}
	}
	if (PXT_UNLIKELY(missed))
		pxt_slowpath_each(
		    (pxt_wanted_mask)missed, (pxt_wanted_mask)live, id, data, bytes, address);
	leave(pxt_self.entry);
}

/* Apart, because most have so many bytes: all sizes are known. */
static PXT_NOINLINE void emit_fours(
    uint32_t mask, uint32_t id, const unsigned char *data, const void *address)
{
	emit_several(mask, id, data, PXT_SHORT_DATA, address);
}

static PXT_NOINLINE void emit_others(
    uint32_t mask, uint32_t id, const unsigned char *data, size_t bytes, const void *address)
{
	emit_several(mask, id, data, bytes, address);
}

/* Not the hot stream's alone, or its data must be truncated (core/record/slowpath.c). */
static PXT_NOINLINE void emit_inside(size_t id, const void *data, size_t bytes, const void *address)
{
	const uint32_t mask = pxt_wanted_by(id);

	/* What defines may have a lane of its own, which the slow path knows. */
	if (!(mask & (mask - 1u)) || id == POSIX_TRACE_PROCESS_NP) {
		pxt_slowpath_each((pxt_wanted_mask)mask, 0, (uint32_t)id, data, bytes, address);
		leave(pxt_self.entry);
	} else if (bytes == PXT_SHORT_DATA) {
		emit_fours(mask, (uint32_t)id, data, address);
	} else {
		emit_others(mask, (uint32_t)id, data, bytes, address);
	}
}

/* ---- The trace point ---- */

PXT_INLINE void emit_short(
    uint32_t id, const void *data, size_t bytes, const void *address PXT_LOOK_PARAMETER)
{
	const intptr_t self = pxt_fork.self_at;
	struct pxt_thread *entry;
	struct pxt_block *hot;

	if (PXT_UNLIKELY(!pxt_self_known(self, pxt_fork_epoch()))) {
		pxt_slowpath_emit(id, data, bytes, address);
		return;
	}
	/*
	 * Not before: a handler that comes here first may be the one that registers the thread.
	 * Acquire: pairs with the release in pxt_threads_register().
	 */
	atomic_signal_fence(memory_order_acquire);
	entry = pxt_self_entry(self);
	if (PXT_UNLIKELY(pxt_own_odd(&entry->passes))) {
		pxt_slowpath_emit(id, data, bytes, address);
		return;
	}
	/* As pxt_enter().  [proof: enter] */
	pxt_own_up(&entry->passes);
	atomic_signal_fence(memory_order_seq_cst);
	PXT_TESTPOINT(PXT_TP_ENTERED);
	/* Acquire: pairs with the release in core/stream/wanted.c. */
	hot = atomic_load_explicit(&pxt_fork.hot, memory_order_acquire);
	if (PXT_UNLIKELY(!pxt_word_is(&hot->no_short, 0u) || !PXT_LOOK_HOT(hot, id))) {
		emit_inside(id, data, bytes, address);
		return;
	}
	PXT_TESTPOINT(PXT_TP_GATE_SEEN);
	if (PXT_LIKELY(bytes == PXT_SHORT_DATA)) {
		uint32_t first;

		/* It fits: see put_in_force() in core/stream/wanted.c. */
		memcpy(&first, data, PXT_SHORT_DATA);
		record_short(self, entry, hot, id, PXT_SHORT_DATA, first, address);
	} else if (bytes < PXT_SHORT_DATA) {
		emit_few(id, data, bytes, address, hot);
	} else if (PXT_LIKELY(bytes <= hot->max_data)) {
		emit_long(id, data, bytes, address, hot);
	} else {
		emit_inside(id, data, bytes, address);
	}
}

#elif PXT_NARROW

PXT_INLINE void emit_short(
    uint32_t id, const void *data, size_t bytes, const void *address PXT_LOOK_PARAMETER)
{
	pxt_narrow_emit(id, data, bytes, address);
}

#else

PXT_INLINE void emit_short(
    uint32_t id, const void *data, size_t bytes, const void *address PXT_LOOK_PARAMETER)
{
	pxt_slowpath_emit(id, data, bytes, address);
}

#endif

void pxt_emit(uint32_t id, const void *data, size_t bytes, const void *address PXT_LOOK_PARAMETER)
{
	emit_short(id, data, bytes, address PXT_LOOK_ARGUMENT);
}

void pxt_emit_system(trace_event_id_t id, const void *data, size_t bytes)
{
	const struct pxt_look look = pxt_look_system();

	if (PXT_UNLIKELY(pxt_look_wanted(look, id)))
		pxt_emit(id, data, bytes, __builtin_return_address(0) PXT_LOOK_ARGUMENT);
}
