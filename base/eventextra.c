/* SPDX-License-Identifier: MIT */
/* eventextra.c - what the standard's structure of an event has no public members for. */
#include "base/attr.h"
#include "base/handle.h"

#include <errno.h>
#include <trace_np.h>

PXT_API int posix_trace_eventinfo_getextra_np(const struct posix_trace_event_info *event,
    struct posix_trace_eventextra_np *extra, size_t bytes)
{
	struct posix_trace_eventextra_np own;

	if (!pxt_arg_given(event) || !pxt_arg_given(extra))
		return EINVAL;
	own = (struct posix_trace_eventextra_np){
		.posix_cpu_np = event->_pxt_cpu,
		.posix_ticks_np = event->_pxt_ticks,
		.posix_lost_before_np = event->_pxt_lost_before,
		.posix_thread_exact_np = (event->_pxt_flags & PXT_EVENT_THREAD_EXACT) != 0,
		.posix_thread_entry_np = event->_pxt_entry - 1u,
		.posix_number_np = event->_pxt_flags & PXT_EVENT_NUMBERED ? event->_pxt_number : 0,
	};
	pxt_give(extra, bytes, &own, sizeof(own));
	return 0;
}
