/* SPDX-License-Identifier: MIT */
/* cmd_compare.c - pxtrace compare: which durations differ between two sets of logs. */
#include "tools/command/command.h"
#include "tools/compare/compare.h"
#include "tools/output/out.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const char *const help[] = {
	"pxtrace compare - shows which durations changed between two sets of logs\n"
	"\n"
	"usage: pxtrace compare [OPTION]... BEFORE... --with AFTER...\n"
	"\n"
	"Compares how long things took in runs of two versions of a program: spans by their\n"
	"names (X_begin .. X_end), waits for locks by variable or number; where no log has spans,\n"
	"the rounds of threads by their names (`pxtrace why --help`). Of each: median, p99 and\n"
	"worst, each the median of the logs of its side. Then by how much it changed, and\n"
	"an interval for that; what is new, and what is gone; what became slower by which wait,\n"
	"and who had the lock.\n"
	"\n"
	"A run counts as one observation, as runs of one program differ, too. What is called\n"
	"slower or faster differs by more than noise: of all comparisons of versions that do\n"
	"not differ, however many names they have, at most 5 % say so. That wants 4 logs a\n"
	"side, or 3 and 5; fewer give figures, but neither interval nor conclusion.\n"
	"\n"
	"options:\n"
	"      --with            the logs after it are those of the second set, AFTER\n"
	"      --fail-above PERCENT  exit status 6 when a figure is slower by more than that "
	"(10%),\n"
	"                        even at the low end of its interval\n"
	"      --json            one JSON object\n"
	"      --html FILE       also a page, with both distributions of each on one axis; -: it\n"
	"                        takes the place of the text\n"
	"      --incomplete      also a log whose program still runs or has died\n"
	"      --strict          exit status 3 when events were lost\n"
	"      --color WHEN      auto (on a terminal; NO_COLOR is honoured), always, never\n"
	"      --colour WHEN     the same\n"
	"  -h, --help            this\n"
	"\n"
	"example: is the new version slower? Five runs of each, by turns:\n"
	"\n",
	"  $ for i in 1 2 3 4 5; do\n"
	"        PXTRACE_OUT=old$i.ptl ./server-old; PXTRACE_OUT=new$i.ptl ./server-new\n"
	"    done\n"
	"  $ pxtrace compare old?.ptl --with new?.ptl --fail-above 10%\n"
	"\n"
	"exit status: 0 done; 1 wrong command line; 2 a log could not be read, or --fail-above\n"
	"had nothing to judge; 3 events were lost (--strict); 4 the output could not be written;\n"
	"6 slower (--fail-above).\n",
	NULL,
};

struct command {
	struct pxt_out out;
	struct pxt_comparison comparison;
	char *logs[PXT_SIDES][PXT_COMPARE_LOGS];
	unsigned count[PXT_SIDES];
	enum pxt_side side; /* of the next log on the command line */
	bool has_limit;
	double limit; /* a ratio */
	const char *page;
	bool json;
	bool incomplete;
	bool strict;
	const char *colour;
};

/* ---- The page ---- */

static bool takes_output(const char *page)
{
	return page && strcmp(page, "-") == 0;
}

/* False, with a word to the user, when a page of that name would replace what is none. */
static bool may_write(const struct command *c)
{
	struct stat file;

	if (takes_output(c->page) && c->json) {
		pxt_complain("compare: --json and --html - want the same place");
		return false;
	}
	if (!c->page || takes_output(c->page))
		return true;
	for (unsigned side = 0; side < PXT_SIDES; side++)
		for (unsigned i = 0; i < c->count[side]; i++)
			if (pxt_outfile_same(c->page, c->logs[side][i])) {
				pxt_complain("compare: %s is one of the logs; the page needs a "
				             "name of its own",
				    c->page);
				return false;
			}
	if (stat(c->page, &file) != 0 || !S_ISREG(file.st_mode) ||
	    !pxt_outfile_is_others(c->page, pxt_compare_page_mark, strlen(pxt_compare_page_mark)))
		return true;
	pxt_complain("compare: %s is there and is no page of pxtrace compare", c->page);
	return false;
}

static int write_page(const struct command *c)
{
	static struct pxt_out out;
	struct pxt_outfile file = { 0 };

	if (!pxt_outfile_open(&file, c->page))
		return PXT_EXIT_OUTPUT;
	out.fd = file.fd;
	pxt_compare_page(&out, &c->comparison);
	pxt_out_flush(&out);
	if (out.error == 0)
		return pxt_outfile_commit(&file) ? PXT_EXIT_OK : PXT_EXIT_OUTPUT;
	pxt_complain("compare: %s: %s", c->page, strerror(out.error));
	pxt_outfile_discard(&file);
	return PXT_EXIT_OUTPUT;
}

/* ---- The work ---- */

/* One that counts twice makes noise look less than it is. */
static bool is_new(const struct command *c, enum pxt_side side, unsigned log)
{
	for (unsigned i = 0; i <= (unsigned)side; i++)
		for (unsigned k = 0; k < (i == (unsigned)side ? log : c->count[i]); k++)
			if (!pxt_outfile_is_another("compare", c->logs[side][log], c->logs[i][k]))
				return false;
	return true;
}

/* A log that cannot be read whole is compared with nothing. */
static int measure(struct command *c, enum pxt_side side, unsigned log)
{
	struct pxt_reader reader = { 0 };
	int status = pxt_reader_open(&reader, &c->logs[side][log], 1,
	    c->incomplete ? PXT_OPEN_INCOMPLETE : PXT_OPEN_COMPLETE, NULL);

	if (status == PXT_EXIT_OK) {
		pxt_compare_measure(&c->comparison, &reader, side);
		status = pxt_reader_conclude(&reader, true, c->strict);
	}
	pxt_reader_close(&reader);
	return status;
}

static int measure_all(struct command *c)
{
	int status = PXT_EXIT_OK;

	for (unsigned side = 0; side < PXT_SIDES; side++) {
		for (unsigned i = 0; i < c->count[side]; i++) {
			int mine = is_new(c, (enum pxt_side)side, i)
			               ? measure(c, (enum pxt_side)side, i)
			               : PXT_EXIT_LOG;

			if (mine == PXT_EXIT_LOG)
				return mine;
			status = status == PXT_EXIT_OK ? mine : status;
		}
	}
	return status;
}

/* Who had the locks for which threads wait longer now: only of logs that can be read again. */
static void ask(struct command *c)
{
	for (unsigned i = 0; i < c->count[PXT_AFTER]; i++) {
		struct pxt_reader reader = { 0 };
		struct stat file;

		if (!pxt_compare_asks(&c->comparison, i) ||
		    stat(c->logs[PXT_AFTER][i], &file) != 0 || !S_ISREG(file.st_mode))
			continue;
		if (pxt_reader_open(&reader, &c->logs[PXT_AFTER][i], 1, PXT_OPEN_INCOMPLETE,
		        NULL) == PXT_EXIT_OK)
			pxt_compare_ask(&c->comparison, &reader, i);
		pxt_reader_close(&reader);
	}
}

static int hold_limit(const struct command *c)
{
	const unsigned *found = c->comparison.verdicts;

	if (found[PXT_VERDICT_NOISE] + found[PXT_VERDICT_SLOWER] + found[PXT_VERDICT_FASTER] == 0) {
		pxt_complain("compare: --fail-above has nothing to judge: no name is in all logs");
		return PXT_EXIT_LOG;
	}
	for (unsigned i = 0; i < c->comparison.count; i++) {
		for (unsigned k = 0; k < PXT_FIGURES; k++) {
			const struct pxt_change *change = &c->comparison.list[i]->changes[k];

			if (change->verdict == PXT_VERDICT_SLOWER && change->low > c->limit)
				return PXT_EXIT_SLOWER;
		}
	}
	return PXT_EXIT_OK;
}

static int compare(struct command *c)
{
	int status = measure_all(c);
	int page = PXT_EXIT_OK;

	if (status != PXT_EXIT_LOG) {
		pxt_compare_finish(&c->comparison);
		pxt_compare_judge(&c->comparison);
		ask(c);
		if (!takes_output(c->page) && c->json)
			pxt_compare_json(&c->out, &c->comparison);
		else if (!takes_output(c->page))
			pxt_compare_text(&c->out, &c->comparison);
		if (c->page)
			page = write_page(c);
		if (c->comparison.beyond > 0)
			pxt_complain("%llu durations are left out: there are more than %u names",
			    (unsigned long long)c->comparison.beyond, PXT_COMPARE_NAMES);
		if (c->has_limit && status == PXT_EXIT_OK)
			status = hold_limit(c);
	}
	int written = pxt_finish(&c->out);
	written = written == PXT_EXIT_OK ? page : written;
	pxt_compare_free(&c->comparison);
	return written == PXT_EXIT_OK ? status : written;
}

/* ---- The command line ---- */

static bool take_limit(void *self, char *value)
{
	struct command *c = self;
	char *end;
	double percent = strtod(value, &end);

	/* strtod() takes blanks, signs and words, too. */
	if (*value < '0' || *value > '9' || !isfinite(percent) || (*end && strcmp(end, "%") != 0)) {
		pxt_complain("--fail-above wants a percentage, as 10%%, not \"%s\"", value);
		return false;
	}
	c->has_limit = true;
	c->limit = 1 + percent / 100;
	return true;
}

static bool take_log(void *self, char *path)
{
	struct command *c = self;

	if (c->count[c->side] == PXT_COMPARE_LOGS) {
		pxt_complain("compare: more than %u logs a side", PXT_COMPARE_LOGS);
		return false;
	}
	c->logs[c->side][c->count[c->side]++] = path;
	return true;
}

static bool take_with(void *self, char *value)
{
	struct command *c = self;

	(void)value;
	if (c->side == PXT_AFTER) {
		pxt_complain("compare: --with stands once, between the two sets");
		return false;
	}
	c->side = PXT_AFTER;
	return true;
}

static bool take_page(void *self, char *value)
{
	struct command *c = self;

	c->page = value;
	return c->comparison.has_shares = true;
}

/* Words come in their order, between --with and others. */
static const struct pxt_option options[] = {
	{ PXT_OPTION_WORD, .take = take_log },
	PXT_OPT_DO(0, "with", take_with),
	PXT_OPT_TAKE(0, "fail-above", take_limit),
	PXT_OPT_FLAG(0, "json", struct command, json),
	PXT_OPT_TAKE(0, "html", take_page),
	PXT_OPT_FLAG(0, "incomplete", struct command, incomplete),
	PXT_OPT_FLAG(0, "strict", struct command, strict),
	PXT_OPT_COLOUR(struct command, colour),
	PXT_OPT_END,
};

/* False, with a word to the user, when that cannot be compared. */
static bool is_sound(const struct command *c)
{
	if (c->count[PXT_BEFORE] == 0 || c->count[PXT_AFTER] == 0) {
		pxt_complain("compare: which logs %s: pxtrace compare BEFORE... --with AFTER...",
		    c->count[PXT_BEFORE] == 0 ? "before" : "after");
		return false;
	}
	if (c->has_limit && !pxt_compare_enough(c->count[PXT_BEFORE], c->count[PXT_AFTER])) {
		pxt_complain(
		    "compare: --fail-above wants more logs: of %u before and %u after nobody "
		    "can tell a difference from noise",
		    c->count[PXT_BEFORE], c->count[PXT_AFTER]);
		pxt_explain("4 a side are enough, or 3 and 5");
		return false;
	}
	return may_write(c);
}

static int run(int argc, char **argv)
{
	static struct command c;
	int status;

	c.out.fd = STDOUT_FILENO;
	status = pxt_options_read(&pxt_cmd_compare, &c, argc, argv);
	if (status >= 0)
		return status;
	if (!is_sound(&c))
		return pxt_usage("compare");
	c.out.colour = !c.json && pxt_colour_wanted(c.colour, STDOUT_FILENO);
	return compare(&c);
}

const struct pxt_command pxt_cmd_compare = {
	.name = "compare",
	.summary = "shows which durations changed between two sets of logs",
	.help = help,
	.options = options,
	.run = run,
};
