/* SPDX-License-Identifier: MIT */
/* find.c - headers: search, byte order, checks. */
#define _GNU_SOURCE /* memmem() */
#include "tools/recover/recover.h"

#include "tools/write/logwrite.h"

#include "tools/output/out.h"

#include "format/logfmt.h"
#include "format/ticks.h"

#include <stdlib.h>
#include <string.h>

#define MAGIC_BYTES  16u
#define SECONDS_MAX  ((int64_t)1 << 40)
#define LANES_MAX    256u
#define SIDES_MAX    16u
#define SLOTS_MAX    (1u << 26)
#define SEARCH_BYTES ((size_t)1 << 20)

static const char stream_magic[MAGIC_BYTES] = PXT_STREAM_MAGIC;
static const char directory_magic[MAGIC_BYTES] = PXT_DIRECTORY_MAGIC;
static const char small_magic[MAGIC_BYTES] = PXT_SMALL_MAGIC;

/* ---- Byte order ---- */

#define STREAM(member)    offsetof(struct pxt_stream_header, member)
#define DIRECTORY(member) offsetof(struct pxt_directory_header, member)

static const struct pxt_logblocks_swap header_runs[] = { { offsetof(struct pxt_imageheader, order),
	                                                     4, 2 },
	{ offsetof(struct pxt_imageheader, bytes), 8, 2 },
	{ offsetof(struct pxt_imageheader, pid), 4, 2 } };
static const struct pxt_logblocks_swap stream_runs[] = { { STREAM(directory_at), 8, 2 },
	{ STREAM(procinfo_bytes), 4, 2 }, { STREAM(lanes_at), 8, 2 }, { STREAM(lanes), 4, 22 },
	{ STREAM(hz), 8, 5 }, { STREAM(created_nsec), 4, 10 } };
static const struct pxt_logblocks_swap directory_runs[] = { { DIRECTORY(threads_at), 4, 20 },
	{ DIRECTORY(started_sec), 8, 1 } };

#define COUNT(runs) (sizeof(runs) / sizeof *(runs))

static void turn(struct pxt_found *found, bool directory)
{
	unsigned char *bytes = (unsigned char *)&found->header;

	pxt_logblocks_swap(bytes, header_runs, COUNT(header_runs));
	if (directory)
		pxt_logblocks_swap(bytes, directory_runs, COUNT(directory_runs));
	else
		pxt_logblocks_swap(bytes, stream_runs, COUNT(stream_runs));
}

/* ---- Whether it can be ---- */

/* @count pieces of @bytes from @at on lie within @room. */
static bool within(uint64_t at, uint64_t count, uint64_t bytes, uint64_t room)
{
	return at <= room && (bytes == 0 || count <= (room - at) / bytes);
}

static const char *check_common(const struct pxt_found *found, uint64_t least)
{
	const struct pxt_imageheader *header = &found->header;

	if (header->version > PXT_IMAGEHEADER_VERSION)
		return "it was made by a newer libptrace than this pxtrace knows";
	if (header->version < PXT_IMAGEHEADER_VERSION)
		return "it was made by an older libptrace: take the pxtrace of that one";
	if (header->word_bytes != 4 && header->word_bytes != 8)
		return "its pointers have neither 4 nor 8 bytes";
	if (header->bytes < least)
		return "it is shorter than its header";
	return NULL;
}

static const char *check_records(const struct pxt_stream_header *header)
{
	uint32_t address = header->header.word_bytes == 8 ? 6u : 4u;
	uint32_t thread = header->has_thread & ~(PXT_IMAGEHEADER_LARGER | PXT_IMAGEHEADER_SHORT);

	if (thread > 1 || header->has_address > 1 ||
	    header->ctx_bytes != (thread ? 2u : 0u) + (header->has_address ? address : 0u))
		return "the context's size does not fit what it is said to hold";
	if (header->max_data > PXT_DATA_MAX)
		return "its events are larger than any can be";
	if (!pxt_logfmt_is_stream_policy((int)header->full_policy))
		return "its policy does not exist";
	if (header->id_count % 32u || header->id_count > PXT_LOG_IDS)
		return "the size of event sets is impossible";
	return NULL;
}

static const char *check_clock(const struct pxt_stream_header *header)
{
	if (header->hz == 0 || header->hz > PXT_HZ_MAX)
		return "the stamp clock's rate is impossible";
	for (unsigned i = 0; i < 3; i++)
		if (header->created_sec[i] < 0 || header->created_sec[i] >= SECONDS_MAX ||
		    header->created_nsec[i] >= PXT_NS_PER_S)
			return "it was created at an impossible time";
	return NULL;
}

static const char *check_lane(const struct pxt_stream_header *header)
{
	bool whole = header->form == PXT_IMAGEHEADER_WHOLE;
	uint64_t stride = header->lane_stride;

	if (header->form > PXT_IMAGEHEADER_WORDS || header->cell_bytes != (whole ? 16u : 32u))
		return "its slots have a form that does not exist";
	if (header->slots < 32u || header->slots > SLOTS_MAX ||
	    header->slots & (header->slots - 1u))
		return "a lane has an impossible number of slots";
	if (header->lanes < 1 || header->lanes > LANES_MAX)
		return "it has an impossible number of lanes";
	if (!within(header->lanes_at, header->lanes, stride, header->header.bytes) || stride == 0 ||
	    !within(header->cells_at, (uint64_t)header->lanes * header->slots, header->cell_bytes,
	        header->header.bytes) ||
	    !within(header->head_at, 1, whole ? 8 : 12, stride) ||
	    !within(header->epoch_at, 1, 8, stride) || !within(header->refused_at, 1, 8, stride) ||
	    !within(header->limit_at, 1, 4, stride) || !within(header->state_at, 1, 16, stride) ||
	    header->oobs > SIDES_MAX || !within(header->oob_pos_at, header->oobs, 4, stride))
		return "its lanes do not fit";
	return NULL;
}

static const char *check_block(const struct pxt_stream_header *header)
{
	uint64_t bytes = header->header.bytes;

	if (!within(header->gate_at, 1, 4, bytes) || !within(header->counts_at, 5, 8, bytes) ||
	    !within(header->oobs_at, header->oobs, header->oob_bytes, bytes) ||
	    !within(header->oob_set_at, 1, header->id_count / 8u, bytes) ||
	    !within(header->generation_at, 1, header->generation_bytes, bytes) ||
	    !within(header->name_at, 1, header->name_bytes, bytes))
		return "its parts do not fit";
	return NULL;
}

static const char *check_stream(const struct pxt_found *found)
{
	const char *wrong = check_common(found, sizeof found->stream);

	wrong = wrong ? wrong : check_records(&found->stream);
	wrong = wrong ? wrong : check_clock(&found->stream);
	wrong = wrong ? wrong : check_lane(&found->stream);
	return wrong ? wrong : check_block(&found->stream);
}

static const char *check_directory(const struct pxt_found *found)
{
	const struct pxt_directory_header *header = &found->directory;
	uint64_t bytes = header->header.bytes;
	const char *wrong = check_common(found, sizeof *header);

	if (wrong)
		return wrong;
	if (header->form > PXT_IMAGEHEADER_WORDS || header->entry_bytes < 16u ||
	    !within(header->threads_at, 1, 4, bytes) ||
	    !within(header->entries_at, header->entries, header->entry_bytes, bytes) ||
	    !within(header->passes_at, 1, 4, header->entry_bytes) ||
	    !within(header->thread_at, 1, 12, header->entry_bytes) ||
	    !within(header->pid_at, 1, 4, header->entry_bytes) ||
	    !within(header->tid_at, 1, 4, header->entry_bytes) ||
	    !within(header->name_at, 1, 16, header->entry_bytes))
		return "its threads do not fit";
	if (header->names_at == 0)
		return NULL;
	if (header->first_user_id < PXT_ID_USER_FIRST || header->first_user_id > PXT_LOG_IDS ||
	    header->names_max > PXT_LOG_IDS - header->first_user_id || header->name_bytes == 0 ||
	    !within(header->names_count_at, 1, 4, bytes) ||
	    !within(header->names_first_at, header->names_max, header->name_bytes, bytes) ||
	    !within(header->format_offsets_at, header->names_max, 4, bytes) ||
	    !within(header->pool_at, 1, header->pool_bytes, bytes))
		return "its names do not fit";
	return NULL;
}

/* ---- One header ---- */

/* False: it only looks like one, as in the program that makes them. */
static bool look(
    const struct pxt_image *image, uint64_t at, bool directory, struct pxt_found *found)
{
	uint64_t bytes = directory ? sizeof found->directory : sizeof found->stream;

	memset(found, 0, sizeof *found);
	found->image = image;
	found->at = at;
	if (pxt_image_read(image, at, &found->header, bytes) < bytes ||
	    memcmp(found->header.magic, directory ? directory_magic : stream_magic, MAGIC_BYTES) !=
	        0)
		return false;
	found->swapped = found->header.order != PXT_IMAGEHEADER_ORDER;
	if (found->swapped && found->header.order != __builtin_bswap32(PXT_IMAGEHEADER_ORDER))
		return false;
	if (found->swapped)
		turn(found, directory);
	found->wrong = directory ? check_directory(found) : check_stream(found);
	found->there = pxt_image_row(image, at);
	if (found->there > found->header.bytes)
		found->there = found->header.bytes;
	return true;
}

bool pxt_find_stream_at(const struct pxt_image *image, uint64_t at, struct pxt_found *found)
{
	return look(image, at, false, found);
}

/* ---- The list ---- */

static bool add(struct pxt_finds *finds, const struct pxt_found *found, bool directory)
{
	struct pxt_found **list = directory ? &finds->directories : &finds->streams;
	size_t *count = directory ? &finds->directory_count : &finds->stream_count;
	void *larger;

	if (*count >= PXT_FIND_MAX) {
		finds->full = true;
		return true;
	}
	/* Doubles at each power of two. */
	if ((*count & (*count - 1)) == 0) {
		larger = realloc(*list, (*count ? *count * 2 : 1) * sizeof **list);
		if (!larger)
			return false;
		*list = larger;
	}
	(*list)[(*count)++] = *found;
	return true;
}

static bool add_at(struct pxt_finds *finds, const struct pxt_image *image, uint64_t at)
{
	struct pxt_found found;

	if (look(image, at, false, &found) || pxt_small_look(image, at, &found))
		return add(finds, &found, false);
	return !look(image, at, true, &found) || add(finds, &found, true);
}

/* ---- Search ---- */

/* All magics begin so. */
#define PREFIX_BYTES 8u

static bool search_piece(struct pxt_finds *finds, const struct pxt_image *image, uint64_t at,
    const unsigned char *bytes, size_t count)
{
	const unsigned char *end = bytes + count;
	const unsigned char *hit = bytes;

	while (!finds->full && (size_t)(end - hit) >= MAGIC_BYTES &&
	       (hit = memmem(hit, (size_t)(end - hit), stream_magic, PREFIX_BYTES)) != NULL) {
		uint64_t place = at + (uint64_t)(hit - bytes);

		if ((size_t)(end - hit) < MAGIC_BYTES)
			break;
		if (place % 4u == 0 && (memcmp(hit, stream_magic, MAGIC_BYTES) == 0 ||
		                           memcmp(hit, directory_magic, MAGIC_BYTES) == 0 ||
		                           memcmp(hit, small_magic, MAGIC_BYTES) == 0)) {
			finds->full |= ++finds->looked > PXT_FIND_LOOK;
			if (!add_at(finds, image, place))
				return false;
		}
		hit++;
	}
	return true;
}

/* A row of parts, in pieces that overlap by what a magic may lack. */
static bool search_row(struct pxt_finds *finds, const struct pxt_image *image, uint64_t at,
    uint64_t end, unsigned char *bytes, struct pxt_progress *progress)
{
	while (end - at >= MAGIC_BYTES) {
		uint64_t wanted = end - at < SEARCH_BYTES ? end - at : SEARCH_BYTES;
		uint64_t got = pxt_image_read(image, at, bytes, wanted);

		if (!search_piece(finds, image, at, bytes, (size_t)got))
			return false;
		if (got < SEARCH_BYTES || finds->full)
			break;
		at += got - (MAGIC_BYTES - 1);
		pxt_progress_at(progress, progress->done + got);
	}
	return true;
}

static bool search(struct pxt_finds *finds, const struct pxt_image *image)
{
	unsigned char *bytes = malloc(SEARCH_BYTES);
	bool done = bytes != NULL;
	struct pxt_progress progress;
	uint64_t end = 0;

	pxt_progress_begin(&progress, "search", "bytes", image->size, false);
	for (size_t i = 0; done && i < image->count; i++) {
		if (i > 0 && image->parts[i].end == end)
			continue;
		end = image->parts[i].end;
		done = search_row(finds, image, image->parts[i].at, end, bytes, &progress);
	}
	pxt_progress_end(&progress);
	free(bytes);
	return done;
}

bool pxt_find(struct pxt_finds *finds, const struct pxt_image *image)
{
	struct pxt_found stream;
	struct pxt_found directory;

	if (image->core || !look(image, 0, false, &stream) || !stream.stream.directory_at)
		return search(finds, image);
	if (!add(finds, &stream, false))
		return false;
	return !look(image, stream.stream.directory_at, true, &directory) ||
	       add(finds, &directory, true);
}

void pxt_find_free(struct pxt_finds *finds)
{
	free(finds->streams);
	free(finds->directories);
	*finds = (struct pxt_finds){ 0 };
}

const struct pxt_found *pxt_find_directory(
    const struct pxt_finds *finds, const struct pxt_found *stream)
{
	for (size_t i = 0; i < finds->directory_count; i++) {
		const struct pxt_found *directory = &finds->directories[i];

		if (!directory->wrong && directory->header.key == stream->header.key &&
		    directory->swapped == stream->swapped)
			return directory;
	}
	return NULL;
}
