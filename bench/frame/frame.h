/* SPDX-License-Identifier: MIT */
/*
 * frame.h - timing of small loops on a machine that is not ours alone.
 *
 * A batch is PARTS short runs of a loop, on one or two pinned threads that begin together.  A part
 * in which a thread did not hold its CPU for 97 % of the time, or began late, or ran on
 * a core whose other half worked too, as the empty loop before or after it shows, says something
 * about the machine's other work and is thrown away.  The figure of a batch is the mean of the parts
 * left, the figure of a row the median of its batches.
 */
#ifndef BENCH_FRAME_H
#define BENCH_FRAME_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <time.h>

/* What counts. */
enum bench_clock {
	BENCH_WALL,   /* time as it passes */
	BENCH_BESIDE, /* the same; another thread of the program works on another CPU */
	BENCH_CPU     /* the thread's own time only: the others need the same CPUs */
};

#define BENCH_BATCHES_MAX 15
#define BENCH_PARTS_MAX   20
#define BENCH_THREADS_MAX 2

struct bench_row {
	double ns;        /* per pass of the loop, the empty loop taken off; < 0: no good batch */
	double low, high; /* fastest and slowest batch */
	unsigned batches; /* with at least one good part */
	unsigned parts;   /* good ones */
	bool shared;      /* no part had its cores for itself: those with others count */
};

/* Runs @count passes; @thread is 0 or 1. */
typedef void bench_loop(unsigned thread, unsigned long count);

/* Finds the CPUs.  Returns how many threads can run side by side. */
unsigned bench_start(void);
/* Batches in a row and parts in a batch, up to the maxima (and as many without this call). */
void bench_frame_size(unsigned batches, unsigned parts);
/* Looks for @ms how fast a core is that nobody shares. */
void bench_calibrate(unsigned ms);
struct bench_row bench_run(
    bench_loop *loop, unsigned threads, unsigned long count, enum bench_clock clock);
/*
 * For a loop that waits between its passes: called at its end, says what it took without the
 * waiting, in ns a pass.  Nothing is taken off then.
 */
void bench_own_time(double ns);
/* CPUs that this process may use. */
unsigned bench_cpus(void);
/* Puts the calling thread on the @n-th CPU that this process may use. */
void bench_pin(unsigned n);

/* Facts about the machine, each cut to @room. */
void bench_cpu_model(char *text, size_t room);
void bench_kernel(char *text, size_t room);
void bench_libc(char *text, size_t room);
/* What instructions and lines are counted of, a line each; @counter: stamps are the processor's counter. */
void bench_say_counted(bool counter);

/*
 * ---- The command line and the output (out.c) ----
 *
 * The command line and the output that all programs here share.
 *
 *	PROGRAM [--csv] [--quick | --smoke] [options of its own]
 *
 * With --csv a line is `suite,table,row,column,unit,value`, the value in quotes if it is text.
 * Without it the same is written for people.  Facts are lines "# key: value" in both.
 * --quick takes fewer measurements, --smoke so few that only the program itself is tried.
 */

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

/*
 * ---- The floor (machine.c) ----
 *
 * The least that a trace point can do on this machine, against which everything is
 * held: read the counter, reserve with one locked add, store whole 16-byte slots (the floor).
 */

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

/*
 * ---- Periodic threads, and what the programs about many threads share ----
 */

/*
 * A thread as real-time as this process is allowed to make it: memory locked, SCHED_FIFO, on one
 * CPU.  What was refused is told by bench_realtime_facts().
 */
void bench_lock_memory(void);
void bench_become_realtime(unsigned cpu, int priority);
void bench_realtime_facts(FILE *to);

/* Sleeps until @ns on CLOCK_MONOTONIC; bench_ns() reads that clock. */
uint64_t bench_ns(void);
/* Processor time of a thread or process, as @clock says. */
double bench_cpu_ns(clockid_t clock);
void bench_sleep_until(uint64_t ns);

/*
 * A new file without a name, in memory where there is such a folder: what is measured is the
 * library's writing, not a disk's.
 */
int bench_memory_file(void);

/* Sorts @values. */
double bench_median(double *values, size_t count);

/*
 * ---- The clock of single measured calls (machine.c; raw values: out.c) ----
 *
 * The clock of single measured calls.
 *
 * Before: what came earlier is finished, then the counter is read.  After: the measured code is
 * finished, the counter is read, and nothing later begins before that.  What the pair costs by
 * itself is measured as a row of its own ("Empty measurement") and never subtracted.
 */

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
const char *bench_raw_begin(int argc, char **argv, const char *name);

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

/*
 * ---- Cold calls (cold.c) ----
 *
 * One call after everything it needs has left the processor's caches: data, instructions,
 * translations of addresses, predictions.  The call after it finds all of them.
 */

#define BENCH_COLD_MAX 4u /* subjects */

/* What is measured: one pass of a loop. */
struct bench_cold {
	const char *name;
	bench_loop *loop;
};

/*
 * Two tables, one for each way: medians of the first and of the second call, over rounds in which the
 * subjects take turns; and the first one's multiple of the floor's in its round, with an empty pass
 * taken off both.  Subjects have no data in common: who comes after another would find it.
 * @own: with the empty pass, a load of one line and the floor as rows.
 */
void bench_cold_tables(const struct bench_cold *subjects, size_t count, bool own);

/*
 * ---- Calls between two stores to a marker (lines.c) ----
 *
 * Calls between two stores to a marker, for scripts/lines.py to find in what valgrind's
 * lackey prints: every access to memory.
 *
 * Standard output says where the marker is, then each row after its stores.
 */

typedef volatile uint32_t lines_word;

/* Runs @passes calls, each between two stores to @marker. */
typedef void lines_calls(lines_word *marker, unsigned passes);

/*
 * Such a function: @setup, then calls of the rest.  A pass begins on a line of instructions, and a
 * simple call with its arguments ends on it, wherever it is linked to.
 */
#define LINES_CALLS(name, setup, ...)                                                              \
	static __attribute__((noinline)) void name(lines_word *marker, unsigned passes)            \
	{                                                                                          \
		setup;                                                                             \
                                                                                                   \
		for (unsigned i = 0; i < passes; i++) {                                            \
			__asm__ volatile(".p2align 6");                                            \
			*marker = i;                                                               \
			__VA_ARGS__;                                                               \
			*marker = i;                                                               \
		}                                                                                  \
	}

/* First of all: what stores to the marker can be told from others. */
void lines_begin(void);
/* Warms up, then lets @calls be counted. */
void lines_row(const char *name, lines_calls *calls);

#endif
