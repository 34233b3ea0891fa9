/* SPDX-License-Identifier: MIT */
/* cond_signal.c - pthread_cond_signal() and cnd_signal(), told before it wakes anybody. */
#define _GNU_SOURCE
#include "sysevents/wrap/ages.h"
#include "sysevents/wrap/c11.h"

#include <pthread.h>

PXT_AGES(pthread_cond_signal, "GLIBC_2.3.2");
PXT_WRAP_REAL(cnd_signal);

static void tell(const pthread_cond_t *cond, const void *caller)
{
	const uint64_t data = pxt_wrap_address(cond);

	if (pxt_wrap_wanted_lock(POSIX_TRACE_COND_SIGNAL_NP))
		posix_trace_system_event_np(
		    POSIX_TRACE_COND_SIGNAL_NP, &data, sizeof(data), caller);
}

PXT_WRAP_EXPORT int PXT_AGES_NAME(pthread_cond_signal)(pthread_cond_t *cond)
{
	tell(cond, PXT_WRAP_CALLER());
	return PXT_WRAP_CALL(pthread_cond_signal)(cond);
}

#if PXT_AGES_TWO
PXT_WRAP_EXPORT int PXT_AGES_FORMER_NAME(pthread_cond_signal)(pthread_cond_t *cond)
{
	tell(cond, PXT_WRAP_CALLER());
	return PXT_AGES_FORMER_CALL(pthread_cond_signal)(cond);
}
#endif

PXT_WRAP_EXPORT int PXT_WRAP_NAME(cnd_signal)(cnd_t *cond)
{
	tell(pxt_c11_cond(cond), PXT_WRAP_CALLER());
	return PXT_WRAP_CALL(cnd_signal)(cond);
}
