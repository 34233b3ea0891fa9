/* SPDX-License-Identifier: MIT */
/* layout.c - a description, asked with data that makes every field as long as it can be. */
#include "tools/event/layout.h"

#define PROBE_BYTES 4095u

static bool same_end(const char *format, const unsigned char *probe, uint32_t cursor, size_t bytes)
{
	struct posix_trace_field_np field;

	return posix_trace_field_next_np(format, probe, bytes, 0, &cursor, &field) == 0 &&
	       field.posix_offset_np + field.posix_bytes_np == bytes;
}

unsigned pxt_fields_of(const char *format, struct pxt_layout *fields)
{
	unsigned char probe[PROBE_BYTES];
	struct posix_trace_field_np field;
	uint32_t cursor = 0;
	unsigned count = 0;

	/* No NULs: a text field is then as long as it can be. */
	memset(probe, 'x', sizeof probe);
	while (count < POSIX_TRACE_FIELDS_MAX_NP) {
		struct pxt_layout *layout = &fields[count];
		uint32_t before = cursor;

		if (posix_trace_field_next_np(format, probe, sizeof probe, 0, &cursor, &field) != 0)
			break;
		memcpy(layout->name, field.posix_name_np, sizeof layout->name);
		layout->kind = field.posix_kind_np;
		layout->offset = field.posix_offset_np;
		layout->bytes = field.posix_bytes_np;
		/* A trailing text ends where the data ends, wherever that is. */
		layout->trailing = field.posix_kind_np == POSIX_TRACE_FIELD_TEXT_NP &&
		                   layout->offset + layout->bytes == sizeof probe &&
		                   same_end(format, probe, before, sizeof probe - 1);
		if (layout->trailing)
			layout->bytes = 0;
		count++;
	}
	return count;
}
