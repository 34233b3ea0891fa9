/* SPDX-License-Identifier: MIT */
/*
 * sysnames.c - the names of the predefined event types: the standard's, exactly, and those of
 * System Events (sysspecific.c).
 */
#include "format/ids.h"

static const char *const names[] = {
	[POSIX_TRACE_ERROR] = PXT_NAME_IF(CONFIG_PTRACE_SYSEV_ERROR, "posix_trace_error"),
	[POSIX_TRACE_START] = PXT_NAME_IF(CONFIG_PTRACE_SYSEV_START_STOP, "posix_trace_start"),
	[POSIX_TRACE_STOP] = PXT_NAME_IF(CONFIG_PTRACE_SYSEV_START_STOP, "posix_trace_stop"),
	[POSIX_TRACE_OVERFLOW] =
	    PXT_NAME_IF(CONFIG_PTRACE_SYSEV_OVERFLOW_RESUME, "posix_trace_overflow"),
	[POSIX_TRACE_RESUME] =
	    PXT_NAME_IF(CONFIG_PTRACE_SYSEV_OVERFLOW_RESUME, "posix_trace_resume"),
	[POSIX_TRACE_FILTER] = PXT_NAME_IF(CONFIG_PTRACE_SYSEV_FILTER, "posix_trace_filter"),
	[POSIX_TRACE_FLUSH_START] =
	    PXT_NAME_IF(CONFIG_PTRACE_SYSEV_FLUSH, "posix_trace_flush_start"),
	[POSIX_TRACE_FLUSH_STOP] = PXT_NAME_IF(CONFIG_PTRACE_SYSEV_FLUSH, "posix_trace_flush_stop"),
};

const char *pxt_system_event_name(unsigned id)
{
	if (id == PXT_ID_UNNAMED)
		return "posix_trace_unnamed_userevent";
	return id < sizeof(names) / sizeof(names[0]) ? names[id] : pxt_sysspecific_name(id);
}

unsigned pxt_system_event_id(const char *name, size_t bytes)
{
	for (unsigned id = PXT_ID_SYSTEM_FIRST; id <= PXT_ID_UNNAMED; id++) {
		const char *known = pxt_system_event_name(id);

		if (known && pxt_same_text(known, name, bytes))
			return id;
	}
	return 0;
}
