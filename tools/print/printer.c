/* SPDX-License-Identifier: MIT */
/*
 * printer.c - which events print and attach show, once or as they come (how often is looked: read/source.c);
 * see printer.h.
 */
#include "tools/print/printer.h"

#include "tools/command/command.h"
#include "tools/output/out.h"
#include "tools/unknown/unknown.h"

#include <stdlib.h>
#include <string.h>

/* ---- The events one after the other ---- */

static void put_loss(struct pxt_printer *p, const struct pxt_event *event, uint64_t lost)
{
	if (p->lose)
		p->lose(p, lost);
	else
		pxt_line_loss(&p->line, event, lost);
}

static bool chosen(const struct pxt_printer *p, const struct pxt_event *event)
{
	return pxt_select_event(&p->select, event, p->reader.start_ns) &&
	       (!p->only || pxt_groups_has(p->only, event));
}

/* ---- Which lines are the last ones ---- */

#define MARKS 1024u /* at most 0.2 % of what is before the tail is read again */

/* Some lines: how many there were before, and when it was.  No event before them has that time. */
static struct {
	uint64_t lines;
	int64_t ns;
} marks[MARKS];
static unsigned mark_count;
static uint64_t mark_step;

static void mark(uint64_t lines, int64_t ns)
{
	if (mark_count > 0 && lines - marks[mark_count - 1].lines < mark_step)
		return;
	if (mark_count == MARKS) {
		for (size_t i = 0; i < MARKS / 2; i++)
			marks[i] = marks[2 * i];
		mark_count = MARKS / 2;
		mark_step *= 2;
	}
	marks[mark_count].lines = lines;
	marks[mark_count++].ns = ns;
}

/* Whether a time leads to the events that were read then: in complete logs whose clocks did not step back. */
static bool times_lead(const struct pxt_reader *reader)
{
	for (unsigned i = 0; i < reader->count; i++) {
		const struct pxt_source *source = reader->sources[i];

		if (!source->info.posix_complete_np || !source->read_all || source->failed ||
		    source->backward > 0 || source->renames)
			return false;
	}
	return true;
}

/*
 * All was read: to the last mark in front of the line before the tail.  What was lost behind that line is told, so
 * it has to be met again.
 */
static void go_to_tail(struct pxt_printer *p)
{
	unsigned at = times_lead(&p->reader) ? mark_count : 0;

	while (at > 0 && marks[at - 1].lines >= p->skip)
		at--;
	if (at == 0)
		pxt_reader_rewind(&p->reader);
	else if (pxt_reader_go_to(&p->reader, marks[at - 1].ns))
		p->skip -= marks[at - 1].lines;
}

/* A first reading of all: how many lines there will be, and which addresses. */
static void count(struct pxt_printer *p)
{
	struct pxt_progress progress;
	struct pxt_event *event;
	int64_t last_ns = INT64_MIN;
	uint64_t lines = 0;

	mark_count = 0;
	mark_step = 1;
	pxt_progress_reader(&progress, "counting", &p->reader, false);
	while ((event = pxt_reader_next(&p->reader)) != NULL) {
		pxt_progress_step(&progress);
		if (p->line.address)
			pxt_symbols_take(p->line.symbols[event->source->place], event);
		if (chosen(p, event)) {
			if (event->ns > last_ns)
				mark(lines, event->ns);
			lines++;
			if (p->line.address)
				pxt_line_want(&p->line, event);
		}
		last_ns = event->ns;
	}
	for (unsigned i = 0; p->line.address && i < p->reader.count; i++)
		pxt_symbols_resolve(p->line.symbols[i]);
	pxt_progress_end(&progress);
	if (p->tailed && lines > p->tail)
		p->skip = lines - p->tail;
	go_to_tail(p);
}

/* Whether the last lines show nothing that depends on what is before them. */
static bool ends_alone(struct pxt_printer *p)
{
	const struct pxt_select *select = &p->select;

	for (unsigned i = 0; i < p->reader.count; i++)
		if (p->reader.sources[i]->may_rename)
			return false;
	return p->tailed && !p->look && !p->follow && !p->line.address && !p->line.qnx &&
	       select->thread_count == 0 && select->pid_count == 0 &&
	       pxt_reader_has_stretches(&p->reader);
}

/*
 * Without it: from the end on, more each time, until there is a line more than is shown.  Each part is read once
 * to count, and what is shown once more.  False: a log cannot be read there.
 */
static bool find_tail(struct pxt_printer *p)
{
	uint64_t wanted = p->tail < UINT64_MAX / 2 ? p->tail + 1 : p->tail;
	int64_t from_ns = INT64_MAX;
	uint64_t lines = 0;

	while (lines <= p->tail && from_ns != INT64_MIN) {
		int64_t to_ns = from_ns;
		struct pxt_event *event;

		from_ns = pxt_reader_last(&p->reader, wanted);
		if (!pxt_reader_go_to(&p->reader, from_ns))
			return false;
		while ((event = pxt_reader_next(&p->reader)) != NULL && event->ns < to_ns)
			lines += chosen(p, event);
		wanted = wanted < UINT64_MAX / 4 ? 4 * wanted : UINT64_MAX;
	}
	p->skip = lines > p->tail ? lines - p->tail : 0;
	return pxt_reader_go_to(&p->reader, from_ns);
}

/* Whether nothing that is shown depends on what is outside of --from and --to. */
static bool shows_a_part(const struct pxt_printer *p)
{
	return !p->look && !p->follow && !p->tailed && !p->line.address && !p->line.qnx;
}

/* Prints what there is; false when the limit was reached, or the command wants no more. */
static bool print_some(struct pxt_printer *p, struct pxt_progress *progress)
{
	struct pxt_event *event;

	while (p->line.out.error == 0 && (event = pxt_reader_next(&p->reader)) != NULL) {
		uint64_t lost = event->extra.posix_lost_before_np;

		pxt_progress_step(progress);
		if (p->line.address && p->line.live)
			pxt_symbols_take(p->line.symbols[event->source->place], event);
		if (p->look && !p->look(p, event))
			return false;
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
		if (p->put)
			p->put(p, event);
		else
			pxt_line_event(&p->line, event);
		p->printed++;
		/* Nobody waits for an event that will not be shown. */
		if (p->follow && p->limited && p->printed == p->limit)
			return false;
	}
	return true;
}

/* Whether the format's field @at is in it before, too. */
static bool named_before(const struct pxt_printer *p, unsigned at)
{
	const char *name = pxt_format_field(p->line.format, at);

	for (unsigned i = 0; i < at; i++)
		if (strcmp(pxt_format_field(p->line.format, i), name) == 0)
			return true;
	return false;
}

static void review(struct pxt_printer *p)
{
	const struct pxt_fields *fields = &p->line.fields;
	const char *name;

	pxt_unknown_select(&p->select, &p->reader, NULL);
	for (unsigned i = 0; i < fields->only_count; i++)
		if (!pxt_fields_is_bytes(fields->only[i]))
			pxt_unknown_field(&p->reader, "--fields", fields->only[i]);
	for (unsigned i = 0; p->line.format && (name = pxt_format_field(p->line.format, i)); i++)
		if (!named_before(p, i))
			pxt_unknown_field(&p->reader, "--format", name);
}

static int print_all(struct pxt_printer *p)
{
	struct pxt_progress progress;
	bool whole;

	if (shows_a_part(p))
		pxt_reader_read_part(&p->reader, &p->select, false);
	if ((p->tailed || (p->line.address && !p->follow)) && !(ends_alone(p) && find_tail(p)))
		count(p);
	pxt_progress_reader(&progress, "printing", &p->reader, true);
	whole = print_some(p, &progress);
	pxt_progress_end(&progress);
	while (whole && p->follow && p->line.out.error == 0 && pxt_reader_again(&p->reader)) {
		pxt_out_flush(&p->line.out);
		if (p->wait)
			p->wait(p);
		else
			pxt_reader_wait(&p->reader);
		whole = print_some(p, &progress);
	}
	for (unsigned i = 0; whole && !p->select.to.set && i < p->reader.count; i++) {
		uint64_t rest = pxt_source_lost_rest(p->reader.sources[i]);

		if (rest > 0)
			put_loss(p, NULL, rest);
	}
	pxt_qnx_end(&p->line);
	pxt_out_flush(&p->line.out);
	review(p);
	int status = pxt_reader_conclude(&p->reader, whole, p->strict);
	if (p->line.out.error != 0) {
		pxt_complain("standard output: %s", strerror(p->line.out.error));
		return PXT_EXIT_OUTPUT;
	}
	return pxt_unknown_status(&p->reader, status);
}

int pxt_printer_run(struct pxt_printer *p)
{
	int status;

	p->line.fields.no_callers = p->line.address && p->line.fields.only_count == 0;
	p->line.symbols = pxt_must(calloc(p->reader.count + 1u, sizeof(struct pxt_symbols *)));
	for (unsigned i = 0; p->line.address && i < p->reader.count; i++)
		p->line.symbols[i] = pxt_symbols_new(p->reader.sources[i], p->root);
	status = print_all(p);
	for (unsigned i = 0; p->line.address && i < p->reader.count; i++)
		pxt_symbols_free(p->line.symbols[i]);
	free(p->line.symbols);
	return status;
}

/* ---- Options ---- */

static bool take_face(void *self, enum pxt_face face)
{
	struct pxt_line *line = &((struct pxt_printer *)self)->line;

	line->face = face;
	line->calendar.local = face == PXT_FACE_LOCAL;
	return true;
}

static bool take_relative(void *self, char *value)
{
	(void)value;
	return take_face(self, PXT_FACE_RELATIVE);
}

static bool take_utc(void *self, char *value)
{
	(void)value;
	return take_face(self, PXT_FACE_UTC);
}

static bool take_raw(void *self, char *value)
{
	(void)value;
	return take_face(self, PXT_FACE_RAW);
}

static bool take_local(void *self, char *value)
{
	(void)value;
	return take_face(self, PXT_FACE_LOCAL);
}

static bool take_limit(void *self, char *value)
{
	struct pxt_printer *p = self;

	p->limited = true;
	return pxt_option_number(&p->limit, value, "--limit", 0, UINT64_MAX);
}

static bool take_fields(void *self, char *value)
{
	return pxt_fields_only(&((struct pxt_printer *)self)->line.fields, value);
}

static bool take_style(void *self, char *value)
{
	struct pxt_printer *p = self;

	p->line.qnx = strcmp(value, "qnx") == 0;
	if (!p->line.qnx)
		pxt_complain("--style: \"%s\" is none; qnx is", value);
	return p->line.qnx;
}

static bool take_format(void *self, char *text)
{
	struct pxt_printer *p = self;
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

const struct pxt_option pxt_printer_options[] = {
	PXT_OPT_DO(0, "relative", take_relative),
	PXT_OPT_DO(0, "utc", take_utc),
	PXT_OPT_DO(0, "local", take_local),
	PXT_OPT_DO(0, "raw", take_raw),
	PXT_OPT_FLAG('d', "delta", struct pxt_printer, line.delta),
	PXT_OPT_TAKE('n', "limit", take_limit),
	PXT_OPT_TAKE('f', "fields", take_fields),
	PXT_OPT_NUMBER(0, "bytes", struct pxt_printer, line.fields.dump_limit, 0, SIZE_MAX),
	PXT_OPT_FLAG(0, "cpu", struct pxt_printer, line.cpu),
	PXT_OPT_FLAG('a', "address", struct pxt_printer, line.address),
	PXT_OPT_TEXT(0, "root", struct pxt_printer, root),
	PXT_OPT_COLOUR(struct pxt_printer, colour),
	PXT_OPT_TAKE(0, "format", take_format),
	PXT_OPT_TAKE(0, "style", take_style),
	PXT_OPT_FLAG(0, "json", struct pxt_printer, line.json),
	PXT_OPT_END,
};

int pxt_printer_check(const struct pxt_printer *p)
{
	if (!pxt_select_check(&p->select))
		return pxt_usage(p->command);
	if (p->line.json + p->line.qnx + (p->line.format != NULL) < 2)
		return PXT_EXIT_OK;
	pxt_complain("%s: %s and %s are two forms: choose one", p->command,
	    p->line.qnx ? "--style" : "--json", p->line.format ? "--format" : "--json");
	return pxt_usage(p->command);
}
