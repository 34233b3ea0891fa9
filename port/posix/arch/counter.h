/* SPDX-License-Identifier: MIT */
/*
 * counter.h - the stamp clock where the processor has a counter that programs read.  The including
 * header has pxt_port_ticks_plain() and pxt_port_ticks_fence(), and slots that are whole (whole.h).
 */
#ifndef PXT_ARCH_COUNTER_H
#define PXT_ARCH_COUNTER_H

#include "port/posix/arch/whole.h"

#include <stdbool.h>
#include <stdint.h>

extern bool pxt_port_use_counter; /* fixed by pxt_port_clock_start() */

PXT_INLINE uint64_t pxt_port_ticks_here(void)
{
	return PXT_LIKELY(pxt_port_use_counter) ? pxt_port_ticks_plain() : pxt_port_ticks_slow();
}

#if PXT_SMALL
uint64_t pxt_port_ticks(void);
uint64_t pxt_port_ticks_ordered(void);
#else
PXT_INLINE uint64_t pxt_port_ticks(void)
{
	return pxt_port_ticks_here();
}

/* Not before older instructions have finished: orders stamps against the look at head. */
PXT_INLINE uint64_t pxt_port_ticks_ordered(void)
{
	pxt_port_ticks_fence();
	return pxt_port_ticks_here();
}
#endif

/* Whether pxt_port_ticks_plain() and pxt_slot_store_plain() may be used. */
PXT_INLINE bool pxt_port_plain(void)
{
	return !PXT_TSAN && pxt_port_use_counter && !pxt_port_slot_by_cas;
}

#endif
