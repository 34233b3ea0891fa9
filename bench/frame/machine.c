/* SPDX-License-Identifier: MIT */
/* machine.c - what the machine itself takes. */
#define _GNU_SOURCE
#include "frame.h"

#include <sched.h>
#include <stdatomic.h>
#include <string.h>

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

/* The commonest difference that is not a single tick (a second reading within one step). */
unsigned bench_counter_step(void)
{
	unsigned seen[4096] = { 0 };
	unsigned step = 1;
	uint64_t last = bench_counter();

	for (unsigned i = 0; i < 100000; i++) {
		uint64_t next = bench_counter();

		if (next - last < 4096)
			seen[next - last]++;
		last = next;
	}
	for (unsigned i = 1; i < 4096; i++) {
		if (seen[i] > seen[step])
			step = i;
	}
	return step;
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
