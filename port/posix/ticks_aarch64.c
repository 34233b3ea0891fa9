/* SPDX-License-Identifier: MIT */
/* ticks_aarch64.c - the virtual count, which is the same on all processors and never stops. */
#include "port/posix/ticksource.h"

#if defined(__aarch64__)

#include <trace_np.h>

/* Coarser steps than a quarter of a microsecond: events of one thread would get one stamp. */
#define STEPS_MIN 4000000u

bool pxt_port_use_counter;

/* 0 where the firmware forgot to set it. */
static uint64_t rate_told(void)
{
	uint64_t hz;

	__asm__("mrs	%0, cntfrq_el0" : "=r"(hz));
	return hz;
}

static uint64_t one_step(void)
{
	uint64_t first = pxt_port_ticks_plain();
	uint64_t second = first;
	uint64_t third;

	/* Bound of both loops: one step, since the counter never stops. */
	while (second == first)
		second = pxt_port_ticks_plain();
	third = second;
	while (third == second)
		third = pxt_port_ticks_plain();
	return third - second;
}

/* An emulator's counter may have a high rate and go by microseconds. */
static uint64_t step(void)
{
	uint64_t least = one_step();

	/* An interruption only makes one of them longer. */
	for (int i = 0; i < 7; i++) {
		uint64_t again = one_step();

		least = again < least ? again : least;
	}
	return least;
}

__attribute__((constructor(101))) static void choose_counter(void)
{
	pxt_port_use_counter = rate_told() > 0 && step() <= rate_told() / STEPS_MIN;
}

/* The kernel keeps its own time by this counter and this rate: they agree to rounding. */
bool pxt_ticksource_rate(struct pxt_clock_rate *rate)
{
	rate->hz = rate_told();
	rate->error_ppm = 1;
	rate->source = POSIX_TRACE_CLOCK_TSC_NP;
	return pxt_port_use_counter;
}

void pxt_ticksource_use(bool use)
{
	pxt_port_use_counter = use;
}

uint64_t pxt_ticksource_fenced(void)
{
	uint64_t ticks = pxt_port_ticks_ordered();

	pxt_port_ticks_fence();
	return ticks;
}

#endif
