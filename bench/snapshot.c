/* SPDX-License-Identifier: MIT */
/*
 * snapshot.c - how long a snapshot takes by what the stream holds, and what a trace point pays
 * while snapshots are taken beside it.
 *
 *	snapshot [--quick | --smoke] [--csv]
 */
#define _GNU_SOURCE
#include <trace.h>
#include <trace_np.h>

#include "frame/frame.h"
#include "frame/out.h"
#include "frame/realtime.h"
#include "frame/stamp.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <unistd.h>

#define MIB       (1024ul * 1024)
#define RUNS_MAX  15
#define PACE_NS   5000
#define CALLS_MAX 100000
#define EVERY_NS  2000000 /* between two snapshots beside the writer */

static trace_id_t trid;
static trace_event_id_t type;
static int file;
static atomic_bool saver_stop;
static double calls[CALLS_MAX];

static void open_stream(size_t bytes)
{
	trace_attr_t attr;

	file = bench_memory_file();
	bench_ok("attributes", posix_trace_attr_init(&attr));
	bench_ok("policy", posix_trace_attr_setstreamfullpolicy(&attr, POSIX_TRACE_LOOP));
	bench_ok("size", posix_trace_attr_setstreamsize(&attr, bytes));
	bench_ok("data size", posix_trace_attr_setmaxdatasize(&attr, 16));
	bench_ok("lanes", posix_trace_attr_setlanes_np(&attr, 1));
	bench_ok("create", posix_trace_create(0, &attr, &trid));
	bench_ok("start", posix_trace_start(trid));
	/* Twice as much as it holds, 32 bytes an event. */
	for (uint32_t i = 0; i < bytes / 16u; i++)
		posix_trace_event(type, &i, sizeof(i));
}

static void close_stream(void)
{
	bench_ok("shutdown", posix_trace_shutdown(trid));
	(void)close(file);
}

/* ---- The snapshot ---- */

static void say_snapshot(unsigned mib, unsigned runs)
{
	double ns[RUNS_MAX];
	double median;
	char row[32];

	open_stream(mib * MIB);
	bench_ok("snapshot", posix_trace_snapshot_np(trid, file));
	for (unsigned i = 0; i < runs; i++) {
		uint64_t begin = bench_ns();

		bench_ok("snapshot", posix_trace_snapshot_np(trid, file));
		ns[i] = (double)(bench_ns() - begin);
	}
	median = bench_median(ns, runs);
	close_stream();
	(void)snprintf(row, sizeof(row), "%u MiB", mib);
	bench_value(row, "median", "us", median * 1e-3);
	bench_value(row, "longest", "us", ns[runs - 1] * 1e-3);
	bench_value(row, "per MiB", "us", median * 1e-3 / mib);
}

/* ---- The writer beside it ---- */

static void *save_on(void *argument)
{
	(void)argument;
	bench_pin(1);
	while (!atomic_load(&saver_stop)) {
		bench_ok("snapshot", posix_trace_snapshot_np(trid, file));
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

static void say_beside(const char *row, bool saving, size_t count)
{
	struct bench_moment from;
	struct bench_moment to;
	pthread_t saver;
	double ns;

	open_stream(MIB);
	atomic_store(&saver_stop, false);
	if (saving)
		bench_ok("thread", pthread_create(&saver, NULL, save_on, NULL));
	from = bench_moment();
	paced_calls(count);
	to = bench_moment();
	atomic_store(&saver_stop, true);
	if (saving)
		(void)pthread_join(saver, NULL);
	close_stream();
	ns = 1e9 / bench_rate(&from, &to);
	bench_value(row, "median", "ns", bench_median(calls, count) * ns);
	bench_value(row, "p99", "ns", calls[count - 1 - count / 100] * ns);
	bench_value(row, "p99.9", "ns", calls[count - 1 - count / 1000] * ns);
	bench_value(row, "maximum", "ns", calls[count - 1] * ns);
}

int main(int argc, char **argv)
{
	static const unsigned mib[] = { 1, 4, 16 };
	size_t count;

	bench_begin(argc, argv, "snapshot", NULL);
	count = bench_pick(CALLS_MAX, 20000, 1000);
	bench_ok("event", posix_trace_eventid_open("event", &type));
	bench_say_facts();
	bench_table("snapshots",
	    "posix_trace_snapshot_np() by the size of the stream, one lane, into "
	    "a file in memory");
	for (size_t i = 0; i < (size_t)bench_pick(3, 3, 1); i++)
		say_snapshot(mib[i], (unsigned)bench_pick(RUNS_MAX, 5, 1));
	bench_table(
	    "a trace call beside snapshots", "A trace call beside snapshots of 1 MiB, every 2 ms");
	say_beside("no snapshot", false, count);
	say_beside("snapshots", true, count);
	return 0;
}
