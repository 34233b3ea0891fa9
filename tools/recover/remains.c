/* SPDX-License-Identifier: MIT */
/* remains.c - a stream's block: its words, its counts, what is beside its lanes. */
#include "tools/recover/remains.h"

#include "format/logfmt_bytes.h"

#include <stdlib.h>
#include <string.h>

/*
 * More was counted than any stream can have lived to: damage, which must not spoil sums, not of as many
 * lanes as there can be.
 */
#define COUNT_MAX (UINT64_C(1) << 54)

/* ---- Numbers ---- */

static uint32_t get32(const struct pxt_remains *remains, uint64_t at)
{
	if (at > remains->there || remains->there - at < 4)
		return 0;
	return pxt_get32(remains->block + at, remains->swapped);
}

static uint64_t get64(const struct pxt_remains *remains, uint64_t at)
{
	if (at > remains->there || remains->there - at < 8)
		return 0;
	return pxt_get64(remains->block + at, remains->swapped);
}

static uint64_t believed(uint64_t count)
{
	return count < COUNT_MAX ? count : 0;
}

static uint64_t get_count(const struct pxt_remains *remains, uint64_t at)
{
	return believed(get64(remains, at));
}

static void get_text(
    const struct pxt_remains *remains, uint32_t at, uint32_t bytes, char *to, size_t room)
{
	size_t most = bytes < room - 1 ? bytes : room - 1;

	memset(to, 0, room);
	if (at <= remains->there && remains->there - at >= most)
		memcpy(to, remains->block + at, most);
}

/* ---- Numbers that writers change (port/posix/words.h) ---- */

/* A follower is at most one after, which the parity in the word before it tells. */
static uint32_t follow(uint32_t follower, uint32_t parity)
{
	return follower + ((follower ^ parity) & 1u);
}

/* [63:32] position [31:1] number of the record [0] closed */
static uint64_t get_cursor(const struct pxt_remains *remains, uint64_t at)
{
	uint32_t tail = get32(remains, at);
	uint32_t records = follow(get32(remains, at + 4), tail >> 1);
	uint32_t turns = follow(get32(remains, at + 8), tail >> 31);

	if (remains->header->form == PXT_IMAGEHEADER_WHOLE)
		return get64(remains, at);
	return (uint64_t)(turns << 29 | (tail >> 2 & 0x1fffffffu)) << 32 | records << 1 |
	       (tail & 1u);
}

static uint64_t get_counter(const struct pxt_remains *remains, uint64_t at)
{
	uint32_t low = get32(remains, at);
	uint32_t turns = follow(get32(remains, at + 4), low >> 31);

	if (remains->header->form == PXT_IMAGEHEADER_WHOLE)
		return get_count(remains, at);
	return believed((uint64_t)(turns >> 1) << 32 | low);
}

/* The high one is first. */
static uint64_t get_twins(const struct pxt_remains *remains, uint64_t at)
{
	if (remains->header->form == PXT_IMAGEHEADER_WHOLE)
		return get64(remains, at);
	return (uint64_t)get32(remains, at) << 32 | get32(remains, at + 4);
}

/* How often a number ran through a quarter of its range, and the number's low bits. */
static uint64_t widen(uint32_t half, uint32_t value, unsigned bits)
{
	uint32_t quarters = half << 2 | half >> 30;
	uint32_t ahead = ((value >> bits) - quarters) & 3u;
	uint64_t whole = quarters;

	/* 3: the epoch was brought forward, the cursor is of the quarter before. */
	whole += ahead == 3u ? UINT64_MAX : ahead;
	return whole << bits | (value & ((1u << bits) - 1u));
}

/* ---- A lane ---- */

/* The reader's own place, if it fits to what writers were told of it. */
static void get_next(struct pxt_remains *remains, struct pxt_remains_lane *lane, uint64_t at)
{
	const struct pxt_stream_header *header = remains->header;
	uint32_t limit = get32(remains, at + header->limit_at);
	uint64_t pos = get64(remains, at + header->state_at);
	uint64_t seq = get64(remains, at + header->state_at + 8);

	if (header->state_at && pos <= lane->head_pos && seq <= lane->head_seq &&
	    (uint32_t)pos - limit <= header->slots) {
		lane->next_pos = pos;
		lane->next_seq = seq;
		lane->next_known = true;
		return;
	}
	lane->next_pos = lane->head_pos - ((uint32_t)lane->head_pos - limit);
	if (lane->next_pos > lane->head_pos)
		lane->next_pos = lane->head_pos;
	/* Nothing was ever read: the numbers began with 0. */
	lane->next_known = !remains->retrieved && !remains->lost && !remains->cleared;
}

static void get_lane(struct pxt_remains *remains, struct pxt_remains_lane *lane, uint32_t index)
{
	const struct pxt_stream_header *header = remains->header;
	uint64_t at = header->lanes_at + index * header->lane_stride;
	uint64_t ring = (uint64_t)header->slots * header->cell_bytes;
	uint64_t cells = header->cells_at + index * ring;
	uint64_t cursor;
	uint64_t epoch;

	lane->missing = remains->there < at + header->lane_stride;
	if (lane->missing)
		return;
	lane->cells = remains->block + cells;
	lane->there = header->slots;
	if (remains->there < cells)
		lane->there = 0;
	else if (remains->there - cells < ring)
		lane->there = (uint32_t)((remains->there - cells) / header->cell_bytes);
	cursor = get_cursor(remains, at + header->head_at);
	epoch = get_twins(remains, at + header->epoch_at);
	lane->head_pos = widen((uint32_t)(epoch >> 32), (uint32_t)(cursor >> 32), 30);
	lane->head_seq = widen((uint32_t)epoch, (uint32_t)cursor >> 1, 29);
	lane->refused = get_counter(remains, at + header->refused_at);
	/* More positions than a quarter of all there are: the sums below could run over. */
	if (lane->head_pos >= COUNT_MAX || lane->head_seq >= COUNT_MAX ||
	    lane->head_pos < header->slots) {
		lane->missing = true;
		return;
	}
	get_next(remains, lane, at);
}

/* ---- Beside the lanes ---- */

/* Bytes of an out-of-band record: info, automatic (32 bits each), ticks, ctx, a STOP's data. */
#define SIDE_BYTES 28u

static void get_oobs(struct pxt_remains *remains)
{
	const struct pxt_stream_header *header = remains->header;
	uint64_t set_end = header->oob_set_at + header->id_count / 8u;

	for (uint32_t i = 0; i < header->oobs && header->oob_bytes >= SIDE_BYTES; i++) {
		uint64_t at = header->oobs_at + (uint64_t)i * header->oob_bytes;
		struct pxt_remains_oob oob = { .info = get32(remains, at),
			.automatic = get32(remains, at + 4) != 0,
			.ticks = get64(remains, at + 8),
			.ctx = get64(remains, at + 16) };
		bool start = pxt_info_id(oob.info) == PXT_ID_START;

		if (at + SIDE_BYTES > remains->there || set_end > remains->there ||
		    (!start && pxt_info_id(oob.info) != PXT_ID_STOP) ||
		    pxt_info_bytes(oob.info) > (start ? header->id_count / 8u : 4u))
			break;
		oob.data = remains->block + (start ? header->oob_set_at : at + 24u);
		remains->oobs[remains->oob_count++] = oob;
	}
}

bool pxt_remains_behind(
    const struct pxt_remains *remains, uint32_t oob, uint32_t lane, uint64_t pos)
{
	const struct pxt_stream_header *header = remains->header;
	uint64_t at = header->lanes_at + lane * header->lane_stride + header->oob_pos_at;

	return (int32_t)((uint32_t)pos - get32(remains, at + 4u * (uint64_t)oob)) >= 0;
}

static void get_state(struct pxt_remains *remains)
{
	const struct pxt_stream_header *header = remains->header;
	uint64_t at = header->counts_at;

	remains->gate = get32(remains, header->gate_at);
	remains->retrieved = get_count(remains, at);
	remains->lost = get_count(remains, at + 8);
	remains->cleared = get_count(remains, at + 16);
	remains->barriers = get64(remains, at + 32);
	get_text(remains, header->name_at, header->name_bytes, remains->name, sizeof remains->name);
	get_text(remains, header->generation_at, header->generation_bytes, remains->generation,
	    sizeof remains->generation);
}

/* ---- All of it ---- */

static void add_up(struct pxt_remains *remains, const struct pxt_remains_lane *lane)
{
	remains->records += lane->records;
	remains->read_before += lane->read_before;
	remains->torn += lane->torn;
	remains->voids += lane->voids;
	remains->overwritten += lane->overwritten;
	remains->refused += lane->refused;
	remains->lanes_missing += lane->missing;
}

static const char *take_block(struct pxt_remains *remains, const struct pxt_found *found)
{
	if (found->there > SIZE_MAX)
		return "it is larger than the memory of this machine";
	remains->block = malloc((size_t)found->there);
	remains->lanes = calloc(found->stream.lanes, sizeof *remains->lanes);
	if (!remains->block || !remains->lanes)
		return "out of memory";
	remains->there = pxt_image_read(found->image, found->at, remains->block, found->there);
	return NULL;
}

const char *pxt_remains_load(struct pxt_remains *remains, const struct pxt_found *found, bool all)
{
	const char *wrong;

	*remains = (struct pxt_remains){ .header = &found->stream, .swapped = found->swapped };
	wrong = found->wrong ? found->wrong : take_block(remains, found);
	if (wrong)
		return wrong;
	get_state(remains);
	get_oobs(remains);
	for (uint32_t i = 0; i < remains->header->lanes; i++) {
		struct pxt_remains_lane *lane = &remains->lanes[i];

		get_lane(remains, lane, i);
		if (!lane->missing)
			wrong = pxt_remains_walk(remains, lane, all);
		if (wrong)
			return wrong;
		add_up(remains, lane);
	}
	return NULL;
}

void pxt_remains_free(struct pxt_remains *remains)
{
	for (uint32_t i = 0; remains->lanes && i < remains->header->lanes; i++)
		free(remains->lanes[i].list);
	free(remains->lanes);
	free(remains->block);
	*remains = (struct pxt_remains){ 0 };
}
