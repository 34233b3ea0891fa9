/* SPDX-License-Identifier: MIT */
/* json.c - a field's value, and an event's data, as JSON; see event.h. */
#include "tools/event/event.h"

#include <math.h>
#include <stdio.h>
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
	const char *word = pxt_sysnames_word(type->id, type->fields[field].name, value->u);
	char name[sizeof type->fields->name + 8];

	if (!word)
		return;
	(void)snprintf(name, sizeof name, "%s_name", type->fields[field].name);
	pxt_json_text(out, name, word);
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

/* A set is one text, not a byte for each eighth type. */
static bool put_sets(struct pxt_out *out, const struct pxt_event *event)
{
	static struct pxt_eventset set;
	unsigned count = pxt_eventset_count(event->info.posix_event_id, event->bytes);

	for (unsigned i = 0; i < count; i++) {
		pxt_eventset_of(&set, event->data, event->bytes, i, count);
		pxt_json_text(out, set.name, set.text);
	}
	return count > 0;
}

bool pxt_json_standard(struct pxt_out *out, const struct pxt_event *event, bool as_number)
{
	int32_t number;

	if (put_sets(out, event))
		return true;
	if (event->bytes != sizeof number)
		return false;
	memcpy(&number, event->data, sizeof number);
	switch (event->info.posix_event_id) {
	case POSIX_TRACE_STOP:
		if (as_number)
			pxt_json_number(out, "automatic", number != 0);
		else
			pxt_json_bool(out, "automatic", number != 0);
		return true;
	case POSIX_TRACE_ERROR:
		pxt_json_signed(out, "error", POSIX_TRACE_ERROR_NUMBER_NP(number));
		pxt_json_text(out, "failed", pxt_failure_word(number));
		return true;
	default:
		return false;
	}
}

void pxt_json_payload(
    struct pxt_out *out, const struct pxt_event *event, const char *const renamed[2])
{
	const struct pxt_type *type = event->type;
	struct pxt_value value;
	size_t at = 0;
	size_t rest = type->field_count > 0 ? pxt_fields_rest(event, &at) : 0;

	for (unsigned i = 0;
	     i < type->field_count && pxt_field_value(event, &type->fields[i], &value); i++) {
		bool other = renamed && strcmp(type->fields[i].name, renamed[0]) == 0;

		pxt_json_name(out, other ? renamed[1] : type->fields[i].name);
		put_value(out, &value);
		pxt_json_word(out, type, i, &value);
	}
	if (rest > 0)
		pxt_json_hex(out, "@rest", event->data + at, rest);
	if (event->bytes > 0 && type->field_count == 0 && !pxt_json_standard(out, event, true))
		pxt_json_hex(out, "@data", event->data, event->bytes);
	if (event->info.posix_truncation_status != POSIX_TRACE_NOT_TRUNCATED)
		pxt_json_number(out, "@cut", 1);
}
