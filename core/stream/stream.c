/* SPDX-License-Identifier: MIT */
/* stream.c - the streams of this process, and how an identifier leads to one; see stream.h. */
#include "core/stream/stream.h"

#include <errno.h>

struct pxt_stream pxt_streams[CONFIG_PTRACE_MAX_STREAMS];
struct pxt_block *_Atomic pxt_blocks[CONFIG_PTRACE_MAX_STREAMS];
const char pxt_stream_kind;

/* Without the lock a stream may go at any time; its place stays, and says so. */
bool pxt_stream_enter(struct pxt_stream *stream)
{
	if (!pxt_process_owns(atomic_load_explicit(&stream->epoch, memory_order_relaxed)))
		return false;
	pxt_port_mutex_lock(&stream->mutex);
	if (stream->block && stream->trid && !stream->closing)
		return true;
	pxt_port_mutex_unlock(&stream->mutex);
	return false;
}

int pxt_stream_enter_as(void *object, trace_id_t trid)
{
	struct pxt_stream *stream = object;

	if (!pxt_stream_enter(stream))
		return EINVAL;
	return stream->trid == trid ? 0 : pxt_stream_leave(stream, EINVAL);
}

void pxt_stream_unlock(struct pxt_stream *stream)
{
	pxt_port_mutex_unlock(&stream->mutex);
}

int pxt_stream_leave(void *object, int error)
{
	pxt_stream_unlock(object);
	return error;
}

struct pxt_stream *pxt_stream_lock(trace_id_t trid)
{
	struct pxt_stream *stream = pxt_handle_find_kind(trid, &pxt_stream_kind);

	return stream && !pxt_stream_enter_as(stream, trid) ? stream : NULL;
}

struct pxt_stream *pxt_stream_control(trace_id_t trid)
{
	struct pxt_stream *stream;

	pxt_process_lock();
	stream = pxt_stream_lock(trid);
	if (!stream)
		pxt_process_unlock();
	return stream;
}

void pxt_stream_control_end(struct pxt_stream *stream)
{
	pxt_stream_unlock(stream);
	pxt_process_unlock();
}
