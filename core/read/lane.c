/* SPDX-License-Identifier: MIT */
/* lane.c - where a lane's consumer is, and what comes next in the lane; see lane.h. */
#include "core/read/lane.h"

#include "core/stream/gate.h"
#include "core/stream/stream.h"

#include <errno.h>

/* ---- Gaps ---- */

/*
 * A writer that finds the stream stopped by itself is refused behind the stop: the restart tells it.  So
 * while the stream runs, or is stopped by call, all who were refused came before the last start or stop,
 * once the reader has come there.
 */
bool pxt_lane_gap_tells(struct pxt_block *block, uint32_t taken)
{
	uint64_t passed = taken;

	/* Acquire, with the automatic stop: who was refused behind it has not been counted yet. */
	if (pxt_gate_was_auto(block) || block->oob[0].info ||
	    block->full_policy == POSIX_TRACE_DISCARD_NP)
		return false;
	for (uint32_t i = 0; i <= pxt_block_last(block); i++)
		passed += pxt_block_lane(block, i)->seq;
	return passed >= block->calls_at;
}

uint64_t pxt_lane_gap_refused(struct pxt_block *block)
{
	uint64_t refused = 0;
	uint64_t more;

	(void)atomic_exchange_explicit(&block->unreported, 0u, memory_order_seq_cst);
	atomic_thread_fence(memory_order_seq_cst);
	for (uint32_t i = 0; i <= pxt_block_last(block); i++)
		refused += pxt_counter_load(&pxt_block_lane(block, i)->refused);
	more = refused - block->refused_told;
	block->lost_before += more;
	block->refused_told = refused;
	return more;
}

void pxt_lane_gap_lost(struct pxt_block *block, uint64_t records)
{
	block->lost += records;
	block->lost_before += records;
}

void pxt_lane_gap_begin(struct pxt_block *block, uint64_t ticks)
{
	/* OVERFLOW was delivered, and no record since: still the same gap. */
	if (block->gap == PXT_GAP_RESUME_DUE)
		return;
	if (block->gap == PXT_GAP_NONE ||
	    (ticks && (!block->gap_ticks || ticks < block->gap_ticks)))
		block->gap_ticks = ticks;
	block->gap = PXT_GAP_OVERFLOW_DUE;
}

/* ---- The position ---- */

void pxt_lane_head(struct pxt_lane *lane, uint64_t *pos, uint64_t *seq)
{
	uint64_t head = pxt_cursor_load(&lane->head);
	uint64_t epoch = pxt_twins_load(&lane->epoch);

	*pos = pxt_epoch_pos(epoch, head);
	*seq = pxt_epoch_seq(epoch, head);
}

uint64_t pxt_lane_end(struct pxt_lane *lane)
{
	uint64_t pos;
	uint64_t seq;

	pxt_lane_head(lane, &pos, &seq);
	return pos;
}

#if PXT_SMALL
void pxt_lane_move(struct pxt_block *block, struct pxt_lane *lane, uint64_t pos, uint64_t seq)
{
	pxt_lane_move_here(block, lane, pos, seq);
}

bool pxt_lane_is_whole(const struct pxt_ring *ring, const struct pxt_slot *slot)
{
	return pxt_lane_is_whole_here(ring, slot);
}
#endif

void pxt_lane_advance(struct pxt_block *block, struct pxt_lane *lane, uint32_t slots)
{
	pxt_lane_move(
	    block, lane, lane->pos + slots + pxt_carry((uint32_t)lane->seq), lane->seq + 1u);
}

void pxt_lane_jump(struct pxt_block *block, struct pxt_lane *lane, uint64_t pos, uint64_t seq)
{
	pxt_lane_gap_lost(block, seq - lane->seq);
	pxt_wide_set(&lane->first_lost, 0);
	pxt_lane_move(block, lane, pos, seq);
	pxt_lane_publish(lane);
	pxt_block_end_turn(block);
	/* So that a writer looks where the first unread record is now. */
	atomic_store_explicit(&lane->fast_end, (uint32_t)pos, memory_order_relaxed);
}

/* ---- What is after the position ---- */

uint64_t pxt_lane_next_begin(
    const struct pxt_ring *ring, uint64_t from, uint64_t end, struct pxt_slot *slot)
{
	/* Bound: the slots of the ring. */
	for (; from < end; from++) {
		*slot = pxt_slot_load(&ring->slots[(uint32_t)from & ring->mask]);
		if (pxt_tag_begins(ring->mask, slot->word[0], (uint32_t)from))
			break;
	}
	return from;
}

/* Stamps rise along a lane, so this is the smallest of all that have one.  [proof: floor] */
uint64_t pxt_lane_floor(const struct pxt_ring *ring)
{
	uint32_t size = ring->mask + 1u;
	uint64_t from = ring->lane->pos;
	struct pxt_slot slot = { { 0 } };
	uint64_t pos = pxt_lane_end(ring->lane);

	/* Overtaken since: only what is left is looked at. */
	if (pos - from > size)
		from = pos - size;
	/* Bound: the slots of the ring. */
	for (; (from = pxt_lane_next_begin(ring, from, pos, &slot)) < pos; from++) {
		if (!pxt_lane_is_mark(&slot))
			return pxt_slot_ticks(&slot);
	}
	return UINT64_MAX;
}

bool pxt_lane_all_drained(struct pxt_block *block)
{
	for (uint32_t i = 0; i <= pxt_block_last(block); i++) {
		struct pxt_lane *lane = pxt_block_lane(block, i);

		if (pxt_lane_end(lane) != lane->pos)
			return false;
	}
	return !block->oob[0].info;
}

/* ---- Overtaken (LOOP) ---- */

/*
 * The newest mark, if it is at @pos or after it.  Its place has 32 bits: an old one may repeat, so that the
 * slot there is asked.
 */
static bool newest_mark(
    const struct pxt_ring *ring, uint64_t pos, uint64_t end, uint64_t *at, struct pxt_slot *slot)
{
	*at = pos + (uint32_t)(ring->lane->barrier_pos - (uint32_t)pos);
	return *at < end && pxt_lane_next_begin(ring, *at, *at + 1u, slot) == *at &&
	       pxt_lane_is_barrier(slot);
}

/*
 * How many marks are before @pos.  The lane is walked through only where two STARTs or STOPs or more are
 * between it and @end.
 */
static uint64_t marks_before(
    const struct pxt_block *block, const struct pxt_ring *ring, uint64_t pos, uint64_t end)
{
	uint64_t passed = ring->lane->barrier;
	struct pxt_slot slot;
	uint64_t last;

	if (passed == block->barriers || !newest_mark(ring, pos, end, &last, &slot))
		return block->barriers;
	if (passed + 1u == block->barriers)
		return passed;
	/* Several are left: which is the first?  Bound: the slots of the ring. */
	for (; (pos = pxt_lane_next_begin(ring, pos, last, &slot)) < last; pos++) {
		if (pxt_lane_is_barrier(&slot))
			return pxt_slot_ticks(&slot) - 1u;
	}
	return block->barriers - 1u;
}

/*
 * Overtaken again before anything was read since the last time: writers get more room, up to half
 * a lap, or a slow reader would never find a record that stays.
 */
static uint32_t slack_for(struct pxt_block *block, struct pxt_lane *lane, uint32_t size)
{
	if (lane->lap_turn != block->turn)
		lane->lap_slack = 0;
	else
		lane->lap_slack = lane->lap_slack ? lane->lap_slack * 2u : size / 16u;
	lane->lap_turn = block->turn;
	if (lane->lap_slack > size / 2u)
		lane->lap_slack = size / 2u;
	return lane->lap_slack;
}

/*
 * Goes to the oldest record that is still whole, and counts what is gone.  @reading: room is left to
 * the writers, because the record has to stay until it was copied.
 */
static void pass_lap(struct pxt_block *block, struct pxt_ring *ring, bool reading)
{
	struct pxt_lane *lane = ring->lane;
	uint32_t size = ring->mask + 1u;
	uint64_t gone = lane->next_ticks ? lane->next_ticks : pxt_wide_load(&lane->first_lost);
	struct pxt_slot slot = { { 0, 0 } };
	uint64_t pos;
	uint64_t seq;
	uint64_t from;
	uint64_t least;

	PXT_TESTPOINT(PXT_TP_LAPPED);
	pxt_lane_head(lane, &pos, &seq);
	from = pos - size + (reading ? slack_for(block, lane, size) : 0u);
	from = pxt_lane_next_begin(ring, from < lane->pos ? lane->pos : from, pos, &slot);
	if (from < pos)
		seq -= pxt_tag_before(ring->mask, slot.word[0], slot.word[1], (uint32_t)seq);
	pxt_lane_gap_begin(block, gone);
	lane->barrier = marks_before(block, ring, from, pos);
	pxt_lane_jump(block, lane, from, seq);
	lane->partial = (uint32_t)(from - (pos - size));
	/* Rule 3 of merge.c; where nothing that is left has begun, what was lost says it. */
	least = pxt_lane_floor(ring);
	if (least == UINT64_MAX)
		least = gone;
	if (pxt_block_merges(block) && least > block->give_up)
		block->give_up = least;
}

void pxt_lane_notice_laps(struct pxt_block *block)
{
	for (uint32_t i = 0; i <= pxt_block_last(block); i++) {
		struct pxt_ring ring = pxt_block_ring(block, i);

		if (pxt_lane_end(ring.lane) - ring.lane->pos > ring.mask + 1u)
			pass_lap(block, &ring, false);
	}
}

/*
 * ---- Unfinished ----
 *
 * A record was reserved and is not complete: its writer was interrupted, stopped, or killed.
 */

/* After an unfinished record it is asked so often whether any thread lives who could finish it. */
#define CHECK_US 50u

/*
 * The record at the lane's position will not be finished.  Its begin slot, if it is there, says
 * where the next one starts; else the next begin slot does, and the low bits of its number say how
 * many records lie between.  What was reserved after `stuck_head` has its own time to finish.
 */
static void pass_over(struct pxt_block *block, struct pxt_ring *ring)
{
	struct pxt_lane *lane = ring->lane;
	uint32_t want = pxt_tag(ring->mask, (uint32_t)lane->pos, (uint32_t)lane->seq);
	struct pxt_slot slot = pxt_slot_load(&ring->slots[(uint32_t)lane->pos & ring->mask]);
	uint64_t at =
	    lane->pos + pxt_lane_record_slots(slot.word[1]) + pxt_carry((uint32_t)lane->seq);
	uint64_t number = lane->seq + 1u;
	uint64_t pos;
	uint64_t seq;

	PXT_TESTPOINT(PXT_TP_GIVES_UP);
	pxt_lane_head(lane, &pos, &seq);
	/* Overtaken since head was looked at: more than a lap away, low bits tell no number. */
	if (pos - lane->pos > ring->mask + 1u) {
		pass_lap(block, ring, true);
		return;
	}
	if (slot.word[0] != (want | PXT_SLOT_BEGIN)) {
		at = pxt_lane_next_begin(ring, lane->pos + 1u, lane->stuck_head, &slot);
		/* Fewer than N fit between; none, if what is here was a mark. */
		number = at < lane->stuck_head ? lane->seq + pxt_tag_after(ring->mask, slot.word[0],
		                                                 (uint32_t)lane->seq)
		                               : lane->stuck_seq;
		lane->barrier = marks_before(block, ring, at, pos);
	}
	pxt_lane_jump(block, lane, at, number);
	PXT_TESTPOINT(PXT_TP_PASSED);
}

/*
 * Whether no thread is left that could finish the unfinished record, because its process was killed.
 * (A thread that jumped out of its trace point counts as inside, and the hold-back time decides.)
 * Checked at once and then from time to time, because it may cost a fence.  A thread that left before
 * the check has stored its record, so a load after it decides.
 */
static bool is_abandoned(struct pxt_block *block, struct pxt_ring *ring, uint64_t now)
{
	struct pxt_lane *lane = ring->lane;
	uint64_t pause = pxt_divide(pxt_clock.hz, 1000000) * CHECK_US;
	struct pxt_slot slot;

	if (lane->stuck_checked && (int64_t)(now - lane->stuck_checked) < (int64_t)pause)
		return false;
	lane->stuck_checked = now ? now : 1u;
	if (!pxt_threads_none_inside(pxt_stream_whose(block)))
		return false;
	slot = pxt_slot_load(&ring->slots[(uint32_t)lane->pos & ring->mask]);
	return !pxt_lane_is_whole(ring, &slot);
}

/*
 * Whether the record at the lane's position is not waited for any more: the hold-back time is over,
 * or no thread is left that could finish it.  It was passed over and counted as lost then.
 * [proof: expired]
 */
static bool expired(struct pxt_block *block, struct pxt_ring *ring)
{
	struct pxt_lane *lane = ring->lane;
	uint64_t now = pxt_port_ticks();
	int error = ETIMEDOUT;

	/* Below 0: the counter stepped back while it was waited (core/read/merge.h). */
	if (!lane->stuck_since || lane->stuck_pos != lane->pos || block->quiet ||
	    (int64_t)(now - lane->stuck_since) < 0) {
		lane->stuck_pos = lane->pos;
		lane->stuck_since = now ? now : 1u;
		lane->stuck_checked = 0;
		pxt_lane_head(lane, &lane->stuck_head, &lane->stuck_seq);
	}
	/* Signed: a clock that still is at 0 is before the moment that was noted. */
	if (!block->quiet &&
	    (int64_t)(now - lane->stuck_since) < (int64_t)pxt_process_holdback_ticks()) {
		if (!is_abandoned(block, ring, now))
			return false;
		error = EOWNERDEAD;
	}
	pass_over(block, ring);
	pxt_lane_passed_report(block, error);
	return true;
}

/* ---- The front ---- */

/* What is whole at the lane's position.  UNKNOWN: a mark, which was passed. */
static enum pxt_front take_front(
    struct pxt_block *block, const struct pxt_ring *ring, uint32_t info, uint64_t ticks)
{
	struct pxt_lane *lane = ring->lane;

	if (PXT_UNLIKELY(pxt_info_id(info) == PXT_ID_MARK)) {
		if (CONFIG_PTRACE_POLICY_DISCARD && pxt_info_bytes(info) == PXT_MARK_REFUSED)
			pxt_lane_discarded_pass(lane, (uint32_t)ticks);
		else
			lane->barrier = ticks;
		pxt_lane_move(block, lane, lane->pos + 1u, lane->seq);
		return PXT_FRONT_UNKNOWN;
	}
	PXT_TESTPOINT(PXT_TP_FRONT_SEEN);
	lane->front_info = info;
	lane->front_ticks = ticks;
	return PXT_FRONT_READY;
}

/* The slot at the position is not what was expected: head tells why. */
static enum pxt_front look_at_head(struct pxt_block *block, struct pxt_ring *ring)
{
	struct pxt_lane *lane = ring->lane;
	uint32_t size = ring->mask + 1u;
	uint32_t want = pxt_tag(ring->mask, (uint32_t)lane->pos, (uint32_t)lane->seq);
	struct pxt_slot slot;
	uint64_t pos;
	uint64_t seq;

	lane->look_ticks = pxt_port_ticks();
	pxt_lane_head(lane, &pos, &seq);
	if (pos == lane->pos) {
		pxt_lane_publish(lane);
		return PXT_FRONT_EMPTY;
	}
	/* Not older than head: pairs with the slot's release. */
	slot = pxt_slot_load(&ring->slots[(uint32_t)lane->pos & ring->mask]);
	if (pos - lane->pos <= size && seq - lane->seq <= size) {
		if (pxt_lane_is_whole(ring, &slot))
			return take_front(block, ring, slot.word[1], pxt_slot_ticks(&slot));
		if (pxt_tag_ahead(slot.word[0], want) <= 0) {
			if (expired(block, ring))
				return PXT_FRONT_UNKNOWN;
			lane->floor = pxt_lane_floor(ring);
			return PXT_FRONT_BUSY;
		}
	}
	pass_lap(block, ring, true);
	return PXT_FRONT_UNKNOWN;
}

static enum pxt_front look_at_slot(struct pxt_block *block, struct pxt_ring *ring)
{
	const struct pxt_lane *lane = ring->lane;
	struct pxt_slot slot = pxt_slot_load(&ring->slots[(uint32_t)lane->pos & ring->mask]);

	/*
	 * A tag repeats after 2^31 slots.  A record whose stamp is far from the last look at head
	 * might be such a stranger, so head is asked; this keeps the reader off the writers' line.
	 */
	if (PXT_LIKELY(pxt_lane_is_whole(ring, &slot)) &&
	    (int64_t)(pxt_slot_ticks(&slot) - lane->look_ticks) < (int64_t)pxt_lane_look_ticks())
		return take_front(block, ring, slot.word[1], pxt_slot_ticks(&slot));
	return look_at_head(block, ring);
}

void pxt_lane_look(struct pxt_block *block, struct pxt_ring *ring)
{
	enum pxt_front front;

	/* Bound: each round without a result moves the position forward. */
	do
		front = look_at_slot(block, ring);
	while (front == PXT_FRONT_UNKNOWN);
	ring->lane->front_state = front;
}
