/* SPDX-License-Identifier: MIT */
/*
 * walk.c - the records of one lane of an image: whole, overwritten or never finished, as core/read/lane.c
 * decides it in a living stream.
 */
#include "tools/recover/recover.h"

#include "format/ids.h"
#include "format/logfmt_fields.h"
#include "format/position.h"

#include <stdlib.h>
#include <string.h>

/* ---- Slots ---- */

/*
 * words.h: tag, six words with a lap in the high half and 16 bits of payload in the low one.  A cell
 * is whole when all laps are that of the tag.
 */
static bool get_words(
    const unsigned char *cell, bool swapped, uint32_t slots, struct pxt_slot *slot)
{
	uint32_t tag = pxt_get32(cell, swapped);
	uint32_t lap = (tag & PXT_TAG_MASK) / slots << 16;
	uint32_t half[6];

	for (unsigned i = 0; i < 6; i++) {
		half[i] = pxt_get32(cell + 4 + (size_t)4 * i, swapped) ^ lap;
		if (half[i] > 0xffffu)
			return false;
	}
	slot->word[0] = tag;
	slot->word[1] = half[0] | half[1] << 16;
	slot->word[2] = half[2] | half[3] << 16;
	slot->word[3] = half[4] | half[5] << 16;
	return true;
}

bool pxt_streamimage_slot(const struct pxt_streamimage *streamimage,
    const struct pxt_streamimage_lane *lane, uint64_t pos, struct pxt_slot *slot)
{
	uint32_t slots = streamimage->header->slots;
	uint32_t index = (uint32_t)pos & (slots - 1u);
	const unsigned char *cell = lane->cells + (size_t)index * streamimage->header->cell_bytes;

	if (index >= lane->there)
		return false;
	if (streamimage->header->form == PXT_IMAGEHEADER_WORDS)
		return get_words(cell, streamimage->swapped, slots, slot);
	for (unsigned i = 0; i < 4; i++)
		slot->word[i] = pxt_get32(cell + (size_t)4 * i, streamimage->swapped);
	return true;
}

/* ---- Tags ---- */

struct walk {
	const struct pxt_streamimage *streamimage;
	struct pxt_streamimage_lane *lane;
	uint32_t mask;
	uint64_t pos;
	uint64_t seq;
	bool known; /* seq is */
	bool unread;
	uint64_t lost; /* since the last of the list */
	size_t room;
};

static uint32_t tag_of(const struct walk *walk, uint64_t pos)
{
	return pxt_tag(walk->mask, (uint32_t)pos, (uint32_t)walk->seq);
}

/* Some record begins in the slot at @pos, in this lap. */
static bool begins_at(const struct walk *walk, uint64_t pos, struct pxt_slot *slot)
{
	return pxt_streamimage_slot(walk->streamimage, walk->lane, pos, slot) &&
	       pxt_tag_begins(walk->mask, slot->word[0], (uint32_t)pos);
}

/* The number of the record that begins in @slot.  False: there is no such number. */
static bool number_of(const struct walk *walk, const struct pxt_slot *slot, uint64_t *seq)
{
	uint32_t back = pxt_tag_before(
	    walk->mask, slot->word[0], slot->word[1], (uint32_t)walk->lane->head_seq);

	*seq = walk->lane->head_seq - back;
	return back <= walk->lane->head_seq;
}

/* ---- The list ---- */

static bool keep(struct walk *walk, const struct pxt_remain *one)
{
	struct pxt_streamimage_lane *lane = walk->lane;

	if (lane->count == walk->room) {
		size_t room = walk->room ? walk->room * 2 : 256;
		void *larger = realloc(lane->list, room * sizeof *lane->list);

		if (!larger)
			return false;
		lane->list = larger;
		walk->room = room;
	}
	lane->list[lane->count] = *one;
	lane->list[lane->count].away = (uint32_t)(walk->pos - lane->from);
	lane->list[lane->count].lost = (uint32_t)walk->lost & 0x7fffffffu;
	lane->count++;
	lane->records += !one->mark;
	lane->read_before += !one->mark && !walk->unread;
	walk->lost = 0;
	return true;
}

/* Records that are not there; what is before the reader's place was counted by it. */
static void lose(struct walk *walk, uint64_t records, uint64_t *count)
{
	if (!walk->unread)
		return;
	*count += records;
	walk->lost += records;
}

/* ---- One step ---- */

static bool is_whole(const struct walk *walk, uint32_t slots, uint64_t end)
{
	struct pxt_slot slot;

	if (slots > end - walk->pos)
		return false;
	for (uint32_t i = 1; i < slots; i++) {
		if (!pxt_streamimage_slot(walk->streamimage, walk->lane, walk->pos + i, &slot) ||
		    slot.word[0] != tag_of(walk, walk->pos + i))
			return false;
	}
	return true;
}

/* The record whose number carries into the position leaves one slot after it unused. */
static void step(struct walk *walk, uint64_t slots, uint64_t end)
{
	uint64_t next = walk->pos + slots + pxt_carry((uint32_t)walk->seq);

	walk->pos = next < end ? next : end;
	walk->seq++;
}

/* What begins at walk->pos, as expected.  False: there is no memory. */
static bool take(struct walk *walk, struct pxt_streamimage *streamimage,
    const struct pxt_slot *slot, uint64_t end)
{
	uint32_t id = pxt_info_id(slot->word[1]);
	struct pxt_remain one = { .ticks = pxt_slot_ticks(slot), .mark = id == PXT_ID_MARK };
	uint32_t slots = pxt_info_slots(slot->word[1], streamimage->header->ctx_bytes);

	if (id == PXT_ID_MARK) {
		/* What the lane refused is counted in its words. */
		bool kept = pxt_info_bytes(slot->word[1]) == PXT_MARK_REFUSED || keep(walk, &one);

		walk->pos++;
		return kept;
	}
	if (id == PXT_ID_VOID) {
		/* As many slots as its writer had asked for. */
		slots = slot->word[2] && slot->word[2] <= walk->mask ? slot->word[2] : 1u;
		lose(walk, 1, &walk->lane->voids);
	} else if (id != 0 && is_whole(walk, slots, end)) {
		if (!keep(walk, &one))
			return false;
		streamimage->has_cpu |= pxt_info_cpu(slot->word[1]) != PXT_CPU_UNKNOWN;
	} else {
		lose(walk, 1, &walk->lane->torn);
	}
	step(walk, slots, end);
	return true;
}

/* Nothing begins at walk->pos that should: goes to what begins next in this lap. */
static void skip(struct walk *walk, uint64_t end)
{
	struct pxt_slot slot;
	uint64_t seq;

	for (uint64_t at = walk->pos + 1u; at < end; at++) {
		if (!begins_at(walk, at, &slot))
			continue;
		/* Fewer than a lap has slots lie between; none, if what is here is a mark. */
		seq = walk->seq + pxt_tag_after(walk->mask, slot.word[0], (uint32_t)walk->seq);
		if (seq > walk->lane->head_seq)
			continue;
		lose(walk, seq - walk->seq, &walk->lane->torn);
		walk->pos = at;
		walk->seq = seq;
		return;
	}
	walk->pos = end;
}

/* ---- A stretch of the lane ---- */

/* The first whole beginning from walk->pos on: it tells its number. */
static bool find_whole(struct walk *walk, uint64_t end)
{
	struct pxt_slot slot;

	for (; walk->pos < end; walk->pos++)
		if (begins_at(walk, walk->pos, &slot) && number_of(walk, &slot, &walk->seq))
			return true;
	return false;
}

static const char *stretch(struct walk *walk, struct pxt_streamimage *streamimage, uint64_t end)
{
	struct pxt_slot slot;

	while (walk->pos < end) {
		bool there = pxt_streamimage_slot(streamimage, walk->lane, walk->pos, &slot);

		if (!there || slot.word[0] != (tag_of(walk, walk->pos) | PXT_SLOT_BEGIN))
			skip(walk, end);
		else if (!take(walk, streamimage, &slot, end))
			return "out of memory";
	}
	return NULL;
}

/* Records that the reader had taken. */
static const char *walk_read(struct walk *walk, struct pxt_streamimage *streamimage)
{
	walk->unread = false;
	if (!find_whole(walk, walk->lane->next_pos))
		return NULL;
	return stretch(walk, streamimage, walk->lane->next_pos);
}

/* Where the unread ones begin, and what was lost before them. */
static void begin_unread(struct walk *walk, bool lapped)
{
	struct pxt_streamimage_lane *lane = walk->lane;
	uint64_t expected = lane->next_seq;
	struct pxt_slot slot;

	walk->unread = true;
	walk->lost = 0;
	walk->pos = lapped ? lane->head_pos - walk->mask - 1u : lane->next_pos;
	walk->seq = expected;
	/* The reader may have died between its two words: the slot knows better. */
	if (!lapped && lane->next_known &&
	    !(begins_at(walk, walk->pos, &slot) &&
	        pxt_tag_after(walk->mask, slot.word[0], (uint32_t)expected)))
		return;
	if (!find_whole(walk, lane->head_pos))
		walk->seq = lane->head_seq;
	if (!lane->next_known || walk->seq < expected)
		return;
	if (lapped)
		lane->overwritten = walk->seq - expected;
}

const char *pxt_streamimage_walk(
    struct pxt_streamimage *streamimage, struct pxt_streamimage_lane *lane, bool all)
{
	uint32_t slots = streamimage->header->slots;
	uint64_t oldest = lane->head_pos - slots;
	bool lapped = lane->next_pos < oldest;
	struct walk walk = { .streamimage = streamimage, .lane = lane, .mask = slots - 1u };
	const char *wrong = NULL;

	lane->from = lapped || all ? oldest : lane->next_pos;
	walk.pos = lane->from;
	if (all && !lapped)
		wrong = walk_read(&walk, streamimage);
	lane->first_unread = lane->count;
	if (wrong)
		return wrong;
	begin_unread(&walk, lapped);
	lane->first_seq = walk.seq;
	wrong = stretch(&walk, streamimage, lane->head_pos);
	if (wrong)
		return wrong;
	if (walk.seq < lane->head_seq)
		lose(&walk, lane->head_seq - walk.seq, &lane->torn);
	lane->lost_behind = walk.lost;
	return NULL;
}

struct pxt_streamimage_place pxt_streamimage_after(const struct pxt_streamimage *streamimage,
    const struct pxt_streamimage_lane *lane, size_t index)
{
	struct pxt_streamimage_place place = { .seq = lane->first_seq };
	struct pxt_slot slot;

	for (size_t i = lane->first_unread; i <= index; i++)
		place.seq += (uint64_t)lane->list[i].lost + (lane->list[i].mark ? 0u : 1u);
	place.pos = pxt_streamimage_pos(lane, &lane->list[index]) + 1u;
	if (!lane->list[index].mark &&
	    pxt_streamimage_slot(streamimage, lane, place.pos - 1u, &slot))
		place.pos += pxt_info_slots(slot.word[1], streamimage->header->ctx_bytes) - 1u +
		             pxt_carry((uint32_t)place.seq - 1u);
	return place;
}

/*
 * ---- Which lane's front comes next, of those that remain ----
 *
 * The rules are core/read/merge.c's.
 */

static const struct pxt_remain *front_of(const struct pxt_streamimage_lane *lane)
{
	return lane->front < lane->count ? &lane->list[lane->front] : NULL;
}

/* A mark at the front is passed; one that counts backwards is none. */
static void pass_marks(struct pxt_streamimage_lane *lane)
{
	const struct pxt_remain *front;

	while ((front = front_of(lane)) != NULL && front->mark) {
		lane->barrier = front->ticks > lane->barrier ? front->ticks : lane->barrier;
		lane->front++;
	}
}

void pxt_order_begin(struct pxt_order *order, struct pxt_streamimage *streamimage)
{
	*order = (struct pxt_order){ .streamimage = streamimage };
	for (uint32_t i = 0; i < streamimage->header->lanes; i++) {
		struct pxt_streamimage_lane *lane = &streamimage->lanes[i];
		size_t at = 0;

		lane->front = 0;
		while (at < lane->count && !lane->list[at].mark)
			at++;
		/* One before its next mark; without one it has passed them all. */
		lane->barrier = at < lane->count && lane->list[at].ticks ? lane->list[at].ticks - 1u
		                                                         : streamimage->barriers;
		pass_marks(lane);
	}
}

static bool has_oob(const struct pxt_order *order)
{
	return order->oob < order->streamimage->oob_count;
}

/* The front of lane @index comes after the next START or STOP that is beside the lanes. */
static bool behind_oob(const struct pxt_order *order, uint32_t index)
{
	const struct pxt_streamimage_lane *lane = &order->streamimage->lanes[index];

	return has_oob(order) && pxt_streamimage_beyond(order->streamimage, order->oob, index,
	                             pxt_streamimage_pos(lane, front_of(lane)));
}

static bool is_control(
    const struct pxt_streamimage *streamimage, const struct pxt_streamimage_lane *lane)
{
	struct pxt_slot slot;
	uint32_t id;

	if (!pxt_streamimage_slot(
	        streamimage, lane, pxt_streamimage_pos(lane, front_of(lane)), &slot))
		return false;
	id = pxt_info_id(slot.word[1]);
	return id == PXT_ID_START || id == PXT_ID_STOP;
}

/* What has the fewest marks before it comes first; of these lane 0's START or STOP; the oldest. */
enum pxt_order_next pxt_order_next(struct pxt_order *order, uint32_t *chosen)
{
	const struct pxt_streamimage *streamimage = order->streamimage;
	uint64_t marks = UINT64_MAX;
	uint64_t least = 0;
	bool found = false;

	for (uint32_t i = 0; i < streamimage->header->lanes; i++) {
		const struct pxt_streamimage_lane *lane = &streamimage->lanes[i];
		const struct pxt_remain *front = front_of(lane);
		uint64_t ticks;

		if (!front || lane->barrier > marks)
			continue;
		found &= lane->barrier == marks;
		marks = lane->barrier;
		if (behind_oob(order, i))
			continue;
		ticks = i == 0 && is_control(streamimage, lane) ? 0 : front->ticks;
		if (found && ticks >= least)
			continue;
		least = ticks;
		*chosen = i;
		found = true;
	}
	if (found)
		return PXT_ORDER_RECORD;
	/* Nothing waits for a record beside the lanes whose places contradict the marks. */
	return has_oob(order) ? PXT_ORDER_SIDE : PXT_ORDER_END;
}

void pxt_order_done(struct pxt_order *order, enum pxt_order_next next, uint32_t lane)
{
	if (next == PXT_ORDER_SIDE) {
		order->oob++;
	} else if (next == PXT_ORDER_RECORD) {
		order->streamimage->lanes[lane].front++;
		pass_marks(&order->streamimage->lanes[lane]);
	}
}
