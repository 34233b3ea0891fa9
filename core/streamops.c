/* SPDX-License-Identifier: MIT */
/* streamops.c - operations on an identifier that active streams of every unit share. */
#include "core/names.h"
#include "core/stream.h"

#include <errno.h>
#include <string.h>

int pxt_stream_get_attr(void *object, trace_attr_t *attr)
{
	struct pxt_stream *stream = object;

	if (!pxt_stream_enter(stream))
		return EINVAL;
	*attr = stream->block->attr;
	pxt_stream_unlock(stream);
	return 0;
}

/* Not strcpy(): the bare profile asks the C library for mem* alone. */
static void copy_text(char *to, const char *text)
{
	do
		*to++ = *text;
	while (*text++ != '\0');
}

/* Names are the process' own; the stream need not be looked at any closer. */
static bool ours(void *object)
{
	struct pxt_stream *stream = object;

	return pxt_process_owns(atomic_load_explicit(&stream->epoch, memory_order_relaxed));
}

int pxt_stream_type_name(void *object, trace_event_id_t id, char *name)
{
	const char *text = pxt_names_of(id);

	if (!text || !ours(object))
		return EINVAL;
	copy_text(name, text);
	return 0;
}

int pxt_stream_type_format(void *object, trace_event_id_t id, char *format)
{
	const char *text = pxt_names_format(id);

	if (!text || !ours(object))
		return EINVAL;
	copy_text(format, text);
	return 0;
}

/* Ascending: system, unnamed, then user types; later ones are appended (DEC-31). */
trace_event_id_t pxt_stream_type_next(void *object)
{
	struct pxt_stream *stream = object;
	trace_event_id_t found = 0;

	if (!pxt_stream_enter(stream))
		return 0;
	for (trace_event_id_t id = stream->type_at + 1; id < PXT_ID_COUNT && !found; id++)
		found = pxt_names_of(id) ? id : 0;
	if (found)
		stream->type_at = found;
	pxt_stream_unlock(stream);
	return found;
}

void pxt_stream_type_rewind(void *object)
{
	struct pxt_stream *stream = object;

	if (!pxt_stream_enter(stream))
		return;
	stream->type_at = 0;
	pxt_stream_unlock(stream);
}

int pxt_stream_get_clock(void *object, struct posix_trace_clock_np *clock)
{
	struct pxt_stream *stream = object;

	if (!pxt_stream_enter(stream))
		return EINVAL;
	clock->posix_source_np = pxt_clock.source;
	clock->posix_error_ppm_np = pxt_clock.error_ppm;
	clock->posix_hz_np = pxt_clock.hz;
	clock->posix_anchor_ticks_np = stream->block->created.ticks;
	clock->posix_anchor_np = stream->block->created.realtime;
	pxt_stream_unlock(stream);
	return 0;
}
