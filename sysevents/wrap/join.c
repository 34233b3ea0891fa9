/* SPDX-License-Identifier: MIT */
/* join.c - waiting for the end of threads. */
#define _GNU_SOURCE
#include "sysevents/wrap/call.h"

#include <pthread.h>
#include <threads.h>
#include <time.h>

PXT_CALL_WRAP_ERROR(pthread_join, (pthread_t thread, void **value), (thread, value),
    POSIX_TRACE_CALL_JOIN_NP, (uintptr_t)thread, PXT_CALL_NO_SIZE);
PXT_CALL_WRAP_ERROR(pthread_timedjoin_np,
    (pthread_t thread, void **value, const struct timespec *limit), (thread, value, limit),
    POSIX_TRACE_CALL_JOIN_NP, (uintptr_t)thread, PXT_CALL_NO_SIZE);
PXT_CALL_WRAP_ERROR(pthread_clockjoin_np,
    (pthread_t thread, void **value, clockid_t clock, const struct timespec *limit),
    (thread, value, clock, limit), POSIX_TRACE_CALL_JOIN_NP, (uintptr_t)thread, PXT_CALL_NO_SIZE);
PXT_CALL_WRAP_AS(int, thrd_join, (thrd_t thread, int *value), (thread, value),
    POSIX_TRACE_CALL_JOIN_NP, (uintptr_t)thread, PXT_CALL_NO_SIZE,
    result == thrd_success ? 0 : -EINVAL);
