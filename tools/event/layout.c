/* SPDX-License-Identifier: MIT */
/* layout.c - a description as the tool keeps it, and the event sets of system events. */
#include "tools/event/event.h"

#include <stdio.h>
#include <string.h>

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
