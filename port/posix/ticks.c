/* SPDX-License-Identifier: MIT */
/*
 * ticks.c - the stamp clock as one function for all callers, where bytes are saved.  Not in the file of
 * the slow clock: tests put another one in its place.
 */
#include "port_atomic.h"

#if PXT_SMALL && (defined(__x86_64__) || defined(__aarch64__))
uint64_t pxt_port_ticks(void)
{
	return pxt_port_ticks_here();
}

/* Not before older instructions have finished: orders stamps against the look at head. */
uint64_t pxt_port_ticks_ordered(void)
{
	pxt_port_ticks_fence();
	return pxt_port_ticks_here();
}
#endif
