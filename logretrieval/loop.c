/* SPDX-License-Identifier: MIT */
/*
 * loop.c - a LOOP log: block s is in frame s mod frames, so that the newest blocks are left.
 *
 * In a growing log frames change under the reader: a block may be half written (its checksum is
 * wrong: it is not there), may have got more records under the same number, or may have given
 * way to one with a higher number.  The sums in the blocks' heads say how much was missed.
 */
#include "logretrieval/log.h"

#include <errno.h>

static uint64_t frame_at(const struct pxt_log *log, uint64_t sequence)
{
	return log->header.data_offset +
	       sequence % log->header.frames * (uint64_t)log->header.frame_bytes;
}

uint64_t pxt_log_behind_frames(const struct pxt_log *log)
{
	return log->header.data_offset + (uint64_t)log->header.frames * log->header.frame_bytes;
}

bool pxt_log_unwritten(struct pxt_log *log, uint64_t offset)
{
	const unsigned char *at = pxt_log_see(log, offset, PXT_LOG_BLOCK_BYTES);
	uint32_t i;

	if (!at)
		return log->growing;
	for (i = 0; i < PXT_LOG_BLOCK_BYTES; i++) {
		if (at[i])
			return false;
	}
	return true;
}

int pxt_log_load_frame(struct pxt_log *log, uint64_t frame, struct pxt_log_blockhead *head,
    const unsigned char **block)
{
	uint64_t offset = frame_at(log, frame);
	int error = log->brief ? pxt_log_load_head(log, offset, head, block)
	                       : pxt_log_load(log, offset, head, block);

	if (error)
		return error;
	if (head->type != PXT_LOG_DATA || head->length > log->header.frame_bytes ||
	    head->sequence % log->header.frames != frame % log->header.frames)
		return pxt_log_fail(
		    log, offset, "a frame holds a block that does not belong there");
	return 0;
}

/* The newest frame says what was recorded and lost in all. */
static void note_frame(struct pxt_log *log, const struct pxt_log_blockhead *head)
{
	if (!log->scan.any_frame || head->sequence < log->oldest)
		log->oldest = head->sequence;
	if (!log->scan.any_frame || head->sequence > log->newest) {
		log->newest = head->sequence;
		log->scan.records_total = head->records_total;
		log->scan.lost_total = head->lost_total;
	}
	log->scan.any_frame = true;
}

/*
 * A frame of a growing log may be older than those around it (its block is being written): what
 * is left of the range then begins after it.
 */
static void cut_range(struct pxt_log *log)
{
	if (log->newest - log->oldest >= log->header.frames)
		log->oldest = log->newest - log->header.frames + 1;
}

int pxt_log_scan_frames(struct pxt_log *log)
{
	struct pxt_log_blockhead head;
	const unsigned char *block;
	uint64_t blocks = 0;
	uint32_t i;

	log->scan.any_frame = false;
	if (log->brief)
		pxt_log_look_ahead(log, log->header.frame_bytes);
	for (i = 0; i < log->header.frames; i++) {
		uint64_t offset = frame_at(log, i);
		int error = 0;

		if (log->growing && !pxt_log_see(log, offset, PXT_LOG_BLOCK_BYTES))
			break;
		if (pxt_log_unwritten(log, offset))
			continue;
		error = pxt_log_load_frame(log, i, &head, &block);
		if (error && !log->growing)
			return error;
		if (error)
			continue;
		note_frame(log, &head);
		blocks++;
	}
	if (!log->scan.any_frame)
		return 0;
	if (log->growing)
		cut_range(log);
	else if (log->newest - log->oldest + 1 != blocks ||
	         (log->oldest != 0 && blocks != log->header.frames))
		return pxt_log_fail(
		    log, log->header.data_offset, "the frames do not hold consecutive blocks");
	log->scan.data_blocks = blocks;
	return 0;
}

bool pxt_log_more_frames(struct pxt_log *log)
{
	uint64_t before = log->newest;
	bool any = log->scan.any_frame;
	struct pxt_log_blockhead head;
	const unsigned char *block;

	for (;;) {
		uint64_t next = log->scan.any_frame ? log->newest + 1 : 0;

		if (pxt_log_unwritten(log, frame_at(log, next)) ||
		    pxt_log_load_frame(log, next, &head, &block) ||
		    (log->scan.any_frame && head.sequence <= log->newest))
			break;
		if (head.sequence != next) {
			/* The writer has come round since: all that was known is gone. */
			(void)pxt_log_scan_frames(log);
			break;
		}
		note_frame(log, &head);
		cut_range(log);
	}
	return log->scan.any_frame != any || log->newest != before;
}

/* What the sums say is missing between the blocks read before and this one. */
static uint64_t count_missing(
    const struct pxt_log_cursor *cursor, const struct pxt_log_blockhead *head)
{
	uint64_t records = head->records_total - head->count;
	uint64_t lost = head->lost_total - head->lost;
	uint64_t missing = 0;

	if (records > cursor->records)
		missing += records - cursor->records;
	if (lost > cursor->lost)
		pxt_sum_add(&missing, lost - cursor->lost);
	return missing;
}

/* The part of a block that was not read yet. */
static struct posix_trace_logblock_np unread(
    const struct pxt_log_cursor *cursor, const struct pxt_log_blockhead *head)
{
	struct posix_trace_logblock_np block = { head->sequence, head->count, head->lost,
		head->begin, head->end, !(head->flags & PXT_LOG_FLAG_NAMELESS) };

	if (cursor->done == 0) {
		pxt_sum_add(&block.posix_lost_np, count_missing(cursor, head));
	} else {
		block.posix_records_np = head->records_total - cursor->records;
		block.posix_lost_np = head->lost_total - cursor->lost;
	}
	return block;
}

/* Growing: enters the block the cursor is at, or what is new in it.  ENODATA: nothing new. */
static int enter(struct pxt_log *log)
{
	struct pxt_log_cursor *cursor = &log->cursor;
	struct pxt_log_blockhead head;
	const unsigned char *block;
	uint32_t end;

	if (pxt_log_load_frame(log, cursor->sequence, &head, &block))
		return ENODATA;
	end = PXT_LOG_BLOCK_BYTES + head.slot_bytes;
	if (head.sequence != cursor->sequence || end <= cursor->done)
		return ENODATA;
	cursor->block = unread(cursor, &head);
	if (cursor->done == 0) {
		pxt_sum_add(&cursor->pending, count_missing(cursor, &head));
		cursor->number = head.records_total - head.count;
		cursor->done = PXT_LOG_BLOCK_BYTES;
	}
	cursor->next = block + cursor->done;
	cursor->left = end - cursor->done;
	cursor->done = end;
	cursor->entered_records = cursor->records = head.records_total;
	cursor->entered_lost = cursor->lost = head.lost_total;
	return cursor->left ? 0 : ENODATA;
}

/* Complete: the block that the cursor is at, as its head alone says it, or all of it. */
static int load_complete(
    struct pxt_log *log, bool brief, struct pxt_log_blockhead *head, const unsigned char **block)
{
	int error;

	log->brief = brief;
	error = pxt_log_load_frame(log, log->cursor.sequence, head, block);
	log->brief = false;
	return error || head->sequence != log->cursor.sequence ? EIO : 0;
}

/*
 * Complete: enters the block that the cursor is at by its head, then its records.  One that says it has none is
 * checked before it is passed over, as of a sequential log.  ENODATA: it was read.
 */
static int enter_complete(struct pxt_log *log)
{
	struct pxt_log_cursor *cursor = &log->cursor;
	struct pxt_log_blockhead head;
	const unsigned char *block;

	if (cursor->done && !cursor->body)
		return ENODATA;
	if (load_complete(log, !cursor->body, &head, &block))
		return EIO;
	if (cursor->body) {
		cursor->next = block + PXT_LOG_BLOCK_BYTES;
		cursor->left = head.slot_bytes;
		cursor->body = 0;
		return cursor->left ? 0 : ENODATA;
	}
	if (head.count + head.lost == 0 && load_complete(log, false, &head, &block))
		return EIO;
	cursor->block = unread(cursor, &head);
	pxt_sum_add(&cursor->pending, count_missing(cursor, &head));
	cursor->number = head.records_total - head.count;
	cursor->entered_records = head.records_total;
	cursor->entered_lost = head.lost_total;
	cursor->done = PXT_LOG_BLOCK_BYTES;
	cursor->body = head.count + head.lost == 0 ? 0 : head.length;
	return cursor->body ? 0 : ENODATA;
}

int pxt_log_next_frame(struct pxt_log *log)
{
	struct pxt_log_cursor *cursor = &log->cursor;

	while (log->scan.any_frame) {
		int error;

		if (cursor->sequence < log->oldest) {
			cursor->sequence = log->oldest;
			cursor->done = 0;
		}
		error = log->growing ? enter(log) : enter_complete(log);
		if (error != ENODATA)
			return error;
		if (cursor->sequence >= log->newest)
			break;
		cursor->sequence++;
		cursor->done = 0;
		cursor->records = cursor->entered_records;
		cursor->lost = cursor->entered_lost;
	}
	return ENODATA;
}
