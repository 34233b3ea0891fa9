/* SPDX-License-Identifier: MIT */
/* seal_none.c - a configuration without CONFIG_PTRACE_LOG_SEAL says so. */
#include "format/compiler.h"

#include <errno.h>
#include <trace_np.h>

PXT_API int posix_trace_seal_on_signals_np(
    PXT_UNUSED int which, PXT_UNUSED const int *signals, PXT_UNUSED size_t count)
{
	return ENOTSUP;
}
