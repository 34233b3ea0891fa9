/* SPDX-License-Identifier: MIT */
/*
 * fork.c - new processes, and why vfork() is left alone.  A child has nothing of its parent's attachment, so it attaches anew.  vfork()
 * is left alone: no function of ours can return twice from one frame, and its child is its parent until it
 * calls exec.  What exec starts attaches by itself, and tells whose child it is.
 */
#define _GNU_SOURCE
#include "sysevents/wrap/process.h"
#include "sysevents/wrap/start.h"

#include <pty.h>
#include <unistd.h>

PXT_WRAP_REAL(fork);
PXT_WRAP_REAL(daemon);
PXT_WRAP_REAL(forkpty);

/* In both of them. */
static void forked(pid_t child, const void *caller)
{
	if (child == 0)
		pxt_start_child();
	else if (child > 0)
		pxt_process_tell(POSIX_TRACE_PROCESS_FORK_NP, (uint32_t)child, 0, 0, NULL, caller);
}

PXT_WRAP_EXPORT pid_t PXT_WRAP_NAME(fork)(void)
{
	const void *caller = PXT_WRAP_CALLER();
	pid_t child = PXT_WRAP_CALL(fork)();

	forked(child, caller);
	return child;
}

/* Returns in the child alone. */
PXT_WRAP_EXPORT int PXT_WRAP_NAME(daemon)(int keeps_folder, int keeps_output)
{
	int result = PXT_WRAP_CALL(daemon)(keeps_folder, keeps_output);

	if (result == 0)
		pxt_start_child();
	return result;
}

PXT_WRAP_EXPORT int PXT_WRAP_NAME(forkpty)(
    int *master, char *name, const struct termios *attributes, const struct winsize *size)
{
	const void *caller = PXT_WRAP_CALLER();
	int child = PXT_WRAP_CALL(forkpty)(master, name, attributes, size);

	forked(child, caller);
	return child;
}
