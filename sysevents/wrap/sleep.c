/* SPDX-License-Identifier: MIT */
/* sleep.c - sleeping, and waiting for signals. */
#define _GNU_SOURCE
#include "sysevents/wrap/call.h"

#include <signal.h>
#include <threads.h>
#include <time.h>
#include <unistd.h>

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
