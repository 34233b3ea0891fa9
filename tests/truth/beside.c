/* SPDX-License-Identifier: MIT */
/*
 * beside.c - a writer is at each test point of its trace point while another thread reads, flushes,
 * stops or writes, and goes on at each point of that: at a test point, before a reading of the clock, or
 * where the other one waits.  Two threads, of which one runs at a time; all times are true then,
 * exactly.
 */
#include "ground.h"

#include "beside.h"
#include "conformance/story.h"
#include "core/testpoints.h"
#include "fakes/fakes.h"
#include "port_atomic.h"
#include "suite.h"

#include <pthread.h>
#include <semaphore.h>
#include <unistd.h>

/* Points of the other one that are no test points. */
#define AT_READING 1000
#define AT_PAUSE   1001
#define AT_END     1002

void (*_Atomic pxt_testpoint_hook)(int point);

/* ---- The writer ---- */

static struct {
	pthread_t thread;
	sem_t begin;
	sem_t stands; /* at its point, or after the end */
	sem_t go_on;
	uint32_t left;
	int point; /* where it is; -1: it had come to its end */
	bool standing;
	bool over;
} writer;
static _Thread_local bool is_writer;

static void stand(int point)
{
	writer.point = point;
	writer.standing = true;
	(void)sem_post(&writer.stands);
	semwait(&writer.go_on);
}

static void *write_one_by_one(void *argument)
{
	is_writer = true;
	ground_register();
	for (semwait(&writer.begin); !writer.over; semwait(&writer.begin)) {
		ground_lane(0);
		(void)rd_say_long(OUTER, ground->len);
		(void)sem_post(&writer.stands);
	}
	return NULL;
}

static void let_it_begin(uint32_t nth)
{
	writer.left = nth;
	writer.point = -1;
	(void)sem_post(&writer.begin);
	semwait(&writer.stands);
}

static void let_it_go_on(void)
{
	if (!writer.standing)
		return;
	writer.standing = false;
	(void)sem_post(&writer.go_on);
	semwait(&writer.stands);
}

/* ---- The other one ---- */

static struct {
	bool counting;
	uint32_t left;
	int point;
} other;

/* Where the writer may go on. */
static void pass(int point)
{
	if (!other.counting || !writer.standing || other.left-- > 0)
		return;
	other.point = point;
	let_it_go_on();
}

static void at_point(int point)
{
	if (!is_writer)
		pass(point);
	else if (point <= PXT_TP_LEFT && writer.left-- == 0)
		stand(point);
}

/* The writer goes on before the counter is read: what was read meanwhile is no reading of now. */
static uint64_t tell(uint64_t ticks)
{
	if (is_writer || !other.counting || !writer.standing)
		return ticks;
	pass(AT_READING);
	return writer.standing ? ticks : pxt_port_ticks();
}

/* Who waits for the writer waits until it has gone on. */
void __real_pxt_port_pause_ns(uint64_t ns);
void __wrap_pxt_port_pause_ns(uint64_t ns);
void __wrap_pxt_port_pause_ns(uint64_t ns)
{
	if (is_writer || !writer.standing) {
		__real_pxt_port_pause_ns(ns);
		return;
	}
	other.point = AT_PAUSE;
	let_it_go_on();
}

static void read_slowly(void)
{
	other.counting = true;
	ground_read();
	other.counting = false;
}

static void fill_and_read(void)
{
	ground_lap();
	read_slowly();
}

static void trace_and_read(void)
{
	ground_say(0, NESTED, 4);
	ground_say(1, NESTED, 12);
	read_slowly();
}

/* What was freed is filled again: late writers meet a second stop. */
static void fill_twice(void)
{
	ground_lap();
	ground_read();
	ground_lap();
	read_slowly();
}

static void trace_slowly(void)
{
	other.counting = true;
	ground_say(0, NESTED, 12);
	ground_say(1, NESTED, 4);
	other.counting = false;
	ground_read();
}

static void stop_and_start(void)
{
	ground_say(1, NESTED, 4);
	other.counting = true;
	for (unsigned i = 0; i < ground_count(); i++) {
		PXT_EQ(rd_call(posix_trace_stop, ground_streams[i]), 0);
		PXT_EQ(rd_call(posix_trace_start, ground_streams[i]), 0);
	}
	ground_read();
	other.counting = false;
}

static void clear(void)
{
	ground_say(0, NESTED, 4);
	other.counting = true;
	ground_clear();
	other.counting = false;
	(void)rd_call(posix_trace_start, ground_streams[0]);
	ground_say(1, NESTED, 4);
	ground_read();
}

static const struct deed {
	const char *name;
	void (*run)(void);
} deeds[] = {
	{ "reads", read_slowly },
	{ "fills and reads", fill_and_read },
	{ "fills twice and reads", fill_twice },
	{ "traces and reads", trace_and_read },
	{ "traces", trace_slowly },
	{ "stops and starts", stop_and_start },
	{ "clears", clear },
};
#define DEEDS (sizeof(deeds) / sizeof(deeds[0]))

/* ---- One case ---- */

enum result {
	DONE,
	NO_POINT,       /* the writer has no such point */
	NO_OTHER_POINT, /* the other one has none */
	UNTRUE
};

static enum result one_case(
    const struct ground *where, const struct deed *deed, uint32_t nth, uint32_t other_nth)
{
	bool fine;

	ground_begin(where);
	other.left = other_nth;
	other.point = AT_END;
	pxt_testpoint_hook_set(at_point);
	let_it_begin(nth);
	if (writer.standing)
		deed->run();
	let_it_go_on();
	/* Its end was waited for where it went on; if it came before, let_it_begin() did. */
	pxt_testpoint_hook_set(NULL);
	fine = ground_end(st_text("%s: stands at %d while another one %s, up to %d", ground_name(),
	    writer.point, deed->name, other.point));
	if (!fine)
		return UNTRUE;
	if (writer.point < 0)
		return NO_POINT;
	return other.point == AT_END || other.point == AT_PAUSE ? NO_OTHER_POINT : DONE;
}

/* Every 23rd point of the other one, each time others; every third at full length. */
static enum result at_other_points(
    const struct ground *where, const struct deed *deed, uint32_t nth)
{
	const uint32_t step = pxt_in_full() ? 3 : 23;
	enum result result = DONE;

	for (uint32_t i = nth % step; result == DONE; i += step)
		result = one_case(where, deed, nth, i);
	return result;
}

static void on(const struct ground *where)
{
	for (size_t i = 0; i < DEEDS; i++) {
		uint32_t nth = 0;

		while (at_other_points(where, &deeds[i], nth) == NO_OTHER_POINT)
			nth++;
		CU_ASSERT(nth > 5);
	}
}

static void begin_writer(void)
{
	writer.over = false;
	(void)sem_init(&writer.begin, 0, 0);
	(void)sem_init(&writer.stands, 0, 0);
	(void)sem_init(&writer.go_on, 0, 0);
	PXT_EQ_FATAL(pthread_create(&writer.thread, NULL, write_one_by_one, NULL), 0);
}

static void end_writer(void)
{
	writer.over = true;
	(void)sem_post(&writer.begin);
	(void)pthread_join(writer.thread, NULL);
}

static void on_grounds(struct ground where)
{
	begin_writer();
	for (where.lanes = 1; where.lanes <= 2; where.lanes++) {
		for (int fill = FRESH; fill <= (int)BRIM; fill++) {
			where.fill = (enum ground_fill)fill;
			where.len = fill == SOME ? 32 : 4;
			on(&where);
		}
	}
	end_writer();
}

/* TIM-03, TIM-04, TIM-06, POL-05; rulings 25, 26 */
PXT_TEST(whatever_others_do_while_a_writer_stands_still_all_times_are_true)
{
	on_grounds((struct ground){ .policy = LOOP });
	on_grounds((struct ground){ .policy = LOOP, .ordered = true, .two = true });
}

/* TIM-03, TIM-04, TIM-06, POL-07, POL-09; rulings 25, 26 */
PXT_TEST(they_are_where_the_stream_stops_and_starts_itself_meanwhile)
{
	on_grounds((struct ground){ .policy = FULL });
	on_grounds((struct ground){ .policy = FULL, .two = true });
}

/* TIM-03, TIM-04, TIM-06; rulings 25, 26 */
PXT_TEST(they_are_where_many_events_are_read_at_once)
{
	on_grounds((struct ground){ .policy = LOOP, .many = true });
	on_grounds((struct ground){ .policy = FULL, .many = true });
}

/* TIM-03, TIM-06, FLUSH-02; rulings 25, 26 */
PXT_TEST(they_are_in_a_log)
{
	on_grounds((struct ground){ .policy = LOOP, .logged = true });
}

/* TIM-03, TIM-06, POL-07, POL-09, FLUSH-02; rulings 25, 26 */
PXT_TEST(they_are_in_the_log_of_a_stream_that_stops_and_starts_itself)
{
	on_grounds((struct ground){ .policy = FULL, .logged = true });
}

PXT_BEFORE
{
	/* Handing over to another CPU takes longer. */
	st_pin(true);
	pxt_fake_clock_told = tell;
	pxt_fake_clock_start(1000000000);
	pxt_fake_clock_step(1);
}
