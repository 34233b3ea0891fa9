/* SPDX-License-Identifier: MIT */
/*
 * getstate.c - questions about attributes, status, clock and descriptions: the arguments are checked
 * here; a stream answers in core/control/status.c, a log in logretrieval/ops.c.
 */
#include "base/attr.h"
#include "base/handle.h"

#include <errno.h>

PXT_API int posix_trace_get_attr(trace_id_t trid, trace_attr_t *attr)
{
	const struct pxt_ops *ops;
	void *object = pxt_handle_find(trid, &ops);

	if (!object || !pxt_arg_given(attr))
		return EINVAL;
	return ops->get_attr(object, trid, attr);
}

PXT_API int posix_trace_get_status(trace_id_t trid, struct posix_trace_status_info *statusinfo)
{
	const struct pxt_ops *ops;
	void *object = pxt_handle_find(trid, &ops);

	if (!object || !pxt_arg_given(statusinfo))
		return EINVAL;
	return ops->get_status(object, trid, statusinfo);
}

PXT_API int posix_trace_getclock_np(trace_id_t trid, struct posix_trace_clock_np *clock)
{
	const struct pxt_ops *ops;
	void *object = pxt_handle_find(trid, &ops);

	if (!object || !pxt_arg_given(clock))
		return EINVAL;
	return ops->get_clock(object, trid, clock);
}

PXT_API int posix_trace_eventid_getformat_np(
    trace_id_t trid, trace_event_id_t event_id, char *format)
{
	const struct pxt_ops *ops;
	void *object = pxt_handle_find(trid, &ops);

	if (!object || !pxt_arg_given(format))
		return EINVAL;
	return ops->type_format(object, trid, event_id, format);
}
