/* SPDX-License-Identifier: MIT */
/* wait.c - how long a wait took, and which functions called where it was long; see wrap.h. */
#define _GNU_SOURCE
#include "sysevents/wrap/wrap.h"

#include <execinfo.h>
#include <time.h>

/* The frames of this file and of the wrapper, before the program's own. */
#define OWN_FRAMES 2u

uint64_t pxt_wait_clock(void)
{
	struct timespec now;

	(void)clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

unsigned pxt_wait_callers(uint64_t ns, uint64_t callers[PXT_WAIT_CALLERS])
{
	void *frames[PXT_WAIT_CALLERS + OWN_FRAMES + 1];
	unsigned count = 0;
	int found;

	if (PXT_WRAP_LIKELY(ns < pxt_wrap_wishes.stack_ns))
		return 0;
	found = backtrace(frames, PXT_WAIT_CALLERS + OWN_FRAMES + 1);
	for (int i = (int)OWN_FRAMES; i < found && count < PXT_WAIT_CALLERS; i++)
		callers[count++] = pxt_wrap_address(frames[i]);
	return count;
}
