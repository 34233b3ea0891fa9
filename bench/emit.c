/* SPDX-License-Identifier: MIT */
/*
 * emit.c - what a trace point costs, beside what the machine asks for the least that a trace point
 * can do (the floor, frame/machine.c).  Everything in one run, because figures of different runs on
 * a shared machine do not compare.
 */
#define _GNU_SOURCE
#include <trace.h>
#include <trace_np.h>

#include "frame/frame.h"

#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include <time.h>

#define STREAM_BYTES (1024ul * 1024)
#define BYTES_MAX    256

enum reader {
	NO_READER,
	BESIDE
};

struct row {
	const char *name;
	const char *column;
	bench_loop *loop;
	unsigned threads;
	unsigned long
	    passes; /* in a part: half a millisecond or so, less than others leave alone */
	enum reader reader;
	double *result; /* where the target's judge looks for it */
};

static trace_id_t trid;
static trace_event_id_t wanted, unwanted;
static unsigned char payload[BYTES_MAX];
static atomic_bool reader_stop;
static atomic_ulong reader_read;

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

/* ---- One event a microsecond ---- */

static void once_nothing(unsigned thread)
{
	(void)thread;
}

static void once_event(unsigned thread)
{
	(void)thread;
	posix_trace_event(wanted, payload, 4);
}

/*
 * From the last look at the counter before the event to one that waits for everything in it, so
 * that a cache line which has to come over is not hidden by the waiting for the next microsecond.
 */
static inline __attribute__((always_inline)) void paced(
    unsigned thread, unsigned long count, void (*once)(unsigned))
{
	double rate = bench_counter_per_ns();
	uint64_t next = bench_counter();
	uint64_t sum = 0;

	for (unsigned long i = 0; i < count; i++) {
		uint64_t begin;

		next += (uint64_t)(1000 * rate);
		do
			begin = bench_counter();
		while ((int64_t)(begin - next) < 0);
		once(thread);
		sum += bench_counter_fenced() - begin;
	}
	bench_own_time((double)sum / rate / (double)count);
}

static void paced_nothing(unsigned thread, unsigned long count)
{
	paced(thread, count, once_nothing);
}

static void paced_floor(unsigned thread, unsigned long count)
{
	paced(thread, count, bench_floor_once);
}

static void paced_event(unsigned thread, unsigned long count)
{
	paced(thread, count, once_event);
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

static struct bench_row a_test_of(struct bench_row passes)
{
	passes.ns /= TESTS;
	passes.low /= TESTS;
	passes.high /= TESTS;
	return passes;
}

static struct bench_row measure(const struct row *row)
{
	unsigned long passes = bench_pick(row->passes, row->passes, row->passes / 50 + TESTS);
	struct bench_row result;
	pthread_t reader;

	if (row->reader == NO_READER) {
		result = bench_run(row->loop, row->threads, passes, BENCH_WALL);
		return row->loop == unwanted_inline ? a_test_of(result) : result;
	}
	atomic_store(&reader_stop, false);
	bench_ok("reader", pthread_create(&reader, NULL, read_on, NULL));
	result = bench_run(row->loop, row->threads, passes,
	    row->threads < bench_cpus() ? BENCH_BESIDE : BENCH_CPU);
	atomic_store(&reader_stop, true);
	bench_ok("reader", pthread_join(reader, NULL));
	return result;
}

/* ---- Streams ---- */

#if _PXT_UNIT_FILTER
static void filter_out(trace_id_t stream, trace_event_id_t type)
{
	trace_event_set_t set;

	bench_ok("set", posix_trace_eventset_empty(&set));
	bench_ok("set", posix_trace_eventset_add(type, &set));
	bench_ok("filter", posix_trace_set_filter(stream, &set, POSIX_TRACE_SET_EVENTSET));
}
#else
static void filter_out(trace_id_t stream, trace_event_id_t type)
{
	(void)stream;
	(void)type;
}
#endif

/* @lanes 0: as many as the library chooses. */
static trace_id_t open_stream(unsigned lanes, int ordered)
{
	trace_attr_t attr;
	trace_id_t stream;

	bench_ok("attributes", posix_trace_attr_init(&attr));
	bench_ok("policy", posix_trace_attr_setstreamfullpolicy(&attr, POSIX_TRACE_LOOP));
	bench_ok("size", posix_trace_attr_setstreamsize(&attr, STREAM_BYTES));
	bench_ok("data size", posix_trace_attr_setmaxdatasize(&attr, BYTES_MAX));
	bench_ok("lanes", posix_trace_attr_setlanes_np(&attr, lanes));
	bench_ok("stamps", posix_trace_attr_setorderedstamps_np(&attr, ordered));
	bench_ok("create", posix_trace_create(0, &attr, &stream));
	filter_out(stream, unwanted);
	bench_ok("start", posix_trace_start(stream));
	return stream;
}

static void say_stream(void)
{
	struct posix_trace_clock_np clock;
	trace_attr_t attr;
	unsigned lanes = 0;

	bench_ok("clock", posix_trace_getclock_np(trid, &clock, sizeof(clock)));
	bench_ok("attributes", posix_trace_get_attr(trid, &attr));
	bench_ok("lanes", posix_trace_attr_getlanes_np(&attr, &lanes));
	bench_remark("stamps: %s at %llu Hz (within %u ppm), which advances by %u ticks",
	    clock.posix_source_np == POSIX_TRACE_CLOCK_TSC_NP ? "the processor's counter"
	                                                      : "clock_gettime",
	    (unsigned long long)clock.posix_hz_np, clock.posix_error_ppm_np,
	    (unsigned)bench_step().ticks);
	bench_remark("stream: LOOP, %lu KiB, lanes: %u", STREAM_BYTES / 1024, lanes);
	bench_remark("method: medians of batches, the empty loop taken off, without the parts in "
	             "which a thread did not hold its CPU or shared its core");
	if (bench_cpus() <= 2)
		bench_remark("readers: no CPU is left for one beside 2 threads, those rows count "
		             "processor time");
}

/* ---- The rows ---- */

static struct results {
	double round_trip;
	double one_4, one_32, one_256, two_4, ordered;
	double nothing_1, floor_1, paced_2;
	double reader, second;
	double filtered_call, filtered_inline, silent_call, silent_inline;
} result;

static const struct row machine_rows[] = {
	{ "counter alone", "1 thread", bench_counter_loop, 1, 50000, NO_READER, NULL },
	{ "clock_gettime", "1 thread", bench_clock_loop, 1, 20000, NO_READER, NULL },
	{ "floor: counter + locked add + slot", "32 B 1 thread", bench_floor_32, 1, 50000,
	    NO_READER, NULL },
	{ "floor: counter + locked add + slot", "256 B 1 thread", bench_floor_256, 1, 50000,
	    NO_READER, NULL },
	{ "floor: counter + locked add + slot", "4 B 2 threads", bench_floor_4, 2, 50000, NO_READER,
	    NULL },
	{ "floor: counter + locked add + slot", "32 B 2 threads", bench_floor_32, 2, 50000,
	    NO_READER, NULL },
	{ "floor: counter + locked add + slot", "256 B 2 threads", bench_floor_256, 2, 50000,
	    NO_READER, NULL },
	{ "cache line there and back", "2 threads", bench_round_trip, 2, 2000, NO_READER,
	    &result.round_trip },
	{ "paced: nothing", "1 thread", paced_nothing, 1, 500, NO_READER, &result.nothing_1 },
	{ "paced: nothing", "2 threads", paced_nothing, 2, 500, NO_READER, NULL },
	{ "paced: floor", "1 thread", paced_floor, 1, 500, NO_READER, &result.floor_1 },
	{ "paced: floor", "2 threads", paced_floor, 2, 500, NO_READER, NULL },
};

static const struct row event_rows[] = {
	{ "event", "4 B 1 thread", event_4, 1, 50000, NO_READER, &result.one_4 },
	{ "event", "32 B 1 thread", event_32, 1, 20000, NO_READER, &result.one_32 },
	{ "event", "256 B 1 thread", event_256, 1, 10000, NO_READER, &result.one_256 },
	{ "event", "4 B 2 threads", event_4, 2, 50000, NO_READER, &result.two_4 },
	{ "event", "32 B 2 threads", event_32, 2, 20000, NO_READER, NULL },
	{ "event", "256 B 2 threads", event_256, 2, 10000, NO_READER, NULL },
	{ "paced: event", "4 B 1 thread", paced_event, 1, 500, NO_READER, NULL },
	{ "paced: event", "4 B 2 threads", paced_event, 2, 500, NO_READER, &result.paced_2 },
	{ "event with a reader beside", "4 B 1 thread", event_4, 1, 50000, BESIDE, &result.reader },
	{ "event with a reader beside", "32 B 1 thread", event_32, 1, 20000, BESIDE, NULL },
	{ "event with a reader beside", "256 B 1 thread", event_256, 1, 10000, BESIDE, NULL },
	{ "event with a reader beside", "4 B 2 threads", event_4, 2, 50000, BESIDE, NULL },
	{ "event with a reader beside", "32 B 2 threads", event_32, 2, 20000, BESIDE, NULL },
	{ "event with a reader beside", "256 B 2 threads", event_256, 2, 10000, BESIDE, NULL },
};

static const struct row filtered_rows[] = {
	{ "filtered out", "call", unwanted_call, 1, 50000, NO_READER, &result.filtered_call },
	{ "filtered out", "inline test", unwanted_inline, 1, 50000, NO_READER,
	    &result.filtered_inline },
};

static const struct row second_rows[] = {
	{ "event into two streams", "4 B 1 thread", event_4, 1, 20000, NO_READER, &result.second },
};

static const struct row one_lane_rows[] = {
	{ "event into a stream of one lane", "4 B 1 thread", event_4, 1, 50000, NO_READER, NULL },
	{ "event into a stream of one lane", "4 B 2 threads", event_4, 2, 10000, NO_READER, NULL },
};

static const struct row ordered_rows[] = {
	{ "event with ordered stamps", "4 B 1 thread", event_4, 1, 20000, NO_READER, NULL },
	{ "event with ordered stamps", "4 B 2 threads", event_4, 2, 20000, NO_READER,
	    &result.ordered },
};

static const struct row silent_rows[] = {
	{ "no stream", "call", unwanted_call, 1, 50000, NO_READER, &result.silent_call },
	{ "no stream", "inline test", unwanted_inline, 1, 50000, NO_READER, &result.silent_inline },
};

static void do_rows(const struct row *rows, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		const struct row *row = &rows[i];
		struct bench_row got;

		if (row->threads > bench_cpus()) {
			bench_missing(row->name, row->column, "this machine has fewer CPUs");
			continue;
		}
		got = measure(row);
		bench_cost(row->name, row->column, &got);
		if (row->result && got.batches)
			*row->result = got.ns;
	}
}

#define DO_ROWS(rows) do_rows(rows, sizeof(rows) / sizeof((rows)[0]))

/* ---- Targets ---- */

/* What lies between the empty measurement and the event, in the floor's (which shares nothing). */
static double paced_ratio(double event, double floor, double nothing)
{
	return (event - nothing) / (floor - nothing);
}

static void targets(void)
{
	const struct results *r = &result;
	double floor = bench_floor();

	bench_table("targets", "Targets");
	bench_target("4 B event one thread", "x floor", r->one_4 / floor, BENCH_AT_MOST, 1.15);
	bench_target("32 B event one thread", "x floor", r->one_32 / floor, BENCH_AT_MOST, 1.3);
	bench_target("256 B event one thread", "x floor", r->one_256 / floor, BENCH_AT_MOST, 2.5);
	bench_target("two threads tight loop", "x floor", r->two_4 / floor, BENCH_AT_MOST, 1.2);
	bench_target("two threads one event a microsecond each", "x floor",
	    paced_ratio(r->paced_2, r->floor_1, r->nothing_1), BENCH_AT_MOST, 1.2);
	bench_target("two threads ordered stamps", "x floor", r->ordered / floor, BENCH_AT_MOST, 3);
	bench_target("a second running stream adds", "x one stream",
	    (r->second - r->one_4) / r->one_4, BENCH_AT_MOST, 0.4);
	bench_target("one writer with a reader beside", "x the writer alone", r->reader / r->one_4,
	    BENCH_AT_MOST, 2);
	bench_target("unwanted: inline test", "ns", fmax(r->filtered_inline, r->silent_inline),
	    BENCH_AT_MOST, 0.3);
	bench_target("unwanted: call without a stream", "ns", r->silent_call, BENCH_AT_MOST, 3);
	bench_target("unwanted: call filtered out", "ns", r->filtered_call, BENCH_AT_MOST, 4);
}

int main(int argc, char **argv)
{
	double *all = (double *)&result;
	trace_id_t second;

	for (size_t i = 0; i < sizeof(result) / sizeof(double); i++)
		all[i] = NAN;
	bench_begin(argc, argv, "emit", NULL);
	bench_ok("event", posix_trace_eventid_open("wanted", &wanted));
	bench_ok("event", posix_trace_eventid_open("unwanted", &unwanted));
	trid = open_stream(0, 0);
	bench_say_facts();
	say_stream();
	bench_table("machine", "The machine");
	bench_measure_floor();
	DO_ROWS(machine_rows);
	bench_table("cost", "A trace point");
	DO_ROWS(event_rows);
	if (_PXT_UNIT_FILTER)
		DO_ROWS(filtered_rows);
	if (_PXT_MAX_STREAMS > 1) {
		second = open_stream(0, 0);
		DO_ROWS(second_rows);
		bench_ok("shutdown", posix_trace_shutdown(second));
	}
	bench_ok("shutdown", posix_trace_shutdown(trid));
	trid = open_stream(1, 0);
	DO_ROWS(one_lane_rows);
	bench_ok("shutdown", posix_trace_shutdown(trid));
	trid = open_stream(0, 1);
	DO_ROWS(ordered_rows);
	bench_ok("shutdown", posix_trace_shutdown(trid));
	DO_ROWS(silent_rows);
	targets();
	bench_remark("readers beside: read %lu events", atomic_load(&reader_read));
	return 0;
}
