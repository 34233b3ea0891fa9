/* SPDX-License-Identifier: MIT */
/* unfinished.c - how long an unfinished record is waited for, and what comes then; see unfinished.h. */
#include "core/read/unfinished.h"

#include "core/process/forks.h"
#include "core/process/holdback.h"
#include "core/process/threads.h"
#include "core/read/lap.h"
#include "core/read/passed.h"
#include "core/stream/inherited.h"

#include <errno.h>

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
		pxt_lap_pass(block, ring, true);
		return;
	}
	if (slot.word[0] != (want | PXT_SLOT_BEGIN)) {
		at = pxt_lane_next_begin(ring, lane->pos + 1u, lane->stuck_head, &slot);
		/* Fewer than N fit between; none, if what is here was a mark. */
		number = at < lane->stuck_head ? lane->seq + pxt_tag_after(ring->mask, slot.word[0],
		                                                 (uint32_t)lane->seq)
		                               : lane->stuck_seq;
		lane->barrier = pxt_lap_marks_before(block, ring, at, pos);
	}
	pxt_lane_jump(block, lane, at, number);
	PXT_TESTPOINT(PXT_TP_PASSED);
}

/*
 * Whether no thread is left that could finish what is stuck, because its process was killed.  (A
 * thread that jumped out of its trace point is taken for one that is inside, and the hold-back time
 * decides.)  Asked at first sight and then from time to time, because an answer may cost a fence.  A
 * thread that was inside before it has stored, so a look after it decides.
 */
static bool is_abandoned(struct pxt_block *block, struct pxt_ring *ring, uint64_t now)
{
	struct pxt_lane *lane = ring->lane;
	uint64_t pause = pxt_clock.hz / 1000000u * CHECK_US;
	struct pxt_slot slot;

	if (lane->stuck_checked && (int64_t)(now - lane->stuck_checked) < (int64_t)pause)
		return false;
	lane->stuck_checked = now ? now : 1u;
	if (!pxt_threads_none_inside(pxt_inherited_whose(block)))
		return false;
	slot = pxt_slot_load(&ring->slots[(uint32_t)lane->pos & ring->mask]);
	return !pxt_lane_is_whole(ring, &slot);
}

/* The counter did, while it was waited (core/read/stepback.h). */
static bool stepped_back(uint64_t now, uint64_t since)
{
	return (int64_t)(now - since) < 0;
}

/* [proof: expired] */
bool pxt_unfinished_expired(struct pxt_block *block, struct pxt_ring *ring)
{
	struct pxt_lane *lane = ring->lane;
	uint64_t now = pxt_port_ticks();
	int error = ETIMEDOUT;

	if (!lane->stuck_since || lane->stuck_pos != lane->pos || block->quiet ||
	    stepped_back(now, lane->stuck_since)) {
		lane->stuck_pos = lane->pos;
		lane->stuck_since = now ? now : 1u;
		lane->stuck_checked = 0;
		pxt_lane_head(lane, &lane->stuck_head, &lane->stuck_seq);
	}
	/* Signed: a clock that still is at 0 is before the moment that was noted. */
	if (!block->quiet && (int64_t)(now - lane->stuck_since) < (int64_t)pxt_holdback_ticks()) {
		if (!is_abandoned(block, ring, now))
			return false;
		error = EOWNERDEAD;
	}
	pass_over(block, ring);
	pxt_passed_report(block, error);
	return true;
}
