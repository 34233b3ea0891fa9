/* SPDX-License-Identifier: MIT */
/* poll.c - waiting for descriptors. */
#define _GNU_SOURCE
#include "sysevents/wrap/call.h"

#include <poll.h>
#include <sys/epoll.h>
#include <sys/select.h>
#include <time.h>

#define MS(ms)           ((ms) < 0 ? PXT_CALL_NO_SIZE : (uint64_t)(ms))
/* The one descriptor, where it is one. */
#define ONLY(set, count) ((count) == 1 && (set) ? only(set) : 0)

/* Not inline: a compiler that sees poll() believes that it writes what is read here. */
static __attribute__((noinline)) uint64_t only(const struct pollfd *set)
{
	return (uint64_t)(unsigned)set->fd;
}

PXT_CALL_WRAP(int, poll, (struct pollfd * set, nfds_t count, int ms), (set, count, ms),
    POSIX_TRACE_CALL_POLL_NP, ONLY(set, count), MS(ms));
PXT_CALL_WRAP(int, ppoll,
    (struct pollfd * set, nfds_t count, const struct timespec *time, const sigset_t *mask),
    (set, count, time, mask), POSIX_TRACE_CALL_POLL_NP, ONLY(set, count), PXT_CALL_MS(time));
PXT_CALL_WRAP(int, select,
    (int count, fd_set *in, fd_set *out, fd_set *except, struct timeval *time),
    (count, in, out, except, time), POSIX_TRACE_CALL_SELECT_NP, 0,
    time ? (uint64_t)time->tv_sec * 1000u + (uint64_t)time->tv_usec / 1000u : PXT_CALL_NO_SIZE);
PXT_CALL_WRAP(int, pselect,
    (int count, fd_set *in, fd_set *out, fd_set *except, const struct timespec *time,
        const sigset_t *mask),
    (count, in, out, except, time, mask), POSIX_TRACE_CALL_SELECT_NP, 0, PXT_CALL_MS(time));
PXT_CALL_WRAP(int, epoll_wait, (int fd, struct epoll_event *events, int count, int ms),
    (fd, events, count, ms), POSIX_TRACE_CALL_EPOLL_WAIT_NP, fd, MS(ms));
PXT_CALL_WRAP(int, epoll_pwait,
    (int fd, struct epoll_event *events, int count, int ms, const sigset_t *mask),
    (fd, events, count, ms, mask), POSIX_TRACE_CALL_EPOLL_WAIT_NP, fd, MS(ms));

/* What programs call that were compiled with _FORTIFY_SOURCE. */
extern int __poll_chk(struct pollfd *set, nfds_t count, int ms, size_t room);
extern int __ppoll_chk(struct pollfd *set, nfds_t count, const struct timespec *time,
    const sigset_t *mask, size_t room);
PXT_CALL_WRAP(int, __poll_chk, (struct pollfd * set, nfds_t count, int ms, size_t room),
    (set, count, ms, room), POSIX_TRACE_CALL_POLL_NP, ONLY(set, count), MS(ms));
PXT_CALL_WRAP(int, __ppoll_chk,
    (struct pollfd * set, nfds_t count, const struct timespec *time, const sigset_t *mask,
        size_t room),
    (set, count, time, mask, room), POSIX_TRACE_CALL_POLL_NP, ONLY(set, count), PXT_CALL_MS(time));
PXT_CALL_WRAP(int, epoll_pwait2,
    (int fd, struct epoll_event *events, int count, const struct timespec *time,
        const sigset_t *mask),
    (fd, events, count, time, mask), POSIX_TRACE_CALL_EPOLL_WAIT_NP, fd, PXT_CALL_MS(time));
