/* SPDX-License-Identifier: MIT */
/* trid_open.c - an event type by name, opened by the controller of a stream. */
#include "base/attr.h"
#include "core/record/opentype.h"
#include "core/stream/stream.h"

#include <errno.h>

PXT_API int posix_trace_trid_eventid_open(
    trace_id_t trid, const char *restrict event_name, trace_event_id_t *restrict event)
{
	struct pxt_stream *stream = pxt_stream_lock(trid);

	if (!stream)
		return EINVAL;
	pxt_stream_unlock(stream);
	if (!pxt_arg_given(event_name) || !pxt_arg_given(event))
		return EINVAL;
	return pxt_opentype_named(event_name, event);
}
