/* SPDX-License-Identifier: MIT */
/*
 * emit.c - the trace path.  In every stream that wants the event: look at head, read the counter,
 * take the place, store.  Each stream has its own stamp for the event; all of them lie between the
 * moment at which the trace point was entered and the one at which it returned.
 */
#define PXT_TRACE_PATH /* base/compiler.h */
#include "core/emit.h"

#include "base/attr.h"
#include "core/admit.h"
#include "core/autostop.h"
#include "core/context.h"
#include "core/emit_short.h"
#include "core/forked.h"
#include "core/threads.h"
#include "core/wanted.h"

/* The record is stored.  [proof: wake]  Not ordered behind the slots: the sleeper's membarrier sees to it (ruling 13). */
PXT_INLINE void wake_sleeper(struct pxt_block *block, uint32_t used)
{
	PXT_TESTPOINT(PXT_TP_STORED);
	if (PXT_UNLIKELY(atomic_load_explicit(&block->asleep, memory_order_relaxed)) &&
	    used >= block->mark)
		pxt_stream_wake(block);
}

/* A place by the stream's policy; false: none (and the event is counted if it should have one). */
PXT_INLINE bool reserve(
    struct pxt_block *block, uint32_t gate, struct pxt_place *place, uint32_t slots)
{
	unsigned how = block->attr._pxt_flags & PXT_ATTR_ORDERED ? PXT_TAKE_ORDERED : 0u;
	enum pxt_reserve got;

	if (gate & PXT_GATE_KEEPS)
		return pxt_emit_reserve_free(block, gate, place, slots, how);
	got = pxt_ring_reserve(place, slots, how);
	/* Overtaken for a whole ring, or stopped since the gate was read. */
	if (PXT_UNLIKELY(got != PXT_RESERVED))
		pxt_counter_up(&place->ring.lane->refused);
	return got == PXT_RESERVED;
}

/*
 * One stream, whatever its policy and stamps.  @live: the trace point has seen it running; if it was
 * stopped since, the event is counted lost, as it is where the stop comes a step later.
 */
static void emit_into(
    unsigned index, bool live, uint32_t id, size_t bytes, struct pxt_event *event, uint32_t cpu)
{
	struct pxt_block *block = atomic_load_explicit(&pxt_blocks[index], memory_order_acquire);
	struct pxt_place place;
	uint32_t gate;
	bool cut;

	if (PXT_UNLIKELY(!block))
		return;
	/* Pairs with the release of whoever turned the gate: filter and lanes are as it says. */
	gate = atomic_load_explicit(&block->gate, memory_order_acquire);
	place.ring.lane = pxt_block_lane(block, cpu & block->lane_mask);
	place.ring.slots = pxt_lane_slots(place.ring.lane);
	place.ring.mask = block->slot_mask;
	if (PXT_UNLIKELY((gate & PXT_GATE_STATE) == PXT_GATE_OFF || !pxt_admits(block, gate, id))) {
		if (live)
			pxt_counter_up(&place.ring.lane->refused);
		return;
	}
	PXT_TESTPOINT(PXT_TP_GATE_SEEN);
	cut = bytes > block->max_data;
	event->bytes = cut ? block->max_data : (uint32_t)bytes;
	event->info = pxt_slot_info(
	    id, event->bytes, cut, pxt_context_extra(pxt_self.index), pxt_context_cpu(cpu));
	if (!reserve(block, gate, &place, pxt_info_slots(event->info, PXT_CTX_BYTES)))
		return;
	event->ticks = place.ticks;
	pxt_ring_store(&place, event);
	wake_sleeper(block, place.used);
}

/* The streams in @mask one by one; the caller is inside, and has seen those in @live running. */
static PXT_NOINLINE void emit_each(pxt_wanted_mask mask, pxt_wanted_mask live, uint32_t id,
    const void *data, size_t bytes, const void *address)
{
	uint32_t cpu = *pxt_self.cpu;
	struct pxt_event event = { .data = data, .ctx = pxt_context(pxt_self.index, address) };

	if (PXT_UNLIKELY(pxt_context_extra(pxt_self.index))) {
		event.thread = pxt_port_thread();
		event.pid = (uint32_t)pxt_process_pid();
	}
	/* Bound: the streams of the process. */
	PXT_BOUND(wanting, CONFIG_PTRACE_MAX_STREAMS);
	for (; mask; mask &= (pxt_wanted_mask)(mask - 1u)) {
		unsigned index = (unsigned)__builtin_ctz(mask);

		PXT_ROUND(wanting);
		emit_into(index, (live & 1u << index) != 0, (uint32_t)id, bytes, &event, cpu);
	}
}

/* In a handler that interrupted a trace point, forked, and goes on in the child (core/forked.h). */
static PXT_NOINLINE void emit_forked(size_t id, const void *data, size_t bytes, const void *address)
{
	struct pxt_self interrupted;
	struct pxt_pass pass;

	if (!pxt_forked_borrow(&interrupted))
		return;
	if (pxt_enter(&pass)) {
		emit_each(pxt_wanted_by(id), 0, (uint32_t)id, data, bytes, address);
		pxt_leave(&pass);
	}
	pxt_forked_give_back(&interrupted);
}

void pxt_emit_careful(size_t id, const void *data, size_t bytes, const void *address)
{
	struct pxt_pass pass;

	if (!pxt_enter(&pass)) {
		emit_forked(id, data, bytes, address);
		return;
	}
	PXT_TESTPOINT(PXT_TP_ENTERED);
	/* Again, from inside: a shutdown that missed this thread has cleared its bit before. */
	emit_each(pxt_wanted_by(id), 0, (uint32_t)id, data, bytes, address);
	pxt_leave(&pass);
	PXT_TESTPOINT(PXT_TP_LEFT);
}

#if PXT_SHORT_CONTEXT

#define FIRST_DATA PXT_SHORT_DATA

/* ---- Streams that overwrite, with plain stamps, beyond the common case (core/emit_short.h) ---- */

static PXT_NOINLINE void emit_and_leave(
    uint32_t id, const void *data, size_t bytes, const void *address, const struct pxt_block *hot)
{
	pxt_wanted_mask only = (pxt_wanted_mask)(1u << hot->index);

	emit_each(only, only, id, data, bytes, address);
	pxt_short_leave(pxt_self.entry);
}

void pxt_emit_unusual(uint64_t low, uint64_t high, uint32_t info, struct pxt_thread *entry,
    const struct pxt_block *hot)
{
	const void *address = (const void *)pxt_context_address(low >> 32 | high << 32);
	uint32_t first = (uint32_t)(high >> 32);
	unsigned char data[FIRST_DATA];

	memcpy(data, &first, sizeof(data));
	(void)entry;
	emit_and_leave(pxt_info_id(info), data, pxt_info_bytes(info), address, hot);
}

void pxt_emit_wake(struct pxt_block *block)
{
	pxt_stream_wake(block);
	pxt_short_leave(pxt_self.entry);
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

/*
 * The last slot: 1 to 12 bytes, behind which zeros stand.  The four bytes before them are the
 * event's, too, so two loads that overlap do instead of a loop.
 */
PXT_INLINE void put_end(pxt_cell *slot, uint64_t tag, const unsigned char *data, size_t left)
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
	pxt_short_put(slot, tag, (uint64_t)first << 32, rest);
	PXT_TESTPOINT(PXT_TP_MIDDLE_STORED);
}

/* One slot full of data. */
PXT_INLINE void put_full(pxt_cell *slot, uint64_t tag, const unsigned char *data)
{
	if (PXT_LIKELY(!pxt_short_late(slot, tag)))
		pxt_slot_store_piece_plain(slot, (uint32_t)tag, data);
	PXT_TESTPOINT(PXT_TP_MIDDLE_STORED);
}

/* What is behind the context's slot. */
PXT_INLINE void put_rest(pxt_cell *slot, uint64_t tag, const unsigned char *data, size_t left)
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
	pxt_short_end(pxt_self.entry, hot);
}

/* Up to the stream's maximum. */
void pxt_emit_long(
    size_t id, const unsigned char *data, size_t bytes, const void *address, struct pxt_block *hot)
{
	uint32_t cpu = *pxt_self.cpu;
	struct pxt_lane *lane = pxt_block_lane(hot, cpu & hot->lane_mask);
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
	if (PXT_UNLIKELY(!pxt_short_take(lane, pxt_ring_step(slots), &head))) {
		emit_and_leave((uint32_t)id, data, bytes, address, hot);
		return;
	}
	slot = pxt_short_slot(hot, lane, head, &tag);
	pxt_short_put_begin(slot, (uint32_t)tag,
	    pxt_slot_info((uint32_t)id, (uint32_t)bytes, false, false, pxt_context_cpu(cpu)),
	    ticks);
	memcpy(&first, data, FIRST_DATA);
	pxt_short_put_context(slot + 1, tag, pxt_context(pxt_self.index, address), first);
	if (bytes > (size_t)8 * PXT_SLOT_PAYLOAD) {
		finish_long(hot, slot + 2, tag, data + FIRST_DATA, bytes - FIRST_DATA);
		return;
	}
	put_rest(slot + 2, tag, data + FIRST_DATA, bytes - FIRST_DATA);
	pxt_short_end(pxt_self.entry, hot);
}

void pxt_emit_few(
    size_t id, const unsigned char *data, size_t bytes, const void *address, struct pxt_block *hot)
{
	pxt_short_record(pxt_fork.self_at, pxt_self.entry, hot, (uint32_t)id, (uint32_t)bytes,
	    first_data(data, bytes), address);
}

/* One of several streams, and the place that it has for the record. */
struct target {
	struct pxt_block *block;
	struct pxt_lane *lane;
	uint64_t head;
	uint64_t bit; /* of the stream, in masks */
};

/* The record into a place that was found; false: it is not there any more. */
PXT_INLINE bool put_target(const struct target *target, uint32_t slots, uint32_t info,
    const unsigned char *data, uint32_t first, uint64_t ctx, uint64_t ticks)
{
	size_t bytes = pxt_info_bytes(info);
	uint64_t head = target->head;
	uint64_t tag;
	pxt_cell *slot = pxt_short_slot(target->block, target->lane, head, &tag);

	if (PXT_UNLIKELY(!pxt_short_take(target->lane, pxt_ring_step(slots), &head)))
		return false;
	pxt_short_put_begin(slot, (uint32_t)tag, info, ticks);
	pxt_short_put_context(slot + 1, tag, ctx, first);
	if (bytes > FIRST_DATA)
		put_rest(slot + 2, tag, data + FIRST_DATA, bytes - FIRST_DATA);
	wake_sleeper(target->block, 0);
	return true;
}

/* Whether the stream takes the event whole, overwrites, and has plain stamps. */
PXT_INLINE bool find_target(
    struct target *target, unsigned index, uint32_t id, size_t bytes, uint32_t cpu)
{
	struct pxt_block *block = atomic_load_explicit(&pxt_blocks[index], memory_order_acquire);
	uint32_t gate;

	if (PXT_UNLIKELY(!block))
		return false;
	/* As in emit_into(). */
	gate = atomic_load_explicit(&block->gate, memory_order_acquire);
	if (PXT_UNLIKELY(
	        (gate & (PXT_GATE_STATE | PXT_GATE_KEEPS | PXT_GATE_CAREFUL)) != PXT_GATE_RUNNING ||
	        bytes > block->max_data || !pxt_admits(block, gate, id)))
		return false;
	PXT_TESTPOINT(PXT_TP_GATE_SEEN);
	target->block = block;
	target->lane = pxt_block_lane(block, cpu & block->lane_mask);
	return true;
}

/*
 * Several streams: all heads are looked at, the counter is read once, all places are taken.  Returns
 * the streams for which that was not to be: nothing was done for them.
 */
PXT_INLINE pxt_wanted_mask emit_several(pxt_wanted_mask mask, pxt_wanted_mask *live, uint32_t id,
    const unsigned char *data, size_t bytes, const void *address)
{
	struct target targets[CONFIG_PTRACE_MAX_STREAMS];
	uint32_t cpu = *pxt_self.cpu;
	uint32_t slots = pxt_slots_for(PXT_CTX_BYTES + (uint32_t)bytes);
	uint32_t info =
	    pxt_slot_info((uint32_t)id, (uint32_t)bytes, false, false, pxt_context_cpu(cpu));
	uint64_t ctx = pxt_context(pxt_self.index, address);
	uint32_t first = first_data(data, bytes);
	struct target *end = targets; /* behind those that have a usual place */
	uint64_t ticks;

	*live = 0;
	/* Bound: the streams of the process. */
	PXT_BOUND(finding, CONFIG_PTRACE_MAX_STREAMS);
	for (pxt_wanted_mask left = mask; left; left &= (pxt_wanted_mask)(left - 1u)) {
		unsigned index = (unsigned)__builtin_ctz(left);

		PXT_ROUND(finding);
		if (PXT_UNLIKELY(!find_target(end, index, id, bytes, cpu)))
			continue;
		end->bit = left & -(uint64_t)left;
		*live |= (pxt_wanted_mask)end->bit;
		end += pxt_short_find(end->lane, slots, &end->head);
	}
	ticks = pxt_port_ticks_plain();
	/* Bound: the same. */
	PXT_BOUND(storing, CONFIG_PTRACE_MAX_STREAMS);
	for (const struct target *target = targets; target != end; target++) {
		PXT_ROUND(storing);
		if (PXT_LIKELY(put_target(target, slots, info, data, first, ctx, ticks)))
			mask &= (pxt_wanted_mask)~target->bit;
	}
	return mask;
}

void pxt_emit_inside(size_t id, const void *data, size_t bytes, const void *address)
{
	pxt_wanted_mask mask = pxt_wanted_by(id);
	pxt_wanted_mask live = 0;

	if (mask & (pxt_wanted_mask)(mask - 1u))
		mask = emit_several(mask, &live, (uint32_t)id, data, bytes, address);
	if (mask)
		emit_each(mask, live, (uint32_t)id, data, bytes, address);
	pxt_short_leave(pxt_self.entry);
}

#endif

void pxt_emit(uint32_t id, const void *data, size_t bytes, const void *address PXT_LOOK_PARAMETER)
{
	pxt_emit_short(id, data, bytes, address PXT_LOOK_ARGUMENT);
}

void pxt_system_event(trace_event_id_t id, const void *data, size_t bytes)
{
	const struct pxt_look look = pxt_look_system();

	if (PXT_UNLIKELY(pxt_look_wanted(look, id)))
		pxt_emit(id, data, bytes, __builtin_return_address(0) PXT_LOOK_ARGUMENT);
}
