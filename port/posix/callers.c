/* SPDX-License-Identifier: MIT */
/* callers.c - which functions called, by the tables of their binaries; see port_sysinfo.h. */
#define _GNU_SOURCE
/* First: cfi.h has pxt_cfi_own() by it, and by these pxt_cfi_is_mapped(). */
#include <dlfcn.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "format/cfi.h"
#include "port/port_sysinfo.h"

#include <sys/auxv.h>

/* Without it, looking for a function would take a lock. */
#if PXT_CFI_KNOWN && defined(DLFO_STRUCT_HAS_EH_DBASE)
#define FRAMES_OWN 3u /* this function's, and of those in the library that called it */

__attribute__((noinline)) unsigned pxt_port_callers(
    const void *caller, uint64_t *callers, unsigned most)
{
	struct pxt_cfi_state state = { .known = 0 };
	unsigned count = 0;
	bool found = false;

	pxt_cfi_here(&state, getauxval(AT_RANDOM));
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
