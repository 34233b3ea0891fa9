/* SPDX-License-Identifier: MIT */
/* streamlist.c - the streams of the process, for callers that did not create them. */
#include "base/attr.h"
#include "core/stream/stream.h"

#include <errno.h>

PXT_API int posix_trace_streams_np(trace_id_t *trids, size_t room, size_t *count)
{
	size_t found = 0;

	if (!pxt_arg_given(count) || (room && !pxt_arg_given(trids)))
		return EINVAL;
	for (uint32_t i = 0; i < CONFIG_PTRACE_MAX_STREAMS; i++) {
		struct pxt_stream *stream = &pxt_streams[i];

		if (!pxt_stream_enter(stream))
			continue;
		/* Memory for another process' stream is none that the program made. */
		if (!pxt_attr_producer(&stream->block->attr)) {
			if (found < room)
				trids[found] = stream->trid;
			found++;
		}
		pxt_stream_unlock(stream);
	}
	*count = found;
	return 0;
}
