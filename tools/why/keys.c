/* SPDX-License-Identifier: MIT */
/* keys.c - numbers of jobs and locks, and other fields of an event. */
#include "tools/why/state_parts.h"

#include "tools/event/event.h"
#include "tools/output/out.h"

#include <string.h>

static void label_text(
    struct pxt_key *key, const struct pxt_event *event, const struct pxt_layout *field)
{
	const char *text;
	size_t bytes = pxt_field_text(event, field, &text);

	(void)pxt_escape(text, bytes, key->label, sizeof key->label, NULL);
}

/* As printf() has it, which would be a sixth of all that why does. */
static void label_number(struct pxt_key *key, int kind)
{
	const bool negative = kind == POSIX_TRACE_FIELD_SIGNED_NP && (int64_t)key->value < 0;
	char text[sizeof key->label] = "";
	char *end = text + sizeof text - 1;
	uint64_t left = key->value;
	char *at = end;

	if (kind == POSIX_TRACE_FIELD_SIGNED_NP || kind == POSIX_TRACE_FIELD_UNSIGNED_NP) {
		at = pxt_out_digits_before(end, negative ? 0 - left : left);
		if (negative)
			*--at = '-';
	} else {
		for (; left > 0 || at == end; left >>= 4)
			*--at = "0123456789abcdef"[left & 15];
		if (key->value) {
			*--at = 'x';
			*--at = '0';
		}
	}
	memcpy(key->label, at, (size_t)(end + 1 - at));
}

struct pxt_key pxt_key_in(const struct pxt_event *event, const struct pxt_layout *field)
{
	struct pxt_key key = { 0 };

	if (!field || !pxt_field_key(event, field, &key.value))
		return key;
	key.is_set = true;
	key.field = field->name;
	if (field->kind == POSIX_TRACE_FIELD_TEXT_NP)
		label_text(&key, event, field);
	else
		label_number(&key, field->kind);
	return key;
}

struct pxt_key pxt_key_of(const struct pxt_event *event, const struct pxt_role *role)
{
	struct pxt_key key = pxt_key_in(event, role->fields[PXT_USE_KEY]);

	key.is_named = role->key_named;
	return key;
}

bool pxt_key_comparable(const struct pxt_key *a, const struct pxt_key *b)
{
	return a->is_set && b->is_set &&
	       ((a->is_named && b->is_named) || a->field == b->field ||
	           strcmp(a->field, b->field) == 0);
}

uint64_t pxt_key_number(const struct pxt_event *event, unsigned index)
{
	uint64_t value = 0;

	if (index < event->type->field_count)
		(void)pxt_field_key(event, &event->type->fields[index], &value);
	return value;
}

bool pxt_number_of(const struct pxt_event *event, const struct pxt_layout *field, int64_t *number)
{
	uint64_t value;

	if (!field || field->kind == POSIX_TRACE_FIELD_TEXT_NP ||
	    !pxt_field_key(event, field, &value))
		return false;
	*number = (int64_t)value;
	return true;
}

int64_t pxt_act_left_state(const struct pxt_act *act)
{
	const struct pxt_layout *field = act->role->fields[PXT_USE_STATE];
	int64_t bits;

	return field && field->kind != POSIX_TRACE_FIELD_TEXT_NP &&
	               pxt_number_of(act->event, field, &bits)
	           ? bits
	           : 0;
}
