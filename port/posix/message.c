/* SPDX-License-Identifier: MIT */
/* message.c - messages between processes of one machine, and the descriptors in them; waiting for them; bells. */
#define _GNU_SOURCE
#define _FILE_OFFSET_BITS 64
#include "format/owndescriptors.h"
#include "port/port_local.h"
#include "port/posix/clock.h"
#include "port/posix/owncalls.h"

#include <poll.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Room for one more, so that one too many is seen; the system closes all others itself. */
union passing {
	struct cmsghdr align;
	unsigned char bytes[CMSG_SPACE((PXT_PORT_PASSED + 1u) * sizeof(int))];
};

static int send_now(int fd, struct msghdr *message)
{
	while (sendmsg(fd, message, MSG_DONTWAIT | MSG_NOSIGNAL) < 0) {
		if (errno == EINTR)
			continue;
		if (errno == EAGAIN || errno == ENOBUFS || errno == ENOMEM || errno == ETOOMANYREFS)
			return EAGAIN;
		return errno == EMSGSIZE ? EMSGSIZE : EPIPE;
	}
	return 0;
}

int pxt_port_local_send(
    int fd, const void *message, size_t bytes, const struct pxt_port_passed *passed)
{
	PXT_OWNCALLS();
	struct iovec part = { .iov_base = (void *)(uintptr_t)message, .iov_len = bytes };
	union passing passing = { .bytes = { 0 } };
	struct msghdr whole = { .msg_iov = &part, .msg_iovlen = 1 };
	size_t control = passed ? passed->count * sizeof(int) : 0;
	struct cmsghdr *head;

	if (control) {
		whole.msg_control = passing.bytes;
		whole.msg_controllen = (socklen_t)CMSG_SPACE(control);
		head = CMSG_FIRSTHDR(&whole);
		head->cmsg_level = SOL_SOCKET;
		head->cmsg_type = SCM_RIGHTS;
		head->cmsg_len = (socklen_t)CMSG_LEN(control);
		memcpy(CMSG_DATA(head), passed->fd, control);
	}
	return pxt_kept_is(fd) ? send_now(fd, &whole) : EPIPE;
}

/* The macro of some C libraries mixes signed and unsigned numbers. */
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wsign-conversion"
#pragma GCC diagnostic ignored "-Wsign-compare"
static struct cmsghdr *head_behind(struct msghdr *whole, struct cmsghdr *head)
{
	return CMSG_NXTHDR(whole, head);
}
#pragma GCC diagnostic pop

/* What has no room in *passed is closed.  Returns how many came. */
static unsigned take_passed(struct msghdr *whole, struct pxt_port_passed *passed)
{
	unsigned count = 0;

	for (struct cmsghdr *head = CMSG_FIRSTHDR(whole); head; head = head_behind(whole, head)) {
		size_t came = head->cmsg_len - CMSG_LEN(0);

		if (head->cmsg_level != SOL_SOCKET || head->cmsg_type != SCM_RIGHTS)
			continue;
		for (size_t at = 0; at + sizeof(int) <= came; at += sizeof(int), count++) {
			int one;

			memcpy(&one, CMSG_DATA(head) + at, sizeof(one));
			if (passed->count < PXT_PORT_PASSED)
				passed->fd[passed->count++] = one;
			else
				(void)close(one);
		}
	}
	return count;
}

static int take_message(int fd, struct msghdr *whole, size_t *bytes, struct pxt_port_passed *passed)
{
	ssize_t got;
	int error = 0;

	do
		got = recvmsg(fd, whole, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
	while (got < 0 && errno == EINTR);
	if (got < 0)
		return errno == EAGAIN ? EAGAIN : EPIPE;
	if (take_passed(whole, passed) > PXT_PORT_PASSED || (whole->msg_flags & MSG_CTRUNC) != 0)
		error = EPROTO;
	else if ((whole->msg_flags & MSG_TRUNC) != 0)
		error = EMSGSIZE;
	else if (got == 0)
		error = EPIPE;
	*bytes = (size_t)got;
	return error;
}

void pxt_port_local_drop(struct pxt_port_passed *passed)
{
	PXT_OWNCALLS();

	for (unsigned i = 0; i < passed->count; i++)
		pxt_kept_close(passed->fd[i]);
	passed->count = 0;
}

/* One that could not be moved up is closed, and is -1. */
static int keep_passed(struct pxt_port_passed *passed)
{
	int error = 0;

	for (unsigned i = 0; i < passed->count; i++) {
		if (pxt_kept_take(&passed->fd[i], false) != 0)
			error = EPROTO;
	}
	return error;
}

int pxt_port_local_receive(
    int fd, void *buffer, size_t room, size_t *bytes, struct pxt_port_passed *passed)
{
	PXT_OWNCALLS();
	struct iovec part = { .iov_base = buffer, .iov_len = room };
	union passing passing = { .bytes = { 0 } };
	struct msghdr whole = { .msg_iov = &part,
		.msg_iovlen = 1,
		.msg_control = passing.bytes,
		.msg_controllen = sizeof(passing.bytes) };
	int error;

	*bytes = 0;
	passed->count = 0;
	pxt_lows_begin();
	error = pxt_kept_is(fd) ? take_message(fd, &whole, bytes, passed) : EPIPE;
	if (keep_passed(passed) != 0 && error == 0)
		error = EPROTO;
	pxt_lows_end();
	if (error != 0)
		pxt_port_local_drop(passed);
	return error;
}

/* Signals do not make it longer, nor shorter. */
static int wait_one(int fd, short events, int64_t end)
{
	struct pollfd one = { .fd = fd, .events = events };
	int got;

	do
		got = poll(&one, 1, pxt_vdso_left_ms(end));
	while (got < 0 && errno == EINTR);
	return got > 0 ? 0 : ETIMEDOUT;
}

int pxt_port_local_await(int fd, void *buffer, size_t room, unsigned timeout_ms, size_t *bytes,
    struct pxt_port_passed *passed)
{
	PXT_OWNCALLS();
	int64_t end = pxt_vdso_ms() + timeout_ms;
	int error;

	do
		error = pxt_port_local_receive(fd, buffer, room, bytes, passed);
	while (error == EAGAIN && wait_one(fd, POLLIN, end) == 0);
	return error == EAGAIN ? ETIMEDOUT : error;
}

int pxt_port_local_memory(int *fd)
{
	PXT_OWNCALLS();
	int error;

	pxt_lows_begin();
	error = pxt_kept_adopt(
	    memfd_create("ptrace-producer", MFD_CLOEXEC | MFD_ALLOW_SEALING), fd, false);
	return pxt_kept_open(*fd, error);
}

/* ---- Waiting ---- */

/* More than the limit of open descriptors are not waited for at once; the program may have lowered it. */
#define PIECEMEAL_MS 20

static void look_at_each(struct pxt_port_watch *watch, unsigned count)
{
	(void)poll(NULL, 0, PIECEMEAL_MS);
	for (unsigned i = 0; i < count; i++) {
		struct pollfd one = { .fd = watch[i].fd, .events = POLLIN };

		watch[i].ready = one.fd >= 0 && poll(&one, 1, 0) > 0;
	}
}

/*
 * Of those that nobody calls by, one in each call, and all where a limit has passed that is no short one: a number
 * may have become another file's, which is never ready.  Of one that is ready its user looks.
 */
#define OFTEN_MS 20

static void look_at_numbers(struct pxt_port_watch *watch, unsigned count, bool all)
{
	static _Atomic unsigned turn;
	unsigned one = atomic_fetch_add_explicit(&turn, 1u, memory_order_relaxed);

	for (unsigned i = 0; i < count; i++) {
		if (watch[i].fd >= 0 && !watch[i].ready && (all || i == one % count))
			watch[i].ready = !pxt_kept_is(watch[i].fd);
	}
}

void pxt_port_local_watch(struct pxt_port_watch *watch, unsigned count, int timeout_ms)
{
	PXT_OWNCALLS();
	struct pollfd all[PXT_PORT_WATCH_MAX];
	unsigned of[PXT_PORT_WATCH_MAX];
	unsigned watched = 0;
	int got;

	for (unsigned i = 0; i < count; i++) {
		/* One that was closed is told of at once by the system. */
		watch[i].ready = watch[i].fd >= 0 && !pxt_own_place(watch[i].fd);
		if (watch[i].ready)
			timeout_ms = 0;
		if (watch[i].fd < 0 || watch[i].ready || watched == PXT_PORT_WATCH_MAX)
			continue;
		all[watched] = (struct pollfd){ .fd = watch[i].fd, .events = POLLIN };
		of[watched++] = i;
	}
	got = poll(all, watched, timeout_ms);
	if (got < 0 && errno == EINTR)
		got = poll(all, watched, 0);
	for (unsigned i = 0; got > 0 && i < watched; i++)
		watch[of[i]].ready = all[i].revents != 0;
	if (got < 0 && errno != EINTR)
		look_at_each(watch, count);
	look_at_numbers(watch, count, got == 0 && timeout_ms > OFTEN_MS);
}

/* Two sockets: what is eventfd's or a timer's cannot be told from another one by its inode. */
int pxt_port_bell_open(int *bell, int *ringer)
{
	PXT_OWNCALLS();
	int ends[2] = { -1, -1 };
	int error;

	pxt_lows_begin();
	error = socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, ends) == 0
	            ? 0
	            : pxt_kept_error(errno);
	*bell = -1;
	*ringer = -1;
	if (error == 0) {
		int other;

		error = pxt_kept_take(&ends[0], false);
		other = pxt_kept_take(&ends[1], false);
		error = error ? error : other;
	}
	pxt_lows_end();
	*bell = ends[0];
	*ringer = ends[1];
	(void)pxt_kept_settle(bell, error);
	(void)pxt_kept_settle(ringer, error);
	(void)pxt_kept_open(*bell, error);
	return pxt_kept_open(*ringer, error);
}

/* No pxt_owncalls_begin(): its functions are not for signal handlers. */
void pxt_port_bell_ring(int ringer)
{
	PXT_KEEP_ERRNO();

	if (pxt_kept_is(ringer))
		(void)syscall(
		    SYS_sendto, ringer, "", (size_t)1, MSG_DONTWAIT | MSG_NOSIGNAL, NULL, 0);
}

bool pxt_port_bell_hush(int bell)
{
	PXT_KEEP_ERRNO();
	char bytes[64];
	long got;

	if (!pxt_kept_is(bell))
		return false;
	got = syscall(SYS_recvfrom, bell, bytes, sizeof(bytes), MSG_DONTWAIT, NULL, NULL);
	return got > 0 || (got < 0 && (errno == EAGAIN || errno == EINTR));
}
