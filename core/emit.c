/* SPDX-License-Identifier: MIT */
/*
 * emit.c - the trace path.  Reserve in every stream that wants the event, read the clock once,
 * then store: so stamps follow the order of reservation up to preemption, and one event has one
 * stamp in all streams.
 */
#include "core/emit.h"

#include "base/attr.h"
#include "core/admit.h"
#include "core/autostop.h"
#include "core/context.h"
#include "core/threads.h"
#include "core/wanted.h"

/* What one stream was promised. */
struct target {
	struct pxt_block *block;
	struct pxt_place place;
	uint32_t info;
	uint32_t bytes;
	bool ordered;
};

/* False: the event does not enter this stream (and is counted if it should have). */
PXT_INLINE bool reserve(
    struct target *target, unsigned index, uint32_t id, size_t bytes, uint32_t cpu)
{
	struct pxt_block *block = atomic_load_explicit(&pxt_blocks[index], memory_order_acquire);
	uint32_t gate;
	uint32_t slots;
	bool cut;

	if (PXT_UNLIKELY(!block))
		return false;
	/* Pairs with the release of whoever turned the gate: filter and lanes are as it says. */
	gate = atomic_load_explicit(&block->gate, memory_order_acquire);
	if (PXT_UNLIKELY((gate & PXT_GATE_STATE) == PXT_GATE_OFF || !pxt_admits(block, gate, id)))
		return false;
	PXT_TESTPOINT(PXT_TP_GATE_SEEN);
	cut = bytes > block->max_data;
	target->bytes = cut ? block->max_data : (uint32_t)bytes;
	target->block = block;
	target->ordered = (block->attr._pxt_flags & PXT_ATTR_ORDERED) != 0;
	target->info = pxt_slot_info(
	    id, target->bytes, cut, pxt_context_extra(pxt_self.index), pxt_context_cpu(cpu));
	target->place.ring = pxt_block_ring(block, cpu & block->lane_mask);
	slots = pxt_info_slots(target->info, PXT_CTX_BYTES);
	if (PXT_LIKELY(!(gate & PXT_GATE_KEEPS))) {
		if (PXT_LIKELY(pxt_ring_reserve_loop(&target->place, slots)))
			return true;
		pxt_ring_store_void(&target->place, slots);
		return false;
	}
	return pxt_emit_reserve_free(block, gate, &target->place, slots);
}

PXT_INLINE void store(const struct target *target, struct pxt_event *event)
{
	event->info = target->info;
	event->bytes = target->bytes;
	pxt_ring_store(&target->place, event);
	PXT_TESTPOINT(PXT_TP_STORED);
	/* Not ordered behind the slots: the sleeper's membarrier sees to that (ruling 13). */
	if (PXT_UNLIKELY(atomic_load_explicit(&target->block->asleep, memory_order_relaxed)) &&
	    target->place.used >= target->block->mark)
		pxt_stream_wake(target->block);
}

PXT_INLINE uint64_t stamp(bool ordered)
{
	return ordered ? pxt_port_ticks_ordered() : pxt_port_ticks();
}

static PXT_NOINLINE void emit_many(
    pxt_wanted_mask mask, uint32_t id, size_t bytes, struct pxt_event *event, uint32_t cpu)
{
	struct target targets[CONFIG_PTRACE_MAX_STREAMS];
	unsigned count = 0;
	bool ordered = false;

	/* Bound: the streams of the process. */
	PXT_BOUND(wanting, CONFIG_PTRACE_MAX_STREAMS);
	for (; mask; mask &= (pxt_wanted_mask)(mask - 1u)) {
		PXT_ROUND(wanting);
		if (reserve(&targets[count], (unsigned)__builtin_ctz(mask), id, bytes, cpu))
			ordered |= targets[count++].ordered;
	}
	if (!count)
		return;
	event->ticks = stamp(ordered);
	PXT_TESTPOINT(PXT_TP_STAMPED);
	/* Bound: the same. */
	PXT_BOUND(storing, CONFIG_PTRACE_MAX_STREAMS);
	for (unsigned i = 0; i < count; i++) {
		PXT_ROUND(storing);
		store(&targets[i], event);
	}
}

PXT_INLINE void emit_one(
    unsigned index, uint32_t id, size_t bytes, struct pxt_event *event, uint32_t cpu)
{
	struct target target;

	if (!reserve(&target, index, id, bytes, cpu))
		return;
	event->ticks = stamp(target.ordered);
	PXT_TESTPOINT(PXT_TP_STAMPED);
	store(&target, event);
}

/* Any number of streams, any policy, any clock, nested or not. */
static PXT_NOINLINE void emit_careful(
    trace_event_id_t id, const void *data, size_t bytes, const void *address)
{
	struct pxt_event event;
	struct pxt_pass pass;
	pxt_wanted_mask mask;
	uint32_t cpu;

	if (!pxt_enter(&pass))
		return;
	PXT_TESTPOINT(PXT_TP_ENTERED);
	/* Again, from inside: a shutdown that missed this thread has cleared its bit before. */
	mask = pxt_wanted_by(id);
	cpu = *pxt_self.cpu;
	event.data = data;
	event.ctx = pxt_context(pxt_self.index, address);
	if (PXT_UNLIKELY(pxt_context_extra(pxt_self.index))) {
		event.thread = pxt_port_thread();
		event.pid = (uint32_t)pxt_process_pid();
	}
	if (mask & (pxt_wanted_mask)(mask - 1u))
		emit_many(mask, id, bytes, &event, cpu);
	else if (mask)
		emit_one((unsigned)__builtin_ctz(mask), id, bytes, &event, cpu);
	pxt_leave(&pass);
	PXT_TESTPOINT(PXT_TP_LEFT);
}

#if PXT_CTX_BYTES == 8 && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__

#define FIRST_DATA 4u

/*
 * The common case, once more and short: one stream is live, it overwrites, its stamps are plain,
 * the record does not cross the ring's end.  The counter's reading takes as long as some hundred
 * other instructions and hides few of them, so there are few.  Everything else ends in a call of
 * one of the next five functions, behind which nothing is left to do: so no register is saved.
 */

PXT_INLINE void leave(void)
{
	struct pxt_thread *entry = pxt_self.entry;

	/* Release: whoever sees it sees no later access of this trace point. */
	atomic_store_explicit(&entry->passes,
	    atomic_load_explicit(&entry->passes, memory_order_relaxed) + 1u, memory_order_release);
	PXT_TESTPOINT(PXT_TP_LEFT);
}

/* Nothing was reserved yet. */
static PXT_NOINLINE void leave_and_go_careful(
    uint32_t id, const void *data, size_t bytes, const void *address)
{
	leave();
	emit_careful(id, data, bytes, address);
}

/* The record is stored; somebody sleeps. */
static PXT_NOINLINE void wake_and_leave(struct pxt_block *block)
{
	pxt_stream_wake(block);
	leave();
}

PXT_INLINE void end(struct pxt_block *block)
{
	PXT_TESTPOINT(PXT_TP_STORED);
	/* Not ordered behind the slots: the sleeper's membarrier sees to that (ruling 13). */
	if (PXT_UNLIKELY(atomic_load_explicit(&block->asleep, memory_order_relaxed)))
		wake_and_leave(block);
	else
		leave();
}

/* Reserved; but closed, in a new quarter, over an unread record, or across the ring's end. */
static PXT_NOINLINE void finish_odd(struct pxt_block *hot, struct pxt_lane *lane, uint64_t head,
    uint32_t info, const unsigned char *data, uint64_t ctx, uint64_t ticks)
{
	const struct pxt_place place = {
		.ring = { .lane = lane, .slots = pxt_lane_slots(lane), .mask = hot->slot_mask },
		.pos = pxt_head_pos(head),
		.seq = pxt_head_seq(head)
	};
	const struct pxt_event event = { .data = data,
		.bytes = pxt_info_bytes(info),
		.info = info,
		.ctx = ctx,
		.ticks = ticks };
	uint32_t slots = pxt_info_slots(info, PXT_CTX_BYTES);
	uint32_t limit = atomic_load_explicit(&lane->limit, memory_order_relaxed);

	if (pxt_ring_covers(place.ring.mask, place.pos, slots, limit))
		pxt_ring_note_lost(&place.ring, limit);
	pxt_ring_keep_epoch(lane, head);
	if (head & PXT_HEAD_CLOSED)
		pxt_ring_store_void(&place, slots);
	else
		pxt_ring_store(&place, &event);
	end(hot);
}

static PXT_NOINLINE void finish_odd_small(struct pxt_block *hot, struct pxt_lane *lane,
    uint64_t head, uint32_t info, uint32_t data, uint64_t ctx, uint64_t ticks)
{
	finish_odd(hot, lane, head, info, (const unsigned char *)&data, ctx, ticks);
}

PXT_INLINE void put_plain(struct pxt_slot *slot, uint32_t tag, uint64_t low, uint64_t high)
{
	/* Newer than this lap: (tag - old) * 2 is negative. */
	if (PXT_LIKELY((int32_t)((tag - pxt_slot_peek(slot)) << 1) >= 0)) {
		PXT_TESTPOINT(PXT_TP_LOOKED);
		pxt_slot_store_plain(slot, low | tag, high);
	}
}

PXT_INLINE uint32_t first_data(const unsigned char *data, size_t bytes)
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

/* Begin slot and the one with the context; false: neither, see finish_odd(). */
PXT_INLINE bool store_two(struct pxt_block *hot, struct pxt_lane *lane, uint64_t head,
    uint32_t slots, uint32_t info, uint64_t ctx, uint32_t data, uint64_t ticks)
{
	uint32_t mask = hot->slot_mask;
	uint32_t pos = pxt_head_pos(head);
	uint32_t at = pos & mask;
	struct pxt_slot *slot = pxt_lane_slots(lane) + at;
	uint32_t tag;

	/* One test for "closed" and for a new quarter: the epoch's lowest bit is never set. */
	if (PXT_UNLIKELY(
	        (head ^ pxt_cursor_peek(&lane->epoch)) & (PXT_EPOCH_BITS | PXT_HEAD_CLOSED)))
		return false;
	if (PXT_UNLIKELY(pxt_ring_covers(
	        mask, pos, slots, atomic_load_explicit(&lane->limit, memory_order_relaxed))))
		return false;
	if (PXT_UNLIKELY(at == mask))
		return false;
	tag = ((pos ^ pxt_head_seq(head)) & mask) ^ pos;
	put_plain(slot, tag | PXT_SLOT_BEGIN, (uint64_t)info << 32, ticks);
	PXT_TESTPOINT(PXT_TP_BEGIN_STORED);
	put_plain(slot + 1, tag & PXT_TAG_MASK, ctx << 32, (uint64_t)data << 32 | ctx >> 32);
	PXT_TESTPOINT(PXT_TP_MIDDLE_STORED);
	return true;
}

/* More than FIRST_DATA bytes, up to the stream's maximum. */
static PXT_NOINLINE void emit_long(struct pxt_block *hot, uint32_t id, const unsigned char *data,
    size_t bytes, const void *address)
{
	uint32_t cpu = *pxt_self.cpu;
	struct pxt_lane *lane = pxt_block_lane(hot, cpu & hot->lane_mask);
	uint32_t slots = pxt_slots_for(PXT_CTX_BYTES + (uint32_t)bytes);
	uint32_t info = pxt_slot_info(id, (uint32_t)bytes, false, false, pxt_context_cpu(cpu));
	uint64_t ctx = pxt_context(pxt_self.index, address);
	uint64_t head;
	uint64_t ticks;

	head = pxt_cursor_add(&lane->head, (uint64_t)slots << 32 | 2u);
	PXT_TESTPOINT(PXT_TP_RESERVED);
	ticks = pxt_port_ticks_plain();
	PXT_TESTPOINT(PXT_TP_STAMPED);
	if (PXT_UNLIKELY(
	        !store_two(hot, lane, head, slots, info, ctx, first_data(data, bytes), ticks))) {
		finish_odd(hot, lane, head, info, data, ctx, ticks);
		return;
	}
	pxt_ring_store_rest(pxt_lane_slots(lane), hot->slot_mask, pxt_head_pos(head) + 2u,
	    pxt_head_seq(head), data + FIRST_DATA, (uint32_t)bytes - FIRST_DATA);
	end(hot);
}

PXT_INLINE void emit_small(struct pxt_block *hot, uint32_t id, const unsigned char *data,
    size_t bytes, const void *address)
{
	uint32_t cpu = *pxt_self.cpu;
	struct pxt_lane *lane = pxt_block_lane(hot, cpu & hot->lane_mask);
	uint32_t info = pxt_slot_info(id, (uint32_t)bytes, false, false, pxt_context_cpu(cpu));
	uint64_t ctx = pxt_context(pxt_self.index, address);
	uint32_t first = first_data(data, bytes);
	uint64_t head = pxt_cursor_add(&lane->head, UINT64_C(2) << 32 | 2u);
	uint64_t ticks;

	PXT_TESTPOINT(PXT_TP_RESERVED);
	ticks = pxt_port_ticks_plain();
	PXT_TESTPOINT(PXT_TP_STAMPED);
	if (PXT_LIKELY(store_two(hot, lane, head, 2u, info, ctx, first, ticks)))
		end(hot);
	else
		finish_odd_small(hot, lane, head, info, first, ctx, ticks);
}

PXT_INLINE void emit_from(trace_event_id_t id, const void *data, size_t bytes, const void *address)
{
	struct pxt_thread *entry;
	struct pxt_block *hot;
	uint32_t passes;

	if (PXT_UNLIKELY(pxt_self.epoch != pxt_fork.epoch)) {
		emit_careful(id, data, bytes, address);
		return;
	}
	/* Not before: a handler that comes here first may be the one that registers the thread. */
	atomic_signal_fence(memory_order_acquire);
	entry = pxt_self.entry;
	passes = atomic_load_explicit(&entry->passes, memory_order_relaxed);
	if (PXT_UNLIKELY(passes & 1u)) {
		emit_careful(id, data, bytes, address);
		return;
	}
	/* As pxt_enter(). */
	atomic_store_explicit(&entry->passes, passes + 1u, memory_order_relaxed);
	atomic_signal_fence(memory_order_seq_cst);
	PXT_TESTPOINT(PXT_TP_ENTERED);
	/* Acquire: pairs with the release in core/wanted.c. */
	hot = atomic_load_explicit(&pxt_fork.hot, memory_order_acquire);
	if (PXT_UNLIKELY(!hot || pxt_wanted_by(id) != hot->wanted_bit || bytes > hot->max_data)) {
		leave_and_go_careful(id, data, bytes, address);
		return;
	}
	PXT_TESTPOINT(PXT_TP_GATE_SEEN);
	if (PXT_LIKELY(bytes <= FIRST_DATA))
		emit_small(hot, id, data, bytes, address);
	else
		emit_long(hot, id, data, bytes, address);
}

#else

PXT_INLINE void emit_from(trace_event_id_t id, const void *data, size_t bytes, const void *address)
{
	emit_careful(id, data, bytes, address);
}

#endif

void pxt_emit(trace_event_id_t id, const void *data, size_t bytes, const void *address)
{
	emit_from(id, data, bytes, address);
}

void pxt_system_event(trace_event_id_t id, const void *data, size_t bytes)
{
	if (PXT_UNLIKELY(pxt_wanted_by(id)))
		pxt_emit(id, data, bytes, __builtin_return_address(0));
}
