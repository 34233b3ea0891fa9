/* SPDX-License-Identifier: MIT */
/* cmd_report.c - pxtrace report: logs as one HTML page. */
#include "tools/command/command.h"
#include "tools/output/out.h"
#include "tools/report/report.h"
#include "tools/unknown/unknown.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char *const help[] = {
	"pxtrace report - makes one HTML page of logs, for any browser\n"
	"\n"
	"usage: pxtrace report [OPTION]... LOG... [-o PAGE.html]\n"
	"\n"
	"The page holds everything: a time line by thread that zooms from the whole run to single\n"
	"nanoseconds, why the worst spans were late (the answers of pxtrace why), search by name,\n"
	"field and duration, durations as histograms and percentiles, counts and rates of types\n"
	"and threads, every loss where it happened, and what the logs say of themselves. With\n"
	"scheduler events (pxtrace merge) also who ran on each CPU, and whether each thread ran,\n"
	"could have run or slept. It needs no network and no server: open the file, mail it,\n"
	"keep it beside the bug report. Press ? on the page for its keys.\n"
	"\n"
	"Two events make a span by their names, as pxtrace stat --help tells.\n"
	"\n"
	"  -o, --output FILE     where to; - is standard output. Without it: beside the first "
	"log,\n"
	"                        run.html of run.ptl, unless something else is there\n"
	"      --max-events N    so many on the page (1000000); what comes behind is counted and\n"
	"                        its losses are marked, and the page says so\n"
	"  -n, --worst N         explains the worst N spans (3; 0: none, and the logs are read "
	"once\n"
	"                        instead of twice; at most 16)\n"
	"  -r, --roles FILE      events that are called otherwise, as pxtrace why --help tells\n"
	"      --counter NAME    a numeric field as a curve: FIELD, or EVENT.FIELD, with * and ?;\n"
	"                        several times\n",
	"pairs:\n"
	"  -p, --pair A,B        also from A to B; --pair A,A measures from one A to the next;\n"
	"                        several times\n"
	"  -p, --pair A,B,FIELD  the same, matched by that field\n"
	"      --any-thread      a pair may begin in one thread and end in another\n"
	"      --no-field        match by nesting alone\n" PXT_SELECT_HELP,
	"logs:\n"
	"      --incomplete      also a log whose program still runs or has died\n"
	"      --strict          exit status 3 when events were lost\n"
	"  -h, --help            this\n"
	"\n"
	"example: the run, and how long each request waited for its reply\n"
	"\n"
	"  $ pxtrace report --pair request,reply,id run.ptl -o run.html\n"
	"\n"
	"exit status: 0 done; 1 wrong command line; 2 a log could not be read, or no log has a\n"
	"name that was asked for; 3 events were lost (--strict); 4 the page could not be\n"
	"written.\n",
	NULL,
};

#define WORST 3u /* spans that are explained, unless somebody says how many */

struct wish {
	struct pxt_report report;
	const char *output;
	bool incomplete;
	bool strict;
};

/* ---- The command line ---- */

static bool take_roles(void *self, char *value)
{
	return pxt_roles_read(((struct wish *)self)->report.answers.book, value);
}

static bool take_counter(void *self, char *value)
{
	return pxt_counters_option(&((struct wish *)self)->report.counters, "--counter", value);
}

static bool take_pair(void *self, char *value)
{
	return pxt_pairs_option(&((struct wish *)self)->report.options, value);
}

static const struct pxt_option options[] = {
	PXT_OPT_MORE(pxt_select_options, struct wish, report.select),
	PXT_OPT_TEXT('o', "output", struct wish, output),
	PXT_OPT_NUMBER(0, "max-events", struct wish, report.limit, 1, UINT32_MAX),
	PXT_OPT_NUMBER('n', "worst", struct wish, report.answers.worst, 0, PXT_LATE_MAX),
	PXT_OPT_TAKE('r', "roles", take_roles),
	PXT_OPT_TAKE(0, "counter", take_counter),
	PXT_OPT_TAKE('p', "pair", take_pair),
	PXT_OPT_FLAG(0, "any-thread", struct wish, report.options.any_thread),
	PXT_OPT_FLAG(0, "no-field", struct wish, report.options.no_field),
	PXT_OPT_FLAG(0, "incomplete", struct wish, incomplete),
	PXT_OPT_FLAG(0, "strict", struct wish, strict),
	PXT_OPT_END,
};

/* ---- The page ---- */

/* True, with a word to the user, when the page would overwrite what it is made of. */
static bool is_a_log(const struct pxt_report *report, const char *path)
{
	for (unsigned i = 0; i < report->reader.count; i++) {
		if (!pxt_source_has_file(report->reader.sources[i], path))
			continue;
		pxt_complain("report: %s is the log itself; the page needs a name of its own: -o "
		             "%s.html",
		    path, path);
		return true;
	}
	return false;
}

/* Beside the log, under its name; free() it.  NULL: the log comes through a pipe, or there is another file. */
static char *usual_name(const char *log)
{
	static const char ending[] = ".ptl";
	size_t length = strlen(log);
	size_t room = length + sizeof ".html";
	char *name;

	if (strcmp(log, "-") == 0) {
		pxt_complain("report: where to? The log has no name: -o run.html");
		return NULL;
	}
	if (length >= sizeof ending && strcmp(log + length - strlen(ending), ending) == 0)
		length -= strlen(ending);
	name = pxt_must(malloc(room));
	(void)snprintf(name, room, "%.*s.html", (int)length, log);
	/* What is there is no page of ours: only who names it replaces it. */
	if (!pxt_outfile_is_others(name, pxt_page_begin, sizeof pxt_page_begin))
		return name;
	pxt_complain(
	    "report: %s is there and is no page of pxtrace: -o %s replaces it", name, name);
	free(name);
	return NULL;
}

static int open_output(struct pxt_report *report, const char *path)
{
	if (is_a_log(report, path))
		return PXT_EXIT_USAGE;
	if (!pxt_outfile_open(&report->file, path))
		return PXT_EXIT_OUTPUT;
	report->out.fd = report->file.fd;
	return PXT_EXIT_OK;
}

/* Half a page is worse than none: it would open, and show nothing. */
static int close_output(struct pxt_report *report, const char *path)
{
	bool named = report->file.final != NULL;

	pxt_out_flush(&report->out);
	if (report->out.error == 0)
		return pxt_outfile_commit(&report->file) ? PXT_EXIT_OK : PXT_EXIT_OUTPUT;
	pxt_complain("report: %s: %s", path, strerror(report->out.error));
	pxt_outfile_discard(&report->file);
	if (named)
		pxt_explain("%s was not written", path);
	return PXT_EXIT_OUTPUT;
}

/* What the first reading met: the second one need not come so far. */
static int conclude(struct pxt_report *report, bool strict)
{
	pxt_unknown_select(&report->select, &report->reader, NULL);
	pxt_unknown_pairs(&report->options, &report->reader);
	for (unsigned i = 0; i < report->counters.count; i++)
		pxt_unknown_counter(&report->reader, "--counter", report->counters.patterns[i]);
	if (report->pack.events < report->events) {
		pxt_complain("report: the page holds the first %llu of %llu events",
		    (unsigned long long)report->pack.events, (unsigned long long)report->events);
		pxt_explain("--from and --to choose other ones, --max-events takes more of them");
	}
	return pxt_unknown_status(
	    &report->reader, pxt_reader_conclude(&report->reader, true, strict));
}

static int put_page(struct pxt_report *report, bool strict)
{
	int status = PXT_EXIT_USAGE;

	pxt_page_put(&report->out, &pxt_page_head);
	if (pxt_report_collect(report)) {
		pxt_report_meta(report);
		status = conclude(report, strict);
		pxt_report_meta_answers(report);
		pxt_page_put(&report->out, &pxt_page_tail);
	}
	return status;
}

static int make_page(struct pxt_report *report, const struct wish *wish)
{
	int status = put_page(report, wish->strict);
	int written = PXT_EXIT_OK;

	if (status == PXT_EXIT_USAGE)
		pxt_outfile_discard(&report->file);
	else
		written = close_output(report, wish->output);
	return written == PXT_EXIT_OK ? status : written;
}

static int make(struct pxt_report *report, const struct wish *wish, char *const *paths, int count)
{
	int status = pxt_reader_open(&report->reader, paths, (unsigned)count,
	    wish->incomplete ? PXT_OPEN_INCOMPLETE : PXT_OPEN_COMPLETE, &report->select);

	if (status == PXT_EXIT_OK) {
		pxt_roles_bind(report->answers.book, &report->reader);
		status = open_output(report, wish->output);
	}
	if (status == PXT_EXIT_OK)
		status = make_page(report, wish);
	pxt_report_free(report);
	pxt_reader_close(&report->reader);
	return status;
}

/* To a program as it is, to a terminal without what would be a command to it. */
static void tell_name(const char *name)
{
	static struct pxt_out out;

	out.fd = STDOUT_FILENO;
	if (isatty(STDOUT_FILENO))
		pxt_out_escaped(&out, name, strlen(name));
	else
		pxt_out_text(&out, name);
	pxt_out_char(&out, '\n');
	(void)pxt_finish(&out);
}

/* Where nobody said where to, the page's name is told. */
static int make_somewhere(
    struct pxt_report *report, struct wish *wish, char *const *paths, int count)
{
	char *usual = NULL;
	int status;

	if (!wish->output) {
		usual = usual_name(paths[0]);
		if (!usual)
			return pxt_usage("report");
		wish->output = usual;
	}
	status = make(report, wish, paths, count);
	if (usual && (status == PXT_EXIT_OK || status == PXT_EXIT_LOST))
		tell_name(usual);
	free(usual);
	return status;
}

static int take_line(struct wish *wish, int argc, char **argv)
{
	int status = pxt_options_read(&pxt_cmd_report, wish, argc, argv);

	if (status >= 0)
		return status;
	if (!pxt_select_check(&wish->report.select))
		return pxt_usage("report");
	return make_somewhere(&wish->report, wish, argv + optind, argc - optind);
}

static int run(int argc, char **argv)
{
	static struct wish wish;

	wish.report.limit = PXT_REPORT_EVENTS;
	wish.report.answers.worst = WORST;
	wish.report.answers.book = pxt_roles_new();
	int status = take_line(&wish, argc, argv);

	pxt_answers_free(&wish.report.answers);
	return status;
}

const struct pxt_command pxt_cmd_report = {
	.name = "report",
	.summary = "makes one HTML page: time line, durations, losses",
	.help = help,
	.options = options,
	.wants = "which log?",
	.run = run,
};
