/* SPDX-License-Identifier: MIT */
/* exclude.c - posix_trace_thread_exclude_np(). */
#include "sysevents/exclude.h"

#include <trace_np.h>

PXT_TLS bool pxt_exclude_thread;

PXT_API int posix_trace_thread_exclude_np(int exclude)
{
	pxt_exclude_thread = exclude != 0;
	return 0;
}
