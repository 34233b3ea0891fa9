/* SPDX-License-Identifier: MIT */
/*
 * handlers.c - a handler that was taken away is not in any trace point any more when the call that took
 * it away says 0: what it uses may go.  A trace point that stands still keeps the rules that it began with.
 * Link with -Wl,--wrap=pxt_port_pause_ns.
 */
#include "../beside.h"
#include "../suite.h"

#include "core/process/process.h"
#include "core/testpoints.h"
#include "format/compiler.h"

#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <trace.h>
#include <trace_np.h>
#include <unistd.h>

#define THREADS 2

static struct {
	pthread_t thread;
	sem_t begin;
	sem_t there; /* registered; then: in the handler */
	sem_t go_on;
	bool runs;
} threads[THREADS];
static atomic_int in_handler;
static trace_event_id_t type;
/* What the thread that waits for trace points does in between; NULL: it waits. */
static void (*in_between)(void);
static pthread_t caller;

static int stand(const struct posix_trace_handled_np *event, void *arg)
{
	int which = *(const int *)event->posix_data_np;

	atomic_fetch_add(&in_handler, 1);
	(void)sem_post(&threads[which].there);
	semwait(&threads[which].go_on);
	atomic_fetch_sub(&in_handler, 1);
	return 1;
}

static void *write_one(void *argument)
{
	int which = *(const int *)argument;
	int data[2] = { which, which };

	(void)posix_trace_thread_register_np();
	(void)sem_post(&threads[which].there);
	semwait(&threads[which].begin);
	posix_trace_event(type, data, sizeof(data));
	/* No handler may have asked for it. */
	(void)sem_post(&threads[which].there);
	return NULL;
}

static void start_thread(int which)
{
	static int numbers[THREADS] = { 0, 1 };

	(void)sem_init(&threads[which].begin, 0, 0);
	(void)sem_init(&threads[which].there, 0, 0);
	(void)sem_init(&threads[which].go_on, 0, 0);
	threads[which].runs = true;
	PXT_EQ_FATAL(pthread_create(&threads[which].thread, NULL, write_one, &numbers[which]), 0);
	semwait(&threads[which].there);
}

static void go_into_the_handler(int which)
{
	(void)sem_post(&threads[which].begin);
	semwait(&threads[which].there);
}

static void come_out(int which)
{
	if (!threads[which].runs)
		return;
	threads[which].runs = false;
	(void)sem_post(&threads[which].go_on);
	(void)pthread_join(threads[which].thread, NULL);
}

void __real_pxt_port_pause_ns(uint64_t ns);
void __wrap_pxt_port_pause_ns(uint64_t ns);

void __wrap_pxt_port_pause_ns(uint64_t ns)
{
	if (in_between && pthread_equal(pthread_self(), caller))
		in_between();
	else
		__real_pxt_port_pause_ns(ns);
}

static void all_come_out(void)
{
	come_out(0);
	come_out(1);
}

/* The call waits before the rules change, and has passed this thread, which has an earlier place. */
static void another_one_goes_in(void)
{
	in_between = all_come_out;
	go_into_the_handler(1);
	come_out(0);
}

static trace_id_t stream;
static trace_event_set_t set;

/* A running stream with the handler that stands still. */
static void open_started(void)
{
	PXT_EQ_FATAL(posix_trace_create(0, NULL, &stream), 0);
	PXT_EQ(posix_trace_eventid_open("handlers", &type), 0);
	PXT_EQ(posix_trace_eventset_empty(&set), 0);
	PXT_EQ(posix_trace_eventset_add(type, &set), 0);
	PXT_EQ(posix_trace_set_handler_np(stream, &set, stand, NULL), 0);
	PXT_EQ(posix_trace_start(stream), 0);
}

static void take_away_while(void (*first_pause)(void), int others)
{
	open_started();
	for (int i = others; i >= 0; i--)
		start_thread(i);
	go_into_the_handler(0);
	pxt_holdback_ns = UINT64_C(100000000000);
	caller = pthread_self();
	in_between = first_pause;
	PXT_EQ(posix_trace_set_handler_np(stream, &set, NULL, NULL), 0);
	in_between = NULL;
	PXT_EQ(atomic_load(&in_handler), 0);
	all_come_out();
	PXT_EQ(posix_trace_shutdown(stream), 0);
}

/* QNX-45; ruling 12 */
PXT_TEST(a_handler_that_was_taken_away_is_in_no_thread_any_more)
{
	take_away_while(all_come_out, 0);
}

/* QNX-45; ruling 12 */
PXT_TEST(nor_in_one_that_came_in_while_the_call_waited)
{
	take_away_while(another_one_goes_in, 1);
}

/* One thread stands in the handler, and nobody waits for it for long. */
static void stand_in_the_handler(void)
{
	open_started();
	start_thread(0);
	go_into_the_handler(0);
	pxt_holdback_ns = 1000000;
}

PXT_TEST_FRESH(a_call_that_leaves_a_thread_in_the_old_handler_says_so_until_it_has_left)
{
	stand_in_the_handler();
	PXT_EQ(posix_trace_set_handler_np(stream, &set, NULL, NULL), EBUSY);
	PXT_EQ(posix_trace_set_handler_np(stream, &set, NULL, NULL), EBUSY);
	PXT_EQ(atomic_load(&in_handler), 1);
	come_out(0);
	PXT_EQ(posix_trace_set_handler_np(stream, &set, NULL, NULL), 0);
	PXT_EQ(posix_trace_shutdown(stream), 0);
}

PXT_TEST_FRESH(so_does_every_change_of_rules)
{
	const pthread_t self = pthread_self();
	const pid_t process = getpid();

	stand_in_the_handler();
	PXT_EQ(posix_trace_set_threads_np(stream, &self, 1), EBUSY);
	PXT_EQ(posix_trace_set_processes_np(stream, &process, 1), EBUSY);
	PXT_EQ(posix_trace_set_short_np(stream, &set), EBUSY);
	come_out(0);
	PXT_EQ(posix_trace_set_threads_np(stream, NULL, 0), 0);
	PXT_EQ(posix_trace_shutdown(stream), 0);
}

static uint64_t shortened(trace_id_t of)
{
	struct posix_trace_levels_np levels = { 0 };

	PXT_EQ(posix_trace_getlevels_np(of, &levels, sizeof(levels)), 0);
	return levels.posix_shortened_np;
}

static trace_event_set_t all_types(void)
{
	trace_event_set_t all;

	PXT_EQ(posix_trace_eventset_fill(&all, POSIX_TRACE_ALL_EVENTS), 0);
	return all;
}

PXT_TEST_FRESH(a_trace_point_goes_on_with_the_rules_that_it_began_with)
{
	trace_event_set_t all = all_types();

	stand_in_the_handler();
	for (int i = 0; i < 3; i++)
		PXT_EQ(posix_trace_set_handler_np(stream, &set, i % 2 ? stand : NULL, NULL), EBUSY);
	PXT_EQ(posix_trace_set_short_np(stream, &all), EBUSY);
	come_out(0);
	PXT_EQ(shortened(stream), 0);
	PXT_EQ(posix_trace_shutdown(stream), 0);
}

PXT_TEST_FRESH(also_when_its_stream_is_gone_and_another_one_has_the_place)
{
	trace_event_set_t all = all_types();

	stand_in_the_handler();
	PXT_EQ(posix_trace_shutdown(stream), 0);
	PXT_EQ_FATAL(posix_trace_create(0, NULL, &stream), 0);
	PXT_EQ(posix_trace_set_short_np(stream, &all), EBUSY);
	come_out(0);
	PXT_EQ(shortened(stream), 0);
	PXT_EQ(posix_trace_shutdown(stream), 0);
}

static int count_calls(const struct posix_trace_handled_np *event, void *arg)
{
	++*(unsigned *)arg;
	return 1;
}

void (*_Atomic pxt_testpoint_hook)(int point);

static unsigned calls;

/* The stream of this trace point goes, and another one comes into its place, with rules of its own. */
static void change_places(int point)
{
	if (point != PXT_TP_GATE_SEEN)
		return;
	pxt_testpoint_hook_set(NULL);
	PXT_EQ(posix_trace_shutdown(stream), 0);
	PXT_EQ_FATAL(posix_trace_create(0, NULL, &stream), 0);
	PXT_EQ(posix_trace_set_handler_np(stream, &set, count_calls, &calls), EBUSY);
}

PXT_TEST_FRESH(a_trace_point_of_a_stream_that_is_gone_asks_no_handler_of_the_next_one)
{
	uint64_t data = 1;

	open_started();
	PXT_EQ(posix_trace_set_handler_np(stream, &set, NULL, NULL), 0);
	pxt_holdback_ns = 1000000;
	pxt_testpoint_hook_set(change_places);
	posix_trace_event(type, &data, sizeof(data));
	PXT_EQ(calls, 0);
	PXT_EQ(posix_trace_set_handler_np(stream, &set, NULL, NULL), 0);
	PXT_EQ(posix_trace_shutdown(stream), 0);
}
