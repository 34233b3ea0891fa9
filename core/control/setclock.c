/* SPDX-License-Identifier: MIT */
/* setclock.c - a clock of the program's own, in place of the machine's. */
#include "core/stream/stream.h"

#include <errno.h>

#define HZ_MAX 10000000000u

/* Under the process lock.  A thread that is still inside a stream that is gone may be reading the clock. */
static bool any_stream(void)
{
	for (unsigned i = 0; i < CONFIG_PTRACE_MAX_STREAMS; i++) {
		if (pxt_stream_block(i))
			return true;
	}
	return pxt_threads_kept_any();
}

PXT_API int posix_trace_set_process_clock_np(
    uint64_t (*clock)(void *context), void *context, uint64_t hz)
{
	int error = 0;

	if (clock && (hz == 0 || hz > HZ_MAX))
		return EINVAL;
	pxt_process_lock();
	if (any_stream()) {
		error = EBUSY;
	} else {
		pxt_port_clock_choose(clock, context, hz);
		pxt_port_clock_start(&pxt_clock);
	}
	pxt_process_unlock();
	return error;
}
