/* SPDX-License-Identifier: MIT */
/*
 * beside.c - control calls, the reader and other writers while another thread is inside a
 * write, at each of its points.  Either it goes on when the action is done (the call has given it
 * up), or it goes on while the call waits for it: then nothing is given up, and what it had
 * reserved before a stop is read.  Link with -Wl,--wrap=pxt_port_pause_ns.
 */
#include "beside.h"
#include "core/process/process.h"
#include "kit.h"

#include <pthread.h>
#include <semaphore.h>

static struct {
	pthread_t thread;
	sem_t there;
	sem_t go_on;
	uint32_t nth;
	int point; /* where it is; -1: it had no such point */
	bool released;
	struct pxt_who self; /* of all these threads, one at a time: they need but one entry */
} writer;
static _Thread_local bool is_writer;
static bool when_waited_for; /* release it as soon as somebody waits */

static void release(void)
{
	if (!writer.released)
		(void)sem_post(&writer.go_on);
	writer.released = true;
}

void __real_pxt_port_pause_ns(uint64_t ns);
void __wrap_pxt_port_pause_ns(uint64_t ns);

void __wrap_pxt_port_pause_ns(uint64_t ns)
{
	if (when_waited_for && !is_writer)
		release();
	__real_pxt_port_pause_ns(ns);
}

static void stand_at_the_point(int point)
{
	if (!is_writer || writer.point >= 0 || !(KIT_WRITER_POINTS >> point & 1u) || writer.nth--)
		return;
	writer.point = point;
	(void)sem_post(&writer.there);
	semwait(&writer.go_on);
}

static void *write_outer(void *argument)
{
	const volatile uint32_t *cpu = argument;

	if (!writer.self.epoch) {
		PXT_EQ(posix_trace_thread_register_np(), 0);
		writer.self = pxt_self;
	}
	pxt_self = writer.self;
	pxt_self.cpu = cpu;
	is_writer = true;
	kit_write(OUTER, action_setting->len);
	if (writer.point < 0)
		(void)sem_post(&writer.there);
	return NULL;
}

static void let_it_stand(uint32_t nth)
{
	const volatile uint32_t *cpu = pxt_self.cpu;

	writer.nth = nth;
	writer.point = -1;
	writer.released = false;
	PXT_EQ_FATAL(sem_init(&writer.there, 0, 0), 0);
	PXT_EQ_FATAL(sem_init(&writer.go_on, 0, 0), 0);
	pxt_testpoint_hook_set(stand_at_the_point);
	PXT_EQ_FATAL(pthread_create(&writer.thread, NULL, write_outer, (void *)(uintptr_t)cpu), 0);
	semwait(&writer.there);
}

static void let_it_go(void)
{
	release();
	(void)pthread_join(writer.thread, NULL);
	pxt_testpoint_hook_set(NULL);
}

/* ---- Given up ---- */

static bool one_case(const struct action *action, uint32_t nth)
{
	struct action_case what = { .action = action, .inner = -1 };

	action_begin(action_setting);
	let_it_stand(nth);
	what.point = writer.point;
	what.spoil = what.point == PXT_TP_LOOKED;
	if (what.point >= 0)
		action->run(NULL);
	let_it_go();
	if (what.point >= 0)
		action_verdict(&what);
	action_end();
	return what.point >= 0;
}

static void on(const struct setting *setting)
{
	action_all_on(setting, DIES, one_case);
}

/* POL-05, POL-12, SAFE-01, SAFE-03, SAFE-07; rulings 7, 12, 23 */
PXT_TEST(others_may_do_anything_while_a_writer_that_overwrites_stands_still)
{
	on(&(const struct setting){ LOOP, 1, 1024, 4, SOME, 0, 0 });
	on(&(const struct setting){ LOOP, 2, 1024, 30, LAPPED, 0, 0 });
}

/* POL-03, POL-06, POL-07, POL-12, SAFE-03; rulings 7, 12, 14 */
PXT_TEST(others_may_do_anything_while_a_writer_that_fills_stands_still)
{
	on(&(const struct setting){ FULL, 1, 1024, 30, FREE, 0, 0 });
	on(&(const struct setting){ FULL, 2, 4096, 30, SOME, 0, 0 });
}

/* ---- Waited for ---- */

enum call {
	STOP,
	FILTER_OUT,
	SHUT_DOWN,
	CALLS
};

static void call(enum call which)
{
	if (which == STOP)
		PXT_EQ(posix_trace_stop(action_stream), 0);
	else if (which == FILTER_OUT)
		action_filter(POSIX_TRACE_SET_EVENTSET);
	else
		PXT_EQ(posix_trace_shutdown(action_stream), 0);
}

/* Only what had not reserved its place when the stop came may be lost; STOP is the last. */
static void expect_nothing_given_up(enum call which, uint32_t nth)
{
	/* LEFT so early: on the way from the fast path to the slow one. */
	bool late = writer.point < PXT_TP_RESERVED || (writer.point == PXT_TP_LEFT && nth < 4);
	struct posix_trace_counts_np counts;

	if (which == SHUT_DOWN) {
		action_stream = 0;
		return;
	}
	if (which == FILTER_OUT) {
		kit_write(AFTER, 4);
		CU_ASSERT(kit_settle(action_stream));
		PXT_EQ(kit_missing(AFTER, 1, 1), 1);
	}
	/* The hold-back time is long: whatever is unfinished stays so. */
	(void)kit_read_all(action_stream);
	kit_counts(action_stream, &counts);
	PXT_EQ(counts.posix_held_np, 0);
	PXT_CHECK(counts.posix_lost_np <= (late && which == STOP), "call %d, point %d: %llu lost",
	    (int)which, writer.point, (unsigned long long)counts.posix_lost_np);
	PXT_CHECK(kit_missing(OUTER, 1, 1) <= late, "call %d, point %d: not read", (int)which,
	    writer.point);
	CU_ASSERT(which != STOP || kit_seen.last_was_stop);
	CU_ASSERT(kit_law(action_stream));
	CU_ASSERT(kit_clean());
}

static bool one_wait(enum call which, uint32_t nth)
{
	bool stands;

	action_begin(action_setting);
	(void)kit_read_all(action_stream);
	let_it_stand(nth);
	stands = writer.point >= 0;
	if (stands) {
		pxt_holdback_ns = UINT64_C(100000000000);
		when_waited_for = true;
		call(which);
		when_waited_for = false;
	}
	let_it_go();
	if (stands)
		expect_nothing_given_up(which, nth);
	pxt_holdback_ns = KIT_HOLDBACK_NS;
	action_end();
	return stands;
}

/* STOP-04, SFILT-07, SHUT-07, EVENT-10; ruling 12 */
PXT_TEST(a_call_waits_for_a_writer_that_goes_on_and_gives_nothing_up)
{
	static const struct setting settings[] = {
		{ LOOP, 1, 4096, 4, SOME, 0, 0 },
		{ LOOP, 2, 4096, 30, SOME, 0, 0 },
		{ FULL, 1, 4096, 30, SOME, 0, 0 },
		{ FULL, 2, 4096, 4, FRESH, 0, 0 },
	};

	for (size_t i = 0; i < sizeof(settings) / sizeof(settings[0]); i++)
		for (int which = 0; which < CALLS; which++) {
			uint32_t nth = 0;

			action_setting = &settings[i];
			while (one_wait((enum call)which, nth))
				nth++;
			CU_ASSERT(nth > 4);
		}
}

/* ---- Within a change of the filter ---- */

/*
 * The call records its FILTER event: it waited for writers before, and has not turned the gate.  Once:
 * another hook is set then.
 */
static void begin_a_writer(int point)
{
	/* It is marked inside; then it has seen the gate. */
	if (point == PXT_TP_HEAD_SEEN)
		let_it_stand(1);
}

/* SFILT-07; ruling 12 */
PXT_TEST(a_writer_that_judges_by_the_old_filter_is_waited_for_by_the_call_that_changes_it)
{
	action_setting = &(const struct setting){ FULL, 1, 4096, 4, FRESH, 0, 0 };
	action_begin(action_setting);
	/* It gets its place among the threads. */
	let_it_stand(UINT32_MAX);
	let_it_go();
	pxt_holdback_ns = UINT64_C(100000000000);
	when_waited_for = true;
	pxt_testpoint_hook_set(begin_a_writer);
	action_filter(POSIX_TRACE_SET_EVENTSET);
	when_waited_for = false;
	PXT_EQ(writer.point, PXT_TP_GATE_SEEN);
	CU_ASSERT(writer.released);
	let_it_go();
	kit_write(AFTER, 4);
	(void)kit_read_all(action_stream);
	PXT_EQ(kit_missing(OUTER, 1, 2), 0);
	PXT_EQ(kit_missing(AFTER, 1, 1), 1);
	pxt_holdback_ns = KIT_HOLDBACK_NS;
	action_end();
}
