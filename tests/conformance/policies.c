/* SPDX-License-Identifier: MIT */
/* policies.c - what a stream does when it is full: LOOP, UNTIL_FULL, overrun, OVERFLOW and RESUME. */
#include "story.h"

#include "../suite.h"

#include <string.h>

static struct st_spec loop_with(unsigned lanes)
{
	const struct st_spec spec = { .policy = POSIX_TRACE_LOOP, .size = 2048, .lanes = lanes };

	return spec;
}

static struct st_spec until_full_with(unsigned lanes)
{
	const struct st_spec spec = {
		.policy = POSIX_TRACE_UNTIL_FULL, .size = 2048, .lanes = lanes
	};

	return spec;
}

/* ---- LOOP ---- */

/* POL-05, POL-02, POL-03, POL-12, DEC-09, DEC-10, STOP-01 */
PXT_TEST_LANES(loop_keeps_the_newest_events_and_runs_until_it_is_stopped, 0)
{
	const struct st_spec spec = loop_with(lanes);
	trace_id_t trid = st_started(&spec);
	int fitting = st_fitting(trid, st_size_in_force(trid), sizeof(int));
	struct st_event event;
	int next = 0;

	st_say_many(1, 1000);
	st_expect_status(trid, "RUNNING FULL OVERRUN");
	PXT_EQ(posix_trace_stop(trid), 0);
	st_expect_status(trid, "SUSPENDED FULL OVERRUN");
	st_expect_most(trid, 2, "OVERFLOW RESUME");
	CU_ASSERT_FATAL(st_take(trid, &event));
	next = st_number(&event) + 1;
	PXT_CHECK(1000 - (next - 2) >= fitting - 2, "%d of %d events kept, lanes %u",
	    1000 - (next - 2), fitting, spec.lanes);
	st_expect(trid, st_text("%d..1000 STOP0", next));
	PXT_EQ(posix_trace_shutdown(trid), 0);
}

/* mistake 13, POL-04, GETNX-07, DEC-09 */
PXT_TEST_LANES(reading_turns_a_full_loop_stream_not_full, 0)
{
	const struct st_spec spec = loop_with(lanes);
	trace_id_t trid = st_started(&spec);

	st_say_many(1, 1000);
	st_expect_status(trid, "RUNNING FULL OVERRUN");
	CU_ASSERT(strlen(st_story_of(trid, 4)) > 0);
	st_expect_status(trid, "RUNNING NOT_FULL NO_OVERRUN");
	PXT_EQ(posix_trace_shutdown(trid), 0);
}

/* POL-12, DEC-11: what was reported before is not lost when its space is used again */
PXT_TEST_LANES(overwriting_reported_events_is_no_overrun, 0)
{
	const struct st_spec spec = loop_with(lanes);
	trace_id_t trid = st_started(&spec);
	int fitting = st_fitting(trid, st_size_in_force(trid), sizeof(int));
	struct posix_trace_counts_np counts;

	st_expect(trid, "START");
	for (int round = 0; round < 10; round++) {
		st_say_many(1, fitting);
		st_expect(trid, st_text("1..%d", fitting));
		st_expect_status(trid, "RUNNING NOT_FULL NO_OVERRUN");
	}
	CU_ASSERT(st_law(trid, &counts));
	PXT_EQ(counts.posix_lost_np, 0);
	PXT_EQ(posix_trace_shutdown(trid), 0);
}

/* POL-12, DEC-11: the system events that are overwritten count as well */
PXT_TEST(overwriting_an_unread_system_event_is_an_overrun)
{
	const struct st_spec spec = loop_with(1);
	trace_id_t trid = st_started(&spec);
	struct posix_trace_counts_np counts;

	do {
		st_say(1);
		PXT_EQ_FATAL(posix_trace_getcounts_np(trid, &counts, sizeof(counts)), 0);
	} while (counts.posix_lost_np == 0 && counts.posix_written_np < 100000);
	PXT_EQ(counts.posix_lost_np, 1);
	st_expect_status(trid, "RUNNING FULL OVERRUN");
	st_expect_most(trid, 3, "OVERFLOW RESUME 1");
	PXT_EQ(posix_trace_shutdown(trid), 0);
}

/* ---- OVERFLOW and RESUME ---- */

/* SYS-06, SYS-07, SYS-08, TIM-06, DEC-12 */
PXT_TEST_LANES(each_gap_is_bounded_by_one_overflow_and_one_resume_with_their_times, 0)
{
	static struct st_event overflow;
	static struct st_event resume;
	static struct st_event event;
	const struct st_spec spec = loop_with(lanes);
	trace_id_t trid = st_create(&spec);
	int64_t last = 0;

	for (int round = 0; round < 3; round++) {
		int64_t first_lost = pxt_now_ns();

		if (round == 0)
			PXT_EQ(posix_trace_start(trid), 0);
		else
			st_say(0);
		pxt_sleep_ms(50);
		st_say_many(1, 1000);
		CU_ASSERT_FATAL(st_take(trid, &overflow));
		CU_ASSERT_FATAL(st_take(trid, &resume));
		CU_ASSERT_FATAL(st_take(trid, &event));
		PXT_EQ(overflow.info.posix_event_id, POSIX_TRACE_OVERFLOW);
		PXT_EQ(overflow.len, 0);
		PXT_EQ(resume.info.posix_event_id, POSIX_TRACE_RESUME);
		PXT_EQ(resume.len, 0);
		PXT_EQ(event.info.posix_event_id, st_type());
		int64_t at = pxt_ns(&overflow.info.posix_timestamp);
		PXT_CHECK(at >= last && at - first_lost < 40000000 && first_lost - at < 40000000,
		    "OVERFLOW is %lld ns behind the first lost event",
		    (long long)(at - first_lost));
		PXT_EQ(pxt_ns(&resume.info.posix_timestamp), pxt_ns(&event.info.posix_timestamp));
		CU_ASSERT(pxt_ns(&event.info.posix_timestamp) > at + 20000000);
		last = pxt_ns(&event.info.posix_timestamp);
		st_expect(trid, st_text("%d..1000", st_number(&event) + 1));
		pxt_sleep_ms(50);
	}
	PXT_EQ(posix_trace_shutdown(trid), 0);
}

/* SYS-06, DEC-12: the gap begins after what was already reported */
PXT_TEST(a_gap_behind_a_half_read_stream_begins_with_the_oldest_unread_event)
{
	static struct st_event event;
	const struct st_spec spec = loop_with(1);
	trace_id_t trid = st_started(&spec);
	int64_t written = pxt_now_ns();

	st_say_many(1, 10);
	st_expect_most(trid, 6, "START 1..5");
	pxt_sleep_ms(50);
	st_say_many(11, 1000);
	CU_ASSERT_FATAL(st_take(trid, &event));
	PXT_EQ(event.info.posix_event_id, POSIX_TRACE_OVERFLOW);
	CU_ASSERT(pxt_ns(&event.info.posix_timestamp) - written < 40000000);
	CU_ASSERT_FATAL(st_take(trid, &event));
	PXT_EQ(event.info.posix_event_id, POSIX_TRACE_RESUME);
	CU_ASSERT(pxt_ns(&event.info.posix_timestamp) - written > 40000000);
	PXT_EQ(posix_trace_shutdown(trid), 0);
}

#if _PXT_UNIT_FILTER
/* DEC-12, SYS-12 */
PXT_TEST(filtered_overflow_and_resume_are_left_out)
{
	const struct st_spec spec = loop_with(0);
	trace_id_t trid = st_create(&spec);
	trace_event_set_t set;
	struct st_event event;

	PXT_EQ(posix_trace_eventset_empty(&set), 0);
	PXT_EQ(posix_trace_eventset_add(POSIX_TRACE_OVERFLOW, &set), 0);
	PXT_EQ(posix_trace_eventset_add(POSIX_TRACE_RESUME, &set), 0);
	PXT_EQ(posix_trace_set_filter(trid, &set, POSIX_TRACE_SET_EVENTSET), 0);
	PXT_EQ(posix_trace_start(trid), 0);
	st_say_many(1, 1000);
	CU_ASSERT_FATAL(st_take(trid, &event));
	PXT_EQ(event.info.posix_event_id, st_type());
	PXT_EQ(posix_trace_shutdown(trid), 0);
}

static void set_filter_of(trace_id_t trid, trace_event_id_t id, trace_event_set_t *set)
{
	PXT_EQ(posix_trace_eventset_empty(set), 0);
	PXT_EQ(posix_trace_eventset_add(id, set), 0);
	PXT_EQ(posix_trace_set_filter(trid, set, POSIX_TRACE_SET_EVENTSET), 0);
}

/* How many of each were read, of OVERFLOW and RESUME, to the end. */
static void count_gaps(trace_id_t trid, unsigned *overflows, unsigned *resumes)
{
	struct st_event event;

	*overflows = 0;
	*resumes = 0;
	while (st_take(trid, &event)) {
		*overflows += event.info.posix_event_id == POSIX_TRACE_OVERFLOW;
		*resumes += event.info.posix_event_id == POSIX_TRACE_RESUME;
	}
}

/* DEC-12, SYS-07, SYS-08 */
PXT_TEST(each_gap_has_its_overflow_and_none_a_late_resume_where_that_is_filtered)
{
	const struct st_spec spec = loop_with(0);
	trace_id_t trid = st_create(&spec);
	trace_event_set_t set;
	unsigned overflows;
	unsigned resumes;

	set_filter_of(trid, POSIX_TRACE_RESUME, &set);
	PXT_EQ(posix_trace_start(trid), 0);
	for (int i = 0; i < 2; i++) {
		st_say_many(1, 1000);
		count_gaps(trid, &overflows, &resumes);
		PXT_EQ(overflows, 1);
		PXT_EQ(resumes, 0);
	}
	PXT_EQ(posix_trace_eventset_empty(&set), 0);
	PXT_EQ(posix_trace_set_filter(trid, &set, POSIX_TRACE_SET_EVENTSET), 0);
	st_say_many(1, 1);
	count_gaps(trid, &overflows, &resumes);
	PXT_EQ(overflows + resumes, 0);
	PXT_EQ(posix_trace_shutdown(trid), 0);
}

/* SYS-03, POL-09: a START by call after it shows its own */
PXT_TEST(an_automatic_start_that_is_due_shows_the_filter_of_its_restart)
{
	const struct st_spec spec = until_full_with(1);
	trace_event_set_t none;
	trace_event_set_t set;
	struct st_event event;
	struct st_full full;
	trace_id_t trid = st_full_stream(&spec, true, &full);

	st_expect_most(trid, full.recorded + 2, st_text("START 1..%d STOP1", full.recorded));
	PXT_EQ(posix_trace_stop(trid), 0);
	set_filter_of(trid, POSIX_TRACE_UNNAMED_USEREVENT, &set);
	PXT_EQ(posix_trace_start(trid), 0);
	PXT_EQ(posix_trace_eventset_empty(&none), 0);
	CU_ASSERT_FATAL(st_take(trid, &event));
	PXT_EQ(event.info.posix_event_id, POSIX_TRACE_START);
	CU_ASSERT(memcmp(event.data, &none, sizeof(none)) == 0);
	st_expect_most(trid, 1, "STOP0");
	CU_ASSERT_FATAL(st_take(trid, &event));
	PXT_EQ(event.info.posix_event_id, POSIX_TRACE_START);
	CU_ASSERT(memcmp(event.data, &set, sizeof(set)) == 0);
	PXT_EQ(posix_trace_shutdown(trid), 0);
}

/* POL-09, DEC-15: it is not told any more, and nothing else is left to be read */
PXT_TEST(a_stream_runs_again_when_the_stop_that_it_holds_alone_is_filtered)
{
	const struct st_spec spec = until_full_with(0);
	trace_event_set_t set;
	struct st_full full;
	trace_id_t trid;

	st_pin(true);
	trid = st_full_stream(&spec, true, &full);
	st_expect_most(trid, full.recorded + 1, st_text("START 1..%d", full.recorded));
	st_expect_status(trid, "SUSPENDED NOT_FULL NO_OVERRUN");
	set_filter_of(trid, POSIX_TRACE_STOP, &set);
	st_expect_status(trid, "RUNNING NOT_FULL NO_OVERRUN");
	st_say(77);
	st_expect(trid, "START 77");
	PXT_EQ(posix_trace_shutdown(trid), 0);
	st_pin(false);
}

/* DEC-11 */
PXT_TEST(a_filtered_event_sets_no_overrun_in_an_automatically_stopped_stream)
{
	const struct st_spec spec = until_full_with(0);
	struct st_full full;
	trace_id_t trid = st_full_stream(&spec, false, &full);
	trace_event_id_t other = 0;
	trace_event_set_t set;

	PXT_EQ(posix_trace_eventid_open("not filtered either", &other), 0);
	PXT_EQ(posix_trace_eventset_empty(&set), 0);
	PXT_EQ(posix_trace_eventset_add(st_type(), &set), 0);
	PXT_EQ(posix_trace_set_filter(trid, &set, POSIX_TRACE_SET_EVENTSET), 0);
	st_say(1);
	st_expect_status(trid, "SUSPENDED FULL NO_OVERRUN");
	posix_trace_event(other, NULL, 0);
	st_expect_status(trid, "SUSPENDED FULL OVERRUN");
	PXT_EQ(posix_trace_shutdown(trid), 0);
}
#endif

/* ---- UNTIL_FULL ---- */

/* POL-06, POL-07, POL-09, POL-02, SYS-04, DEC-09, DEC-10, SIZ-06 */
PXT_TEST_LANES(until_full_stops_itself_with_the_last_slot_and_restarts_when_read_empty, 0)
{
	const struct st_spec spec = until_full_with(lanes);
	struct st_full full;
	trace_id_t trid = st_full_stream(&spec, false, &full);

	CU_ASSERT_FALSE(full.overrun);
	st_expect_status(trid, "SUSPENDED FULL NO_OVERRUN");
	st_expect_most(trid, full.recorded + 2, st_text("START 1..%d STOP1", full.recorded));
	st_expect_status(trid, "RUNNING NOT_FULL NO_OVERRUN");
	st_expect_most(trid, 1, "START");
	st_say(1);
	st_expect(trid, "1");
	PXT_EQ(posix_trace_shutdown(trid), 0);
}

/* POL-06, POL-12, DEC-09, DEC-11 */
PXT_TEST_LANES(until_full_stops_itself_when_an_event_does_not_fit_and_loses_it, 0)
{
	const struct st_spec spec = until_full_with(lanes);
	struct st_full full;
	struct posix_trace_counts_np counts;
	trace_id_t trid = st_full_stream(&spec, true, &full);

	CU_ASSERT(full.overrun);
	PXT_EQ(full.recorded, full.last - 1);
	CU_ASSERT(st_law(trid, &counts));
	PXT_EQ(counts.posix_lost_np, 1);
	st_expect_status(trid, "SUSPENDED FULL NO_OVERRUN");
	st_say(1000);
	st_expect_status(trid, "SUSPENDED FULL OVERRUN");
	st_expect(trid, st_text("START 1..%d STOP1 START", full.recorded));
	PXT_EQ(posix_trace_shutdown(trid), 0);
}

/* DEC-09, SIZ-01, POL-06: not full merely because a larger event would not fit */
PXT_TEST_LANES(a_stream_stays_running_while_what_comes_still_fits, 0)
{
	const struct st_spec spec = until_full_with(lanes);
	trace_id_t trid = st_started(&spec);
	trace_attr_t attr;
	size_t system = 0;
	int fitting;

	PXT_EQ(posix_trace_get_attr(trid, &attr), 0);
	PXT_EQ(posix_trace_attr_getmaxsystemeventsize(&attr, &system), 0);
	CU_ASSERT_FATAL(system < st_size_in_force(trid));
	fitting = st_fitting(trid, st_size_in_force(trid) - system, sizeof(int));
	CU_ASSERT(fitting > 10);
	for (int number = 1; number <= fitting; number++) {
		struct posix_trace_counts_np counts;

		st_say(number);
		PXT_EQ(posix_trace_getcounts_np(trid, &counts, sizeof(counts)), 0);
		PXT_EQ(counts.posix_lost_np, 0);
		PXT_EQ(counts.posix_held_np, number + 1);
	}
	st_expect_most(trid, fitting + 1, st_text("START 1..%d", fitting));
	PXT_EQ(posix_trace_shutdown(trid), 0);
}

/* POL-08, GETNX-07 */
PXT_TEST_LANES(the_space_of_reported_events_is_used_again, 0)
{
	const struct st_spec spec = until_full_with(lanes);
	trace_id_t trid = st_started(&spec);
	struct posix_trace_counts_np counts;
	struct st_event event;
	int number = 0;

	CU_ASSERT(st_take(trid, &event));
	for (int round = 0; round < 1000; round++) {
		st_say_many(number + 1, number + 7);
		for (int k = 0; k < 7; k++) {
			CU_ASSERT_FATAL(st_take(trid, &event));
			PXT_EQ(st_number(&event), ++number);
		}
	}
	st_expect_status(trid, "RUNNING NOT_FULL NO_OVERRUN");
	CU_ASSERT(st_law(trid, &counts));
	PXT_EQ(counts.posix_lost_np, 0);
	PXT_EQ(counts.posix_retrieved_np, 7001);
	PXT_EQ(posix_trace_shutdown(trid), 0);
}

/* POL-04, START-03, DEC-10 */
PXT_TEST_LANES(start_of_an_automatically_stopped_stream_waits_for_room, 0)
{
	const struct st_spec spec = until_full_with(lanes);
	struct st_full full;
	trace_id_t trid = st_full_stream(&spec, false, &full);

	PXT_EQ(posix_trace_start(trid), 0);
	st_expect_status(trid, "SUSPENDED FULL NO_OVERRUN");
	st_expect_most(trid, 10, "START 1..9");
	st_expect_status(trid, "SUSPENDED NOT_FULL NO_OVERRUN");
	st_say(1000);
	st_expect_status(trid, "SUSPENDED NOT_FULL OVERRUN");
	PXT_EQ(posix_trace_start(trid), 0);
	st_expect_status(trid, "RUNNING NOT_FULL NO_OVERRUN");
	st_say(1001);
	PXT_EQ(posix_trace_stop(trid), 0);
	st_expect(trid, st_text("10..%d STOP1 START 1001 STOP0", full.recorded));
	st_expect_status(trid, "SUSPENDED NOT_FULL NO_OVERRUN");
	PXT_EQ(posix_trace_shutdown(trid), 0);
}

/* POL-10, STOP-03, DEC-10 */
PXT_TEST_LANES(stop_of_an_automatically_stopped_stream_cancels_its_restart, 0)
{
	const struct st_spec spec = until_full_with(lanes);
	struct st_full full;
	trace_id_t trid = st_full_stream(&spec, false, &full);

	PXT_EQ(posix_trace_stop(trid), 0);
	st_say(1000);
	st_expect_status(trid, "SUSPENDED FULL NO_OVERRUN");
	st_expect(trid, st_text("START 1..%d STOP1", full.recorded));
	st_expect_status(trid, "SUSPENDED NOT_FULL NO_OVERRUN");
	st_say(1001);
	st_expect(trid, "");
	PXT_EQ(posix_trace_start(trid), 0);
	st_say(1002);
	st_expect(trid, "START 1002");
	PXT_EQ(posix_trace_shutdown(trid), 0);
}

/* POL-10, DEC-11 */
PXT_TEST(a_stream_stopped_by_call_is_not_restarted_and_counts_no_overrun)
{
	const struct st_spec spec = until_full_with(0);
	trace_id_t trid = st_started(&spec);

	st_say_many(1, 3);
	PXT_EQ(posix_trace_stop(trid), 0);
	st_say_many(4, 3000);
	st_expect_status(trid, "SUSPENDED NOT_FULL NO_OVERRUN");
	st_expect(trid, "START 1..3 STOP0");
	st_say(4);
	st_expect(trid, "");
	st_expect_status(trid, "SUSPENDED NOT_FULL NO_OVERRUN");
	PXT_EQ(posix_trace_shutdown(trid), 0);
}

/* Writes to the brink: what is left is too little for one more event of full->len bytes. */
static trace_id_t at_the_brink(const struct st_spec *spec, int small, struct st_full *full)
{
	trace_id_t trid = st_started(spec);

	for (int i = 1; i <= small; i++)
		st_say_long(i, 4);
	st_fill(trid, small + 1, full->len, full);
	PXT_EQ(posix_trace_shutdown(trid), 0);
	if (full->recorded == full->last)
		return 0;
	trid = st_started(spec);
	for (int i = 1; i <= full->recorded; i++)
		st_say_long(i, i <= small ? 4 : full->len);
	return trid;
}

/* STOP-01, SIZ-06, DEC-09 */
PXT_TEST_LANES(stop_is_recorded_in_however_little_room_is_left, 0)
{
	int tried = 0;
	const struct st_spec spec = until_full_with(lanes);
	struct st_full full;
	trace_id_t trid = st_full_stream(&spec, true, &full);

	PXT_EQ(posix_trace_shutdown(trid), 0);
	for (int small = 0; small < 6; small++) {
		trid = at_the_brink(&spec, small, &full);
		if (trid == 0)
			continue;
		tried++;
		st_expect_status(trid, "RUNNING NOT_FULL NO_OVERRUN");
		PXT_EQ(posix_trace_stop(trid), 0);
		st_expect(trid, st_text("START 1..%d STOP0", full.recorded));
		st_expect_status(trid, "SUSPENDED NOT_FULL NO_OVERRUN");
		PXT_EQ(posix_trace_shutdown(trid), 0);
	}
	CU_ASSERT(tried >= 2);
}

/* POL-07, POL-09: many rounds, so that every position in the ring is met */
PXT_TEST_LANES(every_round_of_stop_and_restart_is_complete, 0)
{
	const struct st_spec spec = until_full_with(lanes);
	trace_id_t trid = st_started(&spec);
	struct posix_trace_counts_np counts;

	for (int round = 0; round < 300; round++) {
		struct st_full full;

		st_fill(trid, 1, 4 + (size_t)round % 40, &full);
		st_expect_most(
		    trid, full.recorded + 2, st_text("START 1..%d STOP1", full.recorded));
		CU_ASSERT(st_law(trid, &counts));
		PXT_EQ(counts.posix_held_np, 0);
	}
	st_expect(trid, "START");
	PXT_EQ(posix_trace_shutdown(trid), 0);
}

/* DEC-12, SYS-08 */
PXT_TEST(until_full_reports_no_overflow)
{
	const struct st_spec spec = until_full_with(0);
	trace_id_t trid = st_started(&spec);
	struct posix_trace_counts_np counts;

	for (int round = 0; round < 5; round++) {
		st_say_many(1, 500);
		CU_ASSERT_PTR_NULL(strstr(st_story_of(trid, 1 << 30), "OVERFLOW"));
	}
	CU_ASSERT(st_law(trid, &counts));
	CU_ASSERT(counts.posix_lost_np > 0);
	PXT_EQ(posix_trace_shutdown(trid), 0);
}
