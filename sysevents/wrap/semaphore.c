/* SPDX-License-Identifier: MIT */
/* semaphore.c - semaphores, of POSIX and of System V, barriers, and what is done once. */
#define _GNU_SOURCE
#include "sysevents/wrap/call.h"
#include "sysevents/wrap/process.h"
#include "sysevents/wrap/tally.h"

#include <fcntl.h>
#include <semaphore.h>
#include <stdarg.h>
#include <sys/sem.h>
#include <threads.h>

/*
 * No number of this process says who has what others take, too.  The C library has that behind the value: two words of
 * 32 bits, or one.
 */
static bool is_counted(const sem_t *sem)
{
	const uint32_t *words = (const uint32_t *)(const void *)sem;

	return pxt_tally_page.counts &&
	       !__atomic_load_n(&words[sizeof(long) / sizeof(*words)], __ATOMIC_RELAXED);
}

PXT_WRAPPER(int, sem_trywait, (sem_t * sem))
{
	const void *caller = PXT_WRAP_CALLER();

	if (!pxt_call_wanted(POSIX_TRACE_CALL_SEM_WAIT_NP, caller))
		return PXT_WRAP_CALL(sem_trywait)(sem);
	if (is_counted(sem)) {
		int result = PXT_WRAP_CALL(sem_trywait)(sem);

		if (result == 0)
			pxt_tally_took(sem, PXT_LOCKTALLY_SEMAPHORE, caller);
		return result;
	}
	PXT_CALL_SCOPE call =
	    pxt_call_enter(POSIX_TRACE_CALL_SEM_WAIT_NP, pxt_wrap_address(sem), 0, caller);
	int result = PXT_WRAP_CALL(sem_trywait)(sem);

	call.result = PXT_CALL_ERRNO(result);
	return result;
}

/* A wait that need not wait and is not recorded; it is a cancellation point all the same. */
static bool takes_at_once(sem_t *sem, const void *caller)
{
	int saved = errno;
	bool taken;

	pthread_testcancel();
	taken = PXT_WRAP_CALL(sem_trywait)(sem) == 0;
	errno = saved;
	if (taken)
		pxt_tally_took(sem, PXT_LOCKTALLY_SEMAPHORE, caller);
	else
		pxt_tally_tell_holders(sem, PXT_LOCKTALLY_SEMAPHORE, 0);
	return taken;
}

/* One that is refused whatever the semaphore's value is not tried. */
static bool is_valid(int64_t ns)
{
	return ns >= 0 && ns < 1000000000;
}

#define WAIT(name, parameters, arguments, can_try, asked)                                          \
	PXT_WRAPPER(int, name, parameters)                                                         \
	{                                                                                          \
		const void *caller = PXT_WRAP_CALLER();                                            \
                                                                                                   \
		if (!pxt_call_wanted(POSIX_TRACE_CALL_SEM_WAIT_NP, caller))                        \
			return PXT_WRAP_CALL(name) arguments;                                      \
		if (is_counted(sem) && (can_try) && takes_at_once(sem, caller))                    \
			return 0;                                                                  \
		PXT_CALL_SCOPE call = pxt_call_enter_until(POSIX_TRACE_CALL_SEM_WAIT_NP,           \
		    pxt_wrap_address(sem), PXT_CALL_NO_SIZE, asked, caller);                       \
		int result = PXT_WRAP_CALL(name) arguments;                                        \
                                                                                                   \
		call.result = PXT_CALL_ERRNO(result);                                              \
		if (result == 0 && is_counted(sem))                                                \
			pxt_tally_took(sem, PXT_LOCKTALLY_SEMAPHORE, caller);                      \
		return result;                                                                     \
	}                                                                                          \
	_Static_assert(1, "")

WAIT(sem_wait, (sem_t * sem), (sem), true, PXT_WAIT_NO_LIMIT);
#define TIMED_WAIT(name, timespec)                                                                 \
	WAIT(name, (sem_t * sem, const timespec *limit), (sem, limit), is_valid(limit->tv_nsec),   \
	    PXT_WAIT_UNTIL(CLOCK_REALTIME, limit))
#define CLOCK_WAIT(name, timespec)                                                                 \
	WAIT(name, (sem_t * sem, clockid_t clock, const timespec *limit), (sem, clock, limit),     \
	    pxt_wrap_takes_clock(clock) && is_valid(limit->tv_nsec), PXT_WAIT_UNTIL(clock, limit))
PXT_TIMES(TIMED_WAIT, timespec, sem_timedwait, __sem_timedwait64);
PXT_TIMES(CLOCK_WAIT, timespec, sem_clockwait, __sem_clockwait64);

/*
 * Whether threads wait: the upper half of the word with the value, or in 32 bits the third word of it.  Who
 * begins to wait after the look goes on at once.
 */
static bool is_awaited(const sem_t *sem)
{
	const uint64_t *word = (const uint64_t *)(const void *)sem;
	const uint32_t *words = (const uint32_t *)(const void *)sem;

	return sizeof(long) == sizeof(*word) ? __atomic_load_n(word, __ATOMIC_RELAXED) >> 32 != 0
	                                     : __atomic_load_n(&words[2], __ATOMIC_RELAXED) != 0;
}

static bool tells_post(const sem_t *sem)
{
	if (!is_counted(sem))
		return true;
	pxt_tally_gave(sem, PXT_LOCKTALLY_SEMAPHORE);
	return is_awaited(sem);
}

/* Told before, as the thread that it wakes goes on at once. */
PXT_WRAPPER(int, sem_post, (sem_t * sem))
{
	const void *caller = PXT_WRAP_CALLER();

	if (pxt_call_wanted(POSIX_TRACE_CALL_SEM_POST_NP, caller) && tells_post(sem))
		pxt_call_tell(POSIX_TRACE_CALL_SEM_POST_NP, pxt_wrap_address(sem), 0, caller);
	return PXT_WRAP_CALL(sem_post)(sem);
}

/* @name: of one that processes share; NULL: they do not. */
static void tell_made(sem_t *sem, unsigned value, const char *name, const void *caller)
{
	if (!pxt_call_wanted(POSIX_TRACE_CALL_SEM_WAIT_NP, caller))
		return;
	pxt_tally_tell_taken(sem, sizeof(*sem));
	pxt_process_tell(POSIX_TRACE_PROCESS_SEMAPHORE_NP, value, pxt_wrap_address(sem),
	    sizeof(*sem), name, caller);
}

PXT_WRAPPER(int, sem_init, (sem_t * sem, int shared, unsigned value))
{
	int result = PXT_WRAP_CALL(sem_init)(sem, shared, value);

	if (result == 0)
		tell_made(sem, value, shared ? "shared" : NULL, PXT_WRAP_CALLER());
	return result;
}

/* Of one that is there already the value is not that of its begin: who would have made it says that. */
PXT_WRAPPER(sem_t *, sem_open, (const char *name, int flags, ...))
{
	mode_t mode = 0;
	unsigned value = 0;
	int now = 0;
	sem_t *sem;

	if (flags & O_CREAT) {
		va_list list;

		va_start(list, flags);
		mode = va_arg(list, mode_t);
		value = va_arg(list, unsigned);
		va_end(list);
	}
	sem = PXT_WRAP_CALL(sem_open)(name, flags, mode, value);
	if (sem == SEM_FAILED)
		return sem;
	if (!(flags & O_CREAT) && sem_getvalue(sem, &now) == 0)
		value = now > 0 ? (unsigned)now : 0;
	tell_made(sem, value, name, PXT_WRAP_CALLER());
	return sem;
}

PXT_WRAPPER(int, sem_destroy, (sem_t * sem))
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
#define TIMED_SEMOP(name, timespec)                                                                \
	PXT_CALL_WRAP_UNTIL(int, name,                                                             \
	    (int set, struct sembuf *operations, size_t count, const timespec *time),              \
	    (set, operations, count, time), POSIX_TRACE_CALL_SEMOP_NP, set, PXT_CALL_MS(time),     \
	    PXT_WAIT_NS(time))
PXT_TIMES(TIMED_SEMOP, timespec, semtimedop, __semtimedop64);

PXT_CALL_WRAP_ERROR(pthread_barrier_wait, (pthread_barrier_t * barrier), (barrier),
    POSIX_TRACE_CALL_BARRIER_WAIT_NP, pxt_wrap_address(barrier), PXT_CALL_NO_SIZE);

/* pthread_once() and call_once(), where they run the function or wait for it. */

/* In glibc and musl; elsewhere every call is recorded. */
#define DONE 2

PXT_WRAPPER(int, pthread_once, (pthread_once_t * control, void (*function)(void)))
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

PXT_WRAPPER(void, call_once, (once_flag * flag, void (*function)(void)))
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
