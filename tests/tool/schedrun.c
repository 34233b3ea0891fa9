/* SPDX-License-Identifier: MIT */
/*
 * schedrun.c - runs a program, and the scheduler's log of it beside: schedrun [-u] LEVEL LOG PROGRAM...
 *
 * LEVEL is own, all or points, as in tools/sched/sched.h: no more than that is recorded.  Says on
 * standard error what is missing, and on standard output what became of it; "none" as the first word
 * where the kernel allows nothing.  -u: nothing is read before the end, so that rings run over.  Exit
 * status: the program's, or 77 where nothing is recorded.
 */
#define _GNU_SOURCE
#include "tools/sched/sched.h"

#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static const char *const levels[] = { "none", "own", "all", "points" };

static void check(int failed, const char *what)
{
	if (!failed)
		return;
	(void)fprintf(stderr, "schedrun: %s failed\n", what);
	exit(1);
}

static enum pxt_schedlevel level_of(const char *word)
{
	unsigned level = 0;

	while (level < 4 && strcmp(word, levels[level]) != 0)
		level++;
	check(level == 4, word);
	return level;
}

/* Waits at @gate until the parent closes it. */
static pid_t begin(char **program, int gate[2])
{
	char byte;

	check(pipe(gate), "pipe");
	pid_t child = fork();
	check(child < 0, "fork");
	if (child != 0)
		return child;
	(void)close(gate[1]);
	(void)!read(gate[0], &byte, 1);
	(void)close(gate[0]);
	execvp(*program, program);
	_exit(127);
}

static int watch(struct pxt_schedwatch *watch, pid_t child, bool unread)
{
	struct pollfd poller = { .fd = pxt_schedwatch_fd(watch), .events = POLLIN };
	int status;

	while (waitpid(child, &status, unread ? 0 : WNOHANG) == 0) {
		(void)poll(&poller, 1, PXT_SCHEDWATCH_MS);
		check(pxt_schedwatch_poll(watch), "pxt_schedwatch_poll");
	}
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

int main(int argc, char **argv)
{
	struct pxt_schedtold told;
	struct pxt_schedsay say;
	bool unread = argc > 1 && strcmp(argv[1], "-u") == 0;
	int gate[2];

	argc -= unread;
	argv += unread;
	check(argc < 4, "schedrun LEVEL LOG PROGRAM...");
	const struct pxt_schedwatch_file file = { .path = argv[2], .groups = PXT_SCHEDGROUP_ALL };
	pid_t child = begin(argv + 3, gate);
	struct pxt_schedwatch *scheduler =
	    pxt_schedwatch_open(child, &file, level_of(argv[1]), &told);
	if (pxt_schedsay_missing(&say, &told))
		(void)fprintf(stderr, "%s\n%s\n", say.what, say.how);
	(void)close(gate[0]);
	(void)close(gate[1]);
	if (!scheduler) {
		(void)printf("none\n");
		(void)waitpid(child, NULL, 0);
		return 77;
	}
	int status = watch(scheduler, child, unread);
	check(pxt_schedwatch_end(scheduler, &told), "pxt_schedwatch_end");
	(void)printf(
	    "%s events %llu switches %llu wakes %llu lost %llu late %llu broken %llu ring %llu\n",
	    levels[told.level], (unsigned long long)told.events, (unsigned long long)told.switches,
	    (unsigned long long)told.wakes, (unsigned long long)told.lost,
	    (unsigned long long)told.late, (unsigned long long)told.broken,
	    (unsigned long long)told.ring_bytes);
	return status;
}
