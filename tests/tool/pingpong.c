/* SPDX-License-Identifier: MIT */
/*
 * pingpong.c - two processes on one CPU that wait for each other: pingpong ROUNDS [BUSY-ROUNDS]
 *
 * After that both compute until each was preempted some times: BUSY-ROUNDS of a loop.  The last line of
 * the output is how often, as the kernel counts, both of them waited and both were preempted.
 */
#define _GNU_SOURCE
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

static void check(int failed, const char *what)
{
	if (!failed)
		return;
	perror(what);
	exit(1);
}

static void stay(void)
{
	cpu_set_t set;
	int cpu = sched_getcpu();

	CPU_ZERO(&set);
	CPU_SET((size_t)(cpu < 0 ? 0 : cpu), &set);
	check(sched_setaffinity(0, sizeof set, &set), "sched_setaffinity");
}

static void compute(long rounds)
{
	for (volatile long i = 0; i < rounds * 1000; i++)
		;
}

static long cpu_ms(const struct rusage *used)
{
	return (used->ru_utime.tv_sec + used->ru_stime.tv_sec) * 1000 +
	       (used->ru_utime.tv_usec + used->ru_stime.tv_usec) / 1000;
}

int main(int argc, char **argv)
{
	long rounds = argc > 1 ? atol(argv[1]) : 100;
	long busy = argc > 2 ? atol(argv[2]) : 0;
	struct rusage self;
	struct rusage other;
	int there[2];
	int back[2];
	char byte = 0;

	stay();
	check(pipe(there) || pipe(back), "pipe");
	pid_t child = fork();
	check(child < 0, "fork");
	if (child == 0) {
		(void)prctl(PR_SET_NAME, "pong");
		for (long i = 0; i < rounds; i++)
			check(
			    read(there[0], &byte, 1) != 1 || write(back[1], &byte, 1) != 1, "pong");
		compute(busy);
		_exit(0);
	}
	for (long i = 0; i < rounds; i++)
		check(write(there[1], &byte, 1) != 1 || read(back[0], &byte, 1) != 1, "ping");
	compute(busy);
	check(wait4(child, NULL, 0, &other) != child, "wait4");
	check(getrusage(RUSAGE_SELF, &self), "getrusage");
	(void)printf("%ld %ld %ld\n", self.ru_nvcsw + other.ru_nvcsw,
	    self.ru_nivcsw + other.ru_nivcsw, cpu_ms(&self) + cpu_ms(&other));
	return 0;
}
