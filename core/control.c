/* SPDX-License-Identifier: MIT */
/* control.c - start, stop, clear, automatic restart, and system events of control calls. */
#include "core/control.h"

#include "core/admit.h"
#include "core/autostop.h"
#include "core/consumer.h"
#include "core/context.h"
#include "core/family.h"
#include "core/share.h"
#include "core/threads.h"
#include "core/wanted.h"

#include <string.h>

uint64_t pxt_holdback_ns = (uint64_t)CONFIG_PTRACE_HOLDBACK_MS * 1000000u;

uint64_t pxt_holdback_ticks(void)
{
	uint64_t us = pxt_holdback_ns / 1000u;

	/* At least one tick: a counter of less than 10 Hz must not cut the wait to nothing. */
	return pxt_clock.hz / 1000000u * us + pxt_clock.hz % 1000000u * us / 1000000u + 1u;
}

/* Bit i: this configuration makes events of system type i. */
static const uint32_t system_events =
    (uint32_t)CONFIG_PTRACE_SYSEV_ERROR << PXT_ID_SYSTEM_FIRST |
    (uint32_t)CONFIG_PTRACE_SYSEV_START_STOP * (1u << 2 | 1u << 3) |
    (uint32_t)CONFIG_PTRACE_SYSEV_OVERFLOW_RESUME * (1u << 4 | 1u << 5) |
    (uint32_t)CONFIG_PTRACE_SYSEV_FILTER << 6 |
    (uint32_t)CONFIG_PTRACE_SYSEV_FLUSH * (1u << 7 | 1u << 8);

bool pxt_stream_wants(struct pxt_block *block, uint32_t id)
{
	uint32_t gate = atomic_load_explicit(&block->gate, memory_order_acquire);

	/* Another process counts what is recorded for it; it makes system events of its own. */
	return (system_events >> id & 1u) && !pxt_attr_guest(&block->attr) &&
	       pxt_admits(block, gate, id);
}

void pxt_stream_wake(struct pxt_block *block)
{
	if (atomic_exchange_explicit(&block->asleep, 0u, memory_order_acq_rel))
		pxt_port_wake(&block->asleep);
}

/* ---- Records of control calls ---- */

static void fill(
    struct pxt_event *event, uint32_t id, const void *data, uint32_t bytes, const void *caller)
{
	const struct pxt_self *self = pxt_threads_who();

	event->data = data;
	event->bytes = bytes;
	event->info = pxt_slot_info(
	    id, bytes, false, pxt_context_extra(self->index), pxt_context_cpu(*self->cpu));
	event->ctx = pxt_context(self->index, caller);
	event->thread = pxt_port_thread();
	event->pid = (uint32_t)pxt_process_pid();
}

/*
 * Puts a mark into every lane, or into none.  Counted behind all of them: a lane of a killed process
 * that has no mark is taken for one that has passed all that were counted.
 */
static void put_marks(struct pxt_block *block)
{
	uint64_t number = block->barriers + 1u;

	for (uint32_t i = 0; i <= pxt_block_last(block); i++) {
		struct pxt_place place = { .ring = pxt_block_ring(block, i) };

		if (pxt_ring_reserve_mark(&place, block->full_policy == POSIX_TRACE_LOOP))
			pxt_ring_store_mark(&place, number);
		else
			/* Seen as passed, like a mark that was overwritten: room was checked. */
			place.ring.lane->barrier = number;
		/* What was empty is so no more: the consumer takes the mark when it looks next. */
		if (place.ring.lane->front_state == PXT_FRONT_EMPTY)
			place.ring.lane->front_state = PXT_FRONT_UNKNOWN;
	}
	block->barriers = number;
}

/* Slots that are free in the fullest lane; as many as there are when overwriting. */
static uint32_t room(struct pxt_block *block)
{
	uint32_t least = block->slot_mask + 1u;

	if (block->full_policy == POSIX_TRACE_LOOP)
		return least;
	for (uint32_t i = 0; i <= pxt_block_last(block); i++) {
		struct pxt_lane *lane = pxt_block_lane(block, i);
		uint32_t used = pxt_head_pos(pxt_cursor_load(&lane->head)) -
		                atomic_load_explicit(&lane->limit, memory_order_acquire);
		uint32_t left = used < block->slot_mask + 1u ? block->slot_mask + 1u - used : 0u;

		least = left < least ? left : least;
	}
	return least;
}

/* Into lane 0, though it is closed: only control calls do that, and room was looked at. */
static void put(struct pxt_block *block, struct pxt_event *event)
{
	struct pxt_place place = { .ring = pxt_block_ring(block, 0) };

	pxt_ring_reserve_closed(&place, pxt_info_slots(event->info, PXT_CTX_BYTES));
	event->ticks = pxt_port_ticks_ordered();
	pxt_ring_store(&place, event);
}

/* Its data has no second place. */
static bool start_is_aside(const struct pxt_block *block)
{
	bool found = false;

	for (uint32_t i = 0; i < PXT_SIDES; i++)
		found |= pxt_info_id(block->side[i].info) == PXT_ID_START;
	return found;
}

static bool put_aside(struct pxt_block *block, const struct pxt_event *event, bool automatic)
{
	struct pxt_side *side = NULL;
	bool start;

	for (uint32_t i = 0; i < PXT_SIDES && !side; i++)
		side = block->side[i].info ? NULL : &block->side[i];
	start = pxt_info_id(event->info) == PXT_ID_START;
	if (!side || (start && start_is_aside(block)))
		return false;
	side->ticks = pxt_port_ticks_ordered();
	side->ctx = event->ctx;
	if (event->bytes)
		memcpy(start ? pxt_side_data(block) : &side->why, event->data, event->bytes);
	for (uint32_t i = 0; i <= pxt_block_last(block); i++) {
		struct pxt_lane *lane = pxt_block_lane(block, i);

		lane->side_pos[side - block->side] = pxt_head_pos(pxt_cursor_load(&lane->head));
	}
	side->info = event->info;
	side->automatic = automatic;
	block->sided += !automatic;
	return true;
}

/*
 * START or STOP by call: a barrier between what was recorded before and after.  The lanes are
 * closed, so nothing is reserved while the room is looked at.  False: there was no place at all.
 * [proof: barrier]
 */
static bool put_barrier(
    struct pxt_block *block, uint32_t id, const void *data, uint32_t bytes, const void *caller)
{
	struct pxt_event event;
	uint32_t needed;

	if (!pxt_stream_wants(block, id))
		return true;
	fill(&event, id, data, bytes, caller);
	needed = pxt_info_slots(event.info, PXT_CTX_BYTES) + (pxt_block_merges(block) ? 1u : 0u) +
	         pxt_carry(pxt_head_seq(pxt_cursor_load(&pxt_block_lane(block, 0)->head)));
	if (room(block) < needed)
		return put_aside(block, &event, false);
	if (pxt_block_merges(block))
		put_marks(block);
	put(block, &event);
	return true;
}

bool pxt_stream_record(
    struct pxt_stream *stream, uint32_t id, const void *data, uint32_t bytes, const void *caller)
{
	struct pxt_block *block = stream->block;
	struct pxt_place place = { .ring = pxt_block_ring(block, 0) };
	uint32_t gate = atomic_load_explicit(&block->gate, memory_order_acquire);
	struct pxt_event event;
	uint32_t slots;
	bool got;

	if (!pxt_stream_wants(block, id) || (gate & PXT_GATE_STATE) != PXT_GATE_RUNNING)
		return false;
	fill(&event, id, data, bytes, caller);
	slots = pxt_info_slots(event.info, PXT_CTX_BYTES);
	if (gate & PXT_GATE_KEEPS)
		got = pxt_emit_reserve_free(block, gate, &place, slots, PXT_TAKE_ORDERED);
	else
		got = pxt_ring_reserve(&place, slots, PXT_TAKE_ORDERED) == PXT_RESERVED;
	if (!got)
		return false;
	event.ticks = place.ticks;
	pxt_ring_store(&place, &event);
	pxt_stream_wake(block);
	return true;
}

/* ---- Gate ---- */

/* Release: writers that see the new gate see lanes and filter as they were made for it. */
static void set_state(struct pxt_block *block, uint32_t state, uint32_t turn)
{
	uint32_t gate = atomic_load_explicit(&block->gate, memory_order_relaxed);
	uint32_t next;

	/* Only a writer's automatic stop can come between, once per generation. */
	do {
		next = ((gate & ~PXT_GATE_STATE) | state) ^ turn;
		if (turn)
			next &= ~PXT_GATE_FILTERED;
		if (state == PXT_GATE_RUNNING)
			next += PXT_GATE_GENERATION;
	} while (!atomic_compare_exchange_weak_explicit(
	    &block->gate, &gate, next, memory_order_acq_rel, memory_order_relaxed));
	PXT_TESTPOINT(PXT_TP_GATE_TURNED);
}

static void close_lanes(struct pxt_block *block)
{
	for (uint32_t i = 0; i <= pxt_block_last(block); i++) {
		pxt_cursor_close(&pxt_block_lane(block, i)->head);
		PXT_TESTPOINT(PXT_TP_CLOSED_LANE);
	}
}

static void open_lanes(struct pxt_block *block)
{
	for (uint32_t i = 0; i <= pxt_block_last(block); i++)
		pxt_cursor_open(&pxt_block_lane(block, i)->head);
}

static bool was_auto(struct pxt_block *block)
{
	return pxt_block_state(block) == PXT_GATE_AUTO || block->owes_stop;
}

static bool owes_stop(struct pxt_block *block)
{
	return was_auto(block) && !block->stop_told && pxt_stream_wants(block, PXT_ID_STOP);
}

/*
 * Whether a START finds its place, the automatic STOP that is due before it, and the STOP that
 * may follow when no slot is left: a stop cannot be refused.
 */
static bool start_has_place(struct pxt_block *block)
{
	uint32_t slots = pxt_slots_for(PXT_CTX_BYTES + PXT_THREAD_EXTRA_BYTES + PXT_START_BYTES) +
	                 (pxt_block_merges(block) ? 2u : 1u);
	bool aside = room(block) < slots;
	uint32_t needed = 1u + aside + owes_stop(block);

	if (aside && start_is_aside(block))
		return false;
	for (uint32_t i = 0; i < PXT_SIDES; i++)
		needed -= needed && !block->side[i].info;
	return !needed;
}

static bool is_full(struct pxt_block *block)
{
	return room(block) == 0 || (was_auto(block) && !block->freed_since_full) ||
	       !start_has_place(block);
}

/*
 * An automatic STOP that was not handed out yet must stand before the START that follows.  It
 * takes no room in the lanes, and it is not counted: no writer made it.
 */
static bool put_owed_stop(struct pxt_block *block)
{
	const int automatic = 1;
	struct pxt_event event;

	if (owes_stop(block)) {
		fill(&event, PXT_ID_STOP, &automatic, sizeof(automatic), NULL);
		if (!put_aside(block, &event, true))
			return false;
	}
	block->owes_stop = 0;
	return true;
}

/*
 * The automatic STOP was handed out, its restart is not done yet (the flusher writes meanwhile),
 * and a late writer has recorded something: that belongs behind the START of the restart.  The
 * lanes are closed.  [proof: late]
 */
static bool restart_for_late_records(struct pxt_stream *stream)
{
	struct pxt_block *block = stream->block;

	if (pxt_block_state(block) != PXT_GATE_AUTO || !block->stop_told ||
	    pxt_consumer_drained(block))
		return false;
	pxt_stream_restart(stream);
	return true;
}

void pxt_stream_start(struct pxt_stream *stream, const void *caller)
{
	struct pxt_block *block = stream->block;
	const void *set;

	if (pxt_block_state(block) == PXT_GATE_RUNNING || stream->dead_log)
		return;
	if (block->full_policy != POSIX_TRACE_LOOP && is_full(block))
		return;
	pxt_consumer_look_again(block);
	close_lanes(block);
	if (restart_for_late_records(stream)) {
		open_lanes(block);
		return;
	}
	set = pxt_set_in_force(block, atomic_load_explicit(&block->gate, memory_order_relaxed));
	if (!put_owed_stop(block) ||
	    !put_barrier(block, PXT_ID_START, set, PXT_START_BYTES, caller)) {
		/* No place for START: as full as can be. */
		if (pxt_block_state(block) == PXT_GATE_AUTO)
			open_lanes(block);
		return;
	}
	block->stop_told = 0;
	block->freed_since_full = 0;
	block->quiet = 0;
	pxt_wide_set(&block->auto_stop_ticks, 0);
	open_lanes(block);
	set_state(block, PXT_GATE_RUNNING, 0);
	pxt_wanted_update(stream->index, true);
	pxt_stream_wake(block);
	pxt_share_state(stream);
}

uint32_t pxt_stream_shut_gate(struct pxt_stream *stream)
{
	struct pxt_block *block = stream->block;
	uint32_t state;

	pxt_consumer_look_again(block);
	close_lanes(block);
	(void)restart_for_late_records(stream);
	/* A writer may have stopped it while the lanes were closed. */
	state = pxt_block_state(block);
	if (state == PXT_GATE_AUTO && !block->stop_told)
		block->owes_stop = 1;
	set_state(block, PXT_GATE_OFF, 0);
	block->stop_told = 0;
	return state;
}

void pxt_stream_put_stop(struct pxt_block *block, int why, const void *caller)
{
	(void)put_barrier(block, PXT_ID_STOP, &why, sizeof(why), caller);
}

void pxt_stream_stop(struct pxt_stream *stream, const void *caller)
{
	struct pxt_block *block = stream->block;
	uint32_t state = pxt_block_state(block);

	if (state == PXT_GATE_OFF)
		return;
	pxt_share_pull_now(block, true);
	state = pxt_stream_shut_gate(stream);
	pxt_wanted_update(stream->index, false);
	/* What was reserved before is finished now, or will never be; unless a writer is very late. */
	block->quiet = pxt_threads_wait_left(pxt_holdback_ns, pxt_family_whose(block));
	if (state == PXT_GATE_RUNNING)
		pxt_stream_put_stop(block, 0, caller);
	pxt_stream_wake(block);
	pxt_share_state(stream);
}

void pxt_stream_stop_now(struct pxt_stream *stream)
{
	struct pxt_block *block = stream->block;
	uint32_t gate = atomic_load_explicit(&block->gate, memory_order_acquire);

	pxt_consumer_look_again(block);
	close_lanes(block);
	pxt_auto_stop(block, gate);
	set_state(block, PXT_GATE_OFF, 0);
	pxt_wanted_update(stream->index, false);
	pxt_share_state(stream);
}

/* [proof: restart] */
void pxt_stream_restart(struct pxt_stream *stream)
{
	struct pxt_block *block = stream->block;
	uint64_t start = pxt_port_ticks_ordered();
	uint64_t refused = 0;

	pxt_consumer_look_again(block);
	/* What other processes have recorded by now comes before this moment, or is bound by it. */
	start = pxt_share_pull(block, start, true);
	for (uint32_t i = 0; i <= pxt_block_last(block); i++) {
		struct pxt_ring ring = pxt_block_ring(block, i);
		uint64_t late = pxt_lane_floor(&ring);

		/* What a late writer has recorded comes behind the START, and not later than it was. */
		start = late < start ? late : start;
		refused += pxt_counter_load(&ring.lane->refused);
	}
	block->lost_before += refused - block->refused_told;
	if (block->with_log && refused != block->refused_told)
		pxt_consumer_gap(block, pxt_wide_load(&block->auto_stop_ticks));
	block->refused_told = refused;
	block->stop_told = 0;
	block->freed_since_full = 0;
	pxt_wide_set(&block->auto_stop_ticks, 0);
	pxt_note_start_set(block, atomic_load_explicit(&block->gate, memory_order_relaxed));
	block->start_ticks = start;
	block->owes_start = pxt_stream_wants(block, PXT_ID_START);
	set_state(block, PXT_GATE_RUNNING, 0);
}

/* ---- Clear ---- */

static void skip_all(struct pxt_block *block, struct pxt_ring *ring)
{
	struct pxt_lane *lane = ring->lane;
	uint64_t pos;
	uint64_t seq;

	pxt_lane_head(lane, &pos, &seq);
	block->cleared += seq - lane->seq;
	lane->barrier = block->barriers;
	pxt_lane_move(block, lane, pos, seq);
	pxt_lane_publish(lane);
}

/* [proof: clear] */
void pxt_stream_clear(struct pxt_stream *stream)
{
	struct pxt_block *block = stream->block;
	uint32_t gate = atomic_load_explicit(&block->gate, memory_order_acquire);
	uint64_t refused = 0;

	/* What others recorded before goes, too. */
	pxt_share_pull_now(block, true);
	pxt_consumer_look_again(block);
	/* Stays stopped: a late writer must not put anything into the room that is made now. */
	if ((gate & PXT_GATE_STATE) == PXT_GATE_AUTO)
		close_lanes(block);
	for (uint32_t i = 0; i <= pxt_block_last(block); i++) {
		struct pxt_ring ring = pxt_block_ring(block, i);

		refused += pxt_counter_load(&ring.lane->refused);
		skip_all(block, &ring);
		PXT_TESTPOINT(PXT_TP_LANE_CLEARED);
	}
	for (uint32_t i = 0; i < PXT_SIDES; i++) {
		block->cleared += block->side[i].info != 0 && !block->side[i].automatic;
		block->side[i].info = 0;
	}
	block->gap = 0;
	block->resume_due = 0;
	block->owes_stop = 0;
	block->owes_start = 0;
	block->stop_told = 0;
	block->freed_since_full = 0;
	block->give_up = 0;
	block->lost_before = 0;
	block->refused_told = refused;
	block->lost_told = block->lost + refused;
	pxt_empty_filter(block, gate);
	if ((gate & PXT_GATE_STATE) == PXT_GATE_AUTO)
		set_state(block, PXT_GATE_OFF, PXT_CLEAR_TURNS);
	else
		set_state(block, gate & PXT_GATE_STATE, PXT_CLEAR_TURNS);
	pxt_wanted_update(stream->index, pxt_block_state(block) != PXT_GATE_OFF);
	stream->dead_log = 0;
	pxt_share_state(stream);
}

/* ---- What can be asked ---- */

static uint64_t refused_in_all(struct pxt_block *block)
{
	uint64_t sum = 0;

	for (uint32_t i = 0; i <= pxt_block_last(block); i++)
		sum += pxt_counter_load(&pxt_block_lane(block, i)->refused);
	return sum;
}

static bool loop_full(struct pxt_block *block)
{
	for (uint32_t i = 0; i <= pxt_block_last(block); i++) {
		struct pxt_lane *lane = pxt_block_lane(block, i);
		uint64_t pos;
		uint64_t seq;

		pxt_lane_head(lane, &pos, &seq);
		if (pos - lane->pos + lane->ruins > block->slot_mask)
			return true;
	}
	return false;
}

void pxt_stream_full_status(struct pxt_stream *stream, struct posix_trace_status_info *status)
{
	struct pxt_block *block = stream->block;
	uint64_t lost;
	bool running;
	bool full;

	pxt_share_pull_now(block, false);
	pxt_consumer_notice_laps(stream);
	full = block->full_policy == POSIX_TRACE_LOOP ? loop_full(block) : is_full(block);
	/* Last: a writer that fills the stream now stops it, so RUNNING is never seen with FULL. */
	running = pxt_block_state(block) == PXT_GATE_RUNNING;
	if (running && block->full_policy != POSIX_TRACE_LOOP)
		full = false;
	lost = block->lost + refused_in_all(block);
	status->posix_stream_status = running ? POSIX_TRACE_RUNNING : POSIX_TRACE_SUSPENDED;
	status->posix_stream_full_status = full ? POSIX_TRACE_FULL : POSIX_TRACE_NOT_FULL;
	status->posix_stream_overrun_status =
	    lost != block->lost_told ? POSIX_TRACE_OVERRUN : POSIX_TRACE_NO_OVERRUN;
	block->lost_told = lost;
}

/* Reads what the writers change until two readings agree; @stable tells whether they did. */
static void read_lanes(struct pxt_block *block, uint64_t *seq, uint64_t *refused, int *stable)
{
	uint64_t before_seq = 0;
	uint64_t before_refused = 0;

	*stable = 0;
	for (int round = 0; round < 8 && !*stable; round++) {
		*seq = 0;
		*refused = 0;
		for (uint32_t i = 0; i <= pxt_block_last(block); i++) {
			struct pxt_lane *lane = pxt_block_lane(block, i);
			uint64_t pos;
			uint64_t lane_seq;

			pxt_lane_head(lane, &pos, &lane_seq);
			*seq += lane_seq;
			*refused += pxt_counter_load(&lane->refused);
		}
		*stable = round && *seq == before_seq && *refused == before_refused;
		before_seq = *seq;
		before_refused = *refused;
	}
}

/*
 * written = admitted + refused + those put aside, whose place is head alone; held = what head is
 * ahead of the consumer: so the law holds by construction for whatever head said.
 */
void pxt_stream_counts(struct pxt_stream *stream, struct posix_trace_counts_np *counts)
{
	struct pxt_block *block = stream->block;
	uint64_t admitted = 0;
	uint64_t refused = 0;
	uint64_t consumed = 0;
	uint64_t aside = 0;

	pxt_share_pull_now(block, false);
	pxt_consumer_notice_laps(stream);
	read_lanes(block, &admitted, &refused, &counts->posix_stable_np);
	for (uint32_t i = 0; i <= pxt_block_last(block); i++)
		consumed += pxt_block_lane(block, i)->seq;
	for (uint32_t i = 0; i < PXT_SIDES; i++)
		aside += block->side[i].info != 0 && !block->side[i].automatic;
	counts->posix_written_np = admitted + refused + block->sided;
	counts->posix_retrieved_np = block->retrieved;
	counts->posix_lost_np = block->lost + refused;
	counts->posix_cleared_np = block->cleared;
	counts->posix_held_np = admitted - consumed + aside;
}
