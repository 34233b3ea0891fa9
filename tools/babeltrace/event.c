/* SPDX-License-Identifier: MIT */
/* event.c - one event's context and fields. */
#include "tools/babeltrace/ptrace.h"

#include "tools/event/event.h"

#include <stdlib.h>

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

static bool set_payload(bt_field *payload, const struct pxt_bt_type *type,
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
	       set_payload(bt_event_borrow_payload_field(event),
	           log->types[record->info.posix_event_id], class, record);
}
