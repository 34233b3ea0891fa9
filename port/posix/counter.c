/* SPDX-License-Identifier: MIT */
/*
 * counter.c - the processor's counter (TSC) as the stamp clock: whether it may be trusted, and its calibration: at which
 * rate it runs; its readings as functions, where bytes are saved.  The slow clock is not here: tests put another
 * one in its place.
 */
#define _GNU_SOURCE
#include "format/hexdigit.h"
#include "port/posix/clock.h"
#include "port/posix/owncalls.h"

#if defined(__x86_64__) || defined(__aarch64__)
bool pxt_port_use_counter;

void pxt_ticksource_use(bool use)
{
	pxt_port_use_counter = use;
}

#if PXT_SMALL
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
#endif

/*
 * The time stamp counter: whether it may be trusted, and at which rate it runs.
 *
 * The rate is measured once: one pair {counter, CLOCK_MONOTONIC_RAW} when the library is loaded, a
 * second one at the first pxt_port_clock_start(), at least 20 ms later.  A program that creates
 * its stream late pays nothing for that; one that creates it at once waits.  RAW, because the
 * rate must not depend on how the system's clock was being slewed in those milliseconds.
 *
 * A program under pxtrace run gets the rate, with a pair (PXTRACE_CLOCK).  It is used if the first pair
 * lies on that line: that of another machine, or of another boot, does not.
 */

#if defined(__x86_64__)

#include <cpuid.h>
#include <stdlib.h>
#include <string.h>
#include <trace_np.h>
#include <unistd.h>

#define NS_PER_S    1000000000u
#define SPAN_MIN_NS 20000000u
#define PAIR_TRIES  16
#define TOLD_TRIES  2
/* Tighter than this the bracket says more about the counter's own steps than about the clock. */
#define WIDTH_MIN   64u

/* A counter reading and the clock inside the same @width ticks. */
struct clock_pair {
	uint64_t ticks;
	uint64_t ns;
	uint64_t width;
};

/* What a told rate may be off by, beside its error: when the pair was read, and the clocks' own steps. */
#define TOLD_SLACK_NS  1000000u
#define TOLD_SLACK_PPM 50u

static struct clock_pair first_pair;
static struct pxt_clock_rate told; /* hz 0: none was passed, or it is not this machine's */

static bool counter_is_invariant(void)
{
	unsigned a;
	unsigned b;
	unsigned c;
	unsigned d;

	return __get_cpuid(0x80000007u, &a, &b, &c, &d) != 0 && (d & 1u << 8) != 0;
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

	if (pxt_descriptor_text(
	        "/sys/devices/system/clocksource/clocksource0/available_clocksource", list,
	        sizeof(list)) < 0)
		return true;
	return strstr(list, "tsc") != NULL;
}

/* The tightest of @tries brackets: an interrupt between the two readings only costs a try. */
static struct clock_pair read_pair(int tries)
{
	struct clock_pair best = { 0, 0, UINT64_MAX };

	for (int i = 0; i < tries; i++) {
		struct timespec now;
		uint64_t before = pxt_ticksource_fenced();

		(void)pxt_vdso_gettime(CLOCK_MONOTONIC_RAW, &now);
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

/* Numbers with colons between them.  False: there are not so many. */
static bool parse(const char *text, uint64_t *numbers, unsigned count)
{
	for (unsigned i = 0; i < count; i++) {
		const char *end;

		numbers[i] = pxt_decimal(text, &end);
		if (end == text || *end != (i + 1u < count ? ':' : '\0'))
			return false;
		text = end + 1;
	}
	return true;
}

/* Whether @now is where a counter of @hz that was at @ticks when the clock was at @ns has to be. */
static bool lies_on(
    const struct clock_pair *now, uint64_t hz, uint64_t ppm, uint64_t ticks, uint64_t ns)
{
	long double passed = (long double)(now->ns - ns);
	long double expected = passed * (long double)hz / NS_PER_S;
	long double apart = (long double)(now->ticks - ticks) - expected;
	long double slack = expected * (long double)(ppm + TOLD_SLACK_PPM) / 1000000u +
	                    (long double)hz * TOLD_SLACK_NS / NS_PER_S;

	return now->ns >= ns && now->ticks >= ticks && apart <= slack && -apart <= slack;
}

/* tools/run/preload.c says it. */
static void hear(const char *text)
{
	uint64_t of[5]; /* the rate, its error, the counter, CLOCK_MONOTONIC_RAW, CPUs */

	if (!text || !parse(text, of, 5) || of[0] < 1000000u || of[0] > 100u * (uint64_t)NS_PER_S ||
	    of[1] > UINT32_MAX || !lies_on(&first_pair, of[0], of[1], of[2], of[3]))
		return;
	told.hz = of[0];
	told.error_ppm = (uint32_t)of[1];
	told.source = POSIX_TRACE_CLOCK_TSC_NP;
	pxt_cpus_told(of[4]);
}

/*
 * With a right rate from pxtrace the counter was checked there.  CPUID may cost a virtual machine 20
 * us, and the kernel's list as much.
 */
__attribute__((constructor(101))) static void take_first_pair(void)
{
	const char *said = secure_getenv("PXTRACE_CLOCK");
	/* pxtrace has another clock, and no process that has the counter could attach to it. */
	bool none = said && strcmp(said, "none") == 0;

	pxt_vdso_find();
	if (said && !none) {
		/* A millisecond is near enough (lies_on()). */
		first_pair = read_pair(TOLD_TRIES);
		hear(said);
	}
	pxt_port_use_counter =
	    told.hz || (!none && counter_is_invariant() && kernel_trusts_counter());
	if (pxt_port_use_counter && !told.hz)
		first_pair = read_pair(PAIR_TRIES);
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
	struct clock_pair last = read_pair(PAIR_TRIES);

	while (last.ns - first_pair.ns < SPAN_MIN_NS) {
		pxt_port_pause_ns(SPAN_MIN_NS - (last.ns - first_pair.ns));
		last = read_pair(PAIR_TRIES);
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
	if (pxt_port_use_counter && told.hz)
		*rate = told;
	else
		pxt_port_use_counter = pxt_port_use_counter && measure(rate);
	return pxt_port_use_counter;
}

#endif

/* The virtual count, which is the same on all processors and never stops. */

#if defined(__aarch64__)

#include <trace_np.h>

/* Coarser steps than a quarter of a microsecond: events of one thread would get one stamp. */
#define STEPS_MIN 4000000u

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

uint64_t pxt_ticksource_fenced(void)
{
	uint64_t ticks = pxt_port_ticks_ordered();

	pxt_port_ticks_fence();
	return ticks;
}

#endif
