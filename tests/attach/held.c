/* SPDX-License-Identifier: MIT */
/*
 * held.c - a write into memory that another process sent takes as long as that process likes: it may hold the
 * lock of the memory's inode.  The stream's shutdown does not wait for that.
 */
#define _GNU_SOURCE
#include "attach/kit.h"
#include "core/process/process.h"
#include "core/testpoints.h"

#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <unistd.h>

void (*_Atomic pxt_testpoint_hook)(int point);

static pthread_t tester;
static atomic_bool held;
static sem_t stands;
static sem_t may_go;

/* The helper, at its first write. */
static void stand(int point)
{
	if (point != PXT_TP_LOG_SENDING || pthread_equal(pthread_self(), tester) ||
	    !atomic_exchange(&held, false))
		return;
	(void)sem_post(&stands);
	while (sem_wait(&may_go) != 0)
		continue;
}

struct asker {
	int fd;
	struct at_ask ask;
	int error;
};

static void *ask(void *argument)
{
	struct asker *asker = argument;

	asker->error = at_ask(asker->fd, &asker->ask, NULL, NULL);
	return NULL;
}

/* The helper gives its place back when it comes; that is seen by the next named stream there. */
static void expect_shutdown_in_time(uint32_t what)
{
	char path[PXT_CTLSOCK_PATH];
	trace_id_t trid = at_stream(POSIX_TRACE_LOOP, path);
	struct asker asker = { .fd = at_connect(path),
		.ask = { .what = what, .passed = at_memfd() } };
	pthread_t thread;
	trace_attr_t attr;
	long long begun;
	int error;

	pxt_lock_patience_ns = 10000000;
	PXT_EQ(sem_init(&stands, 0, 0), 0);
	PXT_EQ(sem_init(&may_go, 0, 0), 0);
	tester = pthread_self();
	atomic_store(&held, true);
	pxt_testpoint_hook_set(stand);
	PXT_EQ(posix_trace_start(trid), 0);
	PXT_EQ_FATAL(pthread_create(&thread, NULL, ask, &asker), 0);
	while (sem_wait(&stands) != 0)
		continue;
	begun = pxt_now_ns();
	PXT_EQ(posix_trace_shutdown(trid), 0);
	CU_ASSERT(pxt_now_ns() - begun < 2000000000);
	/* The name is free, but the helper has this place. */
	CU_ASSERT(access(path, F_OK) != 0);
	pxt_attr(&attr, 65536, 64, POSIX_TRACE_LOOP);
	PXT_EQ(posix_trace_attr_setsharename_np(&attr, path), 0);
	PXT_EQ(posix_trace_create(0, &attr, &trid), EAGAIN);
	(void)sem_post(&may_go);
	for (int i = 0; i < 5000; i++) {
		error = posix_trace_create(0, &attr, &trid);
		if (error != EAGAIN)
			break;
		pxt_sleep_ms(1);
	}
	PXT_EQ(error, 0);
	PXT_EQ(posix_trace_attr_destroy(&attr), 0);
	PXT_EQ(pthread_join(thread, NULL), 0);
	PXT_EQ(posix_trace_shutdown(trid), 0);
	pxt_testpoint_hook_set(NULL);
	(void)close(asker.ask.passed);
	(void)close(asker.fd);
}

static void a_snapshot_that_is_held_does_not_hold_the_shutdown(void)
{
	expect_shutdown_in_time(PXT_CTLSOCK_SNAPSHOT);
}

static void a_log_that_grows_and_is_held_does_not_hold_the_shutdown(void)
{
	expect_shutdown_in_time(PXT_CTLSOCK_FOLLOW);
}

static const struct pxt_case cases[] = {
	PXT_CASE(a_snapshot_that_is_held_does_not_hold_the_shutdown),
	PXT_CASE(a_log_that_grows_and_is_held_does_not_hold_the_shutdown),
};
PXT_SUITE("attach: held", cases)
