/* SPDX-License-Identifier: MIT */
/* callers.c - which functions called, by the tables of their binaries; see port_sysinfo.h. */
#define _GNU_SOURCE
/* First: cfi_walk.h has pxt_cfi_own() by it, and by these pxt_cfi_is_mapped(). */
#include <dlfcn.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "format/cfi_walk.h"
#include "port/port_sysinfo.h"

#include <sys/auxv.h>

/* Without it, looking for a function would take a lock. */
#if PXT_CFI_KNOWN && defined(DLFO_STRUCT_HAS_EH_DBASE)
#define FRAMES_OWN 3u /* this function's, and of those in the library that called it */

__attribute__((noinline)) unsigned pxt_port_callers(
    const void *caller, uint64_t *callers, unsigned most)
{
	struct pxt_cfi_state state = { .known = 0 };

	pxt_cfi_here(&state, getauxval(AT_RANDOM));
	return pxt_cfi_callers(&state, caller, callers, most, FRAMES_OWN + most, pxt_cfi_own);
}
#else
unsigned pxt_port_callers(
    PXT_UNUSED const void *caller, PXT_UNUSED uint64_t *callers, PXT_UNUSED unsigned most)
{
	return 0;
}
#endif
