/* SPDX-License-Identifier: MIT */
/*
 * line.c - an event in columns, and as an object of JSON on a line.  Whatever bytes a log holds, the object is
 * valid JSON in UTF-8: see pxt_escape_json().
 */
#include "tools/print/printer.h"

#include "tools/event/event.h"

#include <trace_np.h>

/* ---- What the forms have in common ---- */

static const char *text_of(
    const struct pxt_line *line, const struct pxt_event *event, struct pxt_address at)
{
	struct pxt_symbols *symbols = line->symbols[event->source->place];

	if (line->live) {
		pxt_symbols_want(symbols, at);
		pxt_symbols_resolve(symbols);
	}
	return pxt_symbols_text(symbols, at);
}

const char *pxt_line_address(const struct pxt_line *line, const struct pxt_event *event)
{
	struct pxt_address at = pxt_symbols_address(event);

	return at.value == 0 ? "-" : text_of(line, event, at);
}

/* The function that called, of those that pxt_callers_of() found. */
static const char *caller_text(
    const struct pxt_line *line, const struct pxt_event *event, uint64_t caller)
{
	struct pxt_address at = pxt_symbols_address(event);

	at.value = caller;
	return text_of(line, event, at);
}

void pxt_line_want(const struct pxt_line *line, const struct pxt_event *event)
{
	struct pxt_symbols *symbols = line->symbols[event->source->place];
	struct pxt_address at = pxt_symbols_address(event);
	uint64_t callers[PXT_CALLERS_MAX];
	unsigned count = pxt_callers_of(event, callers);

	pxt_symbols_want(symbols, at);
	for (unsigned i = 0; i < count; i++) {
		at.value = callers[i];
		pxt_symbols_want(symbols, at);
	}
}

int64_t pxt_line_delta(struct pxt_line *line, const struct pxt_event *event)
{
	int64_t delta = line->begun ? event->ns - line->last_ns : 0;

	line->last_ns = event->ns;
	line->begun = true;
	return delta;
}

void pxt_line_time(struct pxt_line *line, const struct pxt_event *event)
{
	switch (line->face) {
	case PXT_FACE_RAW:
		pxt_out_unsigned(&line->out, event->extra.posix_ticks_np);
		break;
	case PXT_FACE_UTC:
	case PXT_FACE_LOCAL:
		pxt_out_calendar(&line->out, &line->calendar, event->ns);
		break;
	case PXT_FACE_RELATIVE:
	default:
		pxt_out_seconds_plain(&line->out, event->ns - line->reader->start_ns);
	}
}

/* ---- Columns ---- */

static void put_time(struct pxt_line *line, const struct pxt_event *event)
{
	struct pxt_out *out = &line->out;

	pxt_out_colour(out, PXT_COLOUR_TIME);
	if (line->face == PXT_FACE_RELATIVE)
		pxt_out_seconds(out, event->ns - line->reader->start_ns);
	else if (line->face == PXT_FACE_RAW)
		pxt_out_right(out, event->extra.posix_ticks_np, 20);
	else
		pxt_line_time(line, event);
	if (line->delta) {
		pxt_out_bytes(out, " +", 2);
		pxt_out_seconds(out, pxt_line_delta(line, event));
	}
	pxt_out_colour(out, PXT_COLOUR_OFF);
	pxt_out_bytes(out, "  ", 2);
}

static enum pxt_colour colour_of(trace_event_id_t id)
{
	if (id == POSIX_TRACE_OVERFLOW || id == POSIX_TRACE_RESUME || id == POSIX_TRACE_ERROR)
		return PXT_COLOUR_LOSS;
	return id < POSIX_TRACE_UNNAMED_USEREVENT ? PXT_COLOUR_SYSTEM : PXT_COLOUR_EVENT;
}

/* A line for each function that called. */
static void put_callers(struct pxt_line *line, const struct pxt_event *event)
{
	uint64_t callers[PXT_CALLERS_MAX];
	unsigned count = pxt_callers_of(event, callers);
	struct pxt_out *out = &line->out;

	for (unsigned i = 0; i < count; i++) {
		pxt_out_text(out, "                   called by ");
		pxt_out_text(out, caller_text(line, event, callers[i]));
		pxt_out_char(out, '\n');
	}
}

static void put_columns(struct pxt_line *line, const struct pxt_event *event)
{
	const struct pxt_thread *thread = event->thread;
	const struct pxt_type *type = event->type;
	struct pxt_out *out = &line->out;

	put_time(line, event);
	if (line->reader->count > 1 || event->source->many_pids)
		pxt_out_format(out, "%-7ld  ", (long)event->info.posix_pid);
	if (line->cpu) {
		pxt_out_char(out, '[');
		if (event->extra.posix_cpu_np < 0)
			pxt_out_bytes(out, " -", 2);
		else
			pxt_out_right(out, (uint64_t)event->extra.posix_cpu_np, 2);
		pxt_out_bytes(out, "]  ", 3);
	}
	pxt_out_colour(out, PXT_COLOUR_THREAD);
	pxt_out_column(out, thread->label, thread->bytes, thread->width, 16);
	pxt_out_colour(out, PXT_COLOUR_OFF);
	pxt_out_bytes(out, "  ", 2);
	pxt_out_colour(out, colour_of(type->id));
	pxt_out_bytes(out, type->label, type->bytes);
	pxt_out_colour(out, PXT_COLOUR_OFF);
	pxt_out_pad(out, type->width, event->source->name_width);
	if (line->address) {
		pxt_out_gap(out);
		pxt_out_text(out, pxt_line_address(line, event));
	}
	pxt_out_fields(out, &line->fields, event);
	pxt_out_end(out);
	if (line->address)
		put_callers(line, event);
}

void pxt_line_event(struct pxt_line *line, const struct pxt_event *event)
{
	if (line->json)
		pxt_line_json_event(line, event);
	else if (line->qnx)
		pxt_qnx_event(line, event);
	else if (line->format)
		pxt_format_event(line, event);
	else
		put_columns(line, event);
}

void pxt_line_loss(struct pxt_line *line, const struct pxt_event *event, uint64_t lost)
{
	struct pxt_out *out = &line->out;

	if (line->json) {
		pxt_line_json_loss(line, event, lost);
		return;
	}
	/* The time's columns, so that the line is where the events are. */
	if (event && !line->format && !line->qnx)
		put_time(line, event);
	pxt_out_colour(out, PXT_COLOUR_LOSS);
	pxt_out_format(out, "*** %llu EVENT%s LOST %s ***", (unsigned long long)lost,
	    lost == 1 ? "" : "S", event ? "HERE" : "BEHIND THE LAST ONE");
	pxt_out_colour(out, PXT_COLOUR_OFF);
	pxt_out_char(out, '\n');
}

/* ---- JSON ---- */

static void put_described(
    struct pxt_out *out, const struct pxt_fields *fields, const struct pxt_event *event)
{
	for (unsigned i = 0; i < event->type->field_count; i++) {
		const struct pxt_layout *field = &event->type->fields[i];
		struct pxt_value value;

		if (!pxt_field_value(event, field, &value))
			break;
		if (!pxt_fields_wanted(fields, field->name))
			continue;
		pxt_json_name(out, field->name);
		pxt_json_value(out, &value);
		pxt_json_word(out, event->type, i, &value);
	}
}

static void put_data(struct pxt_line *line, const struct pxt_event *event)
{
	const char *message = pxt_fields_message(event);
	struct pxt_out *out = &line->out;
	bool is_described = event->type->field_count > 0;
	size_t at = 0;
	size_t rest = is_described ? pxt_fields_rest(event, &at) : event->bytes;

	if (message)
		pxt_json_text(out, "message", message);
	pxt_json_open(out, "fields", '{');
	if (is_described)
		put_described(out, &line->fields, event);
	else if (pxt_json_standard(out, event, false))
		rest = 0;
	pxt_json_close(out, "}");
	if (rest > 0)
		pxt_json_hex(out, is_described ? "rest" : "data", event->data + at, rest);
	if (event->info.posix_truncation_status != POSIX_TRACE_NOT_TRUNCATED)
		pxt_json_bool(out, "cut", true);
}

/* The time as the options say it: seconds and ticks are numbers, dates strings. */
static void put_json_time(struct pxt_line *line, const struct pxt_event *event)
{
	struct pxt_out *out = &line->out;
	bool is_date = line->face == PXT_FACE_UTC || line->face == PXT_FACE_LOCAL;

	pxt_json_name(out, line->face == PXT_FACE_RAW ? "ticks" : "time");
	if (is_date)
		pxt_out_char(out, '"');
	pxt_line_time(line, event);
	if (is_date)
		pxt_out_char(out, '"');
}

static void put_thread(struct pxt_out *out, const struct pxt_event *event)
{
	const struct pxt_thread *thread = event->thread;

	if (event->info.posix_pid > 0)
		pxt_json_signed(out, "pid", event->info.posix_pid);
	if (thread->tid > 0)
		pxt_json_signed(out, "tid", thread->tid);
	if (*thread->name)
		pxt_json_text(out, "thread", thread->name);
	if (thread->recorded && thread->tid == 0)
		pxt_json_number(out, "pthread", thread->id);
}

static void put_json_callers(struct pxt_line *line, const struct pxt_event *event)
{
	uint64_t callers[PXT_CALLERS_MAX];
	unsigned count = pxt_callers_of(event, callers);

	if (count == 0)
		return;
	pxt_json_open(&line->out, "callers", '[');
	for (unsigned i = 0; i < count; i++)
		pxt_json_text(&line->out, NULL, caller_text(line, event, callers[i]));
	pxt_json_close(&line->out, "]");
}

void pxt_line_json_event(struct pxt_line *line, const struct pxt_event *event)
{
	struct pxt_out *out = &line->out;

	pxt_json_begin(out);
	put_json_time(line, event);
	if (line->delta) {
		pxt_json_name(out, "delta");
		pxt_out_seconds_plain(out, pxt_line_delta(line, event));
	}
	if (line->reader->count > 1)
		pxt_json_text(out, "log", event->source->path);
	put_thread(out, event);
	if (event->extra.posix_cpu_np >= 0)
		pxt_json_signed(out, "cpu", event->extra.posix_cpu_np);
	pxt_json_text(out, "event", event->type->name);
	if (line->address) {
		pxt_json_text(out, "address", pxt_line_address(line, event));
		put_json_callers(line, event);
	}
	put_data(line, event);
	pxt_json_end(out);
}

void pxt_line_json_loss(struct pxt_line *line, const struct pxt_event *event, uint64_t lost)
{
	struct pxt_out *out = &line->out;

	pxt_json_begin(out);
	if (event)
		put_json_time(line, event);
	pxt_json_number(out, "lost", lost);
	pxt_json_end(out);
}
