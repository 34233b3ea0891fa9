/* SPDX-License-Identifier: MIT */
/*
 * mutex_lock.c - taking a mutex.
 *
 * It is tried first, so that a wait is told before it begins.  A try says and does of every kind of
 * mutex what a lock would, but where it returns EBUSY: then the real lock decides, also that the
 * thread has it already.
 */
#define _GNU_SOURCE
#include "sysevents/wrap/images.h"
#include "sysevents/wrap/mutex.h"

#include <time.h>

PXT_WRAP_REAL_FAST(pthread_mutex_lock, pthread_mutex_t *mutex, mutex);
PXT_WRAP_REAL_FAST(pthread_mutex_trylock, pthread_mutex_t *mutex, mutex);
PXT_WRAP_REAL(pthread_mutex_timedlock);
PXT_WRAP_REAL(pthread_mutex_clocklock);

struct locked {
	uint64_t lock;
	uint32_t waited_us;
	int32_t result;
	uint64_t callers[PXT_WAIT_CALLERS];
};

static void tell_wait(const pthread_mutex_t *mutex, const void *caller)
{
	struct {
		uint64_t lock;
		uint32_t holder;
	} data = { pxt_wrap_address(mutex), pxt_mutex_holder(mutex) };

	pxt_images_catch_up();
	posix_trace_system_event_np(POSIX_TRACE_MUTEX_WAIT_NP, &data, 12, caller);
}

PXT_WRAP_INLINE void tell_locked(const pthread_mutex_t *mutex, int result, const void *caller)
{
	struct {
		uint64_t lock;
		uint32_t waited_us;
		int32_t result;
	} data = { pxt_wrap_address(mutex), 0, result };

	posix_trace_system_event_np(POSIX_TRACE_MUTEX_LOCK_NP, &data, sizeof(data), caller);
}

static void tell_got(const pthread_mutex_t *mutex, uint64_t begin, int result, const void *caller)
{
	struct locked data = { .lock = pxt_wrap_address(mutex), .result = result };
	uint64_t ns = pxt_wait_clock() - begin;
	unsigned callers = pxt_wait_callers(ns, caller, data.callers);

	data.waited_us = pxt_wait_us(ns);
	posix_trace_system_event_np(POSIX_TRACE_MUTEX_LOCK_NP, &data,
	    offsetof(struct locked, callers) + callers * sizeof(*data.callers), caller);
}

/* Whether a try, with that result, is all there is to tell of. */
PXT_WRAP_INLINE bool is_had(const pthread_mutex_t *mutex, int result, const void *caller)
{
	if (!PXT_WRAP_LIKELY(result != EBUSY))
		return false;
	if (!pxt_wrap_wishes.contended)
		tell_locked(mutex, result, caller);
	return true;
}

static __attribute__((noinline)) int wait_for(pthread_mutex_t *mutex, const void *caller)
{
	uint64_t begin = pxt_wait_clock();
	int result;

	tell_wait(mutex, caller);
	result = PXT_WRAP_CALL(pthread_mutex_lock)(mutex);
	tell_got(mutex, begin, result, caller);
	return result;
}

static __attribute__((noinline)) int tell_try(
    pthread_mutex_t *mutex, int result, const void *caller)
{
	return is_had(mutex, result, caller) ? result : wait_for(mutex, caller);
}

/* What is needed where nothing is told takes no register that has to be saved. */
PXT_WRAP_EXPORT int PXT_WRAP_NAME(pthread_mutex_lock)(pthread_mutex_t *mutex)
{
	int result;

	if (!pxt_wrap_wanted_lock(POSIX_TRACE_MUTEX_LOCK_NP))
		return PXT_WRAP_CALL(pthread_mutex_lock)(mutex);
	result = PXT_WRAP_CALL(pthread_mutex_trylock)(mutex);
	if (PXT_WRAP_LIKELY(!result) && pxt_wrap_wishes.contended)
		return 0;
	return tell_try(mutex, result, PXT_WRAP_CALLER());
}

PXT_WRAP_EXPORT int PXT_WRAP_NAME(pthread_mutex_trylock)(pthread_mutex_t *mutex)
{
	const void *caller = PXT_WRAP_CALLER();
	int result = PXT_WRAP_CALL(pthread_mutex_trylock)(mutex);

	if (pxt_wrap_wanted_lock(POSIX_TRACE_MUTEX_LOCK_NP) && !pxt_wrap_wishes.contended)
		tell_locked(mutex, result, caller);
	return result;
}

PXT_WRAP_EXPORT int PXT_WRAP_NAME(pthread_mutex_timedlock)(
    pthread_mutex_t *mutex, const struct timespec *limit)
{
	const void *caller = PXT_WRAP_CALLER();
	uint64_t begin;
	int result;

	if (!pxt_wrap_wanted_lock(POSIX_TRACE_MUTEX_LOCK_NP))
		return PXT_WRAP_CALL(pthread_mutex_timedlock)(mutex, limit);
	result = PXT_WRAP_CALL(pthread_mutex_trylock)(mutex);
	if (is_had(mutex, result, caller))
		return result;
	begin = pxt_wait_clock();
	tell_wait(mutex, caller);
	result = PXT_WRAP_CALL(pthread_mutex_timedlock)(mutex, limit);
	tell_got(mutex, begin, result, caller);
	return result;
}

PXT_WRAP_EXPORT int PXT_WRAP_NAME(pthread_mutex_clocklock)(
    pthread_mutex_t *mutex, clockid_t clock, const struct timespec *limit)
{
	const void *caller = PXT_WRAP_CALLER();
	uint64_t begin;
	int result;

	/* Another clock is refused, also where the mutex is free. */
	if (!pxt_wrap_wanted_lock(POSIX_TRACE_MUTEX_LOCK_NP) ||
	    (clock != CLOCK_REALTIME && clock != CLOCK_MONOTONIC))
		return PXT_WRAP_CALL(pthread_mutex_clocklock)(mutex, clock, limit);
	result = PXT_WRAP_CALL(pthread_mutex_trylock)(mutex);
	if (is_had(mutex, result, caller))
		return result;
	begin = pxt_wait_clock();
	tell_wait(mutex, caller);
	result = PXT_WRAP_CALL(pthread_mutex_clocklock)(mutex, clock, limit);
	tell_got(mutex, begin, result, caller);
	return result;
}
