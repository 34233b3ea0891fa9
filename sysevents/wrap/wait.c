/* SPDX-License-Identifier: MIT */
/*
 * wait.c - how long a wait took, how long it was to take, and which functions called where it was long; see
 * wrap.h.
 *
 * Functions are found by the tables that compilers make for exceptions, which programs without frame
 * pointers have too; with --stack, where a function has none, by frame pointers.  The program must run as
 * without us, whatever these say.  They are read by an interpreter of our own, which reads nothing of the
 * stack but what is mapped.  Under a filter of system calls nothing is asked, so only the first page of a
 * thread's stack is read.
 */
#define _GNU_SOURCE
/* First: cfi_walk.h has pxt_cfi_own() by it, and by these pxt_cfi_is_mapped(). */
#include <dlfcn.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "format/cfi_walk.h"
#include "sysevents/wrap/wrap.h"

#include <sys/auxv.h>

#define FRAMES_MAX 16u /* that are looked at; some are ours */

uint64_t pxt_wait_clock(void)
{
	struct timespec now;

	(void)pxt_real_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

/* ---- How long a wait is to take ---- */

#define NS           INT64_C(1000000000)
#define MOST_SECONDS (INT64_MAX / NS - 1)

/* With nanoseconds of no more than a second, or less it. */
int64_t pxt_wait_ns(int64_t seconds, int64_t ns)
{
	if (seconds > MOST_SECONDS)
		return INT64_MAX;
	return seconds < -MOST_SECONDS ? -INT64_MAX : seconds * NS + ns;
}

/* The clock that the kernel's vDSO reads; -1: a system call would. */
static clockid_t readable(clockid_t clock)
{
	switch (clock) {
	case CLOCK_REALTIME_ALARM:
		return CLOCK_REALTIME;
	case CLOCK_BOOTTIME_ALARM:
		return CLOCK_BOOTTIME;
	case CLOCK_REALTIME:
	case CLOCK_MONOTONIC:
	case CLOCK_BOOTTIME:
	case CLOCK_TAI:
		return clock;
	default:
		return -1;
	}
}

int64_t pxt_wait_until(clockid_t clock, int64_t seconds, int64_t ns)
{
	clockid_t read = readable(clock);
	struct timespec now;
	int64_t left;

	if (read == -1)
		return PXT_WAIT_NO_LIMIT;
	/* By the program's clock, as the date is. */
	(void)clock_gettime(read, &now);
	if (__builtin_sub_overflow(seconds, (int64_t)now.tv_sec, &left))
		left = seconds < 0 ? INT64_MIN : INT64_MAX;
	return pxt_wait_ns(left, ns - now.tv_nsec);
}

/* ---- Which functions called ---- */

#if PXT_CFI_KNOWN
#ifdef DLFO_STRUCT_HAS_EH_DBASE
#define find_function pxt_cfi_own
#else
/* Of the compiler's library, which may take a lock. */
struct bases {
	void *text;
	void *data;
	void *function;
};
extern const void *_Unwind_Find_FDE(void *at, struct bases *bases);

#define RECORD_MOST (64ul << 10) /* bytes */

static bool find_function(void *at, struct pxt_cfi_record *record)
{
	struct bases bases;

	record->begin = NULL;
	record->at = _Unwind_Find_FDE(at, &bases);
	if (!record->at)
		return false;
	record->end = record->at + RECORD_MOST;
	return true;
}
#endif

static __attribute__((noinline)) unsigned callers_of(
    const void *caller, uint64_t callers[PXT_WAIT_CALLERS])
{
	bool few = pxt_wrap_wishes.stack_few;
	struct pxt_cfi_state state = { .quiet = pxt_wrap_wishes.stack_quiet, .by_frame = !few };

	pxt_cfi_here(&state, getauxval(AT_RANDOM));
	return pxt_cfi_callers(&state, caller, callers, few ? PXT_WAIT_FEW : PXT_WAIT_CALLERS,
	    FRAMES_MAX, find_function);
}
#else
PXT_OFF_RETURNS(0, unsigned, callers_of, const void *caller, uint64_t *callers);
#endif

unsigned pxt_wait_callers(uint64_t ns, const void *caller, uint64_t callers[PXT_WAIT_CALLERS])
{
	return PXT_WRAP_LIKELY(ns < pxt_wrap_wishes.stack_ns) ? 0 : callers_of(caller, callers);
}
