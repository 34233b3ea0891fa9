/* SPDX-License-Identifier: MIT */
/* keys.c - numbers of jobs and locks, and other fields of an event. */
#include "tools/why/state_parts.h"

#include "tools/event/event.h"
#include "tools/output/out.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static void label_text(
    struct pxt_key *key, const struct pxt_event *event, const struct pxt_layout *field)
{
	const char *text = (const char *)event->data + field->offset;
	size_t bytes = event->bytes > field->offset ? event->bytes - field->offset : 0;

	if (!field->trailing && bytes > field->bytes)
		bytes = field->bytes;
	const char *end = memchr(text, 0, bytes);
	(void)pxt_escape(
	    text, end ? (size_t)(end - text) : bytes, key->label, sizeof key->label, NULL);
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
	else if (field->kind == POSIX_TRACE_FIELD_SIGNED_NP)
		(void)snprintf(key.label, sizeof key.label, "%" PRId64, (int64_t)key.value);
	else if (field->kind == POSIX_TRACE_FIELD_UNSIGNED_NP)
		(void)snprintf(key.label, sizeof key.label, "%" PRIu64, key.value);
	else
		(void)snprintf(key.label, sizeof key.label, "%#" PRIx64, key.value);
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
