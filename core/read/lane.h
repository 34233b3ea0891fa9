/* SPDX-License-Identifier: MIT */
/*
 * lane.h - one lane as its consumer sees it: how far it was read, which record comes next in it, and
 * what was lost on the way.
 *
 * The four files of this room, as one read goes through them:
 *
 *          getnext (On-Line)        flusher (Trace-To-Log)
 *                |                        |
 *                v                        v
 *     take       an event, its data, its origin; a run of records for a log
 *                |                                                       ^
 *                | next()                                                | done()
 *                v                                                       |
 *     consumer   one sequence: records, STARTs and STOPs beside the lanes, events made here;
 *                reported times never decrease; what was emptied runs again
 *                |
 *                v
 *     merge      the lane whose front is the oldest, as of a snapshot of the clock
 *                |
 *                v
 *     lane       one lane's front: whole, unfinished, overwritten, or none; gaps are counted
 *
 * As long as one lane has the turn, take and consumer read from it directly, and merge is not asked.
 *
 *   concurrency: one consumer at a time (the stream's mutex); writers at any time.  head(), floor(),
 *   notice_laps() and discarded_forget() also in control calls, under the same mutex.
 */
#ifndef PXT_LANE_H
#define PXT_LANE_H

#include "core/process/process.h"
#include "core/stream/block.h"

/* ---- Gaps: what was lost before the next event, and whether that was reported ---- */

/*
 * Refused events (but by the policy DISCARD: below) belong to a stop: the restart after an automatic
 * one reports them.  A writer may be late: it found the stream stopped, and counts its event when the
 * stream runs again.  That loss is reported with the next record of a run that began since, so before
 * that writer's own next one.  A writer sets `unreported` in the block before it can record anything else.
 */

/* LOOP: a gap is reported by OVERFLOW, then RESUME, before whatever comes next. */
enum pxt_gap {
	PXT_GAP_NONE,
	PXT_GAP_OVERFLOW_DUE,
	PXT_GAP_RESUME_DUE
};

/* Counts records that were lost before what comes next. */
void pxt_lane_gap_lost(struct pxt_block *block, uint64_t records);
/*
 * Whether refused events are reported now: to a reader that has just seen its next record stored,
 * @taken records further than the lanes say.
 */
bool pxt_lane_gap_tells(struct pxt_block *block, uint32_t taken);
PXT_INLINE bool pxt_lane_gap_is_unreported(struct pxt_block *block, uint32_t taken)
{
	return PXT_UNLIKELY(!pxt_word_is(&block->unreported, 0u)) &&
	       pxt_lane_gap_tells(block, taken);
}
/* Counts events that were refused and not reported yet as lost before the next one; their number. */
uint64_t pxt_lane_gap_refused(struct pxt_block *block);
/* LOOP: a gap, for which OVERFLOW (with the stamp of the first lost, 0 unknown), RESUME are due. */
void pxt_lane_gap_begin(struct pxt_block *block, uint64_t ticks);

/*
 * ---- Refused by the policy DISCARD ----
 *
 * It is reported before the first event that was recorded into the same lane after it
 * (core/record/slowpath.h).
 */

/*
 * The lane's position passes a mark: @refused of its records were refused before, modulo 2^32.
 * Writers that work beside each other may put a smaller number after a larger one.
 */
PXT_INLINE void pxt_lane_discarded_pass(struct pxt_lane *lane, uint32_t refused)
{
	if ((int32_t)(refused - lane->refused_marked) > 0)
		lane->refused_marked = refused;
}

/* The record that comes next is at the lane's position. */
PXT_INLINE void pxt_lane_discarded_tell(struct pxt_block *block, struct pxt_lane *lane)
{
	uint32_t more;

	/* Of other policies the words are others'. */
	if (!CONFIG_PTRACE_POLICY_DISCARD ||
	    PXT_LIKELY(block->full_policy != POSIX_TRACE_DISCARD_NP))
		return;
	more = lane->refused_marked - lane->refused_told;
	if (!more)
		return;
	lane->refused_told = lane->refused_marked;
	block->refused_told += more;
	block->lost_before += more;
	pxt_lane_gap_begin(block, 0);
}

/* Of what @from has refused by now, no mark of @lane reports anything any more. */
PXT_INLINE void pxt_lane_discarded_forget(
    const struct pxt_block *block, struct pxt_lane *lane, struct pxt_lane *from)
{
	if (!CONFIG_PTRACE_POLICY_DISCARD || block->full_policy != POSIX_TRACE_DISCARD_NP)
		return;
	lane->refused_told = (uint32_t)pxt_counter_load(&from->refused);
	lane->refused_marked = lane->refused_told;
}

/* ---- The position ---- */

/* Head's position and number, all 64 bits, in one consistent pair. */
void pxt_lane_head(struct pxt_lane *lane, uint64_t *pos, uint64_t *seq);
/* Its position alone. */
uint64_t pxt_lane_end(struct pxt_lane *lane);
/* The first place from @from on where something begins, and its slot; @end: nothing does. */
uint64_t pxt_lane_next_begin(
    const struct pxt_ring *ring, uint64_t from, uint64_t end, struct pxt_slot *slot);
PXT_INLINE bool pxt_lane_is_mark(const struct pxt_slot *slot)
{
	return pxt_info_id(slot->word[1]) == PXT_ID_MARK;
}

/* A START or STOP by call is where it is. */
PXT_INLINE bool pxt_lane_is_barrier(const struct pxt_slot *slot)
{
	return pxt_lane_is_mark(slot) && pxt_info_bytes(slot->word[1]) == PXT_MARK_BARRIER;
}

/* The stamp of the first record from the position on that has one; UINT64_MAX: none has. */
uint64_t pxt_lane_floor(const struct pxt_ring *ring);
/* Something is left before the START or STOP that is beside the lanes. */
PXT_INLINE bool pxt_lane_left(const struct pxt_lane *lane)
{
	return (int32_t)((uint32_t)lane->pos - lane->oob_pos[0]) < 0;
}

/* Slots of the record that begins with @info. */
PXT_INLINE uint32_t pxt_lane_record_slots(uint32_t info)
{
	return pxt_info_id(info) == PXT_ID_MARK ? 1u : pxt_info_slots(info, PXT_CTX_BYTES);
}

/* The front is @slot, and all its slots are there. */
PXT_INLINE bool pxt_lane_is_whole_here(const struct pxt_ring *ring, const struct pxt_slot *slot)
{
	uint32_t pos = (uint32_t)ring->lane->pos;
	uint32_t seq = (uint32_t)ring->lane->seq;
	uint32_t end = pos + pxt_lane_record_slots(slot->word[1]);

	if (slot->word[0] != (pxt_tag(ring->mask, pos, seq) | PXT_SLOT_BEGIN))
		return false;
	/* Bound: the slots of the record. */
	while (++pos != end) {
		if (pxt_slot_peek_acquire(&ring->slots[pos & ring->mask]) !=
		    pxt_tag(ring->mask, pos, seq))
			return false;
	}
	return true;
}

#if PXT_SMALL
bool pxt_lane_is_whole(const struct pxt_ring *ring, const struct pxt_slot *slot);
#else
PXT_INLINE bool pxt_lane_is_whole(const struct pxt_ring *ring, const struct pxt_slot *slot)
{
	return pxt_lane_is_whole_here(ring, slot);
}
#endif

/* All before the position was read: policies that do not overwrite have its room from now on. */
PXT_INLINE void pxt_lane_publish(struct pxt_lane *lane)
{
	/* Pairs with the acquire in pxt_ring_reserve(): the slots were read. */
	if (atomic_load_explicit(&lane->limit, memory_order_relaxed) != (uint32_t)lane->pos)
		atomic_store_explicit(&lane->limit, (uint32_t)lane->pos, memory_order_release);
}

/*
 * Moves the position there, after records that were read.  LOOP: either the stamp of what comes next
 * is known from here on, in case it is overwritten before it is read, or `limit` is exact, so that
 * the writer that overwrites it can tell; else that is told in larger steps.
 */
PXT_INLINE void pxt_lane_move_here(
    struct pxt_block *block, struct pxt_lane *lane, uint64_t pos, uint64_t seq)
{
	const uint32_t mask = block->slot_mask;
	const uint32_t want = pxt_tag(mask, (uint32_t)pos, (uint32_t)seq) | PXT_SLOT_BEGIN;
	struct pxt_halves front = pxt_slot_load_halves(&pxt_lane_cells(lane)[(uint32_t)pos & mask]);
	bool there =
	    (uint32_t)front.low == want && pxt_info_id((uint32_t)(front.low >> 32)) != PXT_ID_MARK;

	lane->pos = pos;
	lane->seq = seq;
	lane->front_state = PXT_FRONT_UNKNOWN;
	lane->partial = 0;
	lane->next_ticks = there ? front.high : 0;
	if (!there || (uint32_t)pos - atomic_load_explicit(&lane->limit, memory_order_relaxed) >
	                  block->limit_step)
		pxt_lane_publish(lane);
}

#if PXT_SMALL
void pxt_lane_move(struct pxt_block *block, struct pxt_lane *lane, uint64_t pos, uint64_t seq);
#else
PXT_INLINE void pxt_lane_move(
    struct pxt_block *block, struct pxt_lane *lane, uint64_t pos, uint64_t seq)
{
	pxt_lane_move_here(block, lane, pos, seq);
}
#endif

/* Goes to the record @seq at @pos; what lies before it is lost. */
void pxt_lane_jump(struct pxt_block *block, struct pxt_lane *lane, uint64_t pos, uint64_t seq);
/* Moves the position after a record of @slots slots. */
void pxt_lane_advance(struct pxt_block *block, struct pxt_lane *lane, uint32_t slots);

/* ---- All lanes ---- */

/* All lanes and out-of-band records are empty, and no record is unfinished. */
bool pxt_lane_all_drained(struct pxt_block *block);

/* ---- Overtaken: writers are a whole ring ahead of the consumer (LOOP) ---- */

/* Counts what was overwritten in any lane before it was read. */
void pxt_lane_notice_laps(struct pxt_block *block);

/* ---- The front: the record that the lane has to offer next ---- */

/*
 * So much later than the last look at head may a record be, or head is looked at again: a tag that
 * comes again is not taken for the old one.
 */
PXT_INLINE uint64_t pxt_lane_look_ticks(void)
{
	return pxt_clock.hz / 2u;
}

/*
 * Finds out what is at the lane's position (front_state); passes marks, goes on after what was
 * overwritten or is not waited for any more.
 */
void pxt_lane_look(struct pxt_block *block, struct pxt_ring *ring);

/*
 * ---- Passed over: a record that was never completed ----
 *
 * The hook is core/control/sysevent.c's, and never changes.
 */

extern void (*pxt_lane_passed_hook)(struct pxt_block *block, int error);

/* EOWNERDEAD: its writer is dead; ETIMEDOUT: the hold-back time is over. */
PXT_INLINE void pxt_lane_passed_report(struct pxt_block *block, int error)
{
	if (CONFIG_PTRACE_SYSEV_ERROR && pxt_lane_passed_hook)
		pxt_lane_passed_hook(block, error);
}

#endif
