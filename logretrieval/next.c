/* SPDX-License-Identifier: MIT */
/* next.c - the cursor of a log: rewind, the next block, the next slot, and whose record is there. */
#include "logretrieval/log.h"

#include <errno.h>

void pxt_log_rewind(struct pxt_log *log)
{
	struct pxt_log_cursor *cursor = &log->cursor;

	memset(cursor, 0, sizeof(*cursor));
	memset(&log->line, 0, sizeof(log->line));
	cursor->at = log->scan.first;
	cursor->blocks = log->scan.first_block;
	/* As if the block in front had been read. */
	cursor->entered = log->scan.first - 1u;
	cursor->entered_records = log->scan.first_records;
	cursor->entered_lost = log->scan.first_lost;
	cursor->sequence = log->scan.any_frame ? log->oldest : 0;
}

/* A growing log was cleared meanwhile: what came before, and what was missing in it, does not count. */
static void pass_cleared(struct pxt_log *log)
{
	struct pxt_log_cursor *cursor = &log->cursor;

	if (cursor->at >= log->scan.first)
		return;
	cursor->at = log->scan.first;
	cursor->pending = 0;
	while (cursor->gap < log->scan.gap_count && log->gaps[cursor->gap].from < log->scan.first)
		cursor->gap++;
}

/* Passes over damage that the cursor is at; returns what is missing there. */
static uint64_t pass_gaps(struct pxt_log *log)
{
	struct pxt_log_cursor *cursor = &log->cursor;
	uint64_t missing = 0;

	while (cursor->gap < log->scan.gap_count && log->gaps[cursor->gap].from <= cursor->at) {
		const struct pxt_log_gap *gap = &log->gaps[cursor->gap++];

		cursor->at = gap->to > cursor->at ? gap->to : cursor->at;
		cursor->blocks += gap->blocks;
		pxt_sum_add(&missing, gap->missing);
	}
	pxt_sum_add(&cursor->pending, missing);
	return missing;
}

/* Sequential: enters the DATA block at @offset, whose records are loaded when they are asked for. */
static void enter(
    struct pxt_log *log, uint64_t offset, const struct pxt_log_blockhead *head, uint64_t missing)
{
	struct pxt_log_cursor *cursor = &log->cursor;
	/* Each file counts anew. */
	bool goes_on =
	    pxt_log_begin_of_file(log, cursor->entered) == pxt_log_begin_of_file(log, offset);

	cursor->records = goes_on ? cursor->entered_records : 0;
	cursor->lost = goes_on ? cursor->entered_lost : 0;
	cursor->entered_records = head->records_total;
	cursor->entered_lost = head->lost_total;
	cursor->entered = offset;
	cursor->body = head->length;
	cursor->number =
	    pxt_log_records_before(log, offset) + head->records_total - head->count + head->missed;
	pxt_sum_add(&missing, head->lost);
	cursor->block = (struct posix_trace_logblock_np){ head->sequence, head->count, missing,
		head->begin, head->end, !(head->flags & PXT_LOG_FLAG_NAMELESS) };
}

/*
 * A block without records or losses is passed over; of a complete log it is checked before, because the
 * damage may be that it says so.
 */
static int next_block(struct pxt_log *log)
{
	struct pxt_log_cursor *cursor = &log->cursor;
	struct pxt_log_blockhead head;
	const unsigned char *block;
	uint64_t missing;

	pass_cleared(log);
	missing = pass_gaps(log);
	while (cursor->at < log->scan.at) {
		uint64_t offset = cursor->at;
		bool empty;

		if (pxt_log_load_head(log, offset, &head, &block))
			return EIO;
		empty = head.count + head.lost == 0;
		cursor->at += head.length;
		cursor->blocks++;
		if (head.type == PXT_LOG_DATA &&
		    (!empty || (!log->growing && pxt_log_load(log, offset, &head, &block)))) {
			enter(log, offset, &head, missing);
			return 0;
		}
		pxt_sum_add(&missing, pass_gaps(log));
	}
	return ENODATA;
}

/*
 * The records of the block that was entered.  A damaged block stays the one that is next, unless it is
 * passed over (skipdamage.c).
 */
static int load_body(struct pxt_log *log)
{
	struct pxt_log_cursor *cursor = &log->cursor;
	struct pxt_log_blockhead head;
	const unsigned char *block;

	if (pxt_log_load(log, cursor->entered, &head, &block) || head.length != cursor->body)
		return EIO;
	if (!log->growing) {
		cursor->entered_records = head.records_total;
		cursor->entered_lost = head.lost_total;
	}
	cursor->next = block + PXT_LOG_BLOCK_BYTES;
	cursor->left = head.slot_bytes;
	cursor->body = 0;
	return 0;
}

/* To the next block, or into the one that was entered; where a growing log ends, what came since is looked for. */
static int go_on(struct pxt_log *log)
{
	int error = log->header.layout == PXT_LAYOUT_FRAMES ? pxt_log_next_frame(log)
	            : log->cursor.body                      ? load_body(log)
	                                                    : next_block(log);

	return error == ENODATA ? pxt_log_scan_more(log) : pxt_log_follow_clear(log, error);
}

int pxt_log_find_slot(struct pxt_log *log)
{
	int error = 0;

	while (!error && log->cursor.left == 0)
		error = go_on(log);
	return error;
}

/* A little-endian number of 8 bytes. */
static uint64_t little(const unsigned char *at)
{
	return pxt_get64(at, __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__);
}

static void get_extra(struct pxt_log *log, const unsigned char *at, struct pxt_log_context *context)
{
	unsigned char raw[PXT_THREAD_EXTRA_BYTES + 4] = { 0 };
	unsigned char index[8] = { 0 };
	int32_t tid;

	pxt_logfmt_get_payload(at, log->header.ctx_bytes, raw, PXT_THREAD_EXTRA_BYTES);
	context->thread = little(raw);
	context->pid = (int32_t)(uint32_t)little(raw + 8);
	context->exact = true;
	if (!(log->header.contents & PXT_LOG_HAS_THREAD))
		return;
	pxt_logfmt_get_payload(at, 0, index, 2);
	tid = pxt_extra_unpack(&context->thread, (uint32_t)little(index));
	if (tid)
		context->entry = pxt_log_find_placeless(log, context->thread, context->pid, tid);
}

static void get_thread(
    const struct pxt_log *log, uint32_t index, uint64_t ticks, struct pxt_log_context *context)
{
	uint32_t entry = pxt_log_find_thread(log, index, ticks);
	const struct pxt_log_thread *thread;

	if (!entry)
		return;
	thread = &log->threads[entry - 1].thread;
	context->entry = entry;
	context->thread = thread->thread;
	context->exact = true;
	if (thread->pid)
		context->pid = thread->pid;
}

void pxt_log_get_context(struct pxt_log *log, const unsigned char *at,
    const struct pxt_log_record *record, struct pxt_log_context *context)
{
	const struct pxt_log_header *header = &log->header;
	bool extra = pxt_info_extra(record->info);
	uint64_t number = 0;

	*context = (struct pxt_log_context){ 0, 0, log->process.pid, false, 0 };
	/* At most 8 of the 12 bytes in the first continuation slot. */
	if (header->ctx_bytes)
		number =
		    little(at + PXT_SLOT_BYTES + 4) & UINT64_MAX >> (64 - 8 * header->ctx_bytes);
	if (header->contents & PXT_LOG_HAS_THREAD) {
		if (!extra)
			get_thread(log, (uint32_t)(number & 0xffff), record->ticks, context);
		number >>= 16;
	}
	if (header->contents & PXT_LOG_HAS_ADDRESS) {
		context->address = number;
		/* Of 48 bits the highest one is the sign. */
		if (header->word_bytes == 8 && number >> 47)
			context->address |= UINT64_C(0xffff) << 48;
	}
	if (extra)
		get_extra(log, at, context);
}

int pxt_log_enter_next(struct pxt_log *log)
{
	struct pxt_log_cursor *cursor = &log->cursor;
	int error = 0;

	/* Who passes over a block unread wants the next one's head alone; what its own says was lost is told. */
	cursor->pending = cursor->body ? 0 : cursor->pending;
	pxt_log_look_ahead(log, cursor->body);
	cursor->left = 0;
	cursor->body = 0;
	while (!error && cursor->left + cursor->body == 0)
		error = go_on(log);
	log->ahead = 0;
	return error;
}

int pxt_log_nextblock(struct pxt_log *log, struct posix_trace_logblock_np *block, int *unavailable)
{
	int error = pxt_log_enter_next(log);

	if (!error) {
		*block = log->cursor.block;
		*unavailable = 0;
	}
	return error == ENODATA ? 0 : error;
}
