/* SPDX-License-Identifier: MIT */
/* control.c - start, stop and clear, and when a start is refused; see control.h. */
#include "core/control/control.h"

#include "core/read/consumer.h"
#include "core/record/slowpath.h"
#include "core/stream/share.h"

/*
 * The automatic STOP was handed out, its restart is not done yet (the flusher writes meanwhile),
 * and a late writer has recorded something: that belongs after the START of the restart.  The
 * lanes are closed.  [proof: late]
 */
static bool restart_for_late_records(struct pxt_stream *stream)
{
	struct pxt_block *block = stream->block;

	if (pxt_block_state(block) != PXT_GATE_AUTO || !pxt_gate_stop_told(block) ||
	    pxt_lane_all_drained(block))
		return false;
	pxt_consumer_restart(stream);
	return true;
}

/* A stream that stops where there is no room would stop at once. */
static bool start_is_refused(struct pxt_block *block)
{
	if (block->full_policy == POSIX_TRACE_LOOP)
		return false;
	return block->full_policy == POSIX_TRACE_DISCARD_NP ? !pxt_sysevent_start_has_place(block)
	                                                    : pxt_sysevent_is_full(block);
}

/* No record is admitted between what the reader has passed then, and what it finds later. */
static void close_lanes(struct pxt_block *block)
{
	uint64_t admitted = 0;

	pxt_gate_close_lanes(block);
	for (uint32_t i = 0; i <= pxt_block_last(block); i++) {
		uint64_t pos;
		uint64_t seq;

		pxt_lane_head(pxt_block_lane(block, i), &pos, &seq);
		admitted += seq;
	}
	block->calls_at = admitted;
}

void pxt_control_start(struct pxt_stream *stream, const void *caller)
{
	struct pxt_block *block = stream->block;
	const void *set;

	if (pxt_block_state(block) == PXT_GATE_RUNNING || stream->dead_log)
		return;
	if (start_is_refused(block))
		return;
	pxt_block_end_turn(block);
	close_lanes(block);
	if (restart_for_late_records(stream)) {
		pxt_gate_open_lanes(block);
		return;
	}
	set = pxt_admit_set(block, atomic_load_explicit(&block->gate, memory_order_relaxed));
	if (!pxt_sysevent_owed_stop(block) ||
	    !pxt_sysevent_barrier(block, PXT_ID_START, set, PXT_START_BYTES, caller)) {
		/* No place for START: as full as can be. */
		if (pxt_block_state(block) == PXT_GATE_AUTO)
			pxt_gate_open_lanes(block);
		return;
	}
	pxt_gate_step(block, PXT_STEP_START);
	pxt_gate_begin_run(block);
	block->quiet = 0;
	pxt_gate_open_lanes(block);
	pxt_gate_switch(block, PXT_GATE_RUNNING, 0);
	pxt_wanted_update(stream->index, true);
	pxt_block_wake(block);
	pxt_share_state(stream);
}

uint32_t pxt_control_shut_gate(struct pxt_stream *stream)
{
	struct pxt_block *block = stream->block;
	uint32_t state;

	pxt_block_end_turn(block);
	close_lanes(block);
	(void)restart_for_late_records(stream);
	/* A writer may have stopped it while the lanes were closed. */
	state = pxt_block_state(block);
	pxt_gate_step(block, state == PXT_GATE_AUTO ? PXT_STEP_STOP_AUTO : PXT_STEP_STOP);
	pxt_gate_switch(block, PXT_GATE_OFF, 0);
	return state;
}

void pxt_control_stop(struct pxt_stream *stream, const void *caller)
{
	struct pxt_block *block = stream->block;
	uint32_t state = pxt_block_state(block);

	if (state == PXT_GATE_OFF)
		return;
	pxt_share_pull_now(block, true);
	state = pxt_control_shut_gate(stream);
	pxt_wanted_update(stream->index, false);
	/* What was reserved before is finished now, or will never be; unless a writer is very late. */
	block->quiet = pxt_threads_wait_left(pxt_holdback_ns, pxt_stream_whose(block));
	if (state == PXT_GATE_RUNNING)
		pxt_sysevent_stop(block, 0, caller);
	pxt_block_wake(block);
	pxt_share_state(stream);
}

void pxt_control_stop_now(struct pxt_stream *stream)
{
	struct pxt_block *block = stream->block;
	uint32_t gate = atomic_load_explicit(&block->gate, memory_order_acquire);

	pxt_block_end_turn(block);
	close_lanes(block);
	if (PXT_AUTOSTOP_STOPS)
		pxt_fullpolicy_switch(block, gate);
	pxt_gate_switch(block, PXT_GATE_OFF, 0);
	pxt_wanted_update(stream->index, false);
	pxt_share_state(stream);
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
	pxt_lane_discarded_forget(block, lane, lane);
	pxt_lane_move(block, lane, pos, seq);
	pxt_lane_publish(lane);
}

/* [proof: clear] */
void pxt_control_clear(struct pxt_stream *stream)
{
	struct pxt_block *block = stream->block;
	uint32_t gate = atomic_load_explicit(&block->gate, memory_order_acquire);
	uint64_t refused = 0;

	/* What others recorded before goes, too. */
	pxt_share_pull_now(block, true);
	pxt_block_end_turn(block);
	/* Stays stopped: a late writer must not put anything into the room that is made now. */
	if ((gate & PXT_GATE_STATE) == PXT_GATE_AUTO)
		pxt_gate_close_lanes(block);
	for (uint32_t i = 0; i <= pxt_block_last(block); i++) {
		struct pxt_ring ring = pxt_block_ring(block, i);

		refused += pxt_counter_load(&ring.lane->refused);
		skip_all(block, &ring);
		PXT_TESTPOINT(PXT_TP_LANE_CLEARED);
	}
	for (uint32_t i = 0; i < PXT_OOBS; i++) {
		block->cleared += block->oob[i].info != 0 && !block->oob[i].automatic;
		block->oob[i].info = 0;
	}
	pxt_gate_step(block, PXT_STEP_CLEAR);
	block->freed_since_full = 0;
	block->gap = PXT_GAP_NONE;
	block->give_up = 0;
	block->lost_before = 0;
	block->refused_told = refused;
	block->lost_told = block->lost + refused;
	pxt_admit_empty(block, gate);
	gate &= PXT_GATE_STATE;
	pxt_gate_switch(block, gate == PXT_GATE_AUTO ? PXT_GATE_OFF : gate, PXT_CLEAR_TURNS);
	pxt_wanted_update(stream->index, pxt_block_state(block) != PXT_GATE_OFF);
	stream->dead_log = 0;
	pxt_share_state(stream);
}

/* ---- The standard's functions ---- */

PXT_API int posix_trace_start(trace_id_t trid)
{
	struct pxt_stream *stream = pxt_stream_control(trid);

	if (!stream)
		return EINVAL;
	pxt_control_start(stream, __builtin_return_address(0));
	pxt_stream_control_end(stream);
	return 0;
}

PXT_API int posix_trace_stop(trace_id_t trid)
{
	struct pxt_stream *stream;

	pxt_share_settle(trid);
	stream = pxt_stream_control(trid);
	if (!stream)
		return EINVAL;
	pxt_control_stop(stream, __builtin_return_address(0));
	pxt_stream_control_end(stream);
	return 0;
}

/* Before anything is: what a unit keeps of the stream may be nothing that can be cleared. */
static int may_clear(trace_id_t trid)
{
	struct pxt_stream *stream = pxt_stream_lock(trid);
	int error = 0;

	if (!stream)
		return EINVAL;
	if (stream->before_clear)
		error = stream->before_clear(stream);
	return pxt_stream_leave(stream, error);
}

PXT_API int posix_trace_clear(trace_id_t trid)
{
	struct pxt_stream *stream;
	int error = may_clear(trid);

	if (error)
		return error;
	stream = pxt_stream_control(trid);
	if (!stream)
		return EINVAL;
	/* What an attached process records is its owner's to clear. */
	if (pxt_attr_producer(&stream->block->attr)) {
		error = EINVAL;
	} else {
		pxt_control_clear(stream);
		if (stream->at_clear)
			error = stream->at_clear(stream);
	}
	pxt_stream_control_end(stream);
	return error;
}
