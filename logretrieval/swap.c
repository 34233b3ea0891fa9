/* SPDX-License-Identifier: MIT */
/*
 * swap.c - data that was recorded in the other byte order: what is known to be numbers is turned
 * round, so that programs need not care; all else stays as it was recorded.
 */
#include "logretrieval/log.h"

#include "base/fields.h"

static void turn(unsigned char *at, uint32_t bytes)
{
	uint32_t i;

	for (i = 0; i < bytes / 2; i++) {
		unsigned char byte = at[i];

		at[i] = at[bytes - 1 - i];
		at[bytes - 1 - i] = byte;
	}
}

/* int or trace_event_set_t: all of them are made of 32-bit words. */
static void turn_words(unsigned char *data, uint32_t bytes)
{
	uint32_t at;

	for (at = 0; at + 4 <= bytes; at += 4)
		turn(data + at, 4);
}

static void turn_fields(const char *format, unsigned char *data, uint32_t bytes)
{
	struct pxt_field field;
	uint32_t at = 0;

	while (!pxt_fields_over(format) && pxt_field_parse(&format, &field)) {
		if (field.trailing || field.bytes > bytes - at)
			return;
		if (field.kind != POSIX_TRACE_FIELD_TEXT_NP)
			turn(data + at, field.bytes);
		at += field.bytes;
	}
}

void pxt_log_swap_data(const struct pxt_log *log, uint32_t id, unsigned char *data, uint32_t bytes)
{
	if (id == POSIX_TRACE_START || id == POSIX_TRACE_STOP || id == POSIX_TRACE_FILTER ||
	    id == POSIX_TRACE_ERROR)
		turn_words(data, bytes);
	else if (log->names[id])
		turn_fields(log->names[id]->format, data, bytes);
}
