/* SPDX-License-Identifier: MIT */
/*
 * killed.c - an attached process is killed at each test point of a write, of a name's definition
 * and of attaching.  The owner goes on, has all that was committed, and counts what was not.
 */
#include "../beside.h"
#include "attach/kit.h"
#include "core/testpoints.h"
#include "format/ids.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>
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
	static struct pxt_event events[BEFORE + 2];
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
