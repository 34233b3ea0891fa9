/* SPDX-License-Identifier: MIT */
/* queue.c - message queues, of POSIX and of System V. */
#define _GNU_SOURCE
#include "sysevents/wrap/call.h"

#include <mqueue.h>
#include <sys/msg.h>
#include <time.h>

PXT_CALL_WRAP(int, mq_send, (mqd_t queue, const char *from, size_t bytes, unsigned priority),
    (queue, from, bytes, priority), POSIX_TRACE_CALL_MQ_SEND_NP, queue, bytes);
PXT_CALL_WRAP_UNTIL(int, mq_timedsend,
    (mqd_t queue, const char *from, size_t bytes, unsigned priority, const struct timespec *limit),
    (queue, from, bytes, priority, limit), POSIX_TRACE_CALL_MQ_SEND_NP, queue, bytes,
    pxt_wait_until(CLOCK_REALTIME, limit));
PXT_CALL_WRAP(ssize_t, mq_receive, (mqd_t queue, char *to, size_t bytes, unsigned *priority),
    (queue, to, bytes, priority), POSIX_TRACE_CALL_MQ_RECEIVE_NP, queue, bytes);
PXT_CALL_WRAP_UNTIL(ssize_t, mq_timedreceive,
    (mqd_t queue, char *to, size_t bytes, unsigned *priority, const struct timespec *limit),
    (queue, to, bytes, priority, limit), POSIX_TRACE_CALL_MQ_RECEIVE_NP, queue, bytes,
    pxt_wait_until(CLOCK_REALTIME, limit));

PXT_CALL_WRAP(int, msgsnd, (int queue, const void *from, size_t bytes, int flags),
    (queue, from, bytes, flags), POSIX_TRACE_CALL_MSGSND_NP, queue, bytes);
PXT_CALL_WRAP(ssize_t, msgrcv, (int queue, void *to, size_t bytes, long kind, int flags),
    (queue, to, bytes, kind, flags), POSIX_TRACE_CALL_MSGRCV_NP, queue, bytes);
