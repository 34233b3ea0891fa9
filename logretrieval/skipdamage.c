/* SPDX-License-Identifier: MIT */
/*
 * skipdamage.c - posix_trace_log_skipdamage_np(): a log whose next block cannot be read, though sound ones
 * are after it.
 *
 * In a growing log, a block that is being written looks damaged, too.  Logs are written front to back: where a
 * sound block of the same stream is after, nothing before it will change any more.  Of a complete log,
 * opening has followed the heads of all blocks, so that it is known where the next one begins.  What was
 * passed over is kept as a gap, so that it costs the same losses however often the log is read.
 */
#include "logretrieval/log.h"

#include <errno.h>

#define STEP 16u /* blocks begin at multiples of it */

bool pxt_log_begins_here(const struct pxt_log *log, const unsigned char *at)
{
	static const unsigned char magic[4] = PXT_LOG_BLOCK_MAGIC;

	return memcmp(at, magic, sizeof(magic)) == 0 &&
	       memcmp(at + 24, log->header.uuid, PXT_LOG_UUID_BYTES) == 0;
}

uint64_t pxt_log_find_block(struct pxt_log *log, uint64_t offset, uint64_t size)
{
	/* Bound: the file's size; each turn goes on by at least a step. */
	while (offset < size && size - offset >= PXT_LOG_SEEN_BYTES) {
		uint64_t rest = size - offset;
		uint32_t bytes = rest < log->window_bytes ? (uint32_t)rest : log->window_bytes;
		const unsigned char *at = pxt_log_see(log, offset, bytes);
		uint32_t i;

		if (!at)
			break;
		for (i = 0; i + PXT_LOG_SEEN_BYTES <= bytes; i += STEP) {
			if (pxt_log_begins_here(log, at + i))
				return offset + i;
		}
		offset += i;
	}
	return size;
}

/* Whether reading may go on with the block at @offset: it is sound, and none that came before. */
static bool usable(struct pxt_log *log, uint64_t offset, struct pxt_log_blockhead *head)
{
	const unsigned char *block;

	if (pxt_log_load(log, offset, head, &block))
		return false;
	if (head->type == PXT_LOG_DATA)
		return log->header.layout == PXT_LAYOUT_SEQUENTIAL &&
		       head->sequence >= log->scan.data_blocks;
	return head->sequence >= log->scan.meta_blocks;
}

/*
 * What the sums say lies between the last DATA block that was read, whose sums are *records and *lost, and
 * @head's.  Gaps are in the order of the file.
 */
static void add_gap(struct pxt_log *log, struct pxt_log_gap gap, uint32_t place,
    const struct pxt_log_blockhead *head, uint64_t *records, uint64_t *lost)
{
	uint64_t records_before =
	    head->records_total - (head->type == PXT_LOG_DATA ? head->count : 0);
	uint64_t lost_before = head->lost_total - head->lost;

	if (log->header.layout == PXT_LAYOUT_SEQUENTIAL) {
		if (records_before > *records)
			gap.missing = records_before - *records;
		pxt_sum_add(&log->scan.missing, gap.missing);
		if (lost_before > *lost)
			pxt_sum_add(&gap.missing, lost_before - *lost);
		*records = records_before;
		*lost = lost_before;
	}
	for (uint32_t i = log->scan.gap_count++; i > place; i--)
		log->gaps[i] = log->gaps[i - 1];
	log->gaps[place] = gap;
}

/* @blocks: before it. */
static void describe(uint64_t blocks, const struct posix_trace_logerror_np *error,
    struct posix_trace_logfinding_np *finding)
{
	finding->posix_kind_np = POSIX_TRACE_FINDING_DAMAGE_NP;
	finding->posix_block_np = blocks;
	finding->posix_offset_np = error->posix_offset_np;
	memcpy(finding->posix_reason_np, error->posix_reason_np, sizeof(finding->posix_reason_np));
}

/* After what cannot be read at log->scan.at. */
static int skip(struct pxt_log *log, struct posix_trace_logfinding_np *finding)
{
	struct posix_trace_logerror_np error = log->damage;
	struct pxt_log_blockhead head = { 0 };
	uint64_t next = log->scan.at;
	const unsigned char *block;
	uint64_t size;

	log->unreadable = false;
	if (pxt_log_end_of_file(log, log->scan.at, &size))
		return EIO;
	if (!log->scan.broken) {
		/* It may have been finished meanwhile. */
		if (!pxt_log_load(log, log->scan.at, &head, &block))
			return ENOENT;
		error = log->error;
		next += STEP;
	}
	/* Bound: the file's size. */
	while ((next = pxt_log_find_block(log, next, size)) < size && !usable(log, next, &head))
		next += STEP;
	if (log->unreadable)
		return EIO;
	if (next >= size)
		return ENOENT;
	if (!pxt_log_room_for_gap(log))
		return ENOMEM;
	describe(log->scan.data_blocks + log->scan.meta_blocks, &error, finding);
	add_gap(log, (struct pxt_log_gap){ log->scan.at, next, 0, 0 }, log->scan.gap_count, &head,
	    &log->scan.data_records, &log->scan.data_lost);
	log->scan.at = next;
	log->scan.broken = false;
	log->scan.unsure_data = true;
	log->scan.unsure_meta = true;
	return 0;
}

/* The frame after the newest one, when newer ones than it are there. */
static int skip_frame(struct pxt_log *log, struct posix_trace_logfinding_np *finding)
{
	struct posix_trace_logerror_np error = { 0,
		"a frame holds no sound block, though newer ones "
		"do" };
	bool any = log->scan.any_frame;
	uint64_t before = log->newest;

	if (pxt_log_more_frames(log))
		return ENOENT;
	(void)pxt_log_scan_frames(log);
	if (!log->scan.any_frame || (any && log->newest == before))
		return ENOENT;
	error.posix_offset_np = log->header.data_offset + (any ? before + 1 : 0) %
	                                                      log->header.frames *
	                                                      (uint64_t)log->header.frame_bytes;
	describe(log->scan.data_blocks + log->scan.meta_blocks, &error, finding);
	return 0;
}

/* Complete, sequential: after the block that was entered and cannot be loaded, and those like it. */
static int skip_entered(struct pxt_log *log, struct posix_trace_logfinding_np *finding)
{
	struct pxt_log_cursor *cursor = &log->cursor;
	uint64_t next = cursor->entered;
	struct posix_trace_logerror_np error;
	struct pxt_log_blockhead head = { 0 };
	const unsigned char *block;
	uint64_t blocks = 0;

	if (!cursor->body || !pxt_log_load(log, next, &head, &block))
		return ENOENT;
	error = log->error;
	/* Bound: the log's blocks, as opening has found them; the last one was checked then. */
	do {
		if (log->unreadable || pxt_log_load_head(log, next, &head, &block))
			return EIO;
		next += head.length;
		blocks++;
		if (next >= log->scan.at)
			return EIO;
	} while (pxt_log_load(log, next, &head, &block));
	if (!pxt_log_room_for_gap(log))
		return ENOMEM;
	describe(--cursor->blocks, &error, finding);
	cursor->entered_records = cursor->records;
	cursor->entered_lost = cursor->lost;
	add_gap(log, (struct pxt_log_gap){ cursor->entered, next, 0, blocks }, cursor->gap, &head,
	    &cursor->entered_records, &cursor->entered_lost);
	cursor->at = cursor->entered;
	cursor->body = 0;
	return 0;
}

/* Complete: after the frame that cannot be loaded.  The sums say what was in it when the next one is read. */
static int skip_entered_frame(struct pxt_log *log, struct posix_trace_logfinding_np *finding)
{
	struct pxt_log_cursor *cursor = &log->cursor;
	struct pxt_log_blockhead head;
	const unsigned char *block;

	if (!log->scan.any_frame || (cursor->done && !cursor->body) ||
	    !pxt_log_load_frame(log, cursor->sequence, &head, &block))
		return ENOENT;
	if (log->unreadable)
		return EIO;
	describe(cursor->sequence % log->header.frames, &log->error, finding);
	cursor->done = PXT_LOG_BLOCK_BYTES;
	cursor->body = 0;
	cursor->entered_records = cursor->records;
	cursor->entered_lost = cursor->lost;
	return 0;
}

static int skip_complete(struct pxt_log *log, struct posix_trace_logfinding_np *finding)
{
	log->unreadable = false;
	return log->header.layout == PXT_LAYOUT_FRAMES ? skip_entered_frame(log, finding)
	                                               : skip_entered(log, finding);
}

static int skip_growing(struct pxt_log *log, struct posix_trace_logfinding_np *finding)
{
	int error = ENOENT;

	if (log->complete)
		return ENOENT;
	if (log->header.layout == PXT_LAYOUT_FRAMES)
		error = skip_frame(log, finding);
	return error == ENOENT ? skip(log, finding) : error;
}

int pxt_log_skip_damage(struct pxt_log *log, struct posix_trace_logfinding_np *finding)
{
	/* The window is used for looking: what is unread in it comes first. */
	if (log->cursor.left != 0)
		return ENOENT;
	pxt_log_view_again(log);
	return log->growing ? skip_growing(log, finding) : skip_complete(log, finding);
}
