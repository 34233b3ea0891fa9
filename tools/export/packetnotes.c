/* SPDX-License-Identifier: MIT */
/* packetnotes.c - what a Perfetto event says beside its name: the event's fields as annotations; see packets.h. */
#include "tools/export/packets.h"

#include "tools/event/event.h"
#include "tools/output/out.h"

#include <string.h>

/* The next one; NULL when there is no room. */
static Pxt__DebugAnnotation *new_note(struct pxt_perfetto *p)
{
	static const Pxt__DebugAnnotation empty = PXT__DEBUG_ANNOTATION__INIT;

	if (p->notes == PXT_NOTES_MAX)
		return NULL;
	p->note[p->notes] = empty;
	p->note_list[p->notes] = &p->note[p->notes];
	return &p->note[p->notes++];
}

/* Text from the log, or as much of it as there is room for; the room holds an event's. */
static char *keep_text(struct pxt_perfetto *p, const char *text, size_t bytes)
{
	char *kept = p->text + p->text_used;

	p->text_used += pxt_escape(text, bytes, kept, sizeof p->text - p->text_used, NULL) + 1;
	return kept;
}

static char *keep_bytes(struct pxt_perfetto *p, const unsigned char *data, size_t bytes)
{
	static const char digits[] = "0123456789abcdef";
	char *kept = p->text + p->text_used;
	size_t room = (sizeof p->text - p->text_used - 1) / 2;

	if (bytes > room)
		bytes = room;
	for (size_t i = 0; i < bytes; i++) {
		kept[2 * i] = digits[data[i] >> 4];
		kept[2 * i + 1] = digits[data[i] & 15];
	}
	kept[2 * bytes] = '\0';
	p->text_used += 2 * bytes + 1;
	return kept;
}

static void set_value(
    struct pxt_perfetto *p, Pxt__DebugAnnotation *note, const struct pxt_value *value)
{
	switch (value->kind) {
	case POSIX_TRACE_FIELD_UNSIGNED_NP:
		note->has_uint_value = 1;
		note->uint_value = value->u;
		break;
	case POSIX_TRACE_FIELD_HEX_NP:
		note->has_pointer_value = 1;
		note->pointer_value = value->u;
		break;
	case POSIX_TRACE_FIELD_SIGNED_NP:
		note->has_int_value = 1;
		note->int_value = value->i;
		break;
	case POSIX_TRACE_FIELD_FLOAT_NP:
		note->has_double_value = 1;
		note->double_value = value->f;
		break;
	default:
		note->string_value = keep_text(p, value->text, value->bytes);
	}
}

/* The fields' names get numbers when the type is seen first; the number of the first of them. */
static uint64_t number_fields(
    struct pxt_perfetto_type *names, struct pxt_perfetto *p, const struct pxt_type *type)
{
	if (names->fields != type->field_count) {
		names->first_iid = p->next_iid;
		names->fields = type->field_count;
		names->epoch = 0;
		p->next_iid += type->field_count;
	}
	return names->first_iid;
}

/* The event sets of START and FILTER, a text each. */
static bool note_sets(struct pxt_perfetto *p, const struct pxt_event *event)
{
	static struct pxt_eventset set;
	unsigned count = pxt_eventset_count(event->info.posix_event_id, event->bytes);

	for (unsigned i = 0; i < count; i++) {
		Pxt__DebugAnnotation *note = new_note(p);

		if (!note)
			break;
		pxt_eventset_of(&set, event->data, event->bytes, i, count);
		note->name = (char *)(uintptr_t)set.name;
		note->string_value = keep_text(p, set.text, strlen(set.text));
	}
	return count > 0;
}

void pxt_perfetto_note_fields(
    struct pxt_perfetto *p, const struct pxt_event *event, const struct pxt_layout *except)
{
	const struct pxt_type *type = event->type;
	bool has_names = type->index != PXT_INDEX_NONE;
	uint64_t first_iid = has_names ? number_fields(&p->types[type->index], p, type) : 0;
	struct pxt_value value;
	size_t at = 0;
	size_t rest = type->field_count > 0 ? pxt_fields_rest(event, &at) : event->bytes;

	for (unsigned i = 0;
	     i < type->field_count && pxt_field_value(event, &type->fields[i], &value); i++) {
		if (&type->fields[i] == except)
			continue;
		Pxt__DebugAnnotation *note = new_note(p);

		if (has_names) {
			note->has_name_iid = 1;
			note->name_iid = first_iid + i;
		} else {
			note->name = type->fields[i].name;
		}
		set_value(p, note, &value);
	}
	if (note_sets(p, event))
		return;
	if (rest > 0) {
		Pxt__DebugAnnotation *note = new_note(p);

		note->name = (char *)(uintptr_t)(type->field_count > 0 ? "@rest" : "@data");
		note->string_value = keep_bytes(p, event->data + at, rest);
	}
	if (event->info.posix_truncation_status != POSIX_TRACE_NOT_TRUNCATED)
		pxt_perfetto_note_flag(p, "@cut");
}

void pxt_perfetto_note_number(struct pxt_perfetto *p, const char *name, uint64_t number)
{
	Pxt__DebugAnnotation *note = new_note(p);

	if (!note)
		return;
	note->name = (char *)(uintptr_t)name;
	note->has_uint_value = 1;
	note->uint_value = number;
}

void pxt_perfetto_note_flag(struct pxt_perfetto *p, const char *name)
{
	Pxt__DebugAnnotation *note = new_note(p);

	if (!note)
		return;
	note->name = (char *)(uintptr_t)name;
	note->has_bool_value = note->bool_value = 1;
}
