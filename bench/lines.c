/* SPDX-License-Identifier: MIT */
/*
 * lines.c - trace points of each kind, for scripts/lines.py to count the cache lines and pages of one.
 * It is built twice: with the static and with the shared library.
 */
#define _GNU_SOURCE
#include <trace.h>
#include <trace_np.h>

#include "frame/frame.h"

#define STREAM_BYTES (1024ul * 1024)
#define STREAMS      2u

struct row {
	const char *name;
	unsigned streams;
	unsigned lanes; /* 0: as many as the library chooses */
	lines_calls *calls;
};

static trace_event_id_t wanted, unwanted;

static trace_id_t start(unsigned lanes)
{
	trace_event_set_t set;
	trace_attr_t attr;
	trace_id_t stream;

	bench_ok("attributes", posix_trace_attr_init(&attr));
	bench_ok("policy", posix_trace_attr_setstreamfullpolicy(&attr, POSIX_TRACE_LOOP));
	bench_ok("size", posix_trace_attr_setstreamsize(&attr, STREAM_BYTES));
	bench_ok("lanes", posix_trace_attr_setlanes_np(&attr, lanes));
	bench_ok("create", posix_trace_create(0, &attr, &stream));
	bench_ok("set", posix_trace_eventset_empty(&set));
	bench_ok("set", posix_trace_eventset_add(unwanted, &set));
	bench_ok("filter", posix_trace_set_filter(stream, &set, POSIX_TRACE_SET_EVENTSET));
	bench_ok("start", posix_trace_start(stream));
	return stream;
}

/* What is told is on the stack, as most callers have it. */
#define TOLD(type, words)                                                                          \
	trace_event_id_t id = (type);                                                              \
	uint32_t told[words] = { passes }

LINES_CALLS(event_4, TOLD(wanted, 1), posix_trace_event(id, told, sizeof(told)))
LINES_CALLS(event_32, TOLD(wanted, 8), posix_trace_event(id, told, sizeof(told)))
LINES_CALLS(not_wanted, TOLD(unwanted, 1), posix_trace_event(id, told, sizeof(told)))
LINES_CALLS(inline_test, TOLD(unwanted, 1),
    if (__builtin_expect(posix_trace_wanted_np(id), 0)) posix_trace_event(id, told, sizeof(told)))

static const struct row rows[] = {
	{ "no stream, 4 bytes", 0, 0, event_4 },
	{ "filtered out, call", 1, 0, not_wanted },
	{ "filtered out, inline test", 1, 0, inline_test },
	{ "wanted, 4 bytes", 1, 0, event_4 },
	{ "wanted, 4 bytes, one lane", 1, 1, event_4 },
	{ "wanted, 32 bytes", 1, 0, event_32 },
	{ "two streams, 4 bytes", 2, 0, event_4 },
};

static void run(const struct row *row)
{
	trace_id_t streams[STREAMS];

	for (unsigned i = 0; i < row->streams; i++)
		streams[i] = start(row->lanes);
	lines_row(row->name, row->calls);
	for (unsigned i = 0; i < row->streams; i++)
		bench_ok("shutdown", posix_trace_shutdown(streams[i]));
}

/* A slow clock goes the slow path of a trace point. */
static void say_facts(void)
{
	struct posix_trace_clock_np clock;
	trace_id_t trid = start(1);

	bench_ok("clock", posix_trace_getclock_np(trid, &clock, sizeof(clock)));
	bench_ok("shutdown", posix_trace_shutdown(trid));
	bench_say_counted(clock.posix_source_np == POSIX_TRACE_CLOCK_TSC_NP);
}

int main(void)
{
	lines_begin();
	bench_ok("event", posix_trace_eventid_open("wanted", &wanted));
	bench_ok("event", posix_trace_eventid_open("unwanted", &unwanted));
	say_facts();
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		run(&rows[i]);
	return 0;
}
