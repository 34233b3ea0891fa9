/* SPDX-License-Identifier: MIT */
/*
 * rwlock.c - read-write locks.  Tried first, as mutexes are.  Where the try fails, the thread is told
 * that has the lock for writing, if one has.
 */
#define _GNU_SOURCE
#include "sysevents/wrap/sync.h"

#include <pthread.h>
#include <time.h>

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

PXT_SYNC_WRAP_TRY(pthread_rwlock_tryrdlock, pthread_rwlock_t, POSIX_TRACE_KIND_READ_NP);
PXT_SYNC_WRAP(pthread_rwlock_rdlock, (pthread_rwlock_t * lock), (lock), pthread_rwlock_tryrdlock,
    POSIX_TRACE_KIND_READ_NP, writer(lock), true);
PXT_SYNC_WRAP(pthread_rwlock_timedrdlock, (pthread_rwlock_t * lock, const struct timespec *limit),
    (lock, limit), pthread_rwlock_tryrdlock, POSIX_TRACE_KIND_READ_NP, writer(lock), true);
PXT_SYNC_WRAP(pthread_rwlock_clockrdlock,
    (pthread_rwlock_t * lock, clockid_t clock, const struct timespec *limit), (lock, clock, limit),
    pthread_rwlock_tryrdlock, POSIX_TRACE_KIND_READ_NP, writer(lock), pxt_wrap_takes_clock(clock));

PXT_SYNC_WRAP_TRY(pthread_rwlock_trywrlock, pthread_rwlock_t, POSIX_TRACE_KIND_WRITE_NP);
PXT_SYNC_WRAP(pthread_rwlock_wrlock, (pthread_rwlock_t * lock), (lock), pthread_rwlock_trywrlock,
    POSIX_TRACE_KIND_WRITE_NP, writer(lock), true);
PXT_SYNC_WRAP(pthread_rwlock_timedwrlock, (pthread_rwlock_t * lock, const struct timespec *limit),
    (lock, limit), pthread_rwlock_trywrlock, POSIX_TRACE_KIND_WRITE_NP, writer(lock), true);
PXT_SYNC_WRAP(pthread_rwlock_clockwrlock,
    (pthread_rwlock_t * lock, clockid_t clock, const struct timespec *limit), (lock, clock, limit),
    pthread_rwlock_trywrlock, POSIX_TRACE_KIND_WRITE_NP, writer(lock), pxt_wrap_takes_clock(clock));

PXT_WRAP_REAL(pthread_rwlock_unlock);

/* For writing, if the lock says that the caller has it so. */
PXT_WRAP_EXPORT int PXT_WRAP_NAME(pthread_rwlock_unlock)(pthread_rwlock_t *lock)
{
	const void *caller = PXT_WRAP_CALLER();

	if (pxt_wrap_wanted_lock(POSIX_TRACE_SYNC_UNLOCK_NP) && !pxt_wrap_wishes.contended)
		pxt_sync_tell_unlock(lock,
		    writer(lock) ? POSIX_TRACE_KIND_WRITE_NP : POSIX_TRACE_KIND_READ_NP, caller);
	return PXT_WRAP_CALL(pthread_rwlock_unlock)(lock);
}
