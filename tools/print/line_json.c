/* SPDX-License-Identifier: MIT */
/*
 * line_json.c - an event as an object of JSON on a line.  Whatever bytes a log holds, the line is
 * valid JSON in UTF-8: see pxt_escape_json().
 */
#include "tools/event/event.h"
#include "tools/print/printer.h"

#include <string.h>
#include <trace_np.h>

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
static void put_time(struct pxt_line *line, const struct pxt_event *event)
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

static void put_callers(struct pxt_line *line, const struct pxt_event *event)
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

void pxt_json_event(struct pxt_line *line, const struct pxt_event *event)
{
	struct pxt_out *out = &line->out;
	bool first = false;

	pxt_out_char(out, '{');
	put_time(line, event);
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
		put_callers(line, event);
	}
	put_data(line, event);
	pxt_out_bytes(out, "}\n", 2);
}

void pxt_json_loss(struct pxt_line *line, const struct pxt_event *event, uint64_t lost)
{
	struct pxt_out *out = &line->out;
	bool first = true;

	pxt_out_char(out, '{');
	if (event) {
		put_time(line, event);
		first = false;
	}
	put_name(out, "lost", &first);
	pxt_out_unsigned(out, lost);
	pxt_out_bytes(out, "}\n", 2);
}
