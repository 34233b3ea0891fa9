/* SPDX-License-Identifier: MIT */
/*
 * callers.c - which functions called where a wait was long, a few of them, without being asked; see wrap.h.
 *
 * The program must run as without us, whatever its tables say: they are read by an interpreter of our own, which
 * reads nothing of the stack but what is mapped.  Under a filter of system calls nothing is asked, so only the first
 * page of a thread's stack is read.
 */
#define _GNU_SOURCE
/* First: cfi.h has pxt_cfi_own() by it, and by these pxt_cfi_is_mapped(). */
#include <dlfcn.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "format/cfi.h"
#include "sysevents/wrap/wrap.h"

#include <sys/auxv.h>

#define FRAMES_MAX 16u /* that are looked at; some are ours */

#if PXT_CFI_KNOWN
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
	struct pxt_cfi_state state = { .quiet = pxt_wrap_wishes.stack_quiet };
	unsigned count = 0;
	bool found = false;

	pxt_cfi_here(&state, getauxval(AT_RANDOM));
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
