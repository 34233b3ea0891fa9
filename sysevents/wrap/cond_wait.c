/* SPDX-License-Identifier: MIT */
/*
 * cond_wait.c - waiting on a condition variable.  A thread that is cancelled in it does not resume.
 *
 * On x86-64 glibc has condition variables of two ages, and a program keeps the age that it was linked with.
 */
#define _GNU_SOURCE
#include "sysevents/wrap/cond.h"

#include <time.h>

PXT_COND_REAL(pthread_cond_wait);
PXT_COND_REAL(pthread_cond_timedwait);
PXT_WRAP_REAL(pthread_cond_clockwait);

static uint64_t tell_wait(
    const pthread_cond_t *cond, const pthread_mutex_t *mutex, const void *caller)
{
	const uint64_t data[] = { pxt_wrap_address(cond), pxt_wrap_address(mutex) };

	posix_trace_system_event_np(POSIX_TRACE_COND_WAIT_NP, data, sizeof(data), caller);
	return pxt_wait_clock();
}

static void tell_resume(const pthread_cond_t *cond, const pthread_mutex_t *mutex, uint64_t begin,
    int result, const void *caller)
{
	struct {
		uint64_t cond;
		uint64_t lock;
		uint32_t waited_us;
		int32_t result;
		uint64_t callers[PXT_WAIT_CALLERS];
	} data = {
		.cond = pxt_wrap_address(cond), .lock = pxt_wrap_address(mutex), .result = result
	};
	uint64_t ns = pxt_wait_clock() - begin;
	unsigned callers = pxt_wait_callers(ns, data.callers);

	data.waited_us = pxt_wait_us(ns);
	posix_trace_system_event_np(POSIX_TRACE_COND_RESUME_NP, &data,
	    sizeof(data) - (PXT_WAIT_CALLERS - callers) * sizeof(*data.callers), caller);
}

#define WAIT(call)                                                                                 \
	do {                                                                                       \
		uint64_t begin = tell_wait(cond, mutex, caller);                                   \
		int result = call;                                                                 \
                                                                                                   \
		tell_resume(cond, mutex, begin, result, caller);                                   \
		return result;                                                                     \
	} while (0)

PXT_WRAP_EXPORT int PXT_COND_NAME(pthread_cond_wait)(pthread_cond_t *cond, pthread_mutex_t *mutex)
{
	const void *caller = PXT_WRAP_CALLER();

	if (!pxt_wrap_wanted(POSIX_TRACE_COND_WAIT_NP, caller))
		return PXT_COND_CALL(pthread_cond_wait)(cond, mutex);
	WAIT(PXT_COND_CALL(pthread_cond_wait)(cond, mutex));
}

PXT_WRAP_EXPORT int PXT_COND_NAME(pthread_cond_timedwait)(
    pthread_cond_t *cond, pthread_mutex_t *mutex, const struct timespec *limit)
{
	const void *caller = PXT_WRAP_CALLER();

	if (!pxt_wrap_wanted(POSIX_TRACE_COND_WAIT_NP, caller))
		return PXT_COND_CALL(pthread_cond_timedwait)(cond, mutex, limit);
	WAIT(PXT_COND_CALL(pthread_cond_timedwait)(cond, mutex, limit));
}

PXT_WRAP_EXPORT int PXT_WRAP_NAME(pthread_cond_clockwait)(
    pthread_cond_t *cond, pthread_mutex_t *mutex, clockid_t clock, const struct timespec *limit)
{
	const void *caller = PXT_WRAP_CALLER();

	if (!pxt_wrap_wanted(POSIX_TRACE_COND_WAIT_NP, caller))
		return PXT_WRAP_CALL(pthread_cond_clockwait)(cond, mutex, clock, limit);
	WAIT(PXT_WRAP_CALL(pthread_cond_clockwait)(cond, mutex, clock, limit));
}

#if PXT_COND_AGES
PXT_WRAP_EXPORT int PXT_COND_FORMER_NAME(pthread_cond_wait)(
    pthread_cond_t *cond, pthread_mutex_t *mutex)
{
	const void *caller = PXT_WRAP_CALLER();

	if (!pxt_wrap_wanted(POSIX_TRACE_COND_WAIT_NP, caller))
		return PXT_COND_FORMER_CALL(pthread_cond_wait)(cond, mutex);
	WAIT(PXT_COND_FORMER_CALL(pthread_cond_wait)(cond, mutex));
}

PXT_WRAP_EXPORT int PXT_COND_FORMER_NAME(pthread_cond_timedwait)(
    pthread_cond_t *cond, pthread_mutex_t *mutex, const struct timespec *limit)
{
	const void *caller = PXT_WRAP_CALLER();

	if (!pxt_wrap_wanted(POSIX_TRACE_COND_WAIT_NP, caller))
		return PXT_COND_FORMER_CALL(pthread_cond_timedwait)(cond, mutex, limit);
	WAIT(PXT_COND_FORMER_CALL(pthread_cond_timedwait)(cond, mutex, limit));
}
#endif
