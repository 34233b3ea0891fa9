/* SPDX-License-Identifier: MIT */
/* clock.h - the processor's counter after the stamp clock: whether there is one, its rate; the kernel's clocks. */
#ifndef PXT_POSIX_CLOCK_H
#define PXT_POSIX_CLOCK_H

#include "port/port.h"
#include "port_atomic.h"

/* What another process of this machine has found (owncalls.c); before main(). */
void pxt_cpus_told(uint64_t count);

#if defined(__x86_64__) || defined(__aarch64__)

/* Fixes the rate; false: from now on the counter is not used.  Once, may take 20 ms. */
bool pxt_ticksource_rate(struct pxt_clock_rate *rate);
/* Whether stamps are its readings from now on; after _rate(), while nobody reads any. */
void pxt_ticksource_use(bool use);
/* Neither overtakes nor is overtaken: for measuring, not for tracing (it costs twice as much). */
uint64_t pxt_ticksource_fenced(void);

#else

PXT_OFF_RETURNS(false, bool, pxt_ticksource_rate, struct pxt_clock_rate *rate);
PXT_OFF(pxt_ticksource_use, bool use);

PXT_INLINE uint64_t pxt_ticksource_fenced(void)
{
	return pxt_port_ticks_slow();
}

#endif

/*
 * The kernel's clocks, by the library that it maps into each process.
 *
 * A program may run with a library that gives it another time (libfaketime), by a clock_gettime() of its
 * own that every library calls.  Stamps, rates and waits are of the kernel's time all the same.
 *
 *   concurrency: any thread, signal handlers.
 */

/*
 * Looks the function up, at a cost of some microseconds at most: before main() and when a stream is
 * created, since a trace point may not.  Until then the C library's is called.
 */
void pxt_vdso_find(void);

/* As clock_gettime(); leaves errno alone where the clock is one that every kernel has. */
int pxt_vdso_gettime(clockid_t clock, struct timespec *now);

/* Of CLOCK_MONOTONIC, for what is waited for. */
PXT_INLINE int64_t pxt_vdso_ms(void)
{
	struct timespec now;

	(void)pxt_vdso_gettime(CLOCK_MONOTONIC, &now);
	return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

PXT_INLINE int pxt_vdso_left_ms(int64_t end)
{
	int64_t left = end - pxt_vdso_ms();

	return left > 0 ? (int)left : 0;
}

#endif
