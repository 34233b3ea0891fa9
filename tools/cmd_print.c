/* SPDX-License-Identifier: MIT */
/* cmd_print.c - pxtrace print: one line an event. */
#include "command.h"
#include "fields.h"
#include "select.h"
#include "symbols.h"

#include <errno.h>
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
	"  -d, --delta           also the time since the line before\n"
	"which events:\n"
	"  -e, --event GLOB      types with such a name; may be given several times\n"
	"  -t, --thread NAME|TID threads with such a name (a GLOB) or number; several times\n"
	"      --from TIME       not before: 1.5, 200ms, 2min (since the start), or\n"
	"      --to TIME         not after:  2026-01-31T12:00:00.25Z (local without Z)\n"
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
	"logs:\n"
	"      --incomplete      also a log whose program still runs or has died\n"
	"      --follow          the same, and wait for more until the stream is shut down\n"
	"      --strict          exit status 3 when events were lost\n"
	"  -h, --help            this\n"
	"\n"
	"example: what did the threads named ctl* do around a late job, 1.20 s into the run?\n"
	"\n"
	"  $ pxtrace print --thread 'ctl*' --from 1.20 --to 1.21 --delta run.ptl\n"
	"\n"
	"exit status: 0 done; 1 wrong command line; 2 a log could not be read; 3 events were\n"
	"lost (--strict); 4 the output could not be written.\n",
	NULL,
};

struct printer {
	struct pxt_out out;
	struct pxt_select select;
	struct pxt_fields fields;
	struct pxt_reader reader;
	struct pxt_calendar calendar;
	struct pxt_symbols **symbols; /* one a log, with --address */
	const char *root;
	const char *colour;
	enum pxt_face face;
	bool delta;
	bool cpu;
	bool address;
	bool follow;
	bool incomplete;
	bool strict;
	bool limited;
	bool tailed;
	bool begun; /* a line was printed: @last_ns is its time */
	int64_t last_ns;
	uint64_t limit;
	uint64_t tail;
	uint64_t skip; /* lines before the tail */
	uint64_t printed;
};

/* ---- Lines ---- */

static void put_time(struct printer *p, const struct pxt_event *event)
{
	struct pxt_out *out = &p->out;

	pxt_out_colour(out, PXT_COLOUR_TIME);
	switch (p->face) {
	case PXT_FACE_RAW:
		pxt_out_right(out, event->extra.posix_ticks_np, 20);
		break;
	case PXT_FACE_UTC:
	case PXT_FACE_LOCAL:
		pxt_out_calendar(out, &p->calendar, event->ns);
		break;
	case PXT_FACE_RELATIVE:
		pxt_out_seconds(out, event->ns - p->reader.start_ns);
	}
	if (p->delta) {
		pxt_out_bytes(out, " +", 2);
		pxt_out_seconds(out, p->begun ? event->ns - p->last_ns : 0);
		p->last_ns = event->ns;
		p->begun = true;
	}
	pxt_out_colour(out, PXT_COLOUR_OFF);
	pxt_out_bytes(out, "  ", 2);
}

/* Time columns, so that a line about a loss stands where the events stand. */
static void put_loss(struct printer *p, const struct pxt_event *event, uint64_t lost)
{
	struct pxt_out *out = &p->out;

	if (event)
		put_time(p, event);
	pxt_out_colour(out, PXT_COLOUR_LOSS);
	pxt_out_format(out, "*** %llu EVENT%s LOST %s ***", (unsigned long long)lost,
	    lost == 1 ? "" : "S", event ? "HERE" : "BEHIND THE LAST ONE");
	pxt_out_colour(out, PXT_COLOUR_OFF);
	pxt_out_char(out, '\n');
}

static void put_address(struct printer *p, const struct pxt_event *event)
{
	uint64_t address = (uint64_t)(uintptr_t)event->info.posix_prog_address;

	pxt_out_gap(&p->out);
	if (address == 0) {
		pxt_out_char(&p->out, '-');
		return;
	}
	for (unsigned i = 0; i < p->reader.count; i++) {
		if (p->reader.sources[i] != event->source)
			continue;
		if (p->follow) {
			pxt_symbols_want(p->symbols[i], address);
			pxt_symbols_resolve(p->symbols[i]);
		}
		pxt_out_text(&p->out, pxt_symbols_text(p->symbols[i], address));
	}
}

static enum pxt_colour colour_of(trace_event_id_t id)
{
	if (id == POSIX_TRACE_OVERFLOW || id == POSIX_TRACE_RESUME || id == POSIX_TRACE_ERROR)
		return PXT_COLOUR_LOSS;
	return id < POSIX_TRACE_UNNAMED_USEREVENT ? PXT_COLOUR_SYSTEM : PXT_COLOUR_EVENT;
}

static void put_event(struct printer *p, const struct pxt_event *event)
{
	const struct pxt_thread *thread = event->thread;
	const struct pxt_type *type = event->type;
	struct pxt_out *out = &p->out;

	put_time(p, event);
	if (p->reader.count > 1)
		pxt_out_format(out, "%-7ld  ", (long)event->source->info.posix_pid_np);
	if (p->cpu) {
		if (event->extra.posix_cpu_np < 0)
			pxt_out_bytes(out, "[ -]  ", 6);
		else
			pxt_out_format(out, "[%2d]  ", event->extra.posix_cpu_np);
	}
	pxt_out_colour(out, PXT_COLOUR_THREAD);
	pxt_out_column(out, thread->label, thread->bytes, thread->width, 16);
	pxt_out_colour(out, PXT_COLOUR_OFF);
	pxt_out_bytes(out, "  ", 2);
	pxt_out_colour(out, colour_of(type->id));
	pxt_out_bytes(out, type->label, type->bytes);
	pxt_out_colour(out, PXT_COLOUR_OFF);
	pxt_out_pad(out, type->width, event->source->name_width);
	if (p->address)
		put_address(p, event);
	pxt_out_fields(out, &p->fields, event);
	pxt_out_end(out);
}

/* ---- The events one after the other ---- */

static bool chosen(const struct printer *p, const struct pxt_event *event)
{
	return event->type->selected && event->thread->selected &&
	       pxt_select_time(&p->select, event->ns, p->reader.start_ns) == 0;
}

/* First reading, where one is needed: how many lines there will be, and which addresses. */
static void count(struct printer *p)
{
	uint64_t lines = 0;
	struct pxt_event *event;

	while ((event = pxt_reader_next(&p->reader)) != NULL) {
		if (!chosen(p, event))
			continue;
		lines++;
		for (unsigned i = 0; p->address && i < p->reader.count; i++)
			if (p->reader.sources[i] == event->source)
				pxt_symbols_want(p->symbols[i],
				    (uint64_t)(uintptr_t)event->info.posix_prog_address);
	}
	for (unsigned i = 0; p->address && i < p->reader.count; i++)
		pxt_symbols_resolve(p->symbols[i]);
	if (p->tailed && lines > p->tail)
		p->skip = lines - p->tail;
	pxt_reader_rewind(&p->reader);
}

/* Prints what there is; false when the limit was reached. */
static bool print_some(struct printer *p)
{
	struct pxt_event *event;

	while (p->out.error == 0 && (event = pxt_reader_next(&p->reader)) != NULL) {
		uint64_t lost = event->extra.posix_lost_before_np;

		if (p->limited && p->printed == p->limit)
			return false;
		/* Losses have no type and no thread: no filter but that of time hides them. */
		if (lost > 0 && p->skip == 0 &&
		    pxt_select_time(&p->select, event->ns, p->reader.start_ns) == 0)
			put_loss(p, event, lost);
		if (!chosen(p, event))
			continue;
		if (p->skip > 0) {
			p->skip--;
			continue;
		}
		put_event(p, event);
		p->printed++;
	}
	return true;
}

static void wait_for_more(struct printer *p)
{
	const struct timespec pause = { .tv_nsec = 100000000 };

	pxt_out_flush(&p->out);
	(void)nanosleep(&pause, NULL);
}

static int print_all(struct printer *p)
{
	bool whole;

	if (p->tailed || (p->address && !p->follow))
		count(p);
	whole = print_some(p);
	while (whole && p->follow && p->out.error == 0 && pxt_reader_again(&p->reader)) {
		wait_for_more(p);
		whole = print_some(p);
	}
	for (unsigned i = 0; whole && !p->select.to.set && i < p->reader.count; i++) {
		uint64_t rest = pxt_source_lost_rest(p->reader.sources[i]);

		if (rest > 0)
			put_loss(p, NULL, rest);
	}
	pxt_out_flush(&p->out);
	if (p->printed == 0 && p->select.event_count > 0)
		pxt_select_review(&p->select, &p->reader);
	int status = pxt_reader_conclude(&p->reader, whole, p->strict);
	if (p->out.error != 0) {
		pxt_complain("standard output: %s", strerror(p->out.error));
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
	OPT_STRICT
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
	{ "incomplete", no_argument, NULL, OPT_INCOMPLETE },
	{ "follow", no_argument, NULL, OPT_FOLLOW },
	{ "strict", no_argument, NULL, OPT_STRICT },
	{ "help", no_argument, NULL, 'h' },
	{ NULL, 0, NULL, 0 },
};

static bool take_number(uint64_t *to, const char *text, const char *option)
{
	char *end;

	errno = 0;
	*to = strtoull(text, &end, 10);
	if (*text >= '0' && *text <= '9' && *end == '\0' && errno == 0)
		return true;
	pxt_complain("%s wants a number, not \"%s\"", option, text);
	return false;
}

static bool take_flag(struct printer *p, int code)
{
	switch (code) {
	case OPT_RELATIVE:
	case OPT_UTC:
	case OPT_LOCAL:
	case OPT_RAW:
		p->face = code == OPT_UTC     ? PXT_FACE_UTC
		          : code == OPT_LOCAL ? PXT_FACE_LOCAL
		          : code == OPT_RAW   ? PXT_FACE_RAW
		                              : PXT_FACE_RELATIVE;
		p->calendar.local = code == OPT_LOCAL;
		return true;
	case 'd':
		return p->delta = true;
	case OPT_CPU:
		return p->cpu = true;
	case 'a':
		return p->address = true;
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

static bool take_option(struct printer *p, int code, char *value)
{
	uint64_t number = 0;

	switch (code) {
	case PXT_OPT_EVENT:
	case PXT_OPT_THREAD:
	case PXT_OPT_FROM:
	case PXT_OPT_TO:
		return pxt_select_option(&p->select, code, value);
	case 'n':
		p->limited = true;
		return take_number(&p->limit, value, "--limit");
	case OPT_TAIL:
		p->tailed = true;
		return take_number(&p->tail, value, "--tail");
	case OPT_BYTES:
		if (!take_number(&number, value, "--bytes"))
			return false;
		p->fields.dump_limit = (size_t)number;
		return true;
	case 'f':
		return pxt_fields_only(&p->fields, value);
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
	p->out.colour = pxt_colour_wanted(p->colour, STDOUT_FILENO);
	return pxt_reader_open(&p->reader, argv + optind, (unsigned)(argc - optind),
	    p->incomplete ? PXT_OPEN_INCOMPLETE : PXT_OPEN_COMPLETE, &p->select);
}

static int run(int argc, char **argv)
{
	static struct printer p = { .out = { .fd = STDOUT_FILENO },
		.fields = { .dump_limit = 64 } };
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
		p.symbols = pxt_must(calloc(p.reader.count + 1u, sizeof(struct pxt_symbols *)));
		for (unsigned i = 0; p.address && i < p.reader.count; i++)
			p.symbols[i] = pxt_symbols_new(p.reader.sources[i], p.root);
		status = print_all(&p);
		for (unsigned i = 0; p.address && i < p.reader.count; i++)
			pxt_symbols_free(p.symbols[i]);
		free(p.symbols);
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
