/* SPDX-License-Identifier: MIT */
/*
 * clock.c - the stamp clock: which counter, at which rate, and what it read when.
 *
 * The rate is measured once: one pair {counter, CLOCK_MONOTONIC_RAW} when the library is loaded, a
 * second one at the first pxt_port_clock_start(), at least 20 ms later.  A program that creates
 * its stream late pays nothing for that; one that creates it at once waits.  RAW, because the
 * rate must not depend on how the system's clock was being slewed in those milliseconds.
 */
#define _GNU_SOURCE
#include "port/port.h"
#include "port/posix/quiet.h"
#include "port_atomic.h"

#include <fcntl.h>
#include <pthread.h>
#include <string.h>
#include <trace_np.h>
#include <unistd.h>
#if defined(__x86_64__)
#include <cpuid.h>
#endif

#define NS_PER_S    1000000000u
#define SPAN_MIN_NS 20000000u
#define PAIR_TRIES  16
#define SET_TRIES   5
/* Tighter than this the bracket says more about the counter's own steps than about the clock. */
#define WIDTH_MIN   64u

/* A counter reading and the clock inside the same @width ticks. */
struct clock_pair {
	uint64_t ticks;
	uint64_t ns;
	uint64_t width;
};

#if defined(__x86_64__)
bool pxt_port_use_tsc;
#else
static bool pxt_port_use_tsc;
#endif

static struct clock_pair first_pair;
static struct pxt_clock_rate fixed_rate;
static pthread_once_t rate_once = PTHREAD_ONCE_INIT;

static uint64_t ns_of(const struct timespec *time)
{
	return (uint64_t)time->tv_sec * NS_PER_S + (uint64_t)time->tv_nsec;
}

uint64_t pxt_port_ticks_slow(void)
{
	struct timespec now;

	(void)clock_gettime(CLOCK_MONOTONIC, &now);
	return ns_of(&now);
}

#if defined(__x86_64__)
static bool counter_is_invariant(void)
{
	unsigned a;
	unsigned b;
	unsigned c;
	unsigned d;

	return __get_cpuid(0x80000007u, &a, &b, &c, &d) != 0 && (d & 1u << 8) != 0;
}

/* Neither overtakes nor is overtaken: for measuring, not for tracing (it costs twice as much). */
static uint64_t ticks_fenced(void)
{
	uint32_t low;
	uint32_t high;

	__asm__ volatile("lfence\n\trdtsc\n\tlfence" : "=a"(low), "=d"(high) : : "memory");
	return (uint64_t)high << 32 | low;
}
#else
static bool counter_is_invariant(void)
{
	return false;
}

static uint64_t ticks_fenced(void)
{
	return pxt_port_ticks_slow();
}
#endif

/*
 * The kernel compares the counters of all CPUs and takes "tsc" off this list when they disagree,
 * whatever CPUID promised.  No list, no objection.
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
		uint64_t before = ticks_fenced();

		(void)clock_gettime(CLOCK_MONOTONIC_RAW, &now);
		uint64_t after = ticks_fenced();

		if (after - before < best.width) {
			best.width = after - before;
			best.ticks = before + best.width / 2;
			best.ns = ns_of(&now);
		}
	}
	if (best.width < WIDTH_MIN)
		best.width = WIDTH_MIN;
	return best;
}

__attribute__((constructor)) static void take_first_pair(void)
{
	pxt_port_use_tsc = counter_is_invariant();
	if (pxt_port_use_tsc)
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

static void use_monotonic(void)
{
	pxt_port_use_tsc = 0;
	fixed_rate.hz = NS_PER_S;
	fixed_rate.error_ppm = 0;
	fixed_rate.source = POSIX_TRACE_CLOCK_MONOTONIC_NP;
}

static void fix_rate(void)
{
	struct clock_pair last;

	if (!pxt_port_use_tsc || !kernel_trusts_counter()) {
		use_monotonic();
		return;
	}
	last = read_pair();
	while (last.ns - first_pair.ns < SPAN_MIN_NS) {
		pxt_port_pause_ns(SPAN_MIN_NS - (last.ns - first_pair.ns));
		last = read_pair();
	}
	/* A virtual machine that was moved or put to sleep may have set its counter back. */
	if (last.ticks <= first_pair.ticks) {
		use_monotonic();
		return;
	}
	fixed_rate.hz = ticks_per_second(last.ticks - first_pair.ticks, last.ns - first_pair.ns);
	fixed_rate.error_ppm =
	    span_error_ppm(first_pair.width + last.width, last.ticks - first_pair.ticks);
	fixed_rate.source = POSIX_TRACE_CLOCK_TSC_NP;
	if (fixed_rate.hz < 1000000u)
		use_monotonic();
}

void pxt_port_clock_start(struct pxt_clock_rate *rate)
{
	struct pxt_quiet quiet = pxt_quiet_begin();

	(void)pthread_once(&rate_once, fix_rate);
	pxt_quiet_end(quiet);
	*rate = fixed_rate;
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
		uint64_t before = ticks_fenced();

		(void)clock_gettime(CLOCK_BOOTTIME, &now.boottime);
		(void)clock_gettime(CLOCK_REALTIME, &now.realtime);
		(void)clock_gettime(CLOCK_MONOTONIC, &now.monotonic);
		now.ticks = ticks_fenced() - before;
		if (now.ticks >= best)
			continue;
		best = now.ticks;
		*set = now;
		set->ticks = before + best / 2;
	}
	if (!pxt_port_use_tsc)
		set->ticks = ns_of(&set->monotonic);
}
