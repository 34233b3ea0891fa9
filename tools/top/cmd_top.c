/* SPDX-License-Identifier: MIT */
/* cmd_top.c - pxtrace top: running programs' streams, live, on the whole screen or as tables. */
#include "tools/command/command.h"
#include "tools/output/out.h"
#include "tools/top/top.h"

#include <signal.h>
#include <unistd.h>

static const char *const help[] = {
	"pxtrace top - shows what running programs do, live: their streams that have a name\n"
	"\n"
	"usage: pxtrace top [OPTION]... [NAME...]\n"
	"\n"
	"Shown is, of the last five seconds or of the interval if that is longer: events and\n"
	"losses a second, how full the streams are, the busiest threads, how long pairs of\n"
	"events lasted (X_begin and X_end, as pxtrace stat has them), and the locks that were\n"
	"waited for (X_wait, X_lock). NAME is a name that `pxtrace ps` shows, or, with a slash,\n"
	"the path of a socket; without one all are shown, those to come as well.\n"
	"\n"
	"options:\n"
	"  -b, --batch          tables on standard output, one after another, for scripts\n"
	"  -n, --times N        ends after N tables\n"
	"      --interval TIME  from one table to the next: 1s, 500ms, 1min (1s)\n"
	"      --by COLUMN      sorts the tables that have it by name, events, lost, fill,\n"
	"                       share, count, p50, p99, max, late, waited, longest, waits or "
	"waiting;\n"
	"                       all others, and without this option all, in their usual order\n"
	"      --rows N         of each table but that of streams, at most (with --batch 10)\n"
	"  -h, --help           this\n"
	"\n",
	"keys:\n"
	"  q        ends it\n"
	"  space    freezes the numbers, and lets them go on\n"
	"  s        sorts by the next column; so do the arrows to the right and to the left\n"
	"  up, down choose a stream\n"
	"  S        saves what that stream holds as a log, as pxtrace snapshot does; its name is\n"
	"           the stream's and the time, and it is in the present folder\n"
	"  ?        help\n"
	"\n"
	"The programs do not wait for it: what comes faster than it can be read is left out, and\n"
	"READ says how much of the events threads, pairs and locks are of. EVENTS/S and losses\n"
	"are the owner's own numbers. A name that is cut ends in +.\n"
	"\n"
	"example: which stream loses events, ten times a second apart, for a script?\n"
	"\n"
	"  $ pxtrace top --batch -n 10 --by lost\n"
	"\n"
	"exit status: 0 done, also by a signal; 1 wrong command line, or a terminal that cannot "
	"be\n"
	"drawn on; 2 a stream that was named cannot be reached, or the folder of names is "
	"somebody\n"
	"else's; 4 the output could not be written.\n",
	NULL,
};

static volatile sig_atomic_t stopped;

static void stop(int signal)
{
	(void)signal;
	stopped = 1;
}

/* The second time for good: the output may be stuck. */
static void watch_signals(void)
{
	struct sigaction action = { .sa_handler = stop, .sa_flags = (int)SA_RESETHAND };

	(void)sigaction(SIGINT, &action, NULL);
	(void)sigaction(SIGTERM, &action, NULL);
	(void)sigaction(SIGHUP, &action, NULL);
}

/* ---- The command line ---- */

#define LEAST_NS  INT64_C(100000000)
#define MOST_NS   INT64_C(3600000000000)
#define USUAL_NS  INT64_C(1000000000)
/* What the numbers are of, unless the interval is longer. */
#define WINDOW_NS INT64_C(5000000000)

struct top {
	bool batch;
	struct pxt_panel_options options;
};

static bool take_interval(void *self, char *value)
{
	struct top *top = self;
	struct pxt_when when = { 0 };

	if (pxt_when_parse(value, &when) && !when.absolute && when.ns >= LEAST_NS &&
	    when.ns <= MOST_NS) {
		top->options.interval_ns = when.ns;
		return true;
	}
	pxt_complain(
	    "--interval wants a duration from 100ms to an hour (1s, 500ms, 2), not \"%s\"", value);
	return false;
}

static bool take_column(void *self, char *value)
{
	struct top *top = self;
	const char *words[PXT_NUMBERS_COLUMNS + 1] = { NULL };
	const char *meant;

	top->options.column = pxt_numbers_called(value);
	if (top->options.column < PXT_NUMBERS_COLUMNS)
		return true;
	for (unsigned i = 0; i < PXT_NUMBERS_COLUMNS; i++)
		words[i] = pxt_numbers_word((enum pxt_numbers_column)i);
	meant = pxt_suggest(value, words);
	if (meant)
		pxt_complain("--by: there is no column \"%s\"; did you mean \"%s\"?", value, meant);
	else
		pxt_complain("--by: there is no column \"%s\"", value);
	return false;
}

static const struct pxt_option options[] = {
	PXT_OPT_FLAG('b', "batch", struct top, batch),
	PXT_OPT_NUMBER('n', "times", struct top, options.times, 1, UINT32_MAX),
	PXT_OPT_TAKE(0, "interval", take_interval),
	PXT_OPT_TAKE(0, "by", take_column),
	PXT_OPT_NUMBER(0, "rows", struct top, options.rows, 1, PXT_NUMBERS_ROWS),
	PXT_OPT_END,
};

static int show(const struct top *top, struct pxt_live *live)
{
	int status = pxt_live_begin(live);

	if (status != PXT_EXIT_OK)
		return status;
	if (pxt_live_count(live) == 0) {
		pxt_complain("top: no running program of yours has a stream with a name");
		pxt_explain("posix_trace_attr_setsharename_np() gives one");
		return PXT_EXIT_OK;
	}
	watch_signals();
	return top->batch ? pxt_panel_batch(live, &top->options, &stopped)
	                  : pxt_panel_screen(live, &top->options, &stopped);
}

static int run(int argc, char **argv)
{
	struct top top = { .options = { .interval_ns = USUAL_NS } };
	struct pxt_live *live;
	int status;

	status = pxt_options_read(&pxt_cmd_top, &top, argc, argv);
	if (status >= 0)
		return status;
	int64_t window = top.options.interval_ns > WINDOW_NS ? top.options.interval_ns : WINDOW_NS;
	live = pxt_live_new(
	    argv + optind, (size_t)(argc - optind), window / PXT_MODEL_SLOTS, pxt_when_monotonic());
	status = show(&top, live);
	pxt_live_free(live);
	return status;
}

const struct pxt_command pxt_cmd_top = {
	.name = "top",
	.summary = "shows live what they do: rates, threads, durations, locks",
	.help = help,
	.options = options,
	.run = run,
};
