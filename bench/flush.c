/* SPDX-License-Identifier: MIT */
/*
 * flush.c - test 4, the log: how long a flush takes by what the stream holds, and what a trace
 * point pays while a flush is going on beside it.  A build with bursts
 * (CONFIG_PTRACE_FLUSH_BURST_BYTES) shows their pauses.
 *
 *	flush [--quick | --smoke] [--csv]
 */
#define _GNU_SOURCE
#include <trace.h>
#include <trace_np.h>

#include "beside.h"
#include "frame/frame.h"

#include <stdio.h>
#include <unistd.h>

#define STREAM_BYTES (1024ul * 1024)
#define EVENT_BYTES  32 /* of the stream, an event with 4 bytes of data */
#define RUNS_MAX     15

static trace_id_t trid;
static trace_event_id_t type;
static int file;

static void open_stream(void)
{
	trace_attr_t attr;

	file = bench_memory_file();
	bench_ok("attributes", posix_trace_attr_init(&attr));
	bench_ok("policy", posix_trace_attr_setstreamfullpolicy(&attr, POSIX_TRACE_LOOP));
	bench_ok("size", posix_trace_attr_setstreamsize(&attr, STREAM_BYTES));
	bench_ok("data size", posix_trace_attr_setmaxdatasize(&attr, 16));
	bench_ok("lanes", posix_trace_attr_setlanes_np(&attr, 1));
	bench_ok("log policy", posix_trace_attr_setlogfullpolicy(&attr, POSIX_TRACE_APPEND));
	bench_ok("create", posix_trace_create_withlog(0, &attr, file, &trid));
	bench_ok("start", posix_trace_start(trid));
}

static void close_stream(void)
{
	bench_ok("shutdown", posix_trace_shutdown(trid));
	(void)close(file);
}

/* ---- The flush ---- */

static double flush_once(unsigned events)
{
	uint64_t begin;

	for (unsigned i = 0; i < events; i++)
		posix_trace_event(type, &i, sizeof(i));
	begin = bench_ns();
	bench_ok("flush", posix_trace_flush(trid));
	return (double)(bench_ns() - begin);
}

static void say_flush(unsigned kib, unsigned runs)
{
	unsigned events = kib * 1024 / EVENT_BYTES;
	double ns[RUNS_MAX];
	double median;
	char row[32];

	open_stream();
	(void)flush_once(events);
	for (unsigned i = 0; i < runs; i++)
		ns[i] = flush_once(events);
	median = bench_median(ns, runs);
	close_stream();
	(void)snprintf(row, sizeof(row), "%u KiB (%u events)", kib, events);
	bench_value(row, "median", "us", median * 1e-3);
	bench_value(row, "longest", "us", ns[runs - 1] * 1e-3);
	bench_value(row, "rate", "M events/s", (double)events * 1e3 / median);
}

/* ---- The writer beside it ---- */

static void flush(void)
{
	bench_ok("flush", posix_trace_flush(trid));
}

static void say_flushing(const char *row, void (*other)(void), size_t count)
{
	open_stream();
	say_beside(row, type, count, other);
	close_stream();
}

int main(int argc, char **argv)
{
	static const unsigned kib[] = { 16, 64, 256, 960 };
	size_t count;

	bench_begin(argc, argv, "flush", NULL);
	count = bench_pick(BESIDE_CALLS_MAX, 20000, 1000);
	bench_ok("event", posix_trace_eventid_open("event", &type));
	bench_say_facts();
	bench_table(BENCH_BURSTS, "posix_trace_flush() by what the stream holds: " BENCH_BURSTS);
	for (size_t i = 0; i < sizeof(kib) / sizeof(kib[0]); i++)
		say_flush(kib[i], (unsigned)bench_pick(RUNS_MAX, 5, 1));
	bench_table("a trace call beside flushes", "A trace call beside flushes");
	say_flushing("no flush" BENCH_BURSTS_SUFFIX, NULL, count);
	say_flushing("flushes" BENCH_BURSTS_SUFFIX, flush, count);
	return 0;
}
