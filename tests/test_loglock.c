/* SPDX-License-Identifier: MIT */
/* test_loglock.c - the lock of a log excludes, and whoever sleeps on it is woken. */
#include "suite.h"

#include "logretrieval/log.h"

#include <pthread.h>
#include <sched.h>

#define THREADS 4u
#define ROUNDS  2000u

static struct pxt_log shared;
static volatile unsigned inside;
static volatile unsigned together;
static volatile unsigned long rounds;

static void *come_and_go(void *unused)
{
	for (unsigned i = 0; i < ROUNDS; i++) {
		pxt_log_lock(&shared);
		together = together + (inside != 0);
		inside = 1;
		/* The others find it held, and go to sleep. */
		(void)sched_yield();
		rounds = rounds + 1;
		inside = 0;
		pxt_log_unlock(&shared);
	}
	return unused;
}

PXT_TEST(threads_that_use_one_log_come_one_after_the_other)
{
	pthread_t thread[THREADS];

	for (unsigned i = 0; i < THREADS; i++)
		CU_ASSERT_FATAL(pthread_create(&thread[i], NULL, come_and_go, NULL) == 0);
	for (unsigned i = 0; i < THREADS; i++)
		CU_ASSERT(pthread_join(thread[i], NULL) == 0);
	PXT_EQ(together, 0);
	PXT_EQ(rounds, THREADS * ROUNDS);
}
