/* SPDX-License-Identifier: MIT */
/*
 * intake_lane.c - one lane of a producer: which records are finished, which were overwritten, which
 * will never be finished.  As core/read/lane.c, but nothing is believed, and nothing is written there.
 *
 * Each step moves the position forward, at most to the head that was read at the beginning of the
 * pull, which is at most a ring away; so a pull ends whatever the producer does meanwhile.
 */
#include "attach/intake.h"
#include "core/read/lane.h"

/*
 * After a record that never became finished, nobody waits for this producer, for so many times the
 * hold-back time: a producer that does it on purpose holds back one part in so many.
 */
#define IMPATIENCE 64u

/* After an unfinished record one that has begun is looked for so far, until the last round. */
#define NEAR 1024u

/* Slots that the processor is asked for before they are looked at: another one wrote them. */
#define AHEAD 32u

/* Records a second, more than a lane takes: beyond it, what is said to be lost is a lie. */
#define FASTEST 200000000u

PXT_INLINE struct pxt_halves slot_at(const struct pxt_intake_lane *lane, uint64_t pos)
{
	return pxt_slot_view(&lane->cells[(uint32_t)pos & lane->mask], lane->mask);
}

PXT_INLINE uint32_t info_of(struct pxt_halves slot)
{
	return (uint32_t)(slot.low >> 32);
}

static void read_head(const struct pxt_intake_lane *lane, uint64_t *pos, uint64_t *seq)
{
	uint64_t head = pxt_cursor_view(&lane->words->head);
	uint64_t epoch = pxt_twins_load((pxt_twins *)(uintptr_t)&lane->words->epoch);

	*pos = pxt_epoch_pos(epoch, head);
	*seq = pxt_epoch_seq(epoch, head);
}

void pxt_intake_lane_begin(struct pxt_intake_lane *lane, const struct pxt_producer_memory *producer,
    uint32_t index, uint64_t clock)
{
	const struct pxt_lane *words = (const void *)(producer->memory + sizeof(struct pxt_block));
	const pxt_cell *cells = (const void *)(words + producer->lanes);

	/* From what was checked of the header: the lane's own word is the producer's to change. */
	lane->words = words + index;
	lane->cells = cells + index * (producer->mask + (size_t)1u);
	lane->mask = index + 1u < producer->lanes ? producer->mask : producer->last_mask;
	lane->pos = lane->mask + UINT64_C(1);
	lane->head = lane->pos;
	lane->counted = clock;
}

void pxt_intake_lane_advance(struct pxt_intake_lane *lane)
{
	if (lane->ticks > lane->least)
		lane->least = lane->ticks;
	lane->pos += pxt_info_slots(pxt_intake_lane_info(lane), PXT_CTX_BYTES) +
	             pxt_carry((uint32_t)lane->seq);
	lane->seq++;
	lane->front = PXT_PRODUCER_EMPTY;
}

/* ---- Moving forward other than record by record ---- */

/*
 * Whether so many records can be lost: what the ring holds, and what was recorded since losses were
 * counted last.  A producer can say that its head is anywhere, but a record takes two slots, and time.
 */
static bool is_possible(
    const struct pxt_intake_lane *lane, uint64_t slots, uint64_t records, uint64_t now)
{
	const uint64_t step = 1024;
	uint64_t steps = (now - lane->counted) / step + 1u;
	uint64_t in_step = FASTEST / (pxt_clock.hz / step + 1u) + 1u;

	return records <= slots / 2u && records <= lane->mask + steps * in_step;
}

/* Where and at which number the lane goes on; what lies between is lost. */
static void move(
    struct pxt_producer_pull *pull, struct pxt_intake_lane *lane, uint64_t pos, uint64_t seq)
{
	uint64_t records = seq - lane->seq;
	uint64_t now = pxt_port_ticks();

	/* Else somebody lied, and lost what nobody knows. */
	pull->lost += is_possible(lane, pos - lane->pos, records, now) ? records : 1u;
	lane->counted = now;
	lane->pos = pos;
	lane->seq = seq;
	lane->front = PXT_PRODUCER_EMPTY;
	lane->stuck_since = 0;
}

/* The first place from @from on where something begins, and its slot; @end: nothing does. */
static uint64_t next_begin(
    const struct pxt_intake_lane *lane, uint64_t from, uint64_t end, struct pxt_halves *slot)
{
	/* Bound: the slots up to @end. */
	for (; from != end; from++) {
		*slot = slot_at(lane, from);
		if (pxt_tag_begins(lane->mask, (uint32_t)slot->low, (uint32_t)from))
			break;
	}
	return from;
}

/* Writers get more room each time, up to half a lap, or a slow owner never finds what stays. */
static uint32_t slack_for(struct pxt_intake_lane *lane, uint32_t size)
{
	uint32_t next = lane->slack ? lane->slack * 2u : size / 16u;

	lane->slack = next > size / 2u ? size / 2u : next;
	return lane->slack;
}

/*
 * More than a ring was recorded since, or the producer's words make no sense.  What is left is
 * delivered late, perhaps, as in any stream that was overwritten.
 */
static void lapped(struct pxt_producer_pull *pull, struct pxt_intake_lane *lane)
{
	uint32_t size = lane->mask + 1u;
	uint64_t from;
	uint64_t number;

	struct pxt_halves slot;

	lane->lapped = true;
	read_head(lane, &lane->head, &lane->head_seq);
	number = lane->head_seq;
	from = lane->head - size + slack_for(lane, size);
	if ((int64_t)(from - lane->pos) < 0)
		from = lane->pos;
	/* It went back, or on for days. */
	if (lane->head - from > size)
		from = lane->head;
	from = next_begin(lane, from, lane->head, &slot);
	if (from != lane->head)
		number -=
		    pxt_tag_before(lane->mask, (uint32_t)slot.low, info_of(slot), (uint32_t)number);
	move(pull, lane, from, number);
}

void pxt_intake_lane_look(struct pxt_producer_pull *pull, struct pxt_intake_lane *lane)
{
	uint64_t slots;

	lane->lapped = false;
	read_head(lane, &lane->head, &lane->head_seq);
	slots = lane->head - lane->pos;
	if (slots > lane->mask + UINT64_C(1) || lane->head_seq - lane->seq > slots)
		lapped(pull, lane);
}

/* ---- Unfinished records ---- */

/*
 * The record at the position is given up.  Its begin slot, if it is there, says where the next one
 * starts; else the next begin slot does.  False: nothing begins after it, and what was reserved
 * only lately gets its own time.
 */
static bool pass_over(struct pxt_producer_pull *pull, struct pxt_producer_memory *producer,
    struct pxt_intake_lane *lane)
{
	uint64_t left = lane->head - lane->pos;
	uint32_t want = pxt_tag(lane->mask, (uint32_t)lane->pos, (uint32_t)lane->seq);
	struct pxt_halves slot = slot_at(lane, lane->pos);
	uint64_t at;

	if ((uint32_t)slot.low == (want | PXT_SLOT_BEGIN)) {
		uint64_t slots =
		    pxt_info_slots(info_of(slot), PXT_CTX_BYTES) + pxt_carry((uint32_t)lane->seq);

		if (slots <= left) {
			move(pull, lane, lane->pos + slots, lane->seq + 1u);
			return true;
		}
	}
	at = next_begin(lane, lane->pos + 1u, lane->head, &slot);
	if (at != lane->head) {
		uint32_t ahead = pxt_tag_after(lane->mask, (uint32_t)slot.low, (uint32_t)lane->seq);

		move(pull, lane, at, lane->seq + ahead);
		return true;
	}
	if (lane->stuck_head != lane->head && !producer->gone_at)
		return false;
	move(pull, lane, lane->head, lane->head_seq);
	return true;
}

/*
 * What is at the position, unfinished, or after it, and may have returned, has no smaller
 * stamp: the first one that has begun has it, as stamps rise; but none before what was taken.
 * UINT64_MAX: nothing has begun, so all of it returns later than this.
 */
static uint64_t floor_of(const struct pxt_producer_pull *pull,
    const struct pxt_producer_memory *producer, const struct pxt_intake_lane *lane)
{
	uint64_t least = lane->least > producer->run_from ? lane->least : producer->run_from;
	uint64_t end = lane->head;
	struct pxt_halves slot;
	uint64_t at = lane->pos;

	if (!pull->last && end - at > NEAR)
		end = at + NEAR;
	/* Bound: each round moves forward, at most to head. */
	for (; (at = next_begin(lane, at, end, &slot)) != end; at++) {
		if (pxt_info_id(info_of(slot)) != PXT_ID_MARK)
			return slot.high > least ? slot.high : least;
	}
	return end == lane->head ? UINT64_MAX : least;
}

/*
 * True: the wait for the record at the position is over, and it was passed over.  Where nobody
 * waits, it may be finished while the pull goes on; only what others would wait for is given up.
 */
static bool expired(struct pxt_producer_pull *pull, struct pxt_producer_memory *producer,
    struct pxt_intake_lane *lane)
{
	const uint64_t holdback = pxt_share_patience_ticks(pull->stream->block);
	uint64_t now = pxt_port_ticks();

	if (producer->gone_at)
		return pass_over(pull, producer, lane);
	/* A clock that went back since then begins anew. */
	if ((int64_t)(producer->patient_from - now) > (int64_t)(IMPATIENCE * holdback))
		producer->patient_from = now;
	if (!lane->stuck_since || lane->stuck_pos != lane->pos ||
	    (int64_t)(now - lane->stuck_since) < 0) {
		lane->stuck_pos = lane->pos;
		lane->stuck_since = now ? now : 1u;
		lane->stuck_head = lane->head;
	}
	if ((int64_t)(now - producer->patient_from) < 0)
		return pull->last && lane->floor != UINT64_MAX && pass_over(pull, producer, lane);
	if ((int64_t)(now - lane->stuck_since) < (int64_t)holdback)
		return false;
	producer->patient_from = now + IMPATIENCE * holdback;
	if (pass_over(pull, producer, lane))
		return true;
	lane->stuck_since = 0;
	return false;
}

/* ---- Record by record ---- */

enum found {
	FOUND,
	MOVED,
	STUCK,
};

/* All slots but the first.  Bound: the slots of the record. */
static bool finished(const struct pxt_intake_lane *lane, uint32_t slots)
{
	for (uint32_t i = 1; i < slots; i++) {
		uint64_t at = lane->pos + i;

		if ((uint32_t)slot_at(lane, at).low !=
		    pxt_tag(lane->mask, (uint32_t)at, (uint32_t)lane->seq))
			return false;
	}
	return true;
}

/* Whether a record with this begin slot is one that a trace point of this build makes. */
static bool well_formed(const struct pxt_producer_memory *producer, uint32_t info)
{
	uint32_t id = pxt_info_id(info);

	return (id >= PXT_ID_UNNAMED || pxt_id_is_specific(id)) && id < PXT_ID_COUNT &&
	       pxt_info_bytes(info) <= producer->max_data;
}

/* A record whose begin slot is there; @left: slots up to head. */
static enum found take_in(struct pxt_producer_pull *pull,
    const struct pxt_producer_memory *producer, struct pxt_intake_lane *lane,
    struct pxt_halves slot, uint64_t left)
{
	uint32_t info = info_of(slot);
	uint32_t id = pxt_info_id(info);
	uint64_t slots = pxt_info_slots(info, PXT_CTX_BYTES);
	uint64_t whole = slots + pxt_carry((uint32_t)lane->seq);

	if (id == PXT_ID_MARK) {
		lane->pos++;
		return MOVED;
	}
	/* The cursor takes the slots of a record in one step. */
	if (whole > left) {
		move(pull, lane, lane->head, lane->head_seq);
		return MOVED;
	}
	/* What a stream says of itself is the producer's own. */
	if (id >= PXT_ID_SYSTEM_FIRST && id <= PXT_ID_SYSTEM_LAST &&
	    !atomic_load_explicit(&producer->type[id], memory_order_relaxed)) {
		lane->pos += whole;
		lane->seq++;
		return MOVED;
	}
	if (!well_formed(producer, info)) {
		move(pull, lane, lane->pos + whole, lane->seq + 1u);
		return MOVED;
	}
	if (!finished(lane, (uint32_t)slots))
		return STUCK;
	lane->low = slot.low;
	lane->ticks = slot.high;
	return FOUND;
}

static enum found look_at_slot(struct pxt_producer_pull *pull, struct pxt_producer_memory *producer,
    struct pxt_intake_lane *lane)
{
	uint32_t want = pxt_tag(lane->mask, (uint32_t)lane->pos, (uint32_t)lane->seq);
	struct pxt_halves slot = slot_at(lane, lane->pos);

	if ((uint32_t)slot.low == (want | PXT_SLOT_BEGIN)) {
		enum found found = take_in(pull, producer, lane, slot, lane->head - lane->pos);

		if (found != STUCK)
			return found;
	} else if (!lane->lapped && pxt_tag_ahead((uint32_t)slot.low, want) > 0) {
		lapped(pull, lane);
		return MOVED;
	}
	lane->floor = floor_of(pull, producer, lane);
	if (!expired(pull, producer, lane))
		return STUCK;
	pxt_lane_passed_report(pull->stream->block, producer->gone_at ? EOWNERDEAD : ETIMEDOUT);
	return MOVED;
}

void pxt_intake_lane_fill(struct pxt_producer_pull *pull, struct pxt_producer_memory *producer,
    struct pxt_intake_lane *lane)
{
	enum found found = MOVED;

	if (pxt_intake_lane_ready(lane))
		return;
	__builtin_prefetch(&lane->cells[(uint32_t)(lane->pos + AHEAD) & lane->mask]);
	/* Bound: each round but one moves the position forward, at most to head. */
	while (found == MOVED && lane->pos != lane->head)
		found = look_at_slot(pull, producer, lane);
	lane->front = found == FOUND   ? PXT_PRODUCER_READY
	              : found == STUCK ? PXT_PRODUCER_STUCK
	                               : PXT_PRODUCER_EMPTY;
}

bool pxt_intake_lane_copy(const struct pxt_intake_lane *lane, struct pxt_slot *to)
{
	uint32_t slots = pxt_info_slots(pxt_intake_lane_info(lane), PXT_CTX_BYTES);
	struct pxt_halves slot = slot_at(lane, lane->pos);

	if (slot.low != lane->low || slot.high != lane->ticks)
		return false;
	to[0] = pxt_slot_of(slot);
	to[0].word[0] = PXT_SLOT_BEGIN;
	/* Bound: the slots of the record, which was well formed. */
	for (uint32_t i = 1; i < slots; i++) {
		uint64_t at = lane->pos + i;

		slot = slot_at(lane, at);
		to[i] = pxt_slot_of(slot);
		to[i].word[0] = 0;
		if ((uint32_t)slot.low != pxt_tag(lane->mask, (uint32_t)at, (uint32_t)lane->seq))
			return false;
	}
	return true;
}
