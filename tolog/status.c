/* SPDX-License-Identifier: MIT */
/* status.c - status of a stream with log. */
#include "tolog/tolog.h"

#include "core/control/status.h"

#include <errno.h>

/* Read and reset in one step each (STA-03). */
int pxt_tolog_get_status(void *object, trace_id_t trid, struct posix_trace_status_info *status)
{
	struct pxt_stream *stream = object;
	struct pxt_tolog *log;

	if (pxt_stream_enter_as(stream, trid))
		return EINVAL;
	log = pxt_tolog_of(stream);
	pxt_status_take(stream, status);
	status->posix_stream_flush_status =
	    log->flushing ? POSIX_TRACE_FLUSHING : POSIX_TRACE_NOT_FLUSHING;
	status->posix_stream_flush_error =
	    atomic_exchange_explicit(&log->error, 0, memory_order_acq_rel);
	status->posix_log_overrun_status =
	    atomic_exchange_explicit(&log->overrun, 0u, memory_order_acq_rel)
	        ? POSIX_TRACE_OVERRUN
	        : POSIX_TRACE_NO_OVERRUN;
	status->posix_log_full_status = atomic_load_explicit(&log->full, memory_order_acquire)
	                                    ? POSIX_TRACE_FULL
	                                    : POSIX_TRACE_NOT_FULL;
	return pxt_stream_leave(stream, 0);
}
