/* SPDX-License-Identifier: MIT */
/* semaphore.c - semaphores. */
#define _GNU_SOURCE
#include "sysevents/wrap/call.h"

#include <semaphore.h>
#include <time.h>

PXT_CALL_WRAP(int, sem_wait, (sem_t * sem), (sem), POSIX_TRACE_CALL_SEM_WAIT_NP,
    pxt_wrap_address(sem), PXT_CALL_NO_SIZE);
PXT_CALL_WRAP(
    int, sem_trywait, (sem_t * sem), (sem), POSIX_TRACE_CALL_SEM_WAIT_NP, pxt_wrap_address(sem), 0);
PXT_CALL_WRAP(int, sem_timedwait, (sem_t * sem, const struct timespec *limit), (sem, limit),
    POSIX_TRACE_CALL_SEM_WAIT_NP, pxt_wrap_address(sem), PXT_CALL_NO_SIZE);
PXT_CALL_WRAP(int, sem_clockwait, (sem_t * sem, clockid_t clock, const struct timespec *limit),
    (sem, clock, limit), POSIX_TRACE_CALL_SEM_WAIT_NP, pxt_wrap_address(sem), PXT_CALL_NO_SIZE);

PXT_WRAP_REAL(sem_post);

/* Told before, as the thread that it wakes goes on at once. */
PXT_WRAP_EXPORT int PXT_WRAP_NAME(sem_post)(sem_t *sem)
{
	const void *caller = PXT_WRAP_CALLER();

	if (pxt_call_wanted(POSIX_TRACE_CALL_SEM_POST_NP, caller))
		pxt_call_tell(POSIX_TRACE_CALL_SEM_POST_NP, pxt_wrap_address(sem), 0, caller);
	return PXT_WRAP_CALL(sem_post)(sem);
}
