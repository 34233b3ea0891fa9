/* SPDX-License-Identifier: MIT */
/* whole.c - an event of a stream without log as a whole; one that has no room stays. */
#include "core/read/take.h"
#include "online/fill.h"
#include "online/online.h"

#include <errno.h>

int pxt_online_whole(void *object, const struct pxt_getnext *request)
{
	struct pxt_stream *stream = object;
	struct pxt_origin origin;
	struct pxt_item item;

	if (pxt_stream_enter_as(stream, request->trid))
		return EINVAL;
	/* Bound: each round more means that writers have overwritten what was next. */
	do {
		if (pxt_consumer_next(stream, &item) != PXT_NEXT_READY)
			return pxt_stream_leave(stream, 0);
		if (pxt_info_bytes(item.info) > request->num_bytes) {
			*request->data_len = pxt_info_bytes(item.info);
			*request->unavailable = 0;
			return pxt_stream_leave(stream, EMSGSIZE);
		}
	} while (!pxt_take_data(stream, &item, request->data, request->num_bytes, &origin));
	pxt_consumer_done(stream, &item);
	pxt_fill(stream, &item, &origin, request);
	return pxt_stream_leave(stream, 0);
}
