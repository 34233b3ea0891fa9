/* SPDX-License-Identifier: MIT */
/* seal_none.c - a configuration without CONFIG_PTRACE_LOG_SEAL says so. */
#include "format/compiler.h"

#include <errno.h>
#include <trace_np.h>

PXT_API int posix_trace_seal_on_signals_np(int which, const int *signals, size_t count)
{
	(void)which;
	(void)signals;
	(void)count;
	return ENOTSUP;
}
