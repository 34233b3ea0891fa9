/* SPDX-License-Identifier: MIT */
/* panel.c - the screen and its keys; tables one after another, for scripts; see top.h. */
#include "tools/output/out.h"
#include "tools/remote/ctlsock.h"
#include "tools/top/top.h"

#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define WAIT_MS    50
#define MESSAGE_NS INT64_C(10000000000) /* so long it is seen */

static const char keys[] = "q quit  space freeze  s sort  S save  up/down choose  ? help";

static const char *const help[] = {
	"pxtrace top - streams of running programs, live",
	"",
	"q            ends it",
	"space        freezes the numbers, and lets them go on",
	"s, right     sorts by the next column; left: by the one before",
	"up, down     choose a stream",
	"S            saves what that stream holds as a log (pxtrace snapshot)",
	"?            this; any key goes back",
	"",
	"EVENTS/S     of the stream, of the thread",
	"LOST/S, LOST overwritten or without room: in these seconds, in all",
	"FILL         of the stream's memory",
	"READ         how much of the events could be read here",
	"P50 P99 MAX  how long pairs of events lasted that ended in these seconds",
	"WAITED       for the lock, all threads together",
	"WAITING      threads that wait for it now",
	NULL,
};

struct panel {
	struct pxt_live *live;
	const struct pxt_panel_options *options;
	struct pxt_numbers *numbers;
	enum pxt_numbers_column column;
	bool frozen;
	bool helps;
	uint32_t chosen;
	size_t line; /* that is drawn next */
};

/* What was said meanwhile, in place of the keys. */
static struct {
	char text[512];
	int64_t at_ns;
	bool is_new; /* what follows explains it */
} message;

static void hear(const char *line)
{
	size_t used = message.is_new ? strlen(message.text) : 0;

	(void)snprintf(
	    message.text + used, sizeof message.text - used, "%s%s", used > 0 ? "; " : "", line);
	message.at_ns = pxt_when_monotonic();
	message.is_new = true;
}

/* ---- The picture ---- */

static void draw_line(void *context, enum pxt_view_style style, const char *text, size_t bytes)
{
	struct panel *panel = context;

	pxt_screen_line(panel->line++, style, text, bytes);
}

static void draw_title(const struct panel *panel, const struct pxt_view *view)
{
	char text[160];
	char now[32] = "";
	time_t seconds = time(NULL);
	uint32_t streams = panel->numbers->tables[PXT_NUMBERS_STREAMS].count;
	struct tm tm;

	if (localtime_r(&seconds, &tm))
		(void)strftime(now, sizeof now, "%H:%M:%S", &tm);
	(void)snprintf(text, sizeof text, "pxtrace top  %s  %lu stream%s  last %.1f s  by %s%s",
	    now, (unsigned long)streams, streams == 1 ? "" : "s", panel->numbers->seconds,
	    pxt_numbers_word(panel->column), panel->frozen ? "  FROZEN" : "");
	pxt_view_text(view, PXT_VIEW_CHOSEN, text);
}

static void draw_tables(struct panel *panel, struct pxt_view *view)
{
	pxt_numbers_sort(panel->numbers, panel->column);
	if (panel->numbers->tables[PXT_NUMBERS_STREAMS].count == 0)
		pxt_view_text(view, PXT_VIEW_PLAIN,
		    "no running program of yours has a stream with a name any more");
	else
		pxt_view_put(view, panel->numbers);
}

static void draw(struct panel *panel)
{
	struct pxt_view view = { .line = draw_line,
		.context = panel,
		.chosen = panel->chosen,
		.rows = panel->options->rows > 0 ? panel->options->rows : PXT_NUMBERS_ROWS };
	size_t lines;

	pxt_screen_size(&view.width, &lines);
	panel->line = 0;
	pxt_screen_erase();
	/* Below three lines there is room for no table. */
	view.height = lines > 2 ? lines - 2 : 1;
	if (panel->helps) {
		for (size_t i = 0; help[i] && i + 1 < lines; i++)
			pxt_view_text(&view, i == 0 ? PXT_VIEW_HEAD : PXT_VIEW_PLAIN, help[i]);
	} else {
		draw_title(panel, &view);
		draw_tables(panel, &view);
	}
	panel->line = lines > 0 ? lines - 1 : 0;
	if (pxt_when_monotonic() - message.at_ns >= MESSAGE_NS)
		message.text[0] = '\0';
	if (lines > 1)
		pxt_view_text(&view, PXT_VIEW_HEAD, message.text[0] ? message.text : keys);
	pxt_screen_show();
}

/* ---- The stream that is chosen ---- */

/* One row further, or back; the first one where none is chosen any more. */
static void choose(struct panel *panel, int step)
{
	const struct pxt_numbers_row *rows = panel->numbers->tables[PXT_NUMBERS_STREAMS].rows;
	int64_t count = panel->numbers->tables[PXT_NUMBERS_STREAMS].count;
	int64_t at = 0;

	while (at < count && rows[at].stream != panel->chosen)
		at++;
	if (at == count)
		at = step = 0;
	at += step;
	if (at >= 0 && at < count)
		panel->chosen = rows[at].stream;
}

/* A name that no file has: the stream's, and the time. */
static bool free_name(const char *stream, char *path, size_t room)
{
	time_t seconds = time(NULL);
	struct tm tm;
	size_t used;

	(void)snprintf(path, room, "%.64s", pxt_path_name(stream));
	for (used = 0; path[used]; used++)
		if (!strchr("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.-",
		        path[used]) ||
		    (used == 0 && strchr(".-", path[used])))
			path[used] = '_';
	if (localtime_r(&seconds, &tm))
		used += strftime(path + used, room - used, "-%Y%m%d-%H%M%S", &tm);
	for (unsigned i = 1; i < 100; i++) {
		if (i == 1)
			(void)snprintf(path + used, room - used, ".ptl");
		else
			(void)snprintf(path + used, room - used, "-%u.ptl", i);
		if (access(path, F_OK) != 0)
			return true;
	}
	return false;
}

static void save(struct panel *panel)
{
	char path[160];
	const char *name = pxt_live_name(panel->live, panel->chosen);

	message.is_new = false;
	if (!name)
		hear("of which stream? up and down choose one that is there");
	else if (!free_name(name, path, sizeof path))
		hear("there are too many snapshots of this second");
	else
		(void)pxt_snapshot_save(&(struct pxt_snapshot){ .name = name, .output = path });
}

/* ---- Keys ---- */

static void sort_by(struct panel *panel, bool next)
{
	unsigned column = (unsigned)panel->column;

	column += next ? 1 : PXT_NUMBERS_COLUMNS - 1;
	panel->column = (enum pxt_numbers_column)(column % PXT_NUMBERS_COLUMNS);
}

/* False: it is over. */
static bool take_key(struct panel *panel, enum pxt_screen_key key)
{
	if (key == PXT_KEY_QUIT || key == PXT_KEY_GONE)
		return false;
	message.is_new = false;
	if (panel->helps && key != PXT_KEY_RESIZED) {
		panel->helps = false;
		return true;
	}
	if (key == PXT_KEY_FREEZE)
		panel->frozen = !panel->frozen;
	else if (key == PXT_KEY_NEXT || key == PXT_KEY_PREVIOUS)
		sort_by(panel, key == PXT_KEY_NEXT);
	else if (key == PXT_KEY_UP || key == PXT_KEY_DOWN)
		choose(panel, key == PXT_KEY_DOWN ? 1 : -1);
	else if (key == PXT_KEY_SAVE)
		save(panel);
	else if (key == PXT_KEY_HELP)
		panel->helps = true;
	return true;
}

static void take_numbers(struct panel *panel)
{
	message.is_new = false;
	if (panel->frozen)
		return;
	pxt_live_numbers(panel->live, panel->numbers);
	pxt_numbers_sort(panel->numbers, panel->column);
	if (!pxt_live_name(panel->live, panel->chosen))
		choose(panel, 0);
}

static void run(struct panel *panel, const volatile sig_atomic_t *stop)
{
	int64_t next = pxt_when_monotonic() + panel->options->interval_ns;
	uint64_t turn = 0;
	bool goes_on = true;

	(void)pxt_live_step(panel->live, pxt_when_monotonic());
	take_numbers(panel);
	draw(panel);
	while (goes_on && !*stop) {
		int64_t now = pxt_when_monotonic();
		bool more = pxt_live_step(panel->live, now);
		enum pxt_screen_key key;

		if (now >= next) {
			/* After a stop no picture is made up for. */
			next = now + panel->options->interval_ns;
			take_numbers(panel);
			draw(panel);
			goes_on = panel->options->times == 0 || ++turn < panel->options->times;
		}
		key = pxt_screen_key(more || !goes_on ? 0 : WAIT_MS);
		if (key == PXT_KEY_NONE)
			continue;
		goes_on = take_key(panel, key) && goes_on;
		draw(panel);
	}
}

int pxt_panel_screen(struct pxt_live *live, const struct pxt_panel_options *options,
    const volatile sig_atomic_t *stop)
{
	struct panel panel = { .live = live,
		.options = options,
		.column = options->column,
		.chosen = PXT_VIEW_NOBODY };

	if (!pxt_screen_begin())
		return PXT_EXIT_USAGE;
	panel.numbers = pxt_must(calloc(1, sizeof *panel.numbers));
	pxt_say_to(hear);
	run(&panel, stop);
	pxt_screen_end();
	free(panel.numbers);
	return PXT_EXIT_OK;
}

/* ---- Tables one after another, for scripts ---- */

#define BATCH_WAIT_MS 50

static void put_line(void *context, enum pxt_view_style style, const char *text, size_t bytes)
{
	struct pxt_out *out = context;

	(void)style;
	pxt_out_bytes(out, text, bytes);
	pxt_out_char(out, '\n');
}

static void put_title(const struct pxt_view *view, const struct pxt_numbers *numbers)
{
	char now[64] = "";
	char text[160];
	time_t seconds = time(NULL);
	struct tm tm;
	uint32_t streams = numbers->tables[PXT_NUMBERS_STREAMS].count;

	if (localtime_r(&seconds, &tm))
		(void)strftime(now, sizeof now, "%Y-%m-%dT%H:%M:%S", &tm);
	(void)snprintf(text, sizeof text, "%s  %lu stream%s, the last %.1f s", now,
	    (unsigned long)streams, streams == 1 ? "" : "s", numbers->seconds);
	pxt_view_text(view, PXT_VIEW_HEAD, text);
}

static void put_tables(struct pxt_out *out, struct pxt_live *live, struct pxt_numbers *numbers,
    const struct pxt_panel_options *options)
{
	const struct pxt_view view = { .width = pxt_width(out->fd),
		.rows = options->rows > 0 ? options->rows : PXT_PANEL_ROWS,
		.chosen = PXT_VIEW_NOBODY,
		.line = put_line,
		.context = out };

	pxt_live_numbers(live, numbers);
	pxt_numbers_sort(numbers, options->column);
	put_title(&view, numbers);
	pxt_view_put(&view, numbers);
}

/* Takes what comes until @until_ns; false: it is to end before. */
static bool pass_time(struct pxt_live *live, int64_t until_ns, const volatile sig_atomic_t *stop)
{
	for (int64_t now = pxt_when_monotonic(); now < until_ns; now = pxt_when_monotonic()) {
		int64_t left = (until_ns - now) / 1000000 + 1;

		if (pxt_live_step(live, now))
			left = 0;
		if (*stop)
			return false;
		if (left > 0)
			(void)poll(NULL, 0, left < BATCH_WAIT_MS ? (int)left : BATCH_WAIT_MS);
	}
	(void)pxt_live_step(live, until_ns);
	return !*stop;
}

int pxt_panel_batch(struct pxt_live *live, const struct pxt_panel_options *options,
    const volatile sig_atomic_t *stop)
{
	static struct pxt_out out;
	struct pxt_numbers *numbers = pxt_must(calloc(1, sizeof *numbers));
	int64_t next = pxt_when_monotonic() + options->interval_ns;
	bool over = false;

	out.fd = STDOUT_FILENO;
	for (uint64_t turn = 0; !over && (options->times == 0 || turn < options->times); turn++) {
		if (!pass_time(live, next, stop))
			break;
		next += options->interval_ns;
		over = pxt_live_over(live) || out.error != 0;
		if (turn > 0)
			pxt_out_char(&out, '\n');
		put_tables(&out, live, numbers, options);
		pxt_out_flush(&out);
	}
	free(numbers);
	return pxt_finish(&out);
}
