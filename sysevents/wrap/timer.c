/* SPDX-License-Identifier: MIT */
/* timer.c - timers that are set. */
#define _GNU_SOURCE
#include "sysevents/wrap/call.h"

#include <sys/time.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

PXT_CALL_WRAP(int, timer_settime,
    (timer_t timer, int flags, const struct itimerspec *value, struct itimerspec *former),
    (timer, flags, value, former), POSIX_TRACE_CALL_TIMER_NP, (uintptr_t)timer,
    PXT_CALL_MS(value ? &value->it_value : NULL));
PXT_CALL_WRAP(int, timerfd_settime,
    (int fd, int flags, const struct itimerspec *value, struct itimerspec *former),
    (fd, flags, value, former), POSIX_TRACE_CALL_TIMER_NP, fd,
    PXT_CALL_MS(value ? &value->it_value : NULL));
PXT_CALL_WRAP_AS(unsigned, alarm, (unsigned seconds), (seconds), POSIX_TRACE_CALL_TIMER_NP, 0,
    seconds *UINT64_C(1000), (int64_t)result);
