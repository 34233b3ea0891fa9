/* SPDX-License-Identifier: MIT */
/*
 * logout.c - log output to descriptors: what kind each is, which are lines, writing, truncating, how long one
 * write may wait (how long a device that takes nothing is asked again: tolog/output.c).
 */
#define _GNU_SOURCE
#define _FILE_OFFSET_BITS 64
#include "port/port_log.h"
#include "port/posix/clock.h"
#include "port/posix/owncalls.h"

#include <limits.h>
#include <poll.h>
#include <sys/file.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

/* As in <linux/fs.h>, which a compiler for another C library may not find. */
#define GET_MARKS   _IOR('f', 1, long)
#define IMMUTABLE   0x10
#define APPEND_ONLY 0x20

/*
 * A pipe that is ready has room for a page; a terminal for one byte; a socket gets MSG_DONTWAIT.  Other
 * devices are taken at their word.
 */
static uint32_t piece_of(int fd, mode_t mode)
{
	if (S_ISFIFO(mode))
		return PIPE_BUF;
	return S_ISCHR(mode) && isatty(fd) ? 1u : UINT_MAX;
}

/*
 * What a log can be written into: a file, a pipe, a socket, a terminal.  What is not open for writing
 * is refused.
 */
static int kind_of(int fd, struct pxt_port_log *log)
{
	struct stat state;
	int flags = fcntl(fd, F_GETFL);

	if (flags < 0 || fstat(fd, &state) != 0)
		return EBADF;
	if ((flags & O_ACCMODE) != O_WRONLY && (flags & O_ACCMODE) != O_RDWR)
		return EBADF;
	log->hurried = false;
	log->piece = UINT_MAX;
	log->size = 0;
	log->reached = 0;
	log->path = NULL;
	pxt_port_log_no_folder(log);
	log->place = pxt_descriptor_place(&state);
	if (S_ISREG(state.st_mode)) {
		log->kind = (flags & O_APPEND) != 0 ? PXT_LOG_APPEND : PXT_LOG_FILE;
		log->size = (uint64_t)state.st_size;
		return 0;
	}
	if (S_ISFIFO(state.st_mode) || S_ISSOCK(state.st_mode) || S_ISCHR(state.st_mode)) {
		log->kind = PXT_LOG_SEQUENTIAL;
		log->piece = piece_of(fd, state.st_mode);
		return 0;
	}
	return EINVAL;
}

int pxt_port_log_open(struct pxt_port_log *log, int fd)
{
	PXT_OWNCALLS();
	int error = kind_of(fd, log);

	if (error == 0) {
		log->fd = fcntl(fd, F_DUPFD_CLOEXEC, PXT_FIRST_DESCRIPTOR);
		if (log->fd < 0)
			error = errno;
		log->mark = pxt_descriptor_mark(log->fd);
	}
	return error;
}

/*
 * The program may have closed the descriptor, which closes no file of its own, and opened its own at that
 * number. By the same file it may be another one: opened to read, as the other end of a pipe is; opened to
 * append, bytes would not go where they belong; and a file that lacks what was written into the log has
 * only inherited the number of the log's inode.
 */
static bool is_logs(const struct pxt_port_log *log, const struct stat *state)
{
	int flags = fcntl(log->fd, F_GETFL);

	if (!pxt_descriptor_at(state, &log->place))
		return false;
	if (flags < 0 || (flags & O_PATH) != 0 || (flags & O_ACCMODE) == O_RDONLY)
		return false;
	if (log->kind == PXT_LOG_SEQUENTIAL)
		return true;
	return (uint64_t)state->st_size >= log->reached &&
	       ((flags & O_APPEND) != 0) == (log->kind == PXT_LOG_APPEND);
}

/* 0, EBADF, or what the system says instead of an answer. */
static int check(const struct pxt_port_log *log)
{
	struct stat state;

	if (log->fd < 0)
		return EBADF;
	if (fstat(log->fd, &state) != 0)
		return errno;
	return is_logs(log, &state) ? 0 : EBADF;
}

/*
 * EBADF, or 0: what is at the path is the log's own file still.  The new lock stands for the one that was
 * closed; a child may have that one yet.
 */
static int open_again(struct pxt_port_log *log)
{
	int error;

	if (log->path && log->kind == PXT_LOG_FILE)
		log->fd =
		    pxt_descriptor_open(AT_FDCWD, log->path, O_RDWR | O_NOCTTY | O_NONBLOCK, 0);
	else
		log->fd = pxt_port_log_reopen(log);
	error = check(log);
	if (error == 0) {
		log->mark = pxt_descriptor_mark(log->fd);
		(void)flock(log->fd, LOCK_EX | LOCK_NB);
	} else if (log->fd >= 0) {
		(void)close(log->fd);
		log->fd = -1;
	}
	return error == 0 ? 0 : EBADF;
}

/* A number that was seen to be another's is never looked at again. */
static int check_once(struct pxt_port_log *log)
{
	int error = check(log);

	if (error == EBADF) {
		log->fd = -1;
		error = open_again(log);
	}
	return error;
}

/*
 * Without an answer it is not another's, as far as anybody knows.  What the program opened on the same file is the
 * program's to close.
 */
bool pxt_port_log_kept(const struct pxt_port_log *log)
{
	PXT_KEEP_ERRNO();

	return check(log) != EBADF && pxt_descriptor_is(log->fd, log->mark);
}

void pxt_port_log_close(struct pxt_port_log *log)
{
	PXT_OWNCALLS();

	if (pxt_port_log_kept(log))
		(void)close(log->fd);
	log->fd = -1;
	pxt_port_log_leave_folder(log);
}

/* @offset < 0: at the descriptor's position.  *done is 0 so far. */
static int write_all(int fd, off_t offset, const unsigned char *data, size_t bytes, size_t *done)
{
	while (*done < bytes) {
		ssize_t wrote =
		    offset < 0 ? write(fd, data + *done, bytes - *done)
		               : pwrite(fd, data + *done, bytes - *done, offset + (off_t)*done);

		if (wrote > 0)
			*done += (size_t)wrote;
		else if (wrote == 0)
			return EIO; /* a device that takes nothing and says no reason */
		else if (errno != EINTR)
			return errno == EWOULDBLOCK ? EAGAIN : errno;
	}
	return 0;
}

/* A socket that was ready may be full by now. */
static ssize_t write_ready(const struct pxt_port_log *log, const unsigned char *data, size_t bytes)
{
	ssize_t sent = send(log->fd, data, bytes, MSG_DONTWAIT);

	if (sent >= 0 || errno != ENOTSOCK)
		return sent;
	return write(log->fd, data, bytes < log->piece ? bytes : log->piece);
}

/* Bound: something goes out before the patience is at its end, which signals do not put off. */
static int write_hurried(
    const struct pxt_port_log *log, const unsigned char *data, size_t bytes, size_t *done)
{
	struct pollfd device = { .fd = log->fd, .events = POLLOUT };
	int64_t end = pxt_vdso_ms() + PXT_LOG_PATIENCE_MS;

	while (*done < bytes) {
		int64_t left = end - pxt_vdso_ms();
		int ready = poll(&device, 1, left > 0 ? (int)left : 0);
		ssize_t wrote;

		if (ready == 0)
			return ETIMEDOUT;
		wrote = ready < 0 ? -1 : write_ready(log, data + *done, bytes - *done);
		if (wrote > 0) {
			*done += (size_t)wrote;
			end = pxt_vdso_ms() + PXT_LOG_PATIENCE_MS;
		} else if (wrote == 0) {
			return EIO;
		} else if (errno != EINTR && errno != EAGAIN && errno != EWOULDBLOCK) {
			return errno;
		} else if (left <= 0) {
			return ETIMEDOUT;
		}
	}
	return 0;
}

/*
 * After a use: the comparison before it and the use itself are two system calls, and another thread may
 * have made a file of its own of the number in between.  That file has the bytes now (once: the number is
 * not looked at again); that they are not in the log is told, like any loss.  A log that has a path gets
 * them at their place in its own file.
 */
static bool was_another(struct pxt_port_log *log)
{
	if (check(log) != EBADF)
		return false;
	log->fd = -1;
	return true;
}

/* @offset < 0: at the descriptor's position. */
static int write_once(
    struct pxt_port_log *log, off_t offset, const void *data, size_t bytes, size_t *done)
{
	struct pxt_unraised unraised;
	int error = check_once(log);

	*done = 0;
	if (error != 0)
		return error;
	pxt_unraised_begin(&unraised);
	error = log->hurried && offset < 0 ? write_hurried(log, data, bytes, done)
	                                   : write_all(log->fd, offset, data, bytes, done);
	pxt_unraised_end(&unraised, error != 0);
	if (was_another(log)) {
		*done = 0;
		return EBADF;
	}
	if (offset < 0)
		log->reached += log->kind == PXT_LOG_APPEND ? *done : 0;
	else if (*done && log->reached < (uint64_t)offset + *done)
		log->reached = (uint64_t)offset + *done;
	return error;
}

/* EBADF at the first time: the second one opens it again, if that can be. */
static int write_checked(
    struct pxt_port_log *log, off_t offset, const void *data, size_t bytes, size_t *done)
{
	int error = write_once(log, offset, data, bytes, done);

	return error == EBADF ? write_once(log, offset, data, bytes, done) : error;
}

int pxt_port_log_write(struct pxt_port_log *log, const void *data, size_t bytes, size_t *done)
{
	return PXT_OWNCALL(write_checked(log, -1, data, bytes, done));
}

int pxt_port_log_write_at(
    struct pxt_port_log *log, uint64_t offset, const void *data, size_t bytes, size_t *done)
{
	PXT_OWNCALLS();
	off_t at = (off_t)offset;
	int error = EFBIG;

	*done = 0;
	if (at >= 0 && (uint64_t)at == offset)
		error = write_checked(log, at, data, bytes, done);
	return error;
}

static int truncate_once(struct pxt_port_log *log, uint64_t size)
{
	struct pxt_unraised unraised;
	int error = check_once(log);

	if (error != 0)
		return error;
	pxt_unraised_begin(&unraised);
	do
		error = ftruncate(log->fd, (off_t)size) != 0 ? errno : 0;
	while (error == EINTR);
	pxt_unraised_end(&unraised, error != 0);
	if (error == 0)
		log->reached = size;
	return was_another(log) ? EBADF : error;
}

static int truncate_checked(struct pxt_port_log *log, uint64_t size)
{
	int error = truncate_once(log, size);

	return error == EBADF ? truncate_once(log, size) : error;
}

int pxt_port_log_truncate(struct pxt_port_log *log, uint64_t size)
{
	return PXT_OWNCALL(truncate_checked(log, size));
}

#ifndef F_GET_SEALS
#define F_GET_SEALS   1034
#define F_SEAL_SHRINK 2
#define F_SEAL_WRITE  8
#endif

/*
 * A file that may only be appended to refuses any cut, and so does one that is sealed.  It is asked, not
 * tried: the number may be another file's by now.
 */
static int may_truncate(const struct pxt_port_log *log)
{
	int error = check(log);
	int marks = 0;
	int seals;

	if (error != 0)
		return error;
	/* C libraries differ in the request's type. */
	if (syscall(SYS_ioctl, log->fd, GET_MARKS, &marks) == 0 &&
	    (marks & (IMMUTABLE | APPEND_ONLY)) != 0)
		return EPERM;
	seals = fcntl(log->fd, F_GET_SEALS);
	return seals > 0 && (seals & (F_SEAL_SHRINK | F_SEAL_WRITE)) != 0 ? EPERM : 0;
}

int pxt_port_log_may_truncate(const struct pxt_port_log *log)
{
	return PXT_OWNCALL(may_truncate(log));
}

enum pxt_log_line pxt_port_log_line(const struct pxt_port_log *log)
{
	PXT_OWNCALLS();
	enum pxt_log_line line = PXT_LINE_NONE;
	int type = 0;
	socklen_t bytes = sizeof(type);

	if (getsockopt(log->fd, SOL_SOCKET, SO_TYPE, &type, &bytes) == 0)
		line = type == SOCK_STREAM ? PXT_LINE_NONE : PXT_LINE_PACKETS;
	else if (isatty(log->fd))
		line = PXT_LINE_BYTES;
	return line;
}
