/* SPDX-License-Identifier: MIT */
/* frame.c - batches, parts, and which of them count. */
#define _GNU_SOURCE
#include "frame.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>
#if defined(__GLIBC__)
#include <gnu/libc-version.h>
#endif

#define HELD_MIN     0.97
#define SKEW_MAX     0.05
#define SLOWED_MAX   1.15
#define EMPTY_PASSES 20000
#define TRIES        6 /* of a row that the machine's other work left less than half of */

/* What a thread saw of one part; CLOCK_MONOTONIC and its own processor time. */
struct part {
	double begin;
	double end;
	double cpu;
	double empty; /* ns a pass of the empty loop, just before */
	double empty_behind;
	double own; /* ns a pass as the loop measured it; negative: it did not */
};

struct worker {
	pthread_t handle;
	unsigned index;
	bench_loop *loop;
	unsigned long count;
	struct part part[BENCH_BATCHES_MAX * BENCH_PARTS_MAX];
};

static size_t cpus[CPU_SETSIZE];
static size_t cpu_count;
static atomic_uint arrived; /* threads at the line, over all parts */
static unsigned running;
static enum bench_clock counting;
static bool own_cores; /* parts in which a core was shared do not count */
static unsigned batches = BENCH_BATCHES_MAX;
static unsigned parts = BENCH_PARTS_MAX;
static _Thread_local double own_ns;

void bench_frame_size(unsigned batch_count, unsigned part_count)
{
	batches = batch_count < BENCH_BATCHES_MAX ? batch_count : BENCH_BATCHES_MAX;
	parts = part_count < BENCH_PARTS_MAX ? part_count : BENCH_PARTS_MAX;
}

void bench_own_time(double ns)
{
	own_ns = ns;
}

static double now(clockid_t clock)
{
	struct timespec time;

	(void)clock_gettime(clock, &time);
	return (double)time.tv_sec * 1e9 + (double)time.tv_nsec;
}

void bench_pin(unsigned n)
{
	cpu_set_t one;

	if (cpu_count == 0)
		return;
	CPU_ZERO(&one);
	CPU_SET(cpus[n % cpu_count], &one);
	(void)pthread_setaffinity_np(pthread_self(), sizeof(one), &one);
}

/* Spins, because a sleeper would begin late; gives way, because somebody may want this CPU. */
static void line_up(unsigned part)
{
	unsigned all = (part + 1) * running;

	(void)atomic_fetch_add(&arrived, 1);
	for (unsigned spins = 0; atomic_load(&arrived) < all; spins++) {
		if (spins > 10000)
			(void)sched_yield();
	}
}

static void empty_loop(unsigned thread, unsigned long count)
{
	(void)thread;
	for (unsigned long i = 0; i < count; i++)
		__asm__ volatile("" : : : "memory");
}

/*
 * Measured each time: how fast a processor runs changes with what the other half of its core does,
 * which may be a CPU of this system or one that it cannot even see.
 */
static double empty_ns(void)
{
	double begin = now(CLOCK_MONOTONIC);

	empty_loop(0, EMPTY_PASSES);
	return (now(CLOCK_MONOTONIC) - begin) / EMPTY_PASSES;
}

static void *work(void *argument)
{
	struct worker *worker = argument;

	bench_pin(worker->index);
	worker->loop(worker->index, worker->count / 10 + 1);
	for (unsigned i = 0; i < batches * parts; i++) {
		struct part *part = &worker->part[i];
		double cpu;

		part->empty = empty_ns();
		own_ns = -1;
		line_up(i);
		cpu = now(CLOCK_THREAD_CPUTIME_ID);
		part->begin = now(CLOCK_MONOTONIC);
		worker->loop(worker->index, worker->count);
		part->end = now(CLOCK_MONOTONIC);
		part->cpu = now(CLOCK_THREAD_CPUTIME_ID) - cpu;
		part->own = own_ns;
		part->empty_behind = empty_ns();
	}
	return NULL;
}

/* The fastest that the empty loop ever was: then the thread had a core for itself. */
static double least_empty = 1e9;

static void note_empty(const struct part *part)
{
	least_empty = part->empty < least_empty ? part->empty : least_empty;
	least_empty = part->empty_behind < least_empty ? part->empty_behind : least_empty;
}

/* So that a program which begins beside other work knows what it would be like alone. */
void bench_calibrate(unsigned ms)
{
	double until = now(CLOCK_MONOTONIC) + ms * 1e6;

	while (now(CLOCK_MONOTONIC) < until) {
		double empty = empty_ns();

		least_empty = empty < least_empty ? empty : least_empty;
	}
}

/* Nobody else worked on the core, neither before nor after. */
static bool core_was_free(const struct part *part)
{
	return part->empty <= SLOWED_MAX * least_empty &&
	       part->empty_behind <= SLOWED_MAX * least_empty;
}

static bool part_is_good(const struct worker *workers, unsigned index)
{
	double first = workers[0].part[index].begin;
	double last = first;

	for (unsigned t = 0; t < running; t++) {
		const struct part *part = &workers[t].part[index];

		if (counting != BENCH_CPU && part->cpu < HELD_MIN * (part->end - part->begin))
			return false;
		if (own_cores && !core_was_free(part))
			return false;
		first = part->begin < first ? part->begin : first;
		last = part->begin > last ? part->begin : last;
	}
	if (counting == BENCH_CPU)
		return true;
	return last - first <=
	       SKEW_MAX * (workers[0].part[index].end - workers[0].part[index].begin);
}

/* The least of a batch: what disturbed the empty loop is not taken off. */
static double empty_of(const struct worker *worker, unsigned batch)
{
	double least = worker->part[batch * parts].empty;

	for (unsigned i = batch * parts; i < (batch + 1) * parts; i++)
		least = worker->part[i].empty < least ? worker->part[i].empty : least;
	return least;
}

static double part_ns(const struct worker *workers, unsigned index)
{
	double sum = 0;

	for (unsigned t = 0; t < running; t++) {
		const struct part *part = &workers[t].part[index];
		double took = counting != BENCH_CPU ? part->end - part->begin : part->cpu;

		sum += part->own >= 0
		           ? part->own
		           : took / (double)workers[t].count - empty_of(&workers[t], index / parts);
	}
	return sum / running;
}

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a;
	double y = *(const double *)b;

	return (x > y) - (x < y);
}

static struct bench_row evaluate(const struct worker *workers)
{
	struct bench_row row = { .ns = -1 };
	double batch[BENCH_BATCHES_MAX];

	for (unsigned b = 0; b < batches; b++) {
		double sum = 0;
		unsigned good = 0;

		for (unsigned i = b * parts; i < (b + 1) * parts; i++) {
			if (!part_is_good(workers, i))
				continue;
			sum += part_ns(workers, i);
			good++;
		}
		if (good != 0)
			batch[row.batches++] = sum / good;
		row.parts += good;
	}
	if (row.batches == 0)
		return row;
	qsort(batch, row.batches, sizeof(batch[0]), by_value);
	row.low = batch[0];
	row.high = batch[row.batches - 1];
	row.ns = (batch[(row.batches - 1) / 2] + batch[row.batches / 2]) / 2;
	return row;
}

static struct bench_row run_once(bench_loop *loop, unsigned threads, unsigned long count)
{
	static struct worker workers[BENCH_THREADS_MAX];

	atomic_store(&arrived, 0);
	for (unsigned t = 0; t < threads; t++) {
		workers[t].index = t;
		workers[t].loop = loop;
		workers[t].count = count;
		if (pthread_create(&workers[t].handle, NULL, work, &workers[t]) != 0) {
			(void)fputs("bench: no thread\n", stderr);
			exit(1);
		}
	}
	for (unsigned t = 0; t < threads; t++)
		(void)pthread_join(workers[t].handle, NULL);
	for (unsigned i = 0; i < threads * batches * parts; i++)
		note_empty(&workers[i % threads].part[i / threads]);
	return evaluate(workers);
}

static struct bench_row run_some_times(bench_loop *loop, unsigned threads, unsigned long count)
{
	struct bench_row best = { 0 };

	for (unsigned i = 0; i < TRIES && best.batches * 2 < batches; i++) {
		struct bench_row row = run_once(loop, threads, count);

		if (row.parts >= best.parts)
			best = row;
	}
	return best;
}

struct bench_row bench_run(
    bench_loop *loop, unsigned threads, unsigned long count, enum bench_clock clock)
{
	struct bench_row row;

	running = threads;
	counting = clock;
	own_cores = clock == BENCH_WALL;
	row = run_some_times(loop, threads, count);
	if (own_cores && row.batches == 0) {
		own_cores = false;
		row = run_some_times(loop, threads, count);
		row.shared = row.batches != 0;
	}
	return row;
}

unsigned bench_cpus(void)
{
	return (unsigned)cpu_count;
}

unsigned bench_start(void)
{
	cpu_set_t allowed;

	CPU_ZERO(&allowed);
	(void)sched_getaffinity(0, sizeof(allowed), &allowed);
	for (size_t i = 0; i < CPU_SETSIZE; i++) {
		if (CPU_ISSET(i, &allowed))
			cpus[cpu_count++] = i;
	}
	return cpu_count < BENCH_THREADS_MAX ? (unsigned)cpu_count : BENCH_THREADS_MAX;
}

/* ---- What machine the figures belong to ---- */

void bench_cpu_model(char *text, size_t room)
{
	FILE *info = fopen("/proc/cpuinfo", "re");
	char line[256];

	(void)snprintf(text, room, "unknown processor");
	while (info && fgets(line, sizeof(line), info)) {
		const char *value = strchr(line, ':');

		if (strncmp(line, "model name", 10) != 0 || !value)
			continue;
		line[strcspn(line, "\n")] = '\0';
		(void)snprintf(
		    text, room, "%s, %ld CPUs", value + 2, sysconf(_SC_NPROCESSORS_ONLN));
		break;
	}
	if (info)
		(void)fclose(info);
}

void bench_kernel(char *text, size_t room)
{
	struct utsname name;

	if (uname(&name) == 0)
		(void)snprintf(text, room, "%s %s %s", name.sysname, name.release, name.machine);
	else
		(void)snprintf(text, room, "unknown kernel");
}

#if defined(__GLIBC__)
void bench_libc(char *text, size_t room)
{
	(void)snprintf(text, room, "glibc %s", gnu_get_libc_version());
}
#else
void bench_libc(char *text, size_t room)
{
	(void)snprintf(text, room, "a C library that is not glibc");
}
#endif

void bench_say_counted(bool counter)
{
	char libc[64];

	bench_libc(libc, sizeof(libc));
	(void)printf("# compiler: %s\n", __VERSION__);
	(void)printf("# C library: %s\n", libc);
#if defined(__x86_64__)
	(void)printf("# processor: x86-64, AVX %s, AVX2 %s\n",
	    __builtin_cpu_supports("avx") ? "yes" : "no",
	    __builtin_cpu_supports("avx2") ? "yes" : "no");
#else
	(void)printf("# processor: not x86-64\n");
#endif
	(void)printf("# stamps: %s\n", counter ? "processor's counter" : "system call");
}
