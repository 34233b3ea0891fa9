/* SPDX-License-Identifier: MIT */
/* getnext_events.c - retrieval of many events at once, of a log as well as of a stream. */
#include "base/attr.h"
#include "base/handle.h"

#include <errno.h>
#include <trace_np.h>

PXT_API int posix_trace_getnext_events_np(
    trace_id_t trid, struct posix_trace_eventview_np *views, size_t room, size_t *count)
{
	const struct pxt_ops *ops;
	void *object;

	if (!pxt_arg_given(count))
		return EINVAL;
	*count = 0;
	object = pxt_handle_find(trid, &ops);
	if (!object || !ops->views || room == 0 || !pxt_arg_given(views))
		return EINVAL;
	return ops->views(object, trid, views, room, count);
}
