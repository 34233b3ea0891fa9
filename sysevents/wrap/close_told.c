/* SPDX-License-Identifier: MIT */
/* close_told.c - the closing of files is recorded. */
#define _GNU_SOURCE
#include "sysevents/wrap/call.h"
#include "sysevents/wrap/close.h"

void pxt_close_tell(int fd, int result, const void *caller)
{
	if (pxt_call_wanted(POSIX_TRACE_CALL_CLOSE_NP, caller))
		pxt_call_tell(
		    POSIX_TRACE_CALL_CLOSE_NP, (uint64_t)fd, PXT_CALL_ERRNO(result), caller);
}
