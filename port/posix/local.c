/* SPDX-License-Identifier: MIT */
/*
 * local.c - processes of one machine: folders and sockets, and whose they are; on Linux (what is said there:
 * message.c).  Who may connect is decided by the folder's owner and mode (0700), not by asking the
 * other side who it is.
 */
#define _GNU_SOURCE
#define _FILE_OFFSET_BITS 64
#include "format/ctlsock.h"
#include "port/port_local.h"
#include "port/posix/clock.h"
#include "port/posix/owncalls.h"

#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/vfs.h>
#include <unistd.h>

/* Clients that wait to be let in; more are told to come again. */
#define BACKLOG 128

void pxt_port_local_begin(void)
{
	PXT_OWNCALLS();

	pxt_lows_begin();
}

void pxt_port_local_end(void)
{
	PXT_OWNCALLS();

	pxt_lows_end();
}

/* ---- Places ---- */

/* A folder that belongs to somebody else, or that others may use, is refused. */
static int check_folder(const char *path)
{
	struct stat state;

	if (lstat(path, &state) != 0)
		return pxt_kept_error(errno);
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
	PXT_OWNCALLS();
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
	PXT_OWNCALLS();
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
	PXT_OWNCALLS();
	int64_t end = pxt_vdso_ms() + patience_ms;
	int fd = open_folder(path);

	if (fd >= 0 && pxt_kept_take(&fd, true) != 0)
		fd = -1;
	while (fd >= 0 && flock(fd, LOCK_EX | LOCK_NB) != 0) {
		if ((errno == EWOULDBLOCK || errno == EINTR) && pxt_vdso_left_ms(end) > 0) {
			(void)poll(NULL, 0, 1);
			continue;
		}
		pxt_kept_close(fd);
		fd = -1;
	}
	return fd;
}

/* Also for children that were made meanwhile and have a copy of the descriptor. */
void pxt_port_local_release(int fd)
{
	PXT_OWNCALLS();

	if (pxt_kept_is(fd))
		(void)flock(fd, LOCK_UN);
	pxt_kept_close(fd);
}

static int look(const char *path, struct pxt_port_place *place)
{
	struct stat state;

	if (lstat(path, &state) != 0)
		return pxt_kept_error(errno);
	if (!S_ISSOCK(state.st_mode))
		return EINVAL;
	*place = pxt_descriptor_place(&state);
	return 0;
}

int pxt_port_local_look(const char *path, struct pxt_port_place *place)
{
	return PXT_OWNCALL(look(path, place));
}

int pxt_port_local_remove(const char *path, const struct pxt_port_place *place)
{
	PXT_OWNCALLS();
	struct pxt_port_place there;
	int error = look(path, &there);

	if (error == 0 && !pxt_port_same_place(&there, place))
		error = EEXIST;
	if (error == 0 && unlink(path) != 0)
		error = pxt_kept_error(errno);
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
	return pxt_kept_adopt(
	    socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0), fd, false);
}

/* A socket that no process listens at is what a dead process leaves: what was made is taken away. */
static int listen_at(int fd, const struct sockaddr_un *at, struct pxt_port_place *place)
{
	int error;

	if (bind(fd, (const struct sockaddr *)at, sizeof(*at)) != 0)
		return errno == EADDRINUSE ? EEXIST
		       : errno == ENOENT   ? EINVAL
		                           : pxt_kept_error(errno);
	error = look(at->sun_path, place);
	if (error == 0 && listen(fd, BACKLOG) != 0)
		error = pxt_kept_error(errno);
	if (error != 0)
		(void)unlink(at->sun_path);
	return error;
}

int pxt_port_local_listen(const char *path, int *fd, struct pxt_port_place *place)
{
	PXT_OWNCALLS();
	struct sockaddr_un at;
	int error = address(path, &at);

	*fd = -1;
	if (error == 0)
		error = make_socket(fd);
	if (error == 0)
		error = listen_at(*fd, &at, place);
	return pxt_kept_settle(fd, error);
}

int pxt_port_local_accept(int listener, int *fd, int32_t *pid)
{
	PXT_OWNCALLS();
	struct ucred who = { 0 };
	socklen_t bytes = sizeof(who);
	int error = 0;

	*fd = -1;
	*pid = 0;
	if (!pxt_kept_is(listener))
		return EBADF;
	pxt_lows_begin();
	*fd = accept4(listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
	if (*fd < 0)
		error = errno == EMFILE || errno == ENFILE || errno == ENOMEM || errno == ENOBUFS
		            ? EMFILE
		            : EAGAIN;
	else if (pxt_kept_take(fd, false) != 0)
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
	PXT_OWNCALLS();
	int error = 0;

	pxt_lows_begin();
	*fd = pxt_kept_is(connection) ? open_life(connection, pid) : -1;
	*number = *fd >= 0 ? life_number(*fd) : 0;
	if (*fd >= 0)
		error = pxt_kept_take(fd, true);
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

	return epoll_ctl(door, EPOLL_CTL_ADD, fd, &event) == 0 ? 0 : pxt_kept_error(errno);
}

int pxt_port_local_door(int listener, int *door)
{
	PXT_OWNCALLS();
	int error;

	pxt_lows_begin();
	error = pxt_kept_adopt(epoll_create1(EPOLL_CLOEXEC), door, true);
	if (error == 0)
		error = watch_at(*door, listener);
	return pxt_kept_settle(door, error);
}

void pxt_port_local_door_enter(int door, int fd)
{
	PXT_OWNCALLS();

	if (pxt_kept_is(door))
		(void)watch_at(door, fd);
}

bool pxt_port_local_door_awaits(int door)
{
	PXT_OWNCALLS();
	struct pollfd one = { .fd = door, .events = POLLIN };

	return pxt_kept_is(door) && poll(&one, 1, 0) > 0;
}

/* @fd is new.  Where too many wait to be let in already, the system knows no other way than to ask again. */
static int enter(int fd, const struct sockaddr_un *to, int64_t end)
{
	for (;;) {
		if (connect(fd, (const struct sockaddr *)to, sizeof(*to)) == 0)
			return 0;
		if (errno != EAGAIN && errno != EINTR)
			return pxt_kept_error(errno);
		if (pxt_vdso_left_ms(end) == 0)
			return ETIMEDOUT;
		(void)poll(NULL, 0, 1);
		if (!pxt_kept_is(fd))
			return EAGAIN;
	}
}

int pxt_port_local_connect(const char *path, unsigned timeout_ms, int *fd)
{
	PXT_OWNCALLS();
	struct sockaddr_un to;
	int error = address(path, &to);

	*fd = -1;
	if (error == 0)
		error = make_socket(fd);
	if (error == 0)
		error = enter(*fd, &to, pxt_vdso_ms() + timeout_ms);
	return pxt_kept_open(*fd, pxt_kept_settle(fd, error));
}

void pxt_port_local_close(int fd)
{
	PXT_OWNCALLS();

	pxt_kept_close(fd);
}

void pxt_port_local_hang_up(int fd)
{
	PXT_OWNCALLS();

	if (pxt_kept_is(fd))
		(void)shutdown(fd, SHUT_RDWR);
	pxt_kept_close(fd);
}
