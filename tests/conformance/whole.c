/* SPDX-License-Identifier: MIT */
/* whole.c - events as a whole, or not yet: posix_trace_trygetnext_whole_np(). */
#include "story.h"

#include "../suite.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

struct got {
	int error;
	int none;
	size_t len;
	struct posix_trace_event_info event;
	unsigned char data[512];
};

static struct got take(trace_id_t trid, size_t room)
{
	struct got got = { .len = 77 };

	memset(got.data, 0xa5, sizeof(got.data));
	got.error = posix_trace_trygetnext_whole_np(
	    trid, &got.event, room ? got.data : NULL, room, &got.len, &got.none);
	return got;
}

static bool untouched(const struct got *got)
{
	for (size_t i = 0; i < sizeof(got->data); i++) {
		if (got->data[i] != 0xa5)
			return false;
	}
	return true;
}

static int number_of(const struct got *got)
{
	int number;

	memcpy(&number, got->data, sizeof(number));
	return number;
}

static trace_id_t started(int policy, unsigned lanes)
{
	const struct st_spec spec = {
		.policy = policy, .size = 4096, .max_data = 256, .lanes = lanes
	};
	trace_id_t trid = st_started(&spec);
	struct st_event start;

	CU_ASSERT(st_take(trid, &start));
	return trid;
}

/* An event of 100 bytes, one of 4, and no more. */
static void expect_both(trace_id_t trid)
{
	struct got got;

	for (int i = 0; i < 3; i++) {
		got = take(trid, i == 0 ? 0 : 98 + (size_t)i - 1);
		PXT_EQ(got.error, EMSGSIZE);
		PXT_EQ(got.len, 100);
		PXT_EQ(got.none, 0);
		CU_ASSERT(untouched(&got));
	}
	got = take(trid, got.len);
	PXT_EQ(got.error, 0);
	PXT_EQ(got.len, 100);
	PXT_EQ(number_of(&got), 1);
	PXT_EQ(got.event.posix_truncation_status, POSIX_TRACE_NOT_TRUNCATED);
	PXT_EQ(got.event.posix_event_id, st_type());
	got = take(trid, sizeof(got.data));
	PXT_EQ(got.error, 0);
	PXT_EQ(got.len, 4);
	PXT_EQ(number_of(&got), 2);
}

/* ZEP-19 */
PXT_TEST_LANES(an_event_that_has_no_room_stays_and_says_how_long_it_is, 2)
{
	trace_id_t trid = started(POSIX_TRACE_UNTIL_FULL, lanes);
	struct posix_trace_counts_np counts;
	struct got got;

	st_say_long(1, 100);
	st_say(2);
	PXT_EQ(take(trid, 1).error, EMSGSIZE);
	CU_ASSERT(st_law(trid, &counts));
	PXT_EQ(counts.posix_held_np, 2);
	PXT_EQ(counts.posix_retrieved_np, 1);
	expect_both(trid);
	got = take(trid, 8);
	PXT_EQ(got.error, 0);
	CU_ASSERT(got.none != 0 && untouched(&got));
	PXT_EQ(posix_trace_shutdown(trid), 0);
}

/* ZEP-19: the standard's call cuts it, as it always did */
PXT_TEST(the_standards_calls_go_on_with_it)
{
	trace_id_t trid = started(POSIX_TRACE_LOOP, 1);
	struct posix_trace_event_info event;
	unsigned char data[10];
	size_t len = 0;
	int none = 1;

	st_say_long(1, 100);
	st_say(2);
	PXT_EQ(take(trid, 10).error, EMSGSIZE);
	PXT_EQ(posix_trace_trygetnext_event(trid, &event, data, 10, &len, &none), 0);
	PXT_EQ(len, 10);
	PXT_EQ(event.posix_truncation_status, POSIX_TRACE_TRUNCATED_READ);
	st_expect(trid, "2");
	PXT_EQ(posix_trace_shutdown(trid), 0);
}

/* ZEP-19: what was cut when it was recorded is whole as it is */
PXT_TEST(an_event_that_was_cut_needs_what_is_left_of_it)
{
	trace_id_t trid = started(POSIX_TRACE_LOOP, 1);
	struct got got;

	st_say_long(1, 300);
	got = take(trid, 255);
	PXT_EQ(got.error, EMSGSIZE);
	PXT_EQ(got.len, 256);
	got = take(trid, 256);
	PXT_EQ(got.error, 0);
	PXT_EQ(got.event.posix_truncation_status, POSIX_TRACE_TRUNCATED_RECORD);
	PXT_EQ(posix_trace_shutdown(trid), 0);
}

/* ZEP-19, DEC-12: OVERFLOW and RESUME come before what stayed was lost */
PXT_TEST(an_event_that_is_overwritten_while_it_stays_is_a_gap)
{
	trace_id_t trid = started(POSIX_TRACE_LOOP, 1);

	st_say_long(1, 100);
	PXT_EQ(take(trid, 10).error, EMSGSIZE);
	for (int number = 2; number <= 1000; number++)
		st_say(number);
	PXT_EQ(take(trid, 10).event.posix_event_id, POSIX_TRACE_OVERFLOW);
	PXT_EQ(take(trid, 10).event.posix_event_id, POSIX_TRACE_RESUME);
	CU_ASSERT(take(trid, 10).error == 0);
	CU_ASSERT(st_law(trid, NULL));
	PXT_EQ(posix_trace_shutdown(trid), 0);
}

/* ZEP-19: a log's events, too, and at its end there is none */
PXT_TEST(a_log_tells_the_same)
{
	const struct st_spec spec = { .policy = POSIX_TRACE_UNTIL_FULL,
		.size = 4096,
		.max_data = 256,
		.lanes = 1,
		.with_log = true,
		.fd = pxt_temp_file(),
		.log_policy = POSIX_TRACE_APPEND };
	trace_id_t trid = st_started(&spec);
	struct got got;
	int fd = dup(spec.fd);

	st_say_long(1, 100);
	st_say(2);
	PXT_EQ(posix_trace_shutdown(trid), 0);
	PXT_EQ_FATAL(posix_trace_open(fd, &trid), 0);
	CU_ASSERT(take(trid, 511).event.posix_event_id == POSIX_TRACE_START);
	expect_both(trid);
	CU_ASSERT(take(trid, 511).event.posix_event_id == POSIX_TRACE_STOP);
	got = take(trid, 511);
	CU_ASSERT(got.error == 0 && got.none != 0 && untouched(&got));
	PXT_EQ(posix_trace_close(trid), 0);
	(void)close(fd);
}
