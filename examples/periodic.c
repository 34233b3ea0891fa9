/* SPDX-License-Identifier: MIT */
/*
 * periodic.c - a periodic job with a deadline and a budget, traced by the job macros.  Job 12
 * computes three times as long as it may: it overruns its budget, and so misses its deadline.
 *
 *	periodic [LOG]        (default: periodic.ptl)
 *
 * Page: POSIX_TRACE_DEFINE_JOB_NP, posix_trace_open_job_np, posix_trace_job_release_np,
 * posix_trace_job_begin_np, posix_trace_job_end_np, posix_trace_job_miss_np,
 * posix_trace_job_overrun_np - trace points of a periodic job
 */
#include <trace_np.h>

#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define MS          1000000LL
#define JOBS        20u
#define BAD         12u
#define PERIOD_NS   (10 * MS) /* the deadline, too */
#define BUDGET_NS   (4 * MS)
#define USUAL_NS    (1 * MS)
#define TOO_LONG_NS (12 * MS)

POSIX_TRACE_DEFINE_JOB_NP(control);

static void must(const char *what, int error)
{
	if (error != 0) {
		(void)fprintf(stderr, "periodic: %s: %s\n", what, strerror(error));
		exit(1);
	}
}

static int64_t ns_by(clockid_t clock)
{
	struct timespec now;

	(void)clock_gettime(clock, &now);
	return (int64_t)now.tv_sec * 1000 * MS + now.tv_nsec;
}

static void sleep_until(int64_t ns)
{
	const struct timespec until = { ns / (1000 * MS), ns % (1000 * MS) };

	while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL) != 0)
		continue;
}

static void compute(int64_t ns)
{
	int64_t end = ns_by(CLOCK_THREAD_CPUTIME_ID) + ns;

	while (ns_by(CLOCK_THREAD_CPUTIME_ID) < end)
		continue;
}

/* What it took of the processor, and when it was done, say whether it kept within both. */
static void job(uint64_t number, int64_t release)
{
	int64_t from = ns_by(CLOCK_THREAD_CPUTIME_ID);
	int64_t over;
	int64_t late;

	posix_trace_job_begin_np(control, number);
	compute(number == BAD ? TOO_LONG_NS : USUAL_NS);
	over = ns_by(CLOCK_THREAD_CPUTIME_ID) - from - BUDGET_NS;
	late = ns_by(CLOCK_MONOTONIC) - release - PERIOD_NS;
	posix_trace_job_end_np(control, number);
	if (over > 0)
		posix_trace_job_overrun_np(control, number, over);
	if (late > 0)
		posix_trace_job_miss_np(control, number, late);
}

int main(int argc, char **argv)
{
	const char *path = argc > 1 ? argv[1] : "periodic.ptl";
	int fd = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
	int64_t release;
	trace_id_t trid;

	must("log", posix_trace_create_withlog(0, NULL, fd, &trid));
	must("trace points", posix_trace_open_job_np(control));
	must("start", posix_trace_start(trid));
	release = ns_by(CLOCK_MONOTONIC) + PERIOD_NS;
	for (uint64_t number = 1; number <= JOBS; number++, release += PERIOD_NS) {
		sleep_until(release);
		posix_trace_job_release_np(control, number);
		job(number, release);
	}
	must("shutdown", posix_trace_shutdown(trid));
	(void)printf("periodic: %u jobs; pxtrace why %s says which was late\n", JOBS, path);
	return 0;
}
