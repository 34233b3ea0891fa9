/* SPDX-License-Identifier: MIT */
/* semaphore.c - semaphores, of POSIX and of System V, barriers, and what is done once. */
#define _GNU_SOURCE
#include "sysevents/wrap/call.h"
#include "sysevents/wrap/process.h"

#include <pthread.h>
#include <semaphore.h>
#include <sys/sem.h>
#include <threads.h>
#include <time.h>

#if PXT_GROUP_SEMAPHORE
PXT_CALL_WRAP(int, sem_wait, (sem_t * sem), (sem), POSIX_TRACE_CALL_SEM_WAIT_NP,
    pxt_wrap_address(sem), PXT_CALL_NO_SIZE);
PXT_CALL_WRAP(
    int, sem_trywait, (sem_t * sem), (sem), POSIX_TRACE_CALL_SEM_WAIT_NP, pxt_wrap_address(sem), 0);
PXT_CALL_WRAP_UNTIL(int, sem_timedwait, (sem_t * sem, const struct timespec *limit), (sem, limit),
    POSIX_TRACE_CALL_SEM_WAIT_NP, pxt_wrap_address(sem), PXT_CALL_NO_SIZE,
    pxt_wait_until(CLOCK_REALTIME, limit));
PXT_CALL_WRAP_UNTIL(int, sem_clockwait,
    (sem_t * sem, clockid_t clock, const struct timespec *limit), (sem, clock, limit),
    POSIX_TRACE_CALL_SEM_WAIT_NP, pxt_wrap_address(sem), PXT_CALL_NO_SIZE,
    pxt_wait_until(clock, limit));

PXT_WRAP_REAL(sem_post);

/* Told before, as the thread that it wakes goes on at once. */
PXT_WRAP_EXPORT int PXT_WRAP_NAME(sem_post)(sem_t *sem)
{
	const void *caller = PXT_WRAP_CALLER();

	if (pxt_call_wanted(POSIX_TRACE_CALL_SEM_POST_NP, caller))
		pxt_call_tell(POSIX_TRACE_CALL_SEM_POST_NP, pxt_wrap_address(sem), 0, caller);
	return PXT_WRAP_CALL(sem_post)(sem);
}

PXT_WRAP_REAL(sem_init);
PXT_WRAP_REAL(sem_destroy);

PXT_WRAP_EXPORT int PXT_WRAP_NAME(sem_init)(sem_t *sem, int shared, unsigned value)
{
	const void *caller = PXT_WRAP_CALLER();
	int result = PXT_WRAP_CALL(sem_init)(sem, shared, value);

	if (result == 0 && pxt_call_wanted(POSIX_TRACE_CALL_SEM_WAIT_NP, caller))
		pxt_process_tell(POSIX_TRACE_PROCESS_SEMAPHORE_NP, value, pxt_wrap_address(sem),
		    sizeof(*sem), NULL, caller);
	return result;
}

PXT_WRAP_EXPORT int PXT_WRAP_NAME(sem_destroy)(sem_t *sem)
{
	const void *caller = PXT_WRAP_CALLER();
	int result = PXT_WRAP_CALL(sem_destroy)(sem);

	if (pxt_call_wanted(POSIX_TRACE_CALL_SEM_WAIT_NP, caller))
		(void)pxt_process_tell_memory(result, sem, sizeof(*sem), caller);
	return result;
}

/* ---- Sets of semaphores ---- */
PXT_CALL_WRAP(int, semop, (int set, struct sembuf *operations, size_t count),
    (set, operations, count), POSIX_TRACE_CALL_SEMOP_NP, set, PXT_CALL_NO_SIZE);
PXT_CALL_WRAP_UNTIL(int, semtimedop,
    (int set, struct sembuf *operations, size_t count, const struct timespec *time),
    (set, operations, count, time), POSIX_TRACE_CALL_SEMOP_NP, set, PXT_CALL_MS(time),
    pxt_wait_ns(time));
#endif

#if PXT_GROUP_BARRIER
PXT_CALL_WRAP_ERROR(pthread_barrier_wait, (pthread_barrier_t * barrier), (barrier),
    POSIX_TRACE_CALL_BARRIER_WAIT_NP, pxt_wrap_address(barrier), PXT_CALL_NO_SIZE);
#endif

#if PXT_GROUP_ONCE
/* pthread_once() and call_once(), where they run the function or wait for it. */

PXT_WRAP_REAL(pthread_once);
PXT_WRAP_REAL(call_once);

/* In glibc and musl; elsewhere every call is told. */
#define DONE 2

PXT_WRAP_EXPORT int PXT_WRAP_NAME(pthread_once)(pthread_once_t *control, void (*function)(void))
{
	const void *caller = PXT_WRAP_CALLER();

	if (__atomic_load_n(control, __ATOMIC_RELAXED) == DONE ||
	    !pxt_call_wanted(POSIX_TRACE_CALL_ONCE_NP, caller))
		return PXT_WRAP_CALL(pthread_once)(control, function);
	PXT_CALL_SCOPE call = pxt_call_enter(
	    POSIX_TRACE_CALL_ONCE_NP, pxt_wrap_address(control), PXT_CALL_NO_SIZE, caller);
	int result = PXT_WRAP_CALL(pthread_once)(control, function);

	call.result = -(int64_t)result;
	return result;
}

_Static_assert(sizeof(once_flag) == sizeof(int), "glibc and musl have a number there");

PXT_WRAP_EXPORT void PXT_WRAP_NAME(call_once)(once_flag *flag, void (*function)(void))
{
	const void *caller = PXT_WRAP_CALLER();
	const int *control = (const int *)(const void *)flag;

	if (__atomic_load_n(control, __ATOMIC_RELAXED) == DONE ||
	    !pxt_call_wanted(POSIX_TRACE_CALL_ONCE_NP, caller)) {
		PXT_WRAP_CALL(call_once)(flag, function);
		return;
	}
	PXT_CALL_SCOPE call = pxt_call_enter(
	    POSIX_TRACE_CALL_ONCE_NP, pxt_wrap_address(flag), PXT_CALL_NO_SIZE, caller);
	PXT_WRAP_CALL(call_once)(flag, function);
	call.result = 0;
}
#endif
