/* SPDX-License-Identifier: MIT */
/* text.c - the tables of stat for people. */
#include "tools/describe/describe.h"
#include "tools/output/out.h"
#include "tools/stat/stat.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NUMBERS 8 /* of a row of durations */

/* What follows the label, in full and where the terminal is too narrow for that. */
#define TALLY_COLUMNS        46u
#define TALLY_COLUMNS_NARROW 20u
#define PAIR_COLUMNS         93u
#define PAIR_COLUMNS_NARROW  45u
#define LABEL_LEAST          12u

/* A label's column, @wanted wide if it may; true: the table is to be a narrow one. */
static bool is_narrow(const struct pxt_stat *s, size_t *column, size_t full, size_t narrow)
{
	size_t width = pxt_width(s->out.fd);

	if (width == 0 || *column + full <= width)
		return false;
	if (*column + narrow > width)
		*column = width > narrow + LABEL_LEAST ? width - narrow : LABEL_LEAST;
	return true;
}

/* One that is too long has a line of its own. */
static void put_label(struct pxt_out *out, const char *label, size_t width, size_t column)
{
	pxt_out_column(out, label, strlen(label), width, column);
	if (width > column) {
		pxt_out_char(out, '\n');
		pxt_out_column(out, "", 0, 0, column);
	}
}

/* ---- Events and threads ---- */

static void put_tallies(
    struct pxt_stat *s, const char *title, struct pxt_tally *tallies, size_t length)
{
	size_t used = pxt_stat_sort(tallies, length);
	double seconds = pxt_stat_seconds(s);
	struct pxt_out *out = &s->out;
	size_t column = 24;
	bool narrow;

	for (size_t i = 0; i < used; i++)
		if (tallies[i].width > column && tallies[i].width <= 40)
			column = tallies[i].width;
	narrow = is_narrow(s, &column, TALLY_COLUMNS, TALLY_COLUMNS_NARROW);
	pxt_out_char(out, '\n');
	pxt_out_colour(out, PXT_COLOUR_EVENT);
	pxt_out_column(out, title, strlen(title), strlen(title), column);
	pxt_out_text(out,
	    narrow ? "       COUNT   SHARE\n" : "       COUNT   SHARE        PER S   DATA BYTES\n");
	pxt_out_colour(out, PXT_COLOUR_OFF);
	for (size_t i = 0; i < used; i++) {
		const struct pxt_tally *tally = &tallies[i];

		if (narrow)
			put_label(out, tally->label, tally->width, column);
		else
			pxt_out_column(
			    out, tally->label, strlen(tally->label), tally->width, column);
		pxt_out_right(out, tally->count, 12);
		pxt_out_format(out, "  %5.1f%%", 100.0 * (double)tally->count / (double)s->events);
		if (narrow) {
			pxt_out_char(out, '\n');
			continue;
		}
		if (seconds > 0)
			pxt_out_format(out, " %12.1f", (double)tally->count / seconds);
		else
			pxt_out_text(out, "            -");
		pxt_out_right(out, tally->bytes, 13);
		pxt_out_char(out, '\n');
	}
}

/* ---- Pairs ---- */

static void put_duration(struct pxt_stat *s, uint64_t ns, bool exact)
{
	char text[24];

	pxt_stat_duration(s, text, ns);
	pxt_out_format(&s->out, " %s%*s", exact ? "" : "~", exact ? 11 : 10, text);
}

static void put_unmatched(struct pxt_out *out, const struct pxt_row *row, bool by_clock)
{
	if (row->open + row->unopened + row->cut == 0)
		return;
	pxt_out_colour(out, PXT_COLOUR_LOSS);
	pxt_out_text(out, "  unmatched:");
	if (row->open > 0)
		pxt_out_format(out, " %llu begun", (unsigned long long)row->open);
	if (row->unopened > 0)
		pxt_out_format(out, " %llu ended", (unsigned long long)row->unopened);
	if (row->cut > 0)
		pxt_out_format(out, " %llu cut by a loss%s", (unsigned long long)row->cut,
		    by_clock ? " or the clock" : "");
	pxt_out_colour(out, PXT_COLOUR_OFF);
}

static void put_row(struct pxt_stat *s, struct pxt_row *row, bool narrow)
{
	struct pxt_series *series = &row->series;
	struct pxt_out *out = &s->out;
	bool exact;

	pxt_out_right(out, series->count, 9);
	for (unsigned i = 0; series->count == 0 && i < (narrow ? 3u : NUMBERS - 1u); i++)
		pxt_out_text(out, "           -");
	if (series->count > 0) {
		uint64_t median = pxt_series_quantile(series, 500, &exact);
		uint64_t p99 = pxt_series_quantile(series, 990, &exact);
		uint64_t p999 = pxt_series_quantile(series, 999, &exact);

		if (!narrow)
			put_duration(s, series->least, true);
		put_duration(s, median, exact);
		if (!narrow) {
			put_duration(s, (uint64_t)(series->mean + 0.5), true);
			put_duration(s, (uint64_t)(pxt_series_deviation(series) + 0.5), true);
		}
		put_duration(s, p99, exact);
		if (!narrow)
			put_duration(s, p999, exact);
		put_duration(s, series->most, true);
	}
	put_unmatched(out, row, s->pairs->by_clock);
	pxt_out_char(out, '\n');
}

/* The pair, and the thread or field that the row is for. */
static void full_label(
    const struct pxt_stat *s, const struct pxt_row *row, char *label, size_t room)
{
	size_t used = pxt_stat_pair_label(s, row, label, room);

	if (*row->label && used + 2 < room)
		(void)snprintf(label + used, room - used, "  %s", row->label);
}

static void put_pairs(struct pxt_stat *s)
{
	struct pxt_out *out = &s->out;
	uint32_t count;
	struct pxt_row **rows = pxt_pairs_rows(s->pairs, &count);
	char label[720];
	size_t column = 24;
	bool narrow;

	for (uint32_t i = 0; i < count; i++) {
		full_label(s, rows[i], label, sizeof label);
		if (strlen(label) > column)
			column = strlen(label) <= 60 ? strlen(label) : 60;
	}
	narrow = is_narrow(s, &column, PAIR_COLUMNS, PAIR_COLUMNS_NARROW);
	if (count > 0) {
		pxt_out_char(out, '\n');
		pxt_out_colour(out, PXT_COLOUR_EVENT);
		pxt_out_column(out, "PAIR", 4, 4, column);
		pxt_out_text(out, narrow
		                      ? "    COUNT      MEDIAN         P99         MAX"
		                      : "    COUNT         MIN      MEDIAN        MEAN      STDDEV"
		                        "         P99       P99.9         MAX");
		pxt_out_text(out, s->plain_ns ? "  (ns)\n" : "\n");
		pxt_out_colour(out, PXT_COLOUR_OFF);
	}
	for (uint32_t i = 0; i < count; i++) {
		full_label(s, rows[i], label, sizeof label);
		if (narrow)
			put_label(out, label, strlen(label), column);
		else
			pxt_out_column(out, label, strlen(label), strlen(label), column);
		put_row(s, rows[i], narrow);
	}
	for (uint32_t i = 0; s->histogram && i < count; i++)
		pxt_stat_put_histogram(s, rows[i]);
	free(rows);
}

static void put_silence(struct pxt_stat *s)
{
	const struct pxt_silence *silence = &s->silence;
	struct pxt_out *out = &s->out;
	char text[24];

	if (!silence->label)
		return;
	pxt_stat_duration(s, text, silence->ns);
	pxt_out_format(out, "  silence   at most %s, from ", text);
	pxt_out_seconds_plain(out, silence->from - s->reader->start_ns);
	pxt_out_format(out, " on, behind %s", silence->label);
	if (silence->lost > 0) {
		pxt_out_colour(out, PXT_COLOUR_LOSS);
		pxt_out_format(out, "; %llu EVENTS LOST in it", (unsigned long long)silence->lost);
		pxt_out_colour(out, PXT_COLOUR_OFF);
	}
	pxt_out_char(out, '\n');
}

static void put_taken(struct pxt_stat *s)
{
	struct pxt_out *out = &s->out;

	for (unsigned i = 0; i < PXT_LOCKCOUNTS_KINDS && *s->taken.kinds[i].name; i++) {
		pxt_out_text(out, i == 0 ? "  locks     taken, as the program counted: " : ", ");
		pxt_out_format(out, "%s %llu times", s->taken.kinds[i].name,
		    (unsigned long long)s->taken.kinds[i].times);
	}
	if (*s->taken.kinds[0].name)
		pxt_out_char(out, '\n');
}

void pxt_stat_put_tables(struct pxt_stat *s)
{
	pxt_describe(&s->out, s->reader->sources[0]);
	put_silence(s);
	put_taken(s);
	if (s->events > 0) {
		put_tallies(s, "EVENT", s->types, PXT_TYPES_MAX + 1);
		put_tallies(s, "THREAD", s->threads, PXT_THREADS_MAX + 1);
	} else {
		pxt_out_text(&s->out, "\n(no events)\n");
	}
	put_pairs(s);
}
