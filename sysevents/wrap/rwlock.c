/* SPDX-License-Identifier: MIT */
/*
 * rwlock.c - read-write locks.  Tried first, as mutexes are.  Where the try fails, the thread is told
 * that has the lock for writing, if one has.
 */
#define _GNU_SOURCE
#include "sysevents/wrap/sync.h"

#include <pthread.h>
#include <time.h>

PXT_WRAP_REAL(pthread_rwlock_rdlock);
PXT_WRAP_REAL(pthread_rwlock_tryrdlock);
PXT_WRAP_REAL(pthread_rwlock_timedrdlock);
PXT_WRAP_REAL(pthread_rwlock_clockrdlock);
PXT_WRAP_REAL(pthread_rwlock_wrlock);
PXT_WRAP_REAL(pthread_rwlock_trywrlock);
PXT_WRAP_REAL(pthread_rwlock_timedwrlock);
PXT_WRAP_REAL(pthread_rwlock_clockwrlock);
PXT_WRAP_REAL(pthread_rwlock_unlock);

#if defined(__GLIBC__)
static uint32_t writer(const pthread_rwlock_t *lock)
{
	return (uint32_t)__atomic_load_n(&lock->__data.__cur_writer, __ATOMIC_RELAXED);
}
#else
static uint32_t writer(const pthread_rwlock_t *lock)
{
	(void)lock;
	return 0;
}
#endif

PXT_WRAP_EXPORT int PXT_WRAP_NAME(pthread_rwlock_rdlock)(pthread_rwlock_t *lock)
{
	const void *caller = PXT_WRAP_CALLER();
	uint64_t begin;
	int result;

	if (!pxt_wrap_wanted_lock(POSIX_TRACE_SYNC_LOCK_NP))
		return PXT_WRAP_CALL(pthread_rwlock_rdlock)(lock);
	result = PXT_WRAP_CALL(pthread_rwlock_tryrdlock)(lock);
	if (pxt_sync_is_had(lock, POSIX_TRACE_KIND_READ_NP, result, caller))
		return result;
	begin = pxt_sync_tell_wait(lock, POSIX_TRACE_KIND_READ_NP, writer(lock), caller);
	result = PXT_WRAP_CALL(pthread_rwlock_rdlock)(lock);
	pxt_sync_tell_lock(lock, POSIX_TRACE_KIND_READ_NP, begin, result, caller);
	return result;
}

PXT_WRAP_EXPORT int PXT_WRAP_NAME(pthread_rwlock_timedrdlock)(
    pthread_rwlock_t *lock, const struct timespec *limit)
{
	const void *caller = PXT_WRAP_CALLER();
	uint64_t begin;
	int result;

	if (!pxt_wrap_wanted_lock(POSIX_TRACE_SYNC_LOCK_NP))
		return PXT_WRAP_CALL(pthread_rwlock_timedrdlock)(lock, limit);
	result = PXT_WRAP_CALL(pthread_rwlock_tryrdlock)(lock);
	if (pxt_sync_is_had(lock, POSIX_TRACE_KIND_READ_NP, result, caller))
		return result;
	begin = pxt_sync_tell_wait(lock, POSIX_TRACE_KIND_READ_NP, writer(lock), caller);
	result = PXT_WRAP_CALL(pthread_rwlock_timedrdlock)(lock, limit);
	pxt_sync_tell_lock(lock, POSIX_TRACE_KIND_READ_NP, begin, result, caller);
	return result;
}

PXT_WRAP_EXPORT int PXT_WRAP_NAME(pthread_rwlock_clockrdlock)(
    pthread_rwlock_t *lock, clockid_t clock, const struct timespec *limit)
{
	const void *caller = PXT_WRAP_CALLER();
	uint64_t begin;
	int result;

	if (!pxt_wrap_wanted_lock(POSIX_TRACE_SYNC_LOCK_NP) ||
	    (clock != CLOCK_REALTIME && clock != CLOCK_MONOTONIC))
		return PXT_WRAP_CALL(pthread_rwlock_clockrdlock)(lock, clock, limit);
	result = PXT_WRAP_CALL(pthread_rwlock_tryrdlock)(lock);
	if (pxt_sync_is_had(lock, POSIX_TRACE_KIND_READ_NP, result, caller))
		return result;
	begin = pxt_sync_tell_wait(lock, POSIX_TRACE_KIND_READ_NP, writer(lock), caller);
	result = PXT_WRAP_CALL(pthread_rwlock_clockrdlock)(lock, clock, limit);
	pxt_sync_tell_lock(lock, POSIX_TRACE_KIND_READ_NP, begin, result, caller);
	return result;
}

PXT_WRAP_EXPORT int PXT_WRAP_NAME(pthread_rwlock_tryrdlock)(pthread_rwlock_t *lock)
{
	const void *caller = PXT_WRAP_CALLER();
	int result = PXT_WRAP_CALL(pthread_rwlock_tryrdlock)(lock);

	if (pxt_wrap_wanted_lock(POSIX_TRACE_SYNC_LOCK_NP) && !pxt_wrap_wishes.contended)
		pxt_sync_tell_lock(lock, POSIX_TRACE_KIND_READ_NP, 0, result, caller);
	return result;
}

PXT_WRAP_EXPORT int PXT_WRAP_NAME(pthread_rwlock_wrlock)(pthread_rwlock_t *lock)
{
	const void *caller = PXT_WRAP_CALLER();
	uint64_t begin;
	int result;

	if (!pxt_wrap_wanted_lock(POSIX_TRACE_SYNC_LOCK_NP))
		return PXT_WRAP_CALL(pthread_rwlock_wrlock)(lock);
	result = PXT_WRAP_CALL(pthread_rwlock_trywrlock)(lock);
	if (pxt_sync_is_had(lock, POSIX_TRACE_KIND_WRITE_NP, result, caller))
		return result;
	begin = pxt_sync_tell_wait(lock, POSIX_TRACE_KIND_WRITE_NP, writer(lock), caller);
	result = PXT_WRAP_CALL(pthread_rwlock_wrlock)(lock);
	pxt_sync_tell_lock(lock, POSIX_TRACE_KIND_WRITE_NP, begin, result, caller);
	return result;
}

PXT_WRAP_EXPORT int PXT_WRAP_NAME(pthread_rwlock_timedwrlock)(
    pthread_rwlock_t *lock, const struct timespec *limit)
{
	const void *caller = PXT_WRAP_CALLER();
	uint64_t begin;
	int result;

	if (!pxt_wrap_wanted_lock(POSIX_TRACE_SYNC_LOCK_NP))
		return PXT_WRAP_CALL(pthread_rwlock_timedwrlock)(lock, limit);
	result = PXT_WRAP_CALL(pthread_rwlock_trywrlock)(lock);
	if (pxt_sync_is_had(lock, POSIX_TRACE_KIND_WRITE_NP, result, caller))
		return result;
	begin = pxt_sync_tell_wait(lock, POSIX_TRACE_KIND_WRITE_NP, writer(lock), caller);
	result = PXT_WRAP_CALL(pthread_rwlock_timedwrlock)(lock, limit);
	pxt_sync_tell_lock(lock, POSIX_TRACE_KIND_WRITE_NP, begin, result, caller);
	return result;
}

PXT_WRAP_EXPORT int PXT_WRAP_NAME(pthread_rwlock_clockwrlock)(
    pthread_rwlock_t *lock, clockid_t clock, const struct timespec *limit)
{
	const void *caller = PXT_WRAP_CALLER();
	uint64_t begin;
	int result;

	if (!pxt_wrap_wanted_lock(POSIX_TRACE_SYNC_LOCK_NP) ||
	    (clock != CLOCK_REALTIME && clock != CLOCK_MONOTONIC))
		return PXT_WRAP_CALL(pthread_rwlock_clockwrlock)(lock, clock, limit);
	result = PXT_WRAP_CALL(pthread_rwlock_trywrlock)(lock);
	if (pxt_sync_is_had(lock, POSIX_TRACE_KIND_WRITE_NP, result, caller))
		return result;
	begin = pxt_sync_tell_wait(lock, POSIX_TRACE_KIND_WRITE_NP, writer(lock), caller);
	result = PXT_WRAP_CALL(pthread_rwlock_clockwrlock)(lock, clock, limit);
	pxt_sync_tell_lock(lock, POSIX_TRACE_KIND_WRITE_NP, begin, result, caller);
	return result;
}

PXT_WRAP_EXPORT int PXT_WRAP_NAME(pthread_rwlock_trywrlock)(pthread_rwlock_t *lock)
{
	const void *caller = PXT_WRAP_CALLER();
	int result = PXT_WRAP_CALL(pthread_rwlock_trywrlock)(lock);

	if (pxt_wrap_wanted_lock(POSIX_TRACE_SYNC_LOCK_NP) && !pxt_wrap_wishes.contended)
		pxt_sync_tell_lock(lock, POSIX_TRACE_KIND_WRITE_NP, 0, result, caller);
	return result;
}

/* For writing, if the lock says that the caller has it so. */
PXT_WRAP_EXPORT int PXT_WRAP_NAME(pthread_rwlock_unlock)(pthread_rwlock_t *lock)
{
	const void *caller = PXT_WRAP_CALLER();

	if (pxt_wrap_wanted_lock(POSIX_TRACE_SYNC_UNLOCK_NP) && !pxt_wrap_wishes.contended)
		pxt_sync_tell_unlock(lock,
		    writer(lock) ? POSIX_TRACE_KIND_WRITE_NP : POSIX_TRACE_KIND_READ_NP, caller);
	return PXT_WRAP_CALL(pthread_rwlock_unlock)(lock);
}
