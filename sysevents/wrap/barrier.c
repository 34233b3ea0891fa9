/* SPDX-License-Identifier: MIT */
/* barrier.c - barriers. */
#define _GNU_SOURCE
#include "sysevents/wrap/call.h"

#include <pthread.h>

PXT_CALL_WRAP_ERROR(pthread_barrier_wait, (pthread_barrier_t * barrier), (barrier),
    POSIX_TRACE_CALL_BARRIER_WAIT_NP, pxt_wrap_address(barrier), PXT_CALL_NO_SIZE);
