/* SPDX-License-Identifier: MIT */
/* truncation.c - data longer than the stream or the reader takes. */
#include "story.h"

#include "../suite.h"

#include <string.h>

#define GUARD 0xa7

struct taken {
	struct posix_trace_event_info info;
	unsigned char data[5000];
	size_t len;
	int unavailable;
};

/* Reads one event into a buffer of which only @room bytes may be touched. */
static bool take(trace_id_t trid, struct taken *taken, size_t room)
{
	memset(taken->data, GUARD, sizeof(taken->data));
	taken->len = 12345;
	taken->unavailable = 77;
	PXT_EQ(posix_trace_trygetnext_event(
	           trid, &taken->info, taken->data, room, &taken->len, &taken->unavailable),
	    0);
	return taken->unavailable == 0;
}

static trace_id_t stream_with(size_t max_data)
{
	const struct st_spec spec = { .max_data = max_data, .size = 1 << 12 };
	trace_id_t trid = st_started(&spec);

	st_expect(trid, "START");
	return trid;
}

static bool untouched_from(const struct taken *taken, size_t first)
{
	for (size_t i = first; i < sizeof(taken->data); i++) {
		if (taken->data[i] != GUARD)
			return false;
	}
	return true;
}

static void fill(unsigned char *data, size_t len)
{
	for (size_t i = 0; i < len; i++)
		data[i] = (unsigned char)(i * 13 + 5);
}

/* mistake 11, TRU-01, TRU-02, INF-05 */
PXT_TEST(data_up_to_the_maximum_is_recorded_whole_and_longer_data_cut)
{
	static struct taken taken;
	unsigned char data[300];
	const size_t maximum = 100;
	trace_id_t trid = stream_with(maximum);

	fill(data, sizeof(data));
	for (size_t len = 0; len <= sizeof(data); len++) {
		size_t kept = len < maximum ? len : maximum;

		posix_trace_event(st_type(), data, len);
		CU_ASSERT_FATAL(take(trid, &taken, sizeof(taken.data)));
		PXT_EQ(taken.len, kept);
		PXT_EQ(taken.info.posix_truncation_status,
		    len > maximum ? POSIX_TRACE_TRUNCATED_RECORD : POSIX_TRACE_NOT_TRUNCATED);
		CU_ASSERT(memcmp(taken.data, data, kept) == 0);
		CU_ASSERT(untouched_from(&taken, kept));
	}
	PXT_EQ(posix_trace_shutdown(trid), 0);
}

/* DEC-07, TRU-01, ASMDS-02, SYS-11 */
PXT_TEST(with_a_maximum_of_0_only_system_events_keep_their_data)
{
	static struct taken taken;
	trace_attr_t attr;
	trace_id_t trid = 0;
	int by_call = 77;

	PXT_EQ(posix_trace_attr_init(&attr), 0);
	PXT_EQ(posix_trace_attr_setmaxdatasize(&attr, 0), 0);
	PXT_EQ_FATAL(posix_trace_create(0, &attr, &trid), 0);
	PXT_EQ(posix_trace_start(trid), 0);
	posix_trace_event(st_type(), "x", 1);
	posix_trace_event(st_type(), "x", 0);
	PXT_EQ(posix_trace_stop(trid), 0);
	CU_ASSERT_FATAL(take(trid, &taken, sizeof(taken.data)));
	PXT_EQ(taken.info.posix_event_id, POSIX_TRACE_START);
	PXT_EQ(taken.info.posix_truncation_status, POSIX_TRACE_NOT_TRUNCATED);
	CU_ASSERT_FATAL(take(trid, &taken, sizeof(taken.data)));
	PXT_EQ(taken.len, 0);
	PXT_EQ(taken.info.posix_truncation_status, POSIX_TRACE_TRUNCATED_RECORD);
	CU_ASSERT_FATAL(take(trid, &taken, sizeof(taken.data)));
	PXT_EQ(taken.len, 0);
	PXT_EQ(taken.info.posix_truncation_status, POSIX_TRACE_NOT_TRUNCATED);
	CU_ASSERT_FATAL(take(trid, &taken, sizeof(taken.data)));
	PXT_EQ(taken.info.posix_event_id, POSIX_TRACE_STOP);
	PXT_EQ(taken.len, sizeof(by_call));
	memcpy(&by_call, taken.data, sizeof(by_call));
	PXT_EQ(by_call, 0);
	PXT_EQ(posix_trace_shutdown(trid), 0);
}

/* TRU-03, TRU-04, TRU-07, TRU-08 */
PXT_TEST(a_reader_gets_as_much_as_it_asks_for)
{
	static struct taken taken;
	unsigned char data[50];
	trace_id_t trid = stream_with(64);

	fill(data, sizeof(data));
	for (size_t len = 0; len <= sizeof(data); len += 5) {
		for (size_t room = 0; room <= 60; room++) {
			size_t given = len < room ? len : room;

			posix_trace_event(st_type(), data, len);
			CU_ASSERT_FATAL(take(trid, &taken, room));
			PXT_EQ(taken.len, given);
			PXT_EQ(taken.info.posix_truncation_status,
			    room < len ? POSIX_TRACE_TRUNCATED_READ : POSIX_TRACE_NOT_TRUNCATED);
			CU_ASSERT(memcmp(taken.data, data, given) == 0);
			CU_ASSERT(untouched_from(&taken, given));
		}
	}
	PXT_EQ(posix_trace_shutdown(trid), 0);
}

/* mistake 16, TRU-05, TRU-03 */
PXT_TEST(truncated_on_reading_replaces_truncated_on_recording)
{
	static struct taken taken;
	unsigned char data[50];
	trace_id_t trid = stream_with(20);

	fill(data, sizeof(data));
	posix_trace_event(st_type(), data, 50);
	posix_trace_event(st_type(), data, 50);
	CU_ASSERT_FATAL(take(trid, &taken, 20));
	PXT_EQ(taken.len, 20);
	PXT_EQ(taken.info.posix_truncation_status, POSIX_TRACE_TRUNCATED_RECORD);
	CU_ASSERT_FATAL(take(trid, &taken, 19));
	PXT_EQ(taken.len, 19);
	PXT_EQ(taken.info.posix_truncation_status, POSIX_TRACE_TRUNCATED_READ);
	PXT_EQ(posix_trace_shutdown(trid), 0);
}

/* TRU-06 */
PXT_TEST(an_event_cut_on_reading_is_consumed)
{
	static struct taken taken;
	trace_id_t trid = stream_with(64);

	posix_trace_event(st_type(), "first event", 11);
	posix_trace_event(st_type(), "second", 6);
	CU_ASSERT_FATAL(take(trid, &taken, 3));
	CU_ASSERT(memcmp(taken.data, "fir", 3) == 0);
	CU_ASSERT_FATAL(take(trid, &taken, 64));
	PXT_EQ(taken.len, 6);
	CU_ASSERT(memcmp(taken.data, "second", 6) == 0);
	CU_ASSERT_FALSE(take(trid, &taken, 64));
	PXT_EQ(posix_trace_shutdown(trid), 0);
}

/* TRU-07 */
PXT_TEST(a_reader_may_ask_for_nothing_without_a_buffer)
{
	trace_id_t trid = stream_with(64);
	struct posix_trace_event_info info;
	size_t len = 77;
	int unavailable = 77;

	posix_trace_event(st_type(), NULL, 0);
	posix_trace_event(st_type(), "x", 1);
	PXT_EQ(posix_trace_getnext_event(trid, &info, NULL, 0, &len, &unavailable), 0);
	PXT_EQ(len, 0);
	PXT_EQ(info.posix_truncation_status, POSIX_TRACE_NOT_TRUNCATED);
	len = 77;
	PXT_EQ(posix_trace_getnext_event(trid, &info, NULL, 0, &len, &unavailable), 0);
	PXT_EQ(len, 0);
	PXT_EQ(unavailable, 0);
	PXT_EQ(info.posix_truncation_status, POSIX_TRACE_TRUNCATED_READ);
	PXT_EQ(posix_trace_shutdown(trid), 0);
}

/* SYS-11, DEC-41, TRU-04, TRU-08 */
PXT_TEST(the_data_of_system_events_is_cut_on_reading_like_any_other)
{
	static struct taken taken;
	const struct st_spec spec = { .max_data = 8 };
	trace_id_t trid = st_started(&spec);
	int by_call = 77;

	PXT_EQ(posix_trace_stop(trid), 0);
	CU_ASSERT_FATAL(take(trid, &taken, 4000));
	PXT_EQ(taken.info.posix_event_id, POSIX_TRACE_START);
	CU_ASSERT_FATAL(take(trid, &taken, 2));
	PXT_EQ(taken.info.posix_event_id, POSIX_TRACE_STOP);
	PXT_EQ(taken.len, 2);
	PXT_EQ(taken.info.posix_truncation_status, POSIX_TRACE_TRUNCATED_READ);
	CU_ASSERT(untouched_from(&taken, 2));
	PXT_EQ(posix_trace_start(trid), 0);
	PXT_EQ(posix_trace_stop(trid), 0);
	CU_ASSERT_FATAL(take(trid, &taken, 1));
	PXT_EQ(taken.info.posix_event_id, POSIX_TRACE_START);
#if _PXT_UNIT_FILTER
	PXT_EQ(taken.len, 1);
	PXT_EQ(taken.info.posix_truncation_status, POSIX_TRACE_TRUNCATED_READ);
#endif
	CU_ASSERT_FATAL(take(trid, &taken, sizeof(by_call)));
	PXT_EQ(taken.len, sizeof(by_call));
	memcpy(&by_call, taken.data, sizeof(by_call));
	PXT_EQ(by_call, 0);
	PXT_EQ(taken.info.posix_truncation_status, POSIX_TRACE_NOT_TRUNCATED);
	PXT_EQ(posix_trace_shutdown(trid), 0);
}

/* TRU-04, SYS-11: the automatic events, which are made by the reader */
PXT_TEST(the_data_of_automatic_events_is_cut_on_reading_like_any_other)
{
	static struct taken taken;
	const struct st_spec spec = { .policy = POSIX_TRACE_UNTIL_FULL, .size = 1024 };
	struct st_full full;
	trace_id_t trid = st_full_stream(&spec, false, &full);

	CU_ASSERT(strlen(st_story_of(trid, full.recorded + 1)) > 0);
	CU_ASSERT_FATAL(take(trid, &taken, 3));
	PXT_EQ(taken.info.posix_event_id, POSIX_TRACE_STOP);
	PXT_EQ(taken.len, 3);
	PXT_EQ(taken.info.posix_truncation_status, POSIX_TRACE_TRUNCATED_READ);
	CU_ASSERT(untouched_from(&taken, 3));
	CU_ASSERT_FATAL(take(trid, &taken, 1));
	PXT_EQ(taken.info.posix_event_id, POSIX_TRACE_START);
	CU_ASSERT(untouched_from(&taken, 1));
	PXT_EQ(posix_trace_shutdown(trid), 0);
}
