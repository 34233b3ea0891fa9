/* SPDX-License-Identifier: MIT */
/* cmd_stat.c - pxtrace stat: counts and rates, and durations of pairs. */
#include "command.h"
#include "describe.h"
#include "pairs.h"
#include "select.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char *const help[] = {
	"pxtrace stat - counts the events of a log, and tells how long things took\n"
	"\n"
	"usage: pxtrace stat [OPTION]... LOG...\n"
	"\n"
	"Shows, for each log: where it comes from, how often each event type and each thread\n"
	"occurs, and a table of durations. Two events make a pair by their names: X_begin or\n"
	"X_start with X_end or X_stop, X_enter with X_exit, X_lock with X_unlock. An end belongs\n"
	"to the newest open begin of its thread; where the first field of both types has the\n"
	"same name (a lock's number, say), that field must be equal too. No duration is measured\n"
	"across a loss of events.\n"
	"\n"
	"pairs:\n"
	"  -p, --pair A,B        also from A to B; --pair A,A measures from one A to the next;\n"
	"                        several times\n"
	"  -p, --pair A,B,FIELD  the same, matched by that field\n"
	"      --any-thread      a pair may begin in one thread and end in another\n"
	"      --no-field        match by nesting alone\n"
	"      --by thread|field a row for each thread, or for each value of the field\n"
	"      --ns              durations as whole nanoseconds, for scripts\n",
	PXT_SELECT_HELP,
	"logs:\n"
	"      --incomplete      also a log whose program still runs or has died\n"
	"      --strict          exit status 3 when events were lost\n"
	"      --color WHEN      auto (on a terminal; NO_COLOR is honoured), always, never\n"
	"  -h, --help            this\n"
	"\n"
	"example: how long did each thread hold, and wait for, its locks?\n"
	"\n"
	"  $ pxtrace stat --pair lock_wait,lock_held,lock --by thread run.ptl\n"
	"\n"
	"MEDIAN and P99 are exact up to 16,384 durations a row (the smallest one that half, or\n"
	"99 %, do not exceed); beyond that they stand behind a ~ and are within 0.4 %.\n"
	"\n"
	"exit status: 0 done; 1 wrong command line; 2 a log could not be read; 3 events were\n"
	"lost (--strict); 4 the output could not be written.\n",
	NULL,
};

/* What is counted for a type or a thread. */
struct tally {
	uint64_t count;
	uint64_t bytes;
	const char *label;
	size_t width;
};

struct statistics {
	struct pxt_out out;
	struct pxt_select select;
	struct pxt_pair_options options;
	const char *colour;
	bool incomplete;
	bool strict;
	bool plain_ns;
	/* of the log at hand */
	struct tally types[PXT_TYPES_MAX + 1]; /* the last: all beyond */
	struct tally *threads;                 /* PXT_THREADS_MAX + 1 */
	uint64_t events;
	int64_t first_ns;
	int64_t last_ns;
};

/* ---- Counting ---- */

static void add(struct tally *tally, const struct pxt_event *event, const char *label, size_t width)
{
	tally->count++;
	tally->bytes += event->bytes;
	tally->label = label;
	tally->width = width;
}

static void take(struct statistics *s, const struct pxt_event *event)
{
	const struct pxt_thread *thread = event->thread;
	const struct pxt_type *type = event->type;

	if (s->events++ == 0)
		s->first_ns = event->ns;
	s->last_ns = event->ns;
	if (type->index == PXT_INDEX_NONE)
		add(&s->types[PXT_TYPES_MAX], event, "(others)", 8);
	else
		add(&s->types[type->index], event, type->label, type->width);
	if (thread->index == PXT_INDEX_NONE)
		add(&s->threads[PXT_THREADS_MAX], event, "(others)", 8);
	else
		add(&s->threads[thread->index], event, thread->label, thread->width);
}

static void count(struct statistics *s, struct pxt_reader *reader, struct pxt_pairs *pairs)
{
	struct pxt_event *event;

	memset(s->types, 0, sizeof s->types);
	memset(s->threads, 0, (PXT_THREADS_MAX + 1) * sizeof *s->threads);
	s->events = 0;
	while ((event = pxt_reader_next(reader)) != NULL) {
		/* Whatever was lost may have been an end. */
		if (event->extra.posix_lost_before_np > 0)
			pairs->losses++;
		if (!pxt_select_event(&s->select, event, reader->start_ns))
			continue;
		take(s, event);
		pxt_pairs_take(pairs, event);
	}
	if (pxt_source_lost_rest(reader->sources[0]) > 0)
		pairs->losses++;
	pxt_pairs_end(pairs);
}

/* ---- Tables ---- */

static int by_count(const void *a, const void *b)
{
	const struct tally *x = a;
	const struct tally *y = b;

	if (x->count != y->count)
		return x->count > y->count ? -1 : 1;
	return x->count == 0 ? 0 : strcmp(x->label, y->label);
}

static void put_tallies(
    struct statistics *s, const char *title, struct tally *tallies, size_t length)
{
	struct pxt_out *out = &s->out;
	double seconds = (double)(s->last_ns - s->first_ns) / 1e9;
	size_t column = 24;
	size_t used = 0;

	/* The labels point into the source: sorting the tallies spoils nothing of it. */
	qsort(tallies, length, sizeof *tallies, by_count);
	while (used < length && tallies[used].count > 0) {
		if (tallies[used].width > column && tallies[used].width <= 40)
			column = tallies[used].width;
		used++;
	}
	pxt_out_char(out, '\n');
	pxt_out_colour(out, PXT_COLOUR_EVENT);
	pxt_out_column(out, title, strlen(title), strlen(title), column);
	pxt_out_text(out, "       COUNT   SHARE        PER S   DATA BYTES\n");
	pxt_out_colour(out, PXT_COLOUR_OFF);
	for (size_t i = 0; i < used; i++) {
		const struct tally *tally = &tallies[i];

		pxt_out_column(out, tally->label, strlen(tally->label), tally->width, column);
		pxt_out_right(out, tally->count, 12);
		pxt_out_format(out, "  %5.1f%%", 100.0 * (double)tally->count / (double)s->events);
		if (seconds > 0)
			pxt_out_format(out, " %12.1f", (double)tally->count / seconds);
		else
			pxt_out_text(out, "            -");
		pxt_out_right(out, tally->bytes, 13);
		pxt_out_char(out, '\n');
	}
}

static void put_duration(struct statistics *s, uint64_t ns, bool exact)
{
	char text[24];

	if (s->plain_ns)
		(void)snprintf(text, sizeof text, "%llu", (unsigned long long)ns);
	else
		pxt_duration(text, ns);
	pxt_out_format(&s->out, " %s%*s", exact ? "" : "~", exact ? 11 : 10, text);
}

static void put_row(struct statistics *s, struct pxt_row *row)
{
	struct pxt_series *series = &row->series;
	struct pxt_out *out = &s->out;
	bool exact;

	pxt_out_right(out, series->count, 9);
	if (series->count > 0) {
		uint64_t median = pxt_series_quantile(series, 500, &exact);
		uint64_t p99 = pxt_series_quantile(series, 990, &exact);

		put_duration(s, series->least, true);
		put_duration(s, median, exact);
		put_duration(s, (uint64_t)(series->sum / (double)series->count + 0.5), true);
		put_duration(s, p99, exact);
		put_duration(s, series->most, true);
	} else {
		pxt_out_text(out, "           -           -           -           -           -");
	}
	if (row->open + row->unopened + row->cut > 0) {
		pxt_out_colour(out, PXT_COLOUR_LOSS);
		pxt_out_text(out, "  unmatched:");
		if (row->open > 0)
			pxt_out_format(out, " %llu begun", (unsigned long long)row->open);
		if (row->unopened > 0)
			pxt_out_format(out, " %llu ended", (unsigned long long)row->unopened);
		if (row->cut > 0)
			pxt_out_format(out, " %llu cut by a loss", (unsigned long long)row->cut);
		pxt_out_colour(out, PXT_COLOUR_OFF);
	}
	pxt_out_char(out, '\n');
}

static void row_label(const struct statistics *s, const struct pxt_pairs *pairs,
    const struct pxt_row *row, char *label, size_t room)
{
	const struct pxt_pair *pair = &pairs->pairs[row->pair];
	const char *begin = pair->begin ? pair->begin->label : NULL;
	const char *end = pair->end ? pair->end->label : NULL;

	if (pair->is_explicit) {
		begin = begin ? begin : s->options.pairs[row->pair].begin;
		end = end ? end : s->options.pairs[row->pair].end;
	}
	(void)snprintf(
	    label, room, "%s .. %s%s%s", begin, end, *row->label ? "  " : "", row->label);
}

static void put_pairs(struct statistics *s, struct pxt_pairs *pairs)
{
	struct pxt_out *out = &s->out;
	uint32_t rows;
	struct pxt_row **list = pxt_pairs_rows(pairs, &rows);
	char label[720];
	size_t column = 24;

	for (uint32_t i = 0; i < rows; i++) {
		row_label(s, pairs, list[i], label, sizeof label);
		if (strlen(label) > column)
			column = strlen(label) <= 60 ? strlen(label) : 60;
	}
	if (rows > 0) {
		pxt_out_char(out, '\n');
		pxt_out_colour(out, PXT_COLOUR_EVENT);
		pxt_out_column(out, "PAIR", 4, 4, column);
		pxt_out_text(
		    out, "    COUNT         MIN      MEDIAN        MEAN         P99         MAX");
		pxt_out_text(out, s->plain_ns ? "  (ns)\n" : "\n");
		pxt_out_colour(out, PXT_COLOUR_OFF);
	}
	for (uint32_t i = 0; i < rows; i++) {
		row_label(s, pairs, list[i], label, sizeof label);
		pxt_out_column(out, label, strlen(label), strlen(label), column);
		put_row(s, list[i]);
	}
	free(list);
}

/* A pair that was asked for and whose events never came. */
static void review_pairs(const struct statistics *s, const struct pxt_pairs *pairs)
{
	for (unsigned i = 0; i < s->options.count; i++) {
		if (!pairs->pairs[i].begin)
			pxt_complain(
			    "--pair: no event called \"%s\" was read", s->options.pairs[i].begin);
		if (!pairs->pairs[i].end &&
		    strcmp(s->options.pairs[i].begin, s->options.pairs[i].end) != 0)
			pxt_complain(
			    "--pair: no event called \"%s\" was read", s->options.pairs[i].end);
	}
}

/* One log: a report of its own, because types and threads are its own. */
static int report(struct statistics *s, char *const *path)
{
	struct pxt_reader reader = { 0 };
	int status = pxt_reader_open(
	    &reader, path, 1, s->incomplete ? PXT_OPEN_INCOMPLETE : PXT_OPEN_COMPLETE, &s->select);

	if (status == PXT_EXIT_OK) {
		struct pxt_pairs *pairs = pxt_pairs_new(&s->options);

		count(s, &reader, pairs);
		pxt_describe(&s->out, reader.sources[0]);
		if (s->events > 0) {
			put_tallies(s, "EVENT", s->types, PXT_TYPES_MAX + 1);
			put_tallies(s, "THREAD", s->threads, PXT_THREADS_MAX + 1);
		} else {
			pxt_out_text(&s->out, "\n(no events)\n");
		}
		put_pairs(s, pairs);
		pxt_out_flush(&s->out);
		if (s->events == 0 && s->select.event_count > 0)
			pxt_select_review(&s->select, &reader);
		review_pairs(s, pairs);
		status = pxt_reader_conclude(&reader, true, s->strict);
		pxt_pairs_free(pairs);
	}
	pxt_reader_close(&reader);
	return status;
}

/* ---- The command line ---- */

enum {
	OPT_ANY_THREAD = 400,
	OPT_NO_FIELD,
	OPT_BY,
	OPT_NS,
	OPT_INCOMPLETE,
	OPT_STRICT,
	OPT_COLOUR
};

static const struct option options[] = {
	PXT_SELECT_OPTIONS,
	{ "pair", required_argument, NULL, 'p' },
	{ "any-thread", no_argument, NULL, OPT_ANY_THREAD },
	{ "no-field", no_argument, NULL, OPT_NO_FIELD },
	{ "by", required_argument, NULL, OPT_BY },
	{ "ns", no_argument, NULL, OPT_NS },
	{ "incomplete", no_argument, NULL, OPT_INCOMPLETE },
	{ "strict", no_argument, NULL, OPT_STRICT },
	{ "color", required_argument, NULL, OPT_COLOUR },
	{ "colour", required_argument, NULL, OPT_COLOUR },
	{ "help", no_argument, NULL, 'h' },
	{ NULL, 0, NULL, 0 },
};

static bool take_option(struct statistics *s, int code, char *value)
{
	switch (code) {
	case PXT_OPT_EVENT:
	case PXT_OPT_THREAD:
	case PXT_OPT_PID:
	case PXT_OPT_WHERE:
	case PXT_OPT_FROM:
	case PXT_OPT_TO:
		return pxt_select_option(&s->select, code, value);
	case 'p':
		return pxt_pairs_option(&s->options, value);
	case OPT_ANY_THREAD:
		return s->options.any_thread = true;
	case OPT_NO_FIELD:
		return s->options.no_field = true;
	case OPT_BY:
		s->options.rows = strcmp(value, "thread") == 0  ? PXT_ROWS_THREAD
		                  : strcmp(value, "field") == 0 ? PXT_ROWS_FIELD
		                                                : PXT_ROWS_PAIR;
		if (s->options.rows == PXT_ROWS_PAIR)
			pxt_complain("--by is thread or field, not \"%s\"", value);
		return s->options.rows != PXT_ROWS_PAIR;
	case OPT_NS:
		return s->plain_ns = true;
	case OPT_INCOMPLETE:
		return s->incomplete = true;
	case OPT_STRICT:
		return s->strict = true;
	case OPT_COLOUR:
		s->colour = value;
		return pxt_colour_valid(value);
	default:
		return false;
	}
}

static int run(int argc, char **argv)
{
	static struct statistics s = { .out = { .fd = STDOUT_FILENO } };
	int status = PXT_EXIT_OK;
	int code;

	while ((code = getopt_long(argc, argv, ":e:t:p:h", options, NULL)) != -1) {
		if (code == 'h')
			return pxt_help(help);
		if (code == '?' || code == ':')
			return pxt_option_error("stat", code, argv, options);
		if (!take_option(&s, code, optarg))
			return pxt_usage("stat");
	}
	if (optind == argc) {
		pxt_complain("stat: which log?");
		return pxt_usage("stat");
	}
	if (!pxt_select_check(&s.select))
		return pxt_usage("stat");
	s.out.colour = pxt_colour_wanted(s.colour, STDOUT_FILENO);
	s.threads = pxt_must(calloc(PXT_THREADS_MAX + 1, sizeof *s.threads));
	for (int i = optind; i < argc; i++) {
		int mine = report(&s, argv + i);

		if (mine == PXT_EXIT_LOG || status == PXT_EXIT_OK)
			status = mine;
		if (i + 1 < argc)
			pxt_out_char(&s.out, '\n');
	}
	pxt_out_flush(&s.out);
	free(s.threads);
	if (s.out.error == 0)
		return status;
	pxt_complain("standard output: %s", strerror(s.out.error));
	return PXT_EXIT_OUTPUT;
}

const struct pxt_command pxt_cmd_stat = {
	.name = "stat",
	.summary = "counts the events, and tells how long things took",
	.help = help,
	.run = run,
};
