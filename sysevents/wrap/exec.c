/* SPDX-License-Identifier: MIT */
/* exec.c - another program in the same process: told before, since nothing comes after it. */
#define _GNU_SOURCE
#include "sysevents/wrap/process.h"

#include <unistd.h>

PXT_WRAP_REAL(execve);
PXT_WRAP_REAL(execv);
PXT_WRAP_REAL(execvp);
PXT_WRAP_REAL(execvpe);

static void tell(const char *path, const void *caller)
{
	pxt_process_tell(POSIX_TRACE_PROCESS_EXEC_NP, 0, 0, 0, path, caller);
}

PXT_WRAP_EXPORT int PXT_WRAP_NAME(execve)(const char *path, char *const *args, char *const *env)
{
	tell(path, PXT_WRAP_CALLER());
	return PXT_WRAP_CALL(execve)(path, args, env);
}

PXT_WRAP_EXPORT int PXT_WRAP_NAME(execv)(const char *path, char *const *args)
{
	tell(path, PXT_WRAP_CALLER());
	return PXT_WRAP_CALL(execv)(path, args);
}

PXT_WRAP_EXPORT int PXT_WRAP_NAME(execvp)(const char *file, char *const *args)
{
	tell(file, PXT_WRAP_CALLER());
	return PXT_WRAP_CALL(execvp)(file, args);
}

PXT_WRAP_EXPORT int PXT_WRAP_NAME(execvpe)(const char *file, char *const *args, char *const *env)
{
	tell(file, PXT_WRAP_CALLER());
	return PXT_WRAP_CALL(execvpe)(file, args, env);
}
