/* SPDX-License-Identifier: MIT */
/* cond_signal.c - pthread_cond_signal(), told before it wakes anybody. */
#define _GNU_SOURCE
#include "sysevents/wrap/cond.h"

PXT_COND_REAL(pthread_cond_signal);

static void tell(const pthread_cond_t *cond, const void *caller)
{
	const uint64_t data = pxt_wrap_address(cond);

	if (pxt_wrap_wanted(POSIX_TRACE_COND_SIGNAL_NP, caller))
		posix_trace_system_event_np(
		    POSIX_TRACE_COND_SIGNAL_NP, &data, sizeof(data), caller);
}

PXT_WRAP_EXPORT int PXT_COND_NAME(pthread_cond_signal)(pthread_cond_t *cond)
{
	tell(cond, PXT_WRAP_CALLER());
	return PXT_COND_CALL(pthread_cond_signal)(cond);
}

#if PXT_COND_AGES
PXT_WRAP_EXPORT int PXT_COND_FORMER_NAME(pthread_cond_signal)(pthread_cond_t *cond)
{
	tell(cond, PXT_WRAP_CALLER());
	return PXT_COND_FORMER_CALL(pthread_cond_signal)(cond);
}
#endif
