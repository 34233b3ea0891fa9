/* SPDX-License-Identifier: MIT */
/*
 * error.h - POSIX_TRACE_ERROR events: what went wrong inside the trace system, in the stream concerned.
 *
 *   concurrency: under the stream's mutex, beside writers.
 */
#ifndef PXT_ERROR_H
#define PXT_ERROR_H

#include "core/stream/stream.h"

#if CONFIG_PTRACE_SYSEV_ERROR
/* @cause: POSIX_TRACE_ERROR_*_NP (<trace_np.h>).  A stream that does not run has no such event. */
void pxt_error_record(struct pxt_block *block, unsigned cause, int error);
#else
PXT_INLINE void pxt_error_record(struct pxt_block *block, unsigned cause, int error)
{
	(void)block;
	(void)cause;
	(void)error;
}
#endif

#endif
