/* SPDX-License-Identifier: MIT */
#define _XOPEN_SOURCE 700 /* realpath() */
#include "outfile.h"

#include "command.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
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

/* A link is followed, so that its target is replaced and not the link. */
static char *target_of(const char *name)
{
	char *real = realpath(name, NULL);

	return real ? real : pxt_must(strdup(name));
}

static bool open_beside(struct pxt_outfile *file)
{
	static const char suffix[] = ".XXXXXX";
	size_t bytes = strlen(file->final);
	mode_t mask = umask(0);

	(void)umask(mask);
	file->temporary = pxt_must(malloc(bytes + sizeof suffix));
	memcpy(file->temporary, file->final, bytes);
	memcpy(file->temporary + bytes, suffix, sizeof suffix);
	file->fd = mkstemp(file->temporary);
	if (file->fd < 0)
		return false;
	unfinished = file->temporary;
	watch_signals();
	(void)fchmod(file->fd, 0666 & ~mask);
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
		file->fd = open(name, O_WRONLY | O_CLOEXEC | O_NOCTTY);
	} else {
		file->final = target_of(name);
		(void)open_beside(file);
	}
	if (file->fd >= 0)
		return true;
	pxt_complain("%s: cannot be written: %s", name, strerror(errno));
	pxt_outfile_discard(file);
	return false;
}

bool pxt_outfile_replaces(const struct pxt_outfile *file, int fd)
{
	struct stat mine;
	struct stat other;

	return file->final && stat(file->final, &mine) == 0 && fstat(fd, &other) == 0 &&
	       mine.st_dev == other.st_dev && mine.st_ino == other.st_ino;
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
