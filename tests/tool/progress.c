/* SPDX-License-Identifier: MIT */
/* progress.c - the line that tells how far long work has come, seen from the terminal's other side. */
#define _XOPEN_SOURCE 700
#include "tools/output/progress.h"

#include "suite.h"
#include "tools/output/say.h"

#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int terminal = -1;
static int kept = -1;

/* Makes standard error a terminal; what arrives there is read from @terminal. */
static bool begin(void)
{
	int other;

	terminal = posix_openpt(O_RDWR | O_NOCTTY);
	if (terminal < 0 || grantpt(terminal) != 0 || unlockpt(terminal) != 0)
		return false;
	other = open(ptsname(terminal), O_RDWR | O_NOCTTY);
	if (other < 0)
		return false;
	(void)setenv("TERM", "xterm", 1);
	(void)fflush(stderr);
	kept = dup(STDERR_FILENO);
	(void)dup2(other, STDERR_FILENO);
	(void)close(other);
	return true;
}

/* What came, until nothing came for a while; standard error is as it was before. */
static const char *end(void)
{
	static char text[4096];
	struct pollfd wait = { .fd = terminal, .events = POLLIN };
	size_t used = 0;

	(void)dup2(kept, STDERR_FILENO);
	(void)close(kept);
	while (used < sizeof text - 1 && poll(&wait, 1, 50) > 0 && (wait.revents & POLLIN)) {
		ssize_t bytes = read(terminal, text + used, sizeof text - 1 - used);

		if (bytes <= 0)
			break;
		used += (size_t)bytes;
	}
	text[used] = '\0';
	(void)close(terminal);
	return text;
}

static void work(uint64_t steps, uint64_t total, bool at_once)
{
	struct pxt_progress progress;

	pxt_progress_begin(&progress, "count", "events", total, false);
	if (at_once)
		progress.show_ms = 0;
	for (uint64_t i = 0; i < steps; i++)
		pxt_progress_step(&progress);
	pxt_progress_end(&progress);
}

PXT_TEST(long_work_shows_how_far_it_is_and_leaves_nothing)
{
	static const char clear[] = "\r\033[K";

	if (!begin()) {
		pxt_skip("no pseudo terminal here");
		return;
	}
	work(PXT_PROGRESS_STEPS * 2, (uint64_t)PXT_PROGRESS_STEPS * 4, true);
	const char *text = end();
	CU_ASSERT(strstr(text, "count [#######") != NULL);
	CU_ASSERT(strstr(text, " 25 %  8192 events") != NULL);
	CU_ASSERT(strlen(text) > strlen(clear) &&
	          strcmp(text + strlen(text) - strlen(clear), clear) == 0);
}

PXT_TEST(work_of_unknown_length_shows_what_is_done)
{
	if (!begin()) {
		pxt_skip("no pseudo terminal here");
		return;
	}
	work(PXT_PROGRESS_STEPS, 0, true);
	CU_ASSERT(strstr(end(), "count: 8192 events") != NULL);
}

PXT_TEST(short_work_shows_nothing)
{
	if (!begin()) {
		pxt_skip("no pseudo terminal here");
		return;
	}
	work(PXT_PROGRESS_STEPS * 2, (uint64_t)PXT_PROGRESS_STEPS * 4, false);
	CU_ASSERT_STRING_EQUAL(end(), "");
}

PXT_TEST(a_file_or_pipe_never_sees_a_bar)
{
	struct pxt_progress progress;
	int ends[2];
	char byte;

	CU_ASSERT_FATAL(pipe(ends) == 0);
	(void)fflush(stderr);
	int before = dup(STDERR_FILENO);
	(void)dup2(ends[1], STDERR_FILENO);
	pxt_progress_begin(&progress, "count", "events", 100000, false);
	progress.show_ms = 0;
	for (unsigned i = 0; i < 100000; i++)
		pxt_progress_step(&progress);
	pxt_progress_end(&progress);
	(void)dup2(before, STDERR_FILENO);
	(void)close(before);
	(void)close(ends[1]);
	PXT_EQ(read(ends[0], &byte, 1), 0);
	(void)close(ends[0]);
}

PXT_TEST(a_message_takes_the_bar_away_first)
{
	struct pxt_progress progress;

	if (!begin()) {
		pxt_skip("no pseudo terminal here");
		return;
	}
	pxt_progress_begin(&progress, "count", "events", 100, false);
	progress.show_ms = 0;
	pxt_progress_at(&progress, PXT_PROGRESS_STEPS);
	pxt_complain("a word");
	pxt_progress_end(&progress);
	CU_ASSERT(strstr(end(), "\r\033[Kpxtrace: a word\r\n") != NULL);
}
