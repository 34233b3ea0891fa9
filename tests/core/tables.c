/* SPDX-License-Identifier: MIT */
/*
 * tables.c - what one thread sets for the whole process while others use it: the tables of functions by
 * which Core reaches its units, and the fence that reaches forked processes.  ThreadSanitizer judges.
 */
#include "suite.h"

#include <pthread.h>
#include <sys/wait.h>
#include <trace.h>
#include <trace_np.h>
#include <unistd.h>

#define ROUNDS 20

static int failures[3];

/* As a program does that gives each of its streams a name. */
static void *name_streams(void *unused)
{
	trace_attr_t attr;

	failures[0] += posix_trace_attr_init(&attr) != 0;
	for (int i = 0; i < ROUNDS * 50; i++)
		failures[0] += posix_trace_attr_setsharename_np(&attr, "tables") != 0;
	failures[0] += posix_trace_attr_destroy(&attr) != 0;
	return NULL;
}

static void *inherit_streams(void *unused)
{
	trace_attr_t attr;
	trace_id_t trid;

	failures[1] += posix_trace_attr_init(&attr) != 0;
	failures[1] += posix_trace_attr_setinherited(&attr, POSIX_TRACE_INHERITED) != 0;
	for (int i = 0; i < ROUNDS; i++) {
		failures[1] += posix_trace_create(0, &attr, &trid) != 0;
		failures[1] += posix_trace_start(trid) != 0;
		failures[1] += posix_trace_shutdown(trid) != 0;
	}
	failures[1] += posix_trace_attr_destroy(&attr) != 0;
	return NULL;
}

static void *fork_children(void *unused)
{
	for (int i = 0; i < ROUNDS; i++) {
		int status = 1;
		pid_t child = fork();

		if (child == 0)
			_exit(0);
		failures[2] += child < 0 || waitpid(child, &status, 0) != child || status != 0;
	}
	return NULL;
}

PXT_TEST_FRESH(streams_are_named_inherited_and_forked_beside_each_other)
{
	void *(*const run[])(void *) = { name_streams, inherit_streams, fork_children };
	pthread_t thread[3];
	trace_id_t trid;

	for (int i = 0; i < 3; i++)
		PXT_EQ_FATAL(pthread_create(&thread[i], NULL, run[i], NULL), 0);
	for (int i = 0; i < ROUNDS; i++) {
		PXT_EQ(posix_trace_create(0, NULL, &trid), 0);
		PXT_EQ(posix_trace_start(trid), 0);
		PXT_EQ(posix_trace_shutdown(trid), 0);
	}
	for (int i = 0; i < 3; i++) {
		PXT_EQ(pthread_join(thread[i], NULL), 0);
		PXT_EQ(failures[i], 0);
	}
}
