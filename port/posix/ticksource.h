/* SPDX-License-Identifier: MIT */
/* ticksource.h - the processor's counter after the stamp clock: whether there is one, its rate. */
#ifndef PXT_TICKSOURCE_H
#define PXT_TICKSOURCE_H

#include "port/port.h"
#include "port_atomic.h"

#include <stdbool.h>
#include <stdint.h>

/* What another process of this machine has found (identity.c); before main(). */
void pxt_cpus_told(uint64_t count);

#if defined(__x86_64__) || defined(__aarch64__)

/* Fixes the rate; false: from now on the counter is not used.  Once, may take 20 ms. */
bool pxt_ticksource_rate(struct pxt_clock_rate *rate);
/* Whether stamps are its readings from now on; after _rate(), while nobody reads any. */
void pxt_ticksource_use(bool use);
/* Neither overtakes nor is overtaken: for measuring, not for tracing (it costs twice as much). */
uint64_t pxt_ticksource_fenced(void);

#else

PXT_INLINE bool pxt_ticksource_rate(struct pxt_clock_rate *rate)
{
	(void)rate;
	return false;
}

PXT_INLINE void pxt_ticksource_use(bool use)
{
	(void)use;
}

PXT_INLINE uint64_t pxt_ticksource_fenced(void)
{
	return pxt_port_ticks_slow();
}

#endif

#endif
