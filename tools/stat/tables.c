/* SPDX-License-Identifier: MIT */
/*
 * tables.c - tables: order, labels and durations, which all forms have in common; the form for programs, as
 * CSV (RFC 4180) or JSON.
 */
#include "tools/output/out.h"
#include "tools/stat/stat.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int by_count(const void *a, const void *b)
{
	const struct pxt_tally *x = a;
	const struct pxt_tally *y = b;

	if (x->count != y->count)
		return x->count > y->count ? -1 : 1;
	return strcmp(x->label, y->label);
}

size_t pxt_stat_sort(struct pxt_tally *tallies, size_t length)
{
	size_t used = 0;

	/* The labels point into the source: moving the tallies spoils nothing of it. */
	for (size_t i = 0; i < length; i++)
		if (tallies[i].count > 0)
			tallies[used++] = tallies[i];
	qsort(tallies, used, sizeof *tallies, by_count);
	return used;
}

size_t pxt_stat_pair_label(
    const struct pxt_stat *s, const struct pxt_row *row, char *label, size_t room)
{
	const struct pxt_pair *pair = &s->pairs->pairs[row->pair];
	const char *begin = pair->begin ? pair->begin->label : NULL;
	const char *end = pair->end ? pair->end->label : NULL;

	if (pair->system) {
		(void)snprintf(label, room, "%s", pair->base);
		return strlen(label);
	}
	if (pair->is_explicit) {
		begin = begin ? begin : s->options.pairs[row->pair].begin;
		end = end ? end : s->options.pairs[row->pair].end;
	}
	(void)snprintf(label, room, "%s .. %s", begin, end);
	return strlen(label);
}

void pxt_stat_duration(const struct pxt_stat *s, char *text, uint64_t ns)
{
	if (s->plain_ns)
		(void)snprintf(text, 24, "%llu", (unsigned long long)ns);
	else
		pxt_duration(text, ns);
}

/* ---- Which thread had most events in each slice of time ---- */

struct pxt_busiest {
	uint32_t count; /* of those that had events */
	uint32_t index[PXT_THREADS_MAX];
	uint64_t events[PXT_THREADS_MAX];
	const struct pxt_thread *thread[PXT_THREADS_MAX];
};

struct pxt_busiest *pxt_busiest_new(void)
{
	return pxt_must(calloc(1, sizeof(struct pxt_busiest)));
}

void pxt_busiest_free(struct pxt_busiest *busiest)
{
	free(busiest);
}

void pxt_busiest_take(struct pxt_busiest *busiest, const struct pxt_thread *thread)
{
	uint32_t index = thread->index;

	if (index == PXT_INDEX_NONE || (!thread->recorded && thread->tid <= 0))
		return;
	if (busiest->events[index]++ == 0) {
		busiest->index[busiest->count++] = index;
		busiest->thread[index] = thread;
	}
}

const struct pxt_thread *pxt_busiest_next(struct pxt_busiest *busiest, uint64_t *events)
{
	const struct pxt_thread *most = NULL;

	*events = 0;
	for (uint32_t i = 0; i < busiest->count; i++) {
		uint32_t index = busiest->index[i];
		const struct pxt_thread *thread = busiest->thread[index];

		if (busiest->events[index] > *events ||
		    (busiest->events[index] == *events && strcmp(thread->label, most->label) < 0)) {
			*events = busiest->events[index];
			most = thread;
		}
		busiest->events[index] = 0;
	}
	busiest->count = 0;
	return most;
}

/* ---- Durations by their size, as bars of text or rows ---- */

#define FINE_POWERS 5u /* up to so many powers of two are cut into four parts each */
#define BAR         40u
#define BAR_LEAST   4u
#define BEFORE_BAR  50u /* columns of a line */

static unsigned power_of(uint64_t value)
{
	return value ? 63u - (unsigned)__builtin_clzll(value) : 0;
}

/* Calls @put for each part of a histogram, from the smallest values on. */
static void each_part(struct pxt_series *series,
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
	each_part(&row->series, find_most, &bars);
	each_part(&row->series, put_bar, &bars);
}

/* ---- What stat says to programs ---- */

/*
 * One table of fixed columns for everything, as CSV (RFC 4180) or as JSON, an object a line.
 *
 * Text comes from the log, where it was escaped as for a terminal.  What a spreadsheet would take for a
 * formula: output/out.c.
 */

static const char *const names[PXT_COLUMNS] = {
	[PXT_COL_TABLE] = "table",
	[PXT_COL_LOG] = "log",
	[PXT_COL_NAME] = "name",
	[PXT_COL_GROUP] = "group",
	[PXT_COL_COUNT] = "count",
	[PXT_COL_BYTES] = "bytes",
	[PXT_COL_PER_S] = "per_s",
	[PXT_COL_LOST] = "lost",
	[PXT_COL_START] = "start_ns",
	[PXT_COL_END] = "end_ns",
	[PXT_COL_MIN] = "min_ns",
	[PXT_COL_MEDIAN] = "median_ns",
	[PXT_COL_MEAN] = "mean_ns",
	[PXT_COL_STDDEV] = "stddev_ns",
	[PXT_COL_P99] = "p99_ns",
	[PXT_COL_P999] = "p999_ns",
	[PXT_COL_MAX] = "max_ns",
	[PXT_COL_EXACT] = "exact",
	[PXT_COL_BEGUN] = "begun",
	[PXT_COL_ENDED] = "ended",
	[PXT_COL_CUT] = "cut",
	[PXT_COL_LOAD] = "load",
};

/* ---- A record ---- */

void pxt_record_begin(const struct pxt_stat *s, struct pxt_record *record, const char *table)
{
	memset(record, 0, sizeof *record);
	pxt_record_text(record, PXT_COL_TABLE, table);
	pxt_record_text(record, PXT_COL_LOG, s->reader->sources[0]->path);
}

void pxt_record_text(struct pxt_record *record, enum pxt_column column, const char *text)
{
	record->cells[column] = (struct pxt_cell){ .kind = PXT_CELL_TEXT, .text = text };
}

void pxt_record_number(struct pxt_record *record, enum pxt_column column, uint64_t number)
{
	record->cells[column] = (struct pxt_cell){ .kind = PXT_CELL_NUMBER, .number = number };
}

void pxt_record_time(struct pxt_record *record, enum pxt_column column, int64_t ns)
{
	record->cells[column] = (struct pxt_cell){ .kind = PXT_CELL_TIME, .time = ns };
}

void pxt_record_real(struct pxt_record *record, enum pxt_column column, double real)
{
	record->cells[column] = (struct pxt_cell){ .kind = PXT_CELL_REAL, .real = real };
}

static void put_truth(struct pxt_record *record, enum pxt_column column, bool truth)
{
	record->cells[column] = (struct pxt_cell){ .kind = PXT_CELL_TRUTH, .number = truth };
}

/* ---- To the output ---- */

static void put_cell(struct pxt_out *out, const struct pxt_cell *cell, bool json)
{
	if (cell->kind == PXT_CELL_NUMBER)
		pxt_out_unsigned(out, cell->number);
	else if (cell->kind == PXT_CELL_TIME)
		pxt_out_signed(out, cell->time);
	else if (cell->kind == PXT_CELL_REAL)
		pxt_out_format(out, "%.6g", isfinite(cell->real) ? cell->real : 0);
	else if (cell->kind == PXT_CELL_TRUTH)
		pxt_out_text(out, cell->number ? "true" : "false");
	else if (json)
		pxt_out_json(out, cell->text, strlen(cell->text));
	else
		pxt_csvtext_put(out, cell->text, strlen(cell->text));
}

static void put_json(struct pxt_out *out, const struct pxt_record *record)
{
	pxt_json_begin(out);
	for (unsigned i = 0; i < PXT_COLUMNS; i++) {
		if (record->cells[i].kind == PXT_CELL_EMPTY)
			continue;
		pxt_json_name(out, names[i]);
		put_cell(out, &record->cells[i], true);
	}
	pxt_json_end(out);
}

void pxt_record_put(struct pxt_stat *s, const struct pxt_record *record)
{
	struct pxt_out *out = &s->out;

	if (s->form == PXT_STAT_JSON) {
		put_json(out, record);
		return;
	}
	for (unsigned i = 0; i < PXT_COLUMNS; i++) {
		if (i > 0)
			pxt_out_char(out, ',');
		if (record->cells[i].kind != PXT_CELL_EMPTY)
			put_cell(out, &record->cells[i], false);
	}
	pxt_out_text(out, "\r\n");
}

void pxt_stat_put_head(struct pxt_stat *s)
{
	if (s->form != PXT_STAT_CSV)
		return;
	for (unsigned i = 0; i < PXT_COLUMNS; i++) {
		if (i > 0)
			pxt_out_char(&s->out, ',');
		pxt_out_text(&s->out, names[i]);
	}
	pxt_out_text(&s->out, "\r\n");
}

/* ---- The tables ---- */

static void put_log(struct pxt_stat *s)
{
	const struct pxt_source *source = s->reader->sources[0];
	struct pxt_record record;
	uint64_t lost = source->info.posix_lost_np;

	pxt_record_begin(s, &record, "log");
	pxt_record_number(&record, PXT_COL_COUNT, s->events);
	pxt_record_number(&record, PXT_COL_BYTES, s->bytes);
	pxt_record_number(&record, PXT_COL_LOST, lost > source->lost ? lost : source->lost);
	if (s->events > 0) {
		pxt_record_time(&record, PXT_COL_START, s->first_ns);
		pxt_record_time(&record, PXT_COL_END, s->last_ns);
	}
	if (s->last_ns > s->first_ns)
		pxt_record_real(&record, PXT_COL_PER_S, (double)s->events / pxt_stat_seconds(s));
	pxt_record_put(s, &record);
}

static void put_silence(struct pxt_stat *s)
{
	const struct pxt_silence *silence = &s->silence;
	struct pxt_record record;

	if (!silence->label)
		return;
	pxt_record_begin(s, &record, "silence");
	pxt_record_text(&record, PXT_COL_NAME, silence->label);
	pxt_record_number(&record, PXT_COL_LOST, silence->lost);
	pxt_record_time(&record, PXT_COL_START, silence->from);
	pxt_record_time(&record, PXT_COL_END, silence->to);
	pxt_record_number(&record, PXT_COL_MAX, silence->ns);
	pxt_record_put(s, &record);
}

static void put_tallies(
    struct pxt_stat *s, const char *table, struct pxt_tally *tallies, size_t length)
{
	size_t used = pxt_stat_sort(tallies, length);

	for (size_t i = 0; i < used; i++) {
		struct pxt_record record;

		pxt_record_begin(s, &record, table);
		pxt_record_text(&record, PXT_COL_NAME, tallies[i].label);
		pxt_record_number(&record, PXT_COL_COUNT, tallies[i].count);
		pxt_record_number(&record, PXT_COL_BYTES, tallies[i].bytes);
		if (s->last_ns > s->first_ns)
			pxt_record_real(
			    &record, PXT_COL_PER_S, (double)tallies[i].count / pxt_stat_seconds(s));
		pxt_record_put(s, &record);
	}
}

static void put_taken(struct pxt_stat *s)
{
	for (unsigned i = 0; i < PXT_LOCKCOUNTS_KINDS && *s->taken.kinds[i].name; i++) {
		struct pxt_record record;

		pxt_record_begin(s, &record, "taken");
		pxt_record_text(&record, PXT_COL_NAME, s->taken.kinds[i].name);
		pxt_record_number(&record, PXT_COL_COUNT, s->taken.kinds[i].times);
		pxt_record_put(s, &record);
	}
}

struct part {
	struct pxt_stat *s;
	const char *name;
	const char *group;
};

static void put_part(void *context, uint64_t low, uint64_t high, uint64_t count)
{
	const struct part *part = context;
	struct pxt_record record;

	pxt_record_begin(part->s, &record, "histogram");
	pxt_record_text(&record, PXT_COL_NAME, part->name);
	pxt_record_text(&record, PXT_COL_GROUP, part->group);
	pxt_record_number(&record, PXT_COL_COUNT, count);
	pxt_record_number(&record, PXT_COL_MIN, low);
	pxt_record_number(&record, PXT_COL_MAX, high - 1);
	pxt_record_put(part->s, &record);
}

static void put_row(struct pxt_stat *s, struct pxt_row *row)
{
	struct pxt_series *series = &row->series;
	struct pxt_record record;
	char label[720];
	bool exact;

	(void)pxt_stat_pair_label(s, row, label, sizeof label);
	pxt_record_begin(s, &record, "pair");
	pxt_record_text(&record, PXT_COL_NAME, label);
	pxt_record_text(&record, PXT_COL_GROUP, row->label);
	pxt_record_number(&record, PXT_COL_COUNT, series->count);
	if (series->count > 0) {
		pxt_record_number(&record, PXT_COL_MIN, series->least);
		pxt_record_number(
		    &record, PXT_COL_MEDIAN, pxt_series_quantile(series, 500, &exact));
		pxt_record_number(&record, PXT_COL_MEAN, (uint64_t)(series->mean + 0.5));
		pxt_record_real(&record, PXT_COL_STDDEV, pxt_series_deviation(series));
		pxt_record_number(&record, PXT_COL_P99, pxt_series_quantile(series, 990, &exact));
		pxt_record_number(&record, PXT_COL_P999, pxt_series_quantile(series, 999, &exact));
		pxt_record_number(&record, PXT_COL_MAX, series->most);
		put_truth(&record, PXT_COL_EXACT, exact);
	}
	pxt_record_number(&record, PXT_COL_BEGUN, row->open);
	pxt_record_number(&record, PXT_COL_ENDED, row->unopened);
	pxt_record_number(&record, PXT_COL_CUT, row->cut);
	pxt_record_put(s, &record);
	if (s->histogram)
		each_part(series, put_part, &(struct part){ s, label, row->label });
}

void pxt_stat_put_records(struct pxt_stat *s)
{
	uint32_t count;
	struct pxt_row **rows = pxt_pairs_rows(s->pairs, &count);

	put_log(s);
	put_silence(s);
	put_taken(s);
	put_tallies(s, "event", s->types, PXT_TYPES_MAX + 1);
	put_tallies(s, "thread", s->threads, PXT_THREADS_MAX + 1);
	for (uint32_t i = 0; i < count; i++)
		put_row(s, rows[i]);
	free(rows);
}
