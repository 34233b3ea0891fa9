/* SPDX-License-Identifier: MIT */
/*
 * logged.c - a stream with log under one writer: at a steady rate and as fast as it can go, into a
 * file in memory, with the log policy APPEND.  What is lost, and whether the counts say so exactly.
 */
#define _GNU_SOURCE
#include <trace.h>
#include <trace_np.h>

#include "frame/frame.h"

#include <math.h>
#include <pthread.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#define STREAM_BYTES (16ul * 1024 * 1024)
#define TMPFS        0x01021994
#define ROUNDS_MAX   10

struct run {
	uint64_t events; /* as the writer counted */
	double rate;     /* millions a second, while the writer ran */
	uint64_t lost;   /* as the library counted */
	double missing;  /* events that its counts do not explain */
	double bytes;    /* of the log, an event that is in it */
};

struct writer {
	double ms; /* to write for; then how long it was */
	double pace;
	uint64_t events;
};

static trace_event_id_t sample;

static void say_file(int file)
{
	struct statfs system;

	if (fstatfs(file, &system) == 0)
		bench_remark("log file: on %s",
		    system.f_type == TMPFS ? "tmpfs" : "a file system that is no tmpfs");
}

static trace_id_t open_log(int file)
{
	trace_attr_t attr;
	trace_id_t trid;

	bench_ok("attributes", posix_trace_attr_init(&attr));
	bench_ok("policy", posix_trace_attr_setstreamfullpolicy(&attr, POSIX_TRACE_FLUSH));
	bench_ok("log policy", posix_trace_attr_setlogfullpolicy(&attr, POSIX_TRACE_APPEND));
	bench_ok("data size", posix_trace_attr_setmaxdatasize(&attr, 16));
	bench_ok("stream size", posix_trace_attr_setstreamsize(&attr, STREAM_BYTES));
	bench_ok("create", posix_trace_create_withlog(0, &attr, file, &trid));
	bench_ok("start", posix_trace_start(trid));
	return trid;
}

/* @pace: ticks between events; 0: as fast as it goes.  A writer that was held up catches up. */
static uint64_t trace_for(double ms, double pace)
{
	double rate = bench_counter_per_ns();
	uint64_t begin = bench_counter();
	uint64_t end = begin + (uint64_t)(ms * 1e6 * rate);
	uint64_t events = 0;

	for (;;) {
		uint64_t now = bench_counter();

		if ((int64_t)(now - end) >= 0)
			return events;
		if (pace > 0 && (double)(now - begin) < (double)events * pace)
			continue;
		posix_trace_event(sample, &events, 4);
		events++;
	}
}

/* The writer is a thread of its own: the flusher would be bound to the CPU of its creator. */
static void *write_on(void *argument)
{
	struct writer *writer = argument;
	uint64_t begin;
	double rate = bench_counter_per_ns();

	bench_pin(0);
	begin = bench_counter();
	writer->events = trace_for(writer->ms, writer->pace);
	writer->ms = (double)(bench_counter() - begin) / rate / 1e6;
	return NULL;
}

static struct run run_once(double ms, double per_second)
{
	double rate = bench_counter_per_ns();
	int file = bench_memory_file();
	trace_id_t trid = open_log(file);
	struct posix_trace_counts_np before;
	struct posix_trace_counts_np after;
	struct stat state = { 0 };
	struct run run;
	struct writer writer = { .ms = ms, .pace = per_second > 0 ? 1e9 * rate / per_second : 0 };
	pthread_t thread;

	bench_ok("counts", posix_trace_getcounts_np(trid, &before, sizeof(before)));
	bench_ok("thread", pthread_create(&thread, NULL, write_on, &writer));
	bench_ok("thread", pthread_join(thread, NULL));
	run.events = writer.events;
	run.rate = (double)run.events / writer.ms / 1e3;
	bench_ok("flush", posix_trace_flush(trid));
	bench_ok("counts", posix_trace_getcounts_np(trid, &after, sizeof(after)));
	run.lost = after.posix_lost_np;
	/* The count equation, and that its numbers are those of the writer. */
	run.missing =
	    fabs((double)(after.posix_written_np - before.posix_written_np) - (double)run.events) +
	    fabs((double)after.posix_written_np -
	         (double)(after.posix_retrieved_np + after.posix_lost_np + after.posix_cleared_np +
	                  after.posix_held_np));
	bench_ok("shutdown", posix_trace_shutdown(trid));
	(void)fstat(file, &state);
	run.bytes = (double)state.st_size / (double)(run.events - run.lost);
	(void)close(file);
	return run;
}

/*
 * The least lost of some runs, up to one without loss: what else the machine did is no property of
 * the log.
 */
static struct run measure(const char *row, const char *column, double ms, double per_second)
{
	unsigned rounds = (unsigned)bench_pick(ROUNDS_MAX, 5, 1);
	struct run best = run_once(ms, per_second);
	double missing = best.missing;
	double most = (double)best.lost;

	for (unsigned i = 1; i < rounds && best.lost; i++) {
		struct run run = run_once(ms, per_second);

		missing += run.missing;
		most = fmax(most, (double)run.lost);
		if (run.lost < best.lost || (run.lost == best.lost && run.rate > best.rate))
			best = run;
	}
	best.missing = missing;
	bench_value(row, column, "M events/s", best.rate);
	bench_value(row, column, "events", (double)best.events);
	bench_value(row, column, "lost", (double)best.lost);
	bench_value(row, column, "lost in the worst run", most);
	bench_value(row, column, "not accounted for", missing);
	bench_value(row, column, "bytes of log an event", best.bytes);
	return best;
}

int main(int argc, char **argv)
{
	double ms;
	struct run paced;
	struct run full;
	int file;

	bench_begin(argc, argv, "logged", NULL);
	ms = (double)bench_pick(1000, 300, 5);
	bench_ok("event", posix_trace_eventid_open("sample", &sample));
	bench_say_facts();
	file = bench_memory_file();
	say_file(file);
	(void)close(file);
	bench_remark("log: APPEND, stream %lu MiB, one writer for %.0f ms, best of %lu runs",
	    STREAM_BYTES >> 20, ms, bench_pick(ROUNDS_MAX, 5, 1));
	bench_table("one writer", "One writer into a log");
	paced = measure("event to a log", "4 B at 12 M/s", ms, 12e6);
	full = measure("event to a log", "4 B full speed", ms, 0);
	bench_table("targets", "Targets");
	/* A writer that was kept from its CPU did not write at that rate. */
	bench_target("log: lost at 12 M events/s", "events",
	    paced.rate < 11.5 ? (double)NAN : (double)paced.lost, BENCH_AT_MOST, 0);
	bench_target("log: not accounted for at full speed", "events", full.missing + paced.missing,
	    BENCH_AT_MOST, 0);
	bench_target("bytes of log per 4 B event", "bytes", paced.bytes, BENCH_AT_MOST, 32);
	return 0;
}
