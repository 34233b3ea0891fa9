/* SPDX-License-Identifier: MIT */
/* open.c - opens and closes a log: posix_trace_open() and its kin. */
#include "base/attr.h"
#include "logretrieval/log.h"

#include <errno.h>

#define GROW_BYTES 8192u

/* All but the lock, which a late user of the old identifier may hold, and its place among all objects. */
static void clear_object(struct pxt_log *log)
{
	__atomic_store_n(&log->trid, 0, __ATOMIC_RELAXED);
	pxt_log_free_tables(log);
	pxt_port_heap_free(log->index);
	pxt_log_close_files(log);
	pxt_log_give_window(log);
	memset((unsigned char *)log + offsetof(struct pxt_log, next_free), 0,
	    sizeof(*log) - offsetof(struct pxt_log, next_free));
}

static int read_file(struct pxt_log *log, bool explained)
{
	int error;

	if (!pxt_log_take_window(log))
		return ENOMEM;
	error = pxt_log_read_header(log);
	if (error)
		return error;
	log->window_bytes = log->header.layout == PXT_LAYOUT_FRAMES ? log->header.frame_bytes
	                                                            : log->header.largest_block;
	if (log->window_bytes < PXT_LOG_WINDOW_BYTES)
		log->window_bytes = PXT_LOG_WINDOW_BYTES;
	pxt_log_view_again(log);
	pxt_log_begin(log);
	error = pxt_log_scan(log);
	if (error == EINVAL && explained)
		pxt_log_scan_again(log);
	if (error)
		return error;
	pxt_log_rewind(log);
	return 0;
}

static int describe_descriptor(struct pxt_log *log, int error)
{
	if (error == EBADF)
		return pxt_log_fail(log, 0, "the descriptor is not open for reading");
	if (error == EINVAL)
		return pxt_log_fail(
		    log, 0, "not a regular file (save a pipe's or device's bytes in one first)");
	return error;
}

static int find_cell(struct pxt_log *log, trace_id_t *trid)
{
	void *memory;

	if (pxt_handle_add(&pxt_log_ops, log, trid) == 0)
		return 0;
	memory = pxt_port_heap_resize(NULL, GROW_BYTES);
	if (!memory)
		return ENOMEM;
	memset(memory, 0, GROW_BYTES);
	if (pxt_handle_grow(memory, GROW_BYTES) != 0) {
		pxt_port_heap_free(memory);
		return ENOMEM;
	}
	return pxt_handle_add(&pxt_log_ops, log, trid);
}

/* A fork asks without the lock whether the log has an identifier (lock.c). */
static int add_handle(struct pxt_log *log, trace_id_t *trid)
{
	int error = find_cell(log, trid);

	if (!error)
		__atomic_store_n(&log->trid, *trid, __ATOMIC_RELAXED);
	return error;
}

/* @count is 1 for a log that is one file. */
static int open_log(const int *fds, size_t count, trace_id_t *trid, bool growing,
    struct posix_trace_logerror_np *explanation, size_t explanation_bytes)
{
	struct pxt_log *log;
	int error;

	if (!pxt_arg_given(trid))
		return EINVAL;
	log = pxt_log_take_object();
	if (!log)
		return ENOMEM;
	pxt_log_lock(log);
	log->growing = growing;
	error = describe_descriptor(log, pxt_port_file_open(&log->file, fds[0]));
	if (!error && count > 1) {
		error = pxt_log_open_files(log, fds, count);
		if (error)
			pxt_port_file_close(&log->file);
	}
	if (!error) {
		error = read_file(log, explanation != NULL);
		log->open = true;
		if (!error)
			error = add_handle(log, trid);
		if (error) {
			pxt_port_file_close(&log->file);
			log->open = false;
		}
	}
	if (error) {
		if (explanation)
			pxt_give(explanation, explanation_bytes, &log->error, sizeof(log->error));
		clear_object(log);
	}
	pxt_log_unlock(log);
	if (error)
		pxt_log_give_object(log);
	return error;
}

int pxt_log_close(void *object, trace_id_t trid)
{
	struct pxt_log *log = object;

	/* Of two who close one log, the second finds it closed, or another thread's. */
	if (pxt_log_enter(log, trid))
		return EINVAL;
	pxt_port_file_close(&log->file);
	clear_object(log);
	pxt_log_unlock(log);
	pxt_log_give_object(log);
	return 0;
}

PXT_API int posix_trace_open(int file_desc, trace_id_t *trid)
{
	return open_log(&file_desc, 1, trid, false, NULL, 0);
}

PXT_API int posix_trace_log_open_np(const int *file_descs, size_t count, int flags,
    trace_id_t *trid, struct posix_trace_logerror_np *error, size_t bytes)
{
	if (!pxt_arg_given(file_descs) || !count || flags & ~POSIX_TRACE_OPEN_GROWING_NP)
		return EINVAL;
	return open_log(file_descs, count, trid, flags & POSIX_TRACE_OPEN_GROWING_NP, error, bytes);
}

PXT_API int posix_trace_rewind(trace_id_t trid)
{
	return PXT_HANDLE_ASK(trid, ops->rewind, ops->rewind(object));
}

PXT_API int posix_trace_close(trace_id_t trid)
{
	const struct pxt_ops *ops;
	void *object = pxt_handle_find(trid, &ops);

	if (!object || !ops->close)
		return EINVAL;
	/* First, so that the object may be used again as soon as it is closed. */
	pxt_handle_remove(trid);
	return ops->close(object, trid);
}

/* ---- What is asked of a log by the standard's functions ---- */

/* Attributes, status, types, clock. */

static int get_attr(void *object, struct _pxt_attr *attr)
{
	const struct pxt_log *log = object;

	*attr = log->complete ? log->trailer.attr : log->header.attr;
	return 0;
}

/* Without a trailer the log does not say whether the stream was stopped. */
static void growing_status(const struct pxt_log *log, struct posix_trace_status_info *status)
{
	memset(status, 0, sizeof(*status));
	status->posix_stream_status = POSIX_TRACE_RUNNING;
	status->posix_stream_overrun_status =
	    log->scan.lost_total ? POSIX_TRACE_OVERRUN : POSIX_TRACE_NO_OVERRUN;
	if (log->scan.any_frame && log->oldest != 0) {
		status->posix_log_overrun_status = POSIX_TRACE_OVERRUN;
		status->posix_log_full_status = POSIX_TRACE_FULL;
	}
}

static int get_status(void *object, struct posix_trace_status_info *status)
{
	struct pxt_log *log = object;

	if (log->complete)
		*status = log->trailer.status;
	else
		growing_status(log, status);
	return 0;
}

/* Copies a text of the type's, or says that there is no such type. */
static int type_text(const struct pxt_log *log, trace_event_id_t id, char *name, char *format)
{
	const struct pxt_log_name *known = id < PXT_LOG_IDS ? log->names[id] : NULL;

	if (!known)
		return EINVAL;
	if (name)
		memcpy(name, known->name, strlen(known->name) + 1);
	if (format)
		memcpy(format, known->format, strlen(known->format) + 1);
	return 0;
}

static int type_name(void *object, trace_event_id_t id, char *name)
{
	return type_text(object, id, name, NULL);
}

static int type_format(void *object, trace_event_id_t id, char *format)
{
	return type_text(object, id, NULL, format);
}

static int type_next(void *object, trace_event_id_t *next)
{
	struct pxt_log *log = object;
	trace_event_id_t id = 0;

	/* The position stays before the end, so that types of a growing log are seen later. */
	while (id == 0 && log->type_position + 1 < PXT_LOG_IDS) {
		uint32_t i;

		for (i = log->type_position + 1; i < PXT_LOG_IDS && !log->names[i]; i++)
			;
		if (i == PXT_LOG_IDS)
			break;
		log->type_position = i;
		id = i;
	}
	*next = id;
	return 0;
}

static int type_rewind(void *object)
{
	struct pxt_log *log = object;

	log->type_position = 0;
	return 0;
}

static int get_clock(void *object, struct posix_trace_clock_np *clock)
{
	pxt_log_get_ticks(object, clock);
	return 0;
}

static int rewind_log(void *object)
{
	pxt_log_rewind(object);
	return 0;
}

const struct pxt_ops pxt_log_ops = {
	.begin_call = pxt_log_enter,
	.end_call = pxt_log_leave,
	.getnext = pxt_log_getnext,
	.getnext_whole = pxt_log_getnext_whole,
	.get_attr = get_attr,
	.get_status = get_status,
	.type_name = type_name,
	.type_format = type_format,
	.type_next = type_next,
	.type_rewind = type_rewind,
	.get_clock = get_clock,
	.rewind = rewind_log,
	.close = pxt_log_close,
	.views = pxt_log_views,
	.kind = &pxt_log_ops,
	.log = &pxt_log_getters,
};
