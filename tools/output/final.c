/* SPDX-License-Identifier: MIT */
/*
 * final.c - links that may be followed, and the mode that a file has when it takes another's place; opening files
 * that may not be what they should be.
 */
#define _XOPEN_SOURCE 700 /* S_ISVTX */
#include "tools/output/out.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <unistd.h>

#define LINKS_MAX 40u
#define MODE_MAX  0666u

#define WRITE_FLAGS (O_WRONLY | O_CLOEXEC | O_NOCTTY)

/* ---- Links ---- */

/* Bytes of @path up to its last part, the slash included. */
static size_t folder_bytes(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? (size_t)(slash - path) + 1 : 0;
}

/* The folder that @path is in. */
static bool stat_folder(const char *path, struct stat *st)
{
	size_t bytes = folder_bytes(path);
	char *folder = bytes > 0 ? strdup(path) : strdup(".");
	bool known = false;

	if (folder) {
		if (bytes > 0)
			folder[bytes] = '\0';
		known = stat(folder, st) == 0;
	}
	free(folder);
	return known;
}

/*
 * Where everybody may make files, what is there is used only if its owner could have written what
 * comes of it: it is ours, or of the folder's owner.  As Linux does it where fs.protected_symlinks
 * and fs.protected_regular are on.
 */
static bool may_use(const char *path, const struct stat *there)
{
	struct stat st;
	bool may = stat_folder(path, &st) &&
	           ((st.st_mode & S_ISVTX) == 0 || (st.st_mode & (S_IWGRP | S_IWOTH)) == 0 ||
	               there->st_uid == geteuid() || there->st_uid == st.st_uid);

	if (!may)
		errno = EACCES;
	return may;
}

bool pxt_final_may_replace(const char *name)
{
	struct stat there;
	struct stat folder;
	bool may = lstat(name, &there) != 0 || geteuid() == 0 || there.st_uid == geteuid() ||
	           !stat_folder(name, &folder) || (folder.st_mode & S_ISVTX) == 0 ||
	           folder.st_uid == geteuid();

	if (!may)
		errno = EPERM;
	return may;
}

/* What the link @path says; free() it. */
static char *follow(const char *path)
{
	size_t bytes = folder_bytes(path);
	char *next = malloc(bytes + PATH_MAX + 1);
	ssize_t got;

	if (!next)
		return NULL;
	got = readlink(path, next + bytes, PATH_MAX);
	if (got <= 0 || got == PATH_MAX) {
		errno = got < 0 ? errno : ENAMETOOLONG;
		free(next);
		return NULL;
	}
	next[bytes + (size_t)got] = '\0';
	if (next[bytes] == '/')
		memmove(next, next + bytes, (size_t)got + 1);
	else
		memcpy(next, path, bytes);
	return next;
}

char *pxt_final_name(const char *path)
{
	char *name = strdup(path);
	struct stat st;

	for (unsigned links = 0; name && lstat(name, &st) == 0 && S_ISLNK(st.st_mode); links++) {
		char *next = NULL;

		if (links == LINKS_MAX)
			errno = ELOOP;
		else if (may_use(name, &st))
			next = follow(name);
		free(name);
		name = next;
	}
	return name;
}

/*
 * What is open already, or a device: it has no name that a link could lead to, or none of its own.
 */
int pxt_close_with(int fd, int error)
{
	if (fd >= 0)
		(void)close(fd);
	errno = error;
	return -1;
}

static int open_special(const char *path)
{
	int fd = pxt_open_sink(path, PXT_OPEN_WAIT_MS);
	struct stat st;

	if (fd < 0 || (fstat(fd, &st) == 0 && !S_ISREG(st.st_mode)))
		return fd;
	/* Somebody has put another thing there meanwhile. */
	(void)close(fd);
	errno = EACCES;
	return -1;
}

/* Nothing is cut before it is known to be ours: another user's file, or a second name of one. */
static int open_file(const char *name)
{
	int fd = open(name, WRITE_FLAGS | O_NONBLOCK | O_CREAT | O_NOFOLLOW, MODE_MAX);
	struct stat st;

	if (fd < 0)
		return -1;
	errno = EACCES;
	if (fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && may_use(name, &st) &&
	    ftruncate(fd, 0) == 0)
		return fd;
	return pxt_close_with(fd, errno);
}

int pxt_final_open(const char *path)
{
	char *name = pxt_final_name(path);
	struct stat st;
	int error;
	int fd;

	if (!name)
		return -1;
	if (stat(path, &st) == 0 && !S_ISREG(st.st_mode))
		fd = open_special(path);
	else
		fd = open_file(name);
	error = errno;
	free(name);
	errno = error;
	return fd;
}

int pxt_final_beside(const char *name, char **temporary)
{
	static const char suffix[] = ".XXXXXX";
	size_t bytes = strlen(name);
	int fd = -1;

	*temporary = malloc(bytes + sizeof suffix);
	if (!*temporary)
		return -1;
	memcpy(*temporary, name, bytes);
	memcpy(*temporary + bytes, suffix, sizeof suffix);
	fd = mkstemp(*temporary);
	if (fd >= 0) {
		(void)fcntl(fd, F_SETFD, FD_CLOEXEC);
		pxt_final_mode(name, fd);
		return fd;
	}
	free(*temporary);
	*temporary = NULL;
	return -1;
}

/* ---- Modes ---- */

static mode_t usual_mode(void)
{
	mode_t mask = umask(0);

	(void)umask(mask);
	return MODE_MAX & ~mask;
}

static mode_t mode_like(const struct stat *old, int fd)
{
	bool ours = old->st_uid == geteuid();
	/* What is another's shuts out whom it shut out, but lets nobody in. */
	mode_t mode = old->st_mode & (ours ? 0777u : usual_mode());
	struct stat made;

	/* A group's rights are for no other group. */
	if (fstat(fd, &made) != 0 ||
	    (made.st_gid != old->st_gid && (!ours || fchown(fd, (uid_t)-1, old->st_gid) != 0)))
		mode &= ~(mode_t)S_IRWXG | (mode & S_IRWXO) << 3;
	return mode;
}

void pxt_final_mode(const char *name, int fd)
{
	struct stat old;
	bool there = lstat(name, &old) == 0 && S_ISREG(old.st_mode);

	(void)fchmod(fd, there ? mode_like(&old, fd) : usual_mode());
}

/* ---- Files that may not be what they should be ---- */

#define FLAGS    (O_CLOEXEC | O_NOCTTY)
#define SLICE_MS 10

static bool is_kind(int fd, mode_t kind)
{
	struct stat st;

	return fstat(fd, &st) == 0 && (st.st_mode & S_IFMT) == kind;
}

/* Reads and writes wait again. */
static int made_patient(int fd)
{
	int flags = fcntl(fd, F_GETFL);

	return flags >= 0 && fcntl(fd, F_SETFL, flags & ~O_NONBLOCK) == 0
	           ? fd
	           : pxt_close_with(fd, errno);
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

	return fd < 0 || is_kind(fd, S_IFREG) ? fd : pxt_close_with(fd, EINVAL);
}

bool pxt_more_descriptors(void)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur >= limit.rlim_max)
		return false;
	limit.rlim_cur = limit.rlim_max;
	return setrlimit(RLIMIT_NOFILE, &limit) == 0;
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
