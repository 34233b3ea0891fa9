/* SPDX-License-Identifier: MIT */
/*
 * query.c - limits and version of this library at run time, for programs that were compiled with another one's headers;
 * inline functions of the headers as real ones, for other languages; the streams of the process.
 */
#include "base/attr.h"
#include "core/stream/stream.h"

#include <errno.h>

PXT_API int posix_trace_query_np(int what)
{
	static const int values[] = {
		[POSIX_TRACE_QUERY_VERSION_NP] = POSIX_TRACE_VERSION_NP,
		[POSIX_TRACE_QUERY_SYS_MAX_NP] = TRACE_SYS_MAX,
		[POSIX_TRACE_QUERY_USER_EVENT_MAX_NP] = TRACE_USER_EVENT_MAX,
		[POSIX_TRACE_QUERY_EVENT_NAME_MAX_NP] = TRACE_EVENT_NAME_MAX,
		[POSIX_TRACE_QUERY_NAME_MAX_NP] = TRACE_NAME_MAX,
		[POSIX_TRACE_QUERY_TRACE_NP] = POSIX_TRACE_HAVE_ONLINE_NP,
		[POSIX_TRACE_QUERY_LOG_NP] = POSIX_TRACE_HAVE_TOLOG_NP,
		[POSIX_TRACE_QUERY_EVENT_FILTER_NP] = POSIX_TRACE_HAVE_FILTER_NP,
		[POSIX_TRACE_QUERY_INHERIT_NP] = POSIX_TRACE_HAVE_INHERIT_NP,
	};

	return what >= 0 && (unsigned)what < sizeof(values) / sizeof(*values) ? values[what] : -1;
}

PXT_API int(posix_trace_wanted_np)(trace_event_id_t event_id)
{
	return _pxt_is_wanted(event_id);
}

/* ---- The streams of the process, for callers that did not create them ---- */

PXT_API int posix_trace_streams_np(trace_id_t *trids, size_t room, size_t *count)
{
	size_t found = 0;

	if (!pxt_arg_given(count) || (room && !pxt_arg_given(trids)))
		return EINVAL;
	for (uint32_t i = 0; i < CONFIG_PTRACE_MAX_STREAMS; i++) {
		struct pxt_stream *stream = &pxt_streams[i];

		if (!pxt_stream_enter(stream))
			continue;
		/* The program did not create memory that another process reads. */
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
