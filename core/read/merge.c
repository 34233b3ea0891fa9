/* SPDX-License-Identifier: MIT */
/*
 * merge.c - one sequence out of a stream's lanes.
 *
 * Along a lane stamps rise, so its front is the oldest record in it, and the smallest front of all
 * lanes comes next.  What a lane without a front may still bring is the only question:
 *
 *  1. The clock is read (the snapshot), then the lanes that have no front are looked at.  A lane
 *     that is empty then brings only records that return later than the snapshot.  One whose front
 *     is not finished may have finished records after it: the first of them is the oldest (floor).
 *     A front comes next if its stamp is not above the snapshot and the floors.
 *  2. What is finished only then is reported no earlier than what was handed out meanwhile: that
 *     was not above a snapshot that was taken before it returned.
 *  3. LOOP: what is older than the first record left in a lapped lane is given up in all lanes.
 *  4. START and STOP put a mark with a number into each lane, which are closed meanwhile.  What has
 *     fewer marks before it comes first; after the mark, lane 0's START or STOP does.
 *  5. The clock may step back: merge.h.
 *
 * Stamps of different processors, and those that are read before older instructions have finished,
 * may be off by the order resolution.  So may the order of what lies so near to each other.
 */
#include "core/read/merge.h"

#include "core/stream/gate.h"
#include "core/stream/share.h"

/*
 * Takes @ticks, a clock reading, for the snapshot that the next choice is made by: what was without a
 * front is looked at again after it.  [proof: refill]
 */
static void refill(struct pxt_block *block, uint64_t ticks)
{
	block->snapshot = pxt_share_pull(block, ticks, false);
	/* The looks that follow are not made before. */
	pxt_port_ticks_fence();
	for (uint32_t i = 0; i <= pxt_block_last(block); i++) {
		struct pxt_lane *lane = pxt_block_lane(block, i);

		if (lane->front_state != PXT_FRONT_READY)
			lane->front_state = PXT_FRONT_UNKNOWN;
	}
}

struct choice {
	uint64_t marks; /* the fewest that any lane which is not empty has passed */
	uint64_t least; /* stamp of the front that comes next */
	uint64_t end;   /* in its lane, smaller stamps come next, too */
	uint64_t bound; /* larger ones have to wait */
	uint32_t lane;
	bool found;
};

/* Of equal ones the first lane's comes first. */
static void add_front(struct choice *choice, uint32_t lane, uint64_t ticks)
{
	if (!choice->found || ticks < choice->least) {
		choice->end = choice->found ? choice->least : UINT64_MAX;
		choice->least = ticks;
		choice->lane = lane;
		choice->found = true;
	} else if (ticks < choice->end) {
		choice->end = ticks + 1u;
	}
}

static bool is_control(const struct pxt_lane *lane)
{
	uint32_t id = pxt_info_id(lane->front_info);

	return id == PXT_ID_START || id == PXT_ID_STOP;
}

/* One lane that is not empty. */
static void add_lane(struct pxt_block *block, struct choice *choice, uint32_t index)
{
	const struct pxt_lane *lane = pxt_block_lane(block, index);

	if (lane->barrier > choice->marks)
		return;
	if (lane->barrier < choice->marks)
		*choice = (struct choice){ .marks = lane->barrier,
			.bound = pxt_block_merges(block) ? block->snapshot : UINT64_MAX };
	/* A START or STOP beside the lanes comes before it. */
	if (block->oob[0].info && !pxt_lane_left(lane))
		return;
	if (lane->front_state == PXT_FRONT_BUSY) {
		if (lane->floor < choice->bound)
			choice->bound = lane->floor;
	} else if (index == 0 && pxt_block_merges(block) && is_control(lane)) {
		/* First of all after its mark, once all lanes were looked at since. */
		*choice = (struct choice){ .marks = lane->barrier,
			.found = lane->front_ticks <= block->snapshot };
	} else {
		add_front(choice, index, lane->front_ticks);
	}
}

/* Looks at the fronts that are not known; false: all lanes are empty.  [proof: choose] */
static bool choose(struct pxt_block *block, struct choice *choice)
{
	bool any = false;

	*choice = (struct choice){ .marks = UINT64_MAX };
	for (uint32_t i = 0; i <= pxt_block_last(block); i++) {
		struct pxt_ring ring = pxt_block_ring(block, i);

		if (ring.lane->front_state == PXT_FRONT_UNKNOWN) {
			pxt_lane_look(block, &ring);
			PXT_TESTPOINT(PXT_TP_LANE_SEEN);
		}
		if (ring.lane->front_state == PXT_FRONT_EMPTY)
			continue;
		any = true;
		add_lane(block, choice, i);
	}
	return any;
}

/* A gap of before the step gives up nothing after it: true when it has been forgotten. */
static bool stepback_forgives(struct pxt_block *block)
{
	if (block->give_up <= pxt_port_ticks_ordered())
		return false;
	block->give_up = 0;
	return true;
}

/* Rule 3: true when the front that was chosen is older than what was lost elsewhere, and dropped. */
static bool drop_given_up(struct pxt_block *block, const struct choice *choice)
{
	struct pxt_lane *lane;

	if (!choice->found)
		return false;
	lane = pxt_block_lane(block, choice->lane);
	if (PXT_LIKELY(lane->front_ticks >= block->give_up) || stepback_forgives(block))
		return false;
	pxt_lane_gap_lost(block, 1);
	pxt_lane_gap_begin(block, lane->front_ticks);
	pxt_lane_advance(block, lane, pxt_info_slots(lane->front_info, PXT_CTX_BYTES));
	return true;
}

/* What was found out now holds for more records of the same lane. */
static void open_turn(struct pxt_block *block, const struct choice *choice)
{
	const struct pxt_lane *lane = pxt_block_lane(block, choice->lane);

	block->turn_lane = choice->lane;
	if (block->oob[0].info)
		block->turn_end = 0;
	else if (!pxt_block_merges(block))
		block->turn_end = lane->look_ticks + pxt_lane_look_ticks();
	else
		block->turn_end = choice->end <= choice->bound ? choice->end : choice->bound + 1u;
}

enum pxt_next pxt_merge_pick(struct pxt_block *block, uint32_t *chosen)
{
	/* A snapshot moves the bound to now, so a few are enough; more would be chasing writers. */
	for (uint32_t refills = 0;;) {
		struct choice choice;
		bool any = choose(block, &choice);

		if (drop_given_up(block, &choice))
			continue;
		if (choice.found && choice.least <= choice.bound) {
			open_turn(block, &choice);
			*chosen = choice.lane;
			return PXT_NEXT_READY;
		}
		/* Nothing in any lane, as of a clock reading in this call. */
		if (refills == 4 || (refills && !any))
			return any ? PXT_NEXT_HELD : PXT_NEXT_NONE;
		refill(block, pxt_port_ticks_ordered());
		refills++;
	}
}

bool pxt_merge_next_turn(struct pxt_block *block)
{
	uint32_t lane;

	pxt_block_end_turn(block);
	if (!pxt_block_merges(block) || pxt_gate_owes_start(block) || pxt_gate_stop_told(block) ||
	    pxt_merge_pick(block, &lane) != PXT_NEXT_READY)
		return false;
	pxt_lane_discarded_tell(block, pxt_block_lane(block, lane));
	if (block->gap != PXT_GAP_NONE || block->lost_before)
		pxt_block_end_turn(block);
	return block->turn_end != 0;
}

/* ---- The counter stepped back ---- */

/* The latest stamp of a front that is known, if that is after @now; else @now. */
static uint64_t latest_front(struct pxt_block *block, uint64_t now)
{
	uint64_t latest = now;

	for (uint32_t i = 0; i <= pxt_block_last(block); i++) {
		const struct pxt_lane *lane = pxt_block_lane(block, i);

		if (lane->front_state == PXT_FRONT_READY && lane->front_ticks > latest)
			latest = lane->front_ticks;
	}
	return latest;
}

/*
 * What is chosen by a snapshot ahead of the clock holds for that choice alone: afterwards lanes that
 * were seen empty may hold what returned before such a snapshot.
 */
enum pxt_next pxt_merge_stepback_pick(struct pxt_block *block, uint32_t *chosen)
{
	const uint64_t now = pxt_port_ticks_ordered();
	const uint64_t latest = latest_front(block, now);
	enum pxt_next found;

	if (latest == now)
		return PXT_NEXT_HELD;
	refill(block, latest);
	found = pxt_merge_pick(block, chosen);
	if (block->snapshot > now)
		block->snapshot = now;
	block->turn_end = 0;
	return found;
}
