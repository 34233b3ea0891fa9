/* SPDX-License-Identifier: MIT */
/*
 * watchdog.c - a program that watches its own deadlines while it runs.  A thread reads the trace of
 * the others as it is written; when the end of a job does not come in time, it acts at once, not
 * after the fact: here it lets go a job that hangs.
 *
 * The deadline needs no timer of its own: posix_trace_timedgetnext_event() waits for the next event
 * until the moment at which the job would be late, and says ETIMEDOUT then.
 */
#include <trace.h>
#include <trace_np.h>

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define JOBS        6u
#define HANGS       3u
#define DEADLINE_MS 100

POSIX_TRACE_DEFINE_NP(job_begin, u32, job);
POSIX_TRACE_DEFINE_NP(job_end, u32, job);

static trace_id_t trid;
static atomic_uint let_go = UINT32_MAX; /* the job that the watchdog gave up */

static void must(const char *what, int error)
{
	if (error != 0) {
		(void)fprintf(stderr, "watchdog: %s: %s\n", what, strerror(error));
		exit(1);
	}
}

static void sleep_ms(long ms)
{
	(void)nanosleep(&(struct timespec){ .tv_nsec = ms * 1000000 }, NULL);
}

static void *work(void *argument)
{
	(void)argument;
	for (unsigned job = 0; job < JOBS; job++) {
		posix_trace_point_np(job_begin, job);
		while (job == HANGS && atomic_load(&let_go) != job)
			sleep_ms(1);
		posix_trace_point_np(job_end, job);
		sleep_ms(2);
	}
	return NULL;
}

/* Time stamps are CLOCK_REALTIME, and so is the time until which timedgetnext waits. */
static struct timespec deadline_of(const struct posix_trace_event_info *begin)
{
	struct timespec at = begin->posix_timestamp;

	at.tv_nsec += DEADLINE_MS * 1000000L;
	at.tv_sec += at.tv_nsec / 1000000000;
	at.tv_nsec %= 1000000000;
	return at;
}

static void watch(trace_event_id_t begin, trace_event_id_t end)
{
	struct posix_trace_event_info info;
	struct timespec until = { 0 };
	bool is_open = false;
	unsigned given_up = UINT32_MAX;
	unsigned job = 0;
	unsigned value;
	size_t length;
	int nothing;

	for (;;) {
		int error = is_open ? posix_trace_timedgetnext_event(trid, &info, &value,
		                          sizeof(value), &length, &nothing, &until)
		                    : posix_trace_getnext_event(
		                          trid, &info, &value, sizeof(value), &length, &nothing);

		if (error == ETIMEDOUT) {
			(void)printf(
			    "watchdog: job %u is not done after %d ms: let go\n", job, DEADLINE_MS);
			given_up = job;
			atomic_store(&let_go, job);
			is_open = false;
			continue;
		}
		must("getnext", error);
		if (nothing || info.posix_event_id == POSIX_TRACE_STOP)
			return;
		if (info.posix_event_id == begin) {
			job = value;
			until = deadline_of(&info);
			is_open = true;
		} else if (info.posix_event_id == end) {
			is_open = false;
			if (value == given_up)
				(void)printf("watchdog: job %u ended after all\n", value);
			/* A configuration without events of its own has no STOP to wait for. */
			if (value + 1u == JOBS)
				return;
		}
	}
}

static void *run_watchdog(void *argument)
{
	const trace_event_id_t *ids = argument;

	watch(ids[0], ids[1]);
	return NULL;
}

int main(void)
{
	trace_event_id_t ids[2];
	pthread_t worker;
	pthread_t watchdog;

	must("create", posix_trace_create(0, NULL, &trid));
	must("event", posix_trace_open_np(job_begin));
	must("event", posix_trace_open_np(job_end));
	must("event", posix_trace_eventid_open("job_begin", &ids[0]));
	must("event", posix_trace_eventid_open("job_end", &ids[1]));
	must("start", posix_trace_start(trid));
	must("thread", pthread_create(&watchdog, NULL, run_watchdog, ids));
	must("thread", pthread_create(&worker, NULL, work, NULL));
	must("join", pthread_join(worker, NULL));
	must("stop", posix_trace_stop(trid));
	must("join", pthread_join(watchdog, NULL));
	must("shutdown", posix_trace_shutdown(trid));
	(void)printf("watchdog: all %u jobs are done\n", JOBS);
	return 0;
}
