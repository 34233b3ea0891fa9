/* SPDX-License-Identifier: MIT */
/*
 * stamp.h - the clock of single measured calls.
 *
 * Before: what came earlier is finished, then the counter is read.  After: the measured code is
 * finished, the counter is read, and nothing later begins before that.  What the pair costs by
 * itself is measured as a row of its own ("Empty measurement") and never subtracted.
 */
#ifndef BENCH_STAMP_H
#define BENCH_STAMP_H

#include <stddef.h>
#include <stdint.h>

#if defined(__x86_64__)

#define BENCH_STAMPS "rdtsc (lfence; rdtsc ... rdtscp; lfence)"

static inline uint64_t bench_before(void)
{
	uint32_t low;
	uint32_t high;

	__asm__ volatile("lfence\n\trdtsc" : "=a"(low), "=d"(high) : : "memory");
	return (uint64_t)high << 32 | low;
}

static inline uint64_t bench_after(void)
{
	uint32_t low;
	uint32_t high;

	__asm__ volatile("rdtscp\n\tlfence" : "=a"(low), "=d"(high) : : "ecx", "memory");
	return (uint64_t)high << 32 | low;
}

#else

#define BENCH_STAMPS "clock_gettime(CLOCK_MONOTONIC)"

uint64_t bench_before(void);
uint64_t bench_after(void);

#endif

/* Ticks and nanoseconds of one moment: two of them give the rate. */
struct bench_moment {
	uint64_t ticks;
	uint64_t ns;
};

struct bench_moment bench_moment(void);
double bench_rate(const struct bench_moment *from, const struct bench_moment *to);

/* By how much the counter advances between readings that differ, most often; and how often. */
struct bench_step {
	uint64_t ticks;
	unsigned percent;
};

struct bench_step bench_step(void);

/* ---- Measured values as they came, kept in a file for others to evaluate ---- */

/*
 * Raw values: one column of ticks for each series, a line for each release.
 * All memory is taken, and touched, before anything is measured.
 */
struct bench_series {
	const char *name;
	uint64_t *ticks;
	size_t count; /* filled so far */
	size_t room;
};

/* bench_begin() for a program that needs --raw FILE; returns FILE. */
const char *bench_raw_begin(int argc, char **argv, const char *suite);

void bench_series_init(struct bench_series *series, const char *name, size_t room);
void bench_series_add(struct bench_series *series, uint64_t begin, uint64_t end);

struct bench_raw {
	const char *suite;
	const char *table;
	struct bench_series *series;
	size_t count;
	double tick_hz;
};

/* Ends the program if it cannot.  @facts: further "# key: value" lines, or NULL. */
void bench_raw_write(const char *path, const struct bench_raw *raw, const char *facts);

#endif
