/* SPDX-License-Identifier: MIT */
/* status_get.c - posix_trace_get_status() of a stream without log. */
#include "core/control/status.h"

#include <errno.h>

int pxt_status_get(void *object, trace_id_t trid, struct posix_trace_status_info *status)
{
	struct pxt_stream *stream = object;

	if (pxt_stream_enter_as(stream, trid))
		return EINVAL;
	pxt_status_take(stream, status);
	pxt_stream_unlock(stream);
	status->posix_stream_flush_status = POSIX_TRACE_NOT_FLUSHING;
	status->posix_stream_flush_error = 0;
	status->posix_log_overrun_status = POSIX_TRACE_NO_OVERRUN;
	status->posix_log_full_status = POSIX_TRACE_NOT_FULL;
	return 0;
}
