/* SPDX-License-Identifier: MIT */
/*
 * note.c - posix_trace_note_np(): notes, which the program puts into a log beside its events.
 *
 * Notes stay in memory, name and text with a zero each, since a log that is begun anew has them again.
 * With the log's lock; a handler that ends the log meanwhile finds a note whole or not at all.
 */
#include "tolog/tolog.h"

#define ROOM 2048u

struct pxt_tolog_notes {
	_Atomic uint32_t used;
	char bytes[ROOM];
};

size_t pxt_tolog_notes_bytes(void)
{
	return sizeof(struct pxt_tolog_notes);
}

int pxt_tolog_notes_tell(struct pxt_tolog *log)
{
	struct pxt_tolog_notes *notes = log->notes;
	uint32_t used = atomic_load_explicit(&notes->used, memory_order_relaxed);
	int error = 0;

	/* Bound: the notes; each turn passes over one, or has made room for it. */
	while (!error && log->told_notes < used) {
		const char *name = notes->bytes + log->told_notes;
		const char *text = name + strlen(name) + 1;

		if (pxt_logfmt_put_note(&log->meta, name, text))
			log->told_notes += (uint32_t)(text + strlen(text) + 1 - name);
		else
			error = pxt_tolog_put_meta(log, PXT_LOG_NOTES);
	}
	if (!error && log->meta.count)
		error = pxt_tolog_put_meta(log, PXT_LOG_NOTES);
	return error;
}

static int add(struct pxt_tolog_notes *notes, const char *name, const char *text)
{
	uint32_t used = atomic_load_explicit(&notes->used, memory_order_relaxed);
	size_t name_bytes = strlen(name) + 1;
	size_t text_bytes = strlen(text) + 1;

	if (name_bytes + text_bytes > ROOM - used)
		return ENOMEM;
	memcpy(notes->bytes + used, name, name_bytes);
	memcpy(notes->bytes + used + name_bytes, text, text_bytes);
	used += (uint32_t)(name_bytes + text_bytes);
	/* Pairs with the interruption: a handler of this thread that finds the length finds the bytes. */
	atomic_signal_fence(memory_order_release);
	atomic_store_explicit(&notes->used, used, memory_order_relaxed);
	return 0;
}

/* At most @most bytes, and a zero behind them. */
static bool is_short(const char *text, size_t most)
{
	return pxt_arg_given(text) && memchr(text, '\0', most + 1) != NULL;
}

PXT_API int posix_trace_note_np(trace_id_t trid, const char *name, const char *text)
{
	struct pxt_stream *stream;

	if (!is_short(name, POSIX_TRACE_NOTE_NAME_MAX_NP) || !*name ||
	    !is_short(text, POSIX_TRACE_NOTE_TEXT_MAX_NP))
		return EINVAL;
	stream = pxt_tolog_enter(trid);
	if (!stream)
		return EINVAL;
	return pxt_tolog_leave(stream, add(pxt_tolog_of(stream)->notes, name, text));
}
