/* SPDX-License-Identifier: MIT */
/*
 * futex.c - waits and wake-ups of programs that have locks of their own on the kernel's: Rust's standard library
 * calls syscall().  All other numbers pass through, by a jump: what the caller of a clone() finds in its
 * registers and on its stack is what it would find.
 */
#define _GNU_SOURCE
#include "sysevents/wrap/call.h"
#include "sysevents/wrap/process.h"

#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

PXT_WRAP_REAL(syscall);

/*
 * Seven numbers, of which a caller gives as many as its call needs.  What lies on the stack where others would be
 * is the caller's own, or behind the end of its stack: it is read only where the number says that it was given
 * (volatile: no earlier), never written, and the jump leaves it in its place.  So no parameter may lie there,
 * since a function may write to its parameters.
 */
#define ON_STACK(n) (((const volatile long *)__builtin_dwarf_cfa())[n])
#if defined(__i386__)
#define PARAMETERS void
#define PASSED
#define NUMBER    ON_STACK(0)
#define FIRST     ON_STACK(1)
#define SECOND    ON_STACK(2)
#define OF_A_WAIT ON_STACK(3), ON_STACK(4), ON_STACK(5), ON_STACK(6)
#else
#define NUMBER number
#define FIRST  word
#define SECOND operation
#if defined(__x86_64__)
#define PARAMETERS long number, long word, long operation, long value, long limit, long other
#define PASSED     number, word, operation, value, limit, other
#define OF_A_WAIT  value, limit, other, ON_STACK(0)
#else
#define PARAMETERS                                                                                 \
	long number, long word, long operation, long value, long limit, long other, long last
#define PASSED    number, word, operation, value, limit, other, last
#define OF_A_WAIT value, limit, other, last
#endif
#endif
extern long pxt_futex_syscall(PARAMETERS) __asm__(PXT_WRAP_SYMBOL("syscall"));
typedef long (*as_it_came)(PARAMETERS);

static bool waits(int operation)
{
	int command = operation & FUTEX_CMD_MASK;

	return command == FUTEX_WAIT || command == FUTEX_WAIT_BITSET || command == FUTEX_LOCK_PI;
}

static bool wakes(int operation)
{
	int command = operation & FUTEX_CMD_MASK;

	return command == FUTEX_WAKE || command == FUTEX_WAKE_BITSET || command == FUTEX_UNLOCK_PI;
}

/* FUTEX_WAIT has a time, the others a date. */
static int64_t asked_ns(long operation, long limit)
{
	const struct timespec *time = (const struct timespec *)limit;
	int command = (int)operation & FUTEX_CMD_MASK;

	if (command == FUTEX_WAIT)
		return PXT_WAIT_NS(time);
	return PXT_WAIT_UNTIL(command == FUTEX_LOCK_PI || operation & FUTEX_CLOCK_REALTIME
	                          ? CLOCK_REALTIME
	                          : CLOCK_MONOTONIC,
	    time);
}

static __attribute__((noinline)) long tell(
    long word, long operation, long value, long limit, long other, long last, const void *caller)
{
	PXT_CALL_SCOPE call = pxt_call_enter_until(POSIX_TRACE_CALL_FUTEX_WAIT_NP, (uint64_t)word,
	    PXT_CALL_NO_SIZE, asked_ns(operation, limit), caller);
	long result =
	    PXT_WRAP_CALL(syscall)((long)SYS_futex, word, operation, value, limit, other, last);

	call.result = PXT_CALL_ERRNO(result);
	return result;
}

#if PXT_WRAP_BY_LINKER
/*
 * In a static program the library's own calls look like the program's: an event that wakes a reader
 * calls here, and that call is not recorded.
 */
static __thread bool is_telling __attribute__((tls_model("initial-exec")));

static __attribute__((noinline)) void tell_wake(long word, const void *caller)
{
	if (is_telling)
		return;
	is_telling = true;
	pxt_call_tell(POSIX_TRACE_CALL_FUTEX_WAKE_NP, (uint64_t)word, 0, caller);
	is_telling = false;
}
#else
static __attribute__((noinline)) void tell_wake(long word, const void *caller)
{
	pxt_call_tell(POSIX_TRACE_CALL_FUTEX_WAKE_NP, (uint64_t)word, 0, caller);
}
#endif

PXT_WRAP_EXPORT long pxt_futex_syscall(PARAMETERS)
{
	const void *caller = PXT_WRAP_CALLER();
	as_it_came real = (as_it_came)(uintptr_t)PXT_WRAP_CALL(syscall);
	const long asked = NUMBER;

	if (asked != SYS_futex) {
		const bool makes = asked != SYS_prctl && asked != SYS_seccomp;

		if (pxt_process_looks(asked))
			pxt_process_before_syscall(
			    asked, makes ? 0 : FIRST, makes ? 0 : SECOND, caller);
		return real(PASSED);
	}
	if (waits((int)SECOND) && pxt_call_wanted(POSIX_TRACE_CALL_FUTEX_WAIT_NP, caller))
		return tell(FIRST, SECOND, OF_A_WAIT, caller);
	/* Told before, as the thread that it wakes goes on at once. */
	if (wakes((int)SECOND) && pxt_call_wanted(POSIX_TRACE_CALL_FUTEX_WAKE_NP, caller))
		tell_wake(FIRST, caller);
	return real(PASSED);
}
