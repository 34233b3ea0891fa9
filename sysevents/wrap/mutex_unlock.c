/* SPDX-License-Identifier: MIT */
/*
 * mutex_unlock.c - giving a mutex back.
 *
 * Told before it is given back: the event of the thread that takes it next must not be earlier.  Where
 * giving it back then fails, a second event says so.
 */
#define _GNU_SOURCE
#include "sysevents/wrap/c11.h"
#include "sysevents/wrap/mutex.h"

PXT_WRAP_REAL_FAST(pthread_mutex_unlock, pthread_mutex_t *mutex, mutex);
PXT_WRAP_REAL(mtx_unlock);

static void tell(const pthread_mutex_t *mutex, int result, const void *caller)
{
	struct {
		uint64_t lock;
		int32_t result;
	} data = { pxt_wrap_address(mutex), result };

	posix_trace_system_event_np(POSIX_TRACE_MUTEX_UNLOCK_NP, &data, 12, caller);
}

static __attribute__((noinline)) int unlock(pthread_mutex_t *mutex, const void *caller)
{
	int result;

	tell(mutex, 0, caller);
	result = PXT_WRAP_CALL(pthread_mutex_unlock)(mutex);
	if (result)
		tell(mutex, result, caller);
	return result;
}

PXT_WRAP_INLINE bool tells(const pthread_mutex_t *mutex)
{
	return pxt_wrap_wanted_lock(POSIX_TRACE_MUTEX_UNLOCK_NP) &&
	       !(pxt_wrap_wishes.contended && !pxt_mutex_awaited(mutex));
}

PXT_WRAP_EXPORT int PXT_WRAP_NAME(pthread_mutex_unlock)(pthread_mutex_t *mutex)
{
	if (!tells(mutex))
		return PXT_WRAP_CALL(pthread_mutex_unlock)(mutex);
	return unlock(mutex, PXT_WRAP_CALLER());
}

PXT_WRAP_EXPORT int PXT_WRAP_NAME(mtx_unlock)(mtx_t *mutex)
{
	if (!tells(pxt_c11_mutex(mutex)))
		return PXT_WRAP_CALL(mtx_unlock)(mutex);
	return pxt_c11_result(unlock(pxt_c11_mutex(mutex), PXT_WRAP_CALLER()));
}
