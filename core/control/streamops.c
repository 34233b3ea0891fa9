/* SPDX-License-Identifier: MIT */
/* streamops.c - what is asked of an active stream: its attributes, its types one by one, its clock. */
#include "core/control/streamops.h"

#include "core/process/names.h"

#include <errno.h>
#include <string.h>

int pxt_streamops_get_attr(void *object, trace_id_t trid, trace_attr_t *attr)
{
	struct pxt_stream *stream = object;
	int error = pxt_stream_enter_as(stream, trid);

	if (error)
		return error;
	*attr = stream->block->attr;
	return pxt_stream_leave(stream, 0);
}

/* Not strcpy(): the bare profile asks the C library for mem* alone. */
static void copy_text(char *to, const char *text)
{
	do
		*to++ = *text;
	while (*text++ != '\0');
}

/* Names are the process' own, and need no lock; the stream is only asked whether it is @trid's. */
static bool lives(void *object, trace_id_t trid)
{
	struct pxt_stream *stream = object;

	if (pxt_stream_enter_as(stream, trid))
		return false;
	pxt_stream_unlock(stream);
	return true;
}

int pxt_streamops_type_name(void *object, trace_id_t trid, trace_event_id_t id, char *name)
{
	const char *text = pxt_names_of(id);

	if (!text || !lives(object, trid))
		return EINVAL;
	copy_text(name, text);
	return 0;
}

int pxt_streamops_type_format(void *object, trace_id_t trid, trace_event_id_t id, char *format)
{
	const char *text = pxt_names_format(id);

	if (!text || !lives(object, trid))
		return EINVAL;
	copy_text(format, text);
	return 0;
}

/* Ascending: system, unnamed, then user types; later ones are appended (DEC-31). */
int pxt_streamops_type_next(void *object, trace_id_t trid, trace_event_id_t *next)
{
	struct pxt_stream *stream = object;
	trace_event_id_t found = 0;
	int error = pxt_stream_enter_as(stream, trid);

	if (error)
		return error;
	for (trace_event_id_t id = stream->type_at + 1; id < PXT_ID_COUNT && !found; id++)
		found = pxt_names_of(id) ? id : 0;
	if (found)
		stream->type_at = found;
	pxt_stream_unlock(stream);
	*next = found;
	return 0;
}

int pxt_streamops_type_rewind(void *object, trace_id_t trid)
{
	struct pxt_stream *stream = object;
	int error = pxt_stream_enter_as(stream, trid);

	if (error)
		return error;
	stream->type_at = 0;
	return pxt_stream_leave(stream, 0);
}

int pxt_streamops_get_clock(void *object, trace_id_t trid, struct posix_trace_clock_np *clock)
{
	struct pxt_stream *stream = object;

	if (pxt_stream_enter_as(stream, trid))
		return EINVAL;
	clock->posix_source_np = pxt_clock.source;
	clock->posix_error_ppm_np = pxt_clock.error_ppm;
	clock->posix_hz_np = pxt_clock.hz;
	clock->posix_anchor_ticks_np = stream->block->created.ticks;
	clock->posix_anchor_np = stream->block->created.realtime;
	return pxt_stream_leave(stream, 0);
}
