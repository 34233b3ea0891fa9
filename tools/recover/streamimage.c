/* SPDX-License-Identifier: MIT */
/* streamimage.c - a stream's block: its words, its counts, what is beside its lanes; the head of a log of it. */
#include "tools/recover/recover.h"

#include "format/logfmt_fields.h"
#include "format/position.h"
#include "format/ticks.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/*
 * More was counted than any stream can have lived to: damage, which must not spoil sums, not of as many
 * lanes as there can be.
 */
#define COUNT_MAX (UINT64_C(1) << 54)

/* ---- Numbers ---- */

static uint32_t get32(const struct pxt_streamimage *streamimage, uint64_t at)
{
	if (at > streamimage->there || streamimage->there - at < 4)
		return 0;
	return pxt_get32(streamimage->block + at, streamimage->swapped);
}

static uint64_t get64(const struct pxt_streamimage *streamimage, uint64_t at)
{
	if (at > streamimage->there || streamimage->there - at < 8)
		return 0;
	return pxt_get64(streamimage->block + at, streamimage->swapped);
}

static uint64_t believed(uint64_t count)
{
	return count < COUNT_MAX ? count : 0;
}

static uint64_t get_count(const struct pxt_streamimage *streamimage, uint64_t at)
{
	return believed(get64(streamimage, at));
}

static void get_text(
    const struct pxt_streamimage *streamimage, uint32_t at, uint32_t bytes, char *to, size_t room)
{
	size_t most = bytes < room - 1 ? bytes : room - 1;

	memset(to, 0, room);
	if (at <= streamimage->there && streamimage->there - at >= most)
		memcpy(to, streamimage->block + at, most);
}

/* ---- Numbers that writers change (port/posix/words.h) ---- */

/* A follower is at most one after, which the parity in the word before it tells. */
static uint32_t follow(uint32_t follower, uint32_t parity)
{
	return follower + ((follower ^ parity) & 1u);
}

/* [63:32] position [31:1] number of the record [0] closed */
static uint64_t get_cursor(const struct pxt_streamimage *streamimage, uint64_t at)
{
	uint32_t tail = get32(streamimage, at);
	uint32_t records = follow(get32(streamimage, at + 4), tail >> 1);
	uint32_t turns = follow(get32(streamimage, at + 8), tail >> 31);

	if (streamimage->header->form == PXT_IMAGEHEADER_WHOLE)
		return get64(streamimage, at);
	return (uint64_t)(turns << 29 | (tail >> 2 & 0x1fffffffu)) << 32 | records << 1 |
	       (tail & 1u);
}

static uint64_t get_counter(const struct pxt_streamimage *streamimage, uint64_t at)
{
	if (streamimage->header->form == PXT_IMAGEHEADER_WHOLE)
		return get_count(streamimage, at);
	return believed(pxt_count_of(get32(streamimage, at), get32(streamimage, at + 4)));
}

/* The high one is first. */
static uint64_t get_twins(const struct pxt_streamimage *streamimage, uint64_t at)
{
	if (streamimage->header->form == PXT_IMAGEHEADER_WHOLE)
		return get64(streamimage, at);
	return (uint64_t)get32(streamimage, at) << 32 | get32(streamimage, at + 4);
}

/* ---- A lane ---- */

/* The reader's own place, if it fits to what writers were told of it. */
static void get_next(
    struct pxt_streamimage *streamimage, struct pxt_streamimage_lane *lane, uint64_t at)
{
	const struct pxt_stream_header *header = streamimage->header;
	uint32_t limit = get32(streamimage, at + header->limit_at);
	uint64_t pos = get64(streamimage, at + header->state_at);
	uint64_t seq = get64(streamimage, at + header->state_at + 8);

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
	lane->next_known = !streamimage->retrieved && !streamimage->lost && !streamimage->cleared;
}

static void get_lane(
    struct pxt_streamimage *streamimage, struct pxt_streamimage_lane *lane, uint32_t index)
{
	const struct pxt_stream_header *header = streamimage->header;
	uint64_t at = header->lanes_at + index * header->lane_stride;
	uint64_t ring = (uint64_t)header->slots * header->cell_bytes;
	uint64_t cells = header->cells_at + index * ring;
	uint64_t cursor;
	uint64_t epoch;

	lane->missing = streamimage->there < at + header->lane_stride;
	if (lane->missing)
		return;
	lane->cells = streamimage->block + cells;
	lane->there = header->slots;
	if (streamimage->there < cells)
		lane->there = 0;
	else if (streamimage->there - cells < ring)
		lane->there = (uint32_t)((streamimage->there - cells) / header->cell_bytes);
	cursor = get_cursor(streamimage, at + header->head_at);
	epoch = get_twins(streamimage, at + header->epoch_at);
	lane->head_pos = pxt_epoch_pos(epoch, cursor);
	lane->head_seq = pxt_epoch_seq(epoch, cursor);
	lane->refused = get_counter(streamimage, at + header->refused_at);
	/* More positions than a quarter of all there are: the sums below could run over. */
	if (lane->head_pos >= COUNT_MAX || lane->head_seq >= COUNT_MAX ||
	    lane->head_pos < header->slots) {
		lane->missing = true;
		return;
	}
	get_next(streamimage, lane, at);
}

/* ---- Beside the lanes ---- */

/* Bytes of an out-of-band record: info, automatic (32 bits each), ticks, ctx, a STOP's data. */
#define SIDE_BYTES 28u

static void get_oobs(struct pxt_streamimage *streamimage)
{
	const struct pxt_stream_header *header = streamimage->header;
	uint64_t set_end = header->oob_set_at + header->id_count / 8u;

	for (uint32_t i = 0; i < header->oobs && header->oob_bytes >= SIDE_BYTES; i++) {
		uint64_t at = header->oobs_at + (uint64_t)i * header->oob_bytes;
		struct pxt_streamimage_oob oob = { .info = get32(streamimage, at),
			.automatic = get32(streamimage, at + 4) != 0,
			.ticks = get64(streamimage, at + 8),
			.ctx = get64(streamimage, at + 16) };
		bool start = pxt_info_id(oob.info) == PXT_ID_START;

		if (at + SIDE_BYTES > streamimage->there || set_end > streamimage->there ||
		    (!start && pxt_info_id(oob.info) != PXT_ID_STOP) ||
		    pxt_info_bytes(oob.info) > (start ? header->id_count / 8u : 4u))
			break;
		oob.data = streamimage->block + (start ? header->oob_set_at : at + 24u);
		streamimage->oobs[streamimage->oob_count++] = oob;
	}
}

bool pxt_streamimage_beyond(
    const struct pxt_streamimage *streamimage, uint32_t oob, uint32_t lane, uint64_t pos)
{
	const struct pxt_stream_header *header = streamimage->header;
	uint64_t at = header->lanes_at + lane * header->lane_stride + header->oob_pos_at;

	return (int32_t)((uint32_t)pos - get32(streamimage, at + 4u * (uint64_t)oob)) >= 0;
}

static void get_state(struct pxt_streamimage *streamimage)
{
	const struct pxt_stream_header *header = streamimage->header;
	uint64_t at = header->counts_at;

	streamimage->gate = get32(streamimage, header->gate_at);
	streamimage->retrieved = get_count(streamimage, at);
	streamimage->lost = get_count(streamimage, at + 8);
	streamimage->cleared = get_count(streamimage, at + 16);
	streamimage->barriers = get64(streamimage, at + 32);
	get_text(streamimage, header->name_at, header->name_bytes, streamimage->name,
	    sizeof streamimage->name);
	get_text(streamimage, header->generation_at, header->generation_bytes,
	    streamimage->generation, sizeof streamimage->generation);
}

/* ---- All of it ---- */

static void add_up(struct pxt_streamimage *streamimage, const struct pxt_streamimage_lane *lane)
{
	streamimage->records += lane->records;
	streamimage->read_before += lane->read_before;
	streamimage->torn += lane->torn;
	streamimage->voids += lane->voids;
	streamimage->overwritten += lane->overwritten;
	streamimage->refused += lane->refused;
	streamimage->lanes_missing += lane->missing;
}

static const char *take_block(struct pxt_streamimage *streamimage, const struct pxt_found *found)
{
	if (found->there > SIZE_MAX)
		return "it is larger than the memory of this machine";
	streamimage->block = malloc((size_t)found->there);
	streamimage->lanes = calloc(found->stream.lanes, sizeof *streamimage->lanes);
	if (!streamimage->block || !streamimage->lanes)
		return "out of memory";
	streamimage->there =
	    pxt_image_read(found->image, found->at, streamimage->block, found->there);
	return NULL;
}

/*
 * @all: what the process' own reader had read already, too, as far as it is whole.  @place: NULL, or where
 * lane 0 is read from in place of that.  NULL, or why nothing can be read.  @found must outlive it.
 */
static const char *load(struct pxt_streamimage *streamimage, const struct pxt_found *found,
    bool all, const struct pxt_streamimage_place *place)
{
	const char *wrong;

	*streamimage =
	    (struct pxt_streamimage){ .header = &found->stream, .swapped = found->swapped };
	wrong = found->wrong ? found->wrong : take_block(streamimage, found);
	if (wrong)
		return wrong;
	get_state(streamimage);
	get_oobs(streamimage);
	for (uint32_t i = 0; i < streamimage->header->lanes; i++) {
		struct pxt_streamimage_lane *lane = &streamimage->lanes[i];

		get_lane(streamimage, lane, i);
		if (place && i == 0 && place->pos <= lane->head_pos &&
		    place->seq <= lane->head_seq) {
			lane->next_pos = place->pos;
			lane->next_seq = place->seq;
			lane->next_known = true;
		}
		if (!lane->missing)
			wrong = pxt_streamimage_walk(streamimage, lane, all);
		if (wrong)
			return wrong;
		add_up(streamimage, lane);
	}
	return NULL;
}

static void unload(struct pxt_streamimage *streamimage)
{
	for (uint32_t i = 0; streamimage->lanes && i < streamimage->header->lanes; i++)
		free(streamimage->lanes[i].list);
	free(streamimage->lanes);
	free(streamimage->block);
	*streamimage = (struct pxt_streamimage){ 0 };
}

/* ---- The head of its log ---- */

#define BLOCK_BYTES 65536u

static uint64_t mix(uint64_t hash, uint64_t value)
{
	hash = (hash ^ value) * UINT64_C(0x9e3779b97f4a7c15);
	return hash ^ hash >> 29;
}

/* The same stream gives the same log, however often it is recovered. */
static void make_uuid(const struct pxt_stream_header *of, unsigned char *uuid)
{
	uint64_t half = 1;

	for (unsigned i = 0; i < PXT_LOG_UUID_BYTES; i++) {
		if (i % 8u == 0) {
			half = mix(mix(half, of->header.key), of->created_ticks);
			half = mix(mix(half, (uint64_t)of->created_sec[0]),
			    (uint64_t)of->created_nsec[0] << 32 | of->lanes);
		}
		uuid[i] = (unsigned char)(half >> 8 * (i % 8u));
	}
}

static void set_time(const struct pxt_stream_header *of, unsigned clock, struct timespec *time)
{
	time->tv_sec = (time_t)of->created_sec[clock];
	time->tv_nsec = (long)of->created_nsec[clock];
}

static void set_attr(const struct pxt_streamimage *streamimage, struct _pxt_attr *attr)
{
	const struct pxt_stream_header *of = streamimage->header;
	uint32_t ns = pxt_ticks_resolution_ns(of->hz, 0);
	trace_attr_t defaults;

	(void)posix_trace_attr_init(&defaults);
	*attr = defaults._pxt_kept;
	attr->_pxt_stream_policy = (int32_t)of->full_policy;
	attr->_pxt_log_policy = POSIX_TRACE_APPEND;
	attr->_pxt_lanes = of->lanes;
	attr->_pxt_ctx_bytes = of->ctx_bytes;
	attr->_pxt_stream_size = (uint64_t)of->slots * PXT_SLOT_BYTES;
	attr->_pxt_max_data = of->max_data;
	attr->_pxt_create_sec = of->created_sec[0];
	attr->_pxt_create_nsec = (int32_t)of->created_nsec[0];
	attr->_pxt_clockres_sec = ns / PXT_NS_PER_S;
	attr->_pxt_clockres_nsec = (int32_t)(ns % PXT_NS_PER_S);
	(void)snprintf(attr->_pxt_name, sizeof attr->_pxt_name, "%s", streamimage->name);
	(void)snprintf(
	    attr->_pxt_genversion, sizeof attr->_pxt_genversion, "%s", streamimage->generation);
}

void pxt_streamimage_head(const struct pxt_streamimage *streamimage, struct pxt_log_header *header)
{
	const struct pxt_stream_header *of = streamimage->header;

	memset(header, 0, sizeof *header);
	header->swapped = streamimage->swapped;
	header->word_bytes = (uint8_t)of->header.word_bytes;
	header->ctx_bytes = (uint8_t)of->ctx_bytes;
	header->layout = PXT_LAYOUT_SEQUENTIAL;
	header->contents =
	    (of->has_thread & 1u ? PXT_LOG_HAS_THREAD : 0u) |
	    (of->has_thread & PXT_IMAGEHEADER_LARGER ? PXT_LOG_LARGER_PRIORITY : 0u) |
	    (of->has_address ? PXT_LOG_HAS_ADDRESS : 0u) |
	    (streamimage->has_cpu ? PXT_LOG_HAS_CPU : 0u);
	make_uuid(of, header->uuid);
	header->rate.hz = of->hz;
	header->rate.source = (int)of->clock_source;
	header->rate.error_ppm = of->clock_error_ppm;
	header->created.ticks = of->created_ticks;
	set_time(of, 0, &header->created.realtime);
	set_time(of, 1, &header->created.monotonic);
	set_time(of, 2, &header->created.boottime);
	header->largest_block = BLOCK_BYTES;
	header->set_bytes = of->id_count / 8u;
	set_attr(streamimage, &header->attr);
}

#define SECONDS_MAX ((int64_t)1 << 40)

struct pxt_clock_set pxt_streamimage_clock(const struct pxt_log_header *header, uint64_t ticks)
{
	const struct pxt_clock_set *created = &header->created;
	struct pxt_clock_set end = *created;
	struct pxt_ticks line;
	struct timespec *const times[] = { &end.realtime, &end.monotonic, &end.boottime };

	for (unsigned i = 0; i < 3; i++) {
		const struct timespec anchor = *times[i];
		int64_t seconds;

		if (!anchor.tv_sec && !anchor.tv_nsec)
			continue;
		pxt_ticks_init(&line, header->rate.hz, created->ticks, &anchor);
		pxt_ticks_time(&line, ticks, times[i]);
		/* Of its own type: a time_t of 32 bits is never as large. */
		seconds = times[i]->tv_sec;
		if (seconds < anchor.tv_sec || seconds >= SECONDS_MAX)
			return *created;
	}
	end.ticks = ticks;
	return end;
}

/* ---- With its directory, and what the process told of itself ---- */

void pxt_recover_sum(const struct pxt_recovered *recovered, struct pxt_written *written)
{
	const struct pxt_streamimage *streamimage = &recovered->streamimage;

	*written = (struct pxt_written){ .events = streamimage->records,
		.overwritten = streamimage->overwritten,
		.torn = streamimage->torn,
		.voids = streamimage->voids,
		.refused = streamimage->refused,
		.earlier = streamimage->lost };
	for (uint32_t i = 0; i < streamimage->oob_count; i++)
		written->events += !streamimage->oobs[i].automatic;
	written->lost = written->overwritten + written->torn + written->voids + written->refused +
	                written->earlier;
	for (uint32_t i = 1; i <= recovered->who.threads; i++)
		written->inside += pxt_who_inside(&recovered->who, i);
}

const char *pxt_recover_load(struct pxt_recovered *recovered, const struct pxt_finds *finds,
    const struct pxt_found *found, bool all, const struct pxt_streamimage_place *place)
{
	const char *wrong;

	*recovered = (struct pxt_recovered){ 0 };
	wrong = load(&recovered->streamimage, found, all, place);
	if (!wrong)
		wrong = pxt_who_load(&recovered->who, pxt_find_directory(finds, found));
	if (!wrong)
		wrong = pxt_procinfo_load(&recovered->procinfo, found);
	if (wrong)
		pxt_recover_free(recovered);
	return wrong;
}

void pxt_recover_free(struct pxt_recovered *recovered)
{
	unload(&recovered->streamimage);
	pxt_who_free(&recovered->who);
	pxt_procinfo_free(&recovered->procinfo);
}
