/* SPDX-License-Identifier: MIT */
/*
 * load.c - loads blocks: its checksum, its head.  One pass over the file when it is opened, and another one
 * when a growing log has more: all but DATA is checked and taken in, and a log that is cut off or has no
 * trailer is refused.
 *
 * A complete log is scanned to its end before the identifier exists.  Of DATA blocks only the heads are
 * read: what they hold is checked where it is read (next.c, loop.c), so that opening costs the same for
 * few events and for many.  If anything does not fit, all is checked from the beginning, because the
 * first mistake may be in a block that was passed over.
 *
 * A growing log is scanned as far as it goes, and again from there when the reader has come to the end.
 * Its blocks are checked here: one that is being written looks damaged.
 */
#include "logretrieval/log.h"

#include <errno.h>

#define NO_TRAILER "the log ends without its trailer: it is being written, or its writer died"

static uint64_t beginning(const struct pxt_log *log)
{
	return log->header.layout == PXT_LAYOUT_FRAMES ? pxt_log_behind_frames(log)
	                                               : log->header.header_bytes;
}

void pxt_log_begin(struct pxt_log *log)
{
	log->scan =
	    (struct pxt_log_scan){ .at = beginning(log), .first = log->header.header_bytes };
	pxt_log_first_file(log);
	pxt_log_forget_views(log);
	pxt_log_clock_begin(log);
	pxt_log_rewind(log);
}

int pxt_log_load_head(struct pxt_log *log, uint64_t offset, struct pxt_log_blockhead *head,
    const unsigned char **block)
{
	const char *wrong;

	if (pxt_log_need(log, offset, PXT_LOG_BLOCK_BYTES, NO_TRAILER, block))
		return EINVAL;
	wrong = pxt_logfmt_get_block(*block, &log->header, head);
	return wrong ? pxt_log_fail(log, offset, wrong) : 0;
}

/* *block becomes one of slots. */
static const char *decode(struct pxt_log *log, const unsigned char **block,
    struct pxt_log_blockhead *head, uint32_t *place)
{
	struct pxt_compress_made made;
	bool whole = pxt_compress_get(log->told, &log->header, head, *block + PXT_LOG_BLOCK_BYTES,
	    head->coded, log->decoded + PXT_LOG_BLOCK_BYTES,
	    log->header.largest_block - PXT_LOG_BLOCK_BYTES, &made);

	*place = PXT_LOG_BLOCK_BYTES + made.read;
	if (!whole)
		return pxt_log_damaged_record;
	*place = 0;
	*block = log->decoded;
	head->slot_bytes = made.bytes;
	return pxt_logfmt_check_counts(head, made.count, made.lost);
}

int pxt_log_load(struct pxt_log *log, uint64_t offset, struct pxt_log_blockhead *head,
    const unsigned char **block)
{
	const char *wrong;
	uint32_t place;

	if (pxt_log_load_head(log, offset, head, block))
		return EINVAL;
	if (pxt_log_need(log, offset, head->length, "the last block is cut off", block))
		return EINVAL;
	if (!pxt_logfmt_sound(*block, head->length, log->header.swapped))
		return pxt_log_fail(log, offset, "the checksum of a block is wrong");
	if (head->type != PXT_LOG_DATA)
		return 0;
	head->slot_bytes = head->length - PXT_LOG_BLOCK_BYTES;
	wrong = head->coded ? decode(log, block, head, &place)
	                    : pxt_logfmt_check_data(*block, head, &log->header, &place);
	return wrong ? pxt_log_fail(log, offset + place, wrong) : 0;
}

static int take_clock(struct pxt_log *log, uint64_t offset, const unsigned char *entry)
{
	struct pxt_log_clock clock;
	const char *wrong = pxt_logfmt_get_clock(entry, log->header.swapped, &clock);

	return wrong ? pxt_log_fail(log, offset, wrong) : pxt_log_add_reading(log, &clock.clock);
}

/* A type of block that is a row of entries: the bytes that each has at least, and who takes one. */
struct kind {
	uint32_t least;
	int (*take)(struct pxt_log *log, uint64_t offset, const unsigned char *entry);
};

static const struct kind kinds[] = {
	[PXT_LOG_TYPES] = { PXT_LOG_TYPE_BYTES, pxt_log_take_type },
	[PXT_LOG_THREADS] = { PXT_LOG_THREAD_BYTES, pxt_log_take_thread },
	[PXT_LOG_MODULES] = { PXT_LOG_MODULE_BYTES, pxt_log_take_module },
	[PXT_LOG_CLOCKS] = { PXT_LOG_CLOCK_BYTES, take_clock },
	[PXT_LOG_NOTES] = { PXT_LOG_NOTE_BYTES, pxt_log_take_note },
	[PXT_LOG_SET] = { PXT_LOG_SET_BYTES, pxt_log_take_set },
};

/* Those that a call without memory has taken in already are not taken again. */
static int take_each(struct pxt_log *log, uint64_t offset, const unsigned char *block,
    const struct pxt_log_blockhead *head)
{
	const struct kind *kind = &kinds[head->type];
	uint32_t at = PXT_LOG_BLOCK_BYTES;
	int error = 0;

	for (uint32_t i = 0; i < head->count && !error; i++) {
		uint64_t place = offset + at;
		const unsigned char *entry;
		const char *wrong = pxt_logfmt_get_entry(
		    block, head, log->header.swapped, kind->least, &at, &entry);

		if (wrong)
			error = pxt_log_fail(log, place, wrong);
		else if (i >= log->scan.taken)
			error = kind->take(log, place, entry);
		if (error == ENOMEM)
			log->scan.taken = i;
	}
	if (error != ENOMEM)
		log->scan.taken = 0;
	return error;
}

static int take_process(struct pxt_log *log, uint64_t offset, const unsigned char *block,
    const struct pxt_log_blockhead *head)
{
	uint32_t at = PXT_LOG_BLOCK_BYTES;
	const unsigned char *entry;
	const char *wrong;

	if (head->count == 0)
		return 0;
	wrong = pxt_logfmt_get_entry(
	    block, head, log->header.swapped, PXT_LOG_PROCESS_BYTES, &at, &entry);
	if (!wrong)
		wrong = pxt_logfmt_get_process(entry, log->header.swapped, &log->process);
	return wrong ? pxt_log_fail(log, offset, wrong) : 0;
}

static int take_trailer(struct pxt_log *log, uint64_t offset, const unsigned char *block,
    const struct pxt_log_blockhead *head)
{
	uint32_t at = PXT_LOG_BLOCK_BYTES;
	const unsigned char *entry;
	const char *wrong = pxt_logfmt_get_entry(
	    block, head, log->header.swapped, PXT_LOG_TRAILER_BYTES, &at, &entry);
	uint64_t blocks = log->scan.data_blocks;
	uint64_t size;
	int error;

	if (!wrong)
		wrong = pxt_logfmt_get_trailer(entry, log->header.swapped, &log->trailer);
	if (wrong)
		return pxt_log_fail(log, offset, wrong);
	if (log->header.layout == PXT_LAYOUT_FRAMES)
		blocks = log->scan.any_frame ? log->newest + 1 : 0;
	/* After damage that was passed over it is known that some are gone. */
	if (log->scan.gap_count == 0 &&
	    (blocks != log->trailer.data_blocks || head->sequence != log->trailer.meta_blocks))
		return pxt_log_fail(log, offset, "the log has lost blocks");
	if (pxt_log_end_of_file(log, offset, &size) || size != offset + head->length)
		return pxt_log_fail(log, offset + head->length, "bytes follow the log's trailer");
	error = pxt_log_add_reading(log, &log->trailer.end);
	log->complete = !error && !pxt_log_more_files(log);
	return error;
}

/* The block's number is the one that is due; after damage, it may be a higher one. */
static bool in_sequence(uint64_t sequence, uint64_t *due, bool *unsure)
{
	if (sequence != *due && !(*unsure && sequence > *due))
		return false;
	*due = sequence;
	*unsure = false;
	return true;
}

/* ---- The index ---- */

/* So much of the log is one mark from now on. */
static void halve(struct pxt_log_index *index)
{
	for (uint32_t i = 0; i < PXT_LOG_MARKS / 2; i++)
		index->marks[i] = index->marks[(size_t)2 * i];
	index->count = PXT_LOG_MARKS / 2;
	index->stride *= 2;
}

static struct pxt_log_index *new_index(struct pxt_log *log)
{
	struct pxt_log_index *index = pxt_port_heap_resize(NULL, sizeof(*index));

	log->index = index;
	if (!index)
		return NULL;
	/* Marks that are not needed stay untouched. */
	memset(index, 0, offsetof(struct pxt_log_index, marks));
	index->stride = 1;
	return index;
}

/* Opening has come to a DATA block.  Without memory there is no index. */
static void note_head(struct pxt_log *log, uint64_t offset, const struct pxt_log_blockhead *head)
{
	struct pxt_log_index *index = log->index;
	struct pxt_log_mark *next;

	if (!index)
		index =
		    log->scan.data_blocks == 0 && log->scan.gap_count == 0 ? new_index(log) : NULL;
	if (!index)
		return;
	next = &index->next;
	next->at = offset;
	next->blocks = log->scan.blocks;
	if (index->turn == 0 && index->count == PXT_LOG_MARKS)
		halve(index);
	if (index->turn == 0)
		index->marks[index->count++] = *next;
	index->turn = (index->turn + 1) % index->stride;
	index->off = index->off || !pxt_log_is_sensible(log, head->count, head->begin, head->end);
	/* A reader that goes there passes the gap between the files first. */
	pxt_sum_add(&next->passed.posix_lost_np, log->scan.missing - next->missing);
	next->entered = offset;
	next->missing = log->scan.missing;
	next->gaps = log->scan.gap_count;
	next->records_total = head->records_total;
	next->lost_total = head->lost_total;
	next->passed.posix_records_np += head->count;
	pxt_sum_add(&next->passed.posix_lost_np, head->lost);
	if (head->count && head->end > next->newest)
		next->newest = head->end;
}

/* ---- Blocks ---- */

static int take_data(struct pxt_log *log, uint64_t offset, const struct pxt_log_blockhead *head)
{
	if (log->header.layout == PXT_LAYOUT_FRAMES)
		return pxt_log_fail(log, offset, "a DATA block stands behind the frames");
	if (!in_sequence(head->sequence, &log->scan.data_blocks, &log->scan.unsure_data))
		return pxt_log_fail(log, offset, "a DATA block is missing in front of this one");
	if (log->brief)
		note_head(log, offset, head);
	log->scan.data_blocks++;
	log->scan.data_records = head->records_total;
	log->scan.data_lost = head->lost_total;
	return 0;
}

int pxt_log_take(struct pxt_log *log, uint64_t offset, const unsigned char *block,
    const struct pxt_log_blockhead *head)
{
	pxt_log_forget_views(log);
	switch (head->type) {
	case PXT_LOG_TYPES:
	case PXT_LOG_THREADS:
	case PXT_LOG_MODULES:
	case PXT_LOG_CLOCKS:
	case PXT_LOG_NOTES:
	case PXT_LOG_SET:
		return take_each(log, offset, block, head);
	case PXT_LOG_PROCESS:
		return take_process(log, offset, block, head);
	case PXT_LOG_CLEAR:
		log->scan.first = offset + head->length;
		log->scan.first_block = log->scan.data_blocks + log->scan.meta_blocks + 1;
		log->scan.first_records = log->scan.data_records;
		log->scan.first_lost = log->scan.data_lost;
		return 0;
	case PXT_LOG_TRAILER:
		return take_trailer(log, offset, block, head);
	default: /* of a later minor version */
		return 0;
	}
}

/* The block's number is the one that is due; what it holds is taken in, or nothing has changed. */
static int take_meta(struct pxt_log *log, uint64_t offset, const unsigned char *block,
    const struct pxt_log_blockhead *head)
{
	uint64_t due = log->scan.meta_blocks;
	bool unsure = log->scan.unsure_meta;
	int error;

	if (!in_sequence(head->sequence, &log->scan.meta_blocks, &log->scan.unsure_meta))
		return pxt_log_fail(log, offset, "a block is missing in front of this one");
	error = pxt_log_take(log, offset, block, head);
	log->scan.meta_blocks++;
	if (error == ENOMEM) {
		log->scan.meta_blocks = due;
		log->scan.unsure_meta = unsure;
	}
	return error;
}

/* What seems to be the rest of a block that is cut off is the next file. */
static int within_file(struct pxt_log *log, uint64_t offset, const struct pxt_log_blockhead *head)
{
	uint64_t end;

	if (!log->files || pxt_log_end_of_file(log, offset, &end) || head->length <= end - offset)
		return 0;
	return pxt_log_fail(log, offset, "the last block is cut off");
}

/*
 * One block at log->scan.at.  @again is set when a later attempt may find it finished, or memory for
 * what it holds.
 */
static int scan_block(struct pxt_log *log, bool *again)
{
	struct pxt_log_blockhead head = { 0 };
	const unsigned char *block;
	uint64_t offset = log->scan.at;
	int error = pxt_log_load_head(log, offset, &head, &block);

	if (!error)
		error = within_file(log, offset, &head);
	if (!error && !(log->brief && head.type == PXT_LOG_DATA))
		error = pxt_log_load(log, offset, &head, &block);
	*again = error != 0;
	if (error)
		return error;
	error = head.type == PXT_LOG_DATA ? take_data(log, offset, &head)
	                                  : take_meta(log, offset, block, &head);
	*again = error == ENOMEM;
	if (error)
		return error;
	if (log->brief)
		pxt_log_look_ahead(log, head.length);
	log->scan.at = offset + head.length;
	log->scan.blocks++;
	log->scan.records_total = head.records_total;
	log->scan.lost_total = head.lost_total;
	return 0;
}

/* Scanning has ended before the log did. */
static void note_broken(struct pxt_log *log, bool again)
{
	log->scan.broken = !again;
	if (log->scan.broken)
		log->damage = log->error;
}

static int scan_all(struct pxt_log *log)
{
	bool again = false;
	int error = 0;

	if (log->header.layout == PXT_LAYOUT_FRAMES)
		error = pxt_log_scan_frames(log);
	while (!error && !log->complete) {
		error = pxt_log_enter_file(log, false);
		if (!error)
			error = scan_block(log, &again);
		/* The process was killed when it was about to go to the next file. */
		if (error == EINVAL && log->growing && !pxt_log_enter_file(log, true))
			error = 0;
	}
	if (!log->growing || !error || error == ENOMEM)
		return error;
	note_broken(log, again);
	return 0;
}

int pxt_log_scan(struct pxt_log *log)
{
	int error;

	log->brief = !log->growing;
	log->ahead = log->brief ? PXT_LOG_SKIP_BYTES : 0;
	/* The trailer asks how long the file is; what heads say is not handed out, and bodies are read with a look. */
	log->file.looked_at_later = log->brief;
	error = scan_all(log);
	log->brief = false;
	log->ahead = 0;
	log->file.looked_at_later = false;
	return error;
}

void pxt_log_scan_again(struct pxt_log *log)
{
	struct posix_trace_logerror_np error = log->error;

	pxt_log_begin(log);
	if (!scan_all(log))
		log->error = error;
}

/* A log that was cleared by beginning anew.  The head is read beside the window, whose records may not be read yet. */
static bool begun_anew(struct pxt_log *log)
{
	const struct timespec time = pxt_log_latest(log);
	unsigned char at[PXT_LOG_HEADER_BYTES];
	struct pxt_log_header header;
	size_t done;

	if (log->files || pxt_port_file_read(&log->file, 0, at, sizeof(at), &done) ||
	    done < sizeof(at) ||
	    pxt_get32(at + PXT_LOG_AT_GENERATION, log->header.swapped) == log->header.generation ||
	    pxt_logfmt_get_header(at, &header) || header.largest_block != log->header.largest_block)
		return false;
	log->header = header;
	log->complete = false;
	pxt_log_view_again(log);
	pxt_log_begin(log);
	log->line.time = time;
	return true;
}

int pxt_log_follow_clear(struct pxt_log *log, int error)
{
	return log->growing && begun_anew(log) ? pxt_log_scan(log) : error;
}

int pxt_log_scan_more(struct pxt_log *log)
{
	uint64_t before = log->scan.at;
	bool again = true;
	bool more;
	int error = 0;

	if (!log->growing || log->complete || log->scan.broken)
		return ENODATA;
	pxt_log_view_again(log);
	more = log->header.layout == PXT_LAYOUT_FRAMES && pxt_log_more_frames(log);
	while (!log->complete && !error) {
		error = scan_block(log, &again);
		more |= !error;
	}
	note_broken(log, log->complete || again);
	if (more)
		return pxt_log_follow_clear(log, 0);
	if (error != ENOMEM && log->scan.at == before && begun_anew(log))
		return pxt_log_scan(log);
	return error == ENOMEM ? ENOMEM : ENODATA;
}
