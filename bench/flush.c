/* SPDX-License-Identifier: MIT */
/*
 * flush.c - test 4, the log, and snapshots: how long a flush takes, and a snapshot, by what the stream holds; and
 * what a trace point pays while they are going on beside it.  A build with bursts
 * (CONFIG_PTRACE_FLUSH_BURST_BYTES) shows their pauses, of flushes alone.
 *
 *	flush [--quick | --smoke] [--csv]
 */
#define _GNU_SOURCE
#include <trace.h>
#include <trace_np.h>

#include "frame/frame.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <unistd.h>

#define KIB         1024u
#define MIB         (1024ul * KIB)
#define EVENT_BYTES 32 /* of the stream, an event with 4 bytes of data */
#define RUNS_MAX    15

/* One on the first CPU each 5 us; every 2 ms a flush or snapshot on the second. */
#define CALLS_MAX 100000
#define PACE_NS   5000
#define EVERY_NS  2000000

static trace_id_t trid;
static trace_event_id_t type;
static int file;

static void open_stream(size_t bytes, bool with_log)
{
	trace_attr_t attr;

	file = bench_memory_file();
	bench_ok("attributes", posix_trace_attr_init(&attr));
	bench_ok("policy", posix_trace_attr_setstreamfullpolicy(&attr, POSIX_TRACE_LOOP));
	bench_ok("size", posix_trace_attr_setstreamsize(&attr, bytes));
	bench_ok("data size", posix_trace_attr_setmaxdatasize(&attr, 16));
	bench_ok("lanes", posix_trace_attr_setlanes_np(&attr, 1));
	bench_ok("log policy", posix_trace_attr_setlogfullpolicy(&attr, POSIX_TRACE_APPEND));
	bench_ok("create", with_log ? posix_trace_create_withlog(0, &attr, file, &trid)
	                            : posix_trace_create(0, &attr, &trid));
	bench_ok("start", posix_trace_start(trid));
}

static void close_stream(void)
{
	bench_ok("shutdown", posix_trace_shutdown(trid));
	(void)close(file);
}

static void record(size_t events)
{
	for (uint32_t i = 0; i < events; i++)
		posix_trace_event(type, &i, sizeof(i));
}

static void flush(void)
{
	bench_ok("flush", posix_trace_flush(trid));
}

static void save(void)
{
	bench_ok("snapshot", posix_trace_snapshot_np(trid, file));
}

/* ---- How long they take ---- */

/* The median in ns of @runs calls of @what, each of @events that are new; the first does not count. */
static double say_calls(const char *row, void (*what)(void), size_t events, unsigned runs)
{
	double ns[RUNS_MAX];
	double median;

	record(events);
	what();
	for (unsigned i = 0; i < runs; i++) {
		uint64_t begin;

		record(events);
		begin = bench_ns();
		what();
		ns[i] = (double)(bench_ns() - begin);
	}
	median = bench_median(ns, runs);
	bench_value(row, "median", "us", median * 1e-3);
	bench_value(row, "longest", "us", ns[runs - 1] * 1e-3);
	return median;
}

static void say_flush(unsigned kib, unsigned runs)
{
	const unsigned events = kib * KIB / EVENT_BYTES;
	char row[32];

	(void)snprintf(row, sizeof(row), "%u KiB (%u events)", kib, events);
	open_stream(MIB, true);
	bench_value(
	    row, "rate", "M events/s", (double)events * 1e3 / say_calls(row, flush, events, runs));
	close_stream();
}

static void say_snapshot(unsigned mib, unsigned runs)
{
	char row[32];

	(void)snprintf(row, sizeof(row), "%u MiB", mib);
	open_stream(mib * MIB, false);
	/* Twice as much as it holds. */
	record(2 * mib * MIB / EVENT_BYTES);
	bench_value(row, "per MiB", "us", say_calls(row, save, 0, runs) * 1e-3 / mib);
	close_stream();
}

/* ---- The writer beside them ---- */

static atomic_bool other_stop;
static double calls[CALLS_MAX];

static void *call_on(void *other)
{
	bench_pin(1);
	while (!atomic_load(&other_stop)) {
		(*(void (**)(void))other)();
		bench_sleep_until(bench_ns() + EVERY_NS);
	}
	return NULL;
}

static void paced_calls(size_t count)
{
	uint64_t next = bench_ns();

	bench_pin(0);
	for (size_t i = 0; i < count; i++) {
		uint64_t begin;

		next += PACE_NS;
		while (bench_ns() < next)
			continue;
		begin = bench_before();
		posix_trace_event(type, &begin, 4);
		calls[i] = (double)(bench_after() - begin);
	}
}

static void say_beside(const char *row, void (*other)(void), bool with_log, size_t count)
{
	struct bench_moment from;
	struct bench_moment to;
	pthread_t thread;
	double ns;

	open_stream(MIB, with_log);
	if (!with_log)
		record(2 * MIB / EVENT_BYTES);
	atomic_store(&other_stop, false);
	if (other)
		bench_ok("thread", pthread_create(&thread, NULL, call_on, &other));
	from = bench_moment();
	paced_calls(count);
	to = bench_moment();
	atomic_store(&other_stop, true);
	if (other)
		(void)pthread_join(thread, NULL);
	close_stream();
	ns = 1e9 / bench_rate(&from, &to);
	bench_value(row, "median", "ns", bench_median(calls, count) * ns);
	bench_value(row, "p99", "ns", calls[count - 1 - count / 100] * ns);
	bench_value(row, "p99.9", "ns", calls[count - 1 - count / 1000] * ns);
	bench_value(row, "maximum", "ns", calls[count - 1] * ns);
}

int main(int argc, char **argv)
{
	static const unsigned kib[] = { 16, 64, 256, 960 };
	static const unsigned mib[] = { 1, 4, 16 };
	const bool bursts = sizeof(BENCH_BURSTS_SUFFIX) > 1;
	size_t count;
	unsigned runs;

	bench_begin(argc, argv, "flush", NULL);
	count = bench_pick(CALLS_MAX, 20000, 1000);
	runs = (unsigned)bench_pick(RUNS_MAX, 5, 1);
	bench_ok("event", posix_trace_eventid_open("event", &type));
	bench_say_facts();
	bench_table(BENCH_BURSTS, "posix_trace_flush() by what the stream holds: " BENCH_BURSTS);
	for (size_t i = 0; i < sizeof(kib) / sizeof(kib[0]); i++)
		say_flush(kib[i], runs);
	bench_table("a trace call beside flushes", "A trace call beside flushes");
	say_beside("no flush" BENCH_BURSTS_SUFFIX, NULL, true, count);
	say_beside("flushes" BENCH_BURSTS_SUFFIX, flush, true, count);
	if (bursts)
		return 0;
	bench_table("snapshots",
	    "posix_trace_snapshot_np() by the size of the stream, one lane, into "
	    "a file in memory");
	for (size_t i = 0; i < (size_t)bench_pick(3, 3, 1); i++)
		say_snapshot(mib[i], runs);
	bench_table(
	    "a trace call beside snapshots", "A trace call beside snapshots of 1 MiB, every 2 ms");
	say_beside("no snapshot", NULL, false, count);
	say_beside("snapshots", save, false, count);
	return 0;
}
