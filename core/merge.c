/* SPDX-License-Identifier: MIT */
/*
 * merge.c - one sequence out of several lanes.
 *
 * Along a lane stamps rise, so its front is the oldest record in it, and the smallest front of all
 * lanes comes next.  What a lane without a front may still bring is the only question:
 *
 *  1. The clock is read (the snapshot), then the lanes that have no front are looked at.  A lane that
 *     is empty then brings only records that return later than the snapshot.  One whose front is not
 *     finished may have finished records behind it: the first of them is the oldest (floor).
 *     A front comes next if its stamp is not above the snapshot and the floors.
 *  2. What is finished only then is reported no earlier than what was handed out meanwhile: that was
 *     not above a snapshot that was taken before it returned.
 *  3. LOOP: what is older than the first record left in a lapped lane is given up in all lanes.
 *
 * START and STOP put a mark with a number into each lane.  Lanes that have passed a mark wait
 * until the others have; then lane 0's START or STOP, which stands behind its mark, comes first.
 *
 * Stamps of different processors, and those that are read before older instructions have finished,
 * may be off by the order resolution.  So may the order of what lies so near to each other.
 */
#include "core/merge.h"

#include "core/share.h"

/* Takes a snapshot: what was without a front is looked at again behind it.  [proof: refill] */
static void refill(struct pxt_block *block)
{
	block->snapshot = pxt_share_pull(block, pxt_port_ticks_ordered(), false);
	/* The looks that follow are not made before. */
	pxt_port_ticks_fence();
	for (uint32_t i = 0; i <= pxt_block_last(block); i++) {
		struct pxt_lane *lane = pxt_block_lane(block, i);

		if (lane->front_state != PXT_FRONT_READY && lane->front_state != PXT_FRONT_MARK)
			lane->front_state = PXT_FRONT_UNKNOWN;
	}
}

/* Fetches the fronts that are not known; false: all lanes are empty. */
static bool look_at_all(struct pxt_block *block)
{
	bool any = false;

	for (uint32_t i = 0; i <= pxt_block_last(block); i++) {
		struct pxt_ring ring = pxt_block_ring(block, i);

		if (ring.lane->front_state == PXT_FRONT_UNKNOWN) {
			(void)pxt_lane_look(block, &ring);
			PXT_TESTPOINT(PXT_TP_LANE_SEEN);
		}
		any |= ring.lane->front_state != PXT_FRONT_EMPTY;
	}
	return any;
}

/* ---- Barriers ---- */

/* Passes the mark that all lanes have reached; false when there is none. */
static bool pass_barrier(struct pxt_block *block)
{
	uint64_t lowest = UINT64_MAX;

	for (uint32_t i = 0; i <= pxt_block_last(block); i++) {
		const struct pxt_lane *lane = pxt_block_lane(block, i);
		uint64_t at =
		    lane->front_state == PXT_FRONT_MARK ? lane->front_ticks : lane->barrier + 1u;

		lowest = at < lowest ? at : lowest;
	}
	for (uint32_t i = 0; i <= pxt_block_last(block); i++) {
		const struct pxt_lane *lane = pxt_block_lane(block, i);

		if (lane->barrier < lowest && lane->front_state != PXT_FRONT_MARK)
			return false;
	}
	for (uint32_t i = 0; i <= pxt_block_last(block); i++) {
		struct pxt_ring ring = pxt_block_ring(block, i);

		if (ring.lane->front_state == PXT_FRONT_MARK && ring.lane->front_ticks == lowest) {
			pxt_lane_pass_mark(block, &ring);
			block->control_first = 1;
		}
	}
	return true;
}

static bool is_control(const struct pxt_lane *lane)
{
	uint32_t id = pxt_info_id(lane->front_info);

	return id == PXT_ID_START || id == PXT_ID_STOP;
}

/* Lanes that have passed more barriers wait for those that have passed so many. */
static uint64_t fewest_barriers(struct pxt_block *block)
{
	uint64_t fewest = UINT64_MAX;

	for (uint32_t i = 0; i <= pxt_block_last(block); i++) {
		const struct pxt_lane *lane = pxt_block_lane(block, i);

		if (lane->front_state != PXT_FRONT_EMPTY && lane->barrier < fewest)
			fewest = lane->barrier;
	}
	return fewest;
}

/* ---- The choice ---- */

struct choice {
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

/* [proof: choose] */
static void choose(struct pxt_block *block, struct choice *choice)
{
	uint64_t barrier = fewest_barriers(block);

	*choice = (struct choice){ .bound = block->snapshot };
	for (uint32_t i = 0; i <= pxt_block_last(block); i++) {
		const struct pxt_lane *lane = pxt_block_lane(block, i);

		/* It is empty, behind a mark, or behind a START or STOP beside the lanes. */
		if (lane->front_state == PXT_FRONT_EMPTY || lane->barrier != barrier ||
		    (block->side[0].info && lane->pos >= block->side[0].pos[i]))
			continue;
		if (lane->front_state == PXT_FRONT_READY && i == 0 && block->control_first &&
		    is_control(lane)) {
			*choice = (struct choice){ .bound = UINT64_MAX, .found = true };
			return;
		}
		if (lane->front_state == PXT_FRONT_READY)
			add_front(choice, i, lane->front_ticks);
		else if (lane->front_state == PXT_FRONT_BUSY && lane->floor < choice->bound)
			choice->bound = lane->floor;
	}
}

/* Rule 3: true when the front of @index is older than what was lost elsewhere, and is dropped. */
static bool drop_given_up(struct pxt_block *block, uint32_t index)
{
	struct pxt_ring ring = pxt_block_ring(block, index);
	uint64_t ticks = ring.lane->front_ticks;

	if (PXT_LIKELY(ticks >= block->give_up))
		return false;
	pxt_consumer_lost(block, 1);
	pxt_consumer_gap(block, ticks);
	pxt_lane_advance(block, &ring, pxt_info_slots(ring.lane->front_info, PXT_CTX_BYTES));
	return true;
}

/* What was found out now holds for more records of the same lane. */
static void open_turn(struct pxt_block *block, const struct choice *choice)
{
	block->turn_lane = choice->lane;
	block->turn_end = 0;
	if (!block->control_first && !block->side[0].info)
		block->turn_end = choice->end <= choice->bound ? choice->end : choice->bound + 1u;
}

enum pxt_next pxt_merge_pick(struct pxt_block *block, uint32_t *chosen)
{
	/* A snapshot moves the bound to now, so a few are enough; more would be chasing writers. */
	for (uint32_t refills = 0; refills < 4;) {
		bool any = look_at_all(block);
		struct choice choice;

		if (any && pass_barrier(block))
			continue;
		choose(block, &choice);
		if (choice.found && drop_given_up(block, choice.lane))
			continue;
		if (choice.found && choice.least <= choice.bound) {
			open_turn(block, &choice);
			*chosen = choice.lane;
			return PXT_NEXT_READY;
		}
		/* Nothing in any lane, as of a clock reading in this call. */
		if (!any && refills)
			return PXT_NEXT_NONE;
		refill(block);
		refills++;
	}
	return look_at_all(block) ? PXT_NEXT_HELD : PXT_NEXT_NONE;
}
