/* SPDX-License-Identifier: MIT */
/*
 * frame.h - timing of small loops on a machine that is not ours alone.
 *
 * A batch is PARTS short runs of a loop, on one or two pinned threads that begin together.  A part
 * in which a thread did not hold its CPU for 97 % of the time, or began late, or ran on
 * a core whose other half worked too, as the empty loop before or after it shows, says something
 * about the machine's other work and is thrown away.  The figure of a batch is the mean of the parts
 * left, the figure of a row the median of its batches.
 */
#ifndef BENCH_FRAME_H
#define BENCH_FRAME_H

#include <stdbool.h>
#include <stddef.h>

/* What counts. */
enum bench_clock {
	BENCH_WALL,   /* time as it passes */
	BENCH_BESIDE, /* the same; another thread of the program works on another CPU */
	BENCH_CPU     /* the thread's own time only: the others need the same CPUs */
};

#define BENCH_BATCHES_MAX 15
#define BENCH_PARTS_MAX   20
#define BENCH_THREADS_MAX 2

struct bench_row {
	double ns;        /* per pass of the loop, the empty loop taken off; < 0: no good batch */
	double low, high; /* fastest and slowest batch */
	unsigned batches; /* with at least one good part */
	unsigned parts;   /* good ones */
	bool shared;      /* no part had its cores for itself: those with others count */
};

/* Runs @count passes; @thread is 0 or 1. */
typedef void bench_loop(unsigned thread, unsigned long count);

/* Finds the CPUs.  Returns how many threads can run side by side. */
unsigned bench_start(void);
/* Batches in a row and parts in a batch, up to the maxima (and as many without this call). */
void bench_frame_size(unsigned batches, unsigned parts);
/* Looks for @ms how fast a core is that nobody shares. */
void bench_calibrate(unsigned ms);
struct bench_row bench_run(
    bench_loop *loop, unsigned threads, unsigned long count, enum bench_clock clock);
/*
 * For a loop that waits between its passes: called at its end, says what it took without the
 * waiting, in ns a pass.  Nothing is taken off then.
 */
void bench_own_time(double ns);
/* CPUs that this process may use. */
unsigned bench_cpus(void);
/* Puts the calling thread on the @n-th CPU that this process may use. */
void bench_pin(unsigned n);

/* Facts about the machine, each cut to @room. */
void bench_cpu_model(char *text, size_t room);
void bench_kernel(char *text, size_t room);
void bench_libc(char *text, size_t room);

#endif
