/* SPDX-License-Identifier: MIT */
/*
 * machine.h - the least that a trace point can do on this machine, against which everything is
 * held: read the counter, reserve with one locked add, store whole 16-byte slots (the floor).
 */
#ifndef BENCH_MACHINE_H
#define BENCH_MACHINE_H

#include "frame.h"

#include <stdint.h>
#include <time.h>

#if defined(__x86_64__)
static inline uint64_t bench_counter(void)
{
	uint32_t low;
	uint32_t high;

	__asm__ volatile("rdtsc" : "=a"(low), "=d"(high));
	return (uint64_t)high << 32 | low;
}

/* Not before everything older has finished, and nothing younger before it. */
static inline uint64_t bench_counter_fenced(void)
{
	uint32_t low;
	uint32_t high;

	__asm__ volatile("lfence\n\trdtsc\n\tlfence" : "=a"(low), "=d"(high) : : "memory");
	return (uint64_t)high << 32 | low;
}
#else
static inline uint64_t bench_counter(void)
{
	struct timespec now;

	(void)clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static inline uint64_t bench_counter_fenced(void)
{
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
	return bench_counter();
}
#endif

/* Ticks of bench_counter() in a nanosecond, measured at the first call (20 ms). */
double bench_counter_per_ns(void);
/* The smallest step, in ticks, between readings that differ. */
unsigned bench_counter_step(void);

/* ---- Loops ---- */

bench_loop bench_counter_loop;
bench_loop bench_clock_loop;   /* clock_gettime(CLOCK_MONOTONIC) */
bench_loop bench_floor_4;      /* one slot, a ring for each thread */
bench_loop bench_floor_record; /* 2: as many as our event of 4 bytes has */
bench_loop bench_floor_32;     /* 3 slots */
bench_loop bench_floor_256;    /* 17 slots */
bench_loop bench_round_trip;   /* of a cache line to the other CPU and back; two threads */

/* One event on the floor, for callers that time it themselves. */
void bench_floor_once(unsigned thread);

/* Measures bench_floor_4 on one thread, prints it as row "floor" and makes it the floor. */
void bench_measure_floor(void);

#endif
