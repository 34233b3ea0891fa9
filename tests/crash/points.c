/* SPDX-License-Identifier: MIT */
/*
 * points.c - a process crashes at each point of a write, of a flush and of a shutdown that another
 * thread could see, with logs that are sealed by the handler of its signal.
 */
#include "core/testpoints.h"
#include "logs.h"

#include "format/compiler.h"

#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

void (*_Atomic pxt_testpoint_hook)(int point);

/* The point to crash at, from 0; below: none. */
static volatile int nth;
static bool trailer_next;

/* The compiler does not know where it points to. */
static volatile int *volatile nowhere = (volatile int *)(uintptr_t)16;

static void crash_here(int point)
{
	if (nth < 0)
		return;
	if (nth-- != 0) {
		trailer_next |= point == PXT_TP_LOG_LAST;
		return;
	}
	/* A trailer that is on its way knows of no signal, and nothing may come after it. */
	atomic_store(&crash_notes->address, trailer_next);
	atomic_store(&crash_notes->mark, (uint32_t)point + 1u);
	*nowhere = 1;
}

static void arm(const struct crash *crash)
{
	nth = crash->argument;
	pxt_testpoint_hook_set(crash_here);
}

static int write_on(const struct crash *crash)
{
	arm(crash);
	crash_trace(1);
	nth = -1;
	return 0;
}

/* The helper's thread comes to points of its own, which are not the writer's. */
static int flush_now(const struct crash *crash)
{
	arm(crash);
	(void)posix_trace_flush(crash_stream);
	nth = -1;
	return 0;
}

static int shut_down(const struct crash *crash)
{
	arm(crash);
	(void)posix_trace_shutdown(crash_stream);
	nth = -1;
	return 0;
}

/* What a write that failed, on a full disk for example, left behind the log's end. */
static bool with_rubbish;

static int shut_down_behind_a_flush(const struct crash *crash)
{
	static char rubbish[65536];
	off_t size;

	memset(rubbish, '?', sizeof(rubbish));
	(void)posix_trace_flush(crash_stream);
	size = lseek(crash_log, 0, SEEK_END);
	PXT_CHILD_CHECK(!with_rubbish || pwrite(crash_log, rubbish, sizeof(rubbish), size) ==
	                                     (ssize_t)sizeof(rubbish));
	return shut_down(crash);
}

static int clear_now(const struct crash *crash)
{
	arm(crash);
	(void)posix_trace_clear(crash_stream);
	nth = -1;
	return 0;
}

enum verdict {
	WHOLE,
	HONEST,
	CLEARED
};

/* Its events were to go: a log with or without its end, or a file that has no head at this moment. */
static void expect_a_log(bool empty)
{
	trace_id_t log = 0;

	if (crash_open(&log) == 0 ||
	    posix_trace_log_open_np(&crash_log, 1, POSIX_TRACE_OPEN_GROWING_NP, &log, NULL, 0) == 0)
		PXT_EQ(posix_trace_close(log), 0);
	PXT_EQ(log == 0, empty);
}

/* Returns the number of points; *sealed: at how many of them the log was completed. */
static int at_all_points(struct crash crash, enum verdict verdict, int *sealed)
{
	*sealed = 0;
	for (crash.argument = 0; crash.argument < 2000; crash.argument++) {
		int status = crash_play(&crash);

		if (!atomic_load(&crash_notes->mark)) {
			PXT_EQ(status, 0);
			break;
		}
		PXT_CHECK(WIFSIGNALED(status) && WTERMSIG(status) == SIGSEGV,
		    "point %u: ended with status %#x", atomic_load(&crash_notes->mark) - 1u,
		    (unsigned)status);
		if (verdict == CLEARED)
			expect_a_log(atomic_load(&crash_notes->mark) == PXT_TP_LOG_EMPTIED + 1u);
		if (verdict == WHOLE)
			crash_expect_whole(SIGSEGV);
		if (verdict == WHOLE ||
		    (verdict == HONEST &&
		        crash_expect_honest(atomic_load(&crash_notes->address) ? 0 : SIGSEGV)))
			(*sealed)++;
		CU_ASSERT(crash_took_ms < 20000);
	}
	return crash.argument;
}

static const struct crash kinds[] = {
	{ .stream_policy = POSIX_TRACE_LOOP, .log_policy = POSIX_TRACE_APPEND, .lanes = 1 },
	{ .stream_policy = POSIX_TRACE_LOOP, .log_policy = POSIX_TRACE_LOOP, .lanes = 2 },
	{ .stream_policy = POSIX_TRACE_UNTIL_FULL,
	    .log_policy = POSIX_TRACE_UNTIL_FULL,
	    .lanes = 1 },
	{ .stream_policy = POSIX_TRACE_FLUSH, .log_policy = POSIX_TRACE_APPEND, .lanes = 2 },
};

/* With each kind of stream, at each point of @act, of which there are more than @least. */
static void crash_in(int (*act)(const struct crash *), enum verdict verdict, int least)
{
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		struct crash crash = kinds[i];
		int sealed;

		crash.act = act;
		crash.impatient = verdict == HONEST;
		CU_ASSERT(at_all_points(crash, verdict, &sealed) > least);
	}
}

/* PROC-08, DEC-23, DEC-42, SAFE-02; rulings 7, 12, 23 */
PXT_TEST(a_crash_at_any_point_of_a_write_leaves_a_complete_log)
{
	crash_in(write_on, WHOLE, 4);
}

/* DEC-23, DEC-29 */
PXT_TEST(a_crash_at_any_point_of_a_flush_leaves_a_log_that_is_complete_or_says_that_it_is_not)
{
	crash_in(flush_now, HONEST, 20);
}

/* DEC-23, DEC-29, SHUT-06 */
PXT_TEST(a_crash_at_any_point_of_a_shutdown_leaves_a_log_that_is_complete_or_says_that_it_is_not)
{
	crash_in(shut_down, HONEST, 20);
}

/* DEC-23, DEC-29, SHUT-06: after its end there is nothing, or it would be none. */
PXT_TEST(a_crash_at_any_point_of_a_shutdown_ends_the_file_with_the_log)
{
	struct crash crash = kinds[0];
	int points[2];
	int sealed[2];

	crash.act = shut_down_behind_a_flush;
	crash.impatient = true;
	for (int i = 0; i < 2; i++) {
		with_rubbish = i > 0;
		points[i] = at_all_points(crash, HONEST, &sealed[i]);
	}
	PXT_EQ(points[1], points[0]);
	/* Between the arrival of the trailer and the cut after it there is one, which nobody takes over. */
	PXT_EQ(sealed[1], sealed[0] - 1);
}

/* DEC-25, DEC-29 */
PXT_TEST(a_crash_inside_a_clear_hangs_nowhere)
{
	struct crash crash = kinds[0];
	int sealed;

	crash.impatient = true;
	crash.act = clear_now;
	(void)at_all_points(crash, CLEARED, &sealed);
}
