/* SPDX-License-Identifier: MIT */
/* getnext_more.c - retrieval of an event as a whole, or not yet, and of many at once, of a log as well as of a stream. */
#include "base/attr.h"
#include "base/handle.h"

#include <errno.h>

/* As posix_trace_trygetnext_event(): NOLINTBEGIN(readability-non-const-parameter) */
PXT_API int posix_trace_trygetnext_whole_np(trace_id_t trid, struct posix_trace_event_info *event,
    void *data, size_t num_bytes, size_t *data_len, int *unavailable)
{
	const struct pxt_getnext request =
	    pxt_getnext_request(trid, event, data, num_bytes, data_len, unavailable, PXT_WAIT_NOT);

	if (unavailable)
		*unavailable = 1;
	return PXT_HANDLE_ASK(trid, ops->getnext_whole && pxt_getnext_given(&request),
	    ops->getnext_whole(object, &request));
}
/* NOLINTEND(readability-non-const-parameter) */

/*
 * For a program that was compiled with another release's headers, whose views have another size: the events are
 * got as if it had ours, as many as fit, and then moved to where it looks for them.
 */
static int views_of(const struct pxt_ops *ops, void *object, unsigned char *views,
    size_t view_bytes, size_t room, size_t *count)
{
	struct posix_trace_eventview_np one;
	struct posix_trace_eventview_np *found = &one;
	size_t fit = 1;
	int error;

	if (view_bytes >= sizeof(one) || room * view_bytes >= sizeof(one)) {
		found = (void *)views;
		fit = view_bytes >= sizeof(one) ? room : room * view_bytes / sizeof(one);
	}
	error = ops->views(object, found, fit, count);
	/* Larger ones from the last on, smaller ones from the first: none is overwritten before it is moved. */
	for (size_t i = 0; !error && i < *count; i++) {
		size_t at = view_bytes > sizeof(one) ? *count - 1 - i : i;

		one = found[at];
		pxt_give(views + at * view_bytes, view_bytes, &one, sizeof(one));
	}
	return error;
}

PXT_API int posix_trace_getnext_events_np(trace_id_t trid, struct posix_trace_eventview_np *views,
    size_t view_bytes, size_t room, size_t *count)
{
	if (!pxt_arg_given(count))
		return EINVAL;
	*count = 0;
	return PXT_HANDLE_ASK(trid,
	    ops->views && room != 0 && view_bytes != 0 && pxt_arg_given(views),
	    view_bytes == sizeof(*views)
	        ? ops->views(object, views, room, count)
	        : views_of(ops, object, (void *)views, view_bytes, room, count));
}
