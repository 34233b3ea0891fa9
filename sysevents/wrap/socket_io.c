/* SPDX-License-Identifier: MIT */
/* socket_io.c - sockets. */
#define _GNU_SOURCE
#include "sysevents/wrap/call.h"

#include <sys/socket.h>
#include <sys/types.h>

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
