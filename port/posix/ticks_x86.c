/* SPDX-License-Identifier: MIT */
/*
 * ticks_x86.c - the time stamp counter: whether it may be trusted, and at which rate it runs.
 *
 * The rate is measured once: one pair {counter, CLOCK_MONOTONIC_RAW} when the library is loaded, a
 * second one at the first pxt_port_clock_start(), at least 20 ms later.  A program that creates
 * its stream late pays nothing for that; one that creates it at once waits.  RAW, because the
 * rate must not depend on how the system's clock was being slewed in those milliseconds.
 */
#define _GNU_SOURCE
#include "port/posix/ticksource.h"

#if defined(__x86_64__)

#include <cpuid.h>
#include <fcntl.h>
#include <string.h>
#include <time.h>
#include <trace_np.h>
#include <unistd.h>

#define NS_PER_S    1000000000u
#define SPAN_MIN_NS 20000000u
#define PAIR_TRIES  16
/* Tighter than this the bracket says more about the counter's own steps than about the clock. */
#define WIDTH_MIN   64u

/* A counter reading and the clock inside the same @width ticks. */
struct clock_pair {
	uint64_t ticks;
	uint64_t ns;
	uint64_t width;
};

bool pxt_port_use_counter;

static struct clock_pair first_pair;

static bool counter_is_invariant(void)
{
	unsigned a;
	unsigned b;
	unsigned c;
	unsigned d;

	return __get_cpuid(0x80000007u, &a, &b, &c, &d) != 0 && (d & 1u << 8) != 0;
}

void pxt_ticksource_use(bool use)
{
	pxt_port_use_counter = use;
}

uint64_t pxt_ticksource_fenced(void)
{
	uint32_t low;
	uint32_t high;

	__asm__ volatile("lfence\n\trdtsc\n\tlfence" : "=a"(low), "=d"(high) : : "memory");
	return (uint64_t)high << 32 | low;
}

/*
 * The kernel compares the counters of all CPUs and takes "tsc" off this list when they disagree,
 * whatever CPUID promised.  No list, no objection.  Asked before main(): later there may be no descriptor
 * for it, and a process that takes another clock than others can attach to none of them.
 */
static bool kernel_trusts_counter(void)
{
	char list[256];
	int fd = open("/sys/devices/system/clocksource/clocksource0/available_clocksource",
	    O_RDONLY | O_CLOEXEC);
	ssize_t got;

	if (fd < 0)
		return true;
	got = read(fd, list, sizeof(list) - 1);
	(void)close(fd);
	if (got <= 0)
		return true;
	list[got] = '\0';
	return strstr(list, "tsc") != NULL;
}

/* The tightest of several brackets: an interrupt between the two readings only costs a try. */
static struct clock_pair read_pair(void)
{
	struct clock_pair best = { 0, 0, UINT64_MAX };

	for (int i = 0; i < PAIR_TRIES; i++) {
		struct timespec now;
		uint64_t before = pxt_ticksource_fenced();

		(void)clock_gettime(CLOCK_MONOTONIC_RAW, &now);
		uint64_t after = pxt_ticksource_fenced();

		if (after - before < best.width) {
			best.width = after - before;
			best.ticks = before + best.width / 2;
			best.ns = (uint64_t)now.tv_sec * NS_PER_S + (uint64_t)now.tv_nsec;
		}
	}
	if (best.width < WIDTH_MIN)
		best.width = WIDTH_MIN;
	return best;
}

__attribute__((constructor(101))) static void take_first_pair(void)
{
	pxt_port_use_counter = counter_is_invariant() && kernel_trusts_counter();
	if (pxt_port_use_counter)
		first_pair = read_pair();
}

/* ticks * 10^9 / ns without overflow; days of nanoseconds lose bits far below the error bound. */
static uint64_t ticks_per_second(uint64_t ticks, uint64_t ns)
{
	while (ns >= (uint64_t)1 << 33) {
		ns >>= 1;
		ticks >>= 1;
	}
	return ticks / ns * NS_PER_S + (ticks % ns * NS_PER_S + ns / 2) / ns;
}

/*
 * Each pair is off by half its width at most, so the span by half of both; and by the nanosecond
 * that each clock reading was cut at, which half a WIDTH_MIN more covers on any processor.
 */
static uint32_t span_error_ppm(uint64_t width_sum, uint64_t ticks)
{
	uint64_t error = (width_sum / 2 + WIDTH_MIN / 2) * 1000000u / ticks + 1;

	return error > UINT32_MAX ? UINT32_MAX : (uint32_t)error;
}

/* The rate where the processor does not tell it: against CLOCK_MONOTONIC_RAW, for a while. */
static bool measure(struct pxt_clock_rate *rate)
{
	struct clock_pair last = read_pair();

	while (last.ns - first_pair.ns < SPAN_MIN_NS) {
		pxt_port_pause_ns(SPAN_MIN_NS - (last.ns - first_pair.ns));
		last = read_pair();
	}
	/* A virtual machine that was moved or put to sleep may have set its counter back. */
	if (last.ticks <= first_pair.ticks)
		return false;
	rate->hz = ticks_per_second(last.ticks - first_pair.ticks, last.ns - first_pair.ns);
	rate->error_ppm =
	    span_error_ppm(first_pair.width + last.width, last.ticks - first_pair.ticks);
	rate->source = POSIX_TRACE_CLOCK_TSC_NP;
	return rate->hz >= 1000000u;
}

bool pxt_ticksource_rate(struct pxt_clock_rate *rate)
{
	pxt_port_use_counter = pxt_port_use_counter && measure(rate);
	return pxt_port_use_counter;
}

#endif
