/* SPDX-License-Identifier: MIT */
/* json.c - a field's value, and an event's data, as JSON; see event.h. */
#include "tools/event/event.h"

#include <math.h>
#include <string.h>
#include <trace_np.h>

/* JSON has no NaN and no infinity: these become strings. */
static void put_float(struct pxt_out *out, const struct pxt_value *value)
{
	if (isfinite(value->f))
		pxt_out_value(out, value);
	else
		pxt_out_text(out, isnan(value->f) ? "\"nan\""
		                  : value->f > 0  ? "\"inf\""
		                                  : "\"-inf\"");
}

void pxt_json_value(struct pxt_out *out, const struct pxt_value *value)
{
	switch (value->kind) {
	case POSIX_TRACE_FIELD_HEX_NP:
		pxt_out_unsigned(out, value->u);
		break;
	case POSIX_TRACE_FIELD_FLOAT_NP:
		put_float(out, value);
		break;
	case POSIX_TRACE_FIELD_TEXT_NP:
		pxt_out_json(out, value->text, value->bytes);
		break;
	default:
		pxt_out_value(out, value);
	}
}

void pxt_json_word(
    struct pxt_out *out, const struct pxt_type *type, unsigned field, const struct pxt_value *value)
{
	const char *name = type->fields[field].name;
	const char *word = pxt_sysnames_word(type->id, name, value->u);

	if (!word)
		return;
	pxt_out_format(out, ",\"%s_name\":", name);
	pxt_out_json(out, word, strlen(word));
}

/*
 * Databases take a NUL in no text, not even as \u0000.  A byte that is no UTF-8 either stands for it
 * here, so that it becomes what such bytes become.
 */
static void put_text(struct pxt_out *out, const char *text, size_t bytes)
{
	char copy[4096];

	if (bytes > sizeof copy)
		bytes = sizeof copy;
	for (size_t i = 0; i < bytes; i++)
		copy[i] = (char)(text[i] ? text[i] : '\xff');
	pxt_out_json(out, copy, bytes);
}

static void put_value(struct pxt_out *out, const struct pxt_value *value)
{
	if (value->kind == POSIX_TRACE_FIELD_TEXT_NP && memchr(value->text, 0, value->bytes))
		put_text(out, value->text, value->bytes);
	else
		pxt_json_value(out, value);
}

static void put_key(struct pxt_out *out, const char *name, bool *first)
{
	pxt_out_bytes(out, *first ? "\"" : ",\"", *first ? 1 : 2);
	pxt_out_text(out, name);
	pxt_out_bytes(out, "\":", 2);
	*first = false;
}

static void put_bytes(struct pxt_out *out, const unsigned char *data, size_t bytes)
{
	pxt_out_char(out, '"');
	pxt_out_hexbytes(out, data, bytes);
	pxt_out_char(out, '"');
}

/* A set is one text, not a byte for each eighth type. */
static bool put_sets(struct pxt_out *out, const struct pxt_event *event, bool *first)
{
	static struct pxt_eventset set;
	unsigned count = pxt_eventset_count(event->info.posix_event_id, event->bytes);

	for (unsigned i = 0; i < count; i++) {
		pxt_eventset_of(&set, event->data, event->bytes, i, count);
		put_key(out, set.name, first);
		pxt_out_json(out, set.text, strlen(set.text));
	}
	return count > 0;
}

/* What the standard prescribes for events of its own; false: bytes. */
static bool put_standard(struct pxt_out *out, const struct pxt_event *event, bool *first)
{
	int32_t number;

	if (put_sets(out, event, first))
		return true;
	if (event->bytes != sizeof number)
		return false;
	memcpy(&number, event->data, sizeof number);
	switch (event->info.posix_event_id) {
	case POSIX_TRACE_STOP:
		put_key(out, "automatic", first);
		pxt_out_char(out, number == 0 ? '0' : '1');
		return true;
	case POSIX_TRACE_ERROR:
		put_key(out, "error", first);
		pxt_out_signed(out, POSIX_TRACE_ERROR_NUMBER_NP(number));
		put_key(out, "failed", first);
		pxt_out_json(out, pxt_failure_word(number), strlen(pxt_failure_word(number)));
		return true;
	default:
		return false;
	}
}

void pxt_json_payload(struct pxt_out *out, const struct pxt_event *event)
{
	const struct pxt_type *type = event->type;
	struct pxt_value value;
	bool first = true;

	pxt_out_char(out, '{');
	for (unsigned i = 0;
	     i < type->field_count && pxt_field_value(event, &type->fields[i], &value); i++) {
		put_key(out, type->fields[i].name, &first);
		put_value(out, &value);
		pxt_json_word(out, type, i, &value);
	}
	if (event->bytes > 0 && type->field_count == 0 && !put_standard(out, event, &first)) {
		put_key(out, "@data", &first);
		put_bytes(out, event->data, event->bytes);
	} else if (type->field_count > 0) {
		size_t at;
		size_t rest = pxt_fields_rest(event, &at);

		if (rest > 0) {
			put_key(out, "@rest", &first);
			put_bytes(out, event->data + at, rest);
		}
	}
	if (event->info.posix_truncation_status != POSIX_TRACE_NOT_TRUNCATED) {
		put_key(out, "@cut", &first);
		pxt_out_char(out, '1');
	}
	pxt_out_char(out, '}');
}
