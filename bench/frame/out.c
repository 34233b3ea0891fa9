/* SPDX-License-Identifier: MIT */
/* out.c - one way to say a figure, for programs and for people; the file of raw values. */
#define _GNU_SOURCE
#include "frame.h"

#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#define SHARED "no part had its core for itself"

static const char *suite = "";
static const char *table = "";
static bool as_csv;
static enum bench_effort effort;
static double floor_ns;

/* ---- Command line ---- */

static void usage(const struct bench_extra *extra)
{
	(void)fprintf(stderr, "usage: %s [--csv] [--quick | --smoke]", suite);
	for (; extra && extra->name; extra++)
		(void)fprintf(stderr, " [%s VALUE]", extra->name);
	(void)fputs("\n", stderr);
	exit(2);
}

static bool take_extra(const struct bench_extra *extra, const char *name, const char *value)
{
	for (; value && extra && extra->name; extra++) {
		if (strcmp(extra->name, name) == 0) {
			*extra->value = value;
			return true;
		}
	}
	return false;
}

/*
 * Where it is allowed, other work gets less of the CPUs.  Linux may share them by session first
 * (autogroups) and by nice value in a session only: then a session of its own is needed.
 */
static void claim_cpus(void)
{
	FILE *group;

	(void)setpriority(PRIO_PROCESS, 0, -20);
	if (setsid() < 0 && getsid(0) != getpid())
		return;
	group = fopen("/proc/self/autogroup", "we");
	if (group) {
		(void)fputs("-20", group);
		(void)fclose(group);
	}
}

void bench_begin(int argc, char **argv, const char *name, const struct bench_extra *extra)
{
	suite = name;
	for (int i = 1; i < argc; i++) {
		if (strcmp(argv[i], "--csv") == 0)
			as_csv = true;
		else if (strcmp(argv[i], "--quick") == 0)
			effort = BENCH_QUICK;
		else if (strcmp(argv[i], "--smoke") == 0)
			effort = BENCH_SMOKE;
		else if (take_extra(extra, argv[i], i + 1 < argc ? argv[i + 1] : NULL))
			i++;
		else
			usage(extra);
	}
	claim_cpus();
	bench_frame_size((unsigned)bench_pick(15, 7, 1), (unsigned)bench_pick(20, 10, 2));
	(void)bench_start();
	bench_calibrate((unsigned)bench_pick(100, 100, 0));
}

enum bench_effort bench_effort(void)
{
	return effort;
}

bool bench_csv(void)
{
	return as_csv;
}

unsigned long bench_pick(unsigned long full, unsigned long quick, unsigned long smoke)
{
	return effort == BENCH_FULL ? full : effort == BENCH_QUICK ? quick : smoke;
}

/* ---- Output ---- */

static void csv_value(
    const char *in, const char *row, const char *column, const char *unit, double value)
{
	(void)printf("%s,%s,%s,%s,%s,%.6g\n", suite, in, row, column, unit, value);
	(void)fflush(stdout);
}

static void csv_text(
    const char *in, const char *row, const char *column, const char *unit, const char *text)
{
	(void)printf("%s,%s,%s,%s,%s,\"", suite, in, row, column, unit);
	for (; *text; text++) {
		if (*text == '"')
			(void)putchar('"');
		(void)putchar(*text);
	}
	(void)puts("\"");
	(void)fflush(stdout);
}

static void begin_line(const char *row, const char *column)
{
	(void)printf("%-36s %-24s ", row, column);
}

void bench_table(const char *name, const char *text)
{
	table = name;
	if (!as_csv && *text)
		(void)printf("\n%s\n", text);
}

void bench_value(const char *row, const char *column, const char *unit, double value)
{
	if (as_csv) {
		csv_value(table, row, column, unit, value);
		return;
	}
	begin_line(row, column);
	(void)printf(fabs(value) >= 10000 ? "%10.0f %s\n" : "%10.2f %s\n", value, unit);
}

void bench_text(const char *row, const char *column, const char *text)
{
	if (as_csv) {
		csv_text(table, row, column, "", text);
		return;
	}
	begin_line(row, column);
	(void)printf("%s\n", text);
}

void bench_mark(const char *row, const char *column, const char *text)
{
	if (as_csv) {
		csv_text(table, row, column, "mark", text);
		return;
	}
	begin_line(row, column);
	(void)printf("  mark: %s\n", text);
}

void bench_missing(const char *row, const char *column, const char *reason)
{
	char text[256];

	(void)snprintf(text, sizeof(text), "not measured: %s", reason);
	bench_text(row, column, text);
}

void bench_remark(const char *format, ...)
{
	char text[512];
	va_list list;

	va_start(list, format);
	(void)vsnprintf(text, sizeof(text), format, list);
	va_end(list);
	(void)printf("# %s\n", text);
}

static void cost_csv(const char *row, const char *column, const struct bench_row *got)
{
	csv_value(table, row, column, "ns", got->ns);
	if (floor_ns > 0)
		csv_value(table, row, column, "x floor", got->ns / floor_ns);
	csv_value(table, row, column, "ns low", got->low);
	csv_value(table, row, column, "ns high", got->high);
	csv_value(table, row, column, "parts", got->parts);
}

void bench_cost(const char *row, const char *column, const struct bench_row *got)
{
	if (got->batches == 0) {
		bench_missing(row, column, "the machine was busy, no part was left undisturbed");
		return;
	}
	if (as_csv) {
		cost_csv(row, column, got);
		if (got->shared)
			bench_mark(row, column, SHARED);
		return;
	}
	begin_line(row, column);
	(void)printf("%10.2f ns", got->ns);
	if (floor_ns > 0)
		(void)printf(" %7.2f x floor", got->ns / floor_ns);
	(void)printf("  (%.2f - %.2f, %u parts)%s%s\n", got->low, got->high, got->parts,
	    got->shared ? "; " : "", got->shared ? SHARED : "");
	(void)fflush(stdout);
}

void bench_set_floor(double ns)
{
	floor_ns = ns;
}

double bench_floor(void)
{
	return floor_ns;
}

void bench_target(
    const char *what, const char *unit, double measured, enum bench_sense sense, double target)
{
	bool reached = sense == BENCH_AT_MOST ? measured <= target : measured >= target;
	const char *verdict = isnan(measured) ? "not measured" : reached ? "reached" : "missed";

	if (!as_csv) {
		(void)printf("%-60s %10.2f %-10s %s %g: %s\n", what, measured, unit,
		    sense == BENCH_AT_MOST ? "at most" : "at least", target, verdict);
		return;
	}
	if (!isnan(measured))
		csv_value("targets", what, "measured", unit, measured);
	csv_value("targets", what, sense == BENCH_AT_MOST ? "at most" : "at least", unit, target);
	csv_text("targets", what, "verdict", "", verdict);
}

void bench_say_facts(void)
{
	char model[128];
	char kernel[128];
	char libc[64];

	bench_cpu_model(model, sizeof(model));
	bench_kernel(kernel, sizeof(kernel));
	bench_libc(libc, sizeof(libc));
	bench_remark("machine: %s", model);
	bench_remark("system: %s, %s", kernel, libc);
	bench_remark("scheduling: nice %d", getpriority(PRIO_PROCESS, 0));
	bench_remark("compiler: %s", BENCH_COMPILER);
	bench_remark("configuration: %s", BENCH_CONFIG);
}

void bench_ok(const char *what, int error)
{
	if (error != 0) {
		(void)fprintf(stderr, "%s: %s: %s\n", suite, what, strerror(error));
		exit(1);
	}
}

/* ---- Raw values ---- */

const char *bench_raw_begin(int argc, char **argv, const char *name)
{
	const char *file = NULL;
	const struct bench_extra extra[] = { { "--raw", &file }, { NULL, NULL } };

	bench_begin(argc, argv, name, extra);
	if (!file) {
		(void)fprintf(
		    stderr, "%s: --raw FILE is needed: that is where the values go\n", name);
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
