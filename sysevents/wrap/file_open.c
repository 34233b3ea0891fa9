/* SPDX-License-Identifier: MIT */
/* file_open.c - opening files; what is opened is the event's result. */
#define _GNU_SOURCE
#include "sysevents/wrap/call.h"

#include <fcntl.h>
#include <stdarg.h>
#include <sys/types.h>

PXT_WRAP_REAL(open);
PXT_WRAP_REAL(open64);
PXT_WRAP_REAL(openat);
PXT_WRAP_REAL(openat64);
PXT_WRAP_REAL(creat);
PXT_WRAP_REAL(creat64);

/* The last argument, which only some calls have. */
#define TAKE_MODE(flags)                                                                           \
	mode_t mode = 0;                                                                           \
	if ((flags) & (O_CREAT | __O_TMPFILE)) {                                                   \
		va_list list;                                                                      \
		va_start(list, flags);                                                             \
		mode = va_arg(list, mode_t);                                                       \
		va_end(list);                                                                      \
	}

#define TELL(call)                                                                                 \
	do {                                                                                       \
		const void *caller = PXT_WRAP_CALLER();                                            \
                                                                                                   \
		if (!pxt_call_wanted(POSIX_TRACE_CALL_OPEN_NP, caller))                            \
			return call;                                                               \
		PXT_CALL_SCOPE entered =                                                           \
		    pxt_call_enter(POSIX_TRACE_CALL_OPEN_NP, 0, PXT_CALL_NO_SIZE, caller);         \
		int fd = call;                                                                     \
                                                                                                   \
		entered.result = PXT_CALL_ERRNO(fd);                                               \
		return fd;                                                                         \
	} while (0)

/* NOLINTBEGIN(clang-analyzer-valist.Uninitialized): the analyzer does not see that lists are begun here */
PXT_WRAP_EXPORT int PXT_WRAP_NAME(open)(const char *path, int flags, ...)
{
	TAKE_MODE(flags)
	TELL(PXT_WRAP_CALL(open)(path, flags, mode));
}

PXT_WRAP_EXPORT int PXT_WRAP_NAME(open64)(const char *path, int flags, ...)
{
	TAKE_MODE(flags)
	TELL(PXT_WRAP_CALL(open64)(path, flags, mode));
}

PXT_WRAP_EXPORT int PXT_WRAP_NAME(openat)(int folder, const char *path, int flags, ...)
{
	TAKE_MODE(flags)
	TELL(PXT_WRAP_CALL(openat)(folder, path, flags, mode));
}

PXT_WRAP_EXPORT int PXT_WRAP_NAME(openat64)(int folder, const char *path, int flags, ...)
{
	TAKE_MODE(flags)
	TELL(PXT_WRAP_CALL(openat64)(folder, path, flags, mode));
}

/* NOLINTEND(clang-analyzer-valist.Uninitialized) */

PXT_WRAP_EXPORT int PXT_WRAP_NAME(creat)(const char *path, mode_t mode)
{
	TELL(PXT_WRAP_CALL(creat)(path, mode));
}

PXT_WRAP_EXPORT int PXT_WRAP_NAME(creat64)(const char *path, mode_t mode)
{
	TELL(PXT_WRAP_CALL(creat64)(path, mode));
}

/* What programs call that were compiled with _FORTIFY_SOURCE, and give no mode. */
extern int __open_2(const char *path, int flags);
extern int __open64_2(const char *path, int flags);
extern int __openat_2(int folder, const char *path, int flags);
extern int __openat64_2(int folder, const char *path, int flags);
PXT_WRAP_REAL(__open_2);
PXT_WRAP_REAL(__open64_2);
PXT_WRAP_REAL(__openat_2);
PXT_WRAP_REAL(__openat64_2);

PXT_WRAP_EXPORT int PXT_WRAP_NAME(__open_2)(const char *path, int flags)
{
	TELL(PXT_WRAP_CALL(__open_2)(path, flags));
}

PXT_WRAP_EXPORT int PXT_WRAP_NAME(__open64_2)(const char *path, int flags)
{
	TELL(PXT_WRAP_CALL(__open64_2)(path, flags));
}

PXT_WRAP_EXPORT int PXT_WRAP_NAME(__openat_2)(int folder, const char *path, int flags)
{
	TELL(PXT_WRAP_CALL(__openat_2)(folder, path, flags));
}

PXT_WRAP_EXPORT int PXT_WRAP_NAME(__openat64_2)(int folder, const char *path, int flags)
{
	TELL(PXT_WRAP_CALL(__openat64_2)(folder, path, flags));
}
