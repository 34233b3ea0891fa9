/* SPDX-License-Identifier: MIT */
/*
 * cold.c - one trace call whose data and code are in no cache, as that of a job which wakes up after
 * others had the processor, and the call after it; beside the floor's, driven out in the same way.
 * contrib/rivals/run has the same of other tracers.
 *
 *	cold [--quick | --smoke] [--csv]
 */
#define _GNU_SOURCE
#include <trace.h>
#include <trace_np.h>

#include "frame/frame.h"

#define STREAM_BYTES (1024ul * 1024)

static trace_event_id_t sample;

static void event_4(unsigned thread, unsigned long count)
{
	uint32_t value = thread;

	for (unsigned long i = 0; i < count; i++)
		posix_trace_event(sample, &value, sizeof(value));
}

static const struct bench_cold subject = { "libptrace", event_4 };

static trace_id_t open_stream(void)
{
	trace_attr_t attr;
	trace_id_t trid;

	bench_ok("attributes", posix_trace_attr_init(&attr));
	bench_ok("policy", posix_trace_attr_setstreamfullpolicy(&attr, POSIX_TRACE_LOOP));
	bench_ok("size", posix_trace_attr_setstreamsize(&attr, STREAM_BYTES));
	bench_ok("create", posix_trace_create(0, &attr, &trid));
	bench_ok("start", posix_trace_start(trid));
	return trid;
}

int main(int argc, char **argv)
{
	trace_id_t trid;

	bench_begin(argc, argv, "cold", NULL);
	bench_ok("event", posix_trace_eventid_open("sample", &sample));
	bench_say_facts();
	trid = open_stream();
	bench_cold_tables(&subject, 1, true);
	bench_ok("shutdown", posix_trace_shutdown(trid));
	return 0;
}
