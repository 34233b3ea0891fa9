/* SPDX-License-Identifier: MIT */
/* spin.c - spin locks. */
#define _GNU_SOURCE
#include "sysevents/wrap/sync.h"

#include <pthread.h>

PXT_WRAP_REAL(pthread_spin_lock);
PXT_WRAP_REAL(pthread_spin_trylock);
PXT_WRAP_REAL(pthread_spin_unlock);

PXT_WRAP_EXPORT int PXT_WRAP_NAME(pthread_spin_lock)(pthread_spinlock_t *lock)
{
	const void *caller = PXT_WRAP_CALLER();
	uint64_t begin;
	int result;

	if (!pxt_wrap_wanted_lock(POSIX_TRACE_SYNC_LOCK_NP))
		return PXT_WRAP_CALL(pthread_spin_lock)(lock);
	result = PXT_WRAP_CALL(pthread_spin_trylock)(lock);
	if (pxt_sync_is_had(lock, POSIX_TRACE_KIND_SPIN_NP, result, caller))
		return result;
	begin = pxt_sync_tell_wait(lock, POSIX_TRACE_KIND_SPIN_NP, 0, caller);
	result = PXT_WRAP_CALL(pthread_spin_lock)(lock);
	pxt_sync_tell_lock(lock, POSIX_TRACE_KIND_SPIN_NP, begin, result, caller);
	return result;
}

PXT_WRAP_EXPORT int PXT_WRAP_NAME(pthread_spin_trylock)(pthread_spinlock_t *lock)
{
	const void *caller = PXT_WRAP_CALLER();
	int result = PXT_WRAP_CALL(pthread_spin_trylock)(lock);

	if (pxt_wrap_wanted_lock(POSIX_TRACE_SYNC_LOCK_NP) && !pxt_wrap_wishes.contended)
		pxt_sync_tell_lock(lock, POSIX_TRACE_KIND_SPIN_NP, 0, result, caller);
	return result;
}

PXT_WRAP_EXPORT int PXT_WRAP_NAME(pthread_spin_unlock)(pthread_spinlock_t *lock)
{
	const void *caller = PXT_WRAP_CALLER();

	if (pxt_wrap_wanted_lock(POSIX_TRACE_SYNC_UNLOCK_NP) && !pxt_wrap_wishes.contended)
		pxt_sync_tell_unlock(lock, POSIX_TRACE_KIND_SPIN_NP, caller);
	return PXT_WRAP_CALL(pthread_spin_unlock)(lock);
}
