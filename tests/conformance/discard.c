/* SPDX-License-Identifier: MIT */
/* discard.c - a stream that refuses new events while it is full, and goes on: POSIX_TRACE_DISCARD_NP. */
#include "story.h"

#include "../suite.h"
#include "core/stream/stream.h"

#include <errno.h>
#include <string.h>

#define SIZE 1024u /* 64 slots: START and 26 events or so */

static trace_id_t discarding(unsigned lanes)
{
	const struct st_spec spec = {
		.policy = POSIX_TRACE_DISCARD_NP, .size = SIZE, .lanes = lanes
	};

	return st_started(&spec);
}

/* The stream of a test is the only one of its process. */
static struct pxt_block *block_of(trace_id_t trid)
{
	CU_ASSERT_FATAL(pxt_streams[0].trid == trid);
	return pxt_streams[0].block;
}

/* Says 1, 2, ... until @refused were refused; returns the last that found room. */
static int fill(trace_id_t trid, uint64_t refused)
{
	struct posix_trace_counts_np counts;
	int number = 0;

	do {
		st_say(++number);
		PXT_EQ_FATAL(posix_trace_getcounts_np(trid, &counts, sizeof(counts)), 0);
	} while (counts.posix_lost_np < refused && number < 10000);
	return number - (int)refused;
}

static uint64_t lost_in(trace_id_t trid)
{
	struct posix_trace_counts_np counts;

	CU_ASSERT(st_law(trid, &counts));
	return counts.posix_lost_np;
}

/* ZEP-22 */
PXT_TEST_LANES(the_oldest_events_stay_and_the_stream_runs_on, 1 + CONFIG_PTRACE_LANES)
{
	trace_id_t trid = discarding(lanes);
	int last = fill(trid, 5);

	CU_ASSERT(last > 10);
	st_expect_status(trid, "RUNNING FULL OVERRUN");
	st_expect_status(trid, "RUNNING FULL NO_OVERRUN");
	st_expect(trid, st_text("START 1..%d", last));
	PXT_EQ(lost_in(trid), 5);
	PXT_EQ(posix_trace_shutdown(trid), 0);
}

/* ZEP-17, ZEP-22 */
PXT_TEST_LANES(the_first_event_after_a_gap_says_how_many_are_missing, 1 + CONFIG_PTRACE_LANES)
{
	trace_id_t trid = discarding(lanes);
	int last = fill(trid, 7);
	struct posix_trace_eventextra_np extra;
	struct st_event event;

	st_expect(trid, st_text("START 1..%d", last));
	st_say(9000);
	st_say(9001);
	CU_ASSERT_FATAL(st_take(trid, &event));
	PXT_EQ(event.info.posix_event_id, POSIX_TRACE_OVERFLOW);
	PXT_EQ(posix_trace_eventinfo_getextra_np(&event.info, &extra, sizeof(extra)), 0);
	PXT_EQ(extra.posix_lost_before_np, 7);
	st_expect(trid, "RESUME 9000..9001");
	PXT_EQ(lost_in(trid), 7);
	PXT_EQ(posix_trace_shutdown(trid), 0);
}

/* ZEP-17: once, and what is refused later is told later */
PXT_TEST(each_gap_is_told_once)
{
	trace_id_t trid = discarding(1);
	struct st_event event;
	int last = fill(trid, 1);

	CU_ASSERT(st_take(trid, &event));
	for (int number = 1; number <= 6; number++)
		CU_ASSERT(st_take_user(trid, &event) && st_number(&event) == number);
	st_say(9000);
	while (lost_in(trid) < 3)
		st_say(9000);
	st_expect_most(trid, last - 3, st_text("7..%d OVERFLOW RESUME 9000", last));
	CU_ASSERT(strncmp(st_story_of(trid, 1 << 30), "9000 9000", 9) == 0);
	st_say(9002);
	st_expect(trid, "OVERFLOW RESUME 9002");
	st_say(9003);
	st_expect(trid, "9003");
	PXT_EQ(posix_trace_shutdown(trid), 0);
}

/* Until one more was refused. */
static void fill_up(trace_id_t trid)
{
	uint64_t lost = lost_in(trid);

	while (lost_in(trid) == lost)
		st_say(1);
}

/* ZEP-22: room for the event alone is none, as long as a gap before it is to be marked */
PXT_TEST(an_event_after_a_gap_needs_one_slot_more)
{
	trace_id_t trid = discarding(1);
	struct pxt_block *block = block_of(trid);
	struct st_event event;
	uint64_t lost;

	fill_up(trid);
	st_expect_most(trid, 2, "START 1");
	fill_up(trid);
	/* A mark makes odd what was even. */
	while (pxt_block_room(block) != 0) {
		CU_ASSERT_FATAL(st_take_user(trid, &event));
		fill_up(trid);
	}
	lost = lost_in(trid);
	CU_ASSERT(st_take_user(trid, &event));
	PXT_EQ(pxt_block_room(block), 2);
	st_expect_status(trid, "RUNNING FULL OVERRUN");
	st_say(2);
	PXT_EQ(lost_in(trid), lost + 1);
	CU_ASSERT(st_take_user(trid, &event));
	st_expect_status(trid, "RUNNING NOT_FULL OVERRUN");
	st_say(3);
	PXT_EQ(lost_in(trid), lost + 1);
	PXT_EQ(posix_trace_shutdown(trid), 0);
}

/* ZEP-22: a larger event is refused where a smaller one still finds room */
PXT_TEST(events_of_any_length_are_refused_one_by_one)
{
	trace_id_t trid = discarding(1);
	int last = fill(trid, 1);

	st_expect_most(trid, 3, "START 1..2");
	st_say_long(9000, 200);
	st_say(9001);
	st_expect(trid, st_text("3..%d OVERFLOW RESUME 9001", last));
	PXT_EQ(lost_in(trid), 2);
	PXT_EQ(posix_trace_shutdown(trid), 0);
}

/* ZEP-22, CLEAR-03 */
PXT_TEST(clear_forgets_what_was_refused_before)
{
	trace_id_t trid = discarding(1);

	(void)fill(trid, 4);
	PXT_EQ(posix_trace_clear(trid), 0);
	st_expect_status(trid, "RUNNING NOT_FULL NO_OVERRUN");
	st_say(1);
	st_expect(trid, "1");
	(void)fill(trid, 6);
	st_expect_status(trid, "RUNNING FULL OVERRUN");
	PXT_EQ(posix_trace_shutdown(trid), 0);
}

/* ZEP-22 */
PXT_TEST_LANES(a_full_stream_can_be_stopped_and_started, 1 + CONFIG_PTRACE_LANES)
{
	trace_id_t trid = discarding(lanes);
	int last = fill(trid, 1);

	PXT_EQ(posix_trace_stop(trid), 0);
	st_expect_status(trid, "SUSPENDED FULL OVERRUN");
	PXT_EQ(posix_trace_start(trid), 0);
	st_expect_status(trid, "RUNNING FULL NO_OVERRUN");
	st_say(9000);
	st_expect(trid, st_text("START 1..%d STOP0 START", last));
	st_say(9001);
	st_expect(trid, "OVERFLOW RESUME 9001");
	PXT_EQ(posix_trace_shutdown(trid), 0);
}

/* ZEP-22, ASSFP-01 */
PXT_TEST(the_policy_is_an_attribute_and_no_logs_policy)
{
	trace_id_t trid = discarding(1);
	trace_attr_t attr;
	int policy = 0;

	PXT_EQ(posix_trace_get_attr(trid, &attr), 0);
	PXT_EQ(posix_trace_attr_getstreamfullpolicy(&attr, &policy), 0);
	PXT_EQ(policy, POSIX_TRACE_DISCARD_NP);
#if CONFIG_PTRACE_TOLOG
	PXT_EQ(posix_trace_attr_setlogfullpolicy(&attr, POSIX_TRACE_DISCARD_NP), EINVAL);
#endif
	PXT_EQ(posix_trace_attr_destroy(&attr), 0);
	PXT_EQ(posix_trace_shutdown(trid), 0);
}

/* ZEP-17: a forked writer that was killed after it had taken room for a mark loses no count */
PXT_TEST(a_mark_that_was_never_stored_comes_with_a_later_event)
{
	trace_id_t trid = discarding(1);
	int last = fill(trid, 3);
	struct pxt_block *block = block_of(trid);
	struct pxt_place place = { .ring = pxt_block_ring(block, 0) };

	st_expect_most(trid, last, st_text("START 1..%d", last - 1));
	/* As far as a writer comes that dies then: a mark's slot and a record's. */
	PXT_EQ(pxt_ring_reserve(&place, 3, PXT_TAKE_FREE), PXT_RESERVED);
	block->quiet = 1;
	st_say(9000);
	st_expect_without(trid, "ERROR", st_text("%d OVERFLOW RESUME 9000", last));
	PXT_EQ(lost_in(trid), 4);
	PXT_EQ(posix_trace_shutdown(trid), 0);
}
