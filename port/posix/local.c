/* SPDX-License-Identifier: MIT */
/*
 * local.c - processes of one machine: folders and sockets, whose they are, bells, descriptors that are
 * passed; on Linux.  Who may connect is decided by the folder's owner and mode (0700), not by asking the
 * other side who it is.
 */
#define _GNU_SOURCE
#define _FILE_OFFSET_BITS 64
#include "format/ctlsock.h"
#include "format/owndescriptors.h"
#include "port/port_local.h"
#include "port/posix/clock.h"
#include "port/posix/quiet.h"

#include <errno.h>
#include <poll.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/vfs.h>
#include <unistd.h>

/* Clients that wait to be let in; more are told to come again. */
#define BACKLOG     128
/* Of a device's number, in a place. */
#define DEVICE_BITS 0x7fffffffu

PXT_API struct pxt_own_descriptors _pxt_own_descriptors;

/* ---- The library's own numbers ---- */

void pxt_port_local_begin(void)
{
	PXT_QUIET();

	pxt_lows_begin();
}

void pxt_port_local_end(void)
{
	PXT_QUIET();

	pxt_lows_end();
}

/* A place of its own, filled in; false: there are too many. */
static bool enter_place(int fd, const struct stat *state, bool marked)
{
	for (uint32_t i = 0; i < PXT_OWN_PLACES; i++) {
		struct pxt_own_place *place = &_pxt_own_descriptors.of[i];
		uint32_t count = __atomic_load_n(&_pxt_own_descriptors.count, __ATOMIC_RELAXED);
		int none = 0;

		if (!__atomic_compare_exchange_n(
		        &place->number, &none, -1, false, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED))
			continue;
		while (count <= i && !__atomic_compare_exchange_n(&_pxt_own_descriptors.count,
		                         &count, i + 1u, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED))
			;
		place->device = (uint32_t)state->st_dev & DEVICE_BITS;
		place->marked = marked;
		place->file = (uint64_t)state->st_ino;
		__atomic_store_n(&place->number, fd + 1, __ATOMIC_RELEASE);
		return true;
	}
	return false;
}

/* The library's no more. */
static void leave_place(int fd)
{
	struct pxt_own_place *place = pxt_own_place(fd);

	pxt_own_descriptor_set(fd, false);
	if (place)
		__atomic_store_n(&place->number, 0, __ATOMIC_RELEASE);
}

/*
 * Numbers that the program closed behind the library's back still are in its tables; so none of them is
 * taken anew, and one number never stands for two.
 */
static int free_number(int fd, int first)
{
	int made = fcntl(fd, F_DUPFD_CLOEXEC, first);

	while (made >= 0 && pxt_own_place(made)) {
		(void)close(made);
		first = made + 1;
		made = fcntl(fd, F_DUPFD_CLOEXEC, first);
	}
	return made;
}

static bool remember(int fd, bool marked)
{
	struct stat state;

	marked = marked && pxt_descriptor_mark(fd) == SIGIO;
	return fstat(fd, &state) == 0 && enter_place(fd, &state, marked);
}

/*
 * *fd moves up, if need be, and is the library's from now on, until leave_place(); closed where that fails.  Where it
 * only might be higher, it stays then.  @marked: nobody else has this open file.
 */
static int keep(int *fd, bool marked)
{
	int low = *fd;
	int first = _pxt_own_descriptors.first;
	bool stays = low >= PXT_FIRST_DESCRIPTOR && !pxt_own_place(low);

	if (!stays || low < first) {
		*fd = free_number(low, first > PXT_FIRST_DESCRIPTOR ? first : PXT_FIRST_DESCRIPTOR);
		if (*fd < 0 && stays)
			*fd = low;
		else
			(void)close(low);
	}
	if (*fd >= 0 && !remember(*fd, marked)) {
		(void)close(*fd);
		*fd = -1;
	}
	return *fd < 0 ? EAGAIN : 0;
}

/* Without an answer of the system it is not another's, as far as anybody knows. */
static bool is_kept(int fd)
{
	const struct pxt_own_place *place = fd >= 0 ? pxt_own_place(fd) : NULL;
	struct stat state;

	if (!place)
		return false;
	if (fstat(fd, &state) != 0)
		return errno != EBADF;
	return ((uint32_t)state.st_dev & DEVICE_BITS) == place->device &&
	       (uint64_t)state.st_ino == place->file &&
	       (!place->marked || pxt_descriptor_is(fd, SIGIO));
}

bool pxt_port_local_kept(int fd)
{
	PXT_KEEP_ERRNO();

	return is_kept(fd);
}

/* What the program has at that number since is not closed. */
static void close_kept(int fd)
{
	bool kept = is_kept(fd);

	leave_place(fd);
	if (kept)
		(void)close(fd);
}

/* What stays open when the call has ended: wrappers keep the program from closing it. */
static int keep_open(int fd, int error)
{
	if (error == 0)
		pxt_own_descriptor_set(fd, true);
	return error;
}

/* What a path or a new descriptor can have against it, as callers of the library know it. */
static int usual(int error)
{
	switch (error) {
	case EPERM:
	case EROFS:
		return EACCES;
	case EMFILE:
	case ENFILE:
		return EAGAIN;
	case ENOBUFS:
	case ENOSPC:
	case EDQUOT:
		return ENOMEM;
	case EACCES:
	case ENOENT:
	case EEXIST:
	case ECONNREFUSED:
	case ENOMEM:
	case EAGAIN:
	case ETIMEDOUT:
		return error;
	default:
		return EINVAL;
	}
}

/* A new descriptor, or -1 with errno as its maker left it; after pxt_lows_begin(), which it ends. */
static int adopt(int made, int *fd, bool marked)
{
	int error;

	*fd = made;
	error = made < 0 ? usual(errno) : keep(fd, marked);
	pxt_lows_end();
	return error;
}

/* Closes *fd after an error, which comes back. */
static int settle(int *fd, int error)
{
	if (error != 0 && *fd >= 0) {
		close_kept(*fd);
		*fd = -1;
	}
	return error;
}

static int64_t now_ms(void)
{
	struct timespec now;

	(void)pxt_vdso_gettime(CLOCK_MONOTONIC, &now);
	return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

static int left_ms(int64_t end)
{
	int64_t left = end - now_ms();

	return left > 0 ? (int)left : 0;
}

/* Signals do not make it longer, nor shorter. */
static int wait_one(int fd, short events, int64_t end)
{
	struct pollfd one = { .fd = fd, .events = events };
	int got;

	do
		got = poll(&one, 1, left_ms(end));
	while (got < 0 && errno == EINTR);
	return got > 0 ? 0 : ETIMEDOUT;
}

/* ---- Places ---- */

/* A folder that belongs to somebody else, or that others may use, is refused. */
static int check_folder(const char *path)
{
	struct stat state;

	if (lstat(path, &state) != 0)
		return usual(errno);
	if (!S_ISDIR(state.st_mode) || state.st_uid != geteuid() || (state.st_mode & 077) != 0)
		return EACCES;
	return 0;
}

/* NULL where the environment names none, or another user could have written the environment. */
static const char *runtime_folder(void)
{
	const char *path = secure_getenv(PXT_CTLSOCK_RUNTIME);

	return path && path[0] == '/' && strlen(path) <= PXT_CTLSOCK_RUNTIME_MAX &&
	               check_folder(path) == 0
	           ? path
	           : NULL;
}

/* Both as one string, if there is room; snprintf() would touch some more pages of each process that attaches. */
static int join(char *path, size_t room, const char *begin, const char *end)
{
	size_t first = strlen(begin);
	size_t second = strlen(end);

	if (first + second < room) {
		memcpy(path, begin, first);
		memcpy(path + first, end, second);
		path[first + second] = '\0';
	}
	return (int)(first + second);
}

static int name_shared(char *path, size_t room)
{
	char digits[3 * sizeof(unsigned) + 1] = "";
	size_t at = sizeof(digits) - 1;
	unsigned user = geteuid();

	do
		digits[--at] = (char)('0' + user % 10u);
	while ((user /= 10u) != 0);
	return join(path, room, PXT_CTLSOCK_SHARED, digits + at);
}

/* The bytes of its name, which may be more than there is room for. */
static int name_folder(enum pxt_port_folder which, char *path, size_t room)
{
	const char *runtime;

	if (which == PXT_PORT_FOLDER_SHARED)
		return name_shared(path, room);
	runtime = runtime_folder();
	return runtime ? join(path, room, runtime, PXT_CTLSOCK_OWN) : 0;
}

int pxt_port_local_folder(enum pxt_port_folder which, bool make, char *path, size_t room)
{
	PXT_QUIET();
	int length = name_folder(which, path, room);
	int error = (size_t)length >= room ? EINVAL : ENOENT;

	make = make && length > 0;
	if (error == ENOENT && length > 0)
		error = check_folder(path);

	/* Whatever another user makes there in between is looked at as well. */
	if (error == ENOENT && make)
		error = mkdir(path, 0700) != 0 && errno != EEXIST ? EACCES : check_folder(path);
	return error;
}

void pxt_port_local_absolute(const char *name, char *path, size_t room)
{
	PXT_QUIET();
	char folder[PXT_CTLSOCK_PATH];
	int length = (int)room;

	if (name[0] != '/' && getcwd(folder, sizeof(folder)))
		length = snprintf(path, room, "%s/%s", folder, name);
	if (length < 0 || (size_t)length >= room)
		(void)snprintf(path, room, "%s", name);
}

/* Up to the last slash. */
static int open_folder(const char *path)
{
	char folder[PXT_CTLSOCK_PATH + 2u];
	const char *slash = strrchr(path, '/');
	size_t length = slash ? (size_t)(slash - path) : 0;
	int fd;

	if (length + 3u > sizeof(folder))
		return -1;
	memcpy(folder, path, length);
	memcpy(folder + length, slash ? "/." : ".", slash ? 3u : 2u);
	/* A file system of other machines may be interrupted. */
	do
		fd = pxt_descriptor_open(AT_FDCWD, folder, O_RDONLY | O_DIRECTORY | O_NOCTTY, 0);
	while (fd < 0 && errno == EINTR);
	return fd;
}

int pxt_port_local_reserve(const char *path, unsigned patience_ms)
{
	PXT_QUIET();
	int64_t end = now_ms() + patience_ms;
	int fd = open_folder(path);

	if (fd >= 0 && keep(&fd, true) != 0)
		fd = -1;
	while (fd >= 0 && flock(fd, LOCK_EX | LOCK_NB) != 0) {
		if ((errno == EWOULDBLOCK || errno == EINTR) && left_ms(end) > 0) {
			(void)poll(NULL, 0, 1);
			continue;
		}
		close_kept(fd);
		fd = -1;
	}
	return fd;
}

/* Also for children that were made meanwhile and have a copy of the descriptor. */
void pxt_port_local_release(int fd)
{
	PXT_QUIET();

	if (is_kept(fd))
		(void)flock(fd, LOCK_UN);
	close_kept(fd);
}

static struct pxt_port_place place_of(const struct stat *state)
{
	return (struct pxt_port_place){ .device = (uint64_t)state->st_dev,
		.file = (uint64_t)state->st_ino };
}

static int look(const char *path, struct pxt_port_place *place)
{
	struct stat state;

	if (lstat(path, &state) != 0)
		return usual(errno);
	if (!S_ISSOCK(state.st_mode))
		return EINVAL;
	*place = place_of(&state);
	return 0;
}

int pxt_port_local_look(const char *path, struct pxt_port_place *place)
{
	return PXT_QUIETLY(look(path, place));
}

int pxt_port_local_remove(const char *path, const struct pxt_port_place *place)
{
	PXT_QUIET();
	struct pxt_port_place there;
	int error = look(path, &there);

	if (error == 0 && !pxt_port_same_place(&there, place))
		error = EEXIST;
	if (error == 0 && unlink(path) != 0)
		error = usual(errno);
	return error;
}

/* ---- Sockets ---- */

static int address(const char *path, struct sockaddr_un *to)
{
	size_t length = strlen(path);

	memset(to, 0, sizeof(*to));
	to->sun_family = AF_UNIX;
	if (length == 0 || length >= sizeof(to->sun_path))
		return EINVAL;
	memcpy(to->sun_path, path, length);
	return 0;
}

static int make_socket(int *fd)
{
	pxt_lows_begin();
	return adopt(socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0), fd, false);
}

/* A socket that no process listens at is what a dead process leaves: what was made is taken away. */
static int listen_at(int fd, const struct sockaddr_un *at, struct pxt_port_place *place)
{
	int error;

	if (bind(fd, (const struct sockaddr *)at, sizeof(*at)) != 0)
		return errno == EADDRINUSE ? EEXIST : errno == ENOENT ? EINVAL : usual(errno);
	error = look(at->sun_path, place);
	if (error == 0 && listen(fd, BACKLOG) != 0)
		error = usual(errno);
	if (error != 0)
		(void)unlink(at->sun_path);
	return error;
}

int pxt_port_local_listen(const char *path, int *fd, struct pxt_port_place *place)
{
	PXT_QUIET();
	struct sockaddr_un at;
	int error = address(path, &at);

	*fd = -1;
	if (error == 0)
		error = make_socket(fd);
	if (error == 0)
		error = listen_at(*fd, &at, place);
	return settle(fd, error);
}

int pxt_port_local_accept(int listener, int *fd, int32_t *pid)
{
	PXT_QUIET();
	struct ucred who = { 0 };
	socklen_t bytes = sizeof(who);
	int error = 0;

	*fd = -1;
	*pid = 0;
	if (!is_kept(listener))
		return EBADF;
	pxt_lows_begin();
	*fd = accept4(listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
	if (*fd < 0)
		error = errno == EMFILE || errno == ENFILE || errno == ENOMEM || errno == ENOBUFS
		            ? EMFILE
		            : EAGAIN;
	else if (keep(fd, false) != 0)
		error = EMFILE;
	pxt_lows_end();
	if (error == 0)
		/* For the pid alone: who may connect was decided by the folder (check_folder()). */
		(void)getsockopt(*fd, SOL_SOCKET, SO_PEERCRED, &who, &bytes);
	*pid = (int32_t)who.pid;
	return error;
}

/* Since Linux 6.5: of the process itself, whose number may be another's by now. */
#ifndef SO_PEERPIDFD
#define SO_PEERPIDFD 77
#endif

static int open_life(int connection, int32_t pid)
{
	int fd = -1;
	socklen_t bytes = sizeof(fd);

	if (getsockopt(connection, SOL_SOCKET, SO_PEERPIDFD, &fd, &bytes) == 0)
		return fd;
	return errno == ENOPROTOOPT ? (int)syscall(SYS_pidfd_open, pid, 0) : -1;
}

#ifndef PID_FS_MAGIC
#define PID_FS_MAGIC 0x50494446
#endif

/* Of another file system, all descriptors of processes have one inode. */
static uint64_t life_number(int fd)
{
	struct statfs system;
	struct stat status;

	if (fstatfs(fd, &system) != 0 || system.f_type != PID_FS_MAGIC || fstat(fd, &status) != 0)
		return 0;
	return status.st_ino;
}

int pxt_port_local_life(int connection, int32_t pid, int *fd, uint64_t *number)
{
	PXT_QUIET();
	int error = 0;

	pxt_lows_begin();
	*fd = is_kept(connection) ? open_life(connection, pid) : -1;
	*number = *fd >= 0 ? life_number(*fd) : 0;
	if (*fd >= 0)
		error = keep(fd, true);
	else if (errno == ESRCH || errno == EINVAL || errno == ENODATA)
		error = ESRCH;
	else
		error = errno == EMFILE || errno == ENFILE ? EAGAIN : ENOTSUP;
	pxt_lows_end();
	return error;
}

static int watch_at(int door, int fd)
{
	struct epoll_event event = { .events = EPOLLIN };

	return epoll_ctl(door, EPOLL_CTL_ADD, fd, &event) == 0 ? 0 : usual(errno);
}

int pxt_port_local_door(int listener, int *door)
{
	PXT_QUIET();
	int error;

	pxt_lows_begin();
	error = adopt(epoll_create1(EPOLL_CLOEXEC), door, true);
	if (error == 0)
		error = watch_at(*door, listener);
	return settle(door, error);
}

void pxt_port_local_door_enter(int door, int fd)
{
	PXT_QUIET();

	if (is_kept(door))
		(void)watch_at(door, fd);
}

bool pxt_port_local_door_awaits(int door)
{
	PXT_QUIET();
	struct pollfd one = { .fd = door, .events = POLLIN };

	return is_kept(door) && poll(&one, 1, 0) > 0;
}

/* @fd is new.  Where too many wait to be let in already, the system knows no other way than to ask again. */
static int enter(int fd, const struct sockaddr_un *to, int64_t end)
{
	for (;;) {
		if (connect(fd, (const struct sockaddr *)to, sizeof(*to)) == 0)
			return 0;
		if (errno != EAGAIN && errno != EINTR)
			return usual(errno);
		if (left_ms(end) == 0)
			return ETIMEDOUT;
		(void)poll(NULL, 0, 1);
		if (!is_kept(fd))
			return EAGAIN;
	}
}

int pxt_port_local_connect(const char *path, unsigned timeout_ms, int *fd)
{
	PXT_QUIET();
	struct sockaddr_un to;
	int error = address(path, &to);

	*fd = -1;
	if (error == 0)
		error = make_socket(fd);
	if (error == 0)
		error = enter(*fd, &to, now_ms() + timeout_ms);
	return keep_open(*fd, settle(fd, error));
}

void pxt_port_local_close(int fd)
{
	PXT_QUIET();

	close_kept(fd);
}

void pxt_port_local_hang_up(int fd)
{
	PXT_QUIET();

	if (is_kept(fd))
		(void)shutdown(fd, SHUT_RDWR);
	close_kept(fd);
}

/* ---- Messages ---- */

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
	PXT_QUIET();
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
	return is_kept(fd) ? send_now(fd, &whole) : EPIPE;
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
	PXT_QUIET();

	for (unsigned i = 0; i < passed->count; i++)
		close_kept(passed->fd[i]);
	passed->count = 0;
}

/* One that could not be moved up is closed, and is -1. */
static int keep_passed(struct pxt_port_passed *passed)
{
	int error = 0;

	for (unsigned i = 0; i < passed->count; i++) {
		if (keep(&passed->fd[i], false) != 0)
			error = EPROTO;
	}
	return error;
}

int pxt_port_local_receive(
    int fd, void *buffer, size_t room, size_t *bytes, struct pxt_port_passed *passed)
{
	PXT_QUIET();
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
	error = is_kept(fd) ? take_message(fd, &whole, bytes, passed) : EPIPE;
	if (keep_passed(passed) != 0 && error == 0)
		error = EPROTO;
	pxt_lows_end();
	if (error != 0)
		pxt_port_local_drop(passed);
	return error;
}

int pxt_port_local_await(int fd, void *buffer, size_t room, unsigned timeout_ms, size_t *bytes,
    struct pxt_port_passed *passed)
{
	PXT_QUIET();
	int64_t end = now_ms() + timeout_ms;
	int error;

	do
		error = pxt_port_local_receive(fd, buffer, room, bytes, passed);
	while (error == EAGAIN && wait_one(fd, POLLIN, end) == 0);
	return error == EAGAIN ? ETIMEDOUT : error;
}

int pxt_port_local_memory(int *fd)
{
	PXT_QUIET();
	int error;

	pxt_lows_begin();
	error = adopt(memfd_create("ptrace-producer", MFD_CLOEXEC | MFD_ALLOW_SEALING), fd, false);
	return keep_open(*fd, error);
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
			watch[i].ready = !is_kept(watch[i].fd);
	}
}

void pxt_port_local_watch(struct pxt_port_watch *watch, unsigned count, int timeout_ms)
{
	PXT_QUIET();
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
	PXT_QUIET();
	int ends[2] = { -1, -1 };
	int error;

	pxt_lows_begin();
	error = socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, ends) == 0
	            ? 0
	            : usual(errno);
	*bell = -1;
	*ringer = -1;
	if (error == 0) {
		int other;

		error = keep(&ends[0], false);
		other = keep(&ends[1], false);
		error = error ? error : other;
	}
	pxt_lows_end();
	*bell = ends[0];
	*ringer = ends[1];
	(void)settle(bell, error);
	(void)settle(ringer, error);
	(void)keep_open(*bell, error);
	return keep_open(*ringer, error);
}

/* No pxt_quiet_begin(): its functions are not for signal handlers. */
void pxt_port_bell_ring(int ringer)
{
	PXT_KEEP_ERRNO();

	if (is_kept(ringer))
		(void)syscall(
		    SYS_sendto, ringer, "", (size_t)1, MSG_DONTWAIT | MSG_NOSIGNAL, NULL, 0);
}

bool pxt_port_bell_hush(int bell)
{
	PXT_KEEP_ERRNO();
	char bytes[64];
	long got;

	if (!is_kept(bell))
		return false;
	got = syscall(SYS_recvfrom, bell, bytes, sizeof(bytes), MSG_DONTWAIT, NULL, NULL);
	return got > 0 || (got < 0 && (errno == EAGAIN || errno == EINTR));
}
