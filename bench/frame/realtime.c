/* SPDX-License-Identifier: MIT */
/* realtime.c - threads that nothing else keeps waiting, as far as that is allowed. */
#define _GNU_SOURCE
#include "frame.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#define NOT_PINNED (-1)
#define SEVERAL    (-2)

static int memory_error = -1; /* -1: never tried */
static atomic_int fifo_error = -1;
static atomic_int pinned_to = NOT_PINNED;

/* ---- Time ---- */

uint64_t bench_ns(void)
{
	struct timespec now;

	(void)clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

double bench_cpu_ns(clockid_t clock)
{
	struct timespec now;

	(void)clock_gettime(clock, &now);
	return (double)now.tv_sec * 1e9 + (double)now.tv_nsec;
}

void bench_sleep_until(uint64_t ns)
{
	struct timespec at = { (time_t)(ns / 1000000000u), (long)(ns % 1000000000u) };

	while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &at, NULL) == EINTR)
		continue;
}

/* ---- Real time ---- */

void bench_lock_memory(void)
{
	memory_error = mlockall(MCL_CURRENT | MCL_FUTURE) == 0 ? 0 : errno;
}

void bench_become_realtime(unsigned cpu, int priority)
{
	struct sched_param param = { .sched_priority = priority };
	int none = NOT_PINNED;
	int error;

	bench_pin(cpu);
	error = pthread_setschedparam(pthread_self(), SCHED_FIFO, &param);
	if (atomic_load(&fifo_error) <= 0)
		atomic_store(&fifo_error, error);
	if (!atomic_compare_exchange_strong(&pinned_to, &none, (int)cpu) && none != (int)cpu)
		atomic_store(&pinned_to, SEVERAL);
}

static void say_realtime(FILE *to, const char *key, const char *granted, int error)
{
	if (error < 0)
		return;
	if (error == 0)
		(void)fprintf(to, "# %s: %s\n", key, granted);
	else
		(void)fprintf(to, "# %s: refused (%s)\n", key, strerror(error));
}

void bench_realtime_facts(FILE *to)
{
	say_realtime(to, "memory", "locked", memory_error);
	say_realtime(to, "scheduling", "SCHED_FIFO", atomic_load(&fifo_error));
	if (atomic_load(&pinned_to) >= 0)
		(void)fprintf(to, "# threads: pinned to the same CPU\n");
	else if (atomic_load(&pinned_to) == SEVERAL)
		(void)fprintf(to, "# threads: pinned to a CPU each\n");
}

/* ---- Files, medians ---- */

int bench_memory_file(void)
{
	const char *places[] = { "/dev/shm", getenv("TMPDIR"), "/tmp" };
	char path[512];
	int file;

	for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
		if (!places[i])
			continue;
		(void)snprintf(path, sizeof(path), "%s/bench-XXXXXX", places[i]);
		file = mkostemp(path, O_CLOEXEC);
		if (file >= 0) {
			(void)unlink(path);
			return file;
		}
	}
	bench_ok("a file in memory", errno);
	return -1;
}

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a;
	double y = *(const double *)b;

	return (x > y) - (x < y);
}

double bench_median(double *values, size_t count)
{
	qsort(values, count, sizeof(values[0]), by_value);
	return (values[(count - 1) / 2] + values[count / 2]) / 2;
}
