/* SPDX-License-Identifier: MIT */
/*
 * system.c - test 3: what a system event costs the system call that reports it.
 *
 * A periodic thread suspends itself by a clock_nanosleep() that records a system event of 48 bytes
 * when it is entered.  Then the same with other payloads and, where User Events is built, with user
 * events of the same payloads: kinds take turns, so that each call is the first after a sleep.
 *
 * The event enters through Core's own entry point for system events, which no public header declares.
 *
 *	system [--quick | --smoke] [--csv] --raw FILE        values, in ticks, go to FILE
 */
#define _GNU_SOURCE
#include <trace.h>
#include <trace_np.h>

#include "core/record/emit.h"
#include "frame/frame.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#define PRIORITY     50
#define PERIOD_NS    250000u
#define SYSTEM_TYPE  9u /* the first that the standard leaves to the implementation */
#define SEED_PAYLOAD 48u
#define PAYLOAD_MAX  256u
#define STREAM_BYTES (256u * 1024)
#define BEGIN_NS     5000000u

struct kind {
	const char *name;
	void (*record)(const void *data, size_t bytes);
	size_t bytes;
};

/* What the instrumented call tells of itself. */
struct sleep_event {
	int64_t clock;
	int64_t flags;
	int64_t sec;
	int64_t nsec;
	int64_t caller;
	int64_t reserved;
};
_Static_assert(sizeof(struct sleep_event) == SEED_PAYLOAD, "the payload of the first row");

static trace_event_id_t user_type;

static void record_system(const void *data, size_t bytes)
{
	pxt_emit_system(SYSTEM_TYPE, data, bytes);
}

#if _PXT_UNIT_USEREVENTS
static void record_user(const void *data, size_t bytes)
{
	posix_trace_event(user_type, data, bytes);
}

static void open_type(void)
{
	bench_ok("event", posix_trace_eventid_open("user", &user_type));
}

#define KINDS_OF(bytes)                                                                            \
	{ "system_" #bytes, record_system, bytes },                                                \
	{                                                                                          \
		"user_" #bytes, record_user, bytes                                                 \
	}
#else
#define KINDS_OF(bytes)                                                                            \
	{                                                                                          \
		"system_" #bytes, record_system, bytes                                             \
	}

static void open_type(void)
{
	(void)user_type;
}
#endif

/* In pairs of system and user event, where there are user events. */
static const struct kind kinds[] = { KINDS_OF(48), KINDS_OF(0), KINDS_OF(4), KINDS_OF(8),
	KINDS_OF(16), KINDS_OF(256) };
#define KINDS (sizeof(kinds) / sizeof(kinds[0]))

static struct bench_series series[KINDS + 1];
static size_t rounds;

/* clock_nanosleep() as its instrumentation would have it; only the recording is measured. */
static int traced_sleep(const struct kind *kind, struct bench_series *into, clockid_t clock,
    int flags, const struct timespec *request)
{
	union {
		struct sleep_event event;
		unsigned char bytes[PAYLOAD_MAX];
	} data;
	uint64_t begin;

	memset(&data, 0, sizeof(data));
	data.event = (struct sleep_event){ clock, flags, request->tv_sec, request->tv_nsec, 0, 0 };
	begin = bench_before();
	kind->record(&data, kind->bytes);
	bench_series_add(into, begin, bench_after());
	return clock_nanosleep(clock, flags, request, NULL);
}

static void *periodic(void *argument)
{
	uint64_t next = bench_ns() + BEGIN_NS;

	(void)argument;
	bench_become_realtime(0, PRIORITY);
	(void)posix_trace_thread_register_np();
	bench_sleep_until(next);
	for (size_t round = 0; round < rounds; round++) {
		for (size_t k = 0; k < KINDS; k++) {
			size_t which = k ^ (round & 1u);
			struct timespec at;
			uint64_t begin;

			next += PERIOD_NS;
			at.tv_sec = (time_t)(next / 1000000000u);
			at.tv_nsec = (long)(next % 1000000000u);
			(void)traced_sleep(
			    &kinds[which], &series[which], CLOCK_MONOTONIC, TIMER_ABSTIME, &at);
			if (k == 0) {
				begin = bench_before();
				bench_series_add(&series[KINDS], begin, bench_after());
			}
		}
	}
	return NULL;
}

static trace_id_t open_stream(void)
{
	trace_attr_t attr;
	trace_id_t trid;

	bench_ok("attributes", posix_trace_attr_init(&attr));
	bench_ok("policy", posix_trace_attr_setstreamfullpolicy(&attr, POSIX_TRACE_LOOP));
	bench_ok("size", posix_trace_attr_setstreamsize(&attr, STREAM_BYTES));
	bench_ok("data size", posix_trace_attr_setmaxdatasize(&attr, PAYLOAD_MAX));
	bench_ok("create", posix_trace_create(0, &attr, &trid));
	bench_ok("start", posix_trace_start(trid));
	return trid;
}

int main(int argc, char **argv)
{
	const char *file = bench_raw_begin(argc, argv, "system");
	struct posix_trace_counts_np counts;
	struct bench_moment from;
	struct bench_moment to;
	pthread_t thread;
	trace_id_t trid;
	char facts[256];

	rounds = bench_pick(20000, 1000, 20);
	for (size_t k = 0; k < KINDS; k++)
		bench_series_init(&series[k], kinds[k].name, rounds);
	bench_series_init(&series[KINDS], "empty", rounds);
	bench_lock_memory();
	open_type();
	trid = open_stream();
	from = bench_moment();
	bench_ok("thread", pthread_create(&thread, NULL, periodic, NULL));
	(void)pthread_join(thread, NULL);
	to = bench_moment();
	bench_ok("counts", posix_trace_getcounts_np(trid, &counts, sizeof(counts)));
	bench_ok("shutdown", posix_trace_shutdown(trid));
	(void)snprintf(facts, sizeof(facts),
	    "# releases: %zu\n# period_ns: %u\n# recorded: %llu\n# expected: %zu\n", rounds * KINDS,
	    PERIOD_NS, (unsigned long long)counts.posix_written_np, rounds * KINDS);
	bench_raw_write(file,
	    &(struct bench_raw){
	        "system", BENCH_PROFILE, series, KINDS + 1, bench_rate(&from, &to) },
	    facts);
	return 0;
}
