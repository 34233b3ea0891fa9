/* SPDX-License-Identifier: MIT */
/* socket.c - sockets, and waiting for descriptors. */
#define _GNU_SOURCE
#include "sysevents/wrap/call.h"

#include <poll.h>
#include <sys/epoll.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <sys/types.h>
#include <time.h>

#if PXT_GROUP_SOCKET_IO
PXT_CALL_WRAP(int, accept, (int fd, __SOCKADDR_ARG from, socklen_t *bytes), (fd, from, bytes),
    POSIX_TRACE_CALL_ACCEPT_NP, fd, PXT_CALL_NO_SIZE);
PXT_CALL_WRAP(int, accept4, (int fd, __SOCKADDR_ARG from, socklen_t *bytes, int flags),
    (fd, from, bytes, flags), POSIX_TRACE_CALL_ACCEPT_NP, fd, PXT_CALL_NO_SIZE);
PXT_CALL_WRAP(int, connect, (int fd, __CONST_SOCKADDR_ARG to, socklen_t bytes), (fd, to, bytes),
    POSIX_TRACE_CALL_CONNECT_NP, fd, PXT_CALL_NO_SIZE);
PXT_CALL_WRAP(ssize_t, recv, (int fd, void *to, size_t bytes, int flags), (fd, to, bytes, flags),
    POSIX_TRACE_CALL_RECV_NP, fd, bytes);
PXT_CALL_WRAP(ssize_t, recvfrom,
    (int fd, void *to, size_t bytes, int flags, __SOCKADDR_ARG from, socklen_t *length),
    (fd, to, bytes, flags, from, length), POSIX_TRACE_CALL_RECV_NP, fd, bytes);
PXT_CALL_WRAP(ssize_t, recvmsg, (int fd, struct msghdr *message, int flags), (fd, message, flags),
    POSIX_TRACE_CALL_RECV_NP, fd, PXT_CALL_NO_SIZE);
PXT_CALL_WRAP(ssize_t, send, (int fd, const void *from, size_t bytes, int flags),
    (fd, from, bytes, flags), POSIX_TRACE_CALL_SEND_NP, fd, bytes);
PXT_CALL_WRAP(ssize_t, sendto,
    (int fd, const void *from, size_t bytes, int flags, __CONST_SOCKADDR_ARG to, socklen_t length),
    (fd, from, bytes, flags, to, length), POSIX_TRACE_CALL_SEND_NP, fd, bytes);
PXT_CALL_WRAP(ssize_t, sendmsg, (int fd, const struct msghdr *message, int flags),
    (fd, message, flags), POSIX_TRACE_CALL_SEND_NP, fd, PXT_CALL_NO_SIZE);

/* What programs call that were compiled with _FORTIFY_SOURCE. */
extern ssize_t __recv_chk(int fd, void *to, size_t bytes, size_t room, int flags);
extern ssize_t __recvfrom_chk(
    int fd, void *to, size_t bytes, size_t room, int flags, __SOCKADDR_ARG from, socklen_t *length);
PXT_CALL_WRAP(ssize_t, __recv_chk, (int fd, void *to, size_t bytes, size_t room, int flags),
    (fd, to, bytes, room, flags), POSIX_TRACE_CALL_RECV_NP, fd, bytes);
PXT_CALL_WRAP(ssize_t, __recvfrom_chk,
    (int fd, void *to, size_t bytes, size_t room, int flags, __SOCKADDR_ARG from,
        socklen_t *length),
    (fd, to, bytes, room, flags, from, length), POSIX_TRACE_CALL_RECV_NP, fd, bytes);

/* Several messages at once; the result is how many. */

PXT_CALL_WRAP(int, sendmmsg, (int fd, struct mmsghdr *messages, unsigned count, int flags),
    (fd, messages, count, flags), POSIX_TRACE_CALL_SEND_NP, fd, PXT_CALL_NO_SIZE);
PXT_CALL_WRAP(int, recvmmsg,
    (int fd, struct mmsghdr *messages, unsigned count, int flags, struct timespec *time),
    (fd, messages, count, flags, time), POSIX_TRACE_CALL_RECV_NP, fd, PXT_CALL_NO_SIZE);
#endif

#if PXT_GROUP_POLL
/* ---- Waiting for descriptors ---- */

#define MS(ms)           ((ms) < 0 ? PXT_CALL_NO_SIZE : (uint64_t)(ms))
#define NS_OF_MS(ms)     ((ms) < 0 ? PXT_WAIT_NO_LIMIT : (int64_t)(ms)*1000000)
/* The one descriptor, where it is one. */
#define ONLY(set, count) ((count) == 1 && (set) ? only(set) : 0)

/* Not inline: a compiler that sees poll() believes that it writes what is read here. */
static __attribute__((noinline)) uint64_t only(const struct pollfd *set)
{
	return (uint64_t)(unsigned)set->fd;
}

static int64_t ns_of(const struct timeval *time)
{
	return time ? pxt_wait_ns(&(struct timespec){ time->tv_sec, time->tv_usec * 1000 })
	            : PXT_WAIT_NO_LIMIT;
}

PXT_CALL_WRAP_UNTIL(int, poll, (struct pollfd * set, nfds_t count, int ms), (set, count, ms),
    POSIX_TRACE_CALL_POLL_NP, ONLY(set, count), MS(ms), NS_OF_MS(ms));
PXT_CALL_WRAP_UNTIL(int, ppoll,
    (struct pollfd * set, nfds_t count, const struct timespec *time, const sigset_t *mask),
    (set, count, time, mask), POSIX_TRACE_CALL_POLL_NP, ONLY(set, count), PXT_CALL_MS(time),
    pxt_wait_ns(time));
PXT_CALL_WRAP_UNTIL(int, select,
    (int count, fd_set *in, fd_set *out, fd_set *except, struct timeval *time),
    (count, in, out, except, time), POSIX_TRACE_CALL_SELECT_NP, 0,
    time ? (uint64_t)time->tv_sec * 1000u + (uint64_t)time->tv_usec / 1000u : PXT_CALL_NO_SIZE,
    ns_of(time));
PXT_CALL_WRAP_UNTIL(int, pselect,
    (int count, fd_set *in, fd_set *out, fd_set *except, const struct timespec *time,
        const sigset_t *mask),
    (count, in, out, except, time, mask), POSIX_TRACE_CALL_SELECT_NP, 0, PXT_CALL_MS(time),
    pxt_wait_ns(time));
PXT_CALL_WRAP_UNTIL(int, epoll_wait, (int fd, struct epoll_event *events, int count, int ms),
    (fd, events, count, ms), POSIX_TRACE_CALL_EPOLL_WAIT_NP, fd, MS(ms), NS_OF_MS(ms));
PXT_CALL_WRAP_UNTIL(int, epoll_pwait,
    (int fd, struct epoll_event *events, int count, int ms, const sigset_t *mask),
    (fd, events, count, ms, mask), POSIX_TRACE_CALL_EPOLL_WAIT_NP, fd, MS(ms), NS_OF_MS(ms));

/* What programs call that were compiled with _FORTIFY_SOURCE. */
extern int __poll_chk(struct pollfd *set, nfds_t count, int ms, size_t room);
extern int __ppoll_chk(struct pollfd *set, nfds_t count, const struct timespec *time,
    const sigset_t *mask, size_t room);
PXT_CALL_WRAP_UNTIL(int, __poll_chk, (struct pollfd * set, nfds_t count, int ms, size_t room),
    (set, count, ms, room), POSIX_TRACE_CALL_POLL_NP, ONLY(set, count), MS(ms), NS_OF_MS(ms));
PXT_CALL_WRAP_UNTIL(int, __ppoll_chk,
    (struct pollfd * set, nfds_t count, const struct timespec *time, const sigset_t *mask,
        size_t room),
    (set, count, time, mask, room), POSIX_TRACE_CALL_POLL_NP, ONLY(set, count), PXT_CALL_MS(time),
    pxt_wait_ns(time));
PXT_CALL_WRAP_UNTIL(int, epoll_pwait2,
    (int fd, struct epoll_event *events, int count, const struct timespec *time,
        const sigset_t *mask),
    (fd, events, count, time, mask), POSIX_TRACE_CALL_EPOLL_WAIT_NP, fd, PXT_CALL_MS(time),
    pxt_wait_ns(time));
#endif
