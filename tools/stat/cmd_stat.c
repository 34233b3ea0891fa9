/* SPDX-License-Identifier: MIT */
/* cmd_stat.c - pxtrace stat: counts and rates, and durations of pairs. */
#include "format/mul64.h"
#include "tools/command/command.h"
#include "tools/output/out.h"
#include "tools/read/source.h"
#include "tools/stat/stat.h"
#include "tools/unknown/unknown.h"

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
	"      --histogram       how many durations there are of each length, as bars\n"
	"      --top N           the N longest, with what their thread did meanwhile\n"
	"      --ns              durations as whole nanoseconds\n"
	"\n"
	"time:\n"
	"      --slice TIME      events, losses and open pairs in each 10ms, say, of the log,\n"
	"                        and the thread with most events\n"
	"      --aligned         slices begin at full seconds, say, not with the log: then those\n"
	"                        of several logs can be compared\n"
	"\n"
	"for programs:\n"
	"      --json            a JSON object a line, for each line of each table\n"
	"      --csv             the same as one table with a head row\n"
	"\n",
	PXT_SELECT_HELP,
	"logs:\n"
	"      --incomplete      also a log whose program still runs or has died\n"
	"      --strict          exit status 3 when events were lost\n"
	"      --color WHEN      auto (on a terminal; NO_COLOR is honoured), always, never\n"
	"      --colour WHEN     the same\n"
	"  -h, --help            this\n"
	"\n"
	"example: how long did each thread hold, and wait for, its locks?\n"
	"\n"
	"  $ pxtrace stat --pair lock_wait,lock_lock,lock --by thread run.ptl\n"
	"\n"
	"example: what happened in the ten longest jobs, and how busy was each 10 ms?\n"
	"\n"
	"  $ pxtrace stat --top 10 --slice 10ms --histogram run.ptl\n"
	"\n"
	"MEDIAN, P99 and P99.9 are exact up to 16,384 durations a row (the smallest one that\n"
	"half, 99 % or 99.9 % do not exceed); beyond that they stand behind a ~ and are within\n"
	"0.4 %. Memory does not grow with the log.\n"
	"\n" PXT_HELP_STATUS,
	NULL,
};

/* What is not asked once the log is open. */
struct command {
	struct pxt_stat stat;
	const char *colour;
	bool json;
	bool csv;
	bool incomplete;
	bool strict;
};

/* ---- Counting ---- */

static void add(
    struct pxt_tally *tally, const struct pxt_event *event, const char *label, size_t width)
{
	tally->count++;
	tally->bytes += event->bytes;
	tally->label = label;
	tally->width = width;
}

static void take(struct pxt_stat *s, const struct pxt_event *event)
{
	const struct pxt_thread *thread = event->thread;
	const struct pxt_type *type = event->type;

	if (s->events++ == 0)
		s->first_ns = event->ns;
	s->last_ns = event->ns;
	s->bytes += event->bytes;
	if (type->index == PXT_INDEX_NONE)
		add(&s->types[PXT_TYPES_MAX], event, "(others)", 8);
	else
		add(&s->types[type->index], event, type->label, type->width);
	if (thread->index == PXT_INDEX_NONE)
		add(&s->threads[PXT_THREADS_MAX], event, "(others)", 8);
	else
		add(&s->threads[thread->index], event, thread->label, thread->width);
}

static const char *name_of(const struct pxt_type *type)
{
	return type->index == PXT_INDEX_NONE ? "(others)" : type->label;
}

/* What is looked at from one event to the next. */
struct since {
	const char *label; /* of the last event; NULL: there was none */
	uint64_t lost;     /* after it */
};

static void take_silence(struct pxt_stat *s, struct since *since, const struct pxt_event *event)
{
	struct pxt_silence *silence = &s->silence;
	uint64_t ns = event->ns > s->last_ns ? (uint64_t)event->ns - (uint64_t)s->last_ns : 0;

	if (since->label && (!silence->label || ns > silence->ns))
		*silence = (struct pxt_silence){ .ns = ns,
			.from = s->last_ns,
			.to = event->ns,
			.lost = since->lost,
			.label = since->label };
	*since = (struct since){ .label = name_of(event->type) };
}

/* The slice that an event is in, to find the fullest. */
struct fill {
	int64_t slice;
	uint64_t events;
};

static void count_slice(struct pxt_stat *s, struct fill *fill, int64_t ns)
{
	int64_t slice = pxt_slice_of(s, ns);

	fill->events = slice == fill->slice ? fill->events + 1 : 1;
	fill->slice = slice;
	if (fill->events > s->fullest)
		s->fullest = fill->events;
}

static void count(struct pxt_stat *s)
{
	struct fill fill = { 0 };
	struct since since = { 0 };
	struct pxt_progress progress;
	struct pxt_event *event;

	memset(s->types, 0, sizeof s->types);
	memset(s->threads, 0, (PXT_THREADS_MAX + 1) * sizeof *s->threads);
	s->events = s->bytes = s->fullest = 0;
	s->first_ns = s->last_ns = 0;
	s->silence = (struct pxt_silence){ 0 };
	memset(&s->taken, 0, sizeof s->taken);
	s->slice_zero = s->aligned ? 0 : s->reader->start_ns;
	pxt_progress_reader(&progress, "stat", s->reader, false);
	while ((event = pxt_reader_next(s->reader)) != NULL) {
		pxt_progress_step(&progress);
		pxt_pairs_gap(s->pairs, event);
		pxt_sum_add(&since.lost, event->extra.posix_lost_before_np);
		pxt_symbols_take(s->symbols, event);
		if (!pxt_stat_wants(s, event))
			continue;
		s->pairs->mark = s->events;
		take_silence(s, &since, event);
		take(s, event);
		pxt_lockcounts_add(&s->taken, event);
		pxt_pairs_take(s->pairs, event);
		if (s->slice_ns > 0)
			count_slice(s, &fill, event->ns);
	}
	pxt_progress_end(&progress);
	if (pxt_source_lost_rest(s->reader->sources[0]) > 0)
		s->pairs->losses++;
	pxt_pairs_end(s->pairs);
	pxt_pairs_name(s->pairs, s->symbols);
}

/* ---- A log ---- */

static void report(struct pxt_stat *s)
{
	s->pairs = pxt_pairs_new(&s->options);
	s->symbols = pxt_symbols_new(s->reader->sources[0], NULL);
	struct pxt_top *top = pxt_top_new(s);

	pxt_reader_read_part(s->reader, &s->select, true);
	count(s);
	if (s->form == PXT_STAT_TEXT)
		pxt_stat_put_tables(s);
	else
		pxt_stat_put_records(s);
	/* After damage the log would only be complained of again. */
	bool again = !s->reader->sources[0]->failed && s->events > 0;
	if (again && top)
		pxt_top_put(top);
	if (again && s->slice_ns > 0)
		pxt_slices_put(s);
	pxt_out_flush(&s->out);
	pxt_top_free(top);
	pxt_symbols_free(s->symbols);
	pxt_pairs_free(s->pairs);
}

/* One log: a report of its own, because types and threads are its own. */
static int open_and_report(
    struct command *c, struct pxt_reader *reader, const struct pxt_logset *set)
{
	int status = pxt_reader_open(reader, set->files ? set->files : &set->path,
	    set->files ? set->count : 1, c->incomplete ? PXT_OPEN_INCOMPLETE : PXT_OPEN_COMPLETE,
	    &c->stat.select);

	c->stat.reader = reader;
	if (status == PXT_EXIT_OK) {
		report(&c->stat);
		status = pxt_reader_conclude(reader, c->stat.form == PXT_STAT_TEXT, c->strict);
	}
	c->stat.reader = NULL;
	return status;
}

/* A name is a mistake if none of the logs has it, though each has a report of its own. */
static int review(struct command *c, const struct pxt_reader *readers, int count, int status)
{
	struct pxt_source **sources = pxt_must(calloc((size_t)count, sizeof(struct pxt_source *)));
	struct pxt_reader all = { .sources = sources };

	for (int i = 0; i < count; i++) {
		sources[all.count++] = readers[i].sources[0];
		if (i == 0 || readers[i].start_ns < all.start_ns)
			all.start_ns = readers[i].start_ns;
	}
	pxt_unknown_select(&c->stat.select, &all, NULL);
	pxt_unknown_pairs(&c->stat.options, &all);
	status = pxt_unknown_status(&all, status);
	free(sources);
	return status;
}

/* ---- The command line ---- */

static bool take_pair(void *self, char *value)
{
	return pxt_pairs_option(&((struct command *)self)->stat.options, value);
}

static bool take_by(void *self, char *value)
{
	struct pxt_stat *s = &((struct command *)self)->stat;

	s->options.rows = strcmp(value, "thread") == 0  ? PXT_ROWS_THREAD
	                  : strcmp(value, "field") == 0 ? PXT_ROWS_FIELD
	                                                : PXT_ROWS_PAIR;
	if (s->options.rows == PXT_ROWS_PAIR)
		pxt_complain("--by is thread or field, not \"%s\"", value);
	return s->options.rows != PXT_ROWS_PAIR;
}

static const struct pxt_option options[] = {
	PXT_OPT_MORE(pxt_select_options, struct command, stat.select),
	PXT_OPT_TAKE('p', "pair", take_pair),
	PXT_OPT_FLAG(0, "any-thread", struct command, stat.options.any_thread),
	PXT_OPT_FLAG(0, "no-field", struct command, stat.options.no_field),
	PXT_OPT_TAKE(0, "by", take_by),
	PXT_OPT_FLAG(0, "ns", struct command, stat.plain_ns),
	PXT_OPT_FLAG(0, "histogram", struct command, stat.histogram),
	PXT_OPT_NUMBER(0, "top", struct command, stat.top, 1, PXT_TOP_MAX),
	PXT_OPT_TIME(0, "slice", struct command, stat.slice_ns, 1),
	PXT_OPT_FLAG(0, "aligned", struct command, stat.aligned),
	PXT_OPT_FLAG(0, "json", struct command, json),
	PXT_OPT_FLAG(0, "csv", struct command, csv),
	PXT_OPT_FLAG(0, "incomplete", struct command, incomplete),
	PXT_OPT_FLAG(0, "strict", struct command, strict),
	PXT_OPT_COLOUR(struct command, colour),
	PXT_OPT_END,
};

static int report_all(struct command *c, char *const *paths, int named)
{
	struct pxt_stat *s = &c->stat;
	unsigned found;
	struct pxt_logset *sets = pxt_sets_find(paths, (unsigned)named, &found);
	int count = (int)found;
	struct pxt_reader *readers = pxt_must(calloc((size_t)count, sizeof *readers));
	int status = PXT_EXIT_OK;

	s->out.colour = s->form == PXT_STAT_TEXT && pxt_colour_wanted(c->colour, STDOUT_FILENO);
	s->threads = pxt_must(calloc(PXT_THREADS_MAX + 1, sizeof *s->threads));
	pxt_stat_put_head(s);
	for (int i = 0; i < count; i++) {
		int mine = open_and_report(c, &readers[i], &sets[i]);

		if (mine == PXT_EXIT_LOG || status == PXT_EXIT_OK)
			status = mine;
		if (i + 1 < count && s->form == PXT_STAT_TEXT)
			pxt_out_char(&s->out, '\n');
	}
	int output = pxt_finish(&s->out);
	if (status != PXT_EXIT_LOG)
		status = review(c, readers, count, status);
	for (int i = 0; i < count; i++)
		pxt_reader_close(&readers[i]);
	free(readers);
	pxt_sets_free(sets, found);
	free(s->threads);
	return output == PXT_EXIT_OK ? status : output;
}

static int run(int argc, char **argv)
{
	static struct command c;
	int status;

	c.stat.out.fd = STDOUT_FILENO;
	status = pxt_options_read(&pxt_cmd_stat, &c, argc, argv);
	if (status >= 0)
		return status;
	if (!pxt_select_check(&c.stat.select))
		return pxt_usage("stat");
	if (c.stat.aligned && c.stat.slice_ns == 0) {
		pxt_complain(
		    "stat: --aligned says where slices begin: give their length with --slice");
		return pxt_usage("stat");
	}
	if (c.json && c.csv) {
		pxt_complain("stat: --json and --csv are two forms: choose one");
		return pxt_usage("stat");
	}
	c.stat.form = c.json ? PXT_STAT_JSON : c.csv ? PXT_STAT_CSV : c.stat.form;
	return report_all(&c, argv + optind, argc - optind);
}

const struct pxt_command pxt_cmd_stat = {
	.name = "stat",
	.summary = "counts the events, and measures durations",
	.help = help,
	.options = options,
	.wants = "which log?",
	.run = run,
};
