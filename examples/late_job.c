/* SPDX-License-Identifier: MIT */
/*
 * late_job.c - a real-time program that traces itself, and now and then misses a deadline.
 *
 *	control   every 10 ms, done within 5 ms: computes, then writes the shared state
 *	vision    every 70 ms: computes for 8 ms, needs nothing that others have
 *	logger    every 50 ms: reads the shared state, for 1.5 ms
 *
 * All on one CPU, control before vision before logger, and the shared state is guarded by a mutex
 * *without* priority inheritance.  When logger holds it as control arrives, control waits; when
 * vision arrives as well, logger cannot run to release it, and control waits for vision too.
 * The phases let that happen about three times a second.  explain_late reads it from the log.
 *
 *	late_job [LOG]          (default: late_job.ptl)
 */
#define _GNU_SOURCE
#include <trace.h>
#include <trace_np.h>

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#define MS          1000000LL
#define US          1000LL
#define RUN_NS      (2100 * MS)
#define STATE_LOCK  1u
#define DEADLINE_NS (5 * MS)

POSIX_TRACE_DEFINE_NP(lock_wait, u32, lock);
POSIX_TRACE_DEFINE_NP(lock_lock, u32, lock);
POSIX_TRACE_DEFINE_NP(lock_unlock, u32, lock);
POSIX_TRACE_DEFINE_NP(deadline_miss, u32, job, i64, late_ns);

struct task {
	const char *name;
	int priority; /* of SCHED_FIFO, and otherwise ... */
	int nice;     /* ... what comes nearest */
	int64_t phase_ns;
	int64_t period_ns;
	int64_t compute_ns;  /* processor time without the lock */
	int64_t locked_ns;   /* ... and with it; 0: does not need it */
	int64_t deadline_ns; /* 0: none */
	trace_event_id_t begin, end;
	pthread_t thread;
	unsigned jobs;
	unsigned late;
	int64_t worst_ns;
};

static struct task tasks[] = {
	{ "control", 30, 0, 10 * MS, 10 * MS, 500 * US, 300 * US, DEADLINE_NS, 0, 0, 0, 0, 0, 0 },
	{ "vision", 20, 3, 10 * MS + 200 * US, 70 * MS, 8 * MS, 0, 0, 0, 0, 0, 0, 0, 0 },
	{ "logger", 10, 10, 9 * MS, 50 * MS, 0, 1500 * US, 0, 0, 0, 0, 0, 0, 0 },
};
#define TASKS (sizeof(tasks) / sizeof(tasks[0]))

static pthread_mutex_t state_mutex = PTHREAD_MUTEX_INITIALIZER;
static int64_t epoch_ns; /* CLOCK_MONOTONIC when all tasks begin */
static size_t cpu;
static int no_fifo; /* the reason, or 0 */

static void die(const char *what, int error)
{
	(void)fprintf(stderr, "late_job: %s: %s\n", what, strerror(error));
	exit(1);
}

static void must(const char *what, int error)
{
	if (error != 0)
		die(what, error);
}

static int64_t clock_ns(clockid_t clock)
{
	struct timespec now;

	(void)clock_gettime(clock, &now);
	return (int64_t)now.tv_sec * 1000 * MS + now.tv_nsec;
}

/* Processor time, so that being preempted does not count as work. */
static void compute(int64_t ns)
{
	int64_t end = clock_ns(CLOCK_THREAD_CPUTIME_ID) + ns;

	while (clock_ns(CLOCK_THREAD_CPUTIME_ID) < end)
		;
}

static void sleep_until(int64_t ns)
{
	struct timespec at = { .tv_sec = (time_t)(ns / (1000 * MS)),
		.tv_nsec = (long)(ns % (1000 * MS)) };

	while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &at, NULL) == EINTR)
		;
}

static void with_the_lock(const struct task *task)
{
	posix_trace_point_np(lock_wait, STATE_LOCK);
	(void)pthread_mutex_lock(&state_mutex);
	posix_trace_point_np(lock_lock, STATE_LOCK);
	compute(task->locked_ns);
	posix_trace_point_np(lock_unlock, STATE_LOCK);
	(void)pthread_mutex_unlock(&state_mutex);
}

/*
 * The begin and end of a task's jobs are types that are found in a table, so the call is the plain
 * one, with data packed as the description says: a number of 4 bytes, then one of 8.
 */
static void trace_job(trace_event_id_t type, uint32_t job, int64_t ns)
{
	unsigned char data[sizeof(job) + sizeof(ns)];

	memcpy(data, &job, sizeof(job));
	memcpy(data + sizeof(job), &ns, sizeof(ns));
	posix_trace_event(type, data, sizeof(data));
}

static void run_job(struct task *task, int64_t release_ns)
{
	int64_t late_ns;

	trace_job(task->begin, task->jobs, clock_ns(CLOCK_MONOTONIC) - release_ns);
	if (task->compute_ns != 0)
		compute(task->compute_ns);
	if (task->locked_ns != 0)
		with_the_lock(task);
	late_ns = clock_ns(CLOCK_MONOTONIC) - release_ns - task->deadline_ns;
	trace_job(task->end, task->jobs, late_ns + task->deadline_ns);
	if (task->deadline_ns != 0 && late_ns > 0) {
		posix_trace_point_np(deadline_miss, task->jobs, late_ns);
		task->late++;
		if (late_ns > task->worst_ns)
			task->worst_ns = late_ns;
	}
	task->jobs++;
}

/* SCHED_FIFO where allowed; else nice values, which are a weak promise but point the same way. */
static void take_priority(const struct task *task)
{
	struct sched_param param = { .sched_priority = task->priority };
	int error = pthread_setschedparam(pthread_self(), SCHED_FIFO, &param);

	if (error == 0)
		return;
	no_fifo = error;
	(void)setpriority(PRIO_PROCESS, (id_t)syscall(SYS_gettid), task->nice);
}

static void *run_task(void *argument)
{
	struct task *task = argument;
	cpu_set_t one;

	CPU_ZERO(&one);
	CPU_SET(cpu, &one);
	(void)pthread_setaffinity_np(pthread_self(), sizeof(one), &one);
	(void)pthread_setname_np(pthread_self(), task->name);
	take_priority(task);
	/* The first event of a thread would look its name up; do it before time matters. */
	(void)posix_trace_thread_register_np();
	for (int64_t at = task->phase_ns; at < RUN_NS; at += task->period_ns) {
		sleep_until(epoch_ns + at);
		run_job(task, epoch_ns + at);
	}
	return NULL;
}

static trace_event_id_t event_type(const char *name, const char *suffix, const char *format)
{
	char full[TRACE_EVENT_NAME_MAX + 1];
	trace_event_id_t id;

	(void)snprintf(full, sizeof(full), "%s%s", name, suffix);
	must(full, posix_trace_eventid_open(full, &id));
	must(full, posix_trace_eventid_setformat_np(id, format));
	return id;
}

static void open_types(void)
{
	for (size_t i = 0; i < TASKS; i++) {
		tasks[i].begin = event_type(tasks[i].name, "_begin", "u32 job, i64 start_ns");
		tasks[i].end = event_type(tasks[i].name, "_end", "u32 job, i64 response_ns");
	}
	must("event", posix_trace_open_np(lock_wait));
	must("event", posix_trace_open_np(lock_lock));
	must("event", posix_trace_open_np(lock_unlock));
	must("event", posix_trace_open_np(deadline_miss));
}

/* The first CPU that this process may use: all tasks go there. */
static size_t first_cpu(void)
{
	cpu_set_t allowed;

	CPU_ZERO(&allowed);
	(void)sched_getaffinity(0, sizeof(allowed), &allowed);
	for (size_t i = 0; i < CPU_SETSIZE; i++) {
		if (CPU_ISSET(i, &allowed))
			return i;
	}
	return 0;
}

static trace_id_t open_stream(const char *path, int *fd)
{
	trace_attr_t attr;
	trace_id_t trid;

	*fd = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
	if (*fd < 0)
		die(path, errno);
	must("attributes", posix_trace_attr_init(&attr));
	must("name", posix_trace_attr_setname(&attr, "late_job"));
	must("data size", posix_trace_attr_setmaxdatasize(&attr, 64));
	/* Stream full policy: FLUSH, the default with a log.  The log may grow. */
	must("log policy", posix_trace_attr_setlogfullpolicy(&attr, POSIX_TRACE_APPEND));
	must("create", posix_trace_create_withlog(0, &attr, *fd, &trid));
	must("attributes", posix_trace_attr_destroy(&attr));
	return trid;
}

/* The two lines after the run; the first one says how it was run. */
static void say_results(const char *path, const struct posix_trace_counts_np *counts)
{
	(void)printf("late_job: control ran %u jobs, %u of them late, the worst by %.2f ms; vision "
	             "%u, logger %u\n",
	    tasks[0].jobs, tasks[0].late, (double)tasks[0].worst_ns / 1e6, tasks[1].jobs,
	    tasks[2].jobs);
	(void)printf("late_job: %llu events recorded, %llu lost, log in %s\n",
	    (unsigned long long)counts->posix_written_np, (unsigned long long)counts->posix_lost_np,
	    path);
}

static void say_how(void)
{
	if (no_fifo == 0)
		(void)printf("late_job: three threads on CPU %zu, SCHED_FIFO 30, 20 and 10, one "
		             "mutex without priority inheritance\n",
		    cpu);
	else
		(void)printf(
		    "late_job: SCHED_FIFO is not allowed here (%s): three threads on CPU %zu, nice "
		    "0, 3 and 10, one mutex\n",
		    strerror(no_fifo), cpu);
}

int main(int argc, char **argv)
{
	const char *path = argc > 1 ? argv[1] : "late_job.ptl";
	struct posix_trace_counts_np counts;
	trace_id_t trid;
	int fd;

	cpu = first_cpu();
	(void)mlockall(MCL_CURRENT); /* where it is not allowed, page faults may show */
	trid = open_stream(path, &fd);
	open_types();
	must("start", posix_trace_start(trid));
	epoch_ns = clock_ns(CLOCK_MONOTONIC) + 20 * MS;
	for (size_t i = 0; i < TASKS; i++)
		must("thread", pthread_create(&tasks[i].thread, NULL, run_task, &tasks[i]));
	for (size_t i = 0; i < TASKS; i++)
		must("join", pthread_join(tasks[i].thread, NULL));
	must("stop", posix_trace_stop(trid));
	must("counts", posix_trace_getcounts_np(trid, &counts, sizeof(counts)));
	must("shutdown", posix_trace_shutdown(trid));
	(void)close(fd);
	say_how();
	say_results(path, &counts);
	return 0;
}
