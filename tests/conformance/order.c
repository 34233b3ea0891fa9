/* SPDX-License-Identifier: MIT */
/* order.c - who, where and when an event was generated, and in which order events are reported. */
#include "story.h"

#include "../suite.h"

#include <pthread.h>
#include <stdatomic.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static const struct st_spec plain;

/* How far a stamp may be off the wall clock here: the rate is measured once, steps are not followed. */
#define CLOCK_SLACK_NS 5000000

static atomic_int here; /* keeps the compiler from making the calls below tail calls */

/* ---- The record ---- */

static pthread_t other_thread;

static void *say_two(void *argument)
{
	other_thread = pthread_self();
	st_say(2);
	return NULL;
}

/* INF-01, INF-02, INF-04, INF-05, PROC-10 */
PXT_TEST(an_event_names_its_type_process_and_thread)
{
	trace_id_t trid = st_started(&plain);
	pthread_t thread;
	struct st_event event;

	st_say(1);
	PXT_EQ_FATAL(pthread_create(&thread, NULL, say_two, NULL), 0);
	(void)pthread_join(thread, NULL);
	PXT_EQ(posix_trace_stop(trid), 0);
	for (int i = 0; i < 4; i++) {
		const trace_event_id_t ids[] = { POSIX_TRACE_START, st_type(), st_type(),
			POSIX_TRACE_STOP };

		CU_ASSERT_FATAL(st_take(trid, &event));
		PXT_EQ(event.info.posix_event_id, ids[i]);
		PXT_EQ(event.info.posix_pid, getpid());
		CU_ASSERT(pthread_equal(
		    event.info.posix_thread_id, i == 2 ? other_thread : pthread_self()));
		PXT_EQ(event.info.posix_truncation_status, POSIX_TRACE_NOT_TRUNCATED);
	}
	PXT_EQ(posix_trace_shutdown(trid), 0);
}

__attribute__((noinline)) static void point_one(void)
{
	st_type();
	posix_trace_event(st_type(), "1", 1);
	atomic_fetch_add(&here, 1);
	posix_trace_event(st_type(), "2", 1);
	atomic_fetch_add(&here, 1);
}

__attribute__((noinline)) static void point_two(void)
{
	posix_trace_event(st_type(), "3", 1);
	atomic_fetch_add(&here, 1);
}

__attribute__((noinline)) static void start_from_here(trace_id_t trid)
{
	PXT_EQ(posix_trace_start(trid), 0);
	atomic_fetch_add(&here, 1);
}

__attribute__((noinline)) static void stop_from_here(trace_id_t trid)
{
	PXT_EQ(posix_trace_stop(trid), 0);
	atomic_fetch_add(&here, 1);
}

/* INF-03, CON-22, DEC-17 */
PXT_TEST(the_program_address_lies_in_the_function_that_called)
{
	trace_id_t trid = st_create(&plain);
	uintptr_t found[5] = { 0 };
	const uintptr_t functions[5] = { (uintptr_t)start_from_here, (uintptr_t)point_one,
		(uintptr_t)point_one, (uintptr_t)point_two, (uintptr_t)stop_from_here };
	struct st_event event;

	start_from_here(trid);
	point_one();
	point_two();
	stop_from_here(trid);
	for (int i = 0; i < 5; i++) {
		CU_ASSERT_FATAL(st_take(trid, &event));
		found[i] = (uintptr_t)event.info.posix_prog_address;
		/* Instrumented builds make long functions. */
		PXT_CHECK(found[i] > functions[i] && found[i] - functions[i] < 2048,
		    "event %d: address %#lx, function at %#lx", i, (unsigned long)found[i],
		    (unsigned long)functions[i]);
	}
	CU_ASSERT(found[1] != found[2]);
	PXT_EQ(posix_trace_shutdown(trid), 0);
}

/* DEC-17, DEC-39 */
PXT_TEST(automatic_events_have_a_process_and_a_thread_but_no_address)
{
	const struct st_spec until_full = { .policy = POSIX_TRACE_UNTIL_FULL, .size = 1024 };
	const struct st_spec loop = { .policy = POSIX_TRACE_LOOP, .size = 1024, .lanes = 1 };
	struct st_full full;
	struct st_event event;
	trace_id_t trids[2];

	trids[0] = st_full_stream(&until_full, false, &full);
	CU_ASSERT(strlen(st_story_of(trids[0], full.recorded + 1)) > 0);
	trids[1] = st_started(&loop);
	for (int i = 0; i < 1000; i++)
		st_say(i);
	for (int i = 0; i < 4; i++) {
		const trace_event_id_t ids[] = { POSIX_TRACE_STOP, POSIX_TRACE_START,
			POSIX_TRACE_OVERFLOW, POSIX_TRACE_RESUME };

		CU_ASSERT_FATAL(st_take(trids[i / 2], &event));
		PXT_EQ(event.info.posix_event_id, ids[i]);
		PXT_EQ(event.info.posix_pid, getpid());
		CU_ASSERT(pthread_equal(event.info.posix_thread_id, pthread_self()));
		CU_ASSERT_PTR_NULL(event.info.posix_prog_address);
	}
	PXT_EQ(posix_trace_shutdown(trids[0]), 0);
	PXT_EQ(posix_trace_shutdown(trids[1]), 0);
}

/* ---- Time ---- */

/* INF-06, INF-07, TIM-01, TIM-02, DEC-18 */
PXT_TEST(a_time_stamp_is_the_wall_clock_when_the_event_was_generated)
{
	trace_id_t trid = st_started(&plain);
	struct st_event event;

	st_expect(trid, "START");
	for (int i = 0; i < 10; i++) {
		int64_t before = pxt_now_ns();

		st_say(i);
		int64_t after = pxt_now_ns();
		pxt_sleep_ms(10);
		CU_ASSERT_FATAL(st_take(trid, &event));
		int64_t at = pxt_ns(&event.info.posix_timestamp);
		PXT_CHECK(at >= before - CLOCK_SLACK_NS && at <= after + CLOCK_SLACK_NS,
		    "stamp is %lld ns before, %lld ns after the call", (long long)(before - at),
		    (long long)(at - after));
		CU_ASSERT(event.info.posix_timestamp.tv_nsec >= 0 &&
		          event.info.posix_timestamp.tv_nsec <= 999999999);
	}
	PXT_EQ(posix_trace_shutdown(trid), 0);
}

/* TIM-02, TIM-06, DEC-18, QNX-58: so none is 0 */
PXT_TEST(stamps_are_not_before_the_creation_time)
{
	for (int i = 0; i < 100; i++) {
		trace_id_t trid = st_started(&plain);
		trace_attr_t attr;
		struct timespec created;
		struct st_event event;

		PXT_EQ(posix_trace_get_attr(trid, &attr), 0);
		PXT_EQ(posix_trace_attr_getcreatetime(&attr, &created), 0);
		CU_ASSERT_FATAL(st_take(trid, &event));
		CU_ASSERT(pxt_ns(&event.info.posix_timestamp) >= pxt_ns(&created));
		PXT_EQ(posix_trace_shutdown(trid), 0);
	}
}

/* TIM-01, TIM-05, AGCLK-01 */
PXT_TEST(the_clock_resolves_a_microsecond_or_better)
{
	trace_id_t trid = st_create(&plain);
	trace_attr_t attr;
	struct timespec resolution = { -1, -1 };

	PXT_EQ(posix_trace_get_attr(trid, &attr), 0);
	PXT_EQ(posix_trace_attr_getclockres(&attr, &resolution), 0);
	CU_ASSERT(pxt_ns(&resolution) >= 1 && pxt_ns(&resolution) <= 1000);
	PXT_EQ(posix_trace_shutdown(trid), 0);
}

/* ---- Order ---- */

/* TIM-04, DEC-19: control calls of a thread and its events, on changing CPUs */
PXT_TEST(control_events_stand_where_the_call_was_made)
{
	for (unsigned lanes = 0; lanes <= 1; lanes++) {
		const struct st_spec spec = { .lanes = lanes };
		trace_id_t trid = st_create(&spec);

		for (int i = 0; i < 50; i++) {
			st_pin_to((unsigned)i);
			PXT_EQ(posix_trace_start(trid), 0);
			st_pin_to((unsigned)i / 2);
			st_say(1);
			st_pin_to((unsigned)i / 3);
			st_say(2);
			st_pin_to((unsigned)i / 4);
			PXT_EQ(posix_trace_stop(trid), 0);
			if (i % 2 != 0)
				st_expect(trid, "START 1..2 STOP0 START 1..2 STOP0");
		}
		PXT_EQ(posix_trace_shutdown(trid), 0);
	}
	st_pin(false);
}
