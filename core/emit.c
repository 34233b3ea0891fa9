/* SPDX-License-Identifier: MIT */
/*
 * emit.c - the trace path.  Reserve in every stream that wants the event, read the clock once,
 * then store: so stamps follow the order of reservation up to preemption, and one event has one
 * stamp in all streams.
 */
#include "core/emit.h"

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
	uint32_t gate;
};

PXT_INLINE uint32_t lane_of(const struct pxt_block *block, int32_t cpu)
{
	return (cpu >= 0 ? (uint32_t)cpu : pxt_self.index) & block->lane_mask;
}

/* False: the event does not enter this stream (and is counted if it should have). */
PXT_INLINE bool reserve(
    struct target *target, unsigned index, uint32_t id, size_t bytes, int32_t cpu)
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
	target->gate = gate;
	target->info = pxt_slot_info(id, target->bytes, cut, pxt_context_extra(pxt_self.index),
	    pxt_context_cpu(cpu));
	target->place.ring = pxt_block_ring(block, lane_of(block, cpu));
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

PXT_INLINE uint64_t stamp(uint32_t gate)
{
	return PXT_UNLIKELY(gate & PXT_GATE_ORDERED) ? pxt_port_ticks_ordered() : pxt_port_ticks();
}

static PXT_NOINLINE void emit_many(
    pxt_wanted_mask mask, uint32_t id, size_t bytes, struct pxt_event *event, int32_t cpu)
{
	struct target targets[CONFIG_PTRACE_MAX_STREAMS];
	unsigned count = 0;
	uint32_t gates = 0;

	/* Bound: the streams of the process. */
	for (; mask; mask &= (pxt_wanted_mask)(mask - 1u)) {
		if (reserve(&targets[count], (unsigned)__builtin_ctz(mask), id, bytes, cpu))
			gates |= targets[count++].gate;
	}
	if (!count)
		return;
	event->ticks = stamp(gates);
	PXT_TESTPOINT(PXT_TP_STAMPED);
	for (unsigned i = 0; i < count; i++)
		store(&targets[i], event);
}

PXT_INLINE void emit_one(
    unsigned index, uint32_t id, size_t bytes, struct pxt_event *event, int32_t cpu)
{
	struct target target;

	if (!reserve(&target, index, id, bytes, cpu))
		return;
	event->ticks = stamp(target.gate);
	PXT_TESTPOINT(PXT_TP_STAMPED);
	store(&target, event);
}

void pxt_emit(trace_event_id_t id, const void *data, size_t bytes, const void *address)
{
	struct pxt_event event;
	struct pxt_pass pass;
	pxt_wanted_mask mask;
	int32_t cpu;

	if (!pxt_enter(&pass))
		return;
	PXT_TESTPOINT(PXT_TP_ENTERED);
	/* Again, from inside: a shutdown that missed this thread has cleared its bit before. */
	mask = pxt_wanted_by(id);
	cpu = pxt_port_cpu();
	event.data = data;
	event.ctx = pxt_context(pxt_self.index, address);
	if (PXT_UNLIKELY(pxt_context_extra(pxt_self.index))) {
		event.thread = pxt_port_thread();
		event.pid = (uint32_t)pxt_process_pid();
	}
	if (PXT_LIKELY(!(mask & (pxt_wanted_mask)(mask - 1u)))) {
		if (PXT_LIKELY(mask))
			emit_one((unsigned)__builtin_ctz(mask), id, bytes, &event, cpu);
	} else {
		emit_many(mask, id, bytes, &event, cpu);
	}
	pxt_leave(&pass);
	PXT_TESTPOINT(PXT_TP_LEFT);
}

void pxt_system_event(trace_event_id_t id, const void *data, size_t bytes)
{
	if (PXT_UNLIKELY(pxt_wanted_by(id)))
		pxt_emit(id, data, bytes, __builtin_return_address(0));
}
