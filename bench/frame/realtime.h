/* SPDX-License-Identifier: MIT */
/* realtime.h - periodic threads, and what the programs about many threads share. */
#ifndef BENCH_REALTIME_H
#define BENCH_REALTIME_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <time.h>

/*
 * A thread as real-time as this process is allowed to make it: memory locked, SCHED_FIFO, on one
 * CPU.  What was refused is told by bench_realtime_facts().
 */
void bench_lock_memory(void);
void bench_become_realtime(unsigned cpu, int priority);
void bench_realtime_facts(FILE *to);

/* Sleeps until @ns on CLOCK_MONOTONIC; bench_ns() reads that clock. */
uint64_t bench_ns(void);
/* Processor time of a thread or process, as @clock says. */
double bench_cpu_ns(clockid_t clock);
void bench_sleep_until(uint64_t ns);

/*
 * A new file without a name, in memory where there is such a folder: what is measured is the
 * library's writing, not a disk's.
 */
int bench_memory_file(void);

/* Sorts @values. */
double bench_median(double *values, size_t count);

#endif
