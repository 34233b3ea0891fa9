/* SPDX-License-Identifier: MIT */
/* stack.c - events that tell which functions called. */
#include "core/record/emit.h"
#include "core/stream/wanted.h"
#include "port/port_sysinfo.h"

#include <errno.h>

static size_t put_callers(unsigned char *to, const void *caller, unsigned depth)
{
	uint64_t callers[POSIX_TRACE_STACK_MAX_NP];
	size_t bytes = pxt_port_callers(caller, callers, depth) * sizeof(*callers);

	memcpy(to, callers, bytes);
	return bytes;
}

/* Called by code of the program that was compiled into a trace point; its definition bounds @depth. */
PXT_API size_t _pxt_stack_callers(unsigned char *to, unsigned depth)
{
	return put_callers(to, __builtin_return_address(0), depth);
}

PXT_API int posix_trace_event_stack_np(
    trace_event_id_t event_id, const void *data, size_t len, unsigned depth)
{
	const void *caller = __builtin_return_address(0);
	const struct pxt_look look = pxt_look_user(event_id);
	unsigned char all[POSIX_TRACE_STACK_DATA_NP + POSIX_TRACE_STACK_MAX_NP * sizeof(uint64_t)];

	if (depth == 0 || depth > POSIX_TRACE_STACK_MAX_NP || len > POSIX_TRACE_STACK_DATA_NP ||
	    (len > 0 && !data))
		return EINVAL;
	if (PXT_LIKELY(!pxt_look_wanted(look, event_id)) ||
	    event_id - PXT_LOOK_USER_FIRST >= PXT_ID_COUNT - PXT_LOOK_USER_FIRST)
		return 0;
	if (len > 0)
		memcpy(all, data, len);
	len += put_callers(all + len, caller, depth);
	pxt_emit(event_id, all, len, caller PXT_LOOK_ARGUMENT);
	return 0;
}
