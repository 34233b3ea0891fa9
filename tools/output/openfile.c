/* SPDX-License-Identifier: MIT */
/* openfile.c - opening files that may not be what they should be; see out.h. */
#define _XOPEN_SOURCE 700 /* setitimer() */
#include "tools/output/out.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <unistd.h>

#define FLAGS    (O_CLOEXEC | O_NOCTTY)
#define SLICE_MS 10

static int close_with(int fd, int error)
{
	if (fd >= 0)
		(void)close(fd);
	errno = error;
	return -1;
}

static bool is_kind(int fd, mode_t kind)
{
	struct stat st;

	return fstat(fd, &st) == 0 && (st.st_mode & S_IFMT) == kind;
}

/* Reads and writes wait again. */
static int made_patient(int fd)
{
	int flags = fcntl(fd, F_GETFL);

	return flags >= 0 && fcntl(fd, F_SETFL, flags & ~O_NONBLOCK) == 0 ? fd
	                                                                  : close_with(fd, errno);
}

static void on_alarm(int number)
{
	(void)number;
}

/* open() of a FIFO, which an alarm ends.  It comes again and again: the first may be too early. */
static int open_until(const char *path, int wait_ms)
{
	const struct sigaction action = { .sa_handler = on_alarm };
	const struct itimerval wait = { .it_value = { wait_ms / 1000,
		                            (long)(wait_ms % 1000) * 1000 + 1 },
		.it_interval = { 0, (long)SLICE_MS * 1000 } };
	const struct itimerval none = { 0 };
	struct sigaction former;
	int fd;
	int error;

	if (wait_ms < 0)
		return open(path, O_RDONLY | FLAGS);
	(void)sigaction(SIGALRM, &action, &former);
	(void)setitimer(ITIMER_REAL, &wait, NULL);
	fd = open(path, O_RDONLY | FLAGS);
	error = errno == EINTR ? ETIMEDOUT : errno;
	(void)setitimer(ITIMER_REAL, &none, NULL);
	(void)sigaction(SIGALRM, &former, NULL);
	errno = error;
	return fd;
}

int pxt_open_named(const char *path, int wait_ms)
{
	int fd = open(path, O_RDONLY | O_NONBLOCK | FLAGS);
	int waited;
	int error;

	if (fd < 0 || !is_kind(fd, S_IFIFO))
		return fd < 0 ? fd : made_patient(fd);
	/* This end stays open meanwhile: a writer that has seen it would write to nobody. */
	waited = open_until(path, wait_ms);
	error = errno;
	(void)close(fd);
	errno = error;
	return waited;
}

int pxt_open_sink(const char *path, int wait_ms)
{
	struct stat st;
	bool fifo = stat(path, &st) == 0 && S_ISFIFO(st.st_mode);
	int fd = open(path, O_WRONLY | O_NONBLOCK | FLAGS);

	for (int ms = 0; fifo && fd < 0 && errno == ENXIO; ms += SLICE_MS) {
		if (wait_ms >= 0 && ms >= wait_ms) {
			errno = ETIMEDOUT;
			return -1;
		}
		(void)poll(NULL, 0, SLICE_MS);
		fd = open(path, O_WRONLY | O_NONBLOCK | FLAGS);
	}
	return fd < 0 ? fd : made_patient(fd);
}

int pxt_open_plain(const char *path)
{
	int fd = open(path, O_RDONLY | O_NONBLOCK | FLAGS);

	return fd < 0 || is_kind(fd, S_IFREG) ? fd : close_with(fd, EINVAL);
}

const char *pxt_open_error(int error)
{
	switch (error) {
	case ETIMEDOUT:
		return "is a FIFO, and nobody has opened its other end";
	case EINVAL:
		return "is no regular file";
	default:
		return strerror(error);
	}
}

/* ---- All bytes into a descriptor, however many writes that takes ---- */

int pxt_write_all(int fd, const void *bytes, size_t count)
{
	const char *from = bytes;

	while (count > 0) {
		ssize_t done = write(fd, from, count);

		if (done > 0) {
			from += done;
			count -= (size_t)done;
		} else if (done == 0) {
			return EIO;
		} else if (errno != EINTR) {
			return errno;
		}
	}
	return 0;
}
