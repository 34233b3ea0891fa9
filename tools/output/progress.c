/* SPDX-License-Identifier: MIT */
/* progress.c - how far long work has come; see out.h. */
#define _DEFAULT_SOURCE /* struct winsize */
#include "tools/output/out.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

#define FIRST_MS 500 /* short work shows nothing; PXTRACE_PROGRESS says otherwise */
#define AGAIN_MS 200
#define BAR      30u

/* The one line that may be on the terminal. */
static struct pxt_progress *drawn;

static int64_t now_ms(void)
{
	struct timespec now;

	(void)clock_gettime(CLOCK_MONOTONIC, &now);
	return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

static int64_t first_ms(void)
{
	const char *wish = getenv("PXTRACE_PROGRESS");
	char *end = NULL;
	long ms = wish ? strtol(wish, &end, 10) : 0;

	return wish && *wish && !*end && ms >= 0 ? ms : FIRST_MS;
}

static void put(const char *text, size_t bytes)
{
	/* A terminal that went away is no reason to stop the work. */
	(void)!write(STDERR_FILENO, text, bytes);
}

void pxt_progress_begin(struct pxt_progress *progress, const char *label, const char *unit,
    uint64_t total, bool beside_output)
{
	const char *term = getenv("TERM");
	bool wanted = isatty(STDERR_FILENO) && term && strcmp(term, "dumb") != 0 &&
	              !(beside_output && isatty(STDOUT_FILENO));

	*progress = (struct pxt_progress){ .label = label, .unit = unit, .total = total };
	progress->next = UINT64_MAX;
	if (!wanted)
		return;
	/* Bytes come in larger portions than events. */
	progress->pace = strcmp(unit, "bytes") == 0 ? 1u << 20 : PXT_PROGRESS_STEPS;
	progress->next = progress->pace;
	progress->began_ms = now_ms();
	progress->show_ms = progress->began_ms + first_ms();
}

/* 12345678 as "12.3 M". */
static void put_amount(char *text, size_t room, uint64_t amount)
{
	static const char units[] = " kMGT";
	double value = (double)amount;
	unsigned unit = 0;

	while (value >= 9999.5 && unit + 2 < sizeof units) {
		value /= 1000;
		unit++;
	}
	if (unit == 0)
		(void)snprintf(text, room, "%u", (unsigned)amount);
	else
		(void)snprintf(text, room, "%.0f %c", value, units[unit]);
}

static void draw(struct pxt_progress *progress, int64_t passed_ms)
{
	char amount[32];
	char line[160];
	size_t used;

	put_amount(amount, sizeof amount, progress->done);
	if (progress->total == 0) {
		used = (size_t)snprintf(line, sizeof line, "\r%.20s: %s %s\033[K", progress->label,
		    amount, progress->unit);
	} else {
		/* A hostile log may have more than it says. */
		double part = (double)progress->done / (double)progress->total;
		part = part > 1 ? 1 : part;
		char bar[BAR + 1];
		unsigned full = (unsigned)(part * BAR);
		double left = part > 0.01 ? (double)passed_ms / 1000 * (1 - part) / part : 0;

		memset(bar, '.', BAR);
		memset(bar, '#', full);
		bar[BAR] = '\0';
		used = (size_t)snprintf(line, sizeof line,
		    "\r%.20s [%s] %3.0f %%  %s %s, %.0f s left\033[K", progress->label, bar,
		    part * 100, amount, progress->unit, left > 359999 ? 359999 : left);
	}
	put(line, used < sizeof line ? used : sizeof line - 1);
	progress->shown = true;
	drawn = progress;
}

void pxt_progress_look(struct pxt_progress *progress)
{
	int64_t now = now_ms();

	progress->next = progress->done + progress->pace;
	if (now < progress->show_ms)
		return;
	draw(progress, now - progress->began_ms);
	progress->show_ms = now + AGAIN_MS;
}

bool pxt_progress_watched(const struct pxt_progress *progress)
{
	return progress->next != UINT64_MAX;
}

void pxt_progress_hide(void)
{
	static const char clear[] = "\r\033[K";

	if (!drawn)
		return;
	put(clear, sizeof clear - 1);
	drawn->shown = false;
	drawn = NULL;
}

void pxt_progress_end(struct pxt_progress *progress)
{
	if (progress->shown)
		pxt_progress_hide();
	progress->next = UINT64_MAX;
}

/* ---- The width of the terminal that a table is written to ---- */

#define MOST 10000

size_t pxt_width(int fd)
{
	const char *columns = getenv("COLUMNS");
	char *end = NULL;
	long asked = columns ? strtol(columns, &end, 10) : 0;
	struct winsize size;

	if (end && !*end && asked > 0 && asked < MOST)
		return (size_t)asked;
	return isatty(fd) && ioctl(fd, TIOCGWINSZ, &size) == 0 ? size.ws_col : 0;
}
