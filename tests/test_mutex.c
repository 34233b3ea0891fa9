/* SPDX-License-Identifier: MIT */
/*
 * test_mutex.c - the lock between control calls on Linux: the kernel knows who holds it and who waits,
 * lends priority, and a forked child's thread is another one.
 */
#define _GNU_SOURCE
#include "port/port.h"
#include "suite.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

#define WAITERS 0x80000000u
#define MARK    4711
#define MS_NS   1000000u

static struct pxt_port_mutex mutex;
static _Atomic uint32_t waiter; /* its number */
static _Atomic uint32_t done;
static atomic_int changed; /* errno of the waiter */

/* The kernel's view of it. */
static uint32_t word(void)
{
	/* Others lock it meanwhile. */
	return atomic_load_explicit(
	    (const _Atomic uint32_t *)(const void *)mutex.opaque, memory_order_relaxed);
}

static uint32_t number(void)
{
	return (uint32_t)syscall(SYS_gettid);
}

static void *lock_and_leave(void *argument)
{
	const int *priority = argument;
	const struct sched_param urgent = { .sched_priority = priority ? *priority : 0 };

	if (priority && pthread_setschedparam(pthread_self(), SCHED_FIFO, &urgent) != 0)
		atomic_store(&changed, 1);
	atomic_store(&waiter, number());
	errno = MARK;
	pxt_port_mutex_lock(&mutex);
	if (errno != MARK || (word() & ~WAITERS) != number())
		atomic_store(&changed, 1);
	pxt_port_mutex_unlock(&mutex);
	if (errno != MARK)
		atomic_store(&changed, 1);
	atomic_store(&done, 1u);
	return NULL;
}

/* With the lock held: another thread waits for it in the kernel. */
static pthread_t let_one_wait(int *priority)
{
	pthread_t thread;

	atomic_store(&done, 0u);
	atomic_store(&changed, 0);
	CU_ASSERT_FATAL(pthread_create(&thread, NULL, lock_and_leave, priority) == 0);
	for (int i = 0; i < 10000 && !(word() & WAITERS); i++)
		pxt_port_pause_ns(MS_NS);
	CU_ASSERT((word() & WAITERS) != 0);
	return thread;
}

PXT_TEST(who_holds_it_stands_in_its_word_and_who_tries_meanwhile_fails)
{
	pxt_port_mutex_init(&mutex);
	PXT_EQ(word(), 0);
	CU_ASSERT(pxt_port_mutex_try(&mutex));
	PXT_EQ(word(), number());
	CU_ASSERT(!pxt_port_mutex_try(&mutex));
	PXT_EQ(word(), number());
	pxt_port_mutex_unlock(&mutex);
	PXT_EQ(word(), 0);
}

PXT_TEST(who_waits_gets_it_when_it_is_given_back_and_errno_stays)
{
	pthread_t thread;

	pxt_port_mutex_init(&mutex);
	pxt_port_mutex_lock(&mutex);
	thread = let_one_wait(NULL);
	CU_ASSERT(word() == (number() | WAITERS));
	PXT_EQ(atomic_load(&done), 0);
	CU_ASSERT(!pxt_port_mutex_try(&mutex));
	errno = MARK;
	pxt_port_mutex_unlock(&mutex);
	PXT_EQ(errno, MARK);
	(void)pthread_join(thread, NULL);
	PXT_EQ(atomic_load(&done), 1);
	PXT_EQ(atomic_load(&changed), 0);
	PXT_EQ(word(), 0);
}

/* As the system shows it: of real-time threads below 0. */
static long shown_priority(void)
{
	char line[512] = "";
	FILE *file = fopen("/proc/thread-self/stat", "re");
	char *at;
	char *next = NULL;

	if (file && !fgets(line, sizeof(line), file))
		line[0] = '\0';
	if (file)
		(void)fclose(file);
	at = strrchr(line, ')');
	if (!at)
		return 0;
	(void)strtok_r(at, " ", &next);
	for (int field = 3; field < 18 && next; field++)
		(void)strtok_r(NULL, " ", &next);
	at = next ? strtok_r(NULL, " ", &next) : NULL;
	return at ? strtol(at, NULL, 10) : 0;
}

/* DEC-40: a thread that is preempted with the lock held is as urgent as who waits for it. */
PXT_TEST(who_waits_lends_its_priority_to_who_holds_it)
{
	const struct sched_param urgent = { .sched_priority = 1 };
	const struct sched_param usual = { .sched_priority = 0 };
	int priority = 7;
	pthread_t thread;
	long before = shown_priority();

	if (pthread_setschedparam(pthread_self(), SCHED_FIFO, &urgent) != 0) {
		pxt_skip("no real-time priority for this user");
		return;
	}
	(void)pthread_setschedparam(pthread_self(), SCHED_OTHER, &usual);
	if (pxt_skip_emulated("it has no such files") || before < 0)
		return;
	pxt_port_mutex_init(&mutex);
	pxt_port_mutex_lock(&mutex);
	thread = let_one_wait(&priority);
	PXT_EQ(shown_priority(), -1 - priority);
	pxt_port_mutex_unlock(&mutex);
	PXT_EQ(shown_priority(), before);
	(void)pthread_join(thread, NULL);
	PXT_EQ(atomic_load(&changed), 0);
}

/* The child's thread has another number than its parent's, which the parent's locks taught it. */
static int lock_in_a_child(void *argument)
{
	pthread_t thread;

	(void)alarm(120);
	pxt_port_mutex_lock(&mutex);
	PXT_CHILD_CHECK(word() == number());
	PXT_CHILD_CHECK(!pxt_port_mutex_try(&mutex));
	thread = let_one_wait(NULL);
	pxt_port_mutex_unlock(&mutex);
	PXT_CHILD_CHECK(pthread_join(thread, NULL) == 0);
	PXT_CHILD_CHECK(atomic_load(&done) == 1 && atomic_load(&changed) == 0);
	PXT_CHILD_CHECK(word() == 0);
	return 0;
}

PXT_TEST(a_childs_thread_locks_under_its_own_number)
{
	pxt_port_mutex_init(&mutex);
	pxt_port_mutex_lock(&mutex);
	pxt_port_mutex_unlock(&mutex);
	PXT_EQ(pxt_in_child(lock_in_a_child, NULL), 0);
}

static volatile sig_atomic_t tried;

static void try_in_handler(int signal_number)
{
	tried = pxt_port_mutex_try(&mutex);
	if (tried)
		pxt_port_mutex_unlock(&mutex);
}

PXT_TEST(a_handler_that_tries_gets_it_only_where_nobody_has_it)
{
	pxt_port_mutex_init(&mutex);
	(void)signal(SIGUSR1, try_in_handler);
	(void)raise(SIGUSR1);
	PXT_EQ(tried, 1);
	PXT_EQ(word(), 0);
	pxt_port_mutex_lock(&mutex);
	(void)raise(SIGUSR1);
	PXT_EQ(tried, 0);
	PXT_EQ(word(), number());
	pxt_port_mutex_unlock(&mutex);
	(void)signal(SIGUSR1, SIG_DFL);
}
