/* SPDX-License-Identifier: MIT */
/*
 * guestlane.c - one lane of a guest: which records are finished, which were overwritten, which
 * will never be finished.  As core/lane.c, but nothing is believed, and nothing is written there.
 *
 * Each step moves the position forward, at most to the head that was read at the beginning of the
 * pull, which is at most a ring away; so a pull ends whatever the guest does meanwhile.
 */
#include "attach/intake.h"
#include "core/control.h"

/* Behind a record that never became finished, others do not wait for this guest, for so many times
 * the hold-back time: a guest that does it on purpose holds back one part in so many. */
#define IMPATIENCE 64u

/* A difference of more than this is a lie: 2^44 slots take days. */
#define FAR (UINT64_C(1) << 44)

static struct pxt_halves slot_at(
    const struct pxt_guest_memory *guest, const struct pxt_guest_lane *lane, uint64_t pos)
{
	return pxt_slot_view(&lane->cells[(uint32_t)pos & guest->mask], guest->mask);
}

static uint32_t info_of(struct pxt_halves slot)
{
	return (uint32_t)(slot.low >> 32);
}

static void read_head(const struct pxt_guest_lane *lane, uint64_t *pos, uint64_t *seq)
{
	uint64_t head = pxt_cursor_view(&lane->words->head);
	uint64_t epoch = pxt_twins_load((pxt_twins *)(uintptr_t)&lane->words->epoch);

	*pos = pxt_epoch_widen(pxt_epoch_half((uint32_t)(epoch >> 32)), pxt_head_pos(head), 30);
	*seq = pxt_epoch_widen(pxt_epoch_half((uint32_t)epoch), pxt_head_seq(head), 29);
}

void pxt_guest_lane_begin(struct pxt_guest_lane *lane, const struct pxt_guest_memory *guest,
    uint32_t index, uint64_t clock)
{
	size_t stride = sizeof(struct pxt_lane) + (guest->mask + (size_t)1u) * sizeof(pxt_cell);
	const unsigned char *at = guest->memory + sizeof(struct pxt_block) + index * stride;

	lane->words = (const struct pxt_lane *)(const void *)at;
	lane->cells = (const pxt_cell *)(const void *)(at + sizeof(struct pxt_lane));
	lane->pos = guest->mask + UINT64_C(1);
	lane->head = lane->pos;
	lane->since = clock;
}

/* ---- Moving forward other than record by record ---- */

/* Where and at which number the lane goes on; what lies between is lost. */
static void move(
    struct pxt_guest_pull *pull, struct pxt_guest_lane *lane, uint64_t pos, uint64_t seq)
{
	uint64_t slots = pos - lane->pos;
	uint64_t records = seq - lane->seq;

	/* No more records than slots, forward only: else somebody lied, and lost what nobody knows. */
	pull->lost += records <= slots && slots <= FAR ? records : 1u;
	lane->pos = pos;
	lane->seq = seq;
	lane->stuck_since = 0;
}

static bool begins_here(const struct pxt_guest_memory *guest, struct pxt_halves slot, uint64_t pos)
{
	uint32_t tag = (uint32_t)slot.low;

	return (tag & PXT_SLOT_BEGIN) && ((tag ^ (uint32_t)pos) & ~guest->mask & PXT_TAG_MASK) == 0;
}

/* The number of the record that begins in @slot, one of the newest N before number @last. */
static uint64_t number_of(
    const struct pxt_guest_memory *guest, struct pxt_halves slot, uint64_t last)
{
	uint32_t back = ((uint32_t)last - (uint32_t)slot.low) & guest->mask;

	if (!back && pxt_info_id(info_of(slot)) != PXT_ID_MARK)
		back = guest->mask + 1u;
	return last - back;
}

/* What was looked at and stands before @oldest is not there any more. */
static void drop_overwritten(
    struct pxt_guest_pull *pull, struct pxt_guest_lane *lane, uint64_t oldest)
{
	uint32_t kept = 0;

	for (uint32_t i = lane->first; i < lane->last; i++) {
		if ((int64_t)(lane->ahead[i].pos - oldest) < 0)
			pull->lost++;
		else
			lane->ahead[kept++] = lane->ahead[i];
	}
	lane->first = 0;
	lane->last = kept;
}

/* Writers get more room each time, up to half a lap, or a slow owner never finds what stays. */
static uint32_t slack_for(struct pxt_guest_lane *lane, uint32_t size)
{
	uint32_t next = lane->slack ? lane->slack * 2u : size / 16u;

	lane->slack = next > size / 2u ? size / 2u : next;
	return lane->slack;
}

/*
 * More than a ring was recorded since, or the guest's words make no sense.  What is left is
 * delivered late, perhaps, as in any stream that was overwritten.
 */
static void lapped(
    struct pxt_guest_pull *pull, const struct pxt_guest_memory *guest, struct pxt_guest_lane *lane)
{
	uint32_t size = guest->mask + 1u;
	uint64_t from;
	uint64_t number;

	lane->lapped = true;
	read_head(lane, &lane->head, &lane->head_seq);
	lane->looks = 0;
	lane->since = pull->clock;
	lane->top[0] = 0;
	lane->top[1] = 0;
	drop_overwritten(pull, lane, lane->head - size);
	number = lane->head_seq;
	if (lane->head - lane->pos > FAR) {
		move(pull, lane, lane->head, number);
		return;
	}
	from = lane->head - size + slack_for(lane, size);
	if ((int64_t)(from - lane->pos) < 0)
		from = lane->pos;
	for (; from != lane->head; from++) {
		struct pxt_halves slot = slot_at(guest, lane, from);

		if (begins_here(guest, slot, from)) {
			number = number_of(guest, slot, number);
			break;
		}
	}
	move(pull, lane, from, number);
}

void pxt_guest_lane_look(
    struct pxt_guest_pull *pull, struct pxt_guest_memory *guest, struct pxt_guest_lane *lane)
{
	uint64_t slots;
	struct pxt_guest_look *look;

	lane->lapped = false;
	lane->stuck = false;
	read_head(lane, &lane->head, &lane->head_seq);
	slots = lane->head - lane->pos;
	if (slots > guest->mask + UINT64_C(1) || lane->head_seq - lane->seq > slots) {
		lapped(pull, guest, lane);
		return;
	}
	look = &lane->look[lane->looks < PXT_GUEST_LOOKS ? lane->looks++ : PXT_GUEST_LOOKS - 1u];
	look->head = lane->head;
	look->clock = pull->clock;
}

uint64_t pxt_guest_lane_floor(struct pxt_guest_lane *lane)
{
	while (lane->looks && (int64_t)(lane->pos - lane->look[0].head) >= 0) {
		lane->since = lane->look[0].clock;
		lane->looks--;
		for (uint32_t i = 0; i < lane->looks; i++)
			lane->look[i] = lane->look[i + 1u];
	}
	return lane->top[1] > lane->since ? lane->top[1] : lane->since;
}

/* ---- Unfinished records ---- */

/*
 * The record at the position is given up.  Its begin slot, if it is there, says where the next one
 * starts; else the next begin slot does.  False: nothing begins behind it, and what was reserved
 * only lately gets its own time.
 */
static bool pass_over(
    struct pxt_guest_pull *pull, struct pxt_guest_memory *guest, struct pxt_guest_lane *lane)
{
	uint64_t left = lane->head - lane->pos;
	uint32_t want = pxt_tag(guest->mask, (uint32_t)lane->pos, (uint32_t)lane->seq);
	struct pxt_halves slot = slot_at(guest, lane, lane->pos);

	if ((uint32_t)slot.low == (want | PXT_SLOT_BEGIN)) {
		uint64_t slots =
		    pxt_info_slots(info_of(slot), PXT_CTX_BYTES) + pxt_carry((uint32_t)lane->seq);

		if (slots <= left) {
			move(pull, lane, lane->pos + slots, lane->seq + 1u);
			return true;
		}
	}
	for (uint64_t at = lane->pos + 1u; at != lane->head; at++) {
		slot = slot_at(guest, lane, at);
		if (begins_here(guest, slot, at)) {
			uint32_t ahead = ((uint32_t)slot.low - (uint32_t)lane->seq) & guest->mask;

			move(pull, lane, at, lane->seq + ahead);
			return true;
		}
	}
	if (lane->stuck_head != lane->head && !guest->gone_at)
		return false;
	move(pull, lane, lane->head, lane->head_seq);
	return true;
}

/* True: the wait for the record at the position is over, and it was passed over. */
static bool expired(
    struct pxt_guest_pull *pull, struct pxt_guest_memory *guest, struct pxt_guest_lane *lane)
{
	uint64_t now = pxt_port_ticks();

	if (guest->gone_at)
		return pass_over(pull, guest, lane);
	if (!lane->stuck_since || lane->stuck_pos != lane->pos) {
		lane->stuck_pos = lane->pos;
		lane->stuck_since = now ? now : 1u;
		lane->stuck_head = lane->head;
		return false;
	}
	if ((int64_t)(now - lane->stuck_since) < (int64_t)pxt_holdback_ticks())
		return false;
	guest->patient_from = now + IMPATIENCE * pxt_holdback_ticks();
	if (pass_over(pull, guest, lane))
		return true;
	lane->stuck_since = 0;
	return false;
}

/* ---- Record by record ---- */

enum found {
	MOVED,
	STUCK
};

static void add(struct pxt_guest_lane *lane, struct pxt_halves slot)
{
	uint32_t at;

	if (slot.high > lane->top[0]) {
		lane->top[1] = lane->top[0];
		lane->top[0] = slot.high;
	} else if (slot.high > lane->top[1]) {
		lane->top[1] = slot.high;
	}
	if (lane->last == 2u * PXT_GUEST_AHEAD) {
		memmove(lane->ahead, &lane->ahead[lane->first],
		    (lane->last - lane->first) * sizeof(lane->ahead[0]));
		lane->last -= lane->first;
		lane->first = 0;
	}
	for (at = lane->last++; at > lane->first && lane->ahead[at - 1u].ticks > slot.high; at--)
		lane->ahead[at] = lane->ahead[at - 1u];
	lane->ahead[at] = (struct pxt_guest_record){ lane->pos, slot.low, slot.high };
}

/* All slots but the first.  Bound: the slots of the record. */
static bool finished(
    const struct pxt_guest_memory *guest, const struct pxt_guest_lane *lane, uint32_t slots)
{
	for (uint32_t i = 1; i < slots; i++) {
		uint64_t at = lane->pos + i;

		if ((uint32_t)slot_at(guest, lane, at).low !=
		    pxt_tag(guest->mask, (uint32_t)at, (uint32_t)lane->seq))
			return false;
	}
	return true;
}

/* Whether a record with this begin slot is one that a trace point of this build makes. */
static bool well_formed(const struct pxt_guest_memory *guest, uint32_t info)
{
	uint32_t id = pxt_info_id(info);

	return id >= PXT_ID_UNNAMED && id < PXT_ID_COUNT && pxt_info_bytes(info) <= guest->max_data;
}

/* A record whose begin slot is there; @left: slots up to head. */
static enum found take_in(struct pxt_guest_pull *pull, const struct pxt_guest_memory *guest,
    struct pxt_guest_lane *lane, struct pxt_halves slot, uint64_t left)
{
	uint32_t info = info_of(slot);
	uint32_t id = pxt_info_id(info);
	uint64_t slots =
	    id == PXT_ID_VOID ? (uint32_t)slot.high : pxt_info_slots(info, PXT_CTX_BYTES);
	uint64_t whole = slots + pxt_carry((uint32_t)lane->seq);

	if (id == PXT_ID_MARK) {
		lane->pos++;
		return MOVED;
	}
	/* The cursor takes the slots of a record in one step. */
	if (!slots || whole > left) {
		move(pull, lane, lane->head, lane->head_seq);
		return MOVED;
	}
	/* Trace points make no voids any more; system events are the guest's own. */
	if (id == PXT_ID_VOID || (id >= PXT_ID_SYSTEM_FIRST && id <= PXT_ID_SYSTEM_LAST)) {
		lane->pos += whole;
		lane->seq++;
		return MOVED;
	}
	if (!well_formed(guest, info)) {
		move(pull, lane, lane->pos + whole, lane->seq + 1u);
		return MOVED;
	}
	if (!finished(guest, lane, (uint32_t)slots))
		return STUCK;
	add(lane, slot);
	lane->pos += whole;
	lane->seq++;
	return MOVED;
}

static enum found look_at_slot(
    struct pxt_guest_pull *pull, struct pxt_guest_memory *guest, struct pxt_guest_lane *lane)
{
	uint32_t want = pxt_tag(guest->mask, (uint32_t)lane->pos, (uint32_t)lane->seq);
	struct pxt_halves slot = slot_at(guest, lane, lane->pos);

	if ((uint32_t)slot.low == (want | PXT_SLOT_BEGIN)) {
		if (take_in(pull, guest, lane, slot, lane->head - lane->pos) == MOVED)
			return MOVED;
	} else if (!lane->lapped && pxt_tag_ahead((uint32_t)slot.low, want) > 0) {
		lapped(pull, guest, lane);
		return MOVED;
	}
	return expired(pull, guest, lane) ? MOVED : STUCK;
}

void pxt_guest_lane_fill(
    struct pxt_guest_pull *pull, struct pxt_guest_memory *guest, struct pxt_guest_lane *lane)
{
	lane->stuck = false;
	/* Bound: each round but one moves the position forward, at most to head. */
	while (lane->pos != lane->head && lane->last - lane->first < PXT_GUEST_AHEAD) {
		if (look_at_slot(pull, guest, lane) == STUCK) {
			lane->stuck = true;
			return;
		}
	}
}

bool pxt_guest_lane_copy(struct pxt_guest_memory *guest, const struct pxt_guest_lane *lane,
    const struct pxt_guest_record *record)
{
	uint32_t slots = pxt_info_slots((uint32_t)(record->low >> 32), PXT_CTX_BYTES);
	struct pxt_halves slot = slot_at(guest, lane, record->pos);
	unsigned char *to = guest->payload;

	if (slot.low != record->low || slot.high != record->ticks)
		return false;
	/* Bound: the slots of the record, which was well formed. */
	for (uint32_t i = 1; i < slots; i++, to += PXT_SLOT_PAYLOAD) {
		uint64_t at = record->pos + i;
		uint32_t first;

		slot = slot_at(guest, lane, at);
		if ((uint32_t)slot.low != pxt_tag(guest->mask, (uint32_t)at, (uint32_t)record->low))
			return false;
		first = (uint32_t)(slot.low >> 32);
		memcpy(to, &first, 4);
		memcpy(to + 4, &slot.high, 8);
	}
	return true;
}
