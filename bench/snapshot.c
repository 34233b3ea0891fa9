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

#include "beside.h"
#include "frame/frame.h"

#include <stdio.h>
#include <unistd.h>

#define MIB      (1024ul * 1024)
#define RUNS_MAX 15

static trace_id_t trid;
static trace_event_id_t type;
static int file;

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

static void save(void)
{
	bench_ok("snapshot", posix_trace_snapshot_np(trid, file));
}

static void say_saving(const char *row, void (*other)(void), size_t count)
{
	open_stream(MIB);
	say_beside(row, type, count, other);
	close_stream();
}

int main(int argc, char **argv)
{
	static const unsigned mib[] = { 1, 4, 16 };
	size_t count;

	bench_begin(argc, argv, "snapshot", NULL);
	count = bench_pick(BESIDE_CALLS_MAX, 20000, 1000);
	bench_ok("event", posix_trace_eventid_open("event", &type));
	bench_say_facts();
	bench_table("snapshots",
	    "posix_trace_snapshot_np() by the size of the stream, one lane, into "
	    "a file in memory");
	for (size_t i = 0; i < (size_t)bench_pick(3, 3, 1); i++)
		say_snapshot(mib[i], (unsigned)bench_pick(RUNS_MAX, 5, 1));
	bench_table(
	    "a trace call beside snapshots", "A trace call beside snapshots of 1 MiB, every 2 ms");
	say_saving("no snapshot", NULL, count);
	say_saving("snapshots", save, count);
	return 0;
}
