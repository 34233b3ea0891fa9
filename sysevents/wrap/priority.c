/* SPDX-License-Identifier: MIT */
/* priority.c - priorities that the program changes: of which thread, and to what. */
#define _GNU_SOURCE
#include "sysevents/wrap/call.h"

#include <pthread.h>
#include <sched.h>
#include <unistd.h>

#define PRIORITY_OF(param) ((param) ? (uint64_t)(param)->sched_priority : PXT_CALL_NO_SIZE)
#define NUMBER_OF(tid)     ((tid) ? (tid) : gettid())

PXT_CALL_WRAP_ERROR(pthread_setschedparam,
    (pthread_t thread, int policy, const struct sched_param *param), (thread, policy, param),
    POSIX_TRACE_CALL_PRIORITY_NP, thread, PRIORITY_OF(param));
PXT_CALL_WRAP_ERROR(pthread_setschedprio, (pthread_t thread, int priority), (thread, priority),
    POSIX_TRACE_CALL_PRIORITY_NP, thread, priority);
PXT_CALL_WRAP(int, sched_setscheduler, (pid_t tid, int policy, const struct sched_param *param),
    (tid, policy, param), POSIX_TRACE_CALL_PRIORITY_NP, NUMBER_OF(tid), PRIORITY_OF(param));
PXT_CALL_WRAP(int, sched_setparam, (pid_t tid, const struct sched_param *param), (tid, param),
    POSIX_TRACE_CALL_PRIORITY_NP, NUMBER_OF(tid), PRIORITY_OF(param));
