/* SPDX-License-Identifier: MIT */
/*
 * classes.c - event classes, from types and their descriptions, as they are met; one event's context and
 * fields.
 *
 * babeltrace2 wants every field of an event to have a value.  An event that was cut has not all of
 * them, and inventing some would be a lie; so events of one type that carry other fields than usual
 * are of a class of their own: same name, another number (the type's plus 1024, plus 2048, ...).
 *
 * A function's begin and end have the names that LTTng-UST gives them: by these Trace Compass' view of call
 * stacks knows them.
 */
#include "tools/babeltrace/ptrace.h"

#include "tools/event/event.h"
#include "tools/output/out.h"

#include <stdio.h>
#include <stdlib.h>
#include <trace_hooks_np.h>

/* ---- Types ---- */

/* Event sets are a text each (event.h), which begins with the data and ends with it. */
static unsigned sets_of(trace_event_id_t id, struct pxt_layout *fields)
{
	unsigned count = id == POSIX_TRACE_FILTER ? 2 : 1;

	for (unsigned i = 0; i < count; i++) {
		fields[i] =
		    (struct pxt_layout){ .kind = POSIX_TRACE_FIELD_TEXT_NP, .trailing = true };
		(void)snprintf(fields[i].name, sizeof fields[i].name, "%s",
		    count == 1 ? "filter"
		    : i == 0   ? "old"
		               : "new");
	}
	return count;
}

/* An int, of which the lower half is an error number and the upper one what failed (<trace_np.h>). */
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
#define FAILURE "u16 error, u16 failed"
#else
#define FAILURE "u16 failed, u16 error"
#endif

/* NULL: it tells of none. */
static const char *name_of_function(trace_event_id_t id)
{
	if (id == POSIX_TRACE_FUNCTION_ENTER_NP)
		return "lttng_ust_cyg_profile:func_entry";
	return id == POSIX_TRACE_FUNCTION_EXIT_NP ? "lttng_ust_cyg_profile:func_exit" : NULL;
}

/* What the standard says of its own types' data; else what the log says. */
static unsigned learn(const struct pxt_bt_file *file, trace_event_id_t id,
    struct pxt_layout fields[POSIX_TRACE_FIELDS_MAX_NP])
{
	char format[POSIX_TRACE_FORMAT_MAX_NP + 1];

	if (id == POSIX_TRACE_STOP)
		return pxt_fields_of("i32 automatic", fields);
	if (id == POSIX_TRACE_ERROR)
		return pxt_fields_of(FAILURE, fields);
	if (id == POSIX_TRACE_START || id == POSIX_TRACE_FILTER)
		return sets_of(id, fields);
	if (name_of_function(id))
		return pxt_fields_of("x64 addr, x64 call_site", fields);
	if (posix_trace_eventid_getformat_np(file->trid, id, format, sizeof(format)) != 0)
		return 0;
	return pxt_fields_of(format, fields);
}

static bool describe(const struct pxt_bt_file *file, trace_event_id_t id, struct pxt_bt_type *type)
{
	struct pxt_layout fields[POSIX_TRACE_FIELDS_MAX_NP];
	unsigned count = learn(file, id, fields);

	if (count == 0)
		return true;
	type->fields = malloc(count * sizeof *type->fields);
	if (!type->fields)
		return false;
	memcpy(type->fields, fields, count * sizeof *type->fields);
	type->field_count = count;
	return true;
}

static struct pxt_bt_type *find_type(
    struct pxt_bt_log *log, const struct pxt_bt_file *file, trace_event_id_t id)
{
	struct pxt_bt_type *type = log->types[id];
	char name[TRACE_EVENT_NAME_MAX + 1];

	if (!type) {
		type = calloc(1, sizeof *type);
		if (!type)
			return NULL;
		if (posix_trace_eventid_get_name(file->trid, id, name) != 0)
			(void)snprintf(name, sizeof name, "event#%u", (unsigned)id);
		if (name_of_function(id))
			(void)snprintf(name, sizeof name, "%s", name_of_function(id));
		pxt_bt_text(name, strlen(name), type->name, sizeof type->name);
		type->id = id;
		log->types[id] = type;
	} else if (type->fields || file->info.posix_complete_np) {
		return type;
	}
	/* In a log that grows, a description may follow the first events. */
	return describe(file, id, type) ? type : NULL;
}

void pxt_bt_types_free(struct pxt_bt_log *log)
{
	for (uint32_t i = 0; i < PXT_BT_TYPES; i++) {
		struct pxt_bt_type *type = log->types[i];

		while (type && type->first) {
			struct pxt_bt_class *class = type->first;

			type->first = class->next;
			bt_event_class_put_ref(class->classes[0]);
			bt_event_class_put_ref(class->classes[1]);
			free(class);
		}
		if (type)
			free(type->fields);
		free(type);
	}
}

/* ---- Field classes ---- */

static bt_field_class *integer(bt_field_class *number, const struct pxt_layout *field)
{
	if (!number)
		return NULL;
	bt_field_class_integer_set_field_value_range(number, 8 * (uint64_t)field->bytes);
	if (field->kind == POSIX_TRACE_FIELD_HEX_NP)
		bt_field_class_integer_set_preferred_display_base(
		    number, BT_FIELD_CLASS_INTEGER_PREFERRED_DISPLAY_BASE_HEXADECIMAL);
	return number;
}

static bt_field_class *class_of(bt_trace_class *family, const struct pxt_layout *field)
{
	switch (field->kind) {
	case POSIX_TRACE_FIELD_SIGNED_NP:
		return integer(bt_field_class_integer_signed_create(family), field);
	case POSIX_TRACE_FIELD_FLOAT_NP:
		return field->bytes == 4 ? bt_field_class_real_single_precision_create(family)
		                         : bt_field_class_real_double_precision_create(family);
	case POSIX_TRACE_FIELD_TEXT_NP:
		return bt_field_class_string_create(family);
	default:
		return integer(bt_field_class_integer_unsigned_create(family), field);
	}
}

/* Numbers of system events have a word each; NULL: no memory. */
static bt_field_class *words_of(
    bt_trace_class *family, trace_event_id_t id, const struct pxt_layout *field)
{
	bt_field_class *words = integer(bt_field_class_enumeration_unsigned_create(family), field);
	size_t count = pxt_sysnames_count(id, field->name);

	for (size_t i = 0; words && i < count; i++) {
		const char *word = pxt_sysnames_word(id, field->name, i);
		bt_integer_range_set_unsigned *range =
		    word ? bt_integer_range_set_unsigned_create() : NULL;
		bool added =
		    !word || (range &&
		                 bt_integer_range_set_unsigned_add_range(range, i, i) ==
		                     BT_INTEGER_RANGE_SET_ADD_RANGE_STATUS_OK &&
		                 bt_field_class_enumeration_unsigned_add_mapping(words, word,
		                     range) == BT_FIELD_CLASS_ENUMERATION_ADD_MAPPING_STATUS_OK);

		bt_integer_range_set_unsigned_put_ref(range);
		if (!added)
			BT_FIELD_CLASS_PUT_REF_AND_RESET(words);
	}
	return words;
}

static bt_field_class *class_of_field(
    bt_trace_class *family, const struct pxt_bt_type *type, const struct pxt_layout *field)
{
	return pxt_sysnames_count(type->id, field->name) > 0 ? words_of(family, type->id, field)
	                                                     : class_of(family, field);
}

/* A name that no field has: two members of one name end the process. */
static void free_name(const struct pxt_bt_type *type, const char *wanted, char *name, size_t room)
{
	(void)snprintf(name, room, "%s", wanted);
	for (unsigned i = 0; i < type->field_count; i++) {
		if (strcmp(type->fields[i].name, name) != 0)
			continue;
		(void)snprintf(name + strlen(name), room - strlen(name), "_");
		i = UINT32_MAX;
	}
}

/* Bytes that nothing describes: their number, then themselves. */
static bool add_rest(
    bt_trace_class *family, bt_field_class *structure, const struct pxt_bt_type *type)
{
	static const struct pxt_layout length_field = { .bytes = 2 };
	static const struct pxt_layout byte_field = { .bytes = 1,
		.kind = POSIX_TRACE_FIELD_HEX_NP };
	const char *what = type->fields ? "rest" : "data";
	bt_field_class *length = class_of(family, &length_field);
	bt_field_class *byte = class_of(family, &byte_field);
	bt_field_class *bytes = NULL;
	bool added = false;
	char name[128];

	if (length && byte)
		bytes = bt_field_class_array_dynamic_create(family, byte, length);
	bt_field_class_put_ref(byte);
	free_name(type, type->fields ? "rest_length" : "data_length", name, sizeof name);
	if (bytes)
		added = pxt_bt_add_member(structure, name, length);
	else
		bt_field_class_put_ref(length);
	free_name(type, what, name, sizeof name);
	if (added)
		return pxt_bt_add_member(structure, name, bytes);
	bt_field_class_put_ref(bytes);
	return false;
}

static bool set_payload(struct pxt_bt_log *log, bt_event_class *event_class,
    const struct pxt_bt_type *type, const struct pxt_bt_class *class)
{
	bt_field_class *payload = bt_field_class_structure_create(log->family);
	bool made = payload != NULL;

	for (unsigned i = 0; made && i < class->fields; i++)
		made = pxt_bt_add_member(payload, type->fields[i].name,
		    class_of_field(log->family, type, &type->fields[i]));
	if (made && class->rest)
		made = add_rest(log->family, payload, type);
	if (made && (class->fields || class->rest))
		made = bt_event_class_set_payload_field_class(event_class, payload) ==
		       BT_EVENT_CLASS_SET_FIELD_CLASS_STATUS_OK;
	bt_field_class_put_ref(payload);
	return made;
}

/* An event that was cut says so. */
static bool set_cut(struct pxt_bt_log *log, bt_event_class *event_class)
{
	static const struct pxt_layout flag = { .bytes = 1 };
	bt_field_class *context = bt_field_class_structure_create(log->family);
	bool made = context &&
	            pxt_bt_add_member(context, "truncated", class_of(log->family, &flag)) &&
	            bt_event_class_set_specific_context_field_class(event_class, context) ==
	                BT_EVENT_CLASS_SET_FIELD_CLASS_STATUS_OK;

	bt_field_class_put_ref(context);
	return made;
}

/* ---- Event classes ---- */

static bool create(struct pxt_bt_log *log, unsigned kind, uint64_t number,
    const struct pxt_bt_type *type, struct pxt_bt_class *class)
{
	bt_event_class *event_class =
	    bt_event_class_create_with_id(log->stream_class[kind], number);

	class->classes[kind] = event_class;
	return event_class &&
	       bt_event_class_set_name(event_class, type->name) ==
	           BT_EVENT_CLASS_SET_NAME_STATUS_OK &&
	       (!class->cut || set_cut(log, event_class)) &&
	       set_payload(log, event_class, type, class);
}

static struct pxt_bt_class *new_class(
    struct pxt_bt_log *log, trace_event_id_t id, struct pxt_bt_type *type, uint32_t variant)
{
	struct pxt_bt_class *class = calloc(1, sizeof *class);
	uint64_t number = id + (uint64_t)PXT_BT_TYPES * type->variants++;

	if (!class)
		return NULL;
	class->variant = variant;
	class->fields = variant >> 3;
	class->rest = variant & 2;
	class->cut = variant & 1;
	/* Listed at once, so that whatever was made is given back. */
	class->next = type->first;
	type->first = class;
	if (create(log, 0, number, type, class) &&
	    (!log->params.kernel || create(log, 1, number, type, class)))
		return class;
	return NULL;
}

const struct pxt_bt_class *pxt_bt_class_find(struct pxt_bt_log *log, const struct pxt_bt_file *file,
    trace_event_id_t id, size_t bytes, bool cut)
{
	struct pxt_bt_type *type = find_type(log, file, id);
	size_t behind = 0;
	unsigned fields = 0;
	size_t length;

	if (!type)
		return NULL;
	/* A START may carry no set. */
	while (!(bytes == 0 && (id == POSIX_TRACE_START || id == POSIX_TRACE_FILTER)) &&
	       fields < type->field_count &&
	       pxt_layout_present(&type->fields[fields], bytes, &length))
		behind = type->fields[fields++].offset + length;
	uint32_t variant =
	    fields << 3 | (type->fields ? 4u : 0u) | (behind < bytes ? 2u : 0u) | (cut ? 1u : 0u);
	for (struct pxt_bt_class *class = type->first; class; class = class->next)
		if (class->variant == variant)
			return class;
	return new_class(log, id, type, variant);
}

/* ---- One event ---- */

/* ---- Threads ---- */

/*
 * The log's table.  A thread without a system number is called by its place in the table, so that
 * views which tell threads apart by vtid still do.
 */
static bool load_threads(struct pxt_bt_log *log, const struct pxt_bt_file *file)
{
	const uint64_t mask = sizeof(pthread_t) >= 8 ? UINT64_MAX : UINT32_MAX;
	uint32_t count = file->info.posix_threads_np;
	struct posix_trace_logthread_np entry;

	if (count == log->threads_asked)
		return true;
	struct pxt_bt_thread *threads = realloc(log->threads, (count + 1u) * sizeof *threads);
	if (!threads)
		return false;
	log->threads = threads;
	log->threads_asked = count;
	for (log->thread_count = 0; log->thread_count < count; log->thread_count++) {
		struct pxt_bt_thread *thread = &threads[log->thread_count];

		if (posix_trace_log_getthread_np(
		        file->trid, log->thread_count, &entry, sizeof entry) != 0)
			break;
		thread->id = entry.posix_thread_np & mask;
		thread->pid = entry.posix_pid_np;
		thread->vtid =
		    entry.posix_tid_np ? entry.posix_tid_np : (int32_t)log->thread_count + 1;
		pxt_bt_text(entry.posix_name_np, sizeof entry.posix_name_np, thread->name,
		    sizeof thread->name);
	}
	return true;
}

/* The thread of an event; one that found the table of threads full has a number alone. */
static struct pxt_bt_thread thread_of(
    const struct pxt_bt_log *log, const struct pxt_bt_record *record)
{
	struct pxt_bt_thread thread = { .id = pxt_thread_number(record->info.posix_thread_id),
		.pid = record->info.posix_pid };
	uint32_t entry = record->extra.posix_thread_entry_np;

	return entry < log->thread_count ? log->threads[entry] : thread;
}

/* ---- Fields ---- */

static bool set_text(bt_field *field, const unsigned char *from, size_t bytes)
{
	char text[4 * 4096 + 17];

	pxt_bt_text((const char *)from, bytes, text, sizeof text);
	return bt_field_string_set_value(field, text) == BT_FIELD_STRING_SET_VALUE_STATUS_OK;
}

static bool set_field(
    bt_field *field, const struct pxt_layout *layout, const unsigned char *from, size_t bytes)
{
	switch (layout->kind) {
	case POSIX_TRACE_FIELD_SIGNED_NP:
		bt_field_integer_signed_set_value(field, pxt_load_signed(from, bytes));
		return true;
	case POSIX_TRACE_FIELD_FLOAT_NP:
		if (bytes == 4)
			bt_field_real_single_precision_set_value(
			    field, (float)pxt_load_float(from, bytes));
		else
			bt_field_real_double_precision_set_value(
			    field, pxt_load_float(from, bytes));
		return true;
	case POSIX_TRACE_FIELD_TEXT_NP:
		return set_text(field, from, bytes);
	default:
		bt_field_integer_unsigned_set_value(field, pxt_load_unsigned(from, bytes));
		return true;
	}
}

static bool set_rest(bt_field *payload, unsigned at, const unsigned char *from, size_t bytes)
{
	bt_field *array = bt_field_structure_borrow_member_field_by_index(payload, at + 1);

	bt_field_integer_unsigned_set_value(
	    bt_field_structure_borrow_member_field_by_index(payload, at), bytes);
	if (bt_field_array_dynamic_set_length(array, bytes) !=
	    BT_FIELD_DYNAMIC_ARRAY_SET_LENGTH_STATUS_OK)
		return false;
	for (size_t i = 0; i < bytes; i++)
		bt_field_integer_unsigned_set_value(
		    bt_field_array_borrow_element_field_by_index(array, i), from[i]);
	return true;
}

/* Of START and FILTER; data that is no set is shown as none. */
static bool set_eventset(
    bt_field *field, const struct pxt_bt_record *record, unsigned index, unsigned count)
{
	struct pxt_eventset set = { .text = "" };

	if (pxt_eventset_count(record->info.posix_event_id, record->bytes) == count)
		pxt_eventset_of(&set, record->data, record->bytes, index, count);
	return bt_field_string_set_value(field, set.text) == BT_FIELD_STRING_SET_VALUE_STATUS_OK;
}

static bool is_eventset(const struct pxt_bt_record *record)
{
	return record->info.posix_event_id == POSIX_TRACE_START ||
	       record->info.posix_event_id == POSIX_TRACE_FILTER;
}

static bool fill_payload(bt_field *payload, const struct pxt_bt_type *type,
    const struct pxt_bt_class *class, const struct pxt_bt_record *record)
{
	size_t behind = 0;

	for (unsigned i = 0; i < class->fields; i++) {
		const struct pxt_layout *layout = &type->fields[i];
		size_t bytes = 0;

		(void)pxt_layout_present(layout, record->bytes, &bytes);
		behind = layout->offset + bytes;
		if (is_eventset(record)) {
			if (!set_eventset(
			        bt_field_structure_borrow_member_field_by_index(payload, i), record,
			        i, class->fields))
				return false;
			continue;
		}
		if (!set_field(bt_field_structure_borrow_member_field_by_index(payload, i), layout,
		        record->data + layout->offset, bytes))
			return false;
	}
	return !class->rest ||
	       set_rest(payload, class->fields, record->data + behind, record->bytes - behind);
}

static bool set_context(
    bt_field *context, const struct pxt_bt_thread *thread, const struct pxt_bt_record *record)
{
	bt_field *members[5];
	uintptr_t ip;

	for (unsigned i = 0; i < 5; i++)
		members[i] = bt_field_structure_borrow_member_field_by_index(context, i);
	memcpy(&ip, &record->info.posix_prog_address, sizeof ip);
	bt_field_integer_signed_set_value(members[0], record->extra.posix_cpu_np);
	bt_field_integer_signed_set_value(members[1], thread->pid);
	bt_field_integer_signed_set_value(members[2], thread->vtid);
	bt_field_integer_unsigned_set_value(members[4], ip);
	return bt_field_string_set_value(members[3], thread->name) ==
	       BT_FIELD_STRING_SET_VALUE_STATUS_OK;
}

bool pxt_bt_event_fill(struct pxt_bt_log *log, const struct pxt_bt_file *file, bt_event *event,
    const struct pxt_bt_class *class, const struct pxt_bt_record *record)
{
	if (!load_threads(log, file))
		return false;
	struct pxt_bt_thread thread = thread_of(log, record);

	if (class->cut)
		bt_field_integer_unsigned_set_value(
		    bt_field_structure_borrow_member_field_by_index(
		        bt_event_borrow_specific_context_field(event), 0),
		    1);
	if (!set_context(bt_event_borrow_common_context_field(event), &thread, record))
		return false;
	return (!class->fields && !class->rest) ||
	       fill_payload(bt_event_borrow_payload_field(event),
	           log->types[record->info.posix_event_id], class, record);
}
