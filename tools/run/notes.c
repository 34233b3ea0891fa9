/* SPDX-License-Identifier: MIT */
/* notes.c - what a log says in words; see recorder.h. */
#include "tools/run/recorder.h"

#include "tools/output/out.h"

#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

bool pxt_notes_add(struct pxt_notes *notes, const char *text)
{
	size_t name = strcspn(text, "=");
	struct posix_trace_lognote_np *note = &notes->list[notes->count];

	if (name == 0 || text[name] != '=') {
		pxt_complain("run: --note wants KEY=VALUE, not \"%s\"", text);
		return false;
	}
	if (name > POSIX_TRACE_NOTE_NAME_MAX_NP ||
	    strlen(text + name + 1) > POSIX_TRACE_NOTE_TEXT_MAX_NP) {
		pxt_complain("run: --note: a key has at most %d bytes, a value %d",
		    POSIX_TRACE_NOTE_NAME_MAX_NP, POSIX_TRACE_NOTE_TEXT_MAX_NP);
		return false;
	}
	if (notes->count == PXT_NOTES_MAX) {
		pxt_complain("run: --note: at most %u of them", PXT_NOTES_MAX);
		return false;
	}
	memcpy(note->posix_name_np, text, name);
	note->posix_name_np[name] = '\0';
	(void)snprintf(note->posix_text_np, sizeof note->posix_text_np, "%s", text + name + 1);
	notes->count++;
	return true;
}

static void tell(trace_id_t trid, const char *name, const char *text)
{
	int error = posix_trace_note_np(trid, name, text);

	if (error)
		pxt_complain("run: the note %s is not in the log: %s", name, strerror(error));
}

/* As much of the command as a note has room for. */
static void tell_command(trace_id_t trid, char *const *argv, unsigned most)
{
	char text[POSIX_TRACE_NOTE_TEXT_MAX_NP + 1] = "";
	size_t used = 0;

	for (unsigned i = 0; argv[i] && i < most && used < sizeof text; i++)
		used += (size_t)snprintf(
		    text + used, sizeof text - used, "%s%s", i ? " " : "", argv[i]);
	tell(trid, "command", text);
}

void pxt_notes_tell(const struct pxt_notes *notes, trace_id_t trid, char *const *argv)
{
	tell_command(trid, argv, notes->no_arguments ? 1u : UINT_MAX);
	for (unsigned i = 0; i < notes->count; i++)
		tell(trid, notes->list[i].posix_name_np, notes->list[i].posix_text_np);
}

void pxt_notes_tell_status(trace_id_t trid, int status)
{
	char text[16];

	(void)snprintf(text, sizeof text, "%d", status);
	tell(trid, "status", text);
}

void pxt_notes_tell_throttled(trace_id_t trid, const struct pxt_throttle *throttled)
{
	char text[64];

	if (throttled->times == 0)
		return;
	(void)snprintf(text, sizeof text, "%" PRIu64 " times, %" PRIu64 " us", throttled->times,
	    throttled->ns / 1000u);
	tell(trid, "throttled", text);
}
