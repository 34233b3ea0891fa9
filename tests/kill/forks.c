/* SPDX-License-Identifier: MIT */
/*
 * forks.c - a forked child is killed at each test point of its first and of its second event
 * in an inherited stream.  The hold-back time is so long here that a call that waited for the dead
 * would be seen.
 */
#include "core/control/control.h"
#include "core/kit.h"
#include "core/process/names.h"
#include "core/process/process.h"
#include "core/process/threads.h"

#include <errno.h>
#include <signal.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define PATIENT_NS UINT64_C(6000000000)
#define PROMPT_NS  INT64_C(3000000000)

/* ---- A child that stops at a test point of its write until it is killed there ---- */

static int to_parent;

/* Tells where it is, and waits to be killed there. */
static void stand(void *argument)
{
	int point = kit_interrupted();

	if (write(to_parent, &point, sizeof(point)) != (ssize_t)sizeof(point))
		_exit(2);
	for (;;)
		(void)pause();
}

/* In the child: from here on, it will be at the @nth test point of what it writes. */
static void stand_at(uint32_t nth)
{
	kit_interrupt(nth, KIT_WRITER_POINTS, stand, NULL);
}

/*
 * Forks a child that runs @body, and ends after it.  Returns the test point at which the child
 * is now, or -1: it came to its end.
 */
static int stand_fork(void (*body)(const void *argument), const void *argument, pid_t *child)
{
	int point = -1;
	int ends[2];

	PXT_EQ_FATAL(pipe(ends), 0);
	*child = fork();
	CU_ASSERT_FATAL(*child >= 0);
	if (*child == 0) {
		to_parent = ends[1];
		body(argument);
		_exit(0);
	}
	(void)close(ends[1]);
	if (read(ends[0], &point, sizeof(point)) != (ssize_t)sizeof(point))
		point = -1;
	(void)close(ends[0]);
	return point;
}

/* ---- What it writes ---- */

struct writer {
	trace_event_id_t id;
	int before;
	uint32_t nth;
};

static void be_the_child(const void *argument)
{
	const struct writer *writer = argument;

	for (int i = 0; i < writer->before; i++)
		posix_trace_event(writer->id, "before", 6);
	stand_at(writer->nth);
	posix_trace_event(writer->id, "inside", 6);
}

/* A child is at the @nth point, after @before whole events; -1: there is no such point. */
static int let_one_stand(trace_event_id_t id, int before, uint32_t nth, pid_t *child)
{
	const struct writer writer = { id, before, nth };

	return stand_fork(be_the_child, &writer, child);
}

/* Takes all there is; how many events were of type @id. */
static int drain(trace_id_t trid, trace_event_id_t id)
{
	struct posix_trace_event_info event;
	unsigned char data[64];
	int unavailable = 0;
	size_t bytes;
	int found = 0;

	while (posix_trace_trygetnext_event(
	           trid, &event, data, sizeof(data), &bytes, &unavailable) == 0 &&
	       !unavailable)
		found += event.posix_event_id == id;
	return found;
}

static trace_id_t inherited(int policy, unsigned lanes)
{
	trace_attr_t attr;
	trace_id_t trid = 0;

	PXT_EQ(posix_trace_attr_init(&attr), 0);
	PXT_EQ(posix_trace_attr_setstreamfullpolicy(&attr, policy), 0);
	PXT_EQ(posix_trace_attr_setstreamsize(&attr, 4096), 0);
	PXT_EQ(posix_trace_attr_setlanes_np(&attr, lanes), 0);
	PXT_EQ(posix_trace_attr_setinherited(&attr, POSIX_TRACE_INHERITED), 0);
	PXT_EQ_FATAL(posix_trace_create(0, &attr, &trid), 0);
	PXT_EQ_FATAL(posix_trace_start(trid), 0);
	return trid;
}

static void expect_the_law(trace_id_t trid)
{
	struct posix_trace_counts_np counts;

	PXT_EQ(posix_trace_getcounts_np(trid, &counts, sizeof(counts)), 0);
	PXT_EQ(counts.posix_written_np, counts.posix_retrieved_np + counts.posix_lost_np +
	                                    counts.posix_cleared_np + counts.posix_held_np);
}

/* The stream stops at once, shows what was whole, counts what was not, and goes on. */
static bool one_case(int policy, unsigned lanes, int before, uint32_t nth)
{
	trace_id_t trid = inherited(policy, lanes);
	trace_event_id_t id = 0;
	pid_t child;
	int point;
	int found;
	int64_t start;

	PXT_EQ(posix_trace_eventid_open("forked", &id), 0);
	point = let_one_stand(id, before, nth, &child);
	(void)kill(child, SIGKILL);
	PXT_EQ(waitpid(child, NULL, 0), child);
	start = pxt_monotonic_ns();
	PXT_EQ(posix_trace_stop(trid), 0);
	PXT_CHECK(
	    pxt_monotonic_ns() - start < PROMPT_NS, "stop waited for the dead at point %d", point);
	expect_the_law(trid);
	found = drain(trid, id);
	/* A slot may be the last one; "left" is the end, or the way to the slow path. */
	PXT_CHECK(
	    found == before + (point < 0 || point == PXT_TP_STORED) ||
	        ((point == PXT_TP_MIDDLE_STORED || point == PXT_TP_LEFT) && found == before + 1),
	    "%d found of %d and one killed at point %d", found, before, point);
	expect_the_law(trid);
	PXT_EQ(posix_trace_start(trid), 0);
	posix_trace_event(id, "after", 5);
	PXT_EQ(drain(trid, id), 1);
	expect_the_law(trid);
	PXT_EQ(posix_trace_shutdown(trid), 0);
	return point >= 0;
}

static void at_all_points(int policy, unsigned lanes, int before)
{
	uint32_t nth = 0;

	pxt_holdback_ns = PATIENT_NS;
	while (one_case(policy, lanes, before, nth))
		nth++;
	CU_ASSERT(nth > 4);
}

/* DEC-42, DEC-43; rulings 7, 12, 20 */
PXT_TEST_FRESH(a_forked_process_killed_inside_a_write_that_overwrites_delays_nobody)
{
	for (unsigned lanes = 1; lanes <= 2; lanes++) {
		at_all_points(POSIX_TRACE_LOOP, lanes, 0);
		at_all_points(POSIX_TRACE_LOOP, lanes, 3);
	}
}

/* DEC-42, DEC-43; rulings 7, 12, 20 */
PXT_TEST_FRESH(a_forked_process_killed_inside_a_write_that_fills_delays_nobody)
{
	for (unsigned lanes = 1; lanes <= 2; lanes++)
		at_all_points(POSIX_TRACE_UNTIL_FULL, lanes, 3);
}

/* DEC-42, ZEP-22 */
PXT_TEST_FRESH(a_forked_process_killed_inside_a_write_that_discards_delays_nobody)
{
	for (unsigned lanes = 1; lanes <= 2; lanes++)
		at_all_points(POSIX_TRACE_DISCARD_NP, lanes, 3);
}

/* How many streams can come and go, one after the other, before the memory of one is kept. */
static bool memory_is_given_back(void)
{
	struct pxt_block *block = NULL;

	for (int i = 0; i < 3; i++) {
		trace_id_t trid = inherited(POSIX_TRACE_LOOP, 1);

		block = kit_block(trid);
		PXT_EQ(posix_trace_shutdown(trid), 0);
		if (!guard_freed(block))
			return false;
	}
	return true;
}

/* DEC-43, SHUT-07; ruling 12: one that has no place in the table of threads is known by a count alone. */
PXT_TEST_FRESH(a_nameless_forked_process_killed_inside_keeps_no_memory_from_the_parent)
{
	trace_id_t trid = inherited(POSIX_TRACE_LOOP, 1);
	trace_event_id_t id = 0;
	pid_t child;

	PXT_EQ(posix_trace_eventid_open("forked", &id), 0);
	PXT_EQ(posix_trace_thread_register_np(), 0);
	atomic_store(&pxt_threads->count, CONFIG_PTRACE_MAX_THREADS - 1u);
	CU_ASSERT(let_one_stand(id, 0, 1, &child) >= 0);
	(void)kill(child, SIGKILL);
	PXT_EQ(waitpid(child, NULL, 0), child);
	CU_ASSERT(pxt_threads_outside_count(&pxt_threads->outside) == 1);
	pxt_holdback_ns = KIT_HOLDBACK_NS;
	CU_ASSERT(memory_is_given_back());
	PXT_EQ(posix_trace_shutdown(trid), 0);
}

/* ---- Stopped in the middle of a definition ---- */

static void stop_here(int point)
{
	if (point == PXT_TP_NAME_WRITTEN)
		(void)raise(SIGSTOP);
}

/* A child that is stopped when it has written the name of a type, and is not counted yet. */
static pid_t begin_defining(void)
{
	trace_event_id_t id;
	pid_t child = fork();

	if (child == 0) {
		pxt_testpoint_hook_set(stop_here);
		_exit(posix_trace_eventid_open("of the child", &id) != 0);
	}
	PXT_EQ(waitpid(child, NULL, WUNTRACED), child);
	return child;
}

/* DEC-43: nobody waits for the stopped, and none of the two writes over the other one. */
PXT_TEST_FRESH(a_process_stopped_in_a_definition_refuses_those_of_others_until_it_goes_on)
{
	trace_id_t trid = inherited(POSIX_TRACE_LOOP, 1);
	trace_event_id_t id = 0;
	pid_t child = begin_defining();
	int status = 0;

	/* What it does not need is not waited for. */
	pxt_holdback_ns = UINT64_C(100000000000);
	PXT_EQ(posix_trace_eventid_open("of the parent", &id), EAGAIN);
	PXT_EQ(posix_trace_eventid_setformat_np(POSIX_TRACE_UNNAMED_USEREVENT + 1, "u8 a"), EINVAL);
	PXT_EQ(posix_trace_stop(trid), 0);
	PXT_EQ(kill(child, SIGCONT), 0);
	PXT_EQ(waitpid(child, &status, 0), child);
	PXT_EQ(status, 0);
	PXT_EQ(posix_trace_eventid_open("of the parent", &id), 0);
	PXT_EQ(id, PXT_ID_USER_FIRST + 1u);
	PXT_EQ(posix_trace_shutdown(trid), 0);
}

/* DEC-42, DEC-43 */
PXT_TEST_FRESH(one_that_is_killed_there_refuses_none)
{
	trace_id_t trid = inherited(POSIX_TRACE_LOOP, 1);
	trace_event_id_t id = 0;
	pid_t child = begin_defining();

	PXT_EQ(kill(child, SIGKILL), 0);
	pxt_holdback_ns = UINT64_C(100000000000);
	PXT_EQ(posix_trace_eventid_open("of the parent", &id), 0);
	PXT_EQ(id, PXT_ID_USER_FIRST);
	PXT_EQ(waitpid(child, NULL, 0), child);
	PXT_EQ(posix_trace_shutdown(trid), 0);
}

PXT_TEST_FRESH(a_point_that_opens_itself_tries_again_when_the_stopped_one_has_gone_on)
{
	trace_id_t trid = inherited(POSIX_TRACE_LOOP, 1);
	trace_event_id_t id = 0;
	pid_t child = begin_defining();

	PXT_EQ(pxt_names_open_at_use("of the parent", "", &id), EAGAIN);
	PXT_EQ(kill(child, SIGCONT), 0);
	PXT_EQ(waitpid(child, NULL, 0), child);
	PXT_EQ(pxt_names_open_at_use("of the parent", "", &id), 0);
	PXT_EQ(id, PXT_ID_USER_FIRST + 1u);
	PXT_EQ(posix_trace_shutdown(trid), 0);
}
