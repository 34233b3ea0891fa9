/* SPDX-License-Identifier: MIT */
/* batch.c - tables one after another, for scripts; see view.h. */
#include "tools/output/out.h"
#include "tools/output/progress.h"
#include "tools/output/say.h"
#include "tools/output/when.h"
#include "tools/top/view.h"

#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define WAIT_MS 50

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
			(void)poll(NULL, 0, left < WAIT_MS ? (int)left : WAIT_MS);
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
