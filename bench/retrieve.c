/* SPDX-License-Identifier: MIT */
/*
 * retrieve.c - how fast events come back out of a stream, and what an event takes in memory.
 *
 * A stream is filled, then read by one thread until it is empty; nobody writes meanwhile.
 */
#define _GNU_SOURCE
#include <trace.h>
#include <trace_np.h>

#include "frame/frame.h"

#include <math.h>
#include <pthread.h>
#include <stdbool.h>
#include <time.h>

#define BYTES_MAX  256
#define ROUNDS_MAX 25

static trace_id_t trid;
static trace_event_id_t type;
static unsigned long per_thread;
static size_t payload_bytes;
static unsigned rounds;

struct shape {
	const char *row;
	const char *column;
	size_t bytes;
	unsigned lanes; /* 0: as many as the library chooses */
	unsigned threads;
	bool at_once;
};

static const struct shape shapes[] = {
	{ "getnext on-line", "4 B one lane", 4, 1, 1, false },
	{ "getnext on-line", "4 B default lanes", 4, 0, 2, false },
	{ "getnext on-line", "32 B default lanes", 32, 0, 2, false },
	{ "getnext on-line", "256 B default lanes", 256, 0, 2, false },
	{ "getnext_events on-line", "4 B one lane", 4, 1, 1, true },
	{ "getnext_events on-line", "4 B default lanes", 4, 0, 2, true },
	{ "getnext_events on-line", "32 B default lanes", 32, 0, 2, true },
	{ "getnext_events on-line", "256 B default lanes", 256, 0, 2, true },
};

/* ---- One round ---- */

static void *fill(void *argument)
{
	static const unsigned char payload[BYTES_MAX];
	const unsigned *cpu = argument;

	bench_pin(*cpu);
	for (unsigned long i = 0; i < per_thread; i++)
		posix_trace_event(type, payload, payload_bytes);
	return NULL;
}

static void fill_stream(unsigned threads)
{
	static unsigned cpus[BENCH_THREADS_MAX] = { 0, 1 };
	pthread_t handle[BENCH_THREADS_MAX];

	for (unsigned i = 0; i < threads; i++)
		bench_ok("thread", pthread_create(&handle[i], NULL, fill, &cpus[i]));
	for (unsigned i = 0; i < threads; i++)
		bench_ok("thread", pthread_join(handle[i], NULL));
}

static double drain_at_once(unsigned long *events)
{
	static struct posix_trace_eventview_np views[256];
	size_t got = 1;
	double begin = bench_cpu_ns(CLOCK_THREAD_CPUTIME_ID);

	for (*events = 0; got; *events += got)
		bench_ok(
		    "getnext_events", posix_trace_getnext_events_np(trid, views, sizeof(*views),
		                          sizeof(views) / sizeof(views[0]), &got));
	return (bench_cpu_ns(CLOCK_THREAD_CPUTIME_ID) - begin) / (double)*events;
}

/* Processor time an event, until the stream says that there is nothing. */
static double drain(unsigned long *events)
{
	struct posix_trace_event_info info;
	unsigned char data[BYTES_MAX];
	size_t length;
	int nothing = 0;
	double begin = bench_cpu_ns(CLOCK_THREAD_CPUTIME_ID);

	for (*events = 0;; (*events)++) {
		bench_ok("getnext", posix_trace_trygetnext_event(
		                        trid, &info, data, sizeof(data), &length, &nothing));
		if (nothing)
			break;
	}
	return (bench_cpu_ns(CLOCK_THREAD_CPUTIME_ID) - begin) / (double)*events;
}

static void open_stream(const struct shape *shape, unsigned long events)
{
	trace_attr_t attr;
	size_t record;

	bench_ok("attributes", posix_trace_attr_init(&attr));
	bench_ok("policy", posix_trace_attr_setstreamfullpolicy(&attr, POSIX_TRACE_UNTIL_FULL));
	bench_ok("data size", posix_trace_attr_setmaxdatasize(&attr, BYTES_MAX));
	bench_ok("lanes", posix_trace_attr_setlanes_np(&attr, shape->lanes));
	bench_ok("size", posix_trace_attr_getmaxusereventsize(&attr, shape->bytes, &record));
	bench_ok("size", posix_trace_attr_setstreamsize(&attr, record * (events + 64)));
	bench_ok("create", posix_trace_create(0, &attr, &trid));
	bench_ok("start", posix_trace_start(trid));
}

/* The least of some rounds: what disturbs one only adds to it. */
static double measure(const struct shape *shape)
{
	double ns[ROUNDS_MAX];
	unsigned threads = shape->threads < bench_cpus() ? shape->threads : bench_cpus();
	unsigned long all = bench_pick(400000, 200000, 2000) * 4 / (shape->bytes < 100 ? 4 : 16);

	payload_bytes = shape->bytes;
	per_thread = all / threads;
	open_stream(shape, all);
	for (unsigned i = 0; i < rounds; i++) {
		unsigned long events;

		fill_stream(threads);
		ns[i] = shape->at_once ? drain_at_once(&events) : drain(&events);
		if (events < per_thread * threads)
			bench_remark("retrieve: only %lu of %lu events came back", events,
			    per_thread * threads);
	}
	bench_ok("shutdown", posix_trace_shutdown(trid));
	(void)bench_median(ns, rounds); /* sorts */
	return ns[0];
}

/* ---- What an event takes ---- */

static void say_sizes(void)
{
	static const struct {
		const char *column;
		size_t bytes;
	} payloads[] = { { "4 B", 4 }, { "32 B", 32 }, { "256 B", 256 } };
	trace_attr_t attr;
	size_t record;

	bench_ok("attributes", posix_trace_attr_init(&attr));
	for (size_t i = 0; i < sizeof(payloads) / sizeof(payloads[0]); i++) {
		bench_ok("size",
		    posix_trace_attr_getmaxusereventsize(&attr, payloads[i].bytes, &record));
		bench_value("in the ring", payloads[i].column, "bytes", (double)record);
	}
	bench_ok("size", posix_trace_attr_getmaxusereventsize(&attr, 4, &record));
	bench_target("bytes of ring per 4 B event", "bytes", (double)record, BENCH_AT_MOST, 32);
}

int main(int argc, char **argv)
{
	double worst[2] = { 0 }; /* one by one, at once */

	bench_begin(argc, argv, "retrieve", NULL);
	rounds = (unsigned)bench_pick(ROUNDS_MAX, 9, 1);
	bench_ok("event", posix_trace_eventid_open("sample", &type));
	bench_say_facts();
	bench_remark(
	    "retrieval: processor time of the reading thread, the least of %u rounds", rounds);
	bench_pin(0);
	bench_table("speed", "Retrieval from a stream");
	for (size_t i = 0; i < sizeof(shapes) / sizeof(shapes[0]); i++) {
		double ns = measure(&shapes[i]);

		bench_value(shapes[i].row, shapes[i].column, "ns", ns);
		bench_value(shapes[i].row, shapes[i].column, "M events/s", 1000 / ns);
		if (shapes[i].bytes == 4)
			worst[shapes[i].at_once] = fmax(worst[shapes[i].at_once], ns);
	}
	bench_table("bytes an event", "Bytes an event");
	say_sizes();
	bench_target("getnext from a stream (4 B)", "ns", worst[0], BENCH_AT_MOST, 50);
	bench_target("getnext from a stream (4 B): goal", "ns", worst[0], BENCH_AT_MOST, 15);
	bench_target("getnext_events from a stream (4 B)", "ns", worst[1], BENCH_AT_MOST, 20);
	return 0;
}
