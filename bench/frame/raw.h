/* SPDX-License-Identifier: MIT */
/* raw.h - measured values as they came, kept in a file for others to evaluate. */
#ifndef BENCH_RAW_H
#define BENCH_RAW_H

#include "stamp.h"

#include <stddef.h>
#include <stdint.h>

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
