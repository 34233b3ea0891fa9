/* SPDX-License-Identifier: MIT */
/* raw.c - the file of raw values. */
#define _GNU_SOURCE
#include "raw.h"

#include "frame.h"
#include "out.h"
#include "realtime.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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
