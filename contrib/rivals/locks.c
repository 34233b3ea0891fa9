/* SPDX-License-Identifier: MIT */
/*
 * locks.c - what an uncontended pair of pthread_mutex_lock() and pthread_mutex_unlock() costs, and a
 * contended one.  It knows nothing of traces: it is run plain, by `pxtrace run`, and under other tools.
 *
 * There is a second thread from the start, which sleeps: glibc locks without atomic instructions in a
 * process that has one thread alone, and a traced process has one more.
 *
 *	locks [PAIRS]        prints the nanoseconds of a pair, medians of 15 rounds
 *	locks convoy         a thread waits five times for 30 ms: what is told of that?
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define ROUNDS 15

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static unsigned long pairs = 200000;

static double now_ns(void)
{
	struct timespec now;

	(void)clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec * 1e9 + (double)now.tv_nsec;
}

static int compare(const void *a, const void *b)
{
	double x = *(const double *)a;
	double y = *(const double *)b;

	return (x > y) - (x < y);
}

/* ---- A pair ---- */

static void *work(void *argument)
{
	for (unsigned long i = 0; i < pairs; i++) {
		(void)pthread_mutex_lock(&mutex);
		(void)pthread_mutex_unlock(&mutex);
	}
	return argument;
}

static void *idle(void *argument)
{
	for (;;)
		(void)pause();
	return argument;
}

static double alone(void)
{
	double begin = now_ns();

	(void)work(NULL);
	return (now_ns() - begin) / (double)pairs;
}

static double beside_another(void)
{
	pthread_t other;
	double begin = now_ns();

	if (pthread_create(&other, NULL, work, NULL) != 0)
		_exit(1);
	(void)work(NULL);
	(void)pthread_join(other, NULL);
	return (now_ns() - begin) / (2.0 * (double)pairs);
}

static void report(const char *name, double (*measure)(void))
{
	double ns[ROUNDS];

	(void)measure();
	for (int i = 0; i < ROUNDS; i++)
		ns[i] = measure();
	qsort(ns, ROUNDS, sizeof *ns, compare);
	printf("%s,%.2f\n", name, ns[ROUNDS / 2]);
}

/* ---- A convoy ---- */

pthread_mutex_t convoy_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_barrier_t together;

static __attribute__((noinline)) void hold_for_long(void)
{
	(void)pthread_mutex_lock(&convoy_lock);
	(void)pthread_barrier_wait(&together);
	(void)usleep(30000);
	(void)pthread_mutex_unlock(&convoy_lock);
	/* The other one shall have it in between. */
	(void)pthread_barrier_wait(&together);
}

static void *hold(void *argument)
{
	(void)pthread_setname_np(pthread_self(), "holder");
	for (int i = 0; i < 5; i++)
		hold_for_long();
	return argument;
}

static int convoy(void)
{
	pthread_t holder;

	if (pthread_barrier_init(&together, NULL, 2) != 0 ||
	    pthread_create(&holder, NULL, hold, NULL) != 0)
		return 1;
	for (int i = 0; i < 5; i++) {
		(void)pthread_barrier_wait(&together);
		(void)pthread_mutex_lock(&convoy_lock);
		(void)pthread_mutex_unlock(&convoy_lock);
		(void)pthread_barrier_wait(&together);
	}
	return pthread_join(holder, NULL);
}

int main(int argc, char **argv)
{
	pthread_t other;

	if (argc > 1 && strcmp(argv[1], "convoy") == 0)
		return convoy();
	if (pthread_create(&other, NULL, idle, NULL) != 0)
		return 1;
	if (argc > 1)
		pairs = strtoul(argv[1], NULL, 10);
	report("pair, alone", alone);
	report("pair, beside another thread", beside_another);
	return 0;
}
