/* SPDX-License-Identifier: MIT */
/*
 * wait.c - how long a wait took, how long it was to take, and which functions called where it was long; see
 * wrap.h.
 *
 * Functions are found by the tables that compilers make for exceptions, which programs without frame
 * pointers have too; where the caller has none, by frame pointers.  These may be anything in a program
 * that keeps none: so the stack is read through the system, which says where nothing is.
 *
 * A few, without being asked: the program must run as without us, whatever its tables say.  They are read by an
 * interpreter of our own, which reads nothing of the stack but what is mapped.  Under a filter of system calls
 * nothing is asked, so only the first page of a thread's stack is read.
 */
#define _GNU_SOURCE
/* First: cfi.h has pxt_cfi_own() by it, and by these pxt_cfi_is_mapped(). */
#include <dlfcn.h>
#include <unistd.h>

#include "format/cfi.h"
#include "sysevents/wrap/wrap.h"

#include <sys/auxv.h>
#include <sys/uio.h>
#include <unwind.h>

#define FRAMES_MAX 64u         /* that are looked at */
#define FRAMES_FEW 16u         /* ... without being asked; some are ours */
#define FRAME_MAX  (1ul << 20) /* bytes from one frame to the next */

/* Its number for the unwinder. */
#if defined(__x86_64__)
#define FRAME_POINTER 6
#elif defined(__aarch64__)
#define FRAME_POINTER 29
#endif

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

struct walk {
	uintptr_t caller;
	uintptr_t frame; /* its frame pointer */
	uint64_t *callers;
	unsigned count;
	unsigned frames;
	bool found; /* the caller */
};

static _Unwind_Reason_Code visit(struct _Unwind_Context *context, void *argument)
{
	struct walk *walk = argument;
	uintptr_t at = (uintptr_t)_Unwind_GetIP(context);

	if (++walk->frames > FRAMES_MAX || !at)
		return _URC_END_OF_STACK;
	if (walk->found) {
		walk->callers[walk->count++] = at;
		return walk->count < PXT_WAIT_CALLERS ? _URC_NO_REASON : _URC_END_OF_STACK;
	}
	walk->found = at == walk->caller;
#ifdef FRAME_POINTER
	if (walk->found)
		walk->frame = (uintptr_t)_Unwind_GetGR(context, FRAME_POINTER);
#endif
	return _URC_NO_REASON;
}

#ifdef FRAME_POINTER
/* The next frame pointer and the return address beside it. */
static bool read_frame(uintptr_t frame, uintptr_t next[2])
{
	union {
		uintptr_t number;
		void *at;
	} from = { frame };
	struct iovec here = { next, 2 * sizeof(uintptr_t) };
	struct iovec there = { from.at, 2 * sizeof(uintptr_t) };

	return frame % sizeof(uintptr_t) == 0 && process_vm_readv(getpid(), &here, 1, &there, 1,
	                                             0) == (ssize_t)(2 * sizeof(uintptr_t));
}

/* Each step goes upwards. */
static void by_frame_pointers(struct walk *walk)
{
	uintptr_t frame = walk->frame;
	uintptr_t next[2];

	while (walk->count < PXT_WAIT_CALLERS && read_frame(frame, next) && next[1]) {
		walk->callers[walk->count++] = next[1];
		if (next[0] <= frame || next[0] - frame > FRAME_MAX)
			return;
		frame = next[0];
	}
}
#else
static void by_frame_pointers(PXT_UNUSED struct walk *walk)
{
}
#endif

static unsigned callers_of(const void *caller, uint64_t callers[PXT_WAIT_CALLERS])
{
	struct walk walk = { .caller = (uintptr_t)caller, .callers = callers };
	int saved = errno;

	(void)_Unwind_Backtrace(visit, &walk);
	if (walk.found && !walk.count)
		by_frame_pointers(&walk);
	errno = saved;
	return walk.count;
}

/* ---- A few of them ---- */

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

static const unsigned char *find_function(void *at)
{
	struct bases bases;

	return _Unwind_Find_FDE(at, &bases);
}
#endif

static __attribute__((noinline)) unsigned few_callers_of(
    const void *caller, uint64_t callers[PXT_WAIT_CALLERS])
{
	struct pxt_cfi_state state = { .quiet = pxt_wrap_wishes.stack_quiet };

	pxt_cfi_here(&state, getauxval(AT_RANDOM));
	return pxt_cfi_callers(&state, caller, callers, PXT_WAIT_FEW, FRAMES_FEW, find_function);
}
#else
PXT_OFF_RETURNS(0, unsigned, few_callers_of, const void *caller, uint64_t *callers);
#endif

unsigned pxt_wait_callers(uint64_t ns, const void *caller, uint64_t callers[PXT_WAIT_CALLERS])
{
	if (PXT_WRAP_LIKELY(ns < pxt_wrap_wishes.stack_ns))
		return 0;
	return pxt_wrap_wishes.stack_few ? few_callers_of(caller, callers)
	                                 : callers_of(caller, callers);
}

/* The unwinder may take memory at its first call. */
void pxt_wait_start(void)
{
	uint64_t callers[PXT_WAIT_CALLERS];

	(void)callers_of(PXT_WRAP_CALLER(), callers);
}
