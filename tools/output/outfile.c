/* SPDX-License-Identifier: MIT */
/* outfile.c - a result that is there whole or not at all; see out.h. */
#include "tools/output/out.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* What a signal handler removes. */
static const char *volatile unfinished;

static void remove_and_die(int number)
{
	if (unfinished)
		(void)unlink(unfinished);
	/* SA_RESETHAND: this time for good. */
	(void)raise(number);
}

static void watch_signals(void)
{
	static const int numbers[] = { SIGINT, SIGTERM, SIGHUP, SIGPIPE, SIGXFSZ };
	struct sigaction action = { .sa_handler = remove_and_die, .sa_flags = (int)SA_RESETHAND };
	struct sigaction old;

	(void)sigemptyset(&action.sa_mask);
	for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
		if (sigaction(numbers[i], NULL, &old) == 0 && old.sa_handler == SIG_DFL)
			(void)sigaction(numbers[i], &action, NULL);
}

static bool open_beside(struct pxt_outfile *file)
{
	file->fd = pxt_final_beside(file->final, &file->temporary);
	if (file->fd < 0)
		return false;
	unfinished = file->temporary;
	watch_signals();
	return true;
}

bool pxt_outfile_open(struct pxt_outfile *file, const char *name)
{
	struct stat st;
	bool there;

	*file = (struct pxt_outfile){ .fd = STDOUT_FILENO, .name = "standard output" };
	if (!name || strcmp(name, "-") == 0)
		return true;
	file->name = name;
	there = stat(name, &st) == 0;
	if (there && S_ISDIR(st.st_mode)) {
		pxt_complain("%s: is a folder; -o wants the name of a file", name);
		return false;
	}
	if (there && !S_ISREG(st.st_mode)) {
		file->fd = pxt_final_open(name);
	} else {
		file->fd = -1;
		file->final = pxt_final_name(name);
		if (file->final && pxt_final_may_replace(file->final))
			(void)open_beside(file);
	}
	if (file->fd >= 0)
		return true;
	pxt_complain("%s: cannot be written: %s", name, pxt_open_error(errno));
	pxt_outfile_discard(file);
	return false;
}

static bool same(const struct stat *one, const struct stat *other)
{
	return one->st_dev == other->st_dev && one->st_ino == other->st_ino &&
	       !S_ISCHR(one->st_mode);
}

bool pxt_outfile_is(const char *path, int fd)
{
	struct stat mine;
	struct stat other;

	return stat(path, &mine) == 0 && fstat(fd, &other) == 0 && same(&mine, &other);
}

bool pxt_outfile_is_others(const char *path, const void *mark, size_t bytes)
{
	unsigned char found[64];
	size_t wanted = bytes < sizeof found ? bytes : sizeof found;
	int fd = pxt_open_plain(path);
	ssize_t got;

	if (fd < 0)
		return errno != ENOENT;
	got = read(fd, found, wanted);
	(void)close(fd);
	return got != 0 && (got != (ssize_t)wanted || memcmp(found, mark, wanted) != 0);
}

/* The folder that @path is in, or would be; free() it. */
static char *folder_of(const char *path)
{
	size_t bytes = (size_t)(pxt_path_name(path) - path);
	char *folder = pxt_must(strdup(bytes > 0 ? path : "."));

	/* The slash stays: the root has no other name. */
	if (bytes > 0)
		folder[bytes] = '\0';
	return folder;
}

bool pxt_outfile_same(const char *one, const char *other)
{
	struct stat mine;
	struct stat theirs;
	bool there = stat(one, &mine) == 0;

	if (there != (stat(other, &theirs) == 0))
		return false;
	if (there)
		return same(&mine, &theirs);
	if (strcmp(pxt_path_name(one), pxt_path_name(other)) != 0)
		return false;
	char *folder = folder_of(one);
	char *its = folder_of(other);
	bool both = stat(folder, &mine) == 0 && stat(its, &theirs) == 0 && same(&mine, &theirs);
	free(folder);
	free(its);
	return both;
}

bool pxt_outfile_is_another(const char *command, const char *path, const char *other)
{
	if (!pxt_outfile_same(path, other))
		return true;
	pxt_complain("%s: %s is the same log as %s", command, path, other);
	return false;
}

bool pxt_outfile_check(const char *name)
{
	struct stat st;
	bool there = stat(name, &st) == 0;

	if (there && !S_ISREG(st.st_mode)) {
		pxt_complain("%s: is %s; -o wants the name of a file", name,
		    S_ISDIR(st.st_mode) ? "a folder" : "no file");
		return false;
	}
	char *target = pxt_final_name(name);
	char *folder = target ? folder_of(target) : NULL;
	bool may = folder && access(folder, W_OK | X_OK) == 0 && pxt_final_may_replace(target);
	if (!may)
		pxt_complain("%s: cannot be written: %s", name, strerror(errno));
	free(folder);
	free(target);
	return may;
}

static void forget(struct pxt_outfile *file)
{
	unfinished = NULL;
	free(file->temporary);
	free(file->final);
	file->temporary = file->final = NULL;
	file->fd = -1;
}

bool pxt_outfile_commit(struct pxt_outfile *file)
{
	bool done = true;

	if (file->fd != STDOUT_FILENO) {
		done = close(file->fd) == 0;
		file->fd = -1;
	}
	if (done && file->final)
		done = rename(file->temporary, file->final) == 0;
	if (!done) {
		pxt_complain("%s: cannot be written: %s", file->name, strerror(errno));
		pxt_outfile_discard(file);
		return false;
	}
	forget(file);
	return true;
}

void pxt_outfile_discard(struct pxt_outfile *file)
{
	if (file->fd >= 0 && file->fd != STDOUT_FILENO)
		(void)close(file->fd);
	if (unfinished)
		(void)unlink(unfinished);
	forget(file);
}
