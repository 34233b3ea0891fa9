/* SPDX-License-Identifier: MIT */
/*
 * out.h - the command line and the output that all programs here share.
 *
 *	PROGRAM [--csv] [--quick | --smoke] [options of its own]
 *
 * With --csv a line is `suite,table,row,column,unit,value`, the value in quotes if it is text.
 * Without it the same is written for people.  Facts are lines "# key: value" in both.
 * --quick takes fewer measurements, --smoke so few that only the program itself is tried.
 */
#ifndef BENCH_OUT_H
#define BENCH_OUT_H

#include "frame.h"

#include <stdbool.h>

enum bench_effort {
	BENCH_FULL,
	BENCH_QUICK,
	BENCH_SMOKE
};

/* An option of one program, followed by a value. */
struct bench_extra {
	const char *name;
	const char **value;
};

/* Reads the command line, finds the CPUs.  @extra ends with a NULL name, or is NULL. */
void bench_begin(int argc, char **argv, const char *suite, const struct bench_extra *extra);
enum bench_effort bench_effort(void);
bool bench_csv(void);
/* One of the three, by effort. */
unsigned long bench_pick(unsigned long full, unsigned long quick, unsigned long smoke);

/* Rows that follow belong to @table; @text is above them for people. */
void bench_table(const char *table, const char *text);
void bench_value(const char *row, const char *column, const char *unit, double value);
void bench_text(const char *row, const char *column, const char *text);
/* A row of the frame; beside nanoseconds the multiple of the floor, once that is known. */
void bench_cost(const char *row, const char *column, const struct bench_row *got);
void bench_set_floor(double ns);
double bench_floor(void);
/* "not measured: @reason". */
/* A figure that hides something: shown at the value as a footnote. */
void bench_mark(const char *row, const char *column, const char *text);
void bench_missing(const char *row, const char *column, const char *reason);
/* "key: value". */
__attribute__((format(printf, 1, 2))) void bench_remark(const char *format, ...);

enum bench_sense {
	BENCH_AT_MOST,
	BENCH_AT_LEAST
};
/* A measured value beside its target, in the table "targets"; NAN: not measured. */
void bench_target(
    const char *what, const char *unit, double measured, enum bench_sense sense, double target);

/* Machine, kernel, C library, compiler, configuration of the library. */
void bench_say_facts(void);
/* Ends the program if @error, an error number, is not 0. */
void bench_ok(const char *what, int error);

#endif
