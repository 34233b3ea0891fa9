/* SPDX-License-Identifier: MIT */
/* histogram.c - durations by their size, as bars of text or rows. */
#include "tools/output/width.h"
#include "tools/stat/stat.h"

#include <stdio.h>
#include <string.h>

#define FINE_POWERS 5u /* up to so many powers of two are cut into four parts each */
#define BAR         40u
#define BAR_LEAST   4u
#define BEFORE_BAR  50u /* columns of a line */

static unsigned power_of(uint64_t value)
{
	return value ? 63u - (unsigned)__builtin_clzll(value) : 0;
}

void pxt_stat_histogram(struct pxt_series *series,
    void (*put)(void *context, uint64_t low, uint64_t high, uint64_t count), void *context)
{
	if (series->count == 0)
		return;
	unsigned first = power_of(series->least);
	unsigned last = power_of(series->most);
	/* Small values have no quarters. */
	unsigned parts = last - first < FINE_POWERS && first >= 2 ? 4 : 1;

	for (unsigned power = first; power <= last; power++) {
		uint64_t width = (UINT64_C(1) << power) / parts;

		for (unsigned part = 0; part < parts; part++) {
			uint64_t low = (UINT64_C(1) << power) + part * width;
			uint64_t high = low + width;

			/* 0 goes with 1, and the end of the range belongs to its last part. */
			low = power == 0 ? 0 : low;
			high = high == 0 ? UINT64_MAX : high;
			if (high > series->least && low <= series->most)
				put(context, low, high, pxt_series_between(series, low, high));
		}
	}
}

struct bars {
	struct pxt_stat *s;
	unsigned bar; /* columns of the longest */
	uint64_t all;
	uint64_t most;
};

static void find_most(void *context, uint64_t low, uint64_t high, uint64_t count)
{
	struct bars *bars = context;

	(void)low;
	(void)high;
	bars->most = count > bars->most ? count : bars->most;
}

static void put_bar(void *context, uint64_t low, uint64_t high, uint64_t count)
{
	const struct bars *bars = context;
	struct pxt_out *out = &bars->s->out;
	uint64_t length = (uint64_t)((double)count * bars->bar / (double)bars->most + 0.5);
	char from[24];
	char to[24];

	pxt_stat_duration(bars->s, from, low);
	pxt_stat_duration(bars->s, to, high);
	pxt_out_format(out, "  %11s .. %11s", from, to);
	pxt_out_right(out, count, 12);
	pxt_out_format(out, "  %5.1f%%", 100.0 * (double)count / (double)bars->all);
	if (count > 0)
		pxt_out_text(out, "  ");
	/* Whatever is there is seen. */
	for (uint64_t i = 0; i < length || (i == 0 && count > 0); i++)
		pxt_out_char(out, '#');
	pxt_out_char(out, '\n');
}

/* What a narrow terminal leaves. */
static unsigned bar_of(const struct pxt_out *out)
{
	size_t width = pxt_width(out->fd);

	if (width == 0 || width >= BEFORE_BAR + BAR)
		return BAR;
	return width > BEFORE_BAR + BAR_LEAST ? (unsigned)width - BEFORE_BAR : BAR_LEAST;
}

void pxt_stat_put_histogram(struct pxt_stat *s, struct pxt_row *row)
{
	struct bars bars = { .s = s, .bar = bar_of(&s->out), .all = row->series.count };
	struct pxt_out *out = &s->out;
	char label[720];

	if (row->series.count == 0)
		return;
	(void)pxt_stat_pair_label(s, row, label, sizeof label);
	pxt_out_char(out, '\n');
	pxt_out_colour(out, PXT_COLOUR_EVENT);
	pxt_out_text(out, label);
	if (*row->label)
		pxt_out_format(out, "  %s", row->label);
	pxt_out_colour(out, PXT_COLOUR_OFF);
	pxt_out_char(out, '\n');
	pxt_stat_histogram(&row->series, find_most, &bars);
	pxt_stat_histogram(&row->series, put_bar, &bars);
}
