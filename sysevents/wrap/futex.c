/* SPDX-License-Identifier: MIT */
/*
 * futex.c - waits and wake-ups of programs that have locks of their own on the kernel's: Rust's standard library
 * calls syscall().  All other numbers pass through, by a jump: what the caller of a clone() finds in its
 * registers and on its stack is what it would find.
 */
#define _GNU_SOURCE
#include "sysevents/wrap/call.h"

#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

PXT_WRAP_REAL(syscall);

/* Where a function of seven numbers finds them is where one of a varying number of them does. */
#if PXT_WRAP_BY_LINKER
#define NAME "__wrap_syscall"
#else
#define NAME "syscall"
#endif
extern long pxt_futex_syscall(long number, long word, long operation, long value, long limit,
    long other, long last) __asm__(NAME);
typedef long (*all_of_them)(
    long number, long word, long operation, long value, long limit, long other, long last);

static bool waits(long number, int operation)
{
	int command = operation & FUTEX_CMD_MASK;

	return number == SYS_futex &&
	       (command == FUTEX_WAIT || command == FUTEX_WAIT_BITSET || command == FUTEX_LOCK_PI);
}

static bool wakes(long number, int operation)
{
	int command = operation & FUTEX_CMD_MASK;

	return number == SYS_futex && (command == FUTEX_WAKE || command == FUTEX_WAKE_BITSET ||
	                                  command == FUTEX_UNLOCK_PI);
}

static __attribute__((noinline)) long tell(
    long word, long operation, long value, long limit, long other, long last, const void *caller)
{
	PXT_CALL_SCOPE call = pxt_call_enter(
	    POSIX_TRACE_CALL_FUTEX_WAIT_NP, (uint64_t)word, PXT_CALL_NO_SIZE, caller);
	long result =
	    PXT_WRAP_CALL(syscall)((long)SYS_futex, word, operation, value, limit, other, last);

	call.result = PXT_CALL_ERRNO(result);
	return result;
}

PXT_WRAP_EXPORT long pxt_futex_syscall(
    long number, long word, long operation, long value, long limit, long other, long last)
{
	const void *caller = PXT_WRAP_CALLER();
	all_of_them real = (all_of_them)(uintptr_t)PXT_WRAP_CALL(syscall);

	if (waits(number, (int)operation) &&
	    pxt_call_wanted(POSIX_TRACE_CALL_FUTEX_WAIT_NP, caller))
		return tell(word, operation, value, limit, other, last, caller);
	/* Told before, as the thread that it wakes goes on at once. */
	if (wakes(number, (int)operation) &&
	    pxt_call_wanted(POSIX_TRACE_CALL_FUTEX_WAKE_NP, caller))
		pxt_call_tell(POSIX_TRACE_CALL_FUTEX_WAKE_NP, (uint64_t)word, 0, caller);
	return real(number, word, operation, value, limit, other, last);
}
