/* SPDX-License-Identifier: MIT */
/*
 * named.c - a program that others look at from outside.
 *
 *	named owner NAME loop|full [LOG]    has a stream of that name, with a log if one is given
 *	named owner NAME busy               4 MiB a lane that overwrites, and traces without a pause
 *	named owner NAME jobs               as loop, and two threads more, each with jobs of 2 ms that want one lock
 *	named producer NAME                    attaches to one
 *
 * Either traces "step" (with a number that goes up by one) and "other" in turns, each 200 us, says "ready"
 * when it has begun, and on standard input hears
 *
 *	mark N      traces "mark" with that number
 *	shutdown    ends the stream, or the attachment, and says so
 *	exit        ends without that, by _exit()
 *
 * and the end of its input ends it, too, with a shutdown.
 */
#define _XOPEN_SOURCE 700
#include <trace.h>
#include <trace_np.h>

#include <fcntl.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

POSIX_TRACE_DEFINE_NP(step, u32, number);
POSIX_TRACE_DEFINE_NP(other, u32, number);
POSIX_TRACE_DEFINE_NP(mark, u32, number);

POSIX_TRACE_DEFINE_NP(job_begin, u32, job);
POSIX_TRACE_DEFINE_NP(job_end, u32, job);
POSIX_TRACE_DEFINE_NP(mtx_wait, u32, lock);
POSIX_TRACE_DEFINE_NP(mtx_lock, u32, lock);
POSIX_TRACE_DEFINE_NP(mtx_unlock, u32, lock);

static int ended;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

static void must(const char *what, int error)
{
	if (error == 0)
		return;
	(void)fprintf(stderr, "named: %s: %s\n", what, strerror(error));
	exit(1);
}

static void say(const char *word)
{
	(void)printf("%s\n", word);
	(void)fflush(stdout);
}

static void *work(void *busy)
{
	const struct timespec pause = { .tv_nsec = 200000 };

	for (uint32_t number = 0; !__atomic_load_n(&ended, __ATOMIC_RELAXED); number++) {
		posix_trace_point_np(step, number);
		posix_trace_point_np(other, number);
		if (!busy)
			(void)nanosleep(&pause, NULL);
	}
	return NULL;
}

/* A thread that gives the lock back lets the other one have it. */
static void *work_on_jobs(void *unused)
{
	const struct timespec job = { .tv_nsec = 2000000 };
	const struct timespec pause = { .tv_nsec = 500000 };

	for (uint32_t number = 0; !__atomic_load_n(&ended, __ATOMIC_RELAXED); number++) {
		posix_trace_point_np(mtx_wait, 5);
		(void)pthread_mutex_lock(&mutex);
		posix_trace_point_np(mtx_lock, 5);
		posix_trace_point_np(job_begin, number);
		(void)nanosleep(&job, NULL);
		posix_trace_point_np(job_end, number);
		posix_trace_point_np(mtx_unlock, 5);
		(void)pthread_mutex_unlock(&mutex);
		(void)nanosleep(&pause, NULL);
	}
	return unused;
}

static trace_id_t create(char **words, int count)
{
	trace_attr_t attr;
	trace_id_t trid;
	bool full = strcmp(words[1], "full") == 0;
	bool busy = strcmp(words[1], "busy") == 0;
	bool wide = strcmp(words[1], "wide") == 0;

	must("attributes", posix_trace_attr_init(&attr));
	must("name", posix_trace_attr_setname(&attr, "machine"));
	/* A wide one holds what is recorded in seconds: a reader that gets no processor misses nothing. */
	must("size", posix_trace_attr_setstreamsize(&attr, wide   ? 16777216
	                                                   : busy ? 4194304
	                                                          : 65536));
	must("policy", posix_trace_attr_setstreamfullpolicy(
	                   &attr, full ? POSIX_TRACE_UNTIL_FULL : POSIX_TRACE_LOOP));
	must("name for others", posix_trace_attr_setsharename_np(&attr, words[0]));
	if (count < 3) {
		must("create", posix_trace_create(0, &attr, &trid));
	} else {
		int fd = open(words[2], O_RDWR | O_CREAT | O_TRUNC, 0600);

		must(words[2], fd < 0);
		must("create", posix_trace_create_withlog(0, &attr, fd, &trid));
	}
	must("start", posix_trace_start(trid));
	return trid;
}

int main(int argc, char **argv)
{
	pthread_t worker;
	pthread_t jobs[2];
	unsigned job_threads = 0;
	trace_id_t trid;
	char line[64];
	bool is_producer = argc == 3 && strcmp(argv[1], "producer") == 0;

	if (!is_producer && (argc < 4 || strcmp(argv[1], "owner") != 0))
		return 2;
	must("types",
	    posix_trace_open_np(step) | posix_trace_open_np(other) | posix_trace_open_np(mark));
	if (!is_producer && strcmp(argv[3], "jobs") == 0) {
		must("types of jobs",
		    posix_trace_open_np(job_begin) | posix_trace_open_np(job_end) |
		        posix_trace_open_np(mtx_wait) | posix_trace_open_np(mtx_lock) |
		        posix_trace_open_np(mtx_unlock));
		job_threads = 2;
	}
	if (is_producer)
		must("attach", posix_trace_attach_np(argv[2], NULL, &trid));
	else
		trid = create(argv + 2, argc - 2);
	must("thread", pthread_create(&worker, NULL, work,
	                   !is_producer && strcmp(argv[3], "busy") == 0 ? argv : NULL));
	for (unsigned i = 0; i < job_threads; i++)
		must("thread", pthread_create(&jobs[i], NULL, work_on_jobs, NULL));
	say("ready");
	while (fgets(line, sizeof line, stdin)) {
		if (strncmp(line, "mark ", 5) == 0) {
			posix_trace_point_np(mark, (uint32_t)strtoul(line + 5, NULL, 10));
		} else if (strcmp(line, "exit\n") == 0) {
			_exit(0);
		} else {
			must("shutdown", posix_trace_shutdown(trid));
			say("shut down");
		}
	}
	__atomic_store_n(&ended, 1, __ATOMIC_RELAXED);
	(void)pthread_join(worker, NULL);
	for (unsigned i = 0; i < job_threads; i++)
		(void)pthread_join(jobs[i], NULL);
	(void)posix_trace_shutdown(trid);
	return 0;
}
