/* SPDX-License-Identifier: MIT */
/* stamp.c - rate and step of the clock of single measured calls, and the file of raw values. */
#define _GNU_SOURCE
#include "frame.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
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

/* ---- Raw values ---- */

const char *bench_raw_begin(int argc, char **argv, const char *suite)
{
	const char *file = NULL;
	const struct bench_extra extra[] = { { "--raw", &file }, { NULL, NULL } };

	bench_begin(argc, argv, suite, extra);
	if (!file) {
		(void)fprintf(
		    stderr, "%s: --raw FILE is needed: that is where the values go\n", suite);
		exit(2);
	}
	return file;
}

void bench_series_init(struct bench_series *series, const char *name, size_t room)
{
	series->name = name;
	series->count = 0;
	series->room = room;
	series->ticks = malloc(room * sizeof(*series->ticks));
	if (!series->ticks)
		bench_ok("values", ENOMEM);
	memset(series->ticks, 0xff, room * sizeof(*series->ticks));
}

void bench_series_add(struct bench_series *series, uint64_t begin, uint64_t end)
{
	if (series->count < series->room)
		series->ticks[series->count++] = end - begin;
}

static void write_lines(FILE *file, const struct bench_raw *raw)
{
	size_t most = 0;

	(void)fputs("release", file);
	for (size_t s = 0; s < raw->count; s++) {
		(void)fprintf(file, ",%s", raw->series[s].name);
		most = raw->series[s].count > most ? raw->series[s].count : most;
	}
	for (size_t i = 0; i < most; i++) {
		(void)fprintf(file, "\n%zu", i);
		for (size_t s = 0; s < raw->count; s++) {
			(void)fputc(',', file);
			if (i < raw->series[s].count)
				(void)fprintf(
				    file, "%llu", (unsigned long long)raw->series[s].ticks[i]);
		}
	}
	(void)fputc('\n', file);
}

static void write_facts(FILE *file)
{
	char text[128];

	bench_cpu_model(text, sizeof(text));
	(void)fprintf(file, "# machine: %s\n", text);
	bench_kernel(text, sizeof(text));
	(void)fprintf(file, "# system: %s", text);
	bench_libc(text, sizeof(text));
	(void)fprintf(file, ", %s\n# compiler: %s\n# configuration: %s\n", text, BENCH_COMPILER,
	    BENCH_CONFIG);
}

void bench_raw_write(const char *path, const struct bench_raw *raw, const char *facts)
{
	FILE *file = fopen(path, "we");
	struct bench_step step = bench_step();

	if (!file)
		bench_ok(path, errno);
	(void)fprintf(file, "# suite: %s\n# table: %s\n# tick_hz: %.0f\n", raw->suite, raw->table,
	    raw->tick_hz);
	(void)fprintf(file, "# stamps: %s\n# step: %llu ticks (%u %% of the steps)\n", BENCH_STAMPS,
	    (unsigned long long)step.ticks, step.percent);
	write_facts(file);
	bench_realtime_facts(file);
	if (facts)
		(void)fputs(facts, file);
	write_lines(file, raw);
	if (ferror(file) || fclose(file) != 0)
		bench_ok(path, EIO);
}
