/* SPDX-License-Identifier: MIT */
/*
 * fcntl.c - locks on parts of files, where a process waits for them.  All else that fcntl() does passes
 * through, by a jump.
 */
#define _GNU_SOURCE
#include "sysevents/wrap/call.h"

#include <fcntl.h>
#include <unistd.h>

PXT_WRAP_REAL(fcntl);
PXT_WRAP_REAL(fcntl64);

/* Where a function of three arguments finds them is where one of a varying number of them does. */
#if PXT_WRAP_BY_LINKER
#define NAME(name) "__wrap_" name
#else
#define NAME(name) name
#endif
extern int pxt_fcntl(int fd, int command, void *argument) __asm__(NAME("fcntl"));
extern int pxt_fcntl64(int fd, int command, void *argument) __asm__(NAME("fcntl64"));
typedef int (*all_of_them)(int fd, int command, void *argument);

static __attribute__((noinline)) int tell(
    int fd, int command, void *argument, all_of_them real, const void *caller)
{
	PXT_CALL_SCOPE call =
	    pxt_call_enter(POSIX_TRACE_CALL_FLOCK_NP, (uint64_t)fd, PXT_CALL_NO_SIZE, caller);
	int result = real(fd, command, argument);

	call.result = PXT_CALL_ERRNO(result);
	return result;
}

PXT_WRAP_INLINE int tell_lock(
    int fd, int command, void *argument, all_of_them real, const void *caller)
{
	if ((command == F_SETLKW || command == F_OFD_SETLKW) &&
	    pxt_call_wanted(POSIX_TRACE_CALL_FLOCK_NP, caller))
		return tell(fd, command, argument, real, caller);
	return real(fd, command, argument);
}

PXT_WRAP_EXPORT int pxt_fcntl(int fd, int command, void *argument)
{
	return tell_lock(
	    fd, command, argument, (all_of_them)(uintptr_t)PXT_WRAP_CALL(fcntl), PXT_WRAP_CALLER());
}

PXT_WRAP_EXPORT int pxt_fcntl64(int fd, int command, void *argument)
{
	return tell_lock(fd, command, argument, (all_of_them)(uintptr_t)PXT_WRAP_CALL(fcntl64),
	    PXT_WRAP_CALLER());
}
