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
		struct pxt_call entered;                                                           \
		int fd;                                                                            \
                                                                                                   \
		if (!pxt_call_wanted(caller))                                                      \
			return call;                                                               \
		entered = pxt_call_enter(POSIX_TRACE_CALL_OPEN_NP, 0, PXT_CALL_NO_SIZE, caller);   \
		fd = call;                                                                         \
		pxt_call_exit(&entered, PXT_CALL_ERRNO(fd));                                       \
		return fd;                                                                         \
	} while (0)

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
