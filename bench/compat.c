/* SPDX-License-Identifier: MIT */
/*
 * compat.c - an event through each of the other systems' interfaces, beside the native call with as much
 * data, into one stream that overwrites.
 *
 *	compat [--quick | --smoke] [--csv]
 *
 * Both are measured in the same way: a row of calls between two stamps; then what they recorded is
 * taken out, where the interface refuses what is not.
 */
#define _GNU_SOURCE
#include <k_event_logger.h>
#include <qnx_trace_event.h>
#include <trace_np.h>
#include <tracer.h>

#include "frame/frame.h"

#define STREAM_BYTES (1024ul * 1024)
#define DATA_MAX     16
/* The stream below it, twice as large, has as many bytes as the native one: caches see the same. */
#define CHUNK_EVENTS 15000

static trace_event_id_t native;
static double rate; /* ticks a nanosecond */
static unsigned char payload[DATA_MAX];
static size_t bytes;

/* ---- Loops ---- */

static void own_time(uint64_t from, uint64_t to, unsigned long count)
{
	bench_own_time((double)(to - from) / rate / (double)count);
}

static void calls(unsigned thread, unsigned long count)
{
	const trace_event_id_t type = native;
	const size_t length = bytes;
	const uint64_t from = bench_before();

	(void)thread;
	for (unsigned long i = 0; i < count; i++)
		posix_trace_event(type, payload, length);
	own_time(from, bench_after(), count);
}

static void zephyr(unsigned thread, unsigned long count)
{
	uint32_t data[2] = { 1, 2 };
	uint8_t words = 2;
	uint8_t dropped;
	uint16_t id;
	const uint64_t from = bench_before();

	(void)thread;
	for (unsigned long i = 0; i < count; i++)
		sys_k_event_logger_put(KERNEL_EVENT_LOGGER_CUSTOM_ID, data, 2);
	own_time(from, bench_after(), count);
	while (sys_k_event_logger_get(&id, &dropped, data, &words) != 0)
		continue;
}

static void zephyr_timed(unsigned thread, unsigned long count)
{
	uint32_t data[2] = { 1, 2 };
	uint8_t words = 2;
	uint8_t dropped;
	uint16_t id;
	const uint64_t from = bench_before();

	(void)thread;
	for (unsigned long i = 0; i < count; i++)
		sys_k_event_logger_put_timed(KERNEL_EVENT_LOGGER_CUSTOM_ID);
	own_time(from, bench_after(), count);
	while (sys_k_event_logger_get(&id, &dropped, data, &words) != 0)
		words = 2;
}

static void shark(unsigned thread, unsigned long count)
{
	const uint64_t from = bench_before();

	(void)thread;
	for (unsigned long i = 0; i < count; i++)
		TRACER_LOGEVENT(FTrace_EVT_ipoint, 1, 2);
	own_time(from, bench_after(), count);
}

static void qnx(unsigned thread, unsigned long count)
{
	const uint64_t from = bench_before();

	(void)thread;
	for (unsigned long i = 0; i < count; i++)
		(void)add_trace_event(QNX_HEADER(QNX_CLASS_KERNEL_CALL, 1), 1, 2);
	own_time(from, bench_after(), count);
}

/* ---- Rows ---- */

static void say(const char *row, const char *column, bench_loop *loop)
{
	const unsigned long passes = bench_pick(5000, 5000, 500);
	const struct bench_row got = bench_run(loop, 1, passes, BENCH_WALL);

	bench_cost(row, column, &got);
}

static trace_id_t open_stream(void)
{
	trace_attr_t attr;
	trace_id_t trid;

	bench_ok("attributes", posix_trace_attr_init(&attr));
	bench_ok("policy", posix_trace_attr_setstreamfullpolicy(&attr, POSIX_TRACE_LOOP));
	bench_ok("size", posix_trace_attr_setstreamsize(&attr, STREAM_BYTES));
	bench_ok("data size", posix_trace_attr_setmaxdatasize(&attr, DATA_MAX));
	bench_ok("lanes", posix_trace_attr_setlanes_np(&attr, 1));
	bench_ok("create", posix_trace_create(0, &attr, &trid));
	bench_ok("start", posix_trace_start(trid));
	return trid;
}

/* The stream of each side runs alone: an event goes into all that do. */
static void say_native(size_t length, const char *column)
{
	const trace_id_t trid = open_stream();

	bytes = length;
	say("native", column, calls);
	bench_ok("shutdown", posix_trace_shutdown(trid));
}

static void say_qnx(void)
{
	const trace_id_t trid = open_stream();

	say("interface", "QNX 12 B", qnx);
	bench_ok("shutdown", posix_trace_shutdown(trid));
}

static void say_shark(void)
{
	const int chunk =
	    FTrace_chunk_create(CHUNK_EVENTS, 0, FTRACE_CHUNK_FLAG_FREE | FTRACE_CHUNK_FLAG_CYC);

	bench_ok("chunk", FTrace_actual_chunk_select(chunk));
	bench_ok("enable", FTrace_enable());
	say("interface", "S.Ha.R.K. 6 B", shark);
	bench_ok("disable", FTrace_disable());
}

int main(int argc, char **argv)
{
	struct bench_moment from;
	struct bench_moment to;

	bench_begin(argc, argv, "compat", NULL);
	bench_say_facts();
	bench_ok("event", posix_trace_eventid_open("native", &native));
	from = bench_moment();
	do
		to = bench_moment();
	while (to.ns - from.ns < 20000000u);
	rate = bench_rate(&from, &to) / 1e9;
	bench_table("call", "An event through an interface, beside the native call");
	say_native(12, "QNX 12 B");
	say_qnx();
	say_native(6, "S.Ha.R.K. 6 B");
	say_shark();
	/* Last, because the logger's stream stays. */
	say_native(8, "Zephyr 8 B");
	say_native(0, "Zephyr time");
	say("interface", "Zephyr 8 B", zephyr);
	say("interface", "Zephyr time", zephyr_timed);
	return 0;
}
