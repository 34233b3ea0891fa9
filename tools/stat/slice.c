/* SPDX-License-Identifier: MIT */
/*
 * slice.c - load per slice of time: events, losses, whose thread had most of them, and for each
 * kind of span how many ended, how long they were, and how many were open on average.
 *
 * The log is read once more; a slice is said as soon as an event lies after it.  Slices in a row in
 * which nothing happened are said as one. (ZEP-45)
 */
#include "format/mul64.h"
#include "tools/output/out.h"
#include "tools/stat/stat.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TEXT_ROWS      6u /* columns of load for people */
#define BAR            20u
#define WHO            20u /* column of the thread */
/* What a line has beside loads and bar: all, and where the terminal is too narrow for that. */
#define ALL_COLUMNS    (74u + BAR)
#define NARROW_COLUMNS 38u
#define LOAD_COLUMNS   9u

/* Spans of one kind in the slice at hand. */
struct part {
	uint32_t pair;
	uint64_t group;
	char label[720];
	const char *row_label;
	struct pxt_row *row; /* of this reading; NULL until there is one */
	double area;         /* of the row, up to the slice's beginning */
	uint64_t count;
	uint64_t least;
	uint64_t most;
	double mean;
	double squares;
};

struct slices {
	struct pxt_stat *s;
	struct pxt_pairs *pairs; /* of this reading */
	struct pxt_busiest *busiest;
	bool begun;
	int64_t slice; /* its number */
	uint64_t events;
	uint64_t bytes;
	uint64_t lost;
	unsigned count;
	struct part *parts;
	bool narrow; /* the terminal is: no rate, which is that of the events, and no thread */
	size_t bar;  /* columns of the longest */
};

static int64_t since_start(const struct pxt_stat *s, int64_t ns)
{
	int64_t since;

	return __builtin_sub_overflow(ns, s->reader->start_ns, &since)
	           ? (ns < 0 ? INT64_MIN : INT64_MAX)
	           : since;
}

int64_t pxt_slice_of(const struct pxt_stat *s, int64_t ns)
{
	int64_t since = ns - s->slice_zero;

	return since / s->slice_ns - (since % s->slice_ns < 0);
}

/* A hostile log's last slices end where time does. */
static int64_t begin_of(const struct slices *slices, int64_t slice)
{
	int64_t since;
	int64_t ns;

	if (__builtin_mul_overflow(slice, slices->s->slice_ns, &since) ||
	    __builtin_add_overflow(since, slices->s->slice_zero, &ns))
		return slice < 0 ? INT64_MIN : INT64_MAX;
	return ns;
}

static double seconds_between(int64_t from, int64_t to)
{
	/* As a whole number: a double does not tell nanoseconds since 1970 apart. */
	uint64_t ns = to > from ? (uint64_t)to - (uint64_t)from : 1;

	return (double)ns / 1e9;
}

/* ---- Which spans ---- */

static double all_of(const struct pxt_row *row)
{
	return row->series.mean * (double)row->series.count;
}

static int longest_first(const void *a, const void *b)
{
	const struct pxt_row *x = *(struct pxt_row *const *)a;
	const struct pxt_row *y = *(struct pxt_row *const *)b;

	return (all_of(x) < all_of(y)) - (all_of(x) > all_of(y));
}

/* Those with most time in them. */
static void choose(struct slices *slices)
{
	struct pxt_stat *s = slices->s;
	unsigned most = s->form == PXT_STAT_TEXT ? TEXT_ROWS : PXT_SLICE_ROWS;
	uint32_t count;
	struct pxt_row **rows = pxt_pairs_rows(s->pairs, &count);

	qsort(rows, count, sizeof(struct pxt_row *), longest_first);
	slices->count = count < most ? count : most;
	slices->parts = pxt_must(calloc(slices->count + 1u, sizeof *slices->parts));
	for (unsigned i = 0; i < slices->count; i++) {
		struct part *part = &slices->parts[i];
		size_t used = pxt_stat_pair_label(s, rows[i], part->label, sizeof part->label);

		part->pair = rows[i]->pair;
		part->group = rows[i]->group;
		part->row_label = rows[i]->label;
		if (s->form == PXT_STAT_TEXT && *rows[i]->label)
			(void)snprintf(
			    part->label + used, sizeof part->label - used, "  %s", rows[i]->label);
	}
	if (s->form == PXT_STAT_TEXT && count > slices->count)
		pxt_out_format(&s->out, "  (of %lu kinds of spans those that took most time)\n",
		    (unsigned long)count);
	free(rows);
}

static void take_span(void *context, uint32_t pair, uint64_t mark, int64_t begin_ns)
{
	struct slices *slices = context;
	const struct pxt_row *row = slices->pairs->row;
	int64_t ns = slices->pairs->now_ns;
	uint64_t length = ns > begin_ns ? (uint64_t)(ns - begin_ns) : 0;

	(void)mark;
	for (unsigned i = 0; i < slices->count; i++) {
		struct part *part = &slices->parts[i];
		double distance;

		if (part->pair != pair || part->group != row->group)
			continue;
		distance = (double)length - part->mean;
		part->least = part->count == 0 || length < part->least ? length : part->least;
		part->most = length > part->most ? length : part->most;
		part->count++;
		part->mean += distance / (double)part->count;
		part->squares += distance * ((double)length - part->mean);
		return;
	}
}

/* ---- Saying a slice ---- */

static struct pxt_row *find_row(const struct slices *slices, struct part *part)
{
	if (!part->row)
		part->row = pxt_pairs_find(slices->pairs, part->pair, part->group);
	return part->row;
}

/* Open spans on average from @from to @to; the next slice begins at @to. */
static double load_of(struct slices *slices, struct part *part, int64_t from, int64_t to)
{
	double area;
	double load;

	if (!find_row(slices, part))
		return 0;
	area = pxt_row_area(part->row, to);
	load = (area - part->area) / seconds_between(from, to) / 1e9;
	part->area = area;
	return load < 0 ? 0 : load;
}

static void put_busiest_text(struct slices *slices, const struct pxt_thread *thread)
{
	struct pxt_out *out = &slices->s->out;

	pxt_out_text(out, "  ");
	if (thread)
		pxt_out_column(out, thread->label, strlen(thread->label), thread->width, WHO);
	else
		pxt_out_column(out, "-", 1, 1, WHO);
}

static void put_text(struct slices *slices, int64_t from, int64_t to, uint64_t count)
{
	struct pxt_stat *s = slices->s;
	struct pxt_out *out = &s->out;
	uint64_t bar =
	    (uint64_t)((double)slices->events * (double)slices->bar / (double)s->fullest + 0.5);
	uint64_t most;
	const struct pxt_thread *busiest = pxt_busiest_next(slices->busiest, &most);

	pxt_out_seconds(out, since_start(s, from));
	pxt_out_right(out, slices->events, 12);
	if (!slices->narrow)
		pxt_out_format(out, " %13.1f", (double)slices->events / seconds_between(from, to));
	pxt_out_right(out, slices->lost, 9);
	for (unsigned i = 0; i < slices->count; i++)
		pxt_out_format(out, " %8.3f", load_of(slices, &slices->parts[i], from, to));
	if (!slices->narrow)
		put_busiest_text(slices, busiest);
	if (count > 1)
		pxt_out_format(out, "  (%llu slices)", (unsigned long long)count);
	else if (bar > 0)
		pxt_out_text(out, "  ");
	for (uint64_t i = 0; i < bar; i++)
		pxt_out_char(out, '#');
	pxt_out_char(out, '\n');
}

static void put_part(struct slices *slices, struct part *part, int64_t from, int64_t to)
{
	struct pxt_stat *s = slices->s;
	struct pxt_record record;

	pxt_record_begin(s, &record, "slice_pair");
	pxt_record_text(&record, PXT_COL_NAME, part->label);
	pxt_record_text(&record, PXT_COL_GROUP, part->row_label);
	pxt_record_number(&record, PXT_COL_COUNT, part->count);
	pxt_record_time(&record, PXT_COL_START, from);
	pxt_record_time(&record, PXT_COL_END, to);
	if (part->count > 0) {
		pxt_record_number(&record, PXT_COL_MIN, part->least);
		pxt_record_number(&record, PXT_COL_MEAN, (uint64_t)(part->mean + 0.5));
		pxt_record_real(&record, PXT_COL_STDDEV, sqrt(part->squares / (double)part->count));
		pxt_record_number(&record, PXT_COL_MAX, part->most);
	}
	pxt_record_real(&record, PXT_COL_LOAD, load_of(slices, part, from, to));
	pxt_record_put(s, &record);
}

static void put_busiest(struct slices *slices, int64_t from, int64_t to)
{
	struct pxt_stat *s = slices->s;
	uint64_t events;
	const struct pxt_thread *thread = pxt_busiest_next(slices->busiest, &events);
	struct pxt_record record;

	if (!thread)
		return;
	pxt_record_begin(s, &record, "slice_thread");
	pxt_record_text(&record, PXT_COL_NAME, thread->label);
	pxt_record_number(&record, PXT_COL_COUNT, events);
	pxt_record_time(&record, PXT_COL_START, from);
	pxt_record_time(&record, PXT_COL_END, to);
	pxt_record_put(s, &record);
}

static void put_records(struct slices *slices, int64_t from, int64_t to)
{
	struct pxt_stat *s = slices->s;
	struct pxt_record record;

	pxt_record_begin(s, &record, "slice");
	pxt_record_number(&record, PXT_COL_COUNT, slices->events);
	pxt_record_number(&record, PXT_COL_BYTES, slices->bytes);
	pxt_record_real(&record, PXT_COL_PER_S, (double)slices->events / seconds_between(from, to));
	pxt_record_number(&record, PXT_COL_LOST, slices->lost);
	pxt_record_time(&record, PXT_COL_START, from);
	pxt_record_time(&record, PXT_COL_END, to);
	pxt_record_put(s, &record);
	put_busiest(slices, from, to);
	for (unsigned i = 0; i < slices->count; i++)
		put_part(slices, &slices->parts[i], from, to);
}

/* Says @count slices from number @first on, all but one of them empty, as one. */
static void put(struct slices *slices, int64_t first, int64_t count)
{
	int64_t from = begin_of(slices, first);
	int64_t to = begin_of(slices, first + count);

	if (slices->s->form == PXT_STAT_TEXT)
		put_text(slices, from, to, (uint64_t)count);
	else
		put_records(slices, from, to);
	slices->events = slices->bytes = slices->lost = 0;
	for (unsigned i = 0; i < slices->count; i++) {
		struct part *part = &slices->parts[i];

		part->count = part->least = part->most = 0;
		part->mean = part->squares = 0;
	}
}

/* ---- The reading ---- */

/* What was lost before an event may have been ends: nothing is open any more. */
static void take_loss(struct slices *slices, const struct pxt_event *event)
{
	slices->pairs->losses++;
	for (unsigned i = 0; i < slices->count; i++) {
		struct pxt_row *row = find_row(slices, &slices->parts[i]);

		if (row)
			pxt_row_close(row, slices->pairs, event->ns);
	}
}

static void take(struct slices *slices, const struct pxt_event *event, bool behind_loss)
{
	int64_t slice = pxt_slice_of(slices->s, event->ns);

	if (!slices->begun)
		slices->slice = slice;
	slices->begun = true;
	if (slice > slices->slice) {
		put(slices, slices->slice, 1);
		if (slice > slices->slice + 1)
			put(slices, slices->slice + 1, slice - slices->slice - 1);
		slices->slice = slice;
	}
	if (behind_loss)
		take_loss(slices, event);
	slices->events++;
	slices->bytes += event->bytes;
	pxt_busiest_take(slices->busiest, event->thread);
	pxt_pairs_take(slices->pairs, event);
}

/* The bar takes what a narrow terminal leaves. */
static void fit(struct slices *slices)
{
	size_t width = pxt_width(slices->s->out.fd);
	size_t loads = LOAD_COLUMNS * (size_t)slices->count;
	size_t used = NARROW_COLUMNS + loads;

	slices->bar = BAR;
	slices->narrow = width && width < ALL_COLUMNS + loads;
	if (slices->narrow && used + BAR > width)
		slices->bar = width > used ? width - used : 0;
}

static void put_heading(struct slices *slices)
{
	struct pxt_stat *s = slices->s;
	struct pxt_out *out = &s->out;
	char text[24];

	if (s->form != PXT_STAT_TEXT)
		return;
	pxt_stat_duration(s, text, (uint64_t)s->slice_ns);
	pxt_out_char(out, '\n');
	pxt_out_colour(out, PXT_COLOUR_EVENT);
	pxt_out_format(out, "SLICES of %s%s", text, s->plain_ns ? " ns" : "");
	pxt_out_colour(out, PXT_COLOUR_OFF);
	pxt_out_text(out, "; load: spans open on average");
	pxt_out_text(out, slices->narrow ? "\n" : "; most by: the thread with most events\n");
}

static void put_columns(struct slices *slices)
{
	struct pxt_stat *s = slices->s;
	struct pxt_out *out = &s->out;

	if (s->form != PXT_STAT_TEXT)
		return;
	for (unsigned i = 0; i < slices->count; i++)
		pxt_out_format(out, "  [%u] %s\n", i + 1, slices->parts[i].label);
	pxt_out_colour(out, PXT_COLOUR_EVENT);
	pxt_out_text(out, "          START      EVENTS");
	pxt_out_text(out, slices->narrow ? "     LOST" : "         PER S     LOST");
	for (unsigned i = 0; i < slices->count; i++)
		pxt_out_format(out, " LOAD [%u]", i + 1);
	if (!slices->narrow)
		pxt_out_text(out, "  MOST BY");
	pxt_out_colour(out, PXT_COLOUR_OFF);
	pxt_out_char(out, '\n');
}

void pxt_slices_put(struct pxt_stat *s)
{
	struct slices slices = {
		.s = s, .pairs = pxt_pairs_new(&s->options), .busiest = pxt_busiest_new()
	};
	struct pxt_progress progress;
	struct pxt_event *event;

	choose(&slices);
	fit(&slices);
	put_heading(&slices);
	put_columns(&slices);
	slices.pairs->on_span = take_span;
	slices.pairs->context = &slices;
	pxt_reader_rewind(s->reader);
	pxt_progress_reader(&progress, "slices", s->reader, true);
	while (s->out.error == 0 && (event = pxt_reader_next(s->reader)) != NULL) {
		pxt_progress_step(&progress);
		uint64_t lost = event->extra.posix_lost_before_np;

		if (pxt_stat_wants(s, event))
			take(&slices, event, lost > 0 || event->source->steps);
		else if (lost > 0 || event->source->steps)
			take_loss(&slices, event);
		if (pxt_select_time(&s->select, event->ns, s->reader->start_ns) == 0)
			pxt_sum_add(&slices.lost, lost);
	}
	pxt_progress_end(&progress);
	if (slices.begun)
		put(&slices, slices.slice, 1);
	free(slices.parts);
	pxt_busiest_free(slices.busiest);
	pxt_pairs_free(slices.pairs);
}
