/* SPDX-License-Identifier: MIT */
/*
 * slowpath.c - in every stream that wants the event and admits it (gate and filter: core/stream/gate.h), whatever its
 * policy, also with ordered stamps, and where data is truncated: look at head, read the counter, take the place, store.  Each stream has its own
 * stamp for the event; all of them lie between the moment at which the trace point was entered and the one
 * at which it returned.  See slowpath.h.
 */
#define PXT_TRACE_PATH /* format/compiler.h */
#include "core/record/slowpath.h"

#include "core/process/context.h"
#include "core/process/forked.h"
#include "core/stream/gate.h"
#include "core/stream/share.h"

/* A place by the stream's policy; false: none (and the event is counted if it should have one). */
PXT_INLINE bool reserve(
    struct pxt_block *block, uint32_t gate, struct pxt_place *place, uint32_t slots)
{
	unsigned how = block->attr._pxt_flags & PXT_ATTR_ORDERED ? PXT_TAKE_ORDERED : 0u;

	/* One test for both. */
	if (PXT_AUTOSTOP_BUILT && (gate & (PXT_GATE_KEEPS | PXT_GATE_INSPECTED)))
		return pxt_fullpolicy_reserve(block, gate, place, slots, how);
	return pxt_slowpath_overwrite(block, place, slots, how);
}

/* By what an event of the process says: what makes others readable.  Of the rest there may be as many as of any call. */
#define DEFINES(what) (UINT32_C(1) << POSIX_TRACE_PROCESS_##what##_NP)
#define DEFINITIONS                                                                                \
	(DEFINES(IMAGE) | DEFINES(IMAGE_GONE) | DEFINES(IMAGE_BUILD) | DEFINES(THREAD_CREATE) |    \
	    DEFINES(THREAD_BEGIN) | DEFINES(THREAD_NAME) | DEFINES(FORK) | DEFINES(EXEC) |         \
	    DEFINES(EXIT) | DEFINES(TRACED) | DEFINES(UNTRACED))

/* What readers need of a process goes into the last lane, where there is one for that. */
static PXT_NOINLINE void choose_lane(
    struct pxt_block *block, struct pxt_ring *ring, const unsigned char *data, size_t bytes)
{
	uint32_t last = pxt_block_last(block);

	if (!pxt_share_defines(block) || !bytes || *data >= 32u || !(DEFINITIONS >> *data & 1u))
		return;
	ring->lane = pxt_block_lane(block, last);
	ring->mask = pxt_block_mask(block, last);
}

/*
 * One stream, whatever its policy and stamps.  @live: the trace point has seen it running; if it was
 * stopped since, the event is counted lost, as it is where the stop comes a step later.
 */
static void emit_into(unsigned index, bool live, uint32_t id, size_t bytes,
    struct pxt_inspect_candidate *candidate, uint32_t cpu)
{
	struct pxt_block *block = atomic_load_explicit(&pxt_blocks[index], memory_order_acquire);
	struct pxt_place *place = &candidate->place;
	struct pxt_ring_event *event = &candidate->event;
	uint32_t gate;
	bool cut;

	if (PXT_UNLIKELY(!block || !pxt_share_wants(block, id)))
		return;
	/* Pairs with the release of a thread that turned the gate: filter and lanes are as it says. */
	gate = atomic_load_explicit(&block->gate, memory_order_acquire);
	place->ring.lane = pxt_block_lane_of(block, cpu);
	place->ring.mask = block->slot_mask;
	if (PXT_UNLIKELY(id == POSIX_TRACE_PROCESS_NP))
		choose_lane(block, &place->ring, event->data, bytes);
	place->ring.slots = pxt_lane_slots(place->ring.lane);
	if (PXT_UNLIKELY((gate & PXT_GATE_STATE) == PXT_GATE_OFF || !pxt_admit(block, gate, id))) {
		if (live)
			pxt_block_refuse(block, place->ring.lane);
		return;
	}
	PXT_TESTPOINT(PXT_TP_GATE_SEEN);
	cut = bytes > block->max_data;
	event->bytes = cut ? block->max_data : (uint32_t)bytes;
	event->info = pxt_slot_info(
	    id, event->bytes, cut, pxt_context_extra(pxt_self.index), pxt_context_cpu(cpu));
	if (!reserve(block, gate, place, pxt_info_slots(event->info, PXT_CTX_BYTES)))
		return;
	event->ticks = place->ticks;
	pxt_ring_store(place, event);
	pxt_slowpath_wake(block, place->used);
}

void pxt_slowpath_each(pxt_wanted_mask mask, pxt_wanted_mask live, uint32_t id, const void *data,
    size_t bytes, const void *address)
{
	uint32_t cpu = *pxt_self.cpu;
	struct pxt_inspect_candidate candidate;

	candidate.event =
	    (struct pxt_ring_event){ .data = data, .ctx = pxt_context(pxt_self.index, address) };
	if (PXT_UNLIKELY(pxt_context_extra(pxt_self.index))) {
		candidate.event.ctx =
		    pxt_context(pxt_context_own(pxt_self.index, &candidate.event.thread), address);
		candidate.event.pid = (uint32_t)pxt_process_pid();
	}
	/* Bound: the streams of the process. */
	PXT_BOUND(wanting, CONFIG_PTRACE_MAX_STREAMS);
	for (; mask; mask &= (pxt_wanted_mask)(mask - 1u)) {
		unsigned index = (unsigned)__builtin_ctz(mask);

		PXT_ROUND(wanting);
		emit_into(index, (live & 1u << index) != 0, (uint32_t)id, bytes, &candidate, cpu);
	}
}

/* False: the thread is inside already, or not known. */
static bool enter_and_emit(size_t id, const void *data, size_t bytes, const void *address)
{
	struct pxt_pass pass;

	if (!pxt_enter(&pass))
		return false;
	PXT_TESTPOINT(PXT_TP_ENTERED);
	/* Again, from inside: a shutdown that missed this thread has cleared its bit before. */
	pxt_slowpath_each(pxt_wanted_by(id), 0, (uint32_t)id, data, bytes, address);
	pxt_leave(&pass);
	PXT_TESTPOINT(PXT_TP_LEFT);
	return true;
}

/*
 * In a child whose first event it is; or in a handler that interrupted a trace point, forked, and goes on in
 * the child (core/process/forked.h).
 */
static PXT_NOINLINE void emit_forked(size_t id, const void *data, size_t bytes, const void *address)
{
	struct pxt_who interrupted;

	if (pxt_process_begin_late() && enter_and_emit(id, data, bytes, address))
		return;
	if (!pxt_forked_borrow(&interrupted))
		return;
	(void)enter_and_emit(id, data, bytes, address);
	pxt_forked_give_back(&interrupted);
}

void pxt_slowpath_emit(size_t id, const void *data, size_t bytes, const void *address)
{
	if (!enter_and_emit(id, data, bytes, address) && CONFIG_PTRACE_PORT_POSIX)
		emit_forked(id, data, bytes, address);
}
