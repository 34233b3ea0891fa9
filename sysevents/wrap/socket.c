/* SPDX-License-Identifier: MIT */
/*
 * socket.c - sockets: connect(), accept(), recv(), send() and the like (read() and write(): file.c); waiting for
 * descriptors: poll(), select(), epoll_wait().
 */
#define _GNU_SOURCE
#include "sysevents/wrap/call.h"
#include "sysevents/wrap/process.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdio.h>
#include <sys/epoll.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <sys/un.h>

/* ---- What a descriptor is: the address at its other end, or its own ---- */

#define NAME_BYTES (sizeof(((struct sockaddr_un *)0)->sun_path) + 1)

union address {
	struct sockaddr any;
	struct sockaddr_in ip4;
	struct sockaddr_in6 ip6;
	struct sockaddr_un local;
	struct sockaddr_storage room;
};

/* A path; one without a file begins with '@', as the kernel's lists have it. */
static void local_name(char name[NAME_BYTES], const struct sockaddr_un *local, size_t bytes)
{
	size_t length = bytes - offsetof(struct sockaddr_un, sun_path);

	memcpy(name, local->sun_path, length);
	name[length] = '\0';
	if (length && !*name)
		*name = '@';
}

/* False: it has none. */
static bool name_of(char name[NAME_BYTES], const union address *address, size_t bytes)
{
	char ip[INET6_ADDRSTRLEN];

	*name = '\0';
	if (bytes >= sizeof(address->ip4) && address->any.sa_family == AF_INET)
		(void)snprintf(name, NAME_BYTES, "%s:%u",
		    inet_ntop(AF_INET, &address->ip4.sin_addr, ip, sizeof(ip)),
		    (unsigned)ntohs(address->ip4.sin_port));
	else if (bytes >= sizeof(address->ip6) && address->any.sa_family == AF_INET6)
		(void)snprintf(name, NAME_BYTES, "[%s]:%u",
		    inet_ntop(AF_INET6, &address->ip6.sin6_addr, ip, sizeof(ip)),
		    (unsigned)ntohs(address->ip6.sin6_port));
	else if (bytes > offsetof(struct sockaddr_un, sun_path) &&
	         bytes <= sizeof(address->local) && address->any.sa_family == AF_UNIX)
		local_name(name, &address->local, bytes);
	return *name != '\0';
}

/* @fd has that address, or where it has none is what @otherwise is.  Leaves errno alone. */
static void tell_address(
    int fd, const struct sockaddr *at, size_t bytes, int otherwise, const void *caller)
{
	int saved = errno;
	union address address = { .any = { 0 } };
	char name[NAME_BYTES];

	if (bytes > sizeof(address))
		bytes = sizeof(address);
	memcpy(&address, at, bytes);
	if (name_of(name, &address, bytes))
		pxt_process_tell_descriptor(fd, name, caller);
	else if (otherwise >= 0)
		pxt_process_tell_copy(fd, otherwise, caller);
	errno = saved;
}

PXT_WRAP_REAL(accept);
PXT_WRAP_REAL(accept4);

static const char *word_of(int domain, int type)
{
	static const char words[2][2][24] = { { "a TCP socket", "a UDP socket" },
		{ "a local socket", "a local datagram socket" } };
	bool is_local = domain == AF_UNIX;
	bool is_datagram = (type & 0xf) == SOCK_DGRAM;

	return is_local || domain == AF_INET || domain == AF_INET6 ? words[is_local][is_datagram]
	                                                           : "a socket";
}

PXT_WRAPPER(int, socket, (int domain, int type, int protocol))
{
	const void *caller = PXT_WRAP_CALLER();
	int fd = PXT_WRAP_CALL(socket)(domain, type, protocol);

	if (fd >= 0 && pxt_call_wanted(POSIX_TRACE_CALL_CONNECT_NP, caller))
		pxt_process_tell_descriptor(fd, word_of(domain, type), caller);
	return fd;
}

PXT_WRAPPER(int, socketpair, (int domain, int type, int protocol, int ends[2]))
{
	const void *caller = PXT_WRAP_CALLER();
	int result = PXT_WRAP_CALL(socketpair)(domain, type, protocol, ends);

	if (result == 0 && pxt_call_wanted(POSIX_TRACE_CALL_CONNECT_NP, caller)) {
		pxt_process_tell_descriptor(ends[0], "a socket pair", caller);
		pxt_process_tell_descriptor(ends[1], "a socket pair", caller);
	}
	return result;
}

PXT_WRAPPER(int, bind, (int fd, __CONST_SOCKADDR_ARG address, socklen_t bytes))
{
	const void *caller = PXT_WRAP_CALLER();
	int result = PXT_WRAP_CALL(bind)(fd, address, bytes);

	if (result == 0 && pxt_call_wanted(POSIX_TRACE_CALL_CONNECT_NP, caller))
		tell_address(fd, address.__sockaddr__, bytes, -1, caller);
	return result;
}

/* Told before: a thread that waits for the connection has its name then. */
PXT_WRAPPER(int, connect, (int fd, __CONST_SOCKADDR_ARG to, socklen_t bytes))
{
	const void *caller = PXT_WRAP_CALLER();

	if (!pxt_call_wanted(POSIX_TRACE_CALL_CONNECT_NP, caller))
		return PXT_WRAP_CALL(connect)(fd, to, bytes);
	if (to.__sockaddr__)
		tell_address(fd, to.__sockaddr__, bytes, -1, caller);
	PXT_CALL_SCOPE call =
	    pxt_call_enter(POSIX_TRACE_CALL_CONNECT_NP, (uint64_t)fd, PXT_CALL_NO_SIZE, caller);
	int result = PXT_WRAP_CALL(connect)(fd, to, bytes);

	call.result = PXT_CALL_ERRNO(result);
	return result;
}

/* Where the caller does not ask whose call it is, we do.  A local one has the name of what it came by. */
static int tell_accept(int fd, struct sockaddr *from, socklen_t *bytes,
    int (*real)(int fd, struct sockaddr *from, socklen_t *bytes, int flags), int flags,
    const void *caller)
{
	struct sockaddr_storage ours;
	socklen_t our_bytes = sizeof(ours);
	socklen_t *given = from ? bytes : &our_bytes;
	const socklen_t room = given ? *given : 0;
	int result;

	if (!from)
		from = (struct sockaddr *)(void *)&ours;
	PXT_CALL_SCOPE call =
	    pxt_call_enter(POSIX_TRACE_CALL_ACCEPT_NP, (uint64_t)fd, PXT_CALL_NO_SIZE, caller);
	result = real(fd, from, given, flags);
	call.result = PXT_CALL_ERRNO(result);
	if (result >= 0 && given)
		tell_address(result, from, *given < room ? *given : room, fd, caller);
	return result;
}

static int call_accept(int fd, struct sockaddr *from, socklen_t *bytes, PXT_UNUSED int flags)
{
	return PXT_WRAP_CALL(accept)(fd, (__SOCKADDR_ARG){ .__sockaddr__ = from }, bytes);
}

static int call_accept4(int fd, struct sockaddr *from, socklen_t *bytes, int flags)
{
	return PXT_WRAP_CALL(accept4)(fd, (__SOCKADDR_ARG){ .__sockaddr__ = from }, bytes, flags);
}

PXT_WRAP_EXPORT int PXT_WRAP_NAME(accept)(int fd, __SOCKADDR_ARG from, socklen_t *bytes)
{
	const void *caller = PXT_WRAP_CALLER();

	if (!pxt_call_wanted(POSIX_TRACE_CALL_ACCEPT_NP, caller))
		return PXT_WRAP_CALL(accept)(fd, from, bytes);
	return tell_accept(fd, from.__sockaddr__, bytes, call_accept, 0, caller);
}

PXT_WRAP_EXPORT int PXT_WRAP_NAME(accept4)(int fd, __SOCKADDR_ARG from, socklen_t *bytes, int flags)
{
	const void *caller = PXT_WRAP_CALLER();

	if (!pxt_call_wanted(POSIX_TRACE_CALL_ACCEPT_NP, caller))
		return PXT_WRAP_CALL(accept4)(fd, from, bytes, flags);
	return tell_accept(fd, from.__sockaddr__, bytes, call_accept4, flags, caller);
}

/* ---- Sending and receiving ---- */

PXT_CALL_WRAP(ssize_t, recv, (int fd, void *to, size_t bytes, int flags), (fd, to, bytes, flags),
    POSIX_TRACE_CALL_RECV_NP, fd, bytes);
PXT_CALL_WRAP(ssize_t, recvfrom,
    (int fd, void *to, size_t bytes, int flags, __SOCKADDR_ARG from, socklen_t *length),
    (fd, to, bytes, flags, from, length), POSIX_TRACE_CALL_RECV_NP, fd, bytes);
#define RECEIVE_MESSAGE(name)                                                                      \
	PXT_CALL_WRAP(ssize_t, name, (int fd, struct msghdr *message, int flags),                  \
	    (fd, message, flags), POSIX_TRACE_CALL_RECV_NP, fd, PXT_CALL_NO_SIZE)
RECEIVE_MESSAGE(recvmsg);
PXT_CALL_WRAP(ssize_t, send, (int fd, const void *from, size_t bytes, int flags),
    (fd, from, bytes, flags), POSIX_TRACE_CALL_SEND_NP, fd, bytes);
PXT_CALL_WRAP(ssize_t, sendto,
    (int fd, const void *from, size_t bytes, int flags, __CONST_SOCKADDR_ARG to, socklen_t length),
    (fd, from, bytes, flags, to, length), POSIX_TRACE_CALL_SEND_NP, fd, bytes);
#define SEND_MESSAGE(name)                                                                         \
	PXT_CALL_WRAP(ssize_t, name, (int fd, const struct msghdr *message, int flags),            \
	    (fd, message, flags), POSIX_TRACE_CALL_SEND_NP, fd, PXT_CALL_NO_SIZE)
SEND_MESSAGE(sendmsg);

/* What programs call that were compiled with _FORTIFY_SOURCE. */
PXT_CALL_WRAP(ssize_t, __recv_chk, (int fd, void *to, size_t bytes, size_t room, int flags),
    (fd, to, bytes, room, flags), POSIX_TRACE_CALL_RECV_NP, fd, bytes);
PXT_CALL_WRAP(ssize_t, __recvfrom_chk,
    (int fd, void *to, size_t bytes, size_t room, int flags, __SOCKADDR_ARG from,
        socklen_t *length),
    (fd, to, bytes, room, flags, from, length), POSIX_TRACE_CALL_RECV_NP, fd, bytes);

/* Several messages at once; the result is how many. */

#define SEND_MESSAGES(name)                                                                        \
	PXT_CALL_WRAP(int, name, (int fd, struct mmsghdr *messages, unsigned count, int flags),    \
	    (fd, messages, count, flags), POSIX_TRACE_CALL_SEND_NP, fd, PXT_CALL_NO_SIZE)
SEND_MESSAGES(sendmmsg);
#define RECEIVE_MESSAGES(name, timespec)                                                           \
	PXT_CALL_WRAP(int, name,                                                                   \
	    (int fd, struct mmsghdr *messages, unsigned count, int flags, timespec *time),         \
	    (fd, messages, count, flags, time), POSIX_TRACE_CALL_RECV_NP, fd, PXT_CALL_NO_SIZE)
PXT_TIMES(RECEIVE_MESSAGES, timespec, recvmmsg, __recvmmsg64);

#if PXT_TIMES_TWO
/* What they send may be a time. */
RECEIVE_MESSAGE(__recvmsg64);
SEND_MESSAGE(__sendmsg64);
SEND_MESSAGES(__sendmmsg64);
#endif

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

PXT_CALL_WRAP_UNTIL(int, poll, (struct pollfd * set, nfds_t count, int ms), (set, count, ms),
    POSIX_TRACE_CALL_POLL_NP, ONLY(set, count), MS(ms), NS_OF_MS(ms));
#define TIMED_POLL(name, timespec)                                                                 \
	PXT_CALL_WRAP_UNTIL(int, name,                                                             \
	    (struct pollfd * set, nfds_t count, const timespec *time, const sigset_t *mask),       \
	    (set, count, time, mask), POSIX_TRACE_CALL_POLL_NP, ONLY(set, count),                  \
	    PXT_CALL_MS(time), PXT_WAIT_NS(time))
#define SELECT(name, timeval)                                                                      \
	PXT_CALL_WRAP_UNTIL(int, name,                                                             \
	    (int count, fd_set *in, fd_set *out, fd_set *except, timeval *time),                   \
	    (count, in, out, except, time), POSIX_TRACE_CALL_SELECT_NP, 0,                         \
	    time ? (uint64_t)time->tv_sec * 1000u + (uint64_t)time->tv_usec / 1000u                \
	         : PXT_CALL_NO_SIZE,                                                               \
	    time ? pxt_wait_ns(time->tv_sec, time->tv_usec *INT64_C(1000)) : PXT_WAIT_NO_LIMIT)
#define SELECT_WITH(name, timespec)                                                                \
	PXT_CALL_WRAP_UNTIL(int, name,                                                             \
	    (int count, fd_set *in, fd_set *out, fd_set *except, const timespec *time,             \
	        const sigset_t *mask),                                                             \
	    (count, in, out, except, time, mask), POSIX_TRACE_CALL_SELECT_NP, 0,                   \
	    PXT_CALL_MS(time), PXT_WAIT_NS(time))
PXT_TIMES(TIMED_POLL, timespec, ppoll, __ppoll64);
PXT_TIMES(SELECT, timeval, select, __select64);
PXT_TIMES(SELECT_WITH, timespec, pselect, __pselect64);
PXT_CALL_WRAP_UNTIL(int, epoll_wait, (int fd, struct epoll_event *events, int count, int ms),
    (fd, events, count, ms), POSIX_TRACE_CALL_EPOLL_WAIT_NP, fd, MS(ms), NS_OF_MS(ms));
PXT_CALL_WRAP_UNTIL(int, epoll_pwait,
    (int fd, struct epoll_event *events, int count, int ms, const sigset_t *mask),
    (fd, events, count, ms, mask), POSIX_TRACE_CALL_EPOLL_WAIT_NP, fd, MS(ms), NS_OF_MS(ms));

/* What programs call that were compiled with _FORTIFY_SOURCE. */
PXT_CALL_WRAP_UNTIL(int, __poll_chk, (struct pollfd * set, nfds_t count, int ms, size_t room),
    (set, count, ms, room), POSIX_TRACE_CALL_POLL_NP, ONLY(set, count), MS(ms), NS_OF_MS(ms));
PXT_CALL_WRAP_UNTIL(int, __ppoll_chk,
    (struct pollfd * set, nfds_t count, const struct timespec *time, const sigset_t *mask,
        size_t room),
    (set, count, time, mask, room), POSIX_TRACE_CALL_POLL_NP, ONLY(set, count), PXT_CALL_MS(time),
    PXT_WAIT_NS(time));
#define TIMED_EPOLL(name, timespec)                                                                \
	PXT_CALL_WRAP_UNTIL(int, name,                                                             \
	    (int fd, struct epoll_event *events, int count, const timespec *time,                  \
	        const sigset_t *mask),                                                             \
	    (fd, events, count, time, mask), POSIX_TRACE_CALL_EPOLL_WAIT_NP, fd,                   \
	    PXT_CALL_MS(time), PXT_WAIT_NS(time))
PXT_TIMES(TIMED_EPOLL, timespec, epoll_pwait2, __epoll_pwait2_time64);
