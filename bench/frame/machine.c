/* SPDX-License-Identifier: MIT */
/*
 * machine.c - what the machine itself takes; threads that nothing else keeps waiting; the marker of counted lines; the
 * clock of single measured calls.
 */
#define _GNU_SOURCE
#include "frame.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#define SLOTS 65536ul /* of 16 bytes: 1 MiB, as the streams measured beside it */

struct floor_ring {
	atomic_ulong head;
	char apart[120];
	unsigned char slots[SLOTS][16] __attribute__((aligned(16)));
};

static struct floor_ring rings[BENCH_THREADS_MAX] __attribute__((aligned(128)));

/* ---- The counter ---- */

static double now_ns(void)
{
	struct timespec now;

	(void)clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec * 1e9 + (double)now.tv_nsec;
}

double bench_counter_per_ns(void)
{
	static double rate;
	double begin;
	uint64_t ticks;

	if (rate > 0)
		return rate;
	begin = now_ns();
	ticks = bench_counter();
	while (now_ns() < begin + 2e7)
		;
	rate = (double)(bench_counter() - ticks) / (now_ns() - begin);
	return rate;
}

/* ---- Loops ---- */

void bench_counter_loop(unsigned thread, unsigned long count)
{
	(void)thread;
	for (unsigned long i = 0; i < count; i++)
		(void)bench_counter();
}

void bench_clock_loop(unsigned thread, unsigned long count)
{
	struct timespec now;

	(void)thread;
	for (unsigned long i = 0; i < count; i++) {
		(void)clock_gettime(CLOCK_MONOTONIC, &now);
		__asm__ volatile("" : : "g"(&now) : "memory");
	}
}

static inline __attribute__((always_inline)) void put(struct floor_ring *ring, unsigned long slots)
{
	unsigned long at = atomic_fetch_add_explicit(&ring->head, slots, memory_order_relaxed);
	unsigned long slot[2] = { at, bench_counter() };

	for (unsigned long i = 0; i < slots; i++) {
		memcpy(__builtin_assume_aligned(ring->slots[(at + i) % SLOTS], 16), slot, 16);
		/* Each slot is stored, whole: the compiler may not join them. */
		atomic_signal_fence(memory_order_seq_cst);
	}
}

void bench_floor_4(unsigned thread, unsigned long count)
{
	for (unsigned long i = 0; i < count; i++)
		put(&rings[thread], 1);
}

void bench_floor_record(unsigned thread, unsigned long count)
{
	for (unsigned long i = 0; i < count; i++)
		put(&rings[thread], 2);
}

void bench_floor_32(unsigned thread, unsigned long count)
{
	for (unsigned long i = 0; i < count; i++)
		put(&rings[thread], 3);
}

void bench_floor_256(unsigned thread, unsigned long count)
{
	for (unsigned long i = 0; i < count; i++)
		put(&rings[thread], 17);
}

void bench_floor_once(unsigned thread)
{
	put(&rings[thread], 1);
}

/* Each thread waits for the other's store, so a pass is one way there and one back. */
void bench_round_trip(unsigned thread, unsigned long count)
{
	static atomic_ulong ball __attribute__((aligned(128)));
	static atomic_ulong base;
	static atomic_uint ready __attribute__((aligned(128)));
	unsigned long from;

	if (thread == 0)
		atomic_store(&base, atomic_load(&ball));
	(void)atomic_fetch_add(&ready, 1);
	while (atomic_load(&ready) % 2 != 0)
		(void)sched_yield();
	from = atomic_load(&base);
	for (unsigned long i = 0; i < count; i++) {
		unsigned long turn = from + 2 * i + thread;
		unsigned spins = 0;

		while (atomic_load_explicit(&ball, memory_order_acquire) != turn) {
			if (++spins > 100000)
				(void)sched_yield();
		}
		atomic_store_explicit(&ball, turn + 1, memory_order_release);
	}
}

void bench_measure_floor(void)
{
	struct bench_row got;

	memset(rings, 1, sizeof(rings));
	got = bench_run(bench_floor_4, 1, 50000, BENCH_WALL);
	bench_set_floor(got.ns);
	bench_cost("floor: counter + locked add + slot", "4 B 1 thread", &got);
}

/* ---- Threads that nothing else keeps waiting, as far as that is allowed ---- */

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

/* ---- The marker, and what is said of it ---- */

#define LINE   64u
#define STEP   16u /* between places where the stack may end */
#define PASSES 4u  /* counted with each: records of any length lie in all ways in their lines */
#define WARM                                                                                       \
	320u /* before them: thread, lane and addresses are known, nothing happens for the first time */

/* On a page of its own: nobody else's line or page is taken for it. */
static union {
	lines_word word;
	unsigned char page[4096];
} marker __attribute__((aligned(4096)));

static union {
	lines_word word;
	unsigned char page[4096];
} nobody __attribute__((aligned(4096)));

void lines_begin(void)
{
	(void)printf("marker %p\n", (void *)marker.page);
	(void)fflush(stdout);
}

/* @calls with the stack so many bytes further down in its line, whatever the environment above it. */
static __attribute__((noinline)) void call_at(
    size_t down, lines_calls *calls, lines_word *store, unsigned passes)
{
	size_t over = (uintptr_t)__builtin_frame_address(0) % LINE;
	volatile unsigned char *room = __builtin_alloca(over + down + 1);

	*room = 0;
	calls(store, passes);
}

void lines_row(const char *name, lines_calls *calls)
{
	calls(&nobody.word, WARM);
	for (size_t down = 0; down < LINE; down += STEP)
		call_at(down, calls, &marker.word, PASSES);
	(void)printf("row %u %s\n", LINE / STEP * PASSES, name);
	(void)fflush(stdout);
}

/* ---- The clock of single measured calls: its rate and its step ---- */

#define READINGS 10000

static uint64_t nanoseconds(void)
{
	struct timespec now;

	(void)clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

#if !defined(__x86_64__)

uint64_t bench_before(void)
{
	return nanoseconds();
}

uint64_t bench_after(void)
{
	return nanoseconds();
}

#endif

/* The narrowest of some readings of both clocks: the thread may be preempted between the two. */
struct bench_moment bench_moment(void)
{
	struct bench_moment best = { 0, 0 };
	uint64_t narrowest = UINT64_MAX;

	for (int i = 0; i < 20; i++) {
		uint64_t before = bench_before();
		uint64_t ns = nanoseconds();
		uint64_t after = bench_after();

		if (after - before < narrowest) {
			narrowest = after - before;
			best = (struct bench_moment){ before + narrowest / 2, ns };
		}
	}
	return best;
}

double bench_rate(const struct bench_moment *from, const struct bench_moment *to)
{
	if (to->ns <= from->ns)
		return 0;
	return (double)(to->ticks - from->ticks) * 1e9 / (double)(to->ns - from->ns);
}

static int by_size(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a;
	uint64_t y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

/* By bare readings: the fences of a stamp take longer than a step. */
struct bench_step bench_step(void)
{
	static uint64_t difference[READINGS];
	struct bench_step step = { 0, 0 };
	size_t count = 0;
	size_t best = 0;
	size_t run = 0;
	uint64_t last = bench_counter();

	for (size_t i = 0; i < READINGS; i++) {
		uint64_t now = bench_counter();

		if (now != last)
			difference[count++] = now - last;
		last = now;
	}
	qsort(difference, count, sizeof(difference[0]), by_size);
	for (size_t i = 0; i < count; i++) {
		run = i > 0 && difference[i] == difference[i - 1] ? run + 1 : 1;
		if (run > best) {
			best = run;
			step.ticks = difference[i];
		}
	}
	if (count > 0)
		step.percent = (unsigned)(100 * best / count);
	return step;
}
