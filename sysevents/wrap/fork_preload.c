/* SPDX-License-Identifier: MIT */
/*
 * fork_preload.c - _Fork() and _exit(), which the C library itself calls by these names: the linker would wrap
 * them in fork() and exit(), too.
 */
#define _GNU_SOURCE
#include "sysevents/wrap/process.h"

#include <stdlib.h>
#include <unistd.h>

PXT_WRAP_REAL(_Fork);
PXT_WRAP_REAL(_exit);
PXT_WRAP_REAL(_Exit);

/* For handlers of signals: the child is not traced, since attaching is not for them. */
PXT_WRAP_EXPORT pid_t PXT_WRAP_NAME(_Fork)(void)
{
	const void *caller = PXT_WRAP_CALLER();
	pid_t child = PXT_WRAP_CALL(_Fork)();

	if (child > 0)
		pxt_process_tell(POSIX_TRACE_PROCESS_FORK_NP, (uint32_t)child, 0, 0, NULL, caller);
	return child;
}

PXT_WRAP_EXPORT void PXT_WRAP_NAME(_exit)(int status)
{
	pxt_process_tell_exit(status, PXT_WRAP_CALLER());
	PXT_WRAP_CALL(_exit)(status);
	__builtin_unreachable();
}

PXT_WRAP_EXPORT void PXT_WRAP_NAME(_Exit)(int status)
{
	pxt_process_tell_exit(status, PXT_WRAP_CALLER());
	PXT_WRAP_CALL(_Exit)(status);
	__builtin_unreachable();
}
