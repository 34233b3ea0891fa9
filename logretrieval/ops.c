/* SPDX-License-Identifier: MIT */
/* ops.c - what is asked of a log by the standard's functions: attributes, status, types, clock. */
#include "logretrieval/log.h"

#include <errno.h>
#include <string.h>

static int get_attr(void *object, trace_id_t trid, struct _pxt_attr *attr)
{
	struct pxt_log *log = object;
	int error = pxt_log_enter(log, trid);

	if (error)
		return error;
	*attr = log->complete ? log->trailer.attr : log->header.attr;
	return pxt_log_leave(log, 0);
}

/* Without a trailer the log does not say whether the stream was stopped. */
static void growing_status(const struct pxt_log *log, struct posix_trace_status_info *status)
{
	memset(status, 0, sizeof(*status));
	status->posix_stream_status = POSIX_TRACE_RUNNING;
	status->posix_stream_overrun_status =
	    log->lost_total ? POSIX_TRACE_OVERRUN : POSIX_TRACE_NO_OVERRUN;
	if (log->any_frame && log->oldest != 0) {
		status->posix_log_overrun_status = POSIX_TRACE_OVERRUN;
		status->posix_log_full_status = POSIX_TRACE_FULL;
	}
}

static int get_status(void *object, trace_id_t trid, struct posix_trace_status_info *status)
{
	struct pxt_log *log = object;
	int error = pxt_log_enter(log, trid);

	if (error)
		return error;
	if (log->complete)
		*status = log->trailer.status;
	else
		growing_status(log, status);
	return pxt_log_leave(log, 0);
}

/* Copies a text of the type's, or says that there is no such type. */
static int type_text(void *object, trace_id_t trid, trace_event_id_t id, char *name, char *format)
{
	struct pxt_log *log = object;
	const struct pxt_log_name *known;
	int error = EINVAL;

	if (pxt_log_enter(log, trid))
		return EINVAL;
	known = id < PXT_LOG_IDS ? log->names[id] : NULL;
	if (known) {
		if (name)
			memcpy(name, known->name, strlen(known->name) + 1);
		if (format)
			memcpy(format, known->format, strlen(known->format) + 1);
		error = 0;
	}
	return pxt_log_leave(log, error);
}

static int type_name(void *object, trace_id_t trid, trace_event_id_t id, char *name)
{
	return type_text(object, trid, id, name, NULL);
}

static int type_format(void *object, trace_id_t trid, trace_event_id_t id, char *format)
{
	return type_text(object, trid, id, NULL, format);
}

static int type_next(void *object, trace_id_t trid, trace_event_id_t *next)
{
	struct pxt_log *log = object;
	trace_event_id_t id = 0;
	int error = pxt_log_enter(log, trid);

	if (error)
		return error;
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
	pxt_log_unlock(log);
	*next = id;
	return 0;
}

static int type_rewind(void *object, trace_id_t trid)
{
	struct pxt_log *log = object;
	int error = pxt_log_enter(log, trid);

	if (error)
		return error;
	log->type_position = 0;
	return pxt_log_leave(log, 0);
}

static int get_clock(void *object, trace_id_t trid, struct posix_trace_clock_np *clock)
{
	struct pxt_log *log = object;
	int error = pxt_log_enter(log, trid);

	if (error)
		return error;
	pxt_log_get_ticks(log, clock);
	return pxt_log_leave(log, 0);
}

static int rewind_log(void *object, trace_id_t trid)
{
	struct pxt_log *log = object;
	int error = pxt_log_enter(log, trid);

	if (error)
		return error;
	pxt_log_rewind(log);
	return pxt_log_leave(log, 0);
}

const struct pxt_ops pxt_log_ops = {
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
