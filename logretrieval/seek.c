/* SPDX-License-Identifier: MIT */
/*
 * seek.c - posix_trace_seek_np(): to the first event that is not before a time.
 *
 * Reported times never decrease, as each is at least the largest one before.  So the place is the first
 * record whose stamp is late enough, and a block whose head says that its largest stamp is too early is
 * passed over unread, whatever clocks did in it.
 *
 * A head may lie.  The block that is landed in, and the last one with records before it, are read and
 * compared with their heads; where these differ, or where times need not grow with stamps, all is read
 * from the beginning.
 *
 * Opening has read all heads, and keeps what some of them say, PXT_LOG_MARKS at most.  Of a complete sequential
 * log only the heads near the place are read again.
 */
#include "logretrieval/log.h"

#include "base/attr.h"

#include <errno.h>

struct seek {
	int64_t ns;
	struct posix_trace_logpassed_np passed;
	/* Before the last block with records that is passed over: reading begins there. */
	struct pxt_log_cursor from;
	struct posix_trace_logpassed_np before;
	bool heads_help;
};

static bool is_late(struct pxt_log *log, const struct seek *seek, uint64_t ticks)
{
	struct timespec time;

	pxt_log_time(log, ticks, &time);
	return pxt_ticks_as_ns(&time) >= seek->ns;
}

/* Past blocks that are too early, as the index says; the last one of them may be one that is not passed. */
static void pass_marks(struct pxt_log *log, struct seek *seek)
{
	const struct pxt_log_index *index = log->index;
	const struct pxt_log_mark *mark;
	uint32_t low = 0;

	if (!index || index->off || log->growing || log->scan.gap_count != index->next.gaps ||
	    index->count < 3 || log->scan.first != log->header.header_bytes)
		return;
	for (uint32_t high = index->count; high - low > 1;) {
		uint32_t middle = low + (high - low) / 2;

		if (index->marks[middle].newest && is_late(log, seek, index->marks[middle].newest))
			high = middle;
		else
			low = middle;
	}
	if (low < 2)
		return;
	/* Before the place are blocks with records that are read, if heads are true. */
	mark = &index->marks[low - 1];
	log->cursor.at = mark->at;
	log->cursor.blocks = mark->blocks;
	log->cursor.entered = mark->entered;
	log->cursor.entered_records = mark->records_total;
	log->cursor.entered_lost = mark->lost_total;
	log->cursor.gap = mark->gaps;
	seek->passed = mark->passed;
	seek->before = mark->passed;
}

/* Up to the first block that is late enough.  Bound: the log's blocks. */
static int pass_blocks(struct pxt_log *log, struct seek *seek)
{
	const struct posix_trace_logblock_np *block = &log->cursor.block;
	int error = 0;

	pass_marks(log, seek);
	seek->from = log->cursor;
	seek->heads_help = true;
	while (!error && seek->heads_help) {
		struct pxt_log_cursor here = log->cursor;

		error = pxt_log_enter_next(log);
		if (error)
			break;
		seek->heads_help = pxt_log_is_sensible(log, block->posix_records_np,
		    block->posix_begin_ticks_np, block->posix_end_ticks_np);
		if (block->posix_records_np && is_late(log, seek, block->posix_end_ticks_np))
			break;
		if (block->posix_records_np) {
			seek->from = here;
			seek->from.body = 0;
			seek->from.pending = 0; /* @before has it */
			seek->before = seek->passed;
		}
		seek->passed.posix_records_np += block->posix_records_np;
		pxt_sum_add(&seek->passed.posix_lost_np, block->posix_lost_np);
	}
	return error == ENODATA ? 0 : error;
}

/* Whether no record of the block that was entered has a stamp that its head excludes. */
static bool head_is_true(const struct pxt_log *log)
{
	const struct pxt_log_cursor *cursor = &log->cursor;
	const unsigned char *at = cursor->next;
	struct pxt_log_record record;

	/* Bound: the block's slots. */
	for (uint32_t left = cursor->left; left; left -= record.slots * PXT_SLOT_BYTES) {
		if (!pxt_logfmt_get_record(at, left, &log->header, &record))
			return false;
		if (pxt_info_id(record.info) != PXT_LOG_ID_LOSS &&
		    (record.ticks < cursor->block.posix_begin_ticks_np ||
		        record.ticks > cursor->block.posix_end_ticks_np))
			return false;
		at += (size_t)record.slots * PXT_SLOT_BYTES;
	}
	return true;
}

/* To the next slot.  EAGAIN: the head of the block that was entered lies. */
static int find_slot(struct pxt_log *log, const struct seek *seek)
{
	bool entering = log->cursor.left == 0;
	int error = pxt_log_find_slot(log);

	return !error && entering && seek->heads_help && !head_is_true(log) ? EAGAIN : error;
}

/* 0: at a record that is late enough, or at the end. */
static int pass_records(struct pxt_log *log, struct seek *seek)
{
	struct pxt_log_cursor *cursor = &log->cursor;
	struct pxt_log_record record;
	int error;

	/* Bound: the log's slots. */
	while ((error = find_slot(log, seek)) == 0) {
		bool loss;

		if (!pxt_logfmt_get_record(cursor->next, cursor->left, &log->header, &record))
			return EIO;
		loss = pxt_info_id(record.info) == PXT_LOG_ID_LOSS;
		if (!loss && is_late(log, seek, record.ticks))
			return 0;
		cursor->next += (size_t)record.slots * PXT_SLOT_BYTES;
		cursor->left -= record.slots * PXT_SLOT_BYTES;
		if (loss) {
			pxt_sum_add(&cursor->pending, record.ticks);
			continue;
		}
		cursor->number++;
		seek->passed.posix_records_np++;
		pxt_sum_add(&seek->passed.posix_lost_np, cursor->pending);
		cursor->pending = 0;
	}
	return error == ENODATA ? 0 : error;
}

static int go(struct pxt_log *log, struct seek *seek)
{
	int error = 0;

	pxt_log_rewind(log);
	/* A frame of a growing log may have got more records, or another block. */
	if (log->header.layout == PXT_LAYOUT_SEQUENTIAL || !log->growing)
		error = pass_blocks(log, seek);
	if (error)
		return error;
	if (seek->heads_help) {
		log->cursor = seek->from;
		seek->passed = seek->before;
		error = pass_records(log, seek);
		if (error != EAGAIN)
			return error;
	}
	seek->heads_help = false;
	seek->passed = (struct posix_trace_logpassed_np){ 0, 0 };
	pxt_log_rewind(log);
	return pass_records(log, seek);
}

int pxt_log_seek(struct pxt_log *log, int64_t ns, struct posix_trace_logpassed_np *passed)
{
	struct seek seek = { .ns = ns };
	int error = go(log, &seek);

	*passed = seek.passed;
	return error;
}

PXT_API int posix_trace_seek_np(
    trace_id_t trid, int64_t ns, struct posix_trace_logpassed_np *passed, size_t bytes)
{
	struct posix_trace_logpassed_np own = { 0, 0 };
	int error = PXT_LOG_ASK(trid, &own, seek(object, ns, &own));

	if (!error && passed)
		pxt_give(passed, bytes, &own, sizeof(own));
	return error;
}
