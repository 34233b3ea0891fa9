/* SPDX-License-Identifier: MIT */
/*
 * exec.c - another program in the same process: told before, since nothing comes after it.  A child of
 * vfork() has its parent's memory: what it does there is not its parent's, and is not told.  The
 * environment is passed on as it is given: without LD_PRELOAD in it the other program is not traced.
 */
#define _GNU_SOURCE
#include "sysevents/wrap/process.h"

#include <stdarg.h>
#include <unistd.h>

PXT_WRAP_REAL(execve);
PXT_WRAP_REAL(execv);
PXT_WRAP_REAL(execvp);
PXT_WRAP_REAL(execvpe);
PXT_WRAP_REAL(fexecve);
PXT_WRAP_REAL(execveat);

static void tell(const char *path, const void *caller)
{
	int saved = errno;

	if (posix_trace_wanted_np(POSIX_TRACE_PROCESS_NP) && pxt_process_is_own())
		pxt_process_tell(POSIX_TRACE_PROCESS_EXEC_NP, 0, 0, 0, path, caller);
	errno = saved;
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

PXT_WRAP_EXPORT int PXT_WRAP_NAME(fexecve)(int fd, char *const *args, char *const *env)
{
	char *const *given = args; /* may be NULL all the same */

	tell(given ? given[0] : NULL, PXT_WRAP_CALLER());
	return PXT_WRAP_CALL(fexecve)(fd, args, env);
}

PXT_WRAP_EXPORT int PXT_WRAP_NAME(execveat)(
    int folder, const char *path, char *const *args, char *const *env, int flags)
{
	tell(path, PXT_WRAP_CALLER());
	return PXT_WRAP_CALL(execveat)(folder, path, args, env, flags);
}

/* ---- With the arguments one by one ---- */

#if PXT_WRAP_BY_LINKER
extern __typeof__(execl) __wrap_execl;
extern __typeof__(execlp) __wrap_execlp;
extern __typeof__(execle) __wrap_execle;
#endif

/*
 * They come as a list on the stack, as the C library itself puts them together; it has no name for them as
 * an array and the program's environment but these.
 */
/* NOLINTBEGIN(clang-analyzer-valist.Uninitialized): the analyzer does not see that lists are begun here */
#define COUNT(first, list)                                                                         \
	size_t count = 1;                                                                          \
	va_start(list, first);                                                                     \
	for (const char *one = first; one; one = va_arg(list, const char *))                       \
		count++;                                                                           \
	va_end(list)

static void collect(char **args, const char *first, va_list list)
{
	union {
		const char *from;
		char *to;
	} one = { first };

	for (;; one.from = va_arg(list, const char *)) {
		*args++ = one.to;
		if (!one.from)
			return;
	}
}

PXT_WRAP_EXPORT int PXT_WRAP_NAME(execl)(const char *path, const char *first, ...)
{
	va_list list;
	COUNT(first, list);
	char **args = __builtin_alloca(count * sizeof(*args));

	va_start(list, first);
	collect(args, first, list);
	va_end(list);
	tell(path, PXT_WRAP_CALLER());
	return PXT_WRAP_CALL(execv)(path, args);
}

PXT_WRAP_EXPORT int PXT_WRAP_NAME(execlp)(const char *file, const char *first, ...)
{
	va_list list;
	COUNT(first, list);
	char **args = __builtin_alloca(count * sizeof(*args));

	va_start(list, first);
	collect(args, first, list);
	va_end(list);
	tell(file, PXT_WRAP_CALLER());
	return PXT_WRAP_CALL(execvp)(file, args);
}

PXT_WRAP_EXPORT int PXT_WRAP_NAME(execle)(const char *path, const char *first, ...)
{
	va_list list;
	COUNT(first, list);
	char **args = __builtin_alloca(count * sizeof(*args));
	char *const *env;

	va_start(list, first);
	for (const char *one = first; one; one = va_arg(list, const char *))
		;
	env = va_arg(list, char *const *);
	va_end(list);
	va_start(list, first);
	collect(args, first, list);
	va_end(list);
	tell(path, PXT_WRAP_CALLER());
	return PXT_WRAP_CALL(execve)(path, args, env);
}
/* NOLINTEND(clang-analyzer-valist.Uninitialized) */
