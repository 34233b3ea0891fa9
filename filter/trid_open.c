/* SPDX-License-Identifier: MIT */
/* trid_open.c - an event type by name, opened by the controller of a stream. */
#include "base/attr.h"
#include "core/process/names.h"
#include "core/record/full.h"
#include "core/stream/stream.h"
#include "core/stream/wanted.h"

#include <errno.h>

PXT_API int posix_trace_trid_eventid_open(
    trace_id_t trid, const char *restrict event_name, trace_event_id_t *restrict event)
{
	struct pxt_stream *stream = pxt_stream_lock(trid);
	trace_event_id_t id;
	bool is_new;
	int error;

	if (!stream)
		return EINVAL;
	pxt_stream_unlock(stream);
	if (!pxt_arg_given(event_name) || !pxt_arg_given(event))
		return EINVAL;
	error = pxt_names_open(event_name, &id, &is_new);
	if (error)
		return error;
	if (is_new)
		pxt_wanted_type_added(id);
	pxt_full_report(id);
	*event = id;
	return 0;
}
