/* SPDX-License-Identifier: MIT */
/* lane.c - one lane as its consumer sees it: front record, laps, unfinished records. */
#include "core/consumer.h"
#include "core/control.h"
#include "core/merge.h"
#include "core/window.h"

void pxt_lane_head(struct pxt_lane *lane, uint64_t *pos, uint64_t *seq)
{
	uint64_t head = pxt_cursor_load(&lane->head);
	uint64_t epoch = pxt_twins_load(&lane->epoch);

	*pos = pxt_epoch_widen(pxt_epoch_half((uint32_t)(epoch >> 32)), pxt_head_pos(head), 30);
	*seq = pxt_epoch_widen(pxt_epoch_half((uint32_t)epoch), pxt_head_seq(head), 29);
}

/*
 * Policies that do not overwrite: writers wait for this room.  LOOP: it only tells writers whose
 * overwriting is a loss, so it is told in larger steps; between them next_ticks knows the stamp.
 */
static void publish(struct pxt_block *block, struct pxt_lane *lane, bool caught_up)
{
	uint32_t limit = atomic_load_explicit(&lane->limit, memory_order_relaxed);
	uint32_t step = block->full_policy == POSIX_TRACE_LOOP ? block->slot_mask / 8u : 0u;

	if ((uint32_t)lane->pos - limit > step || (caught_up && limit != (uint32_t)lane->pos))
		/* Pairs with the acquire in pxt_ring_reserve_free(): the slots were read. */
		atomic_store_explicit(&lane->limit, (uint32_t)lane->pos, memory_order_release);
}

/*
 * Looks ahead to the record that comes next now.  LOOP: either its stamp is known from here on, in
 * case it is overwritten before it is read, or `limit` is exact, so that the writer that
 * overwrites it can tell.
 */
static void look_ahead(struct pxt_block *block, struct pxt_ring *ring)
{
	struct pxt_lane *lane = ring->lane;
	uint32_t want = pxt_tag(ring->mask, (uint32_t)lane->pos, (uint32_t)lane->seq);
	struct pxt_halves front =
	    pxt_slot_load_halves(&ring->slots[(uint32_t)lane->pos & ring->mask]);
	bool there = (uint32_t)front.low == (want | PXT_SLOT_BEGIN);

	lane->next_ticks = there ? front.high : 0;
	publish(block, lane, !there);
}

void pxt_lane_advance(struct pxt_block *block, struct pxt_ring *ring, uint32_t slots)
{
	struct pxt_lane *lane = ring->lane;

	lane->pos += slots + pxt_carry((uint32_t)lane->seq);
	lane->seq++;
	lane->front_state = PXT_FRONT_UNKNOWN;
	lane->ruins = 0;
	look_ahead(block, ring);
}

void pxt_lane_move(struct pxt_block *block, struct pxt_ring *ring, uint64_t pos, uint64_t seq)
{
	struct pxt_lane *lane = ring->lane;

	lane->pos = pos;
	lane->seq = seq;
	lane->front_state = PXT_FRONT_UNKNOWN;
	lane->ruins = 0;
	look_ahead(block, ring);
}

void pxt_lane_pass_mark(struct pxt_block *block, struct pxt_ring *ring)
{
	struct pxt_lane *lane = ring->lane;

	lane->barrier = pxt_slot_ticks(&lane->front);
	lane->pos++;
	lane->front_state = PXT_FRONT_UNKNOWN;
	look_ahead(block, ring);
}

void pxt_consumer_lost(struct pxt_block *block, uint64_t records)
{
	block->lost += records;
	block->lost_before += records;
}

void pxt_consumer_gap(struct pxt_block *block, uint64_t ticks)
{
	/* OVERFLOW was told, nothing was handed out since: still the same gap. */
	if (block->resume_due)
		return;
	if (!block->gap || (ticks && (!block->gap_ticks || ticks < block->gap_ticks)))
		block->gap_ticks = ticks;
	block->gap = 1;
}

static void jump(struct pxt_block *block, struct pxt_lane *lane, uint64_t pos, uint64_t seq)
{
	pxt_consumer_lost(block, seq - lane->seq);
	lane->next_ticks = 0;
	pxt_wide_set(&lane->first_lost, 0);
	lane->pos = pos;
	lane->seq = seq;
	lane->ruins = 0;
	lane->front_state = PXT_FRONT_UNKNOWN;
	lane->stuck_since = 0;
	pxt_merge_forget(lane);
	pxt_window_end(block);
	publish(block, lane, true);
}

/*
 * The number of the record that begins in @slot, which is one of the newest N before number
 * @last: its low bits tell the distance.  A mark carries the number of the record behind it.
 */
static uint64_t number_of(const struct pxt_slot *slot, uint32_t mask, uint64_t last)
{
	uint32_t back = ((uint32_t)last - slot->word[0]) & mask;

	if (!back && pxt_info_id(slot->word[1]) != PXT_ID_MARK)
		back = mask + 1u;
	return last - back;
}

static bool begins_here(const struct pxt_slot *slot, const struct pxt_ring *ring, uint64_t pos)
{
	return (slot->word[0] & PXT_SLOT_BEGIN) &&
	       ((slot->word[0] ^ (uint32_t)pos) & ~ring->mask & PXT_TAG_MASK) == 0;
}

/*
 * Where a lane stands that was moved to @pos other than record by record: one barrier before the
 * next mark.  Returns the smallest stamp from @pos on, which is the key of the record there.
 */
static uint64_t survey(
    struct pxt_block *block, const struct pxt_ring *ring, uint64_t pos, uint64_t end)
{
	uint64_t barrier = UINT64_MAX;
	uint64_t least = UINT64_MAX;

	for (; pxt_block_merges(block) && pos < end; pos++) {
		struct pxt_slot slot = pxt_slot_load(&ring->slots[(uint32_t)pos & ring->mask]);
		uint64_t ticks = pxt_slot_ticks(&slot);
		uint32_t id = pxt_info_id(slot.word[1]);

		if (!begins_here(&slot, ring, pos) || id == PXT_ID_VOID)
			continue;
		if (id != PXT_ID_MARK)
			least = ticks < least ? ticks : least;
		else if (barrier == UINT64_MAX)
			barrier = ticks - 1u;
	}
	ring->lane->barrier = barrier == UINT64_MAX ? block->barriers : barrier;
	return least;
}

/* The oldest record that is still whole, from @from on; *seq becomes its number. */
static uint64_t find_whole(const struct pxt_ring *ring, uint64_t from, uint64_t end, uint64_t *seq)
{
	for (; from < end; from++) {
		struct pxt_slot slot = pxt_slot_load(&ring->slots[(uint32_t)from & ring->mask]);

		if (begins_here(&slot, ring, from)) {
			*seq = number_of(&slot, ring->mask, *seq);
			break;
		}
	}
	return from;
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

static void lapped(struct pxt_block *block, struct pxt_ring *ring, bool reading)
{
	struct pxt_lane *lane = ring->lane;
	uint32_t size = ring->mask + 1u;
	uint64_t gone = lane->next_ticks ? lane->next_ticks : pxt_wide_load(&lane->first_lost);
	uint64_t pos;
	uint64_t seq;
	uint64_t from;
	uint64_t least;

	PXT_TESTPOINT(PXT_TP_LAPPED);
	pxt_lane_head(lane, &pos, &seq);
	from = pos - size + (reading ? slack_for(block, lane, size) : 0u);
	if (from < lane->pos)
		from = lane->pos;
	from = find_whole(ring, from, pos, &seq);
	pxt_consumer_gap(block, gone);
	/* Other lanes must not show anything older than what is left of this one (merge.c, 5). */
	least = survey(block, ring, from, pos);
	if (least != UINT64_MAX && least > block->give_up)
		block->give_up = least;
	jump(block, lane, from, seq);
	lane->ruins = (uint32_t)(from - (pos - size));
}

void pxt_lane_lapped(struct pxt_block *block, struct pxt_ring *ring)
{
	lapped(block, ring, true);
}

/* Slots of the record that begins in @front. */
static uint32_t record_slots(const struct pxt_slot *front)
{
	uint32_t id = pxt_info_id(front->word[1]);

	if (id == PXT_ID_VOID)
		return front->word[2];
	return id == PXT_ID_MARK ? 1u : pxt_info_slots(front->word[1], PXT_CTX_BYTES);
}

/*
 * The record at the lane's position was not finished in time.  Its begin slot, if it is there,
 * says where the next one starts; else the next begin slot of this lap does, and the low bits of
 * its number say how many records lie between.
 */
static bool pass_over(struct pxt_block *block, struct pxt_ring *ring)
{
	struct pxt_lane *lane = ring->lane;
	uint32_t want = pxt_tag(ring->mask, (uint32_t)lane->pos, (uint32_t)lane->seq);
	struct pxt_slot slot = pxt_slot_load(&ring->slots[(uint32_t)lane->pos & ring->mask]);
	uint64_t pos;
	uint64_t seq;

	PXT_TESTPOINT(PXT_TP_GIVES_UP);
	if (slot.word[0] == (want | PXT_SLOT_BEGIN)) {
		uint64_t next = lane->pos + record_slots(&slot) + pxt_carry((uint32_t)lane->seq);

		jump(block, lane, next, lane->seq + 1u);
		PXT_TESTPOINT(PXT_TP_PASSED);
		return true;
	}
	pxt_lane_head(lane, &pos, &seq);
	/* Overtaken since head was looked at: more than a lap away, low bits tell no number. */
	if (pos - lane->pos > ring->mask + 1u) {
		pxt_lane_lapped(block, ring);
		return true;
	}
	for (uint64_t at = lane->pos + 1u; at < pos; at++) {
		slot = pxt_slot_load(&ring->slots[(uint32_t)at & ring->mask]);
		if (begins_here(&slot, ring, at)) {
			/* Fewer than N fit between; none, if what stands here was a mark. */
			uint32_t ahead = (slot.word[0] - (uint32_t)lane->seq) & ring->mask;

			(void)survey(block, ring, at, pos);
			jump(block, lane, at, lane->seq + ahead);
			PXT_TESTPOINT(PXT_TP_PASSED);
			return true;
		}
	}
	/* Nothing begins behind it.  What was reserved only lately gets its own time to finish. */
	if (lane->stuck_head != pos && !block->quiet) {
		lane->stuck_since = 0;
		return false;
	}
	(void)survey(block, ring, pos, pos);
	jump(block, lane, pos, seq);
	PXT_TESTPOINT(PXT_TP_PASSED);
	return true;
}

bool pxt_waited_long(const struct pxt_lane *lane, uint64_t now)
{
	/* Signed: a clock that still stands at 0 is before the moment that was noted, too. */
	return (int64_t)(now - lane->stuck_since) >= (int64_t)pxt_holdback_ticks();
}

/*
 * True when the wait for the record at the lane's position is over and it was passed over.
 * [proof: expired]
 */
static bool expired(struct pxt_block *block, struct pxt_ring *ring)
{
	struct pxt_lane *lane = ring->lane;
	uint64_t now = pxt_port_ticks();
	uint64_t seq;

	if (block->quiet)
		return pass_over(block, ring);
	if (!lane->stuck_since || lane->stuck_pos != lane->pos) {
		lane->stuck_pos = lane->pos;
		lane->stuck_since = now ? now : 1u;
		pxt_lane_head(lane, &lane->stuck_head, &seq);
		return false;
	}
	return pxt_waited_long(lane, now) && pass_over(block, ring);
}

bool pxt_lane_finished(
    const struct pxt_ring *ring, const struct pxt_slot *front, uint64_t pos, uint64_t seq)
{
	uint32_t id = pxt_info_id(front->word[1]);
	uint32_t slots = record_slots(front);

	if (id == PXT_ID_VOID || id == PXT_ID_MARK)
		return true;
	/* Bound: the slots of the record. */
	for (uint32_t i = 1; i < slots; i++) {
		uint32_t at = (uint32_t)pos + i;

		if (pxt_slot_peek_acquire(&ring->slots[at & ring->mask]) !=
		    pxt_tag(ring->mask, at, (uint32_t)seq))
			return false;
	}
	return true;
}

enum found {
	FOUND,
	MOVED,
	EMPTY,
	BUSY
};

/* The slot at the position is not what was expected: head tells why. */
static enum found look_at_head(struct pxt_block *block, struct pxt_ring *ring)
{
	struct pxt_lane *lane = ring->lane;
	uint32_t size = ring->mask + 1u;
	uint32_t want = pxt_tag(ring->mask, (uint32_t)lane->pos, (uint32_t)lane->seq);
	struct pxt_slot slot;
	uint64_t pos;
	uint64_t seq;

	lane->look_ticks = pxt_port_ticks();
	pxt_lane_head(lane, &pos, &seq);
	if (pos == lane->pos)
		return EMPTY;
	if (pos - lane->pos > size || seq - lane->seq > size) {
		pxt_lane_lapped(block, ring);
		return MOVED;
	}
	/* Not older than head: pairs with the slot's release. */
	slot = pxt_slot_load(&ring->slots[(uint32_t)lane->pos & ring->mask]);
	if (slot.word[0] == (want | PXT_SLOT_BEGIN)) {
		lane->front = slot;
		if (pxt_lane_finished(ring, &slot, lane->pos, lane->seq))
			return FOUND;
	} else if (pxt_tag_ahead(slot.word[0], want) > 0) {
		pxt_lane_lapped(block, ring);
		return MOVED;
	}
	return expired(block, ring) ? MOVED : BUSY;
}

static enum found look_at_slot(struct pxt_block *block, struct pxt_ring *ring)
{
	struct pxt_lane *lane = ring->lane;
	uint32_t want = pxt_tag(ring->mask, (uint32_t)lane->pos, (uint32_t)lane->seq);
	struct pxt_slot slot = pxt_slot_load(&ring->slots[(uint32_t)lane->pos & ring->mask]);

	/*
	 * A tag repeats after 2^31 slots.  A record whose stamp is far from the last look at head
	 * might be such a stranger, so head is asked; this keeps the reader off the writers' line.
	 */
	if (PXT_LIKELY(slot.word[0] == (want | PXT_SLOT_BEGIN)) &&
	    (int64_t)(pxt_slot_ticks(&slot) - lane->look_ticks) < (int64_t)pxt_look_ticks() &&
	    pxt_lane_finished(ring, &slot, lane->pos, lane->seq)) {
		lane->front = slot;
		return FOUND;
	}
	return look_at_head(block, ring);
}

enum pxt_front pxt_lane_look(struct pxt_block *block, struct pxt_ring *ring)
{
	struct pxt_lane *lane = ring->lane;

	if (lane->front_state == PXT_FRONT_READY || lane->front_state == PXT_FRONT_MARK)
		return (enum pxt_front)lane->front_state;
	/* Bound: each round without a result moves the position forward. */
	for (;;) {
		enum found found = look_at_slot(block, ring);
		uint32_t id;

		if (found == MOVED)
			continue;
		if (found == EMPTY) {
			publish(block, lane, true);
			return PXT_FRONT_EMPTY;
		}
		if (found == BUSY)
			return PXT_FRONT_BUSY;
		PXT_TESTPOINT(PXT_TP_FRONT_SEEN);
		id = pxt_info_id(lane->front.word[1]);
		if (PXT_UNLIKELY(id == PXT_ID_VOID)) {
			pxt_consumer_lost(block, 1);
			pxt_lane_advance(block, ring, record_slots(&lane->front));
			pxt_merge_forget(lane);
			continue;
		}
		lane->front_state = id == PXT_ID_MARK ? PXT_FRONT_MARK : PXT_FRONT_READY;
		return (enum pxt_front)lane->front_state;
	}
}

bool pxt_consumer_drained(struct pxt_block *block)
{
	for (uint32_t i = 0; i <= pxt_block_last(block); i++) {
		struct pxt_lane *lane = pxt_block_lane(block, i);
		uint64_t pos;
		uint64_t seq;

		pxt_lane_head(lane, &pos, &seq);
		if (pos != lane->pos)
			return false;
	}
	return !block->side[0].info;
}

void pxt_consumer_notice_laps(struct pxt_stream *stream)
{
	struct pxt_block *block = stream->block;

	for (uint32_t i = 0; i <= pxt_block_last(block); i++) {
		struct pxt_ring ring = pxt_block_ring(block, i);
		uint64_t pos;
		uint64_t seq;

		pxt_lane_head(ring.lane, &pos, &seq);
		if (pos - ring.lane->pos > ring.mask + 1u)
			lapped(block, &ring, false);
	}
}
