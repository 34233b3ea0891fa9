/* SPDX-License-Identifier: MIT */
/* eventid_open.c - names of user event types, from the traced program's side. */
#include "base/attr.h"
#include "core/process/names.h"
#include "core/record/full.h"
#include "core/stream/wanted.h"

#include <errno.h>

PXT_API int posix_trace_eventid_open(
    const char *restrict event_name, trace_event_id_t *restrict event_id)
{
	trace_event_id_t id;
	bool is_new;
	int error;

	if (!pxt_arg_given(event_name) || !pxt_arg_given(event_id))
		return EINVAL;
	error = pxt_names_open(event_name, &id, &is_new);
	if (error != 0)
		return error;
	/* Before the caller can use it: streams that run already want it too (EVENT-11). */
	if (is_new)
		pxt_wanted_type_added(id);
	pxt_full_report(id);
	*event_id = id;
	return 0;
}
