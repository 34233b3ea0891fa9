/* SPDX-License-Identifier: MIT */
/* exclude_none.c - posix_trace_thread_exclude_np() where the port has no threads to tell apart. */
#include "format/compiler.h"

#include <errno.h>
#include <trace_np.h>

PXT_API int posix_trace_thread_exclude_np(int exclude)
{
	return exclude ? ENOTSUP : 0;
}
