/* SPDX-License-Identifier: MIT */
/* names.c - where the sockets of named streams are. */
#define _GNU_SOURCE
#include "tools/remote/ctlsock.h"

#include "tools/output/out.h"

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

enum folder {
	OWN,
	SHARED,
	FOLDERS
};

/* NULL: this user's alone, or not there. */
static const char *wrong_with(const char *path)
{
	struct stat st;

	if (lstat(path, &st) != 0)
		return NULL;
	if (!S_ISDIR(st.st_mode))
		return "is no folder";
	if (st.st_uid != geteuid())
		return "belongs to somebody else";
	return st.st_mode & 077 ? "can be entered by others" : NULL;
}

/* As the library does it (format/ctlsock.h).  False: there is no place for it. */
static bool folder(enum folder which, char path[PXT_CTLSOCK_PATH])
{
	const char *runtime = secure_getenv(PXT_CTLSOCK_RUNTIME);

	path[0] = '\0';
	if (which == SHARED)
		return snprintf(path, PXT_CTLSOCK_PATH, PXT_CTLSOCK_FOLDER, (unsigned)geteuid()) >
		       0;
	if (!runtime || runtime[0] != '/' || strlen(runtime) > PXT_CTLSOCK_RUNTIME_MAX ||
	    access(runtime, F_OK) != 0 || wrong_with(runtime))
		return false;
	return snprintf(path, PXT_CTLSOCK_PATH, "%s" PXT_CTLSOCK_OWN, runtime) > 0;
}

bool pxt_remote_is_path(const char *name)
{
	return strchr(name, '/') != NULL;
}

/* In the first folder that has it, or could have. */
static const char *path_of_name(const char *name, char path[PXT_CTLSOCK_PATH])
{
	const char *wrong = NULL;
	bool found = false;

	for (enum folder which = OWN; which < FOLDERS; which++) {
		char place[PXT_CTLSOCK_PATH];
		struct stat st;
		size_t used;
		bool there;

		if (!folder(which, place))
			continue;
		/* Somebody else's folder of that name would answer as they like. */
		if (wrong_with(place)) {
			wrong = "the folder of this user's streams belongs to somebody else, or "
			        "others may enter it";
			continue;
		}
		used = strlen(place);
		place[used] = '/';
		memcpy(place + used + 1, name, strlen(name) + 1);
		there = lstat(place, &st) == 0;
		if (there || !found)
			memcpy(path, place, sizeof place);
		if (there)
			return NULL;
		found = true;
	}
	return found ? NULL : wrong;
}

const char *pxt_remote_path(const char *name, char path[PXT_CTLSOCK_PATH])
{
	size_t bytes = strlen(name);

	path[0] = '\0';
	if (bytes == 0)
		return "it is empty";
	if (pxt_remote_is_path(name)) {
		if (bytes >= PXT_CTLSOCK_PATH)
			return "a socket's path has at most 107 bytes";
		memcpy(path, name, bytes + 1);
		return NULL;
	}
	if (bytes >= PXT_CTLSOCK_NAME)
		return "a stream's name has at most 63 bytes";
	if (strcmp(name, ".") == 0 || strcmp(name, "..") == 0)
		return "that is a folder";
	return path_of_name(name, path);
}

static int by_name(const void *a, const void *b)
{
	const char *const *x = a;
	const char *const *y = b;

	return strcmp(*x, *y);
}

static bool is_socket(const char *folder_path, const char *name)
{
	char path[PXT_CTLSOCK_PATH + 256];
	struct stat st;

	(void)snprintf(path, sizeof path, "%s/%s", folder_path, name);
	return strlen(name) < PXT_CTLSOCK_NAME && lstat(path, &st) == 0 && S_ISSOCK(st.st_mode);
}

static void add_name(struct pxt_remote_names *names, const char *name)
{
	for (size_t i = 0; i < names->count; i++)
		if (strcmp(names->names[i], name) == 0)
			return;
	/* One more, for the NULL after them. */
	names->names = pxt_must(realloc(names->names, (names->count + 2) * sizeof *names->names));
	names->names[names->count++] = pxt_must(strdup(name));
	names->names[names->count] = NULL;
}

static void list_folder(struct pxt_remote_names *names, const char *path)
{
	struct dirent *entry;
	DIR *dir = opendir(path);

	while (dir && (entry = readdir(dir)) != NULL)
		if (is_socket(path, entry->d_name))
			add_name(names, entry->d_name);
	if (dir)
		(void)closedir(dir);
}

void pxt_remote_list(struct pxt_remote_names *names)
{
	char path[PXT_CTLSOCK_PATH];

	names->count = 0;
	names->names = pxt_must(calloc(1, sizeof *names->names));
	for (enum folder which = OWN; which < FOLDERS; which++)
		if (folder(which, path) && !wrong_with(path))
			list_folder(names, path);
	qsort(names->names, names->count, sizeof *names->names, by_name);
}

bool pxt_remote_look(const char *command)
{
	char path[PXT_CTLSOCK_PATH];
	bool own = folder(OWN, path) && !wrong_with(path);
	bool good = true;

	for (enum folder which = OWN; which < FOLDERS; which++) {
		const char *wrong = folder(which, path) ? wrong_with(path) : NULL;

		if (!wrong)
			continue;
		good = false;
		pxt_complain("%s: %s %s: programs cannot give names to streams there, and what is "
		             "in it is not shown",
		    command, path, wrong);
	}
	if (!good && !own)
		pxt_explain(
		    "in a session that has XDG_RUNTIME_DIR another folder is used; this one "
		    "can be removed by its owner, and by root");
	return good || own;
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
	char copy[PXT_CTLSOCK_PATH];
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
static int remove_dead(const char *name, char path[PXT_CTLSOCK_PATH])
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
	char path[PXT_CTLSOCK_PATH];
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
