/* SPDX-License-Identifier: MIT */
/*
 * fuzz_description.c - descriptions of payloads: what the check takes, the walk takes, and nothing
 * else; fields lie one after another inside the data; the tool's table says the same of them.
 *
 * An input is a description, a NUL, and the data of an event.
 */
#include "base/fields.h"

#include "tools/event/event.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_name(const char *name)
{
	size_t bytes = strnlen(name, 64);

	if (bytes == 0 || bytes > PXT_FIELD_NAME_MAX || (name[0] >= '0' && name[0] <= '9'))
		abort();
	for (size_t i = 0; i < bytes; i++)
		if (!strchr(
		        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_", name[i]))
			abort();
}

/* The fields of one event, compared with the tool's table where there is one; returns their number. */
static unsigned walk(const char *format, const unsigned char *data, size_t len, int swapped,
    const struct pxt_layout *table, unsigned known)
{
	struct posix_trace_field_np field;
	size_t cursor = 0;
	size_t behind = 0;

	for (unsigned i = 0; i <= POSIX_TRACE_FIELDS_MAX_NP; i++) {
		int error = posix_trace_field_next_np(
		    format, data, len, swapped, &cursor, &field, sizeof(field));

		if (error == ENOENT)
			return i;
		if (error || i >= known)
			abort();
		check_name(field.posix_name_np);
		if (field.posix_offset_np < behind)
			abort();
		if (field.posix_offset_np > len ||
		    field.posix_bytes_np > len - field.posix_offset_np)
			abort();
		if (table[i].kind != field.posix_kind_np ||
		    table[i].offset != field.posix_offset_np ||
		    strcmp(table[i].name, field.posix_name_np) != 0)
			abort();
		if (!table[i].trailing && field.posix_bytes_np > table[i].bytes)
			abort();
		behind = field.posix_offset_np + field.posix_bytes_np;
	}
	abort();
}

/* The tool's way to a value gives the same number. */
static void compare(const char *format, const unsigned char *data, size_t len,
    struct pxt_layout *table, unsigned known)
{
	struct pxt_type type = { .field_count = known, .fields = table };
	struct pxt_event event = { .type = &type, .data = data, .bytes = len };
	struct posix_trace_field_np field;
	size_t cursor = 0;

	for (unsigned i = 0; i < known; i++) {
		bool there = posix_trace_field_next_np(
		                 format, data, len, 0, &cursor, &field, sizeof(field)) == 0;
		struct pxt_value value;

		if (pxt_field_value(&event, &table[i], &value) != there)
			abort();
		if (!there)
			return;
		if (value.kind == POSIX_TRACE_FIELD_TEXT_NP ? value.bytes > field.posix_bytes_np
		    : value.kind == POSIX_TRACE_FIELD_FLOAT_NP
		        ? memcmp(&value.f, &field.posix_value_np.posix_f_np, sizeof value.f) != 0
		        : value.u != field.posix_value_np.posix_u_np)
			abort();
	}
}

/* Its end is where it says, and a shorter room holds the same text, cut. */
static void read_message(const char *format, const unsigned char *payload, size_t length)
{
	char whole[8192];
	char *part;
	size_t room;
	int error;

	memset(whole, 'x', sizeof whole);
	error = posix_trace_text_np(format, payload, length, 0, whole, sizeof whole);
	if (error != (strchr(format, ';') ? 0 : ENOENT))
		abort();
	if (error)
		return;
	room = strlen(whole) / 2 + 1;
	part = malloc(room);
	if (part) {
		(void)posix_trace_text_np(format, payload, length, 1, part, room);
		(void)posix_trace_text_np(format, payload, length, 0, part, room);
		if (strlen(part) != room - 1 || memcmp(part, whole, room - 1) != 0)
			abort();
	}
	free(part);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct pxt_layout table[POSIX_TRACE_FIELDS_MAX_NP];
	char format[POSIX_TRACE_FORMAT_MAX_NP + 1];
	const uint8_t *end = memchr(data, 0, size);
	size_t bytes = end ? (size_t)(end - data) : size;
	struct posix_trace_field_np field;
	unsigned char *payload;
	size_t length = 0;
	size_t rest = end ? size - bytes - 1 : 0;
	size_t cursor = 0;

	/* Without an end, too, as a hostile log's would be. */
	memset(format, 'x', sizeof format);
	memcpy(format, data, bytes < sizeof format ? bytes : sizeof format);
	if (bytes < sizeof format)
		format[bytes] = '\0';
	bool good = pxt_fields_check(format, &length) == 0;
	if (good && length != bytes + 1)
		abort();
	if (!good) {
		if (posix_trace_field_next_np(format, NULL, 0, 0, &cursor, &field, sizeof(field)) ==
		    0)
			abort();
		return 0;
	}
	/* A copy of its own, so that the sanitizer sees its end. */
	payload = malloc(rest + 1);
	if (!payload || rest > 4095) {
		free(payload);
		return 0;
	}
	memcpy(payload, end ? end + 1 : data, rest);
	unsigned known = pxt_fields_of(format, table);
	if (known > POSIX_TRACE_FIELDS_MAX_NP ||
	    walk(format, payload, rest, 0, table, known) > known ||
	    walk(format, payload, rest, 1, table, known) > known)
		abort();
	compare(format, payload, rest, table, known);
	read_message(format, payload, rest);
	free(payload);
	return 0;
}
