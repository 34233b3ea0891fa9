/* SPDX-License-Identifier: MIT */
/* tables.c - what the tables of all forms have in common: order, labels, durations. */
#include "tools/stat/stat.h"

#include "tools/output/out.h"

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
