/* SPDX-License-Identifier: MIT */
/*
 * printer.h - the lines of print and attach: which events, what of them, in which form (a format, plain lines); once,
 * or as they come.
 */
#ifndef PXT_PRINTER_H
#define PXT_PRINTER_H

#include "tools/event/event.h"
#include "tools/output/out.h"
#include "tools/read/source.h"
#include "tools/select/select.h"
#include "tools/symbols/symbols.h"

/*
 * An event as a line: in columns or as an object of JSON (line.c), as a --format says (format.c),
 * or as QNX's traceprinter does (line_qnx.c).  A loss is a line of its own in each of them.
 */

struct open;
struct pxt_format;

struct pxt_line {
	struct pxt_out out;
	const struct pxt_reader *reader;
	struct pxt_fields fields;
	struct pxt_calendar calendar;
	enum pxt_face face;
	struct pxt_symbols **symbols; /* one a log, with @address */
	struct pxt_format *format;
	bool json;
	bool qnx;
	struct open *open; /* with @qnx: events in parts */
	bool delta;
	bool cpu;
	bool address;
	bool live;  /* addresses were not collected beforehand */
	bool begun; /* a line was printed: @last_ns is its time */
	int64_t last_ns;
};

void pxt_line_event(struct pxt_line *line, const struct pxt_event *event);
/* @lost events before @event; NULL: after the last one. */
void pxt_line_loss(struct pxt_line *line, const struct pxt_event *event, uint64_t lost);

/* ---- What the three have in common ---- */

/* Where in the program the event was recorded: escaped, "-" where that is not known. */
const char *pxt_line_address(const struct pxt_line *line, const struct pxt_event *event);
/* The addresses that its line will show. */
void pxt_line_want(const struct pxt_line *line, const struct pxt_event *event);
/* The time since the line before, which this line then is. */
int64_t pxt_line_delta(struct pxt_line *line, const struct pxt_event *event);
/* The time as --relative, --utc, --local or --raw ask for it, without padding. */
void pxt_line_time(struct pxt_line *line, const struct pxt_event *event);

/* ---- JSON ---- */

void pxt_line_json_event(struct pxt_line *line, const struct pxt_event *event);
void pxt_line_json_loss(struct pxt_line *line, const struct pxt_event *event, uint64_t lost);

/* ---- QNX's style (line_qnx.c) ---- */

void pxt_qnx_event(struct pxt_line *line, const struct pxt_event *event);
/* After the last event: what never ended. */
void pxt_qnx_end(struct pxt_line *line);

struct pxt_printer {
	const char *command;
	struct pxt_line line;
	struct pxt_select select;
	const struct pxt_groups *only; /* NULL: any; with it, system events of these groups alone */
	struct pxt_reader reader;
	const char *root;
	const char *colour;
	bool follow;
	bool strict;
	bool limited;
	bool tailed;
	uint64_t limit;
	uint64_t tail;
	uint64_t skip; /* lines before the tail */
	uint64_t printed;
	/* NULL, or sees each event first.  False: enough, neither it nor what follows is shown. */
	bool (*look)(struct pxt_printer *printer, const struct pxt_event *event);
	/* NULL, or take what is chosen, and losses, in place of lines. */
	void (*put)(struct pxt_printer *printer, const struct pxt_event *event);
	void (*lose)(struct pxt_printer *printer, uint64_t lost);
	/* With @follow, NULL or: all is shown; returns when there may be more. */
	void (*wait)(struct pxt_printer *printer);
};

/* What print and attach share of their --help and their options. */
#define PXT_PRINTER_HELP_TIME                                                                      \
	"time:\n"                                                                                  \
	"      --relative        seconds since the start of the (earliest) log; the default\n"     \
	"      --utc, --local    date and time\n"                                                  \
	"      --raw             the counter that the event was stamped with\n"                    \
	"  -d, --delta           also the time since the line before\n"
#define PXT_PRINTER_HELP_WHICH                                                                     \
	"                        CONDITION knows the event's fields, and time, event, thread, "    \
	"pid,\n"                                                                                   \
	"                        tid, cpu, lost, bytes, cut; ==, !=, <, <=, >, >=, ~ (a glob), "   \
	"has,\n"                                                                                   \
	"                        and, or, not, parentheses; 5ms, 0xff, 1.5, \"text\"\n"            \
	"  -n, --limit N         only the first N of them\n"
#define PXT_PRINTER_HELP_WHAT                                                                      \
	"what of them:\n"                                                                          \
	"  -f, --fields NAMES    only these fields: job,late_ns\n"                                 \
	"      --bytes N         at most N bytes of data without description (64; 0: all)\n"       \
	"      --cpu             the CPU\n"                                                        \
	"  -a, --address         where in the program: function (file:line), or module+offset\n"   \
	"                        where the binary is not at hand (wants addr2line)\n"              \
	"      --root DIR        look for binaries below DIR (logs of another machine)\n"          \
	"      --color WHEN      auto (on a terminal; NO_COLOR is honoured), always, never\n"      \
	"      --colour WHEN     the same\n"                                                       \
	"in which form:\n"                                                                         \
	"      --format TEXT     lines like TEXT; replaced in it are {time}, {utc}, {local}, "     \
	"{ns},\n"                                                                                  \
	"                        {ticks}, {delta}, {thread}, {threadname}, {tid}, {pid}, {cpu},\n" \
	"                        {event}, {id}, {fields}, {field:NAME}, {data}, {bytes}, "         \
	"{lost},\n"                                                                                \
	"                        {address}, {log}; {event:20}, {cpu:>3}, {tid:05}, {ticks:016x} "  \
	"say\n"                                                                                    \
	"                        how wide; {{ is a brace, \\t a tabulator\n"                       \
	"      --style qnx       as QNX's traceprinter; events in parts are put together\n"        \
	"      --json            an object of JSON a line\n"

extern const struct pxt_option
    pxt_printer_options[]; /* of a struct pxt_printer, but those that choose */

/* What of them contradicts itself; PXT_EXIT_OK, or PXT_EXIT_USAGE with a word to the user. */
int pxt_printer_check(const struct pxt_printer *printer);
/* The reader is open: prints; returns the exit status. */
int pxt_printer_run(struct pxt_printer *printer);

/*
 * Lines of the user's own: --format '{time} {event:20} {field:late_ns:>10}'.
 *
 * What is in braces is replaced, {{ and }} are braces, \n \t \\ are a line's end, a tabulator and
 * a backslash; a line's end follows by itself.  After a colon may be how wide it is to be at
 * least: 20 or <20 with spaces after it, >20 before it, 020 with zeros there; an x after
 * that shows an integer in hexadecimal.
 */

#define PXT_FORMAT_PIECES 128u
#define PXT_FORMAT_WIDTH  255u

struct pxt_text_error;

/* NULL where @text makes no sense: @error says where and why.  @text must outlive the result. */
struct pxt_format *pxt_format_parse(const char *text, struct pxt_text_error *error);
void pxt_format_free(struct pxt_format *format);
/* Whether it shows program addresses, which must be looked up first. */
bool pxt_format_has_address(const struct pxt_format *format);
/* The @i-th field that it names, NULL after the last. */
const char *pxt_format_field(const struct pxt_format *format, unsigned i);

void pxt_format_event(struct pxt_line *line, const struct pxt_event *event);

#endif
