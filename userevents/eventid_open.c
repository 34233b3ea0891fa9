/* SPDX-License-Identifier: MIT */
/* eventid_open.c - names of user event types, from the traced program's side. */
#include "base/attr.h"
#include "core/record/opentype.h"

#include <errno.h>

PXT_API int posix_trace_eventid_open(
    const char *restrict event_name, trace_event_id_t *restrict event_id)
{
	if (!pxt_arg_given(event_name) || !pxt_arg_given(event_id))
		return EINVAL;
	return pxt_opentype_named(event_name, event_id);
}
