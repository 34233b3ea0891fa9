/* SPDX-License-Identifier: MIT */
/*
 * control.c - the real-time process of three: two periodic threads, which trace into the stream
 * of another process.
 *
 *	sampler   every 10 ms, done within 10 ms
 *	control   every 20 ms, done within 5 ms; needs the settings, which are after a lock
 *
 *	control STREAM SETTINGS
 */
#define _GNU_SOURCE
#include "plant.h"

#include <pthread.h>
#include <sched.h>

#define RUN_NS (1200 * MS)

POSIX_TRACE_DEFINE_NP(hello, text(16), role);
POSIX_TRACE_DEFINE_NP(goodbye);
POSIX_TRACE_DEFINE_NP(sampler_begin, u32, job);
POSIX_TRACE_DEFINE_NP(sampler_end, u32, job, i64, response_ns);
POSIX_TRACE_DEFINE_NP(control_begin, u32, job);
POSIX_TRACE_DEFINE_NP(control_end, u32, job, i64, response_ns);

static int settings;
static int64_t epoch_ns; /* CLOCK_MONOTONIC when both begin */

/* Where it is allowed; elsewhere both are ordinary threads, and late more often. */
static void become_realtime(int priority)
{
	const struct sched_param param = { .sched_priority = priority };

	(void)pthread_setschedparam(pthread_self(), SCHED_FIFO, &param);
	/* The first event of a thread would look its name up; do it before time matters. */
	(void)posix_trace_thread_register_np();
}

/* The first release after now: those that passed meanwhile are left out. */
static int64_t next_release(int64_t release_ns, int64_t period_ns)
{
	int64_t late_ns = now_ns() - release_ns;

	return release_ns + period_ns * (late_ns / period_ns + 1);
}

static void *be_sampler(void *argument)
{
	uint32_t job = 0;

	(void)argument;
	become_realtime(40);
	for (int64_t at = epoch_ns; at < epoch_ns + RUN_NS; at = next_release(at, 10 * MS)) {
		sleep_until(at);
		posix_trace_point_np(sampler_begin, job);
		posix_trace_point_np(sampler_end, job, now_ns() - at);
		job++;
	}
	return NULL;
}

static void *be_control(void *argument)
{
	uint32_t job = 0;

	(void)argument;
	become_realtime(30);
	for (int64_t at = epoch_ns; at < epoch_ns + RUN_NS; at = next_release(at, 20 * MS)) {
		sleep_until(at);
		posix_trace_point_np(control_begin, job);
		lock_settings(settings);
		unlock_settings(settings);
		posix_trace_point_np(control_end, job, now_ns() - at);
		job++;
	}
	return NULL;
}

static void open_types(void)
{
	must("event", posix_trace_open_np(hello));
	must("event", posix_trace_open_np(goodbye));
	must("event", posix_trace_open_np(sampler_begin));
	must("event", posix_trace_open_np(sampler_end));
	must("event", posix_trace_open_np(control_begin));
	must("event", posix_trace_open_np(control_end));
}

int main(int argc, char **argv)
{
	pthread_t sampler;
	pthread_t control;
	trace_id_t trid;

	if (argc != 3)
		must("usage: control STREAM SETTINGS", EINVAL);
	open_types();
	trid = attach_to(argv[1], posix_trace_point_id_np(hello));
	settings = open(argv[2], O_RDWR | O_CREAT | O_CLOEXEC, 0666);
	must(argv[2], settings < 0 ? errno : 0);
	posix_trace_point_np(hello, "control");
	epoch_ns = now_ns() + 20 * MS;
	must("thread", pthread_create(&sampler, NULL, be_sampler, NULL));
	must("thread", pthread_create(&control, NULL, be_control, NULL));
	must("join", pthread_join(sampler, NULL));
	must("join", pthread_join(control, NULL));
	posix_trace_point_np(goodbye);
	must("shutdown", posix_trace_shutdown(trid));
	(void)close(settings);
	return 0;
}
