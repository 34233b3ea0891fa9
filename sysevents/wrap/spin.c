/* SPDX-License-Identifier: MIT */
/* spin.c - spin locks. */
#define _GNU_SOURCE
#include "sysevents/wrap/sync.h"

#include <pthread.h>

PXT_SYNC_WRAP_TRY(pthread_spin_trylock, pthread_spinlock_t, POSIX_TRACE_KIND_SPIN_NP);
PXT_SYNC_WRAP(pthread_spin_lock, (pthread_spinlock_t * lock), (lock), pthread_spin_trylock,
    POSIX_TRACE_KIND_SPIN_NP, 0, true);

PXT_WRAP_REAL(pthread_spin_unlock);

PXT_WRAP_EXPORT int PXT_WRAP_NAME(pthread_spin_unlock)(pthread_spinlock_t *lock)
{
	const void *caller = PXT_WRAP_CALLER();

	if (pxt_wrap_wanted_lock(POSIX_TRACE_SYNC_UNLOCK_NP) && !pxt_wrap_wishes.contended)
		pxt_sync_tell_unlock(lock, POSIX_TRACE_KIND_SPIN_NP, caller);
	return PXT_WRAP_CALL(pthread_spin_unlock)(lock);
}
