/* SPDX-License-Identifier: MIT */
/*
 * fields.c - an event's data as text: descriptions as the tool keeps them, values, event sets, counts
 * of locks; see event.h.
 */
#include "tools/event/event.h"

#include "format/mul64.h"
#include "tools/output/out.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <trace_hooks_np.h>
#include <trace_np.h>

/* A message has 255 bytes, and texts in it up to 4,095. */
#define MESSAGE_BYTES 4400

bool pxt_fields_only(struct pxt_fields *fields, char *list)
{
	char *rest = NULL;

	for (char *name = strtok_r(list, ", ", &rest); name; name = strtok_r(NULL, ", ", &rest)) {
		if (fields->only_count == POSIX_TRACE_FIELDS_MAX_NP) {
			pxt_complain("--fields takes at most %d names", POSIX_TRACE_FIELDS_MAX_NP);
			return false;
		}
		fields->only[fields->only_count++] = name;
	}
	if (fields->only_count == 0)
		pxt_complain("--fields wants names, as in --fields job,late_ns");
	return fields->only_count > 0;
}

bool pxt_fields_is_bytes(const char *name)
{
	return strcmp(name, "data") == 0 || strcmp(name, "rest") == 0;
}

bool pxt_fields_wanted(const struct pxt_fields *fields, const char *name)
{
	for (unsigned i = 0; i < fields->only_count; i++)
		if (strcmp(fields->only[i], name) == 0)
			return true;
	return fields->only_count == 0;
}

void pxt_fields_learn(trace_id_t trid, struct pxt_type *type)
{
	char format[POSIX_TRACE_FORMAT_MAX_NP + 1];

	if (posix_trace_eventid_getformat_np(trid, type->id, format, sizeof(format)) != 0 ||
	    *format == '\0')
		return;
	if (!type->fields)
		type->fields = pxt_must(calloc(POSIX_TRACE_FIELDS_MAX_NP, sizeof *type->fields));
	type->field_count = pxt_fields_of(format, type->fields);
	/* Descriptions never change. */
	if (strchr(format, ';') && !type->message)
		type->message = pxt_must(strdup(format));
}

static inline bool present(
    const struct pxt_event *event, const struct pxt_layout *field, size_t *bytes)
{
	return pxt_layout_present(field, event->bytes, bytes);
}

static void take_value(int kind, const unsigned char *from, size_t bytes, struct pxt_value *value)
{
	value->kind = kind;
	value->bytes = (uint32_t)bytes;
	switch (kind) {
	case POSIX_TRACE_FIELD_UNSIGNED_NP:
	case POSIX_TRACE_FIELD_HEX_NP:
		value->u = pxt_load_unsigned(from, bytes);
		break;
	case POSIX_TRACE_FIELD_SIGNED_NP:
		value->i = pxt_load_signed(from, bytes);
		break;
	case POSIX_TRACE_FIELD_FLOAT_NP:
		value->f = pxt_load_float(from, bytes);
		break;
	default:
		value->bytes = (uint32_t)pxt_text_bytes(from, bytes);
		value->text = (const char *)from;
	}
}

bool pxt_field_value(
    const struct pxt_event *event, const struct pxt_layout *field, struct pxt_value *value)
{
	size_t bytes;

	if (!present(event, field, &bytes))
		return false;
	take_value(field->kind, event->data + field->offset, bytes, value);
	return true;
}

void pxt_out_value(struct pxt_out *out, const struct pxt_value *value)
{
	switch (value->kind) {
	case POSIX_TRACE_FIELD_UNSIGNED_NP:
		pxt_out_unsigned(out, value->u);
		break;
	case POSIX_TRACE_FIELD_SIGNED_NP:
		pxt_out_signed(out, value->i);
		break;
	case POSIX_TRACE_FIELD_HEX_NP:
		pxt_out_hex(out, value->u);
		break;
	case POSIX_TRACE_FIELD_FLOAT_NP:
		pxt_out_float(out, value->f, value->bytes);
		break;
	default:
		pxt_out_escaped(out, value->text, value->bytes);
	}
}

static void put_value(struct pxt_out *out, const struct pxt_value *value)
{
	bool is_text = value->kind == POSIX_TRACE_FIELD_TEXT_NP;

	if (is_text)
		pxt_out_char(out, '"');
	pxt_out_value(out, value);
	if (is_text)
		pxt_out_char(out, '"');
}

/* A number of a system event that stands for a word is that word. */
static void put_word_or_value(
    struct pxt_out *out, trace_event_id_t id, const char *name, const struct pxt_value *value)
{
	const char *word = pxt_sysnames_word(id, name, value->u);

	if (word)
		pxt_out_text(out, word);
	else if (pxt_sysnames_is_none(id, name, value->u))
		pxt_out_text(out, "none");
	else
		put_value(out, value);
}

/* ---- Lines ---- */

static void put_bytes(struct pxt_out *out, const struct pxt_fields *fields, const char *name,
    const unsigned char *data, size_t bytes)
{
	if (!pxt_fields_wanted(fields, name))
		return;
	pxt_out_gap(out);
	pxt_out_format(out, "%s[%zu]=", name, bytes);
	pxt_out_dump(out, data, bytes, fields->dump_limit);
}

static void put_described(
    struct pxt_out *out, const struct pxt_fields *fields, const struct pxt_event *event)
{
	size_t behind = 0;

	for (unsigned i = 0; i < event->type->field_count; i++) {
		const struct pxt_layout *field = &event->type->fields[i];
		struct pxt_value value;
		size_t bytes;

		if (!present(event, field, &bytes))
			break;
		behind = field->offset + bytes;
		if (!pxt_fields_wanted(fields, field->name) ||
		    (fields->no_callers && pxt_callers_is(event->type, i)))
			continue;
		pxt_out_gap(out);
		pxt_out_text(out, field->name);
		pxt_out_char(out, '=');
		take_value(field->kind, event->data + field->offset, bytes, &value);
		put_word_or_value(out, event->type->id, field->name, &value);
	}
	if (behind < event->bytes)
		put_bytes(out, fields, "rest", event->data + behind, event->bytes - behind);
}

static uint32_t word_at(const struct pxt_event *event, size_t offset)
{
	uint32_t word;

	memcpy(&word, event->data + offset, sizeof word);
	return word;
}

/* Types that a set names, as "none" or "3 types". */
static void put_set(struct pxt_out *out, const struct pxt_event *event, const char *name,
    size_t offset, size_t bytes)
{
	uint64_t members = 0;

	for (size_t at = offset; at + 4 <= offset + bytes; at += 4)
		for (uint32_t word = word_at(event, at); word != 0; word &= word - 1)
			members++;
	pxt_out_gap(out);
	pxt_out_text(out, name);
	pxt_out_char(out, '=');
	if (members == 0)
		pxt_out_text(out, "none");
	else
		pxt_out_format(out, "%llu types", (unsigned long long)members);
}

/* The number, too: it is that of the system that recorded it. */
static void put_failure(struct pxt_out *out, int32_t data)
{
	int number = POSIX_TRACE_ERROR_NUMBER_NP(data);

	pxt_out_gap(out);
	pxt_out_format(out, "%s: %s (%d)", pxt_failure_what(data), strerror(number), number);
}

/* The data that the standard prescribes for its own events; false: show bytes. */
static bool put_standard(
    struct pxt_out *out, const struct pxt_fields *fields, const struct pxt_event *event)
{
	if (fields->only_count > 0)
		return false;
	switch (event->info.posix_event_id) {
	case POSIX_TRACE_START:
		put_set(out, event, "filter", 0, event->bytes);
		return true;
	case POSIX_TRACE_FILTER:
		put_set(out, event, "old", 0, event->bytes / 2);
		put_set(out, event, "new", event->bytes / 2, event->bytes / 2);
		return true;
	case POSIX_TRACE_STOP:
		if (event->bytes != 4)
			return false;
		pxt_out_gap(out);
		pxt_out_text(out, word_at(event, 0) == 0   ? "by call"
		                  : word_at(event, 0) == 2 ? "automatic: by a signal"
		                                           : "automatic: full");
		return true;
	case POSIX_TRACE_ERROR:
		if (event->bytes != 4)
			return false;
		put_failure(out, (int32_t)word_at(event, 0));
		return true;
	default:
		return false;
	}
}

const char *pxt_fields_message(const struct pxt_event *event)
{
	static char text[MESSAGE_BYTES];

	return event->type->message && posix_trace_text_np(event->type->message, event->data,
	                                   event->bytes, 0, text, sizeof text) == 0
	           ? text
	           : NULL;
}

static bool put_message(
    struct pxt_out *out, const struct pxt_fields *fields, const struct pxt_event *event)
{
	const char *text = fields->only_count == 0 ? pxt_fields_message(event) : NULL;

	if (!text)
		return false;
	pxt_out_gap(out);
	pxt_out_escaped(out, text, strlen(text));
	return true;
}

void pxt_out_fields(
    struct pxt_out *out, const struct pxt_fields *fields, const struct pxt_event *event)
{
	if (!put_message(out, fields, event) && event->bytes > 0) {
		if (event->type->field_count > 0)
			put_described(out, fields, event);
		else if (!put_standard(out, fields, event))
			put_bytes(out, fields, "data", event->data, event->bytes);
	}
	if (event->info.posix_truncation_status != POSIX_TRACE_NOT_TRUNCATED) {
		pxt_out_gap(out);
		pxt_out_text(out, "[cut]");
	}
}

size_t pxt_fields_rest(const struct pxt_event *event, size_t *offset)
{
	*offset = 0;
	for (unsigned i = 0; i < event->type->field_count; i++) {
		const struct pxt_layout *field = &event->type->fields[i];
		size_t bytes;

		if (!present(event, field, &bytes))
			break;
		*offset = field->offset + bytes;
	}
	return event->bytes - *offset;
}

void pxt_out_fields_bare(
    struct pxt_out *out, const struct pxt_fields *fields, const struct pxt_event *event)
{
	pxt_out_no_gap(out);
	pxt_out_fields(out, fields, event);
	out->pad = 0;
}

bool pxt_field_key(const struct pxt_event *event, const struct pxt_layout *field, uint64_t *key)
{
	const unsigned char *from = event->data + field->offset;
	size_t bytes;

	if (field->kind == POSIX_TRACE_FIELD_FLOAT_NP || !present(event, field, &bytes))
		return false;
	if (field->kind == POSIX_TRACE_FIELD_SIGNED_NP) {
		*key = (uint64_t)pxt_load_signed(from, bytes);
	} else if (field->kind != POSIX_TRACE_FIELD_TEXT_NP) {
		*key = pxt_load_unsigned(from, bytes);
	} else {
		/* FNV-1a: two texts become one by mistake once in 2^64. */
		bytes = pxt_text_bytes(from, bytes);
		*key = UINT64_C(0xcbf29ce484222325);
		for (size_t i = 0; i < bytes; i++)
			*key = (*key ^ from[i]) * UINT64_C(0x100000001b3);
	}
	return true;
}

size_t pxt_field_text(
    const struct pxt_event *event, const struct pxt_layout *field, const char **text)
{
	size_t bytes = event->bytes > field->offset ? event->bytes - field->offset : 0;

	if (!field->trailing && bytes > field->bytes)
		bytes = field->bytes;
	*text = (const char *)event->data + field->offset;
	return strnlen(*text, bytes);
}

const struct pxt_layout *pxt_field_named(const struct pxt_type *type, const char *name)
{
	for (unsigned i = 0; i < type->field_count; i++)
		if (strcmp(type->fields[i].name, name) == 0)
			return &type->fields[i];
	return NULL;
}

/* ---- Functions that called: of a wait, of a sample, of a type that carries them ---- */

bool pxt_callers_is(const struct pxt_type *type, unsigned field)
{
	const char *name = type->fields[field].name;

	return type->fields[field].kind == POSIX_TRACE_FIELD_HEX_NP &&
	       type->fields[field].bytes == sizeof(uint64_t) && strncmp(name, "caller", 6) == 0 &&
	       name[6] >= '1' && name[6] <= '8' && !name[7];
}

unsigned pxt_callers_of(const struct pxt_event *event, uint64_t callers[PXT_CALLERS_MAX])
{
	unsigned count = 0;

	for (unsigned i = 0; i < event->type->field_count && count < PXT_CALLERS_MAX; i++) {
		const struct pxt_layout *field = &event->type->fields[i];
		size_t bytes;

		if (!pxt_callers_is(event->type, i))
			continue;
		if (!pxt_layout_present(field, event->bytes, &bytes))
			break;
		callers[count++] = pxt_load_unsigned(event->data + field->offset, bytes);
	}
	return count;
}

/* ---- A description as the tool keeps it, and the event sets of system events ---- */

unsigned pxt_fields_of(const char *format, struct pxt_layout *fields)
{
	struct posix_trace_field_np found[POSIX_TRACE_FIELDS_MAX_NP];
	size_t count;

	if (posix_trace_fields_np(
	        format, found, sizeof *found, POSIX_TRACE_FIELDS_MAX_NP, &count) != 0)
		return 0;
	for (size_t i = 0; i < count; i++) {
		memcpy(fields[i].name, found[i].posix_name_np, sizeof fields[i].name);
		fields[i].kind = found[i].posix_kind_np;
		fields[i].offset = found[i].posix_offset_np;
		fields[i].bytes = found[i].posix_bytes_np;
		fields[i].trailing = found[i].posix_bytes_np == 0;
	}
	return (unsigned)count;
}

/* ---- Event sets as text ---- */

unsigned pxt_eventset_count(trace_event_id_t id, size_t bytes)
{
	unsigned count = id == POSIX_TRACE_START ? 1u : id == POSIX_TRACE_FILTER ? 2u : 0u;

	return count && bytes && bytes % (sizeof(uint32_t) * count) == 0 ? count : 0u;
}

static void put_members(char *text, size_t room, const unsigned char *data, size_t bytes)
{
	size_t used = 0;

	*text = '\0';
	for (size_t at = 0; at + sizeof(uint32_t) <= bytes; at += sizeof(uint32_t)) {
		uint32_t word;

		memcpy(&word, data + at, sizeof word);
		/* Bound: 32; a hostile log's set may be longer than there are types. */
		for (unsigned bit = 0; bit < 32u && room - used > 12; bit++) {
			if (!(word >> bit & 1u))
				continue;
			used += (size_t)snprintf(text + used, room - used, "%s%lu", used ? " " : "",
			    (unsigned long)(at * 8 + bit));
		}
	}
	if (!used)
		(void)snprintf(text, room, "none");
}

void pxt_eventset_of(struct pxt_eventset *set, const unsigned char *data, size_t bytes,
    unsigned index, unsigned count)
{
	size_t part = bytes / count;

	set->name = count == 1 ? "filter" : index == 0 ? "old" : "new";
	put_members(set->text, sizeof set->text, data + index * part, part);
}

/* ---- What a traced program counted instead of recording it ---- */

static struct pxt_lockcounts_kind *kind_of(struct pxt_lockcounts *taken, const char *name)
{
	unsigned i = 0;

	while (i + 1 < PXT_LOCKCOUNTS_KINDS && *taken->kinds[i].name &&
	       strcmp(taken->kinds[i].name, name) != 0)
		i++;
	if (!*taken->kinds[i].name)
		(void)snprintf(taken->kinds[i].name, sizeof taken->kinds[i].name, "%s",
		    i + 1 < PXT_LOCKCOUNTS_KINDS ? name : "others");
	return &taken->kinds[i];
}

void pxt_lockcounts_add(struct pxt_lockcounts *taken, const struct pxt_event *event)
{
	const struct pxt_layout *what = pxt_field_named(event->type, "what");
	const struct pxt_layout *name = pxt_field_named(event->type, "name");
	const struct pxt_layout *size = pxt_field_named(event->type, "size");
	char kind[sizeof taken->kinds->name];
	struct pxt_value value;
	uint64_t number = 0;

	if (event->info.posix_event_id != POSIX_TRACE_PROCESS_NP || !what || !name || !size ||
	    !pxt_field_key(event, what, &number) || number != POSIX_TRACE_PROCESS_TAKEN_NP ||
	    !pxt_field_key(event, size, &number) || !pxt_field_value(event, name, &value) ||
	    value.kind != POSIX_TRACE_FIELD_TEXT_NP || value.bytes == 0)
		return;
	(void)pxt_escape(value.text, value.bytes, kind, sizeof kind, NULL);
	pxt_sum_add(&kind_of(taken, kind)->times, number);
}
