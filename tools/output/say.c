/* SPDX-License-Identifier: MIT */
/* say.c - what all commands say when something fails, and how far long work has come; see out.h. */
#define _DEFAULT_SOURCE /* struct winsize */
#include "tools/output/out.h"

#include "format/imageheader.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

static void (*listening)(const char *line);

void pxt_say_to(void (*listener)(const char *line))
{
	listening = listener;
}

__attribute__((format(printf, 2, 0))) static void say(
    const char *prefix, const char *format, va_list args)
{
	char raw[1024];
	char text[4 * sizeof raw + 64];
	size_t begins = strlen(prefix);
	size_t used = begins;

	memcpy(text, prefix, used + 1);
	(void)vsnprintf(raw, sizeof raw, format, args);
	used += pxt_escape(raw, strlen(raw), text + used, sizeof text - used - 1, NULL);
	if (listening) {
		listening(text + begins);
		return;
	}
	text[used++] = '\n';
	pxt_progress_hide();
	/* One write, so that lines of several processes do not mix. */
	(void)!write(STDERR_FILENO, text, used);
}

void pxt_complain(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	say("pxtrace: ", format, args);
	va_end(args);
}

void pxt_explain(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	say("         ", format, args);
	va_end(args);
}

void *pxt_must(void *memory)
{
	if (!memory) {
		pxt_complain("out of memory");
		exit(PXT_EXIT_LOG);
	}
	return memory;
}

void *pxt_must_grow(void *list, uint32_t *room, uint32_t count, size_t bytes)
{
	if (count < *room)
		return list;
	*room = 2 * *room + 64;
	return pxt_must(realloc(list, *room * bytes));
}

void *pxt_must_reach(void *list, uint32_t *room, uint32_t index, size_t bytes)
{
	uint32_t before = *room;

	if (index < before)
		return list;
	*room = 2 * index + 64;
	list = pxt_must(realloc(list, *room * bytes));
	memset((char *)list + before * bytes, 0, (*room - before) * bytes);
	return list;
}

int pxt_finish(struct pxt_out *out)
{
	pxt_out_flush(out);
	if (out->error == 0)
		return PXT_EXIT_OK;
	pxt_complain("standard output: %s", strerror(out->error));
	return PXT_EXIT_OUTPUT;
}

void pxt_say_box(const char *path)
{
	char box[4096];
	int length = snprintf(box, sizeof box, "%s" PXT_BOX_ENDING, path);
	struct stat st;

	if (length > 0 && (size_t)length < sizeof box && stat(box, &st) == 0 && S_ISREG(st.st_mode))
		pxt_explain("what was not in it yet is in its black box: `pxtrace recover %s -o "
		            "REST.ptl`",
		    box);
}

/* ---- How far long work has come ---- */

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
