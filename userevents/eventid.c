/* SPDX-License-Identifier: MIT */
/* eventid.c - types of user events by name, and descriptions of their data. */
#include "base/attr.h"

#include "core/process/names.h"
#include "core/record/opentype.h"

#include <errno.h>
#include <trace_np.h>

PXT_API int posix_trace_eventid_open(
    const char *restrict event_name, trace_event_id_t *restrict event_id)
{
	if (!pxt_arg_given(event_name) || !pxt_arg_given(event_id))
		return EINVAL;
	return pxt_opentype_named(event_name, event_id);
}

/* ---- Descriptions of their data ---- */

PXT_API int posix_trace_eventid_setformat_np(trace_event_id_t event_id, const char *format)
{
	if (!pxt_arg_given(format))
		return EINVAL;
	return pxt_names_set_format(event_id, format);
}
