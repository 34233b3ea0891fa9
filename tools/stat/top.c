/* SPDX-License-Identifier: MIT */
/*
 * top.c - the longest spans, and what happened within each: the events of its thread, and how
 * many others there were.
 *
 * While the log is read for the tables the longest ones are kept in a heap, the shortest on top.
 * Then it is read again: only now is it known which events to look at.
 */
#include "format/mul64.h"
#include "tools/event/event.h"
#include "tools/output/out.h"
#include "tools/spans/pairs.h"
#include "tools/stat/stat.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LINES      8u /* of a span's events, and one more for its end */
#define LINE_BYTES 256u

struct span {
	uint64_t ns;
	uint64_t begin; /* marks: numbers of the events */
	uint64_t end;
	int64_t begin_ns;
	uint64_t thread; /* of its end */
	char who[96];
	const struct pxt_row *row;
	/* What was found when the log was read again. */
	uint64_t begin_thread;
	uint64_t own;    /* events of its threads, begin and end among them */
	uint64_t others; /* of other threads */
	uint64_t lost;
	char lines[LINES + 1][LINE_BYTES];
};

struct pxt_top {
	struct pxt_stat *s;
	struct pxt_out line; /* nothing but its buffer is used */
	unsigned count;
	struct span *spans[PXT_TOP_MAX];
};

/* ---- The longest ---- */

/* Whether @a is to go before @b: shorter, or as long and later. */
static bool goes_first(const struct span *a, const struct span *b)
{
	return a->ns < b->ns || (a->ns == b->ns && a->begin > b->begin);
}

static void sift_down(struct pxt_top *top, unsigned at)
{
	struct span *moved = top->spans[at];

	for (unsigned child; (child = 2 * at + 1) < top->count; at = child) {
		if (child + 1 < top->count && goes_first(top->spans[child + 1], top->spans[child]))
			child++;
		if (!goes_first(top->spans[child], moved))
			break;
		top->spans[at] = top->spans[child];
	}
	top->spans[at] = moved;
}

static void sift_up(struct pxt_top *top, unsigned at)
{
	struct span *moved = top->spans[at];

	for (; at > 0 && goes_first(moved, top->spans[(at - 1) / 2]); at = (at - 1) / 2)
		top->spans[at] = top->spans[(at - 1) / 2];
	top->spans[at] = moved;
}

static void fill_span(struct span *span, const struct pxt_pairs *pairs, uint64_t mark, int64_t ns)
{
	const struct pxt_event *event = pairs->event;

	span->ns = event->ns > ns ? (uint64_t)(event->ns - ns) : 0;
	span->begin = mark;
	span->end = pairs->mark;
	span->begin_ns = ns;
	span->thread = pxt_thread_key(event->thread);
	memcpy(span->who, event->thread->label, sizeof span->who);
	span->row = pairs->row;
}

static void take_span(void *context, uint32_t pair, uint64_t mark, int64_t ns)
{
	struct pxt_top *top = context;
	const struct pxt_pairs *pairs = top->s->pairs;
	uint64_t length = pairs->now_ns > ns ? (uint64_t)(pairs->now_ns - ns) : 0;

	(void)pair;
	if (top->count < top->s->top) {
		struct span *span = pxt_must(calloc(1, sizeof *span));

		fill_span(span, pairs, mark, ns);
		top->spans[top->count] = span;
		sift_up(top, top->count++);
	} else if (length > top->spans[0]->ns) {
		fill_span(top->spans[0], pairs, mark, ns);
		sift_down(top, 0);
	}
}

struct pxt_top *pxt_top_new(struct pxt_stat *s)
{
	if (s->top == 0)
		return NULL;
	struct pxt_top *top = pxt_must(calloc(1, sizeof *top));

	top->s = s;
	s->pairs->on_span = take_span;
	s->pairs->context = top;
	return top;
}

/* ---- What happened within them ---- */

static void write_line(
    struct pxt_top *top, struct span *span, char *line, const struct pxt_event *event)
{
	static const struct pxt_fields fields = { .dump_limit = 16 };
	uint64_t since = event->ns > span->begin_ns ? (uint64_t)(event->ns - span->begin_ns) : 0;
	char text[24];
	size_t bytes;

	pxt_stat_duration(top->s, text, since);
	top->line.used = 0;
	pxt_out_format(&top->line, "+%-12s ", text);
	pxt_out_text(&top->line, event->type->label);
	pxt_out_fields(&top->line, &fields, event);
	bytes = top->line.used < LINE_BYTES ? top->line.used : LINE_BYTES - 1;
	memcpy(line, top->line.buffer, bytes);
	line[bytes] = '\0';
}

static void look_at(
    struct pxt_top *top, struct span *span, const struct pxt_event *event, uint64_t mark)
{
	uint64_t thread = pxt_thread_key(event->thread);

	if (mark == span->begin)
		span->begin_thread = thread;
	else
		pxt_sum_add(&span->lost, event->extra.posix_lost_before_np);
	if (thread != span->thread && thread != span->begin_thread) {
		span->others++;
		return;
	}
	if (mark == span->end)
		write_line(top, span, span->lines[LINES], event);
	else if (span->own < LINES)
		write_line(top, span, span->lines[span->own], event);
	span->own++;
}

static int by_begin(const void *a, const void *b)
{
	const struct span *x = *(struct span *const *)a;
	const struct span *y = *(struct span *const *)b;

	return (x->begin > y->begin) - (x->begin < y->begin);
}

static void read_again(struct pxt_top *top)
{
	struct pxt_stat *s = top->s;
	struct pxt_event *event;
	struct span *open[PXT_TOP_MAX];
	unsigned open_count = 0;
	unsigned next = 0;
	uint64_t mark = 0;
	struct pxt_progress progress;

	pxt_reader_rewind(s->reader);
	pxt_progress_reader(&progress, "longest", s->reader, false);
	while (
	    (open_count > 0 || next < top->count) && (event = pxt_reader_next(s->reader)) != NULL) {
		if (!pxt_stat_wants(s, event))
			continue;
		while (next < top->count && top->spans[next]->begin == mark)
			open[open_count++] = top->spans[next++];
		for (unsigned i = 0; i < open_count;) {
			look_at(top, open[i], event, mark);
			if (open[i]->end == mark)
				open[i] = open[--open_count];
			else
				i++;
		}
		mark++;
	}
	pxt_progress_end(&progress);
}

/* ---- For people, and for programs ---- */

static int longest_first(const void *a, const void *b)
{
	const struct span *x = *(struct span *const *)a;
	const struct span *y = *(struct span *const *)b;

	return goes_first(x, y) ? 1 : -1;
}

static void put_lines(struct pxt_out *out, const struct span *span)
{
	uint64_t shown = span->own - 1 < LINES ? span->own - 1 : LINES;

	for (uint64_t i = 0; i < shown; i++)
		pxt_out_format(out, "        %s\n", span->lines[i]);
	if (span->own - 1 > shown)
		pxt_out_format(out, "        ... %llu more events of the thread\n",
		    (unsigned long long)(span->own - 1 - shown));
	pxt_out_format(out, "        %s\n", span->lines[LINES]);
	if (span->others > 0)
		pxt_out_format(out, "        meanwhile %llu events of other threads\n",
		    (unsigned long long)span->others);
}

/* "job_begin .. job_end", "call read". */
static void label_of(const struct pxt_stat *s, const struct span *span, char *label, size_t room)
{
	size_t used = pxt_stat_pair_label(s, span->row, label, room);
	const struct pxt_syspair *system = s->pairs->pairs[span->row->pair].system;

	if (system && system->by_value && used < room)
		(void)snprintf(label + used, room - used, " %s", span->row->label);
}

static void put_text(struct pxt_top *top, unsigned number, const struct span *span)
{
	struct pxt_stat *s = top->s;
	struct pxt_out *out = &s->out;
	char label[720];
	char text[24];

	label_of(s, span, label, sizeof label);
	pxt_stat_duration(s, text, span->ns);
	pxt_out_format(out, "%5u. ", number);
	pxt_out_colour(out, PXT_COLOUR_LOSS);
	pxt_out_text(out, text);
	pxt_out_colour(out, PXT_COLOUR_OFF);
	pxt_out_format(out, "  %s  %s  at ", label, span->who);
	pxt_out_seconds(out, span->begin_ns - s->reader->start_ns);
	pxt_out_char(out, '\n');
	put_lines(out, span);
}

static void put_record(struct pxt_top *top, const struct span *span)
{
	struct pxt_stat *s = top->s;
	struct pxt_record record;
	char label[720];

	label_of(s, span, label, sizeof label);
	pxt_record_begin(s, &record, "top");
	pxt_record_text(&record, PXT_COL_NAME, label);
	pxt_record_text(&record, PXT_COL_GROUP, span->who);
	pxt_record_number(&record, PXT_COL_COUNT, span->own + span->others);
	pxt_record_number(&record, PXT_COL_LOST, span->lost);
	pxt_record_time(&record, PXT_COL_START, span->begin_ns);
	pxt_record_time(&record, PXT_COL_END, span->begin_ns + (int64_t)span->ns);
	pxt_record_number(&record, PXT_COL_MAX, span->ns);
	pxt_record_put(s, &record);
}

void pxt_top_put(struct pxt_top *top)
{
	struct pxt_stat *s = top->s;

	if (top->count > 0) {
		qsort(top->spans, top->count, sizeof(struct span *), by_begin);
		read_again(top);
		qsort(top->spans, top->count, sizeof(struct span *), longest_first);
	}
	if (s->form == PXT_STAT_TEXT && top->count > 0) {
		pxt_out_char(&s->out, '\n');
		pxt_out_colour(&s->out, PXT_COLOUR_EVENT);
		pxt_out_text(&s->out, "LONGEST\n");
		pxt_out_colour(&s->out, PXT_COLOUR_OFF);
	}
	for (unsigned i = 0; i < top->count; i++) {
		if (s->form == PXT_STAT_TEXT)
			put_text(top, i + 1, top->spans[i]);
		else
			put_record(top, top->spans[i]);
	}
}

void pxt_top_free(struct pxt_top *top)
{
	for (unsigned i = 0; top && i < top->count; i++)
		free(top->spans[i]);
	free(top);
}
