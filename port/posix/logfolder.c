/* SPDX-License-Identifier: MIT */
/*
 * logfolder.c - the files of a log that goes from one to the next, in a folder that is kept open.
 *
 * Other users may write to the folder, too: so a file is always made anew (O_EXCL, which follows no link), and one
 * is removed only if what has its name is the file that was made.
 */
#define _GNU_SOURCE
#define _FILE_OFFSET_BITS 64
#include "port/port_log.h"
#include "port/posix/owncalls.h"

#include <string.h>
#include <unistd.h>

/* Of a file's number. */
#define DIGITS_LEAST 4u
#define DIGITS_MAX   10u
/* Names in a row that may be taken by others. */
#define TRIES        100000u

/* 0, or EBADF where the program has closed the descriptor, or made something else of its number. */
static int check(const struct pxt_port_logfolder *folder)
{
	struct stat state;

	if (folder->fd < 0 || fstat(folder->fd, &state) != 0)
		return EBADF;
	return pxt_descriptor_at(&state, &folder->place) ? 0 : EBADF;
}

/* The folder at the path is the same one still. */
static int check_or_open(struct pxt_port_logfolder *folder)
{
	if (check(folder) == 0)
		return 0;
	folder->fd = -1;
	if (folder->path)
		folder->fd = pxt_descriptor_open(AT_FDCWD, folder->path, O_RDONLY | O_DIRECTORY, 0);
	if (check(folder) == 0) {
		folder->mark = pxt_descriptor_mark(folder->fd);
		return 0;
	}
	if (folder->fd >= 0)
		(void)close(folder->fd);
	folder->fd = -1;
	return EBADF;
}

/* Nothing of the C library's that formats: a handler opens the file again by this name. */
void pxt_port_log_file_name(
    const struct pxt_port_logfolder *folder, uint32_t number, char name[PXT_LOG_FILE_NAME])
{
	char digits[DIGITS_MAX];
	size_t used = strlen(folder->name);
	unsigned count = 0;

	do {
		digits[count++] = (char)('0' + number % 10);
		number /= 10;
	} while (number || count < DIGITS_LEAST);
	memcpy(name, folder->name, used);
	name[used++] = '.';
	while (count)
		name[used++] = digits[--count];
	name[used] = '\0';
}

static int make_file(struct pxt_port_logfolder *folder, int *fd)
{
	char name[PXT_LOG_FILE_NAME];

	*fd = -1;
	/* Bound: the names that are tried. */
	for (unsigned tries = 0; *fd < 0 && tries < TRIES; tries++) {
		pxt_port_log_file_name(folder, ++folder->number, name);
		*fd = pxt_descriptor_open(folder->fd, name,
		    O_RDWR | O_CREAT | O_EXCL | O_NOCTTY | O_NOFOLLOW, folder->mode);
		if (*fd < 0 && errno != EEXIST)
			return errno;
	}
	return *fd < 0 ? EEXIST : 0;
}

/* A file in @folder, as @log. */
static int make_log(struct pxt_port_log *log, struct pxt_port_logfolder *folder)
{
	int fd;
	int error = make_file(folder, &fd);

	if (error)
		return error;
	error = pxt_port_log_open(log, fd);
	(void)close(fd);
	if (error) {
		char name[PXT_LOG_FILE_NAME];

		pxt_port_log_file_name(folder, folder->number, name);
		(void)unlinkat(folder->fd, name, 0);
	}
	return error;
}

static int open_folder(struct pxt_port_logfolder *folder, int fd)
{
	struct stat state;

	if (fstat(fd, &state) != 0)
		return EBADF;
	if (!S_ISDIR(state.st_mode))
		return ENOTDIR;
	folder->place = pxt_descriptor_place(&state);
	folder->fd = fcntl(fd, F_DUPFD_CLOEXEC, PXT_FIRST_DESCRIPTOR);
	if (folder->fd < 0)
		return errno;
	folder->mark = pxt_descriptor_mark(folder->fd);
	return 0;
}

int pxt_port_log_first(struct pxt_port_log *log, int fd, const char *name, uint32_t mode)
{
	struct pxt_port_logfolder folder = { .name = name, .mode = mode };
	PXT_OWNCALLS();
	int error = open_folder(&folder, fd);

	if (!error) {
		error = make_log(log, &folder);
		if (error)
			(void)close(folder.fd);
		else
			log->folder = folder;
	}
	return error;
}

int pxt_port_log_next(struct pxt_port_log *next, struct pxt_port_log *log)
{
	PXT_OWNCALLS();
	int error = check_or_open(&log->folder);

	if (!error)
		error = make_log(next, &log->folder);
	if (!error)
		next->folder = log->folder;
	return error;
}

int pxt_port_log_remove(
    struct pxt_port_log *log, uint32_t number, const struct pxt_port_place *place)
{
	PXT_OWNCALLS();
	int error = check_or_open(&log->folder);
	char name[PXT_LOG_FILE_NAME];
	struct stat state;

	pxt_port_log_file_name(&log->folder, number, name);
	if (!error && fstatat(log->folder.fd, name, &state, AT_SYMLINK_NOFOLLOW) != 0)
		error = errno;
	if (!error) {
		if (!pxt_descriptor_at(&state, place))
			error = ENOENT;
		else if (unlinkat(log->folder.fd, name, 0) != 0)
			error = errno;
	}
	return error;
}

void pxt_port_log_leave_folder(struct pxt_port_log *log)
{
	if (check(&log->folder) == 0 && pxt_descriptor_is(log->folder.fd, log->folder.mark))
		(void)close(log->folder.fd);
	log->folder.fd = -1;
}

int pxt_port_log_reopen(struct pxt_port_log *log)
{
	char name[PXT_LOG_FILE_NAME];

	if (!log->folder.path || check_or_open(&log->folder) != 0)
		return -1;
	pxt_port_log_file_name(&log->folder, log->folder.number, name);
	return pxt_descriptor_open(
	    log->folder.fd, name, O_RDWR | O_NOCTTY | O_NONBLOCK | O_NOFOLLOW, 0);
}
