/* SPDX-License-Identifier: MIT */
/*
 * points.c - test 4, one thread: what a trace point costs that nobody listens to, and what each
 * byte of payload costs one that somebody does.
 *
 *	points [--quick | --smoke] [--csv]
 */
#define _GNU_SOURCE
#include <trace.h>
#include <trace_np.h>

#include "frame/frame.h"
#include "frame/out.h"

#include <stdio.h>

#define STREAM_BYTES (1024ul * 1024)
#define BYTES_MAX    256
#define TESTS        8 /* inline tests in a pass: the test counts, not where the loop lies */

static trace_id_t trid;
static trace_event_id_t wanted, unwanted;
static trace_event_id_t id; /* what the loops record */
static unsigned char payload[BYTES_MAX];
static volatile size_t bytes;

/* ---- Loops ---- */

static void calls(unsigned thread, unsigned long count)
{
	const trace_event_id_t type = id;
	const size_t length = bytes;

	(void)thread;
	for (unsigned long i = 0; i < count; i++)
		posix_trace_event(type, payload, length);
}

#define TEST(type)                                                                                 \
	do {                                                                                       \
		if (__builtin_expect(posix_trace_wanted_np(type), 0))                              \
			posix_trace_event(type, payload, 4);                                       \
		__asm__ volatile("" : : : "memory");                                               \
	} while (0)

static void tests(unsigned thread, unsigned long count)
{
	const trace_event_id_t type = id;

	(void)thread;
	for (unsigned long i = 0; i < count; i++) {
		TEST(type);
		TEST(type);
		TEST(type);
		TEST(type);
		TEST(type);
		TEST(type);
		TEST(type);
		TEST(type);
	}
}

/* ---- Rows ---- */

static void say(
    const char *row, const char *column, bench_loop *loop, unsigned long passes, double share)
{
	struct bench_row got = bench_run(loop, 1, bench_pick(passes, passes, 1000), BENCH_WALL);

	got.ns /= share;
	got.low /= share;
	got.high /= share;
	bench_cost(row, column, &got);
}

static void say_disabled(const char *row, trace_event_id_t type)
{
	id = type;
	bytes = 4;
	say(row, "call", calls, 50000, 1);
	say(row, "inline test", tests, 50000, TESTS);
}

static void say_payloads(void)
{
	static const size_t sizes[] = { 0, 4, 8, 16, 32, 48, 64, 96, 128, 192, 256 };

	id = wanted;
	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		char column[16];

		bytes = sizes[i];
		(void)snprintf(column, sizeof(column), "%zu B", sizes[i]);
		say("libptrace", column, calls, sizes[i] > 64 ? 5000 : 15000, 1);
	}
}

/* ---- The stream ---- */

static void open_stream(void)
{
	trace_attr_t attr;

	bench_ok("attributes", posix_trace_attr_init(&attr));
	bench_ok("policy", posix_trace_attr_setstreamfullpolicy(&attr, POSIX_TRACE_LOOP));
	bench_ok("size", posix_trace_attr_setstreamsize(&attr, STREAM_BYTES));
	bench_ok("data size", posix_trace_attr_setmaxdatasize(&attr, BYTES_MAX));
	bench_ok("create", posix_trace_create(0, &attr, &trid));
}

#if _PXT_UNIT_FILTER
static void say_filtered(void)
{
	trace_event_set_t set;

	bench_ok("set", posix_trace_eventset_empty(&set));
	bench_ok("set", posix_trace_eventset_add(unwanted, &set));
	bench_ok("filter", posix_trace_set_filter(trid, &set, POSIX_TRACE_SET_EVENTSET));
	say_disabled("filtered out in every stream", unwanted);
}
#else
static void say_filtered(void)
{
}
#endif

int main(int argc, char **argv)
{
	bench_begin(argc, argv, "points", NULL);
	bench_ok("event", posix_trace_eventid_open("wanted", &wanted));
	bench_ok("event", posix_trace_eventid_open("unwanted", &unwanted));
	bench_say_facts();
	bench_table("disabled", "A trace point that nobody listens to");
	say_disabled("no stream", wanted);
	open_stream();
	say_disabled("stream not started", wanted);
	bench_ok("start", posix_trace_start(trid));
	say_filtered();
	bench_table("payload", "An event by its payload");
	say_payloads();
	bench_table("disabled", "A trace point that nobody listens to any more");
	bench_ok("stop", posix_trace_stop(trid));
	say_disabled("stream stopped", wanted);
	bench_ok("shutdown", posix_trace_shutdown(trid));
	return 0;
}
