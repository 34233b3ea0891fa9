/* SPDX-License-Identifier: MIT */
/*
 * callers.c - which functions called where a wait was long, a few of them, without being asked; see wrap.h.
 *
 * The program must run as without us, whatever its tables say: they are read by an interpreter of our own, which
 * reads nothing of the stack but what the system gave the thread.  A stack that the program made for itself may end
 * where its memory does, so it is not walked.
 */
#define _GNU_SOURCE
/* First: cfi.h has pxt_cfi_own() by it. */
#include <dlfcn.h>

#include "format/cfi.h"
#include "sysevents/wrap/wrap.h"

#include <pthread.h>
#include <sys/auxv.h>

#define FRAMES_MAX  16u          /* that are looked at; some are ours */
#define STACK_MOST  (8ul << 20)  /* of one thread */
#define WINDOW_MOST (16ul << 10) /* that is looked at */

/* What the kernel put above main()'s frames. */
static uintptr_t main_top;

#if PXT_CFI_KNOWN
/* How much stack there is above a place of it; 0: it is no stack of the system's. */
static size_t stack_above(uintptr_t at)
{
	uintptr_t of_main = main_top - at;
	uintptr_t of_thread = (uintptr_t)pthread_self() - at;
	uintptr_t bytes = of_main < of_thread ? of_main : of_thread;

	return bytes > STACK_MOST ? 0 : bytes < WINDOW_MOST ? bytes : WINDOW_MOST;
}

#ifdef DLFO_STRUCT_HAS_EH_DBASE
static const unsigned char *find_function(void *at)
{
	return pxt_cfi_own(at);
}
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

static bool step(struct pxt_cfi_state *state)
{
	union {
		uint64_t number;
		void *at;
	} place = { state->place - 1 };

	return pxt_cfi_up(find_function(place.at), state);
}

__attribute__((noinline)) unsigned pxt_callers_few(
    const void *caller, uint64_t callers[PXT_WAIT_CALLERS])
{
	struct pxt_cfi_state state = { .known = 0 };
	unsigned count = 0;
	bool found = false;

	pxt_cfi_here(&state);
	state.low = state.value[PXT_CFI_STACK];
	state.stack = (const unsigned char *)(uintptr_t)state.low;
	state.bytes = stack_above((uintptr_t)state.low);
	for (unsigned i = 0; i < FRAMES_MAX && count < PXT_WAIT_FEW && step(&state); i++) {
		if (found)
			callers[count++] = state.place;
		found = found || state.place == (uint64_t)(uintptr_t)caller;
	}
	return count;
}
#else
unsigned pxt_callers_few(const void *caller, uint64_t callers[PXT_WAIT_CALLERS])
{
	(void)caller, (void)callers;
	return 0;
}
#endif

void pxt_callers_start(void)
{
	main_top = (uintptr_t)getauxval(AT_RANDOM);
}
