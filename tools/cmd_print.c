/* SPDX-License-Identifier: MIT */
/* cmd_print.c - pxtrace print: one line an event. */
#include "command.h"
#include "format.h"
#include "line.h"
#include "progress.h"
#include "select.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char *const help[] = {
	"pxtrace print - shows the events of a log, one line each\n"
	"\n"
	"usage: pxtrace print [OPTION]... LOG...\n"
	"\n"
	"A line is: time, thread (name/tid), event, and its fields by name. Data without a\n"
	"description is shown as bytes and text. Several logs are merged by time. Where events\n"
	"were lost stands a line of its own that says how many.\n"
	"\n"
	"time:\n"
	"      --relative        seconds since the start of the (earliest) log; the default\n"
	"      --utc, --local    date and time\n"
	"      --raw             the counter that the event was stamped with\n"
	"  -d, --delta           also the time since the line before\n",
	PXT_SELECT_HELP
	"                        CONDITION knows the event's fields, and time, event, thread, "
	"pid,\n"
	"                        tid, cpu, lost, bytes, cut; ==, !=, <, <=, >, >=, ~ (a glob), "
	"has,\n"
	"                        and, or, not, parentheses; 5ms, 0xff, 1.5, \"text\"\n"
	"  -n, --limit N         only the first N of them\n"
	"      --tail N          only the last N of them\n",
	"what of them:\n"
	"  -f, --fields NAMES    only these fields: job,late_ns\n"
	"      --bytes N         at most N bytes of data without description (64; 0: all)\n"
	"      --cpu             the CPU\n"
	"  -a, --address         where in the program: function (file:line), or module+offset\n"
	"                        where the binary is not at hand (wants addr2line)\n"
	"      --root DIR        look for binaries below DIR (logs of another machine)\n"
	"      --color WHEN      auto (on a terminal; NO_COLOR is honoured), always, never\n"
	"in which form:\n"
	"      --format TEXT     lines like TEXT; replaced in it are {time}, {utc}, {local}, "
	"{ns},\n"
	"                        {ticks}, {delta}, {thread}, {threadname}, {tid}, {pid}, {cpu},\n"
	"                        {event}, {id}, {fields}, {field:NAME}, {data}, {bytes}, {lost},\n"
	"                        {address}, {log}; {event:20}, {cpu:>3}, {tid:05}, {ticks:016x} "
	"say\n"
	"                        how wide; {{ is a brace, \\t a tabulator\n"
	"      --json            an object of JSON a line\n",
	"logs:\n"
	"      --incomplete      also a log whose program still runs or has died\n"
	"      --follow          the same, and wait for more until the stream is shut down\n"
	"      --strict          exit status 3 when events were lost\n"
	"  -h, --help            this\n"
	"\n"
	"examples: what did the threads named ctl* do around a late job, 1.20 s into the run?\n"
	"Which jobs were more than a millisecond late, and by how much?\n"
	"\n"
	"  $ pxtrace print --thread 'ctl*' --from 1.20 --to 1.21 --delta run.ptl\n"
	"  $ pxtrace print --where 'late_ns > 1ms' --format '{time} {field:late_ns:>12}' run.ptl\n"
	"\n"
	"exit status: 0 done; 1 wrong command line; 2 a log could not be read; 3 events were\n"
	"lost (--strict); 4 the output could not be written.\n",
	NULL,
};

struct printer {
	struct pxt_line line;
	struct pxt_select select;
	struct pxt_reader reader;
	const char *root;
	const char *colour;
	bool follow;
	bool incomplete;
	bool strict;
	bool limited;
	bool tailed;
	uint64_t limit;
	uint64_t tail;
	uint64_t skip; /* lines before the tail */
	uint64_t printed;
};

/* ---- The events one after the other ---- */

static bool chosen(const struct printer *p, const struct pxt_event *event)
{
	return pxt_select_event(&p->select, event, p->reader.start_ns);
}

/* First reading, where one is needed: how many lines there will be, and which addresses. */
static void count(struct printer *p)
{
	struct pxt_progress progress;
	struct pxt_event *event;
	uint64_t lines = 0;

	pxt_progress_reader(&progress, "counting", &p->reader, false);
	while ((event = pxt_reader_next(&p->reader)) != NULL) {
		pxt_progress_step(&progress);
		if (!chosen(p, event))
			continue;
		lines++;
		for (unsigned i = 0; p->line.address && i < p->reader.count; i++)
			if (p->reader.sources[i] == event->source)
				pxt_symbols_want(p->line.symbols[i],
				    (uint64_t)(uintptr_t)event->info.posix_prog_address);
	}
	for (unsigned i = 0; p->line.address && i < p->reader.count; i++)
		pxt_symbols_resolve(p->line.symbols[i]);
	pxt_progress_end(&progress);
	if (p->tailed && lines > p->tail)
		p->skip = lines - p->tail;
	pxt_reader_rewind(&p->reader);
}

/* Prints what there is; false when the limit was reached. */
static bool print_some(struct printer *p, struct pxt_progress *progress)
{
	struct pxt_event *event;

	while (p->line.out.error == 0 && (event = pxt_reader_next(&p->reader)) != NULL) {
		uint64_t lost = event->extra.posix_lost_before_np;

		pxt_progress_step(progress);
		if (p->limited && p->printed == p->limit)
			return false;
		/* Losses have no type and no thread: no filter but that of time hides them. */
		if (lost > 0 && p->skip == 0 &&
		    pxt_select_time(&p->select, event->ns, p->reader.start_ns) == 0)
			pxt_line_loss(&p->line, event, lost);
		if (!chosen(p, event))
			continue;
		if (p->skip > 0) {
			p->skip--;
			continue;
		}
		pxt_line_event(&p->line, event);
		p->printed++;
	}
	return true;
}

static int print_all(struct printer *p)
{
	struct pxt_progress progress;
	bool whole;

	if (p->tailed || (p->line.address && !p->follow))
		count(p);
	pxt_progress_reader(&progress, "printing", &p->reader, true);
	whole = print_some(p, &progress);
	pxt_progress_end(&progress);
	while (whole && p->follow && p->line.out.error == 0 && pxt_reader_again(&p->reader)) {
		pxt_out_flush(&p->line.out);
		pxt_reader_wait(&p->reader);
		whole = print_some(p, &progress);
	}
	for (unsigned i = 0; whole && !p->select.to.set && i < p->reader.count; i++) {
		uint64_t rest = pxt_source_lost_rest(p->reader.sources[i]);

		if (rest > 0)
			pxt_line_loss(&p->line, NULL, rest);
	}
	pxt_out_flush(&p->line.out);
	if (p->printed == 0 || p->select.where)
		pxt_select_review(&p->select, &p->reader);
	int status = pxt_reader_conclude(&p->reader, whole, p->strict);
	if (p->line.out.error != 0) {
		pxt_complain("standard output: %s", strerror(p->line.out.error));
		return PXT_EXIT_OUTPUT;
	}
	return status;
}

/* ---- The command line ---- */

enum {
	OPT_RELATIVE = 400,
	OPT_UTC,
	OPT_LOCAL,
	OPT_RAW,
	OPT_TAIL,
	OPT_BYTES,
	OPT_CPU,
	OPT_ROOT,
	OPT_COLOUR,
	OPT_INCOMPLETE,
	OPT_FOLLOW,
	OPT_STRICT,
	OPT_FORMAT,
	OPT_JSON
};

static const struct option options[] = {
	PXT_SELECT_OPTIONS,
	{ "relative", no_argument, NULL, OPT_RELATIVE },
	{ "utc", no_argument, NULL, OPT_UTC },
	{ "local", no_argument, NULL, OPT_LOCAL },
	{ "raw", no_argument, NULL, OPT_RAW },
	{ "delta", no_argument, NULL, 'd' },
	{ "limit", required_argument, NULL, 'n' },
	{ "tail", required_argument, NULL, OPT_TAIL },
	{ "fields", required_argument, NULL, 'f' },
	{ "bytes", required_argument, NULL, OPT_BYTES },
	{ "cpu", no_argument, NULL, OPT_CPU },
	{ "address", no_argument, NULL, 'a' },
	{ "root", required_argument, NULL, OPT_ROOT },
	{ "color", required_argument, NULL, OPT_COLOUR },
	{ "colour", required_argument, NULL, OPT_COLOUR },
	{ "format", required_argument, NULL, OPT_FORMAT },
	{ "json", no_argument, NULL, OPT_JSON },
	{ "incomplete", no_argument, NULL, OPT_INCOMPLETE },
	{ "follow", no_argument, NULL, OPT_FOLLOW },
	{ "strict", no_argument, NULL, OPT_STRICT },
	{ "help", no_argument, NULL, 'h' },
	{ NULL, 0, NULL, 0 },
};

static bool take_number(uint64_t *to, const char *text, const char *option)
{
	return pxt_option_number(to, text, option, 0, UINT64_MAX);
}

static bool take_flag(struct printer *p, int code)
{
	switch (code) {
	case OPT_RELATIVE:
	case OPT_UTC:
	case OPT_LOCAL:
	case OPT_RAW:
		p->line.face = code == OPT_UTC     ? PXT_FACE_UTC
		               : code == OPT_LOCAL ? PXT_FACE_LOCAL
		               : code == OPT_RAW   ? PXT_FACE_RAW
		                                   : PXT_FACE_RELATIVE;
		p->line.calendar.local = code == OPT_LOCAL;
		return true;
	case 'd':
		return p->line.delta = true;
	case OPT_JSON:
		return p->line.json = true;
	case OPT_CPU:
		return p->line.cpu = true;
	case 'a':
		return p->line.address = true;
	case OPT_INCOMPLETE:
		return p->incomplete = true;
	case OPT_FOLLOW:
		return p->follow = p->incomplete = true;
	case OPT_STRICT:
		return p->strict = true;
	default:
		return false;
	}
}

static bool take_format(struct printer *p, const char *text)
{
	struct pxt_text_error error;

	pxt_format_free(p->line.format);
	p->line.format = pxt_format_parse(text, &error);
	if (!p->line.format) {
		pxt_text_complain("--format", text, &error);
		return false;
	}
	p->line.address = p->line.address || pxt_format_has_address(p->line.format);
	return true;
}

static bool take_option(struct printer *p, int code, char *value)
{
	uint64_t number = 0;

	if (pxt_select_is(code))
		return pxt_select_option(&p->select, code, value);
	switch (code) {
	case 'n':
		p->limited = true;
		return take_number(&p->limit, value, "--limit");
	case OPT_TAIL:
		p->tailed = true;
		return take_number(&p->tail, value, "--tail");
	case OPT_BYTES:
		if (!take_number(&number, value, "--bytes"))
			return false;
		p->line.fields.dump_limit = (size_t)number;
		return true;
	case 'f':
		return pxt_fields_only(&p->line.fields, value);
	case OPT_FORMAT:
		return take_format(p, value);
	case OPT_ROOT:
		p->root = value;
		return true;
	case OPT_COLOUR:
		p->colour = value;
		return pxt_colour_valid(value);
	default:
		return take_flag(p, code);
	}
}

static int prepare(struct printer *p, int argc, char **argv)
{
	if (optind == argc) {
		pxt_complain("print: which log?");
		return pxt_usage("print");
	}
	if (!pxt_select_check(&p->select))
		return pxt_usage("print");
	if (p->limited && p->tailed) {
		pxt_complain("print: --limit takes the first events, --tail the last: choose one");
		return pxt_usage("print");
	}
	if (p->follow && argc - optind > 1) {
		pxt_complain("print: --follow takes one log");
		return pxt_usage("print");
	}
	if (p->line.json && p->line.format) {
		pxt_complain("print: --json and --format are two forms: choose one");
		return pxt_usage("print");
	}
	p->line.reader = &p->reader;
	p->line.live = p->follow;
	p->line.out.colour = pxt_colour_wanted(p->colour, STDOUT_FILENO);
	return pxt_reader_open(&p->reader, argv + optind, (unsigned)(argc - optind),
	    p->follow       ? PXT_OPEN_LIVE
	    : p->incomplete ? PXT_OPEN_INCOMPLETE
	                    : PXT_OPEN_COMPLETE,
	    &p->select);
}

static int run(int argc, char **argv)
{
	static struct printer p = { .line = { .out = { .fd = STDOUT_FILENO },
		                        .fields = { .dump_limit = 64 } } };
	int code;

	while ((code = getopt_long(argc, argv, ":e:t:dn:f:ah", options, NULL)) != -1) {
		if (code == 'h')
			return pxt_help(help);
		if (code == '?' || code == ':')
			return pxt_option_error("print", code, argv, options);
		if (!take_option(&p, code, optarg))
			return pxt_usage("print");
	}
	int status = prepare(&p, argc, argv);
	if (status == PXT_EXIT_OK) {
		p.line.symbols =
		    pxt_must(calloc(p.reader.count + 1u, sizeof(struct pxt_symbols *)));
		for (unsigned i = 0; p.line.address && i < p.reader.count; i++)
			p.line.symbols[i] = pxt_symbols_new(p.reader.sources[i], p.root);
		status = print_all(&p);
		for (unsigned i = 0; p.line.address && i < p.reader.count; i++)
			pxt_symbols_free(p.line.symbols[i]);
		free(p.line.symbols);
	}
	pxt_reader_close(&p.reader);
	return status;
}

const struct pxt_command pxt_cmd_print = {
	.name = "print",
	.summary = "shows the events of a log, one line each",
	.help = help,
	.run = run,
};
