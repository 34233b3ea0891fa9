/* SPDX-License-Identifier: MIT */
/*
 * latency.c - how long a single trace call takes, up to the worst one seen: a thread under
 * SCHED_FIFO with its memory locked, alone and while the other CPU traces into the same stream as
 * fast as it can; beside an empty measurement under the same conditions.
 *
 *	latency --raw FILE [--csv] [--quick | --smoke]
 *
 * "Alone" and "beside": stamps between fences (frame/machine.c), so that the whole of a call is in
 * its value.  "One at a time": two plain readings of the counter around the call, as the figures of
 * other tracers are taken; what the processor does after the second reading is not in them.
 */
#define _GNU_SOURCE
#include <trace.h>
#include <trace_np.h>

#include "frame/frame.h"

#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define STREAM_BYTES (1024ul * 1024)
#define PRIORITY     10
#define TURN         500 /* calls before another test's turn */
#define WARM         50

enum what {
	NOTHING,
	FLOOR,
	EVENT
};

/* What is measured on one stream, in turns: a disturbance of the machine meets all of it. */
struct group {
	unsigned lanes; /* 0: as many as the library chooses */
	int ordered;
	bool beside;
	bool plain;
	unsigned first; /* of its series */
	unsigned count;
};

struct test {
	const char *name; /* of its column in the raw file */
	enum what what;
};

enum {
	EMPTY_ALONE,
	FLOOR_ALONE,
	EVENT_ALONE,
	EMPTY_BESIDE,
	EVENT_BESIDE,
	EMPTY_PLAIN,
	FLOOR_PLAIN,
	EVENT_PLAIN,
	ORDERED_ALONE,
	ORDERED_BESIDE,
	LANE_ALONE,
	LANE_BESIDE,
	TESTS
};

static const struct test tests[TESTS] = {
	[EMPTY_ALONE] = { "empty alone", NOTHING },
	[FLOOR_ALONE] = { "floor alone", FLOOR },
	[EVENT_ALONE] = { "event alone", EVENT },
	[EMPTY_BESIDE] = { "empty beside a tracing CPU", NOTHING },
	[EVENT_BESIDE] = { "event beside a tracing CPU", EVENT },
	[EMPTY_PLAIN] = { "empty one at a time", NOTHING },
	[FLOOR_PLAIN] = { "floor one at a time", FLOOR },
	[EVENT_PLAIN] = { "event one at a time", EVENT },
	[ORDERED_ALONE] = { "ordered event alone", EVENT },
	[ORDERED_BESIDE] = { "ordered event beside a tracing CPU", EVENT },
	[LANE_ALONE] = { "event in one lane alone", EVENT },
	[LANE_BESIDE] = { "event in one lane beside a tracing CPU", EVENT },
};

static const struct group groups[] = {
	{ .first = EMPTY_ALONE, .count = 3 },
	{ .first = EMPTY_BESIDE, .count = 2, .beside = true },
	{ .first = EMPTY_PLAIN, .count = 3, .plain = true },
	{ .first = ORDERED_ALONE, .count = 1, .ordered = 1 },
	{ .first = ORDERED_BESIDE, .count = 1, .ordered = 1, .beside = true },
	{ .first = LANE_ALONE, .count = 1, .lanes = 1 },
	{ .first = LANE_BESIDE, .count = 1, .lanes = 1, .beside = true },
};

static struct bench_series series[TESTS];
static trace_id_t trid;
static trace_event_id_t sample;
static atomic_bool running, stop;

/* ---- One test ---- */

static inline __attribute__((always_inline)) void do_it(enum what what, uint32_t value)
{
	if (what == EVENT)
		posix_trace_event(sample, &value, sizeof(value));
	else if (what == FLOOR)
		bench_floor_once(0);
	else
		__asm__ volatile("" : : : "memory");
}

/* Kept in a few lines of cache until a turn is over: the measuring should not miss. */
static uint64_t values[TURN];

static inline __attribute__((always_inline)) void fenced(enum what what)
{
	for (uint32_t i = 0; i < TURN; i++) {
		uint64_t begin = bench_before();

		do_it(what, i);
		values[i] = bench_after() - begin;
	}
}

static inline __attribute__((always_inline)) void plain(enum what what)
{
	for (uint32_t i = 0; i < TURN; i++) {
		uint64_t begin = bench_counter();

		do_it(what, i);
		values[i] = bench_counter() - begin;
	}
}

/* A loop of its own for each: nothing is decided between the stamps. */
static void turn(struct bench_series *to, enum what what, bool plainly)
{
	memset(values, 0, sizeof(values));
	for (uint32_t i = 0; i < WARM; i++)
		do_it(what, i);
	if (plainly && what == EVENT)
		plain(EVENT);
	else if (plainly && what == FLOOR)
		plain(FLOOR);
	else if (plainly)
		plain(NOTHING);
	else if (what == EVENT)
		fenced(EVENT);
	else if (what == FLOOR)
		fenced(FLOOR);
	else
		fenced(NOTHING);
	for (uint32_t i = 0; i < TURN; i++)
		bench_series_add(to, 0, values[i]);
}

static void *measure(void *argument)
{
	const struct group *group = argument;
	const struct bench_series *last = &series[group->first + group->count - 1];

	bench_become_realtime(0, PRIORITY);
	while (last->count < last->room) {
		for (unsigned i = group->first; i < group->first + group->count; i++)
			turn(&series[i], tests[i].what, group->plain);
	}
	return NULL;
}

static void *keep_tracing(void *argument)
{
	uint32_t value = 0;

	(void)argument;
	bench_become_realtime(1, PRIORITY);
	atomic_store(&running, true);
	while (!atomic_load_explicit(&stop, memory_order_relaxed))
		posix_trace_event(sample, &value, sizeof(value));
	return NULL;
}

static void open_stream(const struct group *group)
{
	trace_attr_t attr;

	bench_ok("attributes", posix_trace_attr_init(&attr));
	bench_ok("policy", posix_trace_attr_setstreamfullpolicy(&attr, POSIX_TRACE_LOOP));
	bench_ok("size", posix_trace_attr_setstreamsize(&attr, STREAM_BYTES));
	bench_ok("lanes", posix_trace_attr_setlanes_np(&attr, group->lanes));
	bench_ok("stamps", posix_trace_attr_setorderedstamps_np(&attr, group->ordered));
	bench_ok("create", posix_trace_create(0, &attr, &trid));
	bench_ok("start", posix_trace_start(trid));
}

static void run_group(const struct group *group)
{
	struct group mine = *group;
	pthread_t measuring;
	pthread_t other;

	if (group->beside && bench_cpus() < 2)
		return;
	open_stream(group);
	atomic_store(&running, false);
	atomic_store(&stop, false);
	if (group->beside) {
		bench_ok("thread", pthread_create(&other, NULL, keep_tracing, NULL));
		while (!atomic_load(&running))
			bench_sleep_until(bench_ns() + 100000);
	}
	bench_ok("thread", pthread_create(&measuring, NULL, measure, &mine));
	bench_ok("thread", pthread_join(measuring, NULL));
	atomic_store(&stop, true);
	if (group->beside)
		bench_ok("thread", pthread_join(other, NULL));
	bench_ok("shutdown", posix_trace_shutdown(trid));
}

/* ---- What came out ---- */

struct summary {
	double p50, p99, p999, p9999, worst;
};

static int by_size(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a;
	uint64_t y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

/* @sorted: room for all values. */
static struct summary summary_of(const struct bench_series *of, uint64_t *sorted, double hz)
{
	static const unsigned of_10000[] = { 5000, 9900, 9990, 9999, 10000 };
	double ns[sizeof(of_10000) / sizeof(of_10000[0])];

	memcpy(sorted, of->ticks, of->count * sizeof(*sorted));
	qsort(sorted, of->count, sizeof(*sorted), by_size);
	for (size_t i = 0; i < sizeof(ns) / sizeof(ns[0]); i++) {
		size_t rank = (of->count * of_10000[i] + 9999) / 10000;

		ns[i] = (double)sorted[rank ? rank - 1 : 0] * 1e9 / hz;
	}
	return (struct summary){ ns[0], ns[1], ns[2], ns[3], ns[4] };
}

/* In CSV the statistics of the raw file say it. */
static void say(const char *name, const struct summary *got)
{
	bench_value(name, "p50", "ns", got->p50);
	bench_value(name, "p99", "ns", got->p99);
	bench_value(name, "p99.9", "ns", got->p999);
	bench_value(name, "p99.99", "ns", got->p9999);
	bench_value(name, "worst", "ns", got->worst);
}

/* Beyond what the empty measurement's own p99.99 is, in medians of the call. */
static double beyond(const struct summary *event, const struct summary *empty)
{
	return (event->p9999 - empty->p9999) / event->p50;
}

static void targets(const struct summary *got)
{
	bench_table("targets", "Targets");
	bench_target("one event at a time: p99.9", "ns", got[EVENT_PLAIN].p999, BENCH_AT_MOST, 60);
	bench_target(
	    "one event at a time: p99.99", "ns", got[EVENT_PLAIN].p9999, BENCH_AT_MOST, 200);
	bench_target("p99.99 of a call alone beyond the empty one's", "medians",
	    beyond(&got[EVENT_ALONE], &got[EMPTY_ALONE]), BENCH_AT_MOST, 10);
	bench_target("p99.99 of a call beside a tracing CPU beyond the empty one's", "medians",
	    bench_cpus() > 1 ? beyond(&got[EVENT_BESIDE], &got[EMPTY_BESIDE]) : (double)NAN,
	    BENCH_AT_MOST, 10);
}

int main(int argc, char **argv)
{
	const char *file = bench_raw_begin(argc, argv, "latency");
	size_t room = bench_pick(500000, 100000, 1000);
	uint64_t *sorted = calloc(room, sizeof(*sorted));
	struct summary got[TESTS];
	struct bench_moment from;
	struct bench_moment to;

	if (!sorted)
		return 1;
	for (size_t i = 0; i < TESTS; i++)
		bench_series_init(&series[i], tests[i].name, room);
	bench_lock_memory();
	bench_ok("event", posix_trace_eventid_open("sample", &sample));
	bench_say_facts();
	from = bench_moment();
	for (size_t i = 0; i < sizeof(groups) / sizeof(groups[0]); i++)
		run_group(&groups[i]);
	to = bench_moment();
	bench_realtime_facts(stdout);
	bench_table("calls", "Single calls");
	for (size_t i = 0; i < TESTS; i++) {
		if (series[i].count) {
			got[i] = summary_of(&series[i], sorted, bench_rate(&from, &to));
			if (!bench_csv())
				say(tests[i].name, &got[i]);
		} else {
			bench_missing(tests[i].name, "p50", "there is no other CPU");
		}
	}
	targets(got);
	bench_raw_write(file,
	    &(struct bench_raw){ "latency", BENCH_PROFILE, series, TESTS, bench_rate(&from, &to) },
	    NULL);
	free(sorted);
	return 0;
}
