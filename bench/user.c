/* SPDX-License-Identifier: MIT */
/*
 * user.c - test 2: what tracing and retrieving a user event costs two periodic threads.
 *
 * One thread traces two events in each period, the other retrieves two, half a period later: the
 * stream is never full and never empty, and neither disturbs the other.  Two calls in a row show
 * what the caches do.  Both threads share a CPU, as they did where this test comes from.
 *
 *	user [--quick | --smoke] [--csv] --raw FILE        values, in ticks, go to FILE
 */
#define _GNU_SOURCE
#include <trace.h>
#include <trace_np.h>

#include "frame/frame.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <time.h>

#define CALLS            2
#define TRACING_PRIORITY 51
#define READING_PRIORITY 50
#define FIRST_RELEASE_NS 5000000u
#define NO_STREAM_PERIOD 1000000u
#define LATE_STEP_NS     100000

struct plan {
	size_t releases;
	uint64_t period;
	uint64_t start;
};

/* Two series for each measured thing: first and second call of a release. */
enum series {
	TRACE,
	RETRIEVE = TRACE + CALLS,
	EMPTY = RETRIEVE + CALLS,
	NO_STREAM = EMPTY + CALLS,
	NOT_WANTED = NO_STREAM + CALLS,
	SERIES = NOT_WANTED + CALLS
};

static const char *const names[SERIES] = { "trace_1", "trace_2", "retrieve_1", "retrieve_2",
	"empty_1", "empty_2", "nostream_1", "nostream_2", "notwanted_1", "notwanted_2" };

static struct bench_series series[SERIES];
static struct plan plan;
static trace_id_t trid;
static trace_event_id_t wanted, unwanted;
static atomic_size_t traced;
static size_t late;
static size_t wrong;

static void trace_one(int into, trace_event_id_t id, int value)
{
	uint64_t begin = bench_before();

	posix_trace_event(id, &value, sizeof(value));
	bench_series_add(&series[into], begin, bench_after());
}

static void measure_nothing(int into)
{
	uint64_t begin = bench_before();

	bench_series_add(&series[into], begin, bench_after());
}

/* ---- The type that nobody wants ---- */

#if _PXT_UNIT_FILTER
#define SERIES_BUILT SERIES

static void filter_out(void)
{
	trace_event_set_t set;

	bench_ok("set", posix_trace_eventset_empty(&set));
	bench_ok("set", posix_trace_eventset_add(unwanted, &set));
	bench_ok("filter", posix_trace_set_filter(trid, &set, POSIX_TRACE_SET_EVENTSET));
}

static void trace_unwanted(void)
{
	for (int call = 0; call < CALLS; call++)
		trace_one(NOT_WANTED + call, unwanted, call);
}
#else
/* Without Event Filter a running stream wants every type. */
#define SERIES_BUILT NOT_WANTED

static void filter_out(void)
{
}

static void trace_unwanted(void)
{
}
#endif

/* ---- The two threads ---- */

static void *tracing(void *argument)
{
	(void)argument;
	bench_become_realtime(0, TRACING_PRIORITY);
	(void)posix_trace_thread_register_np();
	for (size_t release = 0; release < plan.releases; release++) {
		bench_sleep_until(plan.start + release * plan.period);
		for (int call = 0; call < CALLS; call++)
			trace_one(TRACE + call, wanted, (int)release * CALLS + call);
		atomic_store(&traced, (release + 1) * CALLS);
		for (int call = 0; call < CALLS; call++)
			measure_nothing(EMPTY + call);
		trace_unwanted();
	}
	return NULL;
}

/* The value after what the last call returned. */
static void retrieve_one(int into, int expected)
{
	struct posix_trace_event_info info;
	int value = -1;
	size_t length = 0;
	int nothing = 0;
	uint64_t begin = bench_before();
	int error =
	    posix_trace_getnext_event(trid, &info, &value, sizeof(value), &length, &nothing);

	bench_series_add(&series[into], begin, bench_after());
	bench_ok("getnext", error);
	if (nothing || info.posix_event_id != wanted || value != expected)
		wrong++;
}

static void *retrieving(void *argument)
{
	const struct timespec step = { 0, LATE_STEP_NS };

	(void)argument;
	bench_become_realtime(0, READING_PRIORITY);
	for (size_t release = 0; release < plan.releases; release++) {
		bench_sleep_until(plan.start + release * plan.period + plan.period / 2);
		/* Measured is a retrieval, not the wait for somebody who was kept from the CPU. */
		if (atomic_load(&traced) < (release + 1) * CALLS)
			late++;
		while (atomic_load(&traced) < (release + 1) * CALLS)
			(void)nanosleep(&step, NULL);
		for (int call = 0; call < CALLS; call++)
			retrieve_one(RETRIEVE + call, (int)release * CALLS + call);
	}
	return NULL;
}

/* ---- The rows without a stream ---- */

static void *without_stream(void *argument)
{
	uint64_t period = plan.period < NO_STREAM_PERIOD ? plan.period : NO_STREAM_PERIOD;
	uint64_t start = bench_ns() + FIRST_RELEASE_NS;

	(void)argument;
	bench_become_realtime(0, TRACING_PRIORITY);
	for (size_t release = 0; release < plan.releases; release++) {
		bench_sleep_until(start + release * period);
		for (int call = 0; call < CALLS; call++)
			trace_one(NO_STREAM + call, wanted, call);
	}
	return NULL;
}

/* ---- The stream ---- */

/* START, and in a complete configuration whatever else reports on the stream itself. */
static void drain(void)
{
	struct posix_trace_event_info info;
	unsigned char data[256];
	size_t length;
	int nothing = 0;

	while (!nothing)
		bench_ok("trygetnext", posix_trace_trygetnext_event(
		                           trid, &info, data, sizeof(data), &length, &nothing));
}

static void run_threads(void *(*one)(void *), void *(*other)(void *))
{
	pthread_t threads[2];

	bench_ok("thread", pthread_create(&threads[0], NULL, one, NULL));
	if (other)
		bench_ok("thread", pthread_create(&threads[1], NULL, other, NULL));
	(void)pthread_join(threads[0], NULL);
	if (other)
		(void)pthread_join(threads[1], NULL);
}

static uint64_t run_stream(void)
{
	struct posix_trace_counts_np counts;

	bench_ok("create", posix_trace_create(0, NULL, &trid));
	filter_out();
	bench_ok("start", posix_trace_start(trid));
	drain();
	plan.start = bench_ns() + FIRST_RELEASE_NS;
	run_threads(tracing, retrieving);
	bench_ok("counts", posix_trace_getcounts_np(trid, &counts, sizeof(counts)));
	bench_ok("shutdown", posix_trace_shutdown(trid));
	return counts.posix_lost_np + counts.posix_held_np;
}

int main(int argc, char **argv)
{
	const char *file = bench_raw_begin(argc, argv, "user");
	struct bench_moment from;
	struct bench_moment to;
	char facts[256];
	uint64_t missing;

	plan.releases = bench_pick(10000, 1000, 20);
	plan.period = bench_pick(10000000, 1000000, 1000000);
	for (int i = 0; i < SERIES_BUILT; i++)
		bench_series_init(&series[i], names[i], plan.releases);
	bench_lock_memory();
	bench_ok("event", posix_trace_eventid_open("wanted", &wanted));
	bench_ok("event", posix_trace_eventid_open("unwanted", &unwanted));
	from = bench_moment();
	run_threads(without_stream, NULL);
	missing = run_stream();
	to = bench_moment();
	(void)snprintf(facts, sizeof(facts),
	    "# releases: %zu\n# period_ns: %llu\n# missing: %llu\n# wrong: %zu\n# late: %zu\n",
	    plan.releases, (unsigned long long)plan.period, (unsigned long long)missing, wrong,
	    late);
	bench_raw_write(file,
	    &(struct bench_raw){
	        "user", BENCH_PROFILE, series, SERIES_BUILT, bench_rate(&from, &to) },
	    facts);
	return 0;
}
