/* SPDX-License-Identifier: MIT */
/*
 * views.c - many events of one block at once, their data where it was read.
 *
 * In a log four bytes that are no data stand between each twelve that are.  They are closed up within
 * the window, which is this log's own copy of the file: the window then no longer holds what the
 * file does, and what lies in front of the cursor is read again when it is needed again.
 */
#include "logretrieval/log.h"

#include "base/logfmt_bytes.h"

#include <errno.h>

#define NS_PER_S 1000000000

/* Puts @bytes payload bytes from payload byte @from on into one piece; returns where it begins. */
static const unsigned char *close_up(unsigned char *at, uint32_t from, uint32_t bytes)
{
	unsigned char *slot = at + (size_t)(1u + from / PXT_SLOT_PAYLOAD) * PXT_SLOT_BYTES;
	unsigned char *data = slot + 4 + from % PXT_SLOT_PAYLOAD;
	unsigned char *to = slot + PXT_SLOT_BYTES;
	const unsigned char *end = data + bytes;

	/* Bound: the record's slots, which pxt_log_get_record() has seen to be in the block. */
	while (to < end) {
		unsigned char part[PXT_SLOT_PAYLOAD];

		slot += PXT_SLOT_BYTES;
		memcpy(part, slot + 4, sizeof(part));
		memcpy(to, part, sizeof(part));
		to += sizeof(part);
	}
	return data;
}

static int64_t as_ns(const struct timespec *time)
{
	int64_t seconds = (int64_t)time->tv_sec;

	if (seconds >= INT64_MAX / NS_PER_S)
		return INT64_MAX;
	return seconds * NS_PER_S + (int64_t)time->tv_nsec;
}

static void fill(struct pxt_log *log, unsigned char *at, const struct pxt_log_record *record,
    struct posix_trace_eventview_np *view)
{
	uint32_t from = log->header.ctx_bytes;
	uint32_t bytes = pxt_info_bytes(record->info);
	uint32_t cpu = pxt_info_cpu(record->info);
	struct pxt_log_context context;
	struct timespec time;
	uintptr_t address;
	uintptr_t thread;

	pxt_log_get_context(log, at, record, &context);
	pxt_log_report_time(log, record->ticks, &time);
	address = (uintptr_t)context.address;
	thread = (uintptr_t)context.thread;
	if (pxt_info_extra(record->info))
		from += PXT_THREAD_EXTRA_BYTES;
	view->posix_event_id_np = pxt_info_id(record->info);
	view->posix_bytes_np = bytes;
	view->posix_data_np = bytes ? close_up(at, from, bytes) : at;
	view->posix_ns_np = as_ns(&time);
	view->posix_ticks_np = record->ticks;
	view->posix_lost_before_np = log->cursor.pending;
	view->posix_number_np = log->cursor.number++;
	memcpy(&view->posix_thread_id_np, &thread, sizeof(thread));
	memcpy(&view->posix_prog_address_np, &address, sizeof(address));
	view->posix_pid_np = context.pid;
	view->posix_cpu_np = cpu == PXT_CPU_UNKNOWN ? -1 : (int16_t)cpu;
	view->posix_cut_np = pxt_info_cut(record->info);
	view->posix_thread_exact_np = context.exact;
	log->cursor.pending = 0;
	if (log->header.swapped)
		pxt_log_swap_data(log, pxt_info_id(record->info),
		    (unsigned char *)(uintptr_t)view->posix_data_np, bytes);
}

/* Views of what is left of the block the cursor is in.  EIO: damage, and nothing before it. */
static int fill_from_block(
    struct pxt_log *log, struct posix_trace_eventview_np *views, size_t room, size_t *count)
{
	struct pxt_log_cursor *cursor = &log->cursor;
	struct pxt_log_record record;
	int error = 0;

	while (cursor->left != 0 && *count < room) {
		unsigned char *at = log->window + (cursor->next - log->window);

		if (!pxt_log_get_record(at, cursor->left, &log->header, &record)) {
			/* Behind other events the next call finds it again, and says so. */
			error = *count ? 0 : EIO;
			cursor->left = *count ? cursor->left : 0;
			break;
		}
		cursor->next += record.slots * PXT_SLOT_BYTES;
		cursor->left -= record.slots * PXT_SLOT_BYTES;
		if (pxt_info_id(record.info) == PXT_LOG_ID_LOSS)
			cursor->pending += record.ticks;
		else
			fill(log, at, &record, &views[(*count)++]);
	}
	pxt_log_view_spoilt(log, cursor->next);
	return error;
}

int pxt_log_views(void *object, struct posix_trace_eventview_np *views, size_t room, size_t *count)
{
	struct pxt_log *log = object;
	int error;

	pxt_log_lock(log);
	error = log->open ? 0 : EINVAL;
	/* A block may hold nothing but losses. */
	while (!error && *count == 0) {
		error = pxt_log_find_slot(log);
		if (!error)
			error = fill_from_block(log, views, room, count);
	}
	pxt_log_unlock(log);
	return error == ENODATA ? 0 : error;
}
