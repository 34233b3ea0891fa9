/* SPDX-License-Identifier: MIT */
/*
 * rows.c - what stat says to programs: one table of fixed columns for everything, as CSV (RFC
 * 4180) or as JSON, an object a line.
 *
 * Text comes from the log, where it was escaped as for a terminal.  What a spreadsheet would take for a
 * formula: output/out.c.
 */
#include "tools/stat/stat.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

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
	const char *between = "{\"";

	for (unsigned i = 0; i < PXT_COLUMNS; i++) {
		if (record->cells[i].kind == PXT_CELL_EMPTY)
			continue;
		pxt_out_text(out, between);
		pxt_out_text(out, names[i]);
		pxt_out_text(out, "\":");
		put_cell(out, &record->cells[i], true);
		between = ",\"";
	}
	pxt_out_text(out, "}\n");
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
		pxt_stat_histogram(series, put_part, &(struct part){ s, label, row->label });
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
