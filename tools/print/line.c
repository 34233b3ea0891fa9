/* SPDX-License-Identifier: MIT */
/*
 * line.c - an event in columns, and as an object of JSON on a line.  Whatever bytes a log holds, the object is
 * valid JSON in UTF-8: see pxt_escape_json().
 */
#include "tools/print/printer.h"

#include "tools/event/event.h"

#include <string.h>
#include <trace_np.h>

/* ---- Columns ---- */

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

const char *pxt_line_caller(
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
		pxt_out_text(out, pxt_line_caller(line, event, callers[i]));
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

static void put_text(struct pxt_out *out, const char *text)
{
	pxt_out_json(out, text, strlen(text));
}

/* ,"name": with the comma only after another member. */
static void put_name(struct pxt_out *out, const char *name, bool *first)
{
	if (!*first)
		pxt_out_char(out, ',');
	*first = false;
	pxt_out_char(out, '"');
	pxt_out_text(out, name);
	pxt_out_bytes(out, "\":", 2);
}

static void put_bytes(
    struct pxt_out *out, const char *name, const unsigned char *data, size_t bytes, bool *first)
{
	put_name(out, name, first);
	pxt_out_char(out, '"');
	pxt_out_hexbytes(out, data, bytes);
	pxt_out_char(out, '"');
}

static void put_described(
    struct pxt_out *out, const struct pxt_fields *fields, const struct pxt_event *event)
{
	bool first = true;
	size_t offset;
	size_t rest = pxt_fields_rest(event, &offset);

	for (unsigned i = 0; i < event->type->field_count; i++) {
		const struct pxt_layout *field = &event->type->fields[i];
		struct pxt_value value;

		if (!pxt_field_value(event, field, &value))
			break;
		if (!pxt_fields_wanted(fields, field->name))
			continue;
		put_name(out, field->name, &first);
		pxt_json_value(out, &value);
		pxt_json_word(out, event->type, i, &value);
	}
	pxt_out_char(out, '}');
	first = false;
	if (rest > 0)
		put_bytes(out, "rest", event->data + offset, rest, &first);
}

/* The sets of START and FILTER, a text each. */
static bool put_sets(struct pxt_out *out, const struct pxt_event *event)
{
	static struct pxt_eventset set;
	unsigned count = pxt_eventset_count(event->info.posix_event_id, event->bytes);
	bool first = true;

	for (unsigned i = 0; i < count; i++) {
		pxt_eventset_of(&set, event->data, event->bytes, i, count);
		put_name(out, set.name, &first);
		pxt_out_json(out, set.text, strlen(set.text));
	}
	if (count > 0)
		pxt_out_char(out, '}');
	return count > 0;
}

/* What the standard prescribes for the data of its own events; false: show bytes. */
static bool put_standard(struct pxt_out *out, const struct pxt_event *event)
{
	int32_t number;

	if (put_sets(out, event))
		return true;
	if (event->bytes != sizeof number)
		return false;
	memcpy(&number, event->data, sizeof number);
	if (event->info.posix_event_id == POSIX_TRACE_STOP)
		pxt_out_text(out, number == 0 ? "\"automatic\":false}" : "\"automatic\":true}");
	else if (event->info.posix_event_id == POSIX_TRACE_ERROR)
		pxt_out_format(out, "\"error\":%d,\"failed\":\"%s\"}",
		    POSIX_TRACE_ERROR_NUMBER_NP(number), pxt_failure_word(number));
	else
		return false;
	return true;
}

static void put_data(struct pxt_line *line, const struct pxt_event *event)
{
	const char *message = pxt_fields_message(event);
	struct pxt_out *out = &line->out;
	bool first = false;

	if (message) {
		put_name(out, "message", &first);
		pxt_out_json(out, message, strlen(message));
	}
	put_name(out, "fields", &first);
	pxt_out_char(out, '{');
	if (event->type->field_count > 0) {
		put_described(out, &line->fields, event);
	} else if (!put_standard(out, event)) {
		pxt_out_char(out, '}');
		if (event->bytes > 0)
			put_bytes(out, "data", event->data, event->bytes, &first);
	}
	if (event->info.posix_truncation_status != POSIX_TRACE_NOT_TRUNCATED)
		pxt_out_text(out, ",\"cut\":true");
}

/* The time as the options say it: seconds and ticks are numbers, dates strings. */
static void put_json_time(struct pxt_line *line, const struct pxt_event *event)
{
	struct pxt_out *out = &line->out;
	bool is_date = line->face == PXT_FACE_UTC || line->face == PXT_FACE_LOCAL;

	pxt_out_text(out, line->face == PXT_FACE_RAW ? "\"ticks\":" : "\"time\":");
	if (is_date)
		pxt_out_char(out, '"');
	pxt_line_time(line, event);
	if (is_date)
		pxt_out_char(out, '"');
}

static void put_thread(struct pxt_out *out, const struct pxt_event *event)
{
	const struct pxt_thread *thread = event->thread;
	bool first = false;

	if (event->info.posix_pid > 0) {
		put_name(out, "pid", &first);
		pxt_out_signed(out, event->info.posix_pid);
	}
	if (thread->tid > 0) {
		put_name(out, "tid", &first);
		pxt_out_signed(out, thread->tid);
	}
	if (*thread->name) {
		put_name(out, "thread", &first);
		put_text(out, thread->name);
	}
	if (thread->recorded && thread->tid == 0) {
		put_name(out, "pthread", &first);
		pxt_out_unsigned(out, thread->id);
	}
}

static void put_json_callers(struct pxt_line *line, const struct pxt_event *event)
{
	uint64_t callers[PXT_CALLERS_MAX];
	unsigned count = pxt_callers_of(event, callers);
	bool first = true;

	for (unsigned i = 0; i < count; i++) {
		pxt_out_text(&line->out, first ? ",\"callers\":[" : ",");
		put_text(&line->out, pxt_line_caller(line, event, callers[i]));
		first = false;
	}
	if (count > 0)
		pxt_out_char(&line->out, ']');
}

void pxt_line_json_event(struct pxt_line *line, const struct pxt_event *event)
{
	struct pxt_out *out = &line->out;
	bool first = false;

	pxt_out_char(out, '{');
	put_json_time(line, event);
	if (line->delta) {
		put_name(out, "delta", &first);
		pxt_out_seconds_plain(out, pxt_line_delta(line, event));
	}
	if (line->reader->count > 1) {
		put_name(out, "log", &first);
		put_text(out, event->source->path);
	}
	put_thread(out, event);
	if (event->extra.posix_cpu_np >= 0) {
		put_name(out, "cpu", &first);
		pxt_out_signed(out, event->extra.posix_cpu_np);
	}
	put_name(out, "event", &first);
	put_text(out, event->type->name);
	if (line->address) {
		put_name(out, "address", &first);
		put_text(out, pxt_line_address(line, event));
		put_json_callers(line, event);
	}
	put_data(line, event);
	pxt_out_bytes(out, "}\n", 2);
}

void pxt_line_json_loss(struct pxt_line *line, const struct pxt_event *event, uint64_t lost)
{
	struct pxt_out *out = &line->out;
	bool first = true;

	pxt_out_char(out, '{');
	if (event) {
		put_json_time(line, event);
		first = false;
	}
	put_name(out, "lost", &first);
	pxt_out_unsigned(out, lost);
	pxt_out_bytes(out, "}\n", 2);
}
