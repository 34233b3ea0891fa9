/* SPDX-License-Identifier: MIT */
/*
 * callers.c - which functions called, by the tables of their binaries; see port_sysinfo.h.
 *
 * Nothing is read of the stack beyond what the system gave the thread, whatever stands in it.
 */
#define _GNU_SOURCE
/* First: cfi.h has pxt_cfi_own() by it. */
#include <dlfcn.h>

#include "format/cfi.h"
#include "port/port_sysinfo.h"

#include <pthread.h>
#include <signal.h>
#include <sys/auxv.h>

/* Without it, looking for a function would take a lock. */
#if PXT_CFI_KNOWN && defined(DLFO_STRUCT_HAS_EH_DBASE)
#define FRAMES_OWN  3u           /* this function's, and of those in the library that called it */
#define STACK_MOST  (8ul << 20)  /* of one thread */
#define WINDOW_MOST (64ul << 10) /* that is looked at */

/* The lowest place of the thread's own stack at which it was seen; 0: none yet. */
static __thread uintptr_t lowest __attribute__((tls_model("initial-exec")));

/*
 * How much stack there is above a place of it; 0: it is no stack of the system's.  The system is asked, for a handler's
 * stack, only where the thread was never so deep.
 */
static size_t stack_above(uintptr_t at)
{
	/* What the kernel put above main()'s frames, and what the C library put above a thread's. */
	uintptr_t of_main = (uintptr_t)getauxval(AT_RANDOM) - at;
	uintptr_t of_thread = (uintptr_t)pthread_self() - at;
	uintptr_t bytes = of_main < of_thread ? of_main : of_thread;
	stack_t of_signals;

	if (lowest == 0 || at < lowest || bytes > STACK_MOST) {
		if (sigaltstack(NULL, &of_signals) == 0 && of_signals.ss_flags & SS_ONSTACK)
			bytes = (uintptr_t)of_signals.ss_sp + of_signals.ss_size - at;
		else if (bytes > STACK_MOST)
			return 0;
		else
			lowest = at;
	}
	return bytes < WINDOW_MOST ? bytes : WINDOW_MOST;
}

__attribute__((noinline)) unsigned pxt_port_callers(
    const void *caller, uint64_t *callers, unsigned most)
{
	struct pxt_cfi_state state = { .known = 0 };
	unsigned count = 0;
	bool found = false;

	pxt_cfi_here(&state);
	state.low = state.value[PXT_CFI_STACK];
	state.stack = (const unsigned char *)(uintptr_t)state.low;
	state.bytes = stack_above((uintptr_t)state.low);
	for (unsigned i = 0; i < FRAMES_OWN + most && count < most; i++) {
		union {
			uint64_t number;
			void *at;
		} place = { state.place - 1 };

		if (!pxt_cfi_up(pxt_cfi_own(place.at), &state))
			break;
		if (found)
			callers[count++] = state.place;
		found = found || state.place == (uint64_t)(uintptr_t)caller;
	}
	return count;
}
#else
unsigned pxt_port_callers(const void *caller, uint64_t *callers, unsigned most)
{
	(void)caller, (void)callers, (void)most;
	return 0;
}
#endif
