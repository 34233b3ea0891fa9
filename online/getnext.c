/* SPDX-License-Identifier: MIT */
/* getnext.c - events of a stream without log, one by one, as structures. */
#include "core/read/take.h"
#include "online/fill.h"
#include "online/online.h"
#include "online/sleep.h"

#include <errno.h>
#include <trace.h>

enum pxt_next pxt_online_take(struct pxt_stream *stream, const struct pxt_getnext *request)
{
	struct pxt_origin origin;
	struct pxt_item item;
	enum pxt_next found =
	    pxt_take_next(stream, &item, request->data, request->num_bytes, &origin);

	if (found == PXT_NEXT_READY)
		pxt_fill(stream, &item, &origin, request);
	return found;
}

int pxt_online_getnext(void *object, const struct pxt_getnext *request)
{
	struct pxt_stream *stream = object;
	int error = 0;

	if (pxt_stream_enter_as(stream, request->trid))
		return EINVAL;
	if (pxt_online_take(stream, request) != PXT_NEXT_READY && request->wait != PXT_WAIT_NOT)
		error = pxt_sleep_for_event(stream, request);
	return pxt_stream_leave(stream, error);
}
