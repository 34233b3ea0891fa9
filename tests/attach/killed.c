/* SPDX-License-Identifier: MIT */
/*
 * killed.c - an attached process is killed at each test point of a write, of a name's definition
 * and of attaching.  The owner goes on, has all that was committed, and counts what was not.
 *
 * And the owner is killed at each step of letting a process in, and while that process is at each step of its own.  The
 * process has its answer in time, goes on tracing, and keeps nothing; the name is the next owner's.
 */
#include "../beside.h"
#include "core/testpoints.h"
#include "format/ids.h"
#include "logs.h"

#include <errno.h>
#include <pthread.h>
#include <unistd.h>

#define BEFORE 10u
#define NONE   UINT64_MAX

void (*_Atomic pxt_testpoint_hook)(int point);

/* ---- The one who is killed ---- */

static pthread_t doomed;
static uint32_t to_go;

/* Tells where it is, and waits to be killed there. */
static void stand(int point)
{
	if (!pthread_equal(pthread_self(), doomed) || to_go-- != 0)
		return;
	producer_say((uint64_t)point);
	for (;;)
		(void)pause();
}

static void arm(uint32_t nth)
{
	doomed = pthread_self();
	to_go = nth;
	pxt_testpoint_hook_set(stand);
}

/* All of it went by. */
static void went_by(void)
{
	pxt_testpoint_hook_set(NULL);
	producer_say(NONE);
	for (;;)
		(void)pause();
}

static trace_event_id_t attached_and_busy(void)
{
	trace_event_id_t id;

	(void)producer_attach(0);
	(void)posix_trace_eventid_open("killed.event", &id);
	for (uint32_t i = 0; i < BEFORE; i++)
		posix_trace_event(id, "a longer text that takes some slots", 36);
	return id;
}

static void killed_in_a_write(void *nth)
{
	trace_event_id_t id = attached_and_busy();

	arm(*(const uint32_t *)nth);
	posix_trace_event(id, "a longer text that takes some slots", 36);
	went_by();
}

static void killed_in_a_definition(void *nth)
{
	trace_event_id_t id = attached_and_busy();

	arm(*(const uint32_t *)nth);
	(void)posix_trace_eventid_open("killed.new", &id);
	(void)posix_trace_eventid_setformat_np(id, "u32 new");
	posix_trace_event(id, "1234", 4);
	went_by();
}

static void killed_in_attach(void *nth)
{
	arm(*(const uint32_t *)nth);
	(void)producer_attach(0);
	went_by();
}

static void killed_in_shutdown(void *nth)
{
	trace_id_t trid = producer_attach(0);
	trace_event_id_t id;

	(void)posix_trace_eventid_open("killed.event", &id);
	for (uint32_t i = 0; i < BEFORE; i++)
		posix_trace_event(id, "a longer text that takes some slots", 36);
	arm(*(const uint32_t *)nth);
	(void)posix_trace_shutdown(trid);
	went_by();
}

/* ---- The others ---- */

static void trace_five(void *argument)
{
	trace_event_id_t id;

	(void)producer_attach(0);
	(void)posix_trace_eventid_open("killed.after", &id);
	for (int i = 0; i < 5; i++)
		posix_trace_event(id, "after", 5);
}

static void others_go_on(trace_id_t trid)
{
	trace_event_id_t own = pxt_open_event("killed.own");
	struct producer producer = producer_begin(trace_five, NULL);

	producer_end(&producer);
	PXT_EQ(owner_count(trid, pxt_open_event("killed.after"), 5, PATIENCE_MS), 5);
	posix_trace_event(own, "own", 3);
	PXT_EQ(owner_count(trid, own, 1, PATIENCE_MS), 1);
}

static bool met[PXT_TP_COUNT];

/* False: there is no such point. */
static bool one_case(void (*body)(void *argument), uint32_t nth, size_t committed)
{
	trace_id_t trid = owner_open(&(const struct owner_spec){ .stream_bytes = 16384 });
	struct producer producer = producer_begin(body, &nth);
	trace_event_id_t id = pxt_open_event("killed.event");
	uint64_t point = producer_told(&producer);
	struct posix_trace_counts_np counts;
	size_t found;

	if (point < PXT_TP_COUNT)
		met[point] = true;
	producer_kill(&producer);
	owner_wait_producers(trid, 0);
	found = owner_count(trid, id, committed + 1u, 20);
	PXT_CHECK(found == committed || (body == killed_in_a_write && found == committed + 1u),
	    "%zu events of a process killed at point %d", found, (int)point);
	if (body == killed_in_a_write && (point == PXT_TP_STORED || point == NONE))
		PXT_EQ(found, committed + 1u);
	PXT_EQ(posix_trace_getcounts_np(trid, &counts, sizeof(counts)), 0);
	if (point >= PXT_TP_RESERVED && point <= PXT_TP_STORED)
		PXT_EQ(counts.posix_retrieved_np + counts.posix_lost_np, 1u + committed + 1u);
	else
		PXT_EQ(counts.posix_lost_np, 0);
	others_go_on(trid);
	owner_expect_the_law(trid);
	owner_close(trid);
	return point != NONE;
}

static void at_all_points(void (*body)(void *argument), size_t committed, uint32_t at_least)
{
	uint32_t nth = 0;

	UNREPORTED();
	while (one_case(body, nth, committed))
		nth++;
	PXT_CHECK(nth >= at_least, "only %u points", nth);
}

/* LPT-31, SAFE-01, DEC-42 */
PXT_TEST(one_killed_inside_a_write_costs_that_record)
{
	at_all_points(killed_in_a_write, BEFORE, 6);
}

/* LPT-31, SAFE-01 */
PXT_TEST(one_killed_while_it_defines_a_name_costs_nothing)
{
	at_all_points(killed_in_a_definition, BEFORE, 6);
}

/* LPT-31, SAFE-01 */
PXT_TEST(one_killed_while_it_attaches_leaves_nothing)
{
	at_all_points(killed_in_attach, 0, 7);
	CU_ASSERT(met[PXT_TP_PRODUCER_ASKED]);
	CU_ASSERT(met[PXT_TP_PRODUCER_HELPED]);
	CU_ASSERT(met[PXT_TP_PRODUCER_HEARD]);
}

/* LPT-31, SAFE-01 */
PXT_TEST(one_killed_while_it_leaves_costs_nothing)
{
	at_all_points(killed_in_shutdown, BEFORE, 2);
}

/* ---- One that is only kept from going on ---- */

/* Tells where it is, and goes on when it is told to. */
static void stand_a_while(int point)
{
	if (!pthread_equal(pthread_self(), doomed) || to_go-- != 0)
		return;
	producer_say((uint64_t)point);
	(void)producer_hear();
}

static void kept_in_a_write(void *nth)
{
	trace_event_id_t id = attached_and_busy();

	doomed = pthread_self();
	to_go = *(const uint32_t *)nth;
	pxt_testpoint_hook_set(stand_a_while);
	posix_trace_event(id, "a longer text that takes some slots", 36);
	pxt_testpoint_hook_set(NULL);
	producer_say(NONE);
	(void)producer_hear();
}

static bool kept_at(uint32_t nth)
{
	static struct pxt_got events[BEFORE + 2];
	trace_id_t trid = owner_open(&(const struct owner_spec){ .stream_bytes = 16384 });
	struct producer producer = producer_begin(kept_in_a_write, &nth);
	trace_event_id_t own = pxt_open_event("killed.own");
	uint64_t point = producer_told(&producer);
	struct posix_trace_counts_np counts;
	size_t found = owner_collect(trid, events, BEFORE, PATIENCE_MS);

	PXT_EQ(found, BEFORE);
	posix_trace_event(own, "own", 3);
	/* It came later than what has begun; before what has not, it may be told. */
	if (point == PXT_TP_BEGIN_STORED)
		PXT_EQ(owner_collect(trid, &events[found], 1, 5), 0);
	producer_tell(&producer, 0);
	found += owner_collect(trid, &events[found], BEFORE + 2 - found, PATIENCE_MS);
	PXT_EQ(found, BEFORE + 2);
	if (point >= PXT_TP_BEGIN_STORED && point <= PXT_TP_STORED)
		PXT_EQ(events[found - 1].info.posix_event_id, own);
	PXT_EQ(posix_trace_getcounts_np(trid, &counts, sizeof(counts)), 0);
	PXT_EQ(counts.posix_lost_np, 0);
	(void)close(producer.to);
	producer.to = -1;
	producer_end(&producer);
	owner_close(trid);
	return point != NONE;
}

/* LPT-32, DEC-42 */
PXT_TEST(one_that_stands_still_inside_a_write_loses_nothing_and_comes_in_its_order)
{
	uint32_t nth = 0;

	while (kept_at(nth))
		nth++;
	CU_ASSERT(nth >= 6);
}

/* ThreadSanitizer knows nothing of other processes. */
#ifdef PXT_KILLED_OWNERS

/* ---- The owner is killed ---- */

/* Connection and answer have a second each; the rest is for a busy machine. */
#define IN_TIME_MS 3000u

static int where;

/* Its helper thread tells where it is, and waits to be killed there. */
static void stand_and_wait(int point)
{
	if (point != where)
		return;
	producer_say((uint64_t)point);
	for (;;)
		(void)pause();
}

static void own(void *point)
{
	where = *(const int *)point;
	pxt_testpoint_hook_set(stand_and_wait);
	(void)owner_open(&(const struct owner_spec){ .placed = true });
	producer_say(NONE);
	(void)producer_hear();
}

/* ---- The one who attaches ---- */

static pthread_t watched;
static bool stood;
static long long goes_on_at;

/* Tells where it is, and goes on when it is told to. */
static void wait_there(int point)
{
	if (stood || !pthread_equal(pthread_self(), watched) || to_go-- != 0)
		return;
	stood = true;
	producer_say((uint64_t)point);
	(void)producer_hear();
	goes_on_at = pxt_now_ns();
}

static int attach(const uint32_t *nth, trace_id_t *trid)
{
	long long ms;
	int error;

	watched = pthread_self();
	to_go = nth ? *nth : 0;
	pxt_testpoint_hook_set(nth ? wait_there : NULL);
	goes_on_at = pxt_now_ns();
	error = posix_trace_attach_np(owner_name, NULL, trid);
	ms = (pxt_now_ns() - goes_on_at) / 1000000;
	pxt_testpoint_hook_set(NULL);
	if (nth && !stood) {
		producer_say(NONE);
		(void)producer_hear();
	}
	producer_say((uint64_t)error);
	producer_say((uint64_t)ms);
	return error;
}

static void expect_threads(unsigned count)
{
	for (int i = 0; i < 2000 && pxt_threads_running() != count; i++)
		pxt_sleep_ms(1);
	if (pxt_threads_running() != count)
		_exit(9);
}

/* A stream of its own works as if nothing had been. */
static void trace_alone(trace_event_id_t id)
{
	static struct pxt_got event;
	trace_id_t trid;

	if (posix_trace_create(0, NULL, &trid) != 0 || posix_trace_start(trid) != 0)
		_exit(10);
	posix_trace_event(id, "alone", 5);
	while (event.info.posix_event_id != id && pxt_next(trid, &event))
		;
	if (event.info.posix_event_id != id || event.len != 5 || posix_trace_shutdown(trid) != 0)
		_exit(11);
}

/* @nth: the point where it is; NULL: nowhere.  What is left is its directory's descriptor. */
static void attach_and_go_on(void *nth)
{
	unsigned descriptors = party_entries("/proc/self/fd");
	unsigned threads = pxt_threads_running();
	trace_id_t trid = 0;
	trace_event_id_t id;
	int error = attach(nth, &trid);

	(void)posix_trace_eventid_open("orphan.event", &id);
	if (!error)
		producer_wait(id, false);
	posix_trace_event(id, "unheard", 7);
	trace_alone(id);
	if (!error && posix_trace_shutdown(trid) != 0)
		_exit(1);
	expect_threads(threads);
	if (party_entries("/proc/self/fd") != descriptors + 1u)
		_exit(7);
}

/* ---- Both ---- */

/* What a killed owner left is a socket, which the next one of that name takes over. */
static void expect_only_the_socket(void)
{
	PXT_EQ(access(owner_name, F_OK), 0);
	owner_close(owner_open(&(const struct owner_spec){ .placed = true }));
}

static struct producer begin_owner(int point)
{
	struct producer owner;

	owner_place();
	owner = producer_begin(own, &point);
	PXT_EQ(producer_told(&owner), NONE);
	return owner;
}

/* Its error. */
static int answer_of(const struct producer *producer, uint64_t point)
{
	int error = (int)producer_told(producer);
	uint64_t ms = producer_told(producer);

	PXT_CHECK(ms < IN_TIME_MS, "point %d: answered behind %u ms", (int)point, (unsigned)ms);
	return error;
}

static void owner_killed_at(int point, int expected)
{
	struct producer owner = begin_owner(point);
	struct producer producer = producer_begin(attach_and_go_on, NULL);

	PXT_EQ(producer_told(&owner), point);
	producer_kill(&owner);
	PXT_EQ(answer_of(&producer, (uint64_t)point), expected);
	producer_end(&producer);
	expect_only_the_socket();
}

/* LPT-31, SAFE-01 */
PXT_TEST(an_owner_killed_while_it_lets_a_process_in_keeps_that_one_from_nothing)
{
	owner_killed_at(PXT_TP_OWNER_MAPPED, ENOENT);
	owner_killed_at(PXT_TP_OWNER_PRESENT, ENOENT);
	owner_killed_at(PXT_TP_OWNER_SAID, 0);
}

static bool came_by[PXT_TP_COUNT];

/* False: there is no such point. */
static bool killed_beside(uint32_t nth)
{
	struct producer owner = begin_owner(PXT_TP_COUNT);
	struct producer producer = producer_begin(attach_and_go_on, &nth);
	uint64_t point = producer_told(&producer);
	int error;

	if (point < PXT_TP_COUNT)
		came_by[point] = true;
	producer_kill(&owner);
	producer_tell(&producer, 0);
	error = answer_of(&producer, point);
	/* Until it has asked, nobody can have answered; when it has heard the answer, that counts. */
	if (!came_by[PXT_TP_PRODUCER_ASKED])
		PXT_CHECK(error == ENOENT, "point %d: error %d", (int)point, error);
	else if (came_by[PXT_TP_PRODUCER_HEARD])
		PXT_CHECK(error == 0, "point %d: error %d", (int)point, error);
	else
		PXT_CHECK(error == 0 || error == ENOENT, "point %d: error %d", (int)point, error);
	producer_end(&producer);
	expect_only_the_socket();
	return point != NONE;
}

/* LPT-31, SAFE-01 */
PXT_TEST(an_owner_killed_at_any_step_of_attaching_is_missed_there_or_behind_it)
{
	uint32_t nth = 0;

	while (killed_beside(nth))
		nth++;
	CU_ASSERT(came_by[PXT_TP_PRODUCER_ASKED]);
	CU_ASSERT(came_by[PXT_TP_PRODUCER_HELPED]);
	CU_ASSERT(came_by[PXT_TP_PRODUCER_HEARD]);
}

#endif
