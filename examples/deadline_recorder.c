/* SPDX-License-Identifier: MIT */
/*
 * deadline_recorder.c - always on, saved when a deadline was missed, and on again at once.  A LOOP
 * stream without log keeps the last events; the job that was late wakes a thread that has time, and
 * that writes what the stream holds as a log of its own.  `pxtrace why` says what happened.
 *
 *	control   every 10 ms, done within 5 ms, needs the shared state
 *	logger    now and then keeps the shared state for 12 ms
 *	main      saves
 *
 *	deadline_recorder [LOG]        (default: deadline_recorder.ptl)
 *
 * Page: posix_trace_snapshot_np - write a log of a stream that goes on
 */
#define _GNU_SOURCE /* pthread_setname_np(): the log calls threads by their names */
#include <trace.h>
#include <trace_np.h>

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define MS         1000000LL
#define JOBS       200u
#define PERIOD_NS  (10 * MS)
#define LATE_NS    (5 * MS)
#define STATE_LOCK 1u

POSIX_TRACE_DEFINE_NP(control_begin, u32, job);
POSIX_TRACE_DEFINE_NP(control_end, u32, job);
POSIX_TRACE_DEFINE_NP(lock_wait, u32, lock);
POSIX_TRACE_DEFINE_NP(lock_lock, u32, lock);
POSIX_TRACE_DEFINE_NP(lock_unlock, u32, lock);
POSIX_TRACE_DEFINE_NP(deadline_miss, u32, job, i64, late_ns);

static pthread_mutex_t state = PTHREAD_MUTEX_INITIALIZER;
static sem_t missed; /* posted once, by the first job that was late */
static int64_t epoch_ns;

static void must(const char *what, int error)
{
	if (error != 0) {
		(void)fprintf(stderr, "deadline_recorder: %s: %s\n", what, strerror(error));
		exit(1);
	}
}

static int64_t now_ns(void)
{
	struct timespec now;

	(void)clock_gettime(CLOCK_MONOTONIC, &now);
	return (int64_t)now.tv_sec * 1000 * MS + now.tv_nsec;
}

static void sleep_until(int64_t ns)
{
	struct timespec at = { .tv_sec = (time_t)(ns / (1000 * MS)),
		.tv_nsec = (long)(ns % (1000 * MS)) };

	while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &at, NULL) == EINTR)
		;
}

static void use_state(int64_t ns)
{
	posix_trace_point_np(lock_wait, STATE_LOCK);
	(void)pthread_mutex_lock(&state);
	posix_trace_point_np(lock_lock, STATE_LOCK);
	sleep_until(now_ns() + ns);
	posix_trace_point_np(lock_unlock, STATE_LOCK);
	(void)pthread_mutex_unlock(&state);
}

/* A trace point and a semaphore: the job itself saves nothing. */
static void *control(void *argument)
{
	bool told = false;

	(void)argument;
	(void)pthread_setname_np(pthread_self(), "control");
	(void)posix_trace_thread_register_np();
	for (uint32_t job = 0; job < JOBS; job++) {
		int64_t due = epoch_ns + (int64_t)job * PERIOD_NS;
		int64_t late;

		sleep_until(due);
		posix_trace_point_np(control_begin, job);
		use_state(MS / 10);
		posix_trace_point_np(control_end, job);
		late = now_ns() - due - LATE_NS;
		if (late <= 0)
			continue;
		posix_trace_point_np(deadline_miss, job, late);
		if (!told)
			(void)sem_post(&missed);
		told = true;
	}
	return NULL;
}

static void *logger(void *argument)
{
	(void)argument;
	(void)pthread_setname_np(pthread_self(), "logger");
	(void)posix_trace_thread_register_np();
	/* Every 50 jobs, a moment before one of them. */
	for (unsigned turn = 1; turn < JOBS / 50u; turn++) {
		sleep_until(epoch_ns + (int64_t)turn * 50 * PERIOD_NS - MS);
		use_state(12 * MS);
	}
	return NULL;
}

static trace_id_t record(void)
{
	trace_attr_t attr;
	trace_id_t trid;

	must("attributes", posix_trace_attr_init(&attr));
	must("name", posix_trace_attr_setname(&attr, "recorder"));
	must("policy", posix_trace_attr_setstreamfullpolicy(&attr, POSIX_TRACE_LOOP));
	must("size", posix_trace_attr_setstreamsize(&attr, 8192));
	must("create", posix_trace_create(0, &attr, &trid));
	must("attributes", posix_trace_attr_destroy(&attr));
	must("event", posix_trace_open_np(control_begin));
	must("event", posix_trace_open_np(control_end));
	must("event", posix_trace_open_np(lock_wait));
	must("event", posix_trace_open_np(lock_lock));
	must("event", posix_trace_open_np(lock_unlock));
	must("event", posix_trace_open_np(deadline_miss));
	must("start", posix_trace_start(trid));
	return trid;
}

static void save(trace_id_t trid, const char *path)
{
	int fd = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);

	if (fd < 0)
		must(path, errno);
	must("snapshot", posix_trace_snapshot_np(trid, fd));
	(void)close(fd);
}

int main(int argc, char **argv)
{
	const char *path = argc > 1 ? argv[1] : "deadline_recorder.ptl";
	struct posix_trace_counts_np before;
	struct posix_trace_counts_np after;
	trace_id_t trid = record();
	pthread_t threads[2];

	must("semaphore", sem_init(&missed, 0, 0) ? errno : 0);
	epoch_ns = now_ns() + 20 * MS;
	must("thread", pthread_create(&threads[0], NULL, control, NULL));
	must("thread", pthread_create(&threads[1], NULL, logger, NULL));
	while (sem_wait(&missed) != 0)
		;
	must("counts", posix_trace_getcounts_np(trid, &before, sizeof(before)));
	save(trid, path);
	for (unsigned i = 0; i < 2; i++)
		must("join", pthread_join(threads[i], NULL));
	must("counts", posix_trace_getcounts_np(trid, &after, sizeof(after)));
	must("shutdown", posix_trace_shutdown(trid));
	(void)printf("deadline_recorder: a job was late; the last %llu events are in %s, and %llu "
	             "were recorded since\n",
	    (unsigned long long)before.posix_held_np, path,
	    (unsigned long long)(after.posix_written_np - before.posix_written_np));
	return 0;
}
