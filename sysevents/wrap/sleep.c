/* SPDX-License-Identifier: MIT */
/* sleep.c - sleeping, waiting for signals, timers that are set. */
#define _GNU_SOURCE
#include "sysevents/wrap/call.h"
#include "sysevents/wrap/names.h"

#include <signal.h>
#include <sys/time.h>
#include <sys/timerfd.h>
#include <threads.h>
#include <time.h>
#include <unistd.h>

#if PXT_GROUP_SLEEP
PXT_CALL_WRAP_AS(unsigned, sleep, (unsigned seconds), (seconds), POSIX_TRACE_CALL_SLEEP_NP, 0,
    seconds *UINT64_C(1000), (int64_t)result);
PXT_CALL_WRAP(int, usleep, (useconds_t us), (us), POSIX_TRACE_CALL_SLEEP_NP, 0, us / 1000u);
PXT_CALL_WRAP(int, nanosleep, (const struct timespec *time, struct timespec *rest), (time, rest),
    POSIX_TRACE_CALL_SLEEP_NP, 0, PXT_CALL_MS(time));
PXT_CALL_WRAP_ERROR(clock_nanosleep,
    (clockid_t clock, int flags, const struct timespec *time, struct timespec *rest),
    (clock, flags, time, rest), POSIX_TRACE_CALL_SLEEP_NP, 0,
    flags &TIMER_ABSTIME ? PXT_CALL_NO_SIZE : PXT_CALL_MS(time));
PXT_CALL_WRAP_AS(int, thrd_sleep, (const struct timespec *time, struct timespec *rest),
    (time, rest), POSIX_TRACE_CALL_SLEEP_NP, 0, PXT_CALL_MS(time),
    result == -1 ? -EINTR
    : result     ? -EINVAL
                 : 0);
PXT_CALL_WRAP(int, pause, (void), (), POSIX_TRACE_CALL_PAUSE_NP, 0, PXT_CALL_NO_SIZE);
PXT_CALL_WRAP(
    int, sigsuspend, (const sigset_t *set), (set), POSIX_TRACE_CALL_PAUSE_NP, 0, PXT_CALL_NO_SIZE);
PXT_CALL_WRAP_ERROR(sigwait, (const sigset_t *set, int *signo), (set, signo),
    POSIX_TRACE_CALL_PAUSE_NP, 0, PXT_CALL_NO_SIZE);
PXT_CALL_WRAP(int, sigwaitinfo, (const sigset_t *set, siginfo_t *info), (set, info),
    POSIX_TRACE_CALL_PAUSE_NP, 0, PXT_CALL_NO_SIZE);
PXT_CALL_WRAP(int, sigtimedwait,
    (const sigset_t *set, siginfo_t *info, const struct timespec *time), (set, info, time),
    POSIX_TRACE_CALL_PAUSE_NP, 0, PXT_CALL_MS(time));
#endif

#if PXT_GROUP_TIMER
/* ---- Timers that are set ---- */

PXT_AGES(timer_settime, "GLIBC_2.3.3");

#define SET(function)                                                                              \
	do {                                                                                       \
		const void *caller = PXT_WRAP_CALLER();                                            \
                                                                                                   \
		if (!pxt_call_wanted(POSIX_TRACE_CALL_TIMER_NP, caller))                           \
			return function(timer, flags, value, former);                              \
		PXT_CALL_SCOPE call = pxt_call_enter(POSIX_TRACE_CALL_TIMER_NP, (uintptr_t)timer,  \
		    PXT_CALL_MS(value ? &value->it_value : NULL), caller);                         \
		int result = function(timer, flags, value, former);                                \
                                                                                                   \
		call.result = PXT_CALL_ERRNO(result);                                              \
		return result;                                                                     \
	} while (0)

PXT_WRAP_EXPORT int PXT_AGES_NAME(timer_settime)(
    timer_t timer, int flags, const struct itimerspec *value, struct itimerspec *former)
{
	SET(PXT_WRAP_CALL(timer_settime));
}

#if PXT_AGES_TWO
/* Their timers are other numbers. */
PXT_WRAP_EXPORT int PXT_AGES_FORMER_NAME(timer_settime)(
    timer_t timer, int flags, const struct itimerspec *value, struct itimerspec *former)
{
	SET(PXT_AGES_FORMER_CALL(timer_settime));
}
#endif

PXT_CALL_WRAP(int, timerfd_settime,
    (int fd, int flags, const struct itimerspec *value, struct itimerspec *former),
    (fd, flags, value, former), POSIX_TRACE_CALL_TIMER_NP, fd,
    PXT_CALL_MS(value ? &value->it_value : NULL));
PXT_CALL_WRAP_AS(unsigned, alarm, (unsigned seconds), (seconds), POSIX_TRACE_CALL_TIMER_NP, 0,
    seconds *UINT64_C(1000), (int64_t)result);
PXT_CALL_WRAP(int, setitimer,
    (__itimer_which_t which, const struct itimerval *value, struct itimerval *former),
    (which, value, former), POSIX_TRACE_CALL_TIMER_NP, 0,
    value ? (uint64_t)value->it_value.tv_sec * 1000u + (uint64_t)value->it_value.tv_usec / 1000u
          : PXT_CALL_NO_SIZE);
#endif
