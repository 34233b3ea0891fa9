/* SPDX-License-Identifier: MIT */
/* setformat.c - describes the payload of a user event type. */
#include "base/attr.h"
#include "core/process/names.h"

#include <errno.h>
#include <trace_np.h>

PXT_API int posix_trace_eventid_setformat_np(trace_event_id_t event_id, const char *format)
{
	if (!pxt_arg_given(format))
		return EINVAL;
	return pxt_names_set_format(event_id, format);
}
