/* SPDX-License-Identifier: MIT */
/*
 * getstate.c - questions about attributes, status, clock, event types and descriptions: the arguments are checked
 * here; a stream answers in core/control/status.c, a log in logretrieval/ops.c.
 */
#include "base/attr.h"

#include "base/handle.h"

#include <errno.h>
#include <string.h>

PXT_API int posix_trace_get_attr(trace_id_t trid, trace_attr_t *attr)
{
	const struct pxt_ops *ops;
	void *object = pxt_handle_find(trid, &ops);
	struct _pxt_attr own;
	int error;

	if (!object || !pxt_arg_given(attr))
		return EINVAL;
	error = ops->get_attr(object, trid, &own);
	if (error)
		return error;
	memset(attr, 0, sizeof(*attr));
	attr->_pxt_kept = own;
	return 0;
}

PXT_API int posix_trace_get_status(trace_id_t trid, struct posix_trace_status_info *statusinfo)
{
	const struct pxt_ops *ops;
	void *object = pxt_handle_find(trid, &ops);

	if (!object || !pxt_arg_given(statusinfo))
		return EINVAL;
	return ops->get_status(object, trid, statusinfo);
}

PXT_API int posix_trace_getclock_np(
    trace_id_t trid, struct posix_trace_clock_np *clock, size_t bytes)
{
	struct posix_trace_clock_np own;
	const struct pxt_ops *ops;
	void *object = pxt_handle_find(trid, &ops);
	int error;

	if (!object || !pxt_arg_given(clock))
		return EINVAL;
	error = ops->get_clock(object, trid, &own);
	if (!error)
		pxt_give(clock, bytes, &own, sizeof(own));
	return error;
}

PXT_API int posix_trace_eventid_getformat_np(
    trace_id_t trid, trace_event_id_t event_id, char *format, size_t room)
{
	const struct pxt_ops *ops;
	void *object = pxt_handle_find(trid, &ops);
	char whole[POSIX_TRACE_FORMAT_MAX_NP + 1];
	const char *end;
	int error;

	if (!object || !pxt_arg_given(format))
		return EINVAL;
	error = ops->type_format(object, trid, event_id, whole);
	if (error)
		return error;
	/* A board has no strlen(). */
	end = memchr(whole, '\0', sizeof(whole));
	if (!end || (size_t)(end - whole) >= room)
		return ERANGE;
	memcpy(format, whole, (size_t)(end - whole) + 1);
	return 0;
}

/* ---- Types ---- */

/* Plain comparison: identifiers of one stream are numbers of one list (DEC-31). */
PXT_API int posix_trace_eventid_equal(
    trace_id_t trid, trace_event_id_t event1, trace_event_id_t event2)
{
	(void)trid;
	return event1 == event2;
}

PXT_API int posix_trace_eventid_get_name(trace_id_t trid, trace_event_id_t event, char *event_name)
{
	const struct pxt_ops *ops;
	void *object = pxt_handle_find(trid, &ops);

	if (!object || !pxt_arg_given(event_name))
		return EINVAL;
	return ops->type_name(object, trid, event, event_name);
}
PXT_PLAIN_NAME(posix_trace_eventid_get_name, _PXT_NAMES_NAME);

PXT_API int posix_trace_eventtypelist_getnext_id(
    trace_id_t trid, trace_event_id_t *restrict event, int *restrict unavailable)
{
	const struct pxt_ops *ops;
	void *object = pxt_handle_find(trid, &ops);
	trace_event_id_t next = 0;
	int error;

	if (!object || !pxt_arg_given(event) || !pxt_arg_given(unavailable))
		return EINVAL;
	error = ops->type_next(object, trid, &next);
	if (error)
		return error;
	*unavailable = next == 0;
	if (next != 0)
		*event = next;
	return 0;
}

PXT_API int posix_trace_eventtypelist_rewind(trace_id_t trid)
{
	const struct pxt_ops *ops;
	void *object = pxt_handle_find(trid, &ops);

	if (!object)
		return EINVAL;
	return ops->type_rewind(object, trid);
}
