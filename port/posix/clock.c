/* SPDX-License-Identifier: MIT */
/*
 * clock.c - reading the clocks: the stamp clock where it is not the processor's counter (the system's monotonic
 * clock, or the program's own), and all clocks at once, for logs.  Whether the counter is trusted: ticks.c.
 */
#define _GNU_SOURCE
#include "port/posix/clock.h"
#include "port/port.h"
#include "port/posix/quiet.h"
#include "port_atomic.h"

#include <time.h>
#include <trace_np.h>

#define NS_PER_S      1000000000u
#define SET_TRIES     5
/* By chance all of so many go on by a multiple of two once in 2^64. */
#define STEP_READINGS 64

static struct pxt_clock_rate fixed_rate;
static bool rate_is_fixed;
static bool uses_counter; /* and not a clock of the program's */

static uint64_t ns_of(const struct timespec *time)
{
	return (uint64_t)time->tv_sec * NS_PER_S + (uint64_t)time->tv_nsec;
}

static uint64_t monotonic(void *context)
{
	struct timespec now;

	(void)context;
	(void)pxt_vdso_gettime(CLOCK_MONOTONIC, &now);
	return ns_of(&now);
}

/* Changes while nobody traces. */
static uint64_t (*slow_clock)(void *context) = monotonic;
static void *slow_context;

uint64_t pxt_port_ticks_slow(void)
{
	return slow_clock(slow_context);
}

/* Of what it went on by from reading to reading, the greatest common divisor. */
static uint32_t counter_step(void)
{
	uint64_t last = pxt_ticksource_fenced();
	uint64_t step = 0;

	for (int i = 0; i < STEP_READINGS; i++) {
		uint64_t now = pxt_ticksource_fenced();
		uint64_t more = now - last;

		last = now;
		/* Bound: the digits of the smaller one. */
		while (more) {
			uint64_t rest = step % more;

			step = more;
			more = rest;
		}
	}
	return step <= UINT32_MAX ? (uint32_t)step : 0;
}

/* The processor's counter where it can be trusted, else CLOCK_MONOTONIC. */
static void fix_rate(void)
{
	uses_counter = pxt_ticksource_rate(&fixed_rate);
	if (uses_counter) {
		fixed_rate.step = counter_step();
		return;
	}
	fixed_rate.hz = NS_PER_S;
	fixed_rate.step = 1;
	fixed_rate.error_ppm = 0;
	fixed_rate.source = POSIX_TRACE_CLOCK_MONOTONIC_NP;
}

/* Not pthread_once(): a child forked meanwhile might wait for ever. */
void pxt_port_clock_start(struct pxt_clock_rate *rate)
{
	struct pxt_quiet quiet = pxt_quiet_begin();

	pxt_vdso_find();
	if (!rate_is_fixed)
		fix_rate();
	rate_is_fixed = true;
	pxt_quiet_end(quiet);
	*rate = fixed_rate;
}

void pxt_port_clock_choose(uint64_t (*clock)(void *context), void *context, uint64_t hz)
{
	pxt_ticksource_use(uses_counter && !clock);
	slow_clock = clock ? clock : monotonic;
	slow_context = context;
	rate_is_fixed = clock != NULL;
	fixed_rate =
	    (struct pxt_clock_rate){ .hz = hz, .step = 1, .source = POSIX_TRACE_CLOCK_PORT_NP };
}

static uint64_t reading(void)
{
	return slow_clock == monotonic ? pxt_ticksource_fenced() : slow_clock(slow_context);
}

/*
 * The counter belongs to the middle of its bracket, and so do the clocks: what is left between
 * them is a few tens of nanoseconds, unless every try was interrupted.
 */
void pxt_port_clock_read(struct pxt_clock_set *set)
{
	uint64_t best = UINT64_MAX;

	for (int i = 0; i < SET_TRIES; i++) {
		struct pxt_clock_set now;
		uint64_t before = reading();

		(void)pxt_vdso_gettime(CLOCK_BOOTTIME, &now.boottime);
		(void)pxt_vdso_gettime(CLOCK_REALTIME, &now.realtime);
		(void)pxt_vdso_gettime(CLOCK_MONOTONIC, &now.monotonic);
		now.ticks = reading() - before;
		if (now.ticks >= best)
			continue;
		best = now.ticks;
		*set = now;
		set->ticks = before + best / 2;
	}
	if (fixed_rate.source == POSIX_TRACE_CLOCK_MONOTONIC_NP)
		set->ticks = ns_of(&set->monotonic);
}
