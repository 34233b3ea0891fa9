/* SPDX-License-Identifier: MIT */
/* exclude.c - posix_trace_thread_exclude_np(). */
#include "sysevents/exclude.h"

#include <trace_np.h>

PXT_API int posix_trace_thread_exclude_np(int exclude)
{
	if (exclude)
		pxt_port_untold |= PXT_PORT_UNTOLD_THREAD;
	else
		pxt_port_untold &= ~PXT_PORT_UNTOLD_THREAD;
	return 0;
}

bool pxt_exclude_now(void)
{
	return pxt_exclude_is();
}
