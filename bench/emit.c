/* SPDX-License-Identifier: MIT */
/*
 * emit.c - what a trace point costs, beside what the machine asks for the least that a trace point
 * can do: read the counter, reserve with one locked add, store 16 bytes (the floor).  Everything
 * in one run, because figures of different runs on a shared machine do not compare.
 *
 *	emit [--csv]
 */
#define _GNU_SOURCE
#include <trace.h>
#include <trace_np.h>

#include "frame/frame.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define STREAM_BYTES (1024ul * 1024)
#define FLOOR_SLOTS  (STREAM_BYTES / 16)
#define BYTES_MAX    256

enum reader {
	NO_READER,
	BESIDE
};

struct row {
	const char *name;
	bench_loop *loop;
	unsigned threads;
	unsigned bytes;
	enum reader reader;
	double goal; /* times the floor; negative: nanoseconds; 0: none was set */
};

struct floor_ring {
	atomic_ulong head;
	char apart[120];
	unsigned char slots[FLOOR_SLOTS][16] __attribute__((aligned(16)));
};

static struct floor_ring rings[BENCH_THREADS_MAX];
static trace_id_t trid;
static trace_event_id_t wanted, unwanted;
static unsigned char payload[BYTES_MAX];
static atomic_bool reader_stop;
static atomic_ulong reader_read;
static double floor_ns;
static bool as_csv;

static void must(const char *what, int error)
{
	if (error != 0) {
		(void)fprintf(stderr, "emit: %s: %s\n", what, strerror(error));
		exit(1);
	}
}

/* ---- The machine ---- */

#if defined(__x86_64__)
static inline unsigned long counter(void)
{
	unsigned low;
	unsigned high;

	__asm__ volatile("rdtsc" : "=a"(low), "=d"(high));
	return (unsigned long)high << 32 | low;
}
#else
static inline unsigned long counter(void)
{
	struct timespec now;

	(void)clock_gettime(CLOCK_MONOTONIC, &now);
	return (unsigned long)now.tv_sec * 1000000000ul + (unsigned long)now.tv_nsec;
}
#endif

static void counter_loop(unsigned thread, unsigned long count)
{
	(void)thread;
	for (unsigned long i = 0; i < count; i++)
		(void)counter();
}

static void floor_loop(unsigned thread, unsigned long count)
{
	struct floor_ring *ring = &rings[thread];

	for (unsigned long i = 0; i < count; i++) {
		unsigned long at = atomic_fetch_add_explicit(&ring->head, 1, memory_order_relaxed);
		unsigned long slot[2] = { at, counter() };

		memcpy(__builtin_assume_aligned(ring->slots[at % FLOOR_SLOTS], 16), slot, 16);
		atomic_signal_fence(memory_order_seq_cst);
	}
}

/* ---- Trace points ---- */

static void event_4(unsigned thread, unsigned long count)
{
	(void)thread;
	for (unsigned long i = 0; i < count; i++)
		posix_trace_event(wanted, payload, 4);
}

static void event_32(unsigned thread, unsigned long count)
{
	(void)thread;
	for (unsigned long i = 0; i < count; i++)
		posix_trace_event(wanted, payload, 32);
}

static void event_256(unsigned thread, unsigned long count)
{
	(void)thread;
	for (unsigned long i = 0; i < count; i++)
		posix_trace_event(wanted, payload, 256);
}

static void unwanted_call(unsigned thread, unsigned long count)
{
	(void)thread;
	for (unsigned long i = 0; i < count; i++)
		posix_trace_event(unwanted, payload, 4);
}

/*
 * The identifier in a register, as in a loop of the program's own, and several tests in a row, as
 * in straight code: the test alone is measured, not where the linker happens to put a short loop.
 */
#define TESTS 8
#define TEST(id)                                                                                   \
	do {                                                                                       \
		if (__builtin_expect(posix_trace_wanted_np(id), 0))                                \
			posix_trace_event(id, payload, 4);                                         \
		__asm__ volatile("" : : : "memory");                                               \
	} while (0)

static void unwanted_inline(unsigned thread, unsigned long count)
{
	const trace_event_id_t id = unwanted;

	(void)thread;
	for (unsigned long i = 0; i < count; i++) {
		TEST(id);
		TEST(id);
		TEST(id);
		TEST(id);
		TEST(id);
		TEST(id);
		TEST(id);
		TEST(id);
	}
}

/* ---- A reader on the other CPU ---- */

static void *read_on(void *argument)
{
	struct posix_trace_event_info info;
	unsigned char data[BYTES_MAX];
	struct timespec short_while = { 0, 20000 };
	size_t length;
	int nothing;

	(void)argument;
	bench_pin(1);
	while (!atomic_load_explicit(&reader_stop, memory_order_relaxed)) {
		if (posix_trace_trygetnext_event(
		        trid, &info, data, sizeof(data), &length, &nothing) != 0)
			break;
		if (nothing)
			(void)nanosleep(&short_while, NULL);
		else
			(void)atomic_fetch_add_explicit(&reader_read, 1, memory_order_relaxed);
	}
	return NULL;
}

/* A part of half a millisecond or so: shorter than what other work leaves alone. */
static unsigned long passes(const struct row *row)
{
	return row->bytes > 64 ? 5000 : row->bytes > 4 ? 15000 : 50000;
}

static struct bench_row a_test_of(struct bench_row passes)
{
	passes.ns /= TESTS;
	passes.low /= TESTS;
	passes.high /= TESTS;
	return passes;
}

static struct bench_row measure(const struct row *row)
{
	struct bench_row result;
	pthread_t reader;

	if (row->reader == NO_READER) {
		result = bench_run(row->loop, row->threads, passes(row), BENCH_WALL);
		return row->loop == unwanted_inline ? a_test_of(result) : result;
	}
	atomic_store(&reader_stop, false);
	must("reader", pthread_create(&reader, NULL, read_on, NULL));
	result = bench_run(row->loop, row->threads, passes(row),
	    row->threads < bench_cpus() ? BENCH_WALL : BENCH_CPU);
	atomic_store(&reader_stop, true);
	must("reader", pthread_join(reader, NULL));
	return result;
}

/* ---- Streams ---- */

#if _PXT_UNIT_FILTER
static void filter_out(trace_id_t stream, trace_event_id_t type)
{
	trace_event_set_t set;

	must("set", posix_trace_eventset_empty(&set));
	must("set", posix_trace_eventset_add(type, &set));
	must("filter", posix_trace_set_filter(stream, &set, POSIX_TRACE_SET_EVENTSET));
}
#else
static void filter_out(trace_id_t stream, trace_event_id_t type)
{
	(void)stream;
	(void)type;
}
#endif

static trace_id_t open_stream(void)
{
	trace_attr_t attr;
	trace_id_t stream;

	must("attributes", posix_trace_attr_init(&attr));
	must("policy", posix_trace_attr_setstreamfullpolicy(&attr, POSIX_TRACE_LOOP));
	must("size", posix_trace_attr_setstreamsize(&attr, STREAM_BYTES));
	must("data size", posix_trace_attr_setmaxdatasize(&attr, BYTES_MAX));
	must("create", posix_trace_create(0, &attr, &stream));
	filter_out(stream, unwanted);
	must("start", posix_trace_start(stream));
	return stream;
}

/* ---- Output ---- */

static void say_facts(void)
{
	char model[128];
	char kernel[128];
	char libc[64];
	struct posix_trace_clock_np clock;
	trace_attr_t attr;
	unsigned lanes = 0;

	bench_cpu_model(model, sizeof(model));
	bench_kernel(kernel, sizeof(kernel));
	bench_libc(libc, sizeof(libc));
	must("clock", posix_trace_getclock_np(trid, &clock));
	must("attributes", posix_trace_get_attr(trid, &attr));
	must("lanes", posix_trace_attr_getlanes_np(&attr, &lanes));
	(void)printf("# %s\n# %s, %s, compiler %s\n", model, kernel, libc, __VERSION__);
	(void)printf("# stamps: %s at %llu Hz (within %u ppm); stream: LOOP, %lu KiB, lanes: %u\n",
	    clock.posix_source_np == POSIX_TRACE_CLOCK_TSC_NP ? "the processor's counter"
	                                                      : "clock_gettime",
	    (unsigned long long)clock.posix_hz_np, clock.posix_error_ppm_np, STREAM_BYTES / 1024,
	    lanes);
	(void)printf("# median of %d batches of %d parts, empty loop taken off\n", BENCH_BATCHES,
	    BENCH_PARTS);
	if (bench_cpus() <= BENCH_THREADS_MAX)
		(void)printf("# no CPU is left for a reader beside %d threads: those rows count "
		             "processor time\n",
		    BENCH_THREADS_MAX);
	if (as_csv)
		(void)printf("case,threads,bytes,reader,ns,ratio,low,high,batches,parts,goal_ns\n");
	else
		(void)printf("\n%-34s %7s %5s %8s %7s %15s %6s  %s\n", "", "threads", "bytes", "ns",
		    "ratio", "(low - high)", "parts", "goal");
}

static void say_csv(const struct row *row, const struct bench_row *got, double goal)
{
	(void)printf("%s,%u,%u,%s,%.3f,%.3f,%.3f,%.3f,%u,%u,%.3f\n", row->name, row->threads,
	    row->bytes, row->reader == BESIDE ? "yes" : "no", got->ns,
	    floor_ns > 0 ? got->ns / floor_ns : 0, got->low, got->high, got->batches, got->parts,
	    goal);
}

static void say_table(const struct row *row, const struct bench_row *got, double goal)
{
	char range[32];

	(void)printf("%-34s %7u %5u ", row->name, row->threads, row->bytes);
	if (got->batches == 0) {
		(void)printf("       -  (the machine was busy: no undisturbed part)\n");
		return;
	}
	(void)snprintf(range, sizeof(range), "(%.2f - %.2f)", got->low, got->high);
	(void)printf("%8.2f %7.2f %15s %6u", got->ns, floor_ns > 0 ? got->ns / floor_ns : 0, range,
	    got->parts);
	if (goal > 0)
		(void)printf("  %.1f ns: %s", goal, got->ns <= goal ? "reached" : "missed");
	(void)printf("\n");
}

static struct bench_row do_row(const struct row *row)
{
	struct bench_row got = measure(row);
	double goal = row->goal < 0 ? -row->goal : row->goal * floor_ns;

	if (row->loop == floor_loop && row->threads == 1)
		floor_ns = got.ns;
	if (as_csv)
		say_csv(row, &got, goal);
	else
		say_table(row, &got, goal);
	(void)fflush(stdout);
	return got;
}

/* ---- The rows ---- */

static const struct row machine_rows[] = {
	{ "counter alone", counter_loop, 1, 0, NO_READER, 0 },
	{ "floor: counter, locked add, 16 B", floor_loop, 1, 0, NO_READER, 0 },
	{ "floor, a ring per thread", floor_loop, 2, 0, NO_READER, 0 },
};

static const struct row traced_rows[] = {
	{ "event", event_4, 1, 4, NO_READER, 1.5 },
	{ "event", event_32, 1, 32, NO_READER, 0 },
	{ "event", event_256, 1, 256, NO_READER, 0 },
	{ "event, reader beside", event_4, 1, 4, BESIDE, 0 },
	{ "event, reader beside", event_32, 1, 32, BESIDE, 0 },
	{ "event, reader beside", event_256, 1, 256, BESIDE, 0 },
	{ "event", event_4, 2, 4, NO_READER, 3.0 },
	{ "event", event_32, 2, 32, NO_READER, 0 },
	{ "event", event_256, 2, 256, NO_READER, 0 },
	{ "event, reader beside", event_4, 2, 4, BESIDE, 0 },
	{ "event, reader beside", event_32, 2, 32, BESIDE, 0 },
	{ "event, reader beside", event_256, 2, 256, BESIDE, 0 },
};

static const struct row filtered_rows[] = {
	{ "filtered out, call", unwanted_call, 1, 4, NO_READER, -3.0 },
	{ "filtered out, inline test", unwanted_inline, 1, 4, NO_READER, -0.3 },
};

static const struct row second_rows[] = {
	{ "event into two streams", event_4, 1, 4, NO_READER, 0 },
};

static const struct row silent_rows[] = {
	{ "no stream, call", unwanted_call, 1, 4, NO_READER, -3.0 },
	{ "no stream, inline test", unwanted_inline, 1, 4, NO_READER, -0.3 },
};

#define DO_ROWS(rows, threads)                                                                     \
	do {                                                                                       \
		for (size_t i = 0; i < sizeof(rows) / sizeof((rows)[0]); i++) {                    \
			if ((rows)[i].threads <= (threads))                                        \
				(void)do_row(&(rows)[i]);                                          \
		}                                                                                  \
	} while (0)

int main(int argc, char **argv)
{
	unsigned threads;
	trace_id_t second;

	as_csv = argc > 1 && strcmp(argv[1], "--csv") == 0;
	if (argc > 1 && !as_csv) {
		(void)fputs("usage: emit [--csv]\n", stderr);
		return 2;
	}
	must("event", posix_trace_eventid_open("wanted", &wanted));
	must("event", posix_trace_eventid_open("unwanted", &unwanted));
	memset(rings, 1, sizeof(rings));
	threads = bench_start();
	trid = open_stream();
	say_facts();
	DO_ROWS(machine_rows, threads);
	DO_ROWS(traced_rows, threads);
	if (_PXT_UNIT_FILTER)
		DO_ROWS(filtered_rows, threads);
	second = open_stream();
	DO_ROWS(second_rows, threads);
	must("shutdown", posix_trace_shutdown(second));
	must("shutdown", posix_trace_shutdown(trid));
	DO_ROWS(silent_rows, threads);
	(void)printf("# the readers beside read %lu events\n", atomic_load(&reader_read));
	return 0;
}
