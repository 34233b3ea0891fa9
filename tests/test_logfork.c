/* SPDX-License-Identifier: MIT */
/* test_logfork.c - a fork beside threads that are in the middle of logs. */
#include "suite_trace.h"

#include "logretrieval/log.h"

#include <errno.h>
#include <pthread.h>
#include <unistd.h>

#if PXT_CAN_LOG

static int fd;
static trace_id_t trid;
static struct pxt_log *object;
static atomic_bool held;
static atomic_bool may_go;
static atomic_bool may_stop;

static void make_log(void)
{
	const struct pxt_ops *ops;

	fd = pxt_temp_file();
	PXT_EQ_FATAL(posix_trace_shutdown(pxt_log_stream(NULL, fd)), 0);
	trid = pxt_open_log(fd);
	object = pxt_handle_find(trid, &ops);
	CU_ASSERT_PTR_NOT_NULL_FATAL(object);
	atomic_store(&held, false);
	atomic_store(&may_go, false);
	atomic_store(&may_stop, false);
}

static void drop_log(void)
{
	PXT_EQ(posix_trace_close(trid), 0);
	close(fd);
}

/* @wait: till it is told to go; NULL: for a moment. */
static void *in_the_middle(void *wait)
{
	pxt_log_lock(object);
	atomic_store(&held, true);
	if (!wait)
		pxt_sleep_ms(30);
	while (wait && !atomic_load(&may_go))
		pxt_sleep_ms(1);
	pxt_log_unlock(object);
	return NULL;
}

static pthread_t somebody(void *wait)
{
	pthread_t thread;

	PXT_EQ_FATAL(pthread_create(&thread, NULL, in_the_middle, wait), 0);
	while (!atomic_load(&held))
		pxt_sleep_ms(1);
	return thread;
}

static int read_on(void *argument)
{
	trace_attr_t attr;
	trace_id_t another;

	(void)argument;
	alarm(120);
	PXT_CHILD_CHECK(posix_trace_get_attr(trid, &attr) == 0);
	PXT_CHILD_CHECK(posix_trace_rewind(trid) == 0);
	PXT_CHILD_CHECK(posix_trace_open(fd, &another) == 0);
	PXT_CHILD_CHECK(posix_trace_close(another) == 0);
	return 0;
}

/* DEC-34, SAFE-03 */
PXT_TEST(a_child_reads_a_log_in_which_another_thread_was_at_the_fork)
{
	pthread_t thread;

	make_log();
	thread = somebody(NULL);
	PXT_EQ(pxt_in_child(read_on, NULL), 0);
	pthread_join(thread, NULL);
	drop_log();
}

static int do_without(void *argument)
{
	trace_attr_t attr;
	trace_id_t another;

	(void)argument;
	alarm(120);
	PXT_CHILD_CHECK(posix_trace_get_attr(trid, &attr) == EINVAL);
	PXT_CHILD_CHECK(posix_trace_close(trid) == EINVAL);
	PXT_CHILD_CHECK(posix_trace_open(fd, &another) == 0);
	PXT_CHILD_CHECK(posix_trace_get_attr(another, &attr) == 0);
	return 0;
}

/* DEC-34, SAFE-03 */
PXT_TEST(a_log_that_a_fork_cannot_wait_for_is_closed_in_the_child)
{
	trace_attr_t attr;
	pthread_t thread;

	make_log();
	thread = somebody(&held);
	PXT_EQ(pxt_in_child(do_without, NULL), 0);
	atomic_store(&may_go, true);
	pthread_join(thread, NULL);
	PXT_EQ(posix_trace_get_attr(trid, &attr), 0);
	drop_log();
}

static void *open_and_close(void *unused)
{
	trace_id_t id;

	while (!atomic_load(&may_stop)) {
		(void)posix_trace_open(-1, &id);
		if (posix_trace_open(fd, &id) == 0)
			(void)posix_trace_close(id);
	}
	return unused;
}

/* DEC-34, SAFE-03 */
PXT_TEST(children_open_logs_beside_threads_of_their_parent_that_do)
{
	int rounds = pxt_in_full() ? 2000 : 200;
	pthread_t threads[2];
	int failed = 0;

	/*
	 * Opening allocates.  The C library takes its allocator's locks around a fork; AddressSanitizer's does not
	 * (gcc 12, clang 14), so a child would wait for a lock of a thread that it does not have.  What is the
	 * library's own, its locks at a fork, the other cases bring about without a second thread in malloc().
	 */
	if (PXT_SANITIZED) {
		pxt_skip("the sanitizers' allocators do not survive a fork beside threads");
		return;
	}
	make_log();
	for (size_t i = 0; i < 2; i++)
		PXT_EQ_FATAL(pthread_create(&threads[i], NULL, open_and_close, NULL), 0);
	for (int i = 0; i < rounds && !failed; i++)
		failed = pxt_in_child(read_on, NULL);
	PXT_EQ(failed, 0);
	atomic_store(&may_stop, true);
	for (size_t i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
	drop_log();
}

/* The fork's own locks are given back in the parent. */
PXT_TEST(a_parent_reads_and_opens_logs_behind_a_fork)
{
	make_log();
	PXT_EQ(pxt_in_child(read_on, NULL), 0);
	PXT_EQ(read_on(NULL), 0);
	alarm(0);
	drop_log();
}
#endif
