/* SPDX-License-Identifier: MIT */
/* api.c - the standard's control functions of Trace Core, and the counts. */
#include "base/attr.h"
#include "core/control/control.h"
#include "core/control/counts.h"
#include "core/control/shutdown.h"
#include "core/stream/share.h"

#include <errno.h>

PXT_API int posix_trace_start(trace_id_t trid)
{
	struct pxt_stream *stream = pxt_stream_control(trid);

	if (!stream)
		return EINVAL;
	pxt_control_start(stream, __builtin_return_address(0));
	pxt_stream_control_end(stream);
	return 0;
}

PXT_API int posix_trace_stop(trace_id_t trid)
{
	struct pxt_stream *stream;

	pxt_share_settle(trid);
	stream = pxt_stream_control(trid);
	if (!stream)
		return EINVAL;
	pxt_control_stop(stream, __builtin_return_address(0));
	pxt_stream_control_end(stream);
	return 0;
}

/* Before anything is: what a unit keeps of the stream may be nothing that can be cleared. */
static int may_clear(trace_id_t trid)
{
	struct pxt_stream *stream = pxt_stream_lock(trid);
	int error = 0;

	if (!stream)
		return EINVAL;
	if (stream->before_clear)
		error = stream->before_clear(stream);
	return pxt_stream_leave(stream, error);
}

PXT_API int posix_trace_clear(trace_id_t trid)
{
	struct pxt_stream *stream;
	int error = may_clear(trid);

	if (error)
		return error;
	stream = pxt_stream_control(trid);
	if (!stream)
		return EINVAL;
	/* What an attached process records is its owner's to clear. */
	if (pxt_attr_producer(&stream->block->attr)) {
		error = EINVAL;
	} else {
		pxt_control_clear(stream);
		if (stream->at_clear)
			error = stream->at_clear(stream);
	}
	pxt_stream_control_end(stream);
	return error;
}

PXT_API int posix_trace_shutdown(trace_id_t trid)
{
	return pxt_shutdown_stream(trid, __builtin_return_address(0));
}

PXT_API int posix_trace_counts_np(trace_id_t trid, struct posix_trace_counts_np *counts)
{
	struct pxt_stream *stream = pxt_arg_given(counts) ? pxt_stream_lock(trid) : NULL;

	if (!stream)
		return EINVAL;
	pxt_counts_take(stream, counts);
	return pxt_stream_leave(stream, 0);
}
