/* SPDX-License-Identifier: MIT */
/*
 * environment.c - for PXTRACE_OUT: environment variables, making and locking a log's files, messages on standard error.
 *
 * Another user may have put anything under a name in a folder like /tmp before us.  So a file is always made
 * anew (O_EXCL), and what is there is renamed, which such a folder allows its owner alone.
 */
#define _GNU_SOURCE
#include "port/port_sysinfo.h"

#include "format/imageheader.h"
#include "port/posix/owncalls.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/syscall.h>
#include <unistd.h>

#define OPEN_FLAGS (O_RDWR | O_NOCTTY)
/* So many logs of before keep a name of their own. */
#define ASIDE_MAX  9999u
/* Somebody else may make a file of the name each time that one was renamed. */
#define TRIES      8u
#ifndef RENAME_NOREPLACE
#define RENAME_NOREPLACE 1u
#endif

/* Where complaints go, as it was at the start. */
static struct stat complaints;

const char *pxt_port_environment(const char *name)
{
	return secure_getenv(name);
}

void pxt_port_environment_folder(char folder[PXT_ENVIRONMENT_PATH])
{
	if (fstat(STDERR_FILENO, &complaints) != 0)
		memset(&complaints, 0, sizeof(complaints));
	if (!getcwd(folder, PXT_ENVIRONMENT_PATH - 1u))
		folder[0] = '\0';
	else if (strcmp(folder, "/") != 0)
		memcpy(folder + strlen(folder), "/", 2);
}

/* ---- What is there already ---- */

/* Not over another file.  Where the file system cannot promise that, it is looked at before. */
static int rename_if_free(const char *from, const char *to)
{
	struct stat state;

	if (syscall(SYS_renameat2, AT_FDCWD, from, AT_FDCWD, to, RENAME_NOREPLACE) == 0)
		return 0;
	if (errno != EINVAL && errno != ENOSYS)
		return errno;
	if (lstat(to, &state) == 0)
		return EEXIST;
	return rename(from, to) == 0 ? 0 : errno;
}

/* A log of before, or the black box of one, to the first name that is free; the box goes with its log. */
static int set_aside(const char *path)
{
	char to[PXT_ENVIRONMENT_PATH + 32];
	char box[PXT_ENVIRONMENT_PATH + 32];
	int error = EEXIST;

	for (unsigned number = 1; error == EEXIST && number <= ASIDE_MAX; number++) {
		(void)snprintf(to, sizeof(to), "%s.~%u~", path, number);
		error = rename_if_free(path, to);
	}
	if (error)
		return error;
	(void)snprintf(box, sizeof(box), "%s" PXT_BOX_ENDING, path);
	memcpy(to + strlen(to), PXT_BOX_ENDING, sizeof(PXT_BOX_ENDING));
	(void)rename_if_free(box, to);
	return 0;
}

/* The user's own link, or the system's, leads where they want it. */
static bool is_trusted_link(const char *path)
{
	struct stat state;

	return lstat(path, &state) == 0 && S_ISLNK(state.st_mode) &&
	       (state.st_uid == geteuid() || state.st_uid == 0);
}

/*
 * The lock is the open file's, so the library's duplicate has it, too, until the log is closed: a program
 * that this one starts has the same environment.
 */
static int lock(int fd)
{
	if (flock(fd, LOCK_EX | LOCK_NB) == 0)
		return 0;
	return errno == EWOULDBLOCK ? EBUSY : errno;
}

/* EEXIST: it is a log of before, which nobody writes any more. */
static int look_at(int fd, bool *regular)
{
	struct stat state;
	int error = fstat(fd, &state) == 0 ? lock(fd) : errno;

	if (error)
		return error;
	*regular = S_ISREG(state.st_mode);
	if (*regular && state.st_size != 0)
		return EEXIST;
	return state.st_uid == geteuid() || (!*regular && state.st_uid == 0) ? 0 : EPERM;
}

static bool is_pipe(int fd)
{
	struct stat state;

	return fstat(fd, &state) == 0 && S_ISFIFO(state.st_mode);
}

static void be_patient(int fd)
{
	(void)fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) & ~O_NONBLOCK);
}

static int open_there(const char *path, int *fd, bool *regular)
{
	int link = is_trusted_link(path) ? 0 : O_NOFOLLOW;
	int error;

	*fd = pxt_descriptor_open(AT_FDCWD, path, OPEN_FLAGS | O_NONBLOCK | link, 0);
	if (*fd < 0)
		return errno;
	error = look_at(*fd, regular);
	if (!error && !is_pipe(*fd))
		be_patient(*fd);
	/* Under the lock, so that no other process begins its log meanwhile. */
	if (error == EEXIST) {
		error = set_aside(path);
		error = error ? error : EAGAIN;
	}
	if (error) {
		(void)close(*fd);
		*fd = -1;
	}
	return error;
}

/* ---- New files ---- */

static int create(const char *path, uint32_t mode, int *fd)
{
	*fd = pxt_descriptor_open(AT_FDCWD, path, OPEN_FLAGS | O_CREAT | O_EXCL | O_NOFOLLOW, mode);
	return *fd < 0 ? errno : 0;
}

/* EAGAIN: what was there is gone, or has another name. */
static int try_once(const char *path, uint32_t mode, int *fd, bool *regular)
{
	int error = create(path, mode, fd);

	*regular = true;
	if (error == EEXIST) {
		error = open_there(path, fd, regular);
		return error == ENOENT && !is_trusted_link(path) ? EAGAIN : error;
	}
	if (!error)
		error = lock(*fd);
	if (error && *fd >= 0)
		(void)close(*fd);
	return error;
}

int pxt_port_environment_file(const char *path, uint32_t mode, int *fd, bool *regular)
{
	int error = EAGAIN;

	pxt_port_untold_begin();
	for (unsigned i = 0; error == EAGAIN && i < TRIES; i++)
		error = try_once(path, mode, fd, regular);
	pxt_port_untold_end();
	return error;
}

/* ---- New folders ---- */

/* EAGAIN: what was there has another name.  Its lock is that of the process that has its log in it. */
static int leave_behind(const char *path)
{
	struct stat state;
	int fd = pxt_descriptor_open(AT_FDCWD, path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW, 0);
	int error = fd < 0 ? errno : 0;

	if (!error && fstat(fd, &state) != 0)
		error = errno;
	if (!error)
		error = state.st_uid == geteuid() ? lock(fd) : EPERM;
	if (!error)
		error = set_aside(path);
	if (fd >= 0)
		(void)close(fd);
	return error ? error : EAGAIN;
}

static int try_folder(const char *path, uint32_t mode, int *fd)
{
	int error;

	/* Who may read a file in it may look into it. */
	if (mkdir(path, (mode_t)(mode | (mode & 0444u) >> 2)) != 0)
		return errno == EEXIST ? leave_behind(path) : errno;
	*fd = pxt_descriptor_open(AT_FDCWD, path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW, 0);
	error = *fd < 0 ? errno : lock(*fd);
	if (error && *fd >= 0)
		(void)close(*fd);
	return error;
}

int pxt_port_environment_newfolder(const char *path, uint32_t mode, int *fd)
{
	int error = EAGAIN;

	*fd = -1;
	pxt_port_untold_begin();
	for (unsigned i = 0; error == EAGAIN && i < TRIES; i++)
		error = try_folder(path, mode, fd);
	pxt_port_untold_end();
	return error;
}

static int create_box(const char *path, uint32_t mode, int *fd)
{
	int error = create(path, mode, fd);

	if (error == EEXIST && (error = set_aside(path)) == 0)
		error = create(path, mode, fd);
	return error;
}

int pxt_port_environment_box(const char *log, uint32_t mode, int *fd, struct pxt_port_newfile *box)
{
	struct stat state;
	int error;

	box->path[0] = '\0';
	if (strlen(log) + sizeof(PXT_BOX_ENDING) > sizeof(box->path))
		return ENAMETOOLONG;
	pxt_port_untold_begin();
	(void)snprintf(box->path, sizeof(box->path), "%s" PXT_BOX_ENDING, log);
	error = create_box(box->path, mode, fd);
	if (!error && fstat(*fd, &state) != 0) {
		error = errno;
		(void)close(*fd);
	}
	if (!error) {
		box->device = (uint64_t)state.st_dev;
		box->number = (uint64_t)state.st_ino;
	} else {
		box->path[0] = '\0';
	}
	pxt_port_untold_end();
	return error;
}

void pxt_port_environment_remove(const struct pxt_port_newfile *box)
{
	PXT_KEEP_ERRNO();
	struct stat state;

	pxt_port_untold_begin();
	if (box->path[0] && lstat(box->path, &state) == 0 &&
	    (uint64_t)state.st_dev == box->device && (uint64_t)state.st_ino == box->number)
		(void)unlink(box->path);
	pxt_port_untold_end();
}

void pxt_port_environment_close(int fd)
{
	pxt_port_untold_begin();
	be_patient(fd);
	(void)close(fd);
	pxt_port_untold_end();
}

/* ---- Complaints ---- */

void pxt_port_environment_complain(
    const char *name, const char *value, const char *what, const char *why, int error)
{
	/* Few threads, and the texts of known errors are constants: NOLINTNEXTLINE(concurrency-mt-unsafe) */
	const char *text = why ? why : strerror(error);
	struct iovec line[] = { pxt_unraised_piece("libptrace: "), pxt_unraised_piece(name),
		pxt_unraised_piece("="), pxt_unraised_piece(value), pxt_unraised_piece(": "),
		pxt_unraised_piece(what), pxt_unraised_piece(*what ? ": " : ""),
		pxt_unraised_piece(text), pxt_unraised_piece("\n") };
	struct stat state;

	if (fstat(STDERR_FILENO, &state) != 0 || state.st_dev != complaints.st_dev ||
	    state.st_ino != complaints.st_ino)
		return;
	pxt_unraised_tell(line, sizeof(line) / sizeof(line[0]));
}
