/* SPDX-License-Identifier: MIT */
/* names.c - where the sockets of named streams are. */
#define _GNU_SOURCE
#include "door.h"

#include "command.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

static void folder(char path[PXT_DOOR_PATH])
{
	(void)snprintf(path, PXT_DOOR_PATH, PXT_DOOR_FOLDER, (unsigned)geteuid());
}

bool pxt_remote_is_path(const char *name)
{
	return strchr(name, '/') != NULL;
}

const char *pxt_remote_path(const char *name, char path[PXT_DOOR_PATH])
{
	size_t bytes = strlen(name);
	struct stat st;

	path[0] = '\0';
	if (bytes == 0)
		return "it is empty";
	if (pxt_remote_is_path(name)) {
		if (bytes >= PXT_DOOR_PATH)
			return "a socket's path has at most 107 bytes";
		memcpy(path, name, bytes + 1);
		return NULL;
	}
	if (bytes >= PXT_DOOR_NAME)
		return "a stream's name has at most 63 bytes";
	if (strcmp(name, ".") == 0 || strcmp(name, "..") == 0)
		return "that is a folder";
	folder(path);
	/* Somebody else's folder of that name would answer as he likes. */
	if (lstat(path, &st) == 0 &&
	    (!S_ISDIR(st.st_mode) || st.st_uid != geteuid() || (st.st_mode & 077) != 0))
		return "the folder of this user's streams belongs to somebody else, or others may "
		       "enter it";
	size_t used = strlen(path);
	path[used] = '/';
	memcpy(path + used + 1, name, bytes + 1);
	return NULL;
}

static int by_name(const void *a, const void *b)
{
	const char *const *x = a;
	const char *const *y = b;

	return strcmp(*x, *y);
}

static bool is_socket(const char *name, char path[PXT_DOOR_PATH])
{
	struct stat st;

	return strlen(name) < PXT_DOOR_NAME && !pxt_remote_path(name, path) &&
	       lstat(path, &st) == 0 && S_ISSOCK(st.st_mode);
}

void pxt_remote_list(struct pxt_remote_names *names)
{
	char path[PXT_DOOR_PATH];
	struct dirent *entry;
	size_t room = 16;
	DIR *dir;

	names->count = 0;
	names->names = pxt_must(calloc(room + 1, sizeof *names->names));
	folder(path);
	dir = opendir(path);
	while (dir && (entry = readdir(dir)) != NULL) {
		if (!is_socket(entry->d_name, path))
			continue;
		if (names->count == room) {
			room *= 2;
			names->names =
			    pxt_must(realloc(names->names, (room + 1) * sizeof *names->names));
		}
		names->names[names->count++] = pxt_must(strdup(entry->d_name));
	}
	names->names[names->count] = NULL;
	if (dir)
		(void)closedir(dir);
	qsort(names->names, names->count, sizeof *names->names, by_name);
}

void pxt_remote_list_free(struct pxt_remote_names *names)
{
	for (size_t i = 0; i < names->count; i++)
		free(names->names[i]);
	free(names->names);
	*names = (struct pxt_remote_names){ 0 };
}

/* ---- What dead processes have left ---- */

/*
 * Owners hold this lock while they look at a place and take it, and between making a socket and
 * listening at it.  -1: it cannot be had.
 */
static int lock_folder(const char *path)
{
	const struct timespec pause = { .tv_nsec = 1000000 };
	char copy[PXT_DOOR_PATH];
	int fd;

	memcpy(copy, path, sizeof copy);
	fd = open(dirname(copy), O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOCTTY);
	for (unsigned ms = 0; fd >= 0 && flock(fd, LOCK_EX | LOCK_NB) != 0; ms++) {
		if (errno != EWOULDBLOCK || ms == PXT_REMOTE_WAIT_MS) {
			(void)close(fd);
			return -1;
		}
		(void)nanosleep(&pause, NULL);
	}
	return fd;
}

/* With the lock: what nobody answers for now has nobody. */
static int remove_dead(const char *name, char path[PXT_DOOR_PATH])
{
	struct pxt_remote remote;
	struct stat before;
	struct stat after;

	if (lstat(path, &before) != 0)
		return errno == ENOENT ? 0 : errno;
	enum pxt_reach reach = pxt_remote_open(&remote, name);
	pxt_remote_close(&remote);
	if (reach != PXT_REACH_DEAD || !S_ISSOCK(before.st_mode))
		return EBUSY;
	if (lstat(path, &after) != 0 || after.st_ino != before.st_ino ||
	    after.st_dev != before.st_dev)
		return EBUSY;
	return unlink(path) == 0 || errno == ENOENT ? 0 : errno;
}

int pxt_remote_remove(const char *name)
{
	char path[PXT_DOOR_PATH];
	int lock;
	int error;

	if (pxt_remote_path(name, path))
		return EINVAL;
	lock = lock_folder(path);
	if (lock < 0)
		return EBUSY;
	error = remove_dead(name, path);
	(void)close(lock);
	return error;
}
