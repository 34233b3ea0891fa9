/* SPDX-License-Identifier: MIT */
/* beside.c - trace calls with another thread in their way; see beside.h. */
#include "beside.h"

#include "frame/frame.h"

#include <pthread.h>
#include <stdatomic.h>

#define PACE_NS  5000
#define EVERY_NS 2000000

static atomic_bool other_stop;
static void (*other_call)(void);
static double calls[BESIDE_CALLS_MAX];

static void *call_on(void *argument)
{
	(void)argument;
	bench_pin(1);
	while (!atomic_load(&other_stop)) {
		other_call();
		bench_sleep_until(bench_ns() + EVERY_NS);
	}
	return NULL;
}

static void paced_calls(trace_event_id_t type, size_t count)
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

void say_beside(const char *row, trace_event_id_t type, size_t count, void (*other)(void))
{
	struct bench_moment from;
	struct bench_moment to;
	pthread_t thread;
	double ns;

	other_call = other;
	atomic_store(&other_stop, false);
	if (other)
		bench_ok("thread", pthread_create(&thread, NULL, call_on, NULL));
	from = bench_moment();
	paced_calls(type, count);
	to = bench_moment();
	atomic_store(&other_stop, true);
	if (other)
		(void)pthread_join(thread, NULL);
	ns = 1e9 / bench_rate(&from, &to);
	bench_value(row, "median", "ns", bench_median(calls, count) * ns);
	bench_value(row, "p99", "ns", calls[count - 1 - count / 100] * ns);
	bench_value(row, "p99.9", "ns", calls[count - 1 - count / 1000] * ns);
	bench_value(row, "maximum", "ns", calls[count - 1] * ns);
}
