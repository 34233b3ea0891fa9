/* SPDX-License-Identifier: MIT */
/*
 * paced.c - a program under `pxtrace run` that records two million events a second from two threads: how
 * many are lost, and what an event costs the recorder.
 *
 *	paced [--quick | --smoke] [--csv]
 *
 * The program is this one with --beat SECONDS: each thread reads a byte of /dev/zero, which is two
 * events, and waits actively until the next one is due.  A thread that was kept from its CPU does not
 * catch up.  Limits and rights are those of the caller.
 */
#define _GNU_SOURCE
#include <trace.h>
#include <trace_np.h>

#include "frame/frame.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#define THREADS 2u
#define BEAT_NS 2000u /* two events each: a million a second of each thread */
/* Later than this it was kept from its CPU, and goes on from now. */
#define LATE_NS 1000000u

/* ---- The program ---- */

static uint64_t end_ns;

static void *beat(void *argument)
{
	int zero = open("/dev/zero", O_RDONLY | O_CLOEXEC);
	uint64_t due = bench_ns();
	uint64_t now = due;
	char byte;

	(void)argument;
	while (now < end_ns) {
		for (due += BEAT_NS; now < due;)
			now = bench_ns();
		if (now - due > LATE_NS)
			due = now;
		if (read(zero, &byte, 1) != 1)
			break;
	}
	(void)close(zero);
	return NULL;
}

static double cpu_ns(const struct rusage *usage)
{
	return 1e9 * (double)(usage->ru_utime.tv_sec + usage->ru_stime.tv_sec) +
	       1e3 * (double)(usage->ru_utime.tv_usec + usage->ru_stime.tv_usec);
}

/* Its own CPU time, which the recorder's that waits for it would have, comes on standard output. */
static int run_beats(unsigned long seconds)
{
	pthread_t threads[THREADS];
	struct rusage usage;

	end_ns = bench_ns() + seconds * 1000000000u;
	for (unsigned i = 0; i < THREADS; i++)
		bench_ok("thread", pthread_create(&threads[i], NULL, beat, NULL));
	for (unsigned i = 0; i < THREADS; i++)
		(void)pthread_join(threads[i], NULL);
	(void)getrusage(RUSAGE_SELF, &usage);
	(void)printf("%.0f\n", cpu_ns(&usage));
	return 0;
}

/* ---- The recorder ---- */

static char path[] = "/tmp/bench-paced-XXXXXX";

/* CPU time of the recorder alone. */
static double record(unsigned long seconds)
{
	static char self[4096];
	struct rusage usage;
	double program = 0;
	char number[16];
	int ends[2];
	int status;
	pid_t child;
	FILE *said;

	(void)snprintf(number, sizeof(number), "%lu", seconds);
	bench_ok("self", readlink("/proc/self/exe", self, sizeof(self) - 1) > 0 ? 0 : errno);
	bench_ok("pipe", pipe(ends) ? errno : 0);
	(void)fflush(stdout);
	child = fork();
	if (child == 0) {
		/* The measurement itself is in a hurry. */
		(void)setpriority(PRIO_PROCESS, 0, 0);
		(void)dup2(ends[1], STDOUT_FILENO);
		(void)execl(BENCH_PXTRACE, "pxtrace", "run", "-q", "--only", "file", "-o", path,
		    "--", self, "--beat", number, (char *)NULL);
		_exit(127);
	}
	bench_ok("fork", child < 0 ? errno : 0);
	(void)close(ends[1]);
	said = fdopen(ends[0], "r");
	bench_ok("the program", said && fscanf(said, "%lf", &program) == 1 ? 0 : EPIPE);
	(void)fclose(said);
	bench_ok("pxtrace", wait4(child, &status, 0, &usage) == child && status == 0 ? 0 : EPIPE);
	return cpu_ns(&usage) - program;
}

static double load(void)
{
	double load = 0;

	return getloadavg(&load, 1) == 1 ? load : -1;
}

int main(int argc, char **argv)
{
	struct posix_trace_loginfo_np info;
	unsigned long seconds;
	double before = load();
	trace_id_t log;
	double events;
	double ns;
	int fd;

	if (argc == 3 && strcmp(argv[1], "--beat") == 0)
		return run_beats(strtoul(argv[2], NULL, 10));
	bench_begin(argc, argv, "paced", NULL);
	seconds = bench_pick(60, 10, 1);
	fd = mkstemp(path);
	bench_ok(path, fd < 0 ? errno : 0);
	(void)close(fd);
	ns = record(seconds);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	bench_ok("log", posix_trace_open(fd, &log));
	bench_ok("info", posix_trace_log_getinfo_np(log, &info, sizeof(info)));
	bench_ok("close", posix_trace_close(log));
	(void)close(fd);
	(void)unlink(path);
	events = (double)info.posix_counts_np.posix_written_np;
	bench_table("paced", "Two threads, a million events a second each");
	bench_value("two threads", "seconds", "s", (double)seconds);
	bench_value("two threads", "events", "M", events * 1e-6);
	bench_value("two threads", "lost", "", (double)info.posix_lost_np);
	bench_value("two threads", "recorder's CPU", "ns", ns / events);
	bench_value("two threads", "load before", "", before);
	return 0;
}
