/* SPDX-License-Identifier: MIT */
/* notes.c - the notes of all logs; what several say alike is in the new one once. */
#include "tools/merge/merge.h"

#include <string.h>

static bool is_there(
    const struct pxt_source *source, uint32_t end, const struct posix_trace_lognote_np *note)
{
	struct posix_trace_lognote_np other;

	for (uint32_t k = 0; k < end && posix_trace_log_getnote_np(source->trid, k, &other) == 0;
	     k++)
		if (strcmp(other.posix_name_np, note->posix_name_np) == 0 &&
		    strcmp(other.posix_text_np, note->posix_text_np) == 0)
			return true;
	return false;
}

void pxt_merge_notes(const struct pxt_reader *reader, struct pxt_logwrite *log)
{
	struct posix_trace_lognote_np note;

	for (unsigned i = 0; i < reader->count; i++)
		for (uint32_t k = 0;
		     posix_trace_log_getnote_np(reader->sources[i]->trid, k, &note) == 0; k++) {
			bool again = is_there(reader->sources[i], k, &note);

			for (unsigned before = 0; before < i && !again; before++)
				again = is_there(reader->sources[before], UINT32_MAX, &note);
			if (!again)
				pxt_logwrite_note(log, &note);
		}
}
