/* SPDX-License-Identifier: MIT */
/*
 * futex.c - waits of programs that have locks of their own on the kernel's: Rust's standard library calls
 * syscall().  All other numbers pass through.
 */
#define _GNU_SOURCE
#include "sysevents/wrap/call.h"

#include <linux/futex.h>
#include <stdarg.h>
#include <sys/syscall.h>
#include <unistd.h>

PXT_WRAP_REAL(syscall);

static bool waits(long number, int operation)
{
	int command = operation & FUTEX_CMD_MASK;

	return number == SYS_futex &&
	       (command == FUTEX_WAIT || command == FUTEX_WAIT_BITSET || command == FUTEX_LOCK_PI);
}

PXT_WRAP_EXPORT long PXT_WRAP_NAME(syscall)(long number, ...)
{
	const void *caller = PXT_WRAP_CALLER();
	struct pxt_call call;
	long result;
	long a[6];
	va_list list;

	va_start(list, number);
	for (int i = 0; i < 6; i++)
		a[i] = va_arg(list, long);
	va_end(list);
	if (!waits(number, (int)a[1]) || !pxt_call_wanted(caller))
		return PXT_WRAP_CALL(syscall)(number, a[0], a[1], a[2], a[3], a[4], a[5]);
	call = pxt_call_enter(
	    POSIX_TRACE_CALL_FUTEX_WAIT_NP, (uint64_t)a[0], PXT_CALL_NO_SIZE, caller);
	result = PXT_WRAP_CALL(syscall)(number, a[0], a[1], a[2], a[3], a[4], a[5]);
	pxt_call_exit(&call, PXT_CALL_ERRNO(result));
	return result;
}
