/* SPDX-License-Identifier: MIT */
/* queue.c - message queues, of POSIX and of System V. */
#define _GNU_SOURCE
#include "sysevents/wrap/call.h"

#include <mqueue.h>
#include <sys/msg.h>

PXT_CALL_WRAP(int, mq_send, (mqd_t queue, const char *from, size_t bytes, unsigned priority),
    (queue, from, bytes, priority), POSIX_TRACE_CALL_MQ_SEND_NP, queue, bytes);
#define TIMED_SEND(name, timespec)                                                                 \
	PXT_CALL_WRAP_UNTIL(int, name,                                                             \
	    (mqd_t queue, const char *from, size_t bytes, unsigned priority,                       \
	        const timespec *limit),                                                            \
	    (queue, from, bytes, priority, limit), POSIX_TRACE_CALL_MQ_SEND_NP, queue, bytes,      \
	    PXT_WAIT_UNTIL(CLOCK_REALTIME, limit))
PXT_TIMES(TIMED_SEND, timespec, mq_timedsend, __mq_timedsend_time64);
PXT_CALL_WRAP(ssize_t, mq_receive, (mqd_t queue, char *to, size_t bytes, unsigned *priority),
    (queue, to, bytes, priority), POSIX_TRACE_CALL_MQ_RECEIVE_NP, queue, bytes);
#define TIMED_RECEIVE(name, timespec)                                                              \
	PXT_CALL_WRAP_UNTIL(ssize_t, name,                                                         \
	    (mqd_t queue, char *to, size_t bytes, unsigned *priority, const timespec *limit),      \
	    (queue, to, bytes, priority, limit), POSIX_TRACE_CALL_MQ_RECEIVE_NP, queue, bytes,     \
	    PXT_WAIT_UNTIL(CLOCK_REALTIME, limit))
PXT_TIMES(TIMED_RECEIVE, timespec, mq_timedreceive, __mq_timedreceive_time64);

PXT_CALL_WRAP(int, msgsnd, (int queue, const void *from, size_t bytes, int flags),
    (queue, from, bytes, flags), POSIX_TRACE_CALL_MSGSND_NP, queue, bytes);
PXT_CALL_WRAP(ssize_t, msgrcv, (int queue, void *to, size_t bytes, long kind, int flags),
    (queue, to, bytes, kind, flags), POSIX_TRACE_CALL_MSGRCV_NP, queue, bytes);
