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
	/* [proof: wake]  Not ordered behind the slots: the sleeper's membarrier sees to it (ruling 13). */
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

	/* Release: whoever sees it sees no later access of this trace point.  [proof: leave] */
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
	/* [proof: wake]  Not ordered behind the slots: the sleeper's membarrier sees to it (ruling 13). */
	if (PXT_UNLIKELY(atomic_load_explicit(&block->asleep, memory_order_relaxed)))
		wake_and_leave(block);
	else
		leave();
}

/* Reserved; but closed, in a new quarter, over an unread record, or across the ring's end. */
static PXT_NOINLINE void store_odd(struct pxt_block *hot, struct pxt_lane *lane, uint64_t head,
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
}

static PXT_NOINLINE void finish_odd(struct pxt_block *hot, struct pxt_lane *lane, uint64_t head,
    uint32_t info, const unsigned char *data, uint64_t ctx, uint64_t ticks)
{
	store_odd(hot, lane, head, info, data, ctx, ticks);
	end(hot);
}

static PXT_NOINLINE void finish_odd_small(struct pxt_block *hot, struct pxt_lane *lane,
    uint64_t head, uint32_t info, uint32_t data, uint64_t ctx, uint64_t ticks)
{
	finish_odd(hot, lane, head, info, (const unsigned char *)&data, ctx, ticks);
}

/* Whether the old slot is newer than this lap: (tag - old) * 2 is negative. */
PXT_INLINE bool is_late(const pxt_cell *slot, uint32_t tag)
{
	bool late = (int32_t)((tag - pxt_slot_peek(slot)) << 1) < 0;

	if (PXT_LIKELY(!late))
		PXT_TESTPOINT(PXT_TP_LOOKED);
	return late;
}

PXT_INLINE void put_plain(pxt_cell *slot, uint32_t tag, uint64_t low, uint64_t high)
{
	if (PXT_LIKELY(!is_late(slot, tag)))
		pxt_slot_store_plain(slot, low | tag, high);
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

/* Where a record begins, and the tag of its slots; NULL: see finish_odd(). */
PXT_INLINE pxt_cell *find_place(
    struct pxt_block *hot, struct pxt_lane *lane, uint64_t head, uint32_t slots, uint32_t *tag)
{
	uint32_t mask = hot->slot_mask;
	uint32_t pos = pxt_head_pos(head);
	uint32_t at = pos & mask;

	/* One test for "closed" and for a new quarter: the epoch's lowest bit is never set. */
	if (PXT_UNLIKELY(
	        (head ^ pxt_twins_peek(&lane->epoch)) & (PXT_EPOCH_BITS | PXT_HEAD_CLOSED)))
		return NULL;
	if (PXT_UNLIKELY(pxt_ring_covers(
	        mask, pos, slots, atomic_load_explicit(&lane->limit, memory_order_relaxed))))
		return NULL;
	if (PXT_UNLIKELY(at + slots > mask + 1u))
		return NULL;
	*tag = (((pos ^ pxt_head_seq(head)) & mask) ^ pos) & PXT_TAG_MASK;
	return pxt_lane_slots(lane) + at;
}

PXT_INLINE void put_context(pxt_cell *slot, uint32_t tag, uint64_t ctx, uint32_t data)
{
	put_plain(slot, tag, ctx << 32, (uint64_t)data << 32 | ctx >> 32);
	PXT_TESTPOINT(PXT_TP_MIDDLE_STORED);
}

PXT_INLINE void put_begin(pxt_cell *slot, uint32_t tag, uint32_t info, uint64_t ticks)
{
	put_plain(slot, tag | PXT_SLOT_BEGIN, (uint64_t)info << 32, ticks);
	PXT_TESTPOINT(PXT_TP_BEGIN_STORED);
}

/*
 * The last slot: 1 to 12 bytes, behind which zeros stand.  The four bytes before them are the
 * event's, too, so two loads that overlap do instead of a loop.
 */
PXT_INLINE void put_end(pxt_cell *slot, uint32_t tag, const unsigned char *data, size_t left)
{
	uint32_t first;
	uint64_t rest = 0;

	if (left > 4) {
		memcpy(&first, data, 4);
		memcpy(&rest, data + left - 8, 8);
		rest >>= 8 * (PXT_SLOT_PAYLOAD - left);
	} else {
		memcpy(&first, data + left - 4, 4);
		first >>= 8 * (4 - left);
	}
	put_plain(slot, tag, (uint64_t)first << 32, rest);
	PXT_TESTPOINT(PXT_TP_MIDDLE_STORED);
}

/* One slot full of data. */
PXT_INLINE void put_full(pxt_cell *slot, uint32_t tag, const unsigned char *data)
{
	if (PXT_LIKELY(!is_late(slot, tag)))
		pxt_slot_store_piece_plain(slot, tag, data);
	PXT_TESTPOINT(PXT_TP_MIDDLE_STORED);
}

/* What is behind the context's slot. */
PXT_INLINE void put_rest(pxt_cell *slot, uint32_t tag, const unsigned char *data, size_t left)
{
	/* Bound: the slots of the record. */
	PXT_BOUND(slots, left / PXT_SLOT_PAYLOAD);
	for (; left > PXT_SLOT_PAYLOAD; left -= PXT_SLOT_PAYLOAD) {
		PXT_ROUND(slots);
		put_full(slot++, tag, data);
		data += PXT_SLOT_PAYLOAD;
	}
	put_end(slot, tag, data, left);
}

/* More than a few slots: four in a turn. */
static PXT_NOINLINE void finish_long(
    struct pxt_block *hot, pxt_cell *slot, uint32_t tag, const unsigned char *data, size_t left)
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
	end(hot);
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
	uint64_t head = pxt_cursor_add(&lane->head, (uint64_t)slots << 32 | 2u);
	pxt_cell *slot;
	uint64_t ticks;
	uint32_t tag;
	uint32_t first;

	PXT_TESTPOINT(PXT_TP_RESERVED);
	ticks = pxt_port_ticks_plain();
	PXT_TESTPOINT(PXT_TP_STAMPED);
	slot = find_place(hot, lane, head, slots, &tag);
	if (PXT_UNLIKELY(!slot)) {
		finish_odd(hot, lane, head, info, data, ctx, ticks);
		return;
	}
	put_begin(slot, tag, info, ticks);
	memcpy(&first, data, FIRST_DATA);
	put_context(slot + 1, tag, ctx, first);
	if (bytes > (size_t)8 * PXT_SLOT_PAYLOAD) {
		finish_long(hot, slot + 2, tag, data + FIRST_DATA, bytes - FIRST_DATA);
		return;
	}
	put_rest(slot + 2, tag, data + FIRST_DATA, bytes - FIRST_DATA);
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
	pxt_cell *slot;
	uint64_t ticks;
	uint32_t tag;

	PXT_TESTPOINT(PXT_TP_RESERVED);
	ticks = pxt_port_ticks_plain();
	PXT_TESTPOINT(PXT_TP_STAMPED);
	slot = find_place(hot, lane, head, 2u, &tag);
	if (PXT_UNLIKELY(!slot)) {
		finish_odd_small(hot, lane, head, info, first, ctx, ticks);
		return;
	}
	put_begin(slot, tag, info, ticks);
	put_context(slot + 1, tag, ctx, first);
	end(hot);
}

/* What one of several streams gave. */
struct reserved {
	struct pxt_block *block;
	struct pxt_lane *lane;
	uint64_t head;
};

/* The record into one of several streams. */
PXT_INLINE void store_one(const struct reserved *reserved, uint32_t slots, uint32_t info,
    const unsigned char *data, uint32_t first, uint64_t ctx, uint64_t ticks)
{
	size_t bytes = pxt_info_bytes(info);
	uint32_t tag;
	pxt_cell *slot = find_place(reserved->block, reserved->lane, reserved->head, slots, &tag);

	if (PXT_UNLIKELY(!slot)) {
		store_odd(reserved->block, reserved->lane, reserved->head, info,
		    bytes <= FIRST_DATA ? (const unsigned char *)&first : data, ctx, ticks);
	} else {
		put_begin(slot, tag, info, ticks);
		put_context(slot + 1, tag, ctx, first);
		if (bytes > FIRST_DATA)
			put_rest(slot + 2, tag, data + FIRST_DATA, bytes - FIRST_DATA);
	}
	PXT_TESTPOINT(PXT_TP_STORED);
	/* As end(). */
	if (PXT_UNLIKELY(atomic_load_explicit(&reserved->block->asleep, memory_order_relaxed)))
		pxt_stream_wake(reserved->block);
}

/*
 * The streams in @mask, if each of them overwrites, has plain stamps and takes the event whole.
 * Their number; 0: one does not.  Nothing is reserved yet.
 */
PXT_INLINE unsigned find_streams(
    pxt_wanted_mask mask, uint32_t id, size_t bytes, struct reserved *reserved)
{
	unsigned count = 0;

	/* Bound: the streams of the process. */
	PXT_BOUND(wanting, CONFIG_PTRACE_MAX_STREAMS);
	for (; mask; mask &= (pxt_wanted_mask)(mask - 1u), count++) {
		struct pxt_block *block =
		    atomic_load_explicit(&pxt_blocks[__builtin_ctz(mask)], memory_order_acquire);
		uint32_t gate;

		PXT_ROUND(wanting);
		if (PXT_UNLIKELY(!block))
			return 0;
		/* As in reserve(). */
		gate = atomic_load_explicit(&block->gate, memory_order_acquire);
		if (PXT_UNLIKELY((gate & (PXT_GATE_STATE | PXT_GATE_KEEPS | PXT_GATE_CAREFUL)) !=
		                     PXT_GATE_RUNNING ||
		                 bytes > block->max_data || !pxt_admits(block, gate, id)))
			return 0;
		PXT_TESTPOINT(PXT_TP_GATE_SEEN);
		reserved[count].block = block;
	}
	return count;
}

/*
 * Several streams: reserve in all, read the counter once, store into all.  False: not the streams
 * for that; nothing was done.
 */
static PXT_NOINLINE bool emit_several(
    pxt_wanted_mask mask, uint32_t id, const unsigned char *data, size_t bytes, const void *address)
{
	struct reserved reserved[CONFIG_PTRACE_MAX_STREAMS];
	unsigned count = find_streams(mask, id, bytes, reserved);
	uint32_t cpu = *pxt_self.cpu;
	uint32_t slots = pxt_slots_for(PXT_CTX_BYTES + (uint32_t)bytes);
	uint32_t info = pxt_slot_info(id, (uint32_t)bytes, false, false, pxt_context_cpu(cpu));
	uint64_t ctx = pxt_context(pxt_self.index, address);
	uint32_t first;
	uint64_t ticks;

	if (PXT_UNLIKELY(!count))
		return false;
	/* Bound: the streams of the process. */
	PXT_BOUND(reserving, CONFIG_PTRACE_MAX_STREAMS);
	for (struct reserved *one = reserved; one != reserved + count; one++) {
		PXT_ROUND(reserving);
		one->lane = pxt_block_lane(one->block, cpu & one->block->lane_mask);
		one->head = pxt_cursor_add(&one->lane->head, (uint64_t)slots << 32 | 2u);
		PXT_TESTPOINT(PXT_TP_RESERVED);
	}
	ticks = pxt_port_ticks_plain();
	PXT_TESTPOINT(PXT_TP_STAMPED);
	first = first_data(data, bytes);
	/* Bound: the same. */
	PXT_BOUND(storing, CONFIG_PTRACE_MAX_STREAMS);
	for (const struct reserved *one = reserved; one != reserved + count; one++) {
		PXT_ROUND(storing);
		store_one(one, slots, info, data, first, ctx, ticks);
	}
	return true;
}

/* Inside; the event is not the hot stream's alone. */
static PXT_NOINLINE void go_on(uint32_t id, const void *data, size_t bytes, const void *address)
{
	pxt_wanted_mask mask = pxt_wanted_by(id);

	if ((mask & (pxt_wanted_mask)(mask - 1u)) && emit_several(mask, id, data, bytes, address))
		leave();
	else
		leave_and_go_careful(id, data, bytes, address);
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
	/*
	 * Not before: a handler that comes here first may be the one that registers the thread.
	 * Acquire: pairs with the release in pxt_threads_register().
	 */
	atomic_signal_fence(memory_order_acquire);
	entry = pxt_self.entry;
	passes = atomic_load_explicit(&entry->passes, memory_order_relaxed);
	if (PXT_UNLIKELY(passes & 1u)) {
		emit_careful(id, data, bytes, address);
		return;
	}
	/* As pxt_enter().  [proof: enter] */
	atomic_store_explicit(&entry->passes, passes + 1u, memory_order_relaxed);
	atomic_signal_fence(memory_order_seq_cst);
	PXT_TESTPOINT(PXT_TP_ENTERED);
	/* Acquire: pairs with the release in core/wanted.c. */
	hot = atomic_load_explicit(&pxt_fork.hot, memory_order_acquire);
	if (PXT_UNLIKELY(!hot || pxt_wanted_by(id) != pxt_hot_bit(hot) || bytes > hot->max_data)) {
		go_on(id, data, bytes, address);
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
