/* SPDX-License-Identifier: MIT */
/* layout.c - a description, asked with data that makes every field as long as it can be. */
#include "tools/event/layout.h"

#include <stdio.h>
#include <string.h>

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
