/* SPDX-License-Identifier: MIT */
/* salvage.c - block by block through a damaged log, which may be in several files. */
#include "tools/recover/recover.h"

#include "tools/receive/run.h"

#include "tools/output/out.h"

#include "format/logfmt_fields.h"
#include "format/mul64.h"

#include <stdlib.h>
#include <string.h>

/* Checksums that may be wrong in vain: a file must not make it quadratic. */
#define VAIN_ROUNDS 16u
#define VAIN_LEAST  (UINT64_C(1) << 26)

static const unsigned char block_magic[4] = PXT_LOG_BLOCK_MAGIC;

struct salvage {
	const struct pxt_image *image; /* the file that is read, ... */
	unsigned file;                 /* ... one of so many */
	unsigned files;
	/* Of several: what all files before this one have, and what those before the first had. */
	struct pxt_log_set before;
	struct pxt_log_set gone;
	struct pxt_salvaged *result;
	struct pxt_receive_run run;
	struct pxt_log_header header;   /* as the file has it */
	struct pxt_log_trailer trailer; /* of frames, where it is read before them */
	uint64_t vain;                  /* bytes of checksums left */
	uint64_t records;               /* largest sums in any head */
	uint64_t lost;
	unsigned char *block;
	struct pxt_progress progress;
};

static uint64_t bytes_of(const struct pxt_image *images, unsigned count)
{
	uint64_t bytes = 0;

	for (unsigned i = 0; i < count; i++)
		pxt_sum_add(&bytes, images[i].size);
	return bytes;
}

bool pxt_salvage_is_log(const struct pxt_image *image)
{
	unsigned char at[PXT_LOG_SEEMS_BYTES] = { 0 };

	/* A process that was killed may have written no more than the head. */
	return pxt_image_read(image, 0, at, sizeof at) > 0 && pxt_logfmt_seems(at);
}

/* ---- Blocks ---- */

enum state {
	SOUND,
	CUT_OFF, /* its head is in the file, not all of it */
	NO_BLOCK
};

static enum state load(struct salvage *salvage, uint64_t at, struct pxt_log_blockhead *head)
{
	const struct pxt_image *image = salvage->image;

	memset(salvage->block, 0, PXT_LOG_BLOCK_BYTES);
	if (pxt_image_read(image, at, salvage->block, PXT_LOG_BLOCK_BYTES) < PXT_LOG_BLOCK_BYTES ||
	    pxt_logfmt_get_block(salvage->block, &salvage->header, head))
		return NO_BLOCK;
	if (pxt_image_read(image, at, salvage->block, head->length) < head->length)
		return CUT_OFF;
	pxt_progress_at(&salvage->progress, salvage->progress.done + head->length);
	if (pxt_logfmt_sound(salvage->block, head->length, salvage->header.swapped))
		return SOUND;
	salvage->vain -= head->length < salvage->vain ? head->length : salvage->vain;
	return NO_BLOCK;
}

static void note_sums(struct salvage *salvage, const struct pxt_log_blockhead *head)
{
	if (salvage->before.records + head->records_total > salvage->records)
		salvage->records = salvage->before.records + head->records_total;
	if (salvage->before.lost + head->lost_total > salvage->lost)
		salvage->lost = salvage->before.lost + head->lost_total;
}

/* What came before this block, as it says. */
static void tell_before(struct salvage *salvage, const struct pxt_log_blockhead *head)
{
	bool data = head->type == PXT_LOG_DATA;
	const struct pxt_receive_totals before = { .records = salvage->before.records +
		                                              head->records_total -
		                                              (data ? head->count : 0u),
		.lost = salvage->before.lost + head->lost_total - head->lost };

	pxt_receive_run_totals(&salvage->run, &before);
}

static void take(struct salvage *salvage, const struct pxt_log_blockhead *head)
{
	const unsigned char *contents = salvage->block + PXT_LOG_BLOCK_BYTES;
	uint32_t bytes = head->length - PXT_LOG_BLOCK_BYTES;

	salvage->result->blocks++;
	note_sums(salvage, head);
	if (head->type == PXT_LOG_DATA) {
		contents =
		    pxt_receive_run_decode(&salvage->run, &salvage->header, head, contents, &bytes);
		pxt_receive_run_slots(
		    &salvage->run, contents, contents ? bytes / PXT_SLOT_BYTES : 0);
	} else
		pxt_receive_run_entries(&salvage->run, head->type, head->count, contents, bytes);
}

/*
 * The last block, of which the file has only a part: its records as far as they are whole and their stamps
 * lie where the block's head says.
 */
static void take_part(struct salvage *salvage, uint64_t at, const struct pxt_log_blockhead *head)
{
	uint32_t bytes = (uint32_t)(salvage->image->size - at) & ~(PXT_SLOT_BYTES - 1u);
	uint32_t end = 0;
	uint64_t kept = salvage->run.kept;
	struct pxt_log_record record;
	const unsigned char *slots;

	if (bytes < PXT_LOG_BLOCK_BYTES ||
	    pxt_image_read(salvage->image, at, salvage->block, bytes) < bytes)
		return;
	bytes -= PXT_LOG_BLOCK_BYTES;
	slots = pxt_receive_run_decode(
	    &salvage->run, &salvage->header, head, salvage->block + PXT_LOG_BLOCK_BYTES, &bytes);
	while (slots && end < bytes &&
	       pxt_logfmt_get_record(slots + end, bytes - end, &salvage->header, &record)) {
		bool loss = pxt_info_id(record.info) == PXT_LOG_ID_LOSS;

		if (!loss && (record.ticks < head->begin || record.ticks > head->end))
			break;
		end += record.slots * PXT_SLOT_BYTES;
	}
	pxt_receive_run_slots(&salvage->run, slots, end / PXT_SLOT_BYTES);
	salvage->result->unsure = salvage->run.kept - kept;
}

/* ---- Bytes between blocks ---- */

/* Sound blocks of other streams: a log that was written behind this one. */
static void count_others(struct salvage *salvage, uint64_t from, uint64_t to)
{
	const struct pxt_log_header own = salvage->header;
	unsigned char piece[PXT_LOG_BLOCK_BYTES];
	struct pxt_log_blockhead head;

	for (uint64_t at = from; at < to && salvage->vain;) {
		uint64_t next = at + 16;

		if (pxt_image_read(salvage->image, at, piece, sizeof piece) == sizeof piece &&
		    memcmp(piece, block_magic, sizeof block_magic) == 0 &&
		    memcmp(piece + 24, own.uuid, PXT_LOG_UUID_BYTES) != 0) {
			memcpy(salvage->header.uuid, piece + 24, PXT_LOG_UUID_BYTES);
			if (load(salvage, at, &head) == SOUND) {
				salvage->result->others++;
				next = at + head.length;
			}
		}
		at = next;
	}
	salvage->header = own;
}

static void note_gap(struct salvage *salvage, uint64_t from, uint64_t to)
{
	struct pxt_salvaged *result = salvage->result;

	count_others(salvage, from, to);
	if (result->gaps < PXT_SALVAGE_GAPS) {
		result->gap[result->gaps].from = from;
		result->gap[result->gaps].to = to;
		result->gap[result->gaps].path = salvage->files > 1 ? salvage->image->path : NULL;
	}
	result->gaps++;
	result->skipped += to - from;
}

/* Whether a block of this stream may begin at @at. */
static bool looks_like_block(const struct salvage *salvage, const unsigned char *at)
{
	return memcmp(at, block_magic, sizeof block_magic) == 0 &&
	       memcmp(at + 24, salvage->header.uuid, PXT_LOG_UUID_BYTES) == 0;
}

/* After @at: the next block that is sound; the file's size where there is none. */
static uint64_t next_sound(struct salvage *salvage, uint64_t at)
{
	unsigned char piece[4096 + PXT_LOG_BLOCK_BYTES];
	struct pxt_log_blockhead head;
	uint64_t size = salvage->image->size;

	for (at += 16; at < size && salvage->vain; at += 4096) {
		uint64_t got = pxt_image_read(salvage->image, at, piece, sizeof piece);

		pxt_progress_at(&salvage->progress, salvage->progress.done + 4096);
		for (uint64_t i = 0; i < 4096 && i + PXT_LOG_BLOCK_BYTES <= got; i += 16) {
			if (looks_like_block(salvage, piece + i) &&
			    load(salvage, at + i, &head) == SOUND)
				return at + i;
			if (!salvage->vain)
				break;
		}
	}
	salvage->result->gave_up |= !salvage->vain;
	return size;
}

/* ---- The two layouts ---- */

/* The trailer of frames: they are read after it. */
static void take_end(struct salvage *salvage, const struct pxt_log_blockhead *head)
{
	uint32_t at = PXT_LOG_BLOCK_BYTES;
	const unsigned char *entry;

	note_sums(salvage, head);
	salvage->result->complete =
	    !pxt_logfmt_get_entry(salvage->block, head, salvage->header.swapped,
	        PXT_LOG_TRAILER_BYTES, &at, &entry) &&
	    !pxt_logfmt_get_trailer(entry, salvage->header.swapped, &salvage->trailer);
}

/* ---- Several files ---- */

/* Each file but the first says what is in all files before it. */
static void take_set(struct salvage *salvage, const struct pxt_log_blockhead *head)
{
	uint32_t at = PXT_LOG_BLOCK_BYTES;
	const unsigned char *entry;
	struct pxt_log_set set;

	if (salvage->files == 1 || pxt_logfmt_get_entry(salvage->block, head,
	                               salvage->header.swapped, PXT_LOG_SET_BYTES, &at, &entry))
		return;
	pxt_logfmt_get_set(entry, salvage->header.swapped, &set);
	if (salvage->file == 0)
		salvage->gone = set;
	if (set.records < salvage->gone.records || set.lost < salvage->gone.lost)
		return;
	salvage->before.records = set.records - salvage->gone.records;
	salvage->before.lost = set.lost - salvage->gone.lost;
}

/* The last file's trailer counts what is in that file: the new log has all. */
static void finish_files(struct salvage *salvage)
{
	struct pxt_receive_run *run = &salvage->run;
	struct pxt_log_trailer *trailer = &salvage->trailer;
	const struct pxt_receive_totals totals = { .records = salvage->records,
		.lost = salvage->before.lost + trailer->counts.posix_lost_np };

	pxt_receive_run_totals(run, &totals);
	trailer->counts.posix_retrieved_np = run->records;
	trailer->counts.posix_lost_np = run->target_lost;
	trailer->counts.posix_cleared_np = 0;
	trailer->counts.posix_written_np =
	    run->records + run->target_lost + trailer->counts.posix_held_np;
	(void)pxt_receive_run_finish(run, trailer);
}

static void walk_blocks(struct salvage *salvage, uint64_t at, bool with_data)
{
	uint64_t size = salvage->image->size;
	struct pxt_log_blockhead head;

	while (at < size && !salvage->run.ended) {
		enum state state = load(salvage, at, &head);
		uint64_t next;

		if (state == SOUND) {
			bool end = head.type == PXT_LOG_TRAILER;
			bool last = salvage->file + 1 == salvage->files;

			if (head.type == PXT_LOG_SET)
				take_set(salvage, &head);
			salvage->result->complete |= end && last;
			if (with_data)
				tell_before(salvage, &head);
			if (end && last && (!with_data || salvage->files > 1))
				take_end(salvage, &head);
			else if (end && !last)
				note_sums(salvage, &head);
			else if (with_data || head.type != PXT_LOG_DATA)
				take(salvage, &head);
			at += head.length;
			continue;
		}
		next = next_sound(salvage, at);
		/* The last one, whose sums go on from those before: its records were written, too. */
		if (state == CUT_OFF && next == size && with_data && head.type == PXT_LOG_DATA &&
		    head.count <= head.length / (head.coded ? 2u : PXT_SLOT_BYTES) &&
		    salvage->before.records + head.records_total - head.count ==
		        salvage->run.records) {
			note_sums(salvage, &head);
			take_part(salvage, at, &head);
		}
		note_gap(salvage, at, next);
		at = next;
	}
	count_others(salvage, at, size);
}

struct frame {
	uint64_t sequence;
	uint64_t at;
};

static int by_sequence(const void *a, const void *b)
{
	const struct frame *one = a;
	const struct frame *other = b;

	return (one->sequence > other->sequence) - (one->sequence < other->sequence);
}

static bool unwritten(const unsigned char *block)
{
	for (unsigned i = 0; i < PXT_LOG_BLOCK_BYTES; i++)
		if (block[i])
			return false;
	return true;
}

/* The frames that hold a sound block, oldest first. */
static size_t list_frames(struct salvage *salvage, struct frame *frames, uint64_t count)
{
	struct pxt_log_blockhead head;
	size_t found = 0;

	for (uint64_t i = 0; i < count; i++) {
		uint64_t at = salvage->header.data_offset + i * salvage->header.frame_bytes;

		if (load(salvage, at, &head) == SOUND && head.type == PXT_LOG_DATA)
			frames[found++] = (struct frame){ head.sequence, at };
		else if (!unwritten(salvage->block))
			note_gap(salvage, at, at + salvage->header.frame_bytes);
	}
	qsort(frames, found, sizeof *frames, by_sequence);
	return found;
}

static const char *walk_frames(struct salvage *salvage)
{
	const struct pxt_log_header *header = &salvage->header;
	uint64_t size = salvage->image->size;
	uint64_t count = header->frames;
	struct pxt_log_blockhead head;
	struct frame *frames;
	size_t found;

	/* Bound: the file, whatever number of frames its head says. */
	if (header->data_offset >= size)
		count = 0;
	else if (count > (size - header->data_offset) / header->frame_bytes + 1u)
		count = (size - header->data_offset) / header->frame_bytes + 1u;
	frames = malloc((size_t)(count ? count : 1) * sizeof *frames);
	if (!frames)
		return "out of memory";
	salvage->result->frames = true;
	walk_blocks(
	    salvage, header->data_offset + (uint64_t)header->frames * header->frame_bytes, false);
	found = list_frames(salvage, frames, count);
	for (size_t i = 0; i < found; i++) {
		/* Not twice the same, and none that was overwritten meanwhile. */
		if ((i > 0 && frames[i].sequence == frames[i - 1].sequence) ||
		    load(salvage, frames[i].at, &head) != SOUND)
			continue;
		tell_before(salvage, &head);
		take(salvage, &head);
	}
	free(frames);
	return NULL;
}

/* ---- All of it ---- */

/* The new log has one layout, whatever the old one's. */
static const char *begin(struct salvage *salvage, const char *path)
{
	unsigned char head[PXT_LOG_HEADER_BYTES];
	uint32_t bytes = PXT_LOG_HEADER_BYTES;
	const char *wrong;

	salvage->result->head = pxt_filehead_load(salvage->image, head, &salvage->header, &wrong);
	if (salvage->result->head == PXT_FILEHEAD_NONE)
		return wrong;
	bytes = salvage->header.swapped ? __builtin_bswap32(bytes) : bytes;
	head[23] = PXT_LAYOUT_SEQUENTIAL;
	memcpy(head + 24, &bytes, sizeof bytes);
	memset(head + 128, 0, 16);
	wrong = pxt_receive_run_begin(&salvage->run, path, PXT_LOG_WHOLE, head);
	salvage->run.off_line = true;
	return wrong;
}

/*
 * The frames are read, and their log has an end: what it overwrote this run misses, too, and it is not
 * counted twice.  What the log was given and does not hold is what was flushed to it less what is here.
 */
static void finish_frames(struct salvage *salvage)
{
	struct pxt_log_trailer *trailer = &salvage->trailer;
	struct pxt_receive_run *run = &salvage->run;
	uint64_t all = trailer->log_lost;

	if (salvage->header.generation == 0 && trailer->counts.posix_retrieved_np > run->kept &&
	    trailer->counts.posix_retrieved_np - run->kept > all)
		all = trailer->counts.posix_retrieved_np - run->kept;
	trailer->log_lost = all > run->missing ? all - run->missing : 0;
	(void)pxt_receive_run_finish(run, trailer);
}

/* The next file; what it does not say of those before it is what they said. */
static void walk_file(struct salvage *salvage, const struct pxt_image *image)
{
	const struct pxt_log_header first = salvage->header;
	unsigned char head[PXT_LOG_HEADER_BYTES];
	const char *wrong;

	salvage->image = image;
	salvage->file++;
	salvage->before.records = salvage->records;
	salvage->before.lost = salvage->lost;
	if (pxt_filehead_load(image, head, &salvage->header, &wrong) != PXT_FILEHEAD_NONE &&
	    memcmp(first.uuid, salvage->header.uuid, sizeof first.uuid) == 0) {
		walk_blocks(salvage, salvage->header.header_bytes, true);
	} else {
		salvage->header = first;
		walk_blocks(salvage, 0, true);
	}
}

static const char *run_salvage(struct salvage *salvage, const char *path, int *error)
{
	const struct pxt_log_header *header = &salvage->header;
	const char *wrong = begin(salvage, path);
	struct pxt_receive_totals totals;

	if (wrong)
		return wrong;
	/* Frames are read once for their order, and once in it. */
	pxt_progress_begin(&salvage->progress, "recover", "bytes",
	    bytes_of(salvage->image, salvage->files) *
	        (header->layout == PXT_LAYOUT_FRAMES ? 2u : 1u),
	    false);
	if (header->layout == PXT_LAYOUT_FRAMES)
		wrong = walk_frames(salvage);
	else
		walk_blocks(salvage, header->header_bytes, true);
	while (salvage->file + 1 < salvage->files)
		walk_file(salvage, salvage->image + 1);
	if (!salvage->run.ended) {
		totals = (struct pxt_receive_totals){ .records = salvage->records,
			.lost = salvage->lost };
		pxt_receive_run_totals(&salvage->run, &totals);
		if (salvage->result->frames && salvage->result->complete)
			finish_frames(salvage);
		else if (salvage->files > 1 && salvage->result->complete)
			finish_files(salvage);
	}
	pxt_progress_end(&salvage->progress);
	*error = pxt_receive_run_end(&salvage->run);
	salvage->result->events = salvage->run.kept;
	salvage->result->missing = salvage->run.log_lost;
	salvage->result->lost = salvage->run.counts.posix_lost_np;
	salvage->result->held = salvage->run.counts.posix_held_np;
	salvage->result->end_unknown = salvage->run.end_unknown;
	return wrong;
}

const char *pxt_salvage(const struct pxt_image *images, unsigned count, const char *path,
    struct pxt_salvaged *salvaged, int *error)
{
	struct salvage *salvage = calloc(1, sizeof *salvage);
	const char *wrong = "out of memory";

	*error = 0;
	*salvaged = (struct pxt_salvaged){ 0 };
	if (!salvage)
		return wrong;
	salvage->image = images;
	salvage->files = count;
	salvage->result = salvaged;
	salvage->vain = VAIN_ROUNDS * bytes_of(images, count) + VAIN_LEAST;
	salvage->block = malloc(PXT_LOG_BLOCK_MAX);
	if (salvage->block)
		wrong = run_salvage(salvage, path, error);
	free(salvage->block);
	free(salvage);
	return wrong;
}
