/* SPDX-License-Identifier: MIT */
/*
 * contend.c - a program that is late because another of its threads runs instead: contend LOG
 *
 * Both threads compute for 20 ms on one processor.  The job of the thread "sufferer" is traced; why it
 * took about twice as long, only the kernel can tell.  While it runs it leaves a mark each 100 us: none
 * may lie where the kernel says that it did not run.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <trace.h>
#include <trace_np.h>
#include <unistd.h>

#define WORK_NS INT64_C(20000000)

POSIX_TRACE_DEFINE_NP(job_begin, u32, job);
POSIX_TRACE_DEFINE_NP(job_end, u32, job, i64, late_ns);
POSIX_TRACE_DEFINE_NP(runs, u32, count);

static pthread_barrier_t start;

static void check(int failed, const char *what)
{
	if (!failed)
		return;
	(void)fprintf(stderr, "contend: %s failed\n", what);
	exit(1);
}

static int64_t now(clockid_t clock)
{
	struct timespec time;

	(void)clock_gettime(clock, &time);
	return (int64_t)time.tv_sec * 1000000000 + time.tv_nsec;
}

static void compute(void)
{
	while (now(CLOCK_THREAD_CPUTIME_ID) < WORK_NS)
		;
}

static void compute_and_tell(void)
{
	uint32_t count = 0;

	for (int64_t used; (used = now(CLOCK_THREAD_CPUTIME_ID)) < WORK_NS;) {
		if (used < count * INT64_C(100000))
			continue;
		posix_trace_point_np(runs, count);
		count++;
	}
}

static void *bully(void *argument)
{
	(void)argument;
	(void)pthread_setname_np(pthread_self(), "bully");
	(void)pthread_barrier_wait(&start);
	compute();
	return NULL;
}

static void *sufferer(void *argument)
{
	(void)argument;
	(void)pthread_setname_np(pthread_self(), "sufferer");
	/* Its number and name into the log: by the number the kernel's events find it. */
	check(posix_trace_thread_register_np(), "thread_register_np");
	(void)pthread_barrier_wait(&start);
	int64_t begin = now(CLOCK_MONOTONIC);
	posix_trace_point_np(job_begin, 1);
	compute_and_tell();
	posix_trace_point_np(job_end, 1, now(CLOCK_MONOTONIC) - begin - WORK_NS);
	return NULL;
}

/* From here on, and for all threads to come, one processor only. */
static void stay(void)
{
	cpu_set_t set;
	int cpu = sched_getcpu();

	CPU_ZERO(&set);
	CPU_SET((size_t)(cpu < 0 ? 0 : cpu), &set);
	check(sched_setaffinity(0, sizeof set, &set), "sched_setaffinity");
}

int main(int argc, char **argv)
{
	pthread_t threads[2];
	trace_attr_t attr;
	trace_id_t trid;
	int fd = argc == 2 ? open(argv[1], O_RDWR | O_CREAT | O_TRUNC, 0600) : -1;

	check(fd < 0, "open");
	stay();
	check(posix_trace_open_np(job_begin) || posix_trace_open_np(job_end) ||
	          posix_trace_open_np(runs),
	    "open_np");
	check(posix_trace_attr_init(&attr), "attr_init");
	check(posix_trace_create_withlog(0, &attr, fd, &trid), "create_withlog");
	check(posix_trace_start(trid), "start");
	check(pthread_barrier_init(&start, NULL, 2), "barrier");
	check(pthread_create(&threads[0], NULL, sufferer, NULL), "pthread_create");
	check(pthread_create(&threads[1], NULL, bully, NULL), "pthread_create");
	for (int i = 0; i < 2; i++)
		check(pthread_join(threads[i], NULL), "pthread_join");
	check(posix_trace_shutdown(trid), "shutdown");
	return close(fd);
}
