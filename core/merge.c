/* SPDX-License-Identifier: MIT */
/*
 * merge.c - one sequence out of several lanes.
 *
 * Stamps are taken behind the reservation, so a record may carry a later stamp than records
 * behind it in its lane ("dip").  The key of a record is the smallest stamp at or behind it; keys
 * do not decrease along a lane, and the lane with the smallest key comes next.  Rules:
 *
 *  1. Only keys up to a clock reading that was taken before the heads were read (the snapshot):
 *     who is not in the snapshot reserves, and then stamps, later than that.
 *  2. Near that bound, stamps of different processors may be off by the order resolution: such
 *     a key is delivered only if no other lane's head has moved since the snapshot.
 *  3. A record whose key is lower than its own stamp waits for earlier records of its own thread
 *     in other lanes, and what stands before those for its thread's.  Nobody waits for himself in the
 *     end: that would be a circle of happened-before.
 *  4. An unfinished record hides what is behind it.  All of that was stamped after the last snapshot
 *     in which the record was not yet reserved: other lanes may go on up to there, less the error of
 *     a stamp.
 *  5. LOOP: what is older than the first record left in a lapped lane is given up in all lanes.
 *
 * START and STOP put a mark with a number into each lane.  Lanes that have passed a mark wait
 * until the others have; then lane 0's START or STOP, which stands behind its mark, comes first.
 */
#include "core/merge.h"

#include "core/context.h"
#include "core/control.h"
#include "core/share.h"

#include <string.h>

static struct pxt_slot slot_at(const struct pxt_ring *ring, uint64_t pos)
{
	return pxt_slot_load(&ring->slots[(uint32_t)pos & ring->mask]);
}

void pxt_merge_forget(struct pxt_lane *lane)
{
	/* It told of a record behind what is going to be looked at: overtaken, that may hide older ones. */
	if (lane->pos < lane->scan_pos)
		lane->hidden_floor = 0;
	lane->scan_pos = lane->pos;
	lane->scan_seq = lane->seq;
	lane->scan_max = 0;
	lane->dips = 0;
	lane->dips_joined = 0;
}

/* Keeps the list of dips: ascending in position and stamp, the first one counts. */
static void add_dip(struct pxt_lane *lane, uint64_t ticks, uint32_t pos)
{
	while (lane->dips && lane->dip_ticks[lane->dips - 1] >= ticks) {
		lane->dips--;
		lane->dips_joined = 0;
	}
	if (lane->dips < PXT_DIPS && !lane->dips_joined) {
		lane->dip_ticks[lane->dips] = ticks;
		lane->dip_pos[lane->dips++] = pos;
		return;
	}
	/* The last one stands for itself and all that follow until it becomes the first. */
	lane->dip_pos[lane->dips - 1] = pos;
	lane->dips_joined = 1;
}

/* By so much a stamp may lie before the moment at which it was taken, at most. */
static uint64_t stamp_error(const struct pxt_block *block)
{
	return block->attr._pxt_flags & PXT_ATTR_ORDERED ? 0u : pxt_resolution_ticks();
}

/* An unfinished record stands at scan_pos: other lanes wait for it, or do so no longer. */
enum {
	BINDS = 1,
	EXPIRED
};

/*
 * The record at scan_pos is unfinished and hides the rest.  The wait for it begins here, though
 * finished records may stand before it: they may be waiting for other lanes, which wait for it.
 * Behind the hold-back time it binds nobody any more; it is passed over when it comes to the front.
 */
static void hide(
    struct pxt_block *block, struct pxt_lane *lane, uint64_t clock, uint64_t head_before)
{
	uint64_t early = stamp_error(block);

	lane->hidden = block->quiet ? EXPIRED : BINDS;
	if (lane->scan_pos >= head_before)
		lane->hidden_floor = clock > early ? clock - early : 0;
	if (!lane->stuck_since || lane->stuck_pos != lane->scan_pos) {
		lane->stuck_pos = lane->scan_pos;
		lane->stuck_since = block->snapshot;
		lane->stuck_head = lane->seen_head;
	} else if (pxt_waited_long(lane, block->snapshot)) {
		lane->hidden = EXPIRED;
	}
}

/*
 * Looks at records between scan_pos and the snapshot's head; stops at one that is unfinished.
 * [proof: scan]
 */
static void scan(
    struct pxt_block *block, struct pxt_ring *ring, uint64_t clock, uint64_t head_before)
{
	struct pxt_lane *lane = ring->lane;

	lane->hidden = 0;
	/* Bound: the records of one lap. */
	while (lane->scan_pos < lane->seen_head) {
		struct pxt_slot slot = slot_at(ring, lane->scan_pos);
		uint32_t tag =
		    pxt_tag(ring->mask, (uint32_t)lane->scan_pos, (uint32_t)lane->scan_seq);
		uint32_t id = pxt_info_id(slot.word[1]);
		uint64_t ticks = pxt_slot_ticks(&slot);

		if (slot.word[0] != (tag | PXT_SLOT_BEGIN) ||
		    !pxt_lane_finished(ring, &slot, lane->scan_pos, lane->scan_seq)) {
			hide(block, lane, clock, head_before);
			return;
		}
		if (id == PXT_ID_MARK) {
			lane->scan_pos++;
			continue;
		}
		if (id == PXT_ID_VOID) {
			lane->scan_pos += slot.word[2];
		} else {
			if (ticks < lane->scan_max)
				add_dip(lane, ticks, (uint32_t)lane->scan_pos);
			else
				lane->scan_max = ticks;
			lane->scan_pos += pxt_info_slots(slot.word[1], PXT_CTX_BYTES);
		}
		lane->scan_pos += pxt_carry((uint32_t)lane->scan_seq);
		lane->scan_seq++;
	}
}

/* Takes a snapshot: clock first, then the heads, then what is new in each lane.  [proof: refill] */
static void refill(struct pxt_block *block)
{
	uint64_t before = block->snapshot;
	uint64_t heads[CONFIG_PTRACE_LANES_MAX];

	block->snapshot = pxt_share_pull(block, pxt_port_ticks_ordered(), false);
	for (uint32_t i = 0; i <= pxt_block_last(block); i++) {
		uint64_t seq;

		pxt_lane_head(pxt_block_lane(block, i), &heads[i], &seq);
		PXT_TESTPOINT(PXT_TP_HEAD_READ);
	}
	for (uint32_t i = 0; i <= pxt_block_last(block); i++) {
		struct pxt_ring ring = pxt_block_ring(block, i);
		struct pxt_lane *lane = ring.lane;
		uint64_t head_before = lane->seen_head;

		lane->seen_head = heads[i];
		if (heads[i] - lane->pos > ring.mask + 1u)
			pxt_lane_lapped(block, &ring);
		scan(block, &ring, before, head_before);
		if (lane->front_state != PXT_FRONT_READY && lane->front_state != PXT_FRONT_MARK)
			lane->front_state = PXT_FRONT_UNKNOWN;
	}
}

/* What the snapshot covers and was not scanned: behind a jump, or what was unfinished. */
static void scan_rest(struct pxt_block *block, struct pxt_ring *ring)
{
	if (ring->lane->pos >= ring->lane->scan_pos && ring->lane->pos < ring->lane->seen_head)
		scan(block, ring, 0, UINT64_MAX);
}

/*
 * Fetches the front of a lane, as far as the snapshot covers it.  A lane whose front is BUSY must
 * stay hidden, also when the record is finished just now: others may only pass what is scanned.
 * [proof: look]
 */
static void look(struct pxt_block *block, struct pxt_ring *ring)
{
	struct pxt_lane *lane = ring->lane;
	uint64_t pos = lane->pos;
	enum pxt_front state;

	if (lane->front_state != PXT_FRONT_UNKNOWN)
		return;
	scan_rest(block, ring);
	if (lane->pos >= lane->scan_pos && !lane->hidden) {
		lane->front_state = PXT_FRONT_EMPTY;
		return;
	}
	/* Starts or ends the wait for an unfinished record, too. */
	state = pxt_lane_look(block, ring);
	if (state == PXT_FRONT_READY || state == PXT_FRONT_MARK) {
		scan_rest(block, ring);
		if (lane->pos >= lane->scan_pos && lane->pos < lane->seen_head)
			state = PXT_FRONT_BUSY;
	}
	/* Behind one that was passed over: the wait for this one begins now, for the others too. */
	if (state == PXT_FRONT_BUSY && (!lane->hidden || lane->pos != pos))
		lane->hidden = BINDS;
	lane->front_state = state;
}

/* [proof: key] */
static uint64_t key_of(const struct pxt_lane *lane)
{
	uint64_t own = pxt_slot_ticks(&lane->front);

	return lane->dips && lane->dip_ticks[0] < own ? lane->dip_ticks[0] : own;
}

void pxt_merge_consumed(struct pxt_block *block, uint32_t index)
{
	struct pxt_lane *lane = pxt_block_lane(block, index);

	block->control_first = 0;
	if (lane->pos > lane->scan_pos) {
		pxt_merge_forget(lane);
		return;
	}
	while (lane->dips && (int32_t)(lane->dip_pos[0] - (uint32_t)lane->pos) < 0) {
		lane->dips--;
		for (uint8_t i = 0; i < lane->dips; i++) {
			lane->dip_ticks[i] = lane->dip_ticks[i + 1];
			lane->dip_pos[i] = lane->dip_pos[i + 1];
		}
	}
	if (lane->dips_joined && lane->dips <= 1) {
		struct pxt_ring ring = pxt_block_ring(block, index);
		uint64_t floor = lane->hidden_floor;
		uint64_t end = lane->scan_pos;

		pxt_merge_forget(lane);
		scan(block, &ring, 0, UINT64_MAX);
		if (lane->scan_pos >= end)
			lane->hidden_floor = floor;
	}
}

/* ---- Barriers ---- */

/* Whether lane @index must wait for a START or STOP that stands beside the lanes. */
static bool behind_side(const struct pxt_block *block, const struct pxt_lane *lane, uint32_t index)
{
	return block->side[0].info && lane->pos >= block->side[0].pos[index];
}

/* Passes the mark that all lanes have reached; false when there is none. */
static bool pass_barrier(struct pxt_block *block)
{
	uint64_t lowest = UINT64_MAX;

	for (uint32_t i = 0; i <= pxt_block_last(block); i++) {
		struct pxt_lane *lane = pxt_block_lane(block, i);
		uint64_t at = lane->front_state == PXT_FRONT_MARK ? pxt_slot_ticks(&lane->front)
		                                                  : lane->barrier + 1u;

		lowest = at < lowest ? at : lowest;
	}
	for (uint32_t i = 0; i <= pxt_block_last(block); i++) {
		struct pxt_lane *lane = pxt_block_lane(block, i);

		if (lane->barrier < lowest && lane->front_state != PXT_FRONT_MARK)
			return false;
	}
	for (uint32_t i = 0; i <= pxt_block_last(block); i++) {
		struct pxt_ring ring = pxt_block_ring(block, i);

		if (ring.lane->front_state == PXT_FRONT_MARK &&
		    pxt_slot_ticks(&ring.lane->front) == lowest) {
			pxt_lane_pass_mark(block, &ring);
			block->control_first = 1;
		}
	}
	return true;
}

static bool is_control(const struct pxt_lane *lane)
{
	uint32_t id = pxt_info_id(lane->front.word[1]);

	return id == PXT_ID_START || id == PXT_ID_STOP;
}

/* The READY lane with the smallest key among those that have passed the fewest barriers. */
static bool smallest(struct pxt_block *block, uint32_t *chosen)
{
	uint64_t least = UINT64_MAX;
	uint64_t barrier = UINT64_MAX;
	bool found = false;

	for (uint32_t i = 0; i <= pxt_block_last(block); i++) {
		const struct pxt_lane *lane = pxt_block_lane(block, i);

		if (lane->front_state != PXT_FRONT_EMPTY && lane->barrier < barrier)
			barrier = lane->barrier;
	}
	for (uint32_t i = 0; i <= pxt_block_last(block); i++) {
		const struct pxt_lane *lane = pxt_block_lane(block, i);

		if (lane->front_state != PXT_FRONT_READY || lane->barrier != barrier ||
		    behind_side(block, lane, i))
			continue;
		if (block->control_first && i == 0 && is_control(lane)) {
			*chosen = i;
			return true;
		}
		if (key_of(lane) < least) {
			least = key_of(lane);
			*chosen = i;
			found = true;
		}
	}
	return found;
}

/* ---- Rules 2 to 5 ---- */

/* Its own lane's hidden records come behind @chosen's front anyway. */
static uint64_t hidden_bound(struct pxt_block *block, uint32_t chosen)
{
	uint64_t bound = UINT64_MAX;

	for (uint32_t i = 0; i <= pxt_block_last(block); i++) {
		const struct pxt_lane *lane = pxt_block_lane(block, i);

		if (i != chosen && lane->hidden == BINDS && lane->hidden_floor < bound)
			bound = lane->hidden_floor;
	}
	return bound;
}

static bool heads_unchanged(struct pxt_block *block, uint32_t chosen)
{
	for (uint32_t i = 0; i <= pxt_block_last(block); i++) {
		struct pxt_lane *lane = pxt_block_lane(block, i);

		if (i != chosen &&
		    pxt_head_pos(pxt_cursor_load(&lane->head)) != (uint32_t)lane->seen_head)
			return false;
	}
	return true;
}

/*
 * Who recorded: the index in the thread table, for a thread without a place also four bytes
 * of the system's handle, which follows the context.  PXT_THREAD_NONE: that is not recorded.
 */
static uint64_t thread_at(const struct pxt_ring *ring, uint64_t pos)
{
	struct pxt_slot slot = slot_at(ring, pos + 1u);
	unsigned char payload[PXT_SLOT_PAYLOAD];
	uint32_t index;
	uint32_t handle;

	memcpy(payload, &slot.word[1], sizeof(payload));
	index = pxt_context_thread((uint64_t)payload[1] << 8 | payload[0]);
	if (!pxt_context_extra(index))
		return index;
	memcpy(&handle, payload + PXT_CTX_BYTES, sizeof(handle));
	return (uint64_t)handle << 32 | index;
}

/* A lane with an earlier record of the same thread than @chosen's front; else @chosen. */
static uint32_t earlier_of_thread(struct pxt_block *block, uint32_t chosen)
{
	struct pxt_ring ring = pxt_block_ring(block, chosen);
	uint64_t thread = thread_at(&ring, ring.lane->pos);
	uint64_t stamp = pxt_slot_ticks(&ring.lane->front);

	if (thread == PXT_THREAD_NONE)
		return chosen;
	for (uint32_t i = 0; i <= pxt_block_last(block); i++) {
		struct pxt_ring other = pxt_block_ring(block, i);
		uint64_t pos = other.lane->pos;
		uint64_t seq = other.lane->seq;

		if (i == chosen || other.lane->front_state != PXT_FRONT_READY ||
		    other.lane->barrier != ring.lane->barrier)
			continue;
		while (pos < other.lane->scan_pos) {
			struct pxt_slot slot = slot_at(&other, pos);
			uint32_t id = pxt_info_id(slot.word[1]);

			if (!(slot.word[0] & PXT_SLOT_BEGIN) || id == PXT_ID_MARK)
				break;
			if (id != PXT_ID_VOID && pxt_slot_ticks(&slot) < stamp &&
			    thread_at(&other, pos) == thread)
				return i;
			pos += (id == PXT_ID_VOID ? slot.word[2]
			                          : pxt_info_slots(slot.word[1], PXT_CTX_BYTES)) +
			       pxt_carry((uint32_t)seq);
			seq++;
		}
	}
	return chosen;
}

/*
 * Where those begin that wait for nobody's earlier record.  [proof: own_thread]
 */
static uint32_t own_thread_first(struct pxt_block *block, uint32_t chosen)
{
	/* Bound: the lanes, each comes once. */
	for (uint32_t i = 0; i <= pxt_block_last(block); i++) {
		uint32_t first = earlier_of_thread(block, chosen);

		if (first == chosen)
			break;
		chosen = first;
	}
	return chosen;
}

/* Rule 5: true when the front of @chosen is older than what was lost elsewhere, and is dropped. */
static bool drop_given_up(struct pxt_block *block, uint32_t chosen)
{
	struct pxt_ring ring = pxt_block_ring(block, chosen);
	uint64_t ticks = pxt_slot_ticks(&ring.lane->front);

	if (key_of(ring.lane) >= block->give_up || ticks >= block->give_up)
		return false;
	pxt_consumer_lost(block, 1);
	pxt_consumer_gap(block, ticks);
	pxt_lane_advance(block, &ring, pxt_info_slots(ring.lane->front.word[1], PXT_CTX_BYTES));
	pxt_merge_consumed(block, chosen);
	return true;
}

enum verdict {
	DELIVER,
	AGAIN,
	REFILL,
	WAIT
};

/* [proof: judge] */
static enum verdict judge(struct pxt_block *block, uint32_t *chosen)
{
	const struct pxt_lane *lane = pxt_block_lane(block, *chosen);
	uint64_t key = key_of(lane);
	uint64_t own = pxt_slot_ticks(&lane->front);
	uint64_t bound = hidden_bound(block, *chosen);
	uint64_t resolution = pxt_resolution_ticks();

	if (PXT_UNLIKELY(key < block->give_up) && drop_given_up(block, *chosen))
		return AGAIN;
	if (block->control_first && *chosen == 0 && is_control(lane))
		return DELIVER;
	/* With guests it is a bound for what they hold back, and no matter of the heads here (share.h). */
	if (key > block->snapshot)
		return REFILL;
	if (PXT_UNLIKELY(own > bound))
		return WAIT;
	if (PXT_UNLIKELY(key < own))
		*chosen = own_thread_first(block, *chosen);
	if (key + resolution > block->snapshot && !heads_unchanged(block, *chosen))
		return REFILL;
	return DELIVER;
}

static bool look_at_all(struct pxt_block *block)
{
	bool any = false;

	for (uint32_t i = 0; i <= pxt_block_last(block); i++) {
		struct pxt_ring ring = pxt_block_ring(block, i);

		look(block, &ring);
		any |= ring.lane->front_state != PXT_FRONT_EMPTY;
	}
	return any;
}

enum pxt_next pxt_merge_pick(struct pxt_block *block, uint32_t *chosen)
{
	/* A refill moves the bound to now, so a few are enough; more would be chasing writers. */
	for (uint32_t refills = 0; refills < 4;) {
		enum verdict verdict = REFILL;
		bool any = look_at_all(block);

		if (any && pass_barrier(block))
			continue;
		if (any && smallest(block, chosen)) {
			verdict = judge(block, chosen);
			if (verdict == DELIVER)
				return PXT_NEXT_READY;
			if (verdict == AGAIN)
				continue;
		}
		/* Nothing in any lane, as of a clock reading in this call. */
		if (!any && refills)
			return PXT_NEXT_NONE;
		refill(block);
		refills++;
	}
	return look_at_all(block) ? PXT_NEXT_HELD : PXT_NEXT_NONE;
}

/* ---- The window ---- */

/* Goes to the lane with the smallest front; the turn ends where the second smallest begins. */
static bool next_turn(struct pxt_block *block)
{
	uint64_t least = UINT64_MAX;
	uint64_t second = UINT64_MAX;

	/* Bound: the lanes.  Of equal ones the first comes first, as in smallest(). */
	for (uint32_t lanes = block->turn_lanes; lanes; lanes &= lanes - 1u) {
		uint32_t i = (uint32_t)__builtin_ctz(lanes);
		uint64_t ticks = pxt_slot_ticks(&pxt_block_lane(block, i)->front);

		if (ticks < least) {
			second = least;
			least = ticks;
			block->turn_lane = i;
		} else if (ticks < second) {
			/* Lane i stands behind: it has to be below, not at, its stamp to be first. */
			second = ticks + 1u;
		}
	}
	block->turn_end = second < block->window ? second : block->window;
	return least < block->turn_end;
}

/*
 * What the snapshot and the scans have told stays true for all records below the bounds of rules
 * 1, 2 and 4, as long as no record's key is lowered (rule 3) and no control record is due.
 */
void pxt_merge_open_window(struct pxt_block *block, uint32_t chosen)
{
	uint64_t barrier = pxt_block_lane(block, chosen)->barrier;
	uint64_t resolution = pxt_resolution_ticks();

	if (block->control_first || block->side[0].info || block->snapshot < resolution)
		return;
	block->window = block->snapshot - resolution + 1u;
	block->turn_lanes = 0;
	for (uint32_t i = 0; i <= pxt_block_last(block); i++) {
		const struct pxt_lane *lane = pxt_block_lane(block, i);

		if (lane->dips) {
			block->window = 0;
			return;
		}
		/* Also what binds no more: it is passed over in its turn, and hides what is earlier. */
		if (lane->hidden && lane->hidden_floor < block->window)
			block->window = lane->hidden_floor + 1u;
		if (lane->front_state == PXT_FRONT_READY && lane->barrier == barrier)
			block->turn_lanes |= 1u << i;
	}
	if (!next_turn(block))
		block->turn_end = 0;
}

bool pxt_merge_turn(struct pxt_block *block, struct pxt_halves front)
{
	struct pxt_lane *lane = pxt_block_lane(block, block->turn_lane);

	if (!pxt_block_merges(block))
		return false;
	if (pxt_merge_covers(block, lane)) {
		/* Scanned, hence finished. */
		lane->front = pxt_slot_of(front);
		lane->front_state = PXT_FRONT_READY;
	} else {
		block->turn_lanes &= ~(1u << block->turn_lane);
	}
	return next_turn(block);
}
