/* SPDX-License-Identifier: MIT */
/* stamp.c - rate and step of the clock of single measured calls. */
#define _GNU_SOURCE
#include "stamp.h"

#include <stdlib.h>
#include <time.h>

#define READINGS 10000

static uint64_t nanoseconds(void)
{
	struct timespec now;

	(void)clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

#if !defined(__x86_64__)

uint64_t bench_before(void)
{
	return nanoseconds();
}

uint64_t bench_after(void)
{
	return nanoseconds();
}

#endif

/* The narrowest of some readings of both clocks: the thread may be preempted between the two. */
struct bench_moment bench_moment(void)
{
	struct bench_moment best = { 0, 0 };
	uint64_t narrowest = UINT64_MAX;

	for (int i = 0; i < 20; i++) {
		uint64_t before = bench_before();
		uint64_t ns = nanoseconds();
		uint64_t after = bench_after();

		if (after - before < narrowest) {
			narrowest = after - before;
			best = (struct bench_moment){ before + narrowest / 2, ns };
		}
	}
	return best;
}

double bench_rate(const struct bench_moment *from, const struct bench_moment *to)
{
	if (to->ns <= from->ns)
		return 0;
	return (double)(to->ticks - from->ticks) * 1e9 / (double)(to->ns - from->ns);
}

static int by_size(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a;
	uint64_t y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

/* Bare readings: the fences of a stamp take longer than a step. */
static uint64_t reading(void)
{
#if defined(__x86_64__)
	uint32_t low;
	uint32_t high;

	__asm__ volatile("rdtsc" : "=a"(low), "=d"(high));
	return (uint64_t)high << 32 | low;
#else
	return nanoseconds();
#endif
}

struct bench_step bench_step(void)
{
	static uint64_t difference[READINGS];
	struct bench_step step = { 0, 0 };
	size_t count = 0;
	size_t best = 0;
	size_t run = 0;
	uint64_t last = reading();

	for (size_t i = 0; i < READINGS; i++) {
		uint64_t now = reading();

		if (now != last)
			difference[count++] = now - last;
		last = now;
	}
	qsort(difference, count, sizeof(difference[0]), by_size);
	for (size_t i = 0; i < count; i++) {
		run = i > 0 && difference[i] == difference[i - 1] ? run + 1 : 1;
		if (run > best) {
			best = run;
			step.ticks = difference[i];
		}
	}
	if (count > 0)
		step.percent = (unsigned)(100 * best / count);
	return step;
}
