/* SPDX-License-Identifier: MIT */
/* child.c - waiting for children. */
#define _GNU_SOURCE
#include "sysevents/wrap/call.h"

#include <sys/resource.h>
#include <sys/types.h>
#include <sys/wait.h>

PXT_CALL_WRAP(pid_t, wait, (int *status), (status), POSIX_TRACE_CALL_WAIT_NP, 0, PXT_CALL_NO_SIZE);
PXT_CALL_WRAP(pid_t, waitpid, (pid_t child, int *status, int flags), (child, status, flags),
    POSIX_TRACE_CALL_WAIT_NP, (uint32_t)child, PXT_CALL_NO_SIZE);
PXT_CALL_WRAP(pid_t, wait3, (int *status, int flags, struct rusage *usage), (status, flags, usage),
    POSIX_TRACE_CALL_WAIT_NP, 0, PXT_CALL_NO_SIZE);
PXT_CALL_WRAP(pid_t, wait4, (pid_t child, int *status, int flags, struct rusage *usage),
    (child, status, flags, usage), POSIX_TRACE_CALL_WAIT_NP, (uint32_t)child, PXT_CALL_NO_SIZE);
PXT_CALL_WRAP(int, waitid, (idtype_t what, id_t child, siginfo_t *info, int flags),
    (what, child, info, flags), POSIX_TRACE_CALL_WAIT_NP, child, PXT_CALL_NO_SIZE);
