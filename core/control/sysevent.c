/* SPDX-License-Identifier: MIT */
/*
 * sysevent.c - puts the records of control calls.  START and STOP stand between all that was recorded
 * before and after; a START is refused while the stream is full.  See control.h.
 */
#include "core/control/control.h"

#include "core/process/context.h"
#include "core/read/lane.h"
#include "core/record/slowpath.h"
#include "core/stream/gate.h"

void pxt_sysevent_fill(
    struct pxt_ring_event *event, uint32_t id, const void *data, uint32_t bytes, const void *caller)
{
	const struct pxt_who *self = pxt_threads_who();

	event->data = data;
	event->bytes = bytes;
	event->info = pxt_slot_info(
	    id, bytes, false, pxt_context_extra(self->index), pxt_context_cpu(*self->cpu));
	event->ctx = pxt_context(pxt_context_own(self->index, &event->thread), caller);
	event->pid = (uint32_t)pxt_process_pid();
}

static bool is_wanted(struct pxt_block *block, uint32_t gate, uint32_t id)
{
	return pxt_admit_system(block, id) && (gate & PXT_GATE_STATE) == PXT_GATE_RUNNING;
}

static bool record(struct pxt_block *block, uint32_t gate, struct pxt_ring_event *event)
{
	struct pxt_place place = { .ring = pxt_block_ring(block, 0) };
	uint32_t slots = pxt_info_slots(event->info, PXT_CTX_BYTES);
	bool got;

	if (PXT_AUTOSTOP_BUILT && (gate & PXT_GATE_KEEPS))
		got = pxt_fullpolicy_reserve(
		    block, gate, &place, slots, PXT_TAKE_ORDERED | PXT_AUTOSTOP_SEEN);
	else
		got = pxt_ring_reserve(&place, slots, PXT_TAKE_ORDERED) == PXT_RESERVED;
	if (!got)
		return false;
	event->ticks = place.ticks;
	pxt_ring_store(&place, event);
	pxt_block_wake(block);
	return true;
}

bool pxt_sysevent_record(
    struct pxt_block *block, uint32_t id, const void *data, uint32_t bytes, const void *caller)
{
	uint32_t gate = atomic_load_explicit(&block->gate, memory_order_acquire);
	struct pxt_ring_event event;

	if (!is_wanted(block, gate, id))
		return false;
	pxt_sysevent_fill(&event, id, data, bytes, caller);
	return record(block, gate, &event);
}

/* ---- What went wrong inside the trace system ---- */

void pxt_sysevent_error(struct pxt_block *block, unsigned cause, int error)
{
	const int data = POSIX_TRACE_ERROR_OF_NP(cause, error);

	if (CONFIG_PTRACE_SYSEV_ERROR)
		(void)pxt_sysevent_record(block, PXT_ID_ERROR, &data, sizeof(data), NULL);
}

void pxt_sysevent_error_of(struct pxt_block *block, unsigned cause, int error, int32_t pid)
{
	const int data = POSIX_TRACE_ERROR_OF_NP(cause, error);
	uint32_t gate = atomic_load_explicit(&block->gate, memory_order_acquire);
	struct pxt_ring_event event;

	if (!CONFIG_PTRACE_SYSEV_ERROR || !is_wanted(block, gate, PXT_ID_ERROR))
		return;
	pxt_sysevent_fill(&event, PXT_ID_ERROR, &data, sizeof(data), NULL);
	if (CONFIG_PTRACE_RECORD_THREAD && pid > 0) {
		event.info =
		    pxt_slot_info(PXT_ID_ERROR, sizeof(data), false, true, PXT_CPU_UNKNOWN);
		event.ctx = pxt_context(PXT_THREAD_EXTRA, NULL);
		event.thread = 0;
		event.pid = (uint32_t)pid;
	}
	(void)record(block, gate, &event);
}

/* A copy for a snapshot has its stream's gate, but is only read. */
static void record_passed(struct pxt_block *block, int error)
{
	if (block->index != PXT_INDEX_COPY)
		pxt_sysevent_error(block, POSIX_TRACE_ERROR_RECORD_NP, error);
}

void (*pxt_lane_passed_hook)(struct pxt_block *block, int error) = record_passed;

/* ---- START and STOP by call ---- */

/*
 * Puts a mark into every lane, or into none.  Counted after all of them: a lane of a killed process
 * that has no mark is taken for one that has passed all that were counted.
 */
static void put_marks(struct pxt_block *block)
{
	uint64_t number = block->barriers + 1u;

	for (uint32_t i = 0; i <= pxt_block_last(block); i++) {
		struct pxt_place place = { .ring = pxt_block_ring(block, i) };

		if (pxt_ring_reserve_mark(&place, block->full_policy == POSIX_TRACE_LOOP)) {
			pxt_ring_store_mark(&place, PXT_MARK_BARRIER, number);
			place.ring.lane->barrier_pos = place.pos;
		} else {
			/* Seen as passed, like a mark that was overwritten: room was checked. */
			place.ring.lane->barrier = number;
		}
		/* What was empty is so no more: the consumer takes the mark when it looks next. */
		if (place.ring.lane->front_state == PXT_FRONT_EMPTY)
			place.ring.lane->front_state = PXT_FRONT_UNKNOWN;
	}
	block->barriers = number;
}

/* Into lane 0, though it is closed: only control calls do that, and room was looked at. */
static void put(struct pxt_block *block, struct pxt_ring_event *event)
{
	struct pxt_place place = { .ring = pxt_block_ring(block, 0) };

	pxt_ring_reserve_closed(&place, pxt_info_slots(event->info, PXT_CTX_BYTES));
	event->ticks = pxt_port_ticks_ordered();
	pxt_ring_store(&place, event);
}

/* Its data has no second place. */
static bool start_is_oob(const struct pxt_block *block)
{
	bool found = false;

	for (uint32_t i = 0; i < PXT_OOBS; i++)
		found |= pxt_info_id(block->oob[i].info) == PXT_ID_START;
	return found;
}

static bool put_oob(struct pxt_block *block, const struct pxt_ring_event *event, bool automatic)
{
	struct pxt_oob *oob = NULL;
	bool start;

	for (uint32_t i = 0; i < PXT_OOBS && !oob; i++)
		oob = block->oob[i].info ? NULL : &block->oob[i];
	start = pxt_info_id(event->info) == PXT_ID_START;
	if (!oob || (start && start_is_oob(block)))
		return false;
	oob->ticks = pxt_port_ticks_ordered();
	oob->ctx = event->ctx;
	oob->thread = event->thread;
	pxt_threads_keep(pxt_threads_who());
	if (event->bytes)
		memcpy(start ? pxt_admit_oob_data(block) : &oob->why, event->data, event->bytes);
	for (uint32_t i = 0; i <= pxt_block_last(block); i++) {
		struct pxt_lane *lane = pxt_block_lane(block, i);

		lane->oob_pos[oob - block->oob] = pxt_head_pos(pxt_cursor_load(&lane->head));
	}
	oob->info = event->info;
	oob->automatic = automatic;
	block->oob_records += !automatic;
	return true;
}

/*
 * START or STOP by call: a barrier between what was recorded before and after.  The lanes are
 * closed, so nothing is reserved while the room is looked at.  False: there was no place at all.
 * [proof: barrier]
 */
bool pxt_sysevent_barrier(
    struct pxt_block *block, uint32_t id, const void *data, uint32_t bytes, const void *caller)
{
	struct pxt_ring_event event;
	uint32_t needed;

	if (!CONFIG_PTRACE_SYSEV_START_STOP || !pxt_admit_system(block, id))
		return true;
	pxt_sysevent_fill(&event, id, data, bytes, caller);
	needed = pxt_info_slots(event.info, PXT_CTX_BYTES) + (pxt_block_merges(block) ? 1u : 0u) +
	         pxt_carry(pxt_head_seq(pxt_cursor_load(&pxt_block_lane(block, 0)->head)));
	if (pxt_block_room(block) < needed)
		return put_oob(block, &event, false);
	if (pxt_block_merges(block))
		put_marks(block);
	put(block, &event);
	return true;
}

/* An automatic STOP that is due, and wanted. */
static bool stop_is_owed(struct pxt_block *block)
{
	return CONFIG_PTRACE_SYSEV_START_STOP && pxt_gate_stop_is_due(block) &&
	       pxt_admit_system(block, PXT_ID_STOP);
}

/*
 * Whether a START finds its place, the automatic STOP that is due before it, and the STOP that
 * may follow when no slot is left: a stop cannot be refused.
 */
bool pxt_sysevent_start_has_place(struct pxt_block *block)
{
	uint32_t slots = pxt_slots_for(PXT_CTX_BYTES + PXT_THREAD_EXTRA_BYTES + PXT_START_BYTES) +
	                 (pxt_block_merges(block) ? 2u : 1u);
	bool aside = pxt_block_room(block) < slots;
	uint32_t needed = 1u + aside + stop_is_owed(block);

	if (!CONFIG_PTRACE_SYSEV_START_STOP)
		return true;
	if (aside && start_is_oob(block))
		return false;
	for (uint32_t i = 0; i < PXT_OOBS; i++)
		needed -= needed && !block->oob[i].info;
	return !needed;
}

bool pxt_sysevent_is_full(struct pxt_block *block)
{
	return pxt_block_room(block) == 0 ||
	       (pxt_gate_was_auto(block) && !block->freed_since_full) ||
	       !pxt_sysevent_start_has_place(block);
}

/*
 * An automatic STOP that was not handed out yet must be before the START that follows.  It
 * takes no room in the lanes, and it is not counted: no writer made it.
 */
bool pxt_sysevent_owed_stop(struct pxt_block *block)
{
	const int automatic = 1;
	struct pxt_ring_event event;

	if (stop_is_owed(block)) {
		pxt_sysevent_fill(&event, PXT_ID_STOP, &automatic, sizeof(automatic), NULL);
		if (!put_oob(block, &event, true))
			return false;
	}
	pxt_gate_step(block, PXT_STEP_STOP_PUT);
	return true;
}

void pxt_sysevent_stop(struct pxt_block *block, int why, const void *caller)
{
	(void)pxt_sysevent_barrier(block, PXT_ID_STOP, &why, sizeof(why), caller);
}
