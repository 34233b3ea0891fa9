/* SPDX-License-Identifier: MIT */
/*
 * contend.c - two that share one CPU.
 *
 *	contend LOG                              a thread is late because another one runs instead
 *	contend pingpong ROUNDS [BUSY-ROUNDS]    two processes wait for each other
 *
 * Both threads compute for 20 ms on one processor.  The job of the thread "sufferer" is traced; why it
 * took about twice as long, only the kernel can tell.  While it runs it leaves a mark each 100 us: none
 * may lie where the kernel says that it did not run.
 *
 * The two processes compute when they have waited, until each was preempted some times: BUSY-ROUNDS of a loop.  The last
 * line of their output is how often, as the kernel counts, both of them waited and both were preempted.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
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

/* ---- Two processes ---- */

static void turn(long rounds)
{
	for (volatile long i = 0; i < rounds * 1000; i++)
		;
}

static long cpu_ms(const struct rusage *used)
{
	return (used->ru_utime.tv_sec + used->ru_stime.tv_sec) * 1000 +
	       (used->ru_utime.tv_usec + used->ru_stime.tv_usec) / 1000;
}

static int play_pingpong(long rounds, long busy)
{
	struct rusage self;
	struct rusage other;
	int there[2];
	int back[2];
	char byte = 0;

	check(pipe(there) || pipe(back), "pipe");
	pid_t child = fork();
	check(child < 0, "fork");
	if (child == 0) {
		(void)prctl(PR_SET_NAME, "pong");
		for (long i = 0; i < rounds; i++)
			check(
			    read(there[0], &byte, 1) != 1 || write(back[1], &byte, 1) != 1, "pong");
		turn(busy);
		_exit(0);
	}
	for (long i = 0; i < rounds; i++)
		check(write(there[1], &byte, 1) != 1 || read(back[0], &byte, 1) != 1, "ping");
	turn(busy);
	check(wait4(child, NULL, 0, &other) != child, "wait4");
	check(getrusage(RUSAGE_SELF, &self), "getrusage");
	(void)printf("%ld %ld %ld\n", self.ru_nvcsw + other.ru_nvcsw,
	    self.ru_nivcsw + other.ru_nivcsw, cpu_ms(&self) + cpu_ms(&other));
	return 0;
}

int main(int argc, char **argv)
{
	pthread_t threads[2];
	trace_attr_t attr;
	trace_id_t trid;
	int fd;

	stay();
	if (argc > 2 && strcmp(argv[1], "pingpong") == 0)
		return play_pingpong(atol(argv[2]), argc > 3 ? atol(argv[3]) : 0);
	fd = argc == 2 ? open(argv[1], O_RDWR | O_CREAT | O_TRUNC, 0600) : -1;
	check(fd < 0, "open");
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
