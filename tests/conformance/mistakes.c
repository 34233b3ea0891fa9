/* SPDX-License-Identifier: MIT */
/*
 * mistakes.c - what other implementations got wrong (docs/decisions.md), as far as it must be seen in the smallest
 * configurations and on boards as well.
 */
#include "../suite_trace.h"

#include <string.h>
#include <trace.h>

#if PXT_CAN_CREATE
/* EVNAM-03, SYS-01, mistake 6 */
PXT_TEST(event_names_are_the_prescribed_ones)
{
	char name[TRACE_EVENT_NAME_MAX + 1] = "";
	trace_id_t trid = pxt_any_stream(NULL);

	PXT_EQ(posix_trace_eventid_get_name(trid, POSIX_TRACE_UNNAMED_USEREVENT, name), 0);
	CU_ASSERT_STRING_EQUAL(name, "posix_trace_unnamed_userevent");
	if (pxt_has_type(trid, POSIX_TRACE_START)) {
		PXT_EQ(posix_trace_eventid_get_name(trid, POSIX_TRACE_START, name), 0);
		CU_ASSERT_STRING_EQUAL(name, "posix_trace_start");
	}
	PXT_EQ(posix_trace_shutdown(trid), 0);
}

/* LSTNX-02, mistake 17 */
PXT_TEST(the_type_list_reports_its_end)
{
	trace_id_t trid = pxt_any_stream(NULL);
	trace_event_id_t id = 0;
	int unavailable = 0;
	int count = 0;

	while (count < 2000 && unavailable == 0) {
		PXT_EQ(posix_trace_eventtypelist_getnext_id(trid, &id, &unavailable), 0);
		count++;
	}
	CU_ASSERT_NOT_EQUAL(unavailable, 0);
	PXT_EQ(posix_trace_shutdown(trid), 0);
}
#endif

#if _PXT_UNIT_ONLINE
/* TRYNX-02, GETNX-05, mistake 4 */
PXT_TEST(no_event_is_success_with_unavailable_set)
{
	struct posix_trace_event_info event;
	size_t len = 0;
	int unavailable = 0;
	trace_id_t trid = pxt_stream(0, 0, 0);

	PXT_EQ(posix_trace_trygetnext_event(trid, &event, NULL, 0, &len, &unavailable), 0);
	CU_ASSERT_NOT_EQUAL(unavailable, 0);
	PXT_EQ(posix_trace_shutdown(trid), 0);
}
#endif

#if PXT_CAN_WATCH
/* Records until the stream has no room; false if it never says so. */
static bool fill_up(trace_id_t trid, struct posix_trace_status_info *status)
{
	for (int i = 0; i < 100000; i++) {
		posix_trace_event(POSIX_TRACE_UNNAMED_USEREVENT, &i, sizeof(i));
		PXT_EQ(posix_trace_get_status(trid, status), 0);
		if (status->posix_stream_full_status == POSIX_TRACE_FULL)
			return true;
	}
	return false;
}

/* POL-12, STA-02, mistake 9 */
PXT_TEST(an_overrun_reaches_the_status_and_is_reset_by_it)
{
	struct posix_trace_status_info status;

	if (!pxt_stream_policy_exists(POSIX_TRACE_LOOP)) {
		pxt_skip("no LOOP policy");
		return;
	}
	trace_id_t trid = pxt_running_stream(2048, 0, POSIX_TRACE_LOOP);
	for (int i = 0; i < 1000; i++)
		posix_trace_event(POSIX_TRACE_UNNAMED_USEREVENT, &i, sizeof(i));
	PXT_EQ(posix_trace_stop(trid), 0);
	PXT_EQ(posix_trace_get_status(trid, &status), 0);
	PXT_EQ(status.posix_stream_overrun_status, POSIX_TRACE_OVERRUN);
	PXT_EQ(posix_trace_get_status(trid, &status), 0);
	PXT_EQ(status.posix_stream_overrun_status, POSIX_TRACE_NO_OVERRUN);
	PXT_EQ(posix_trace_shutdown(trid), 0);
}

/* TRU-01, EVENT-02, mistake 11 */
PXT_TEST(long_data_is_cut_and_not_split)
{
	static const char data[200] = "long";
	struct pxt_event event;
	trace_id_t trid = pxt_running_stream(0, 16, 0);

	posix_trace_event(POSIX_TRACE_UNNAMED_USEREVENT, data, sizeof(data));
	CU_ASSERT_FATAL(pxt_next(trid, &event));
	PXT_EQ(event.len, 16);
	PXT_EQ(event.info.posix_truncation_status, POSIX_TRACE_TRUNCATED_RECORD);
	pxt_expect_none(trid);
	PXT_EQ(posix_trace_shutdown(trid), 0);
}

/* POL-04, mistake 13 */
PXT_TEST(full_follows_the_present_state)
{
	struct posix_trace_status_info status;
	struct pxt_event event;

	if (!pxt_stream_policy_exists(POSIX_TRACE_UNTIL_FULL)) {
		pxt_skip("no UNTIL_FULL policy");
		return;
	}
	trace_id_t trid = pxt_stream(2048, 0, POSIX_TRACE_UNTIL_FULL);
	PXT_EQ(posix_trace_get_status(trid, &status), 0);
	PXT_EQ(status.posix_stream_full_status, POSIX_TRACE_NOT_FULL);
	PXT_EQ(posix_trace_start(trid), 0);
	CU_ASSERT(fill_up(trid, &status));
	for (int i = 0; i < 3; i++)
		CU_ASSERT(pxt_next(trid, &event));
	PXT_EQ(posix_trace_get_status(trid, &status), 0);
	PXT_EQ(status.posix_stream_full_status, POSIX_TRACE_NOT_FULL);
	PXT_EQ(posix_trace_shutdown(trid), 0);
}

/* TRU-04, TRU-05, INF-05, mistake 16 */
PXT_TEST(cut_by_the_reader_is_not_cut_by_the_writer)
{
	struct posix_trace_event_info event;
	char data[64];
	size_t len = 0;
	int unavailable = 0;
	trace_id_t trid = pxt_running_stream(0, 16, 0);

	memset(data, 'd', sizeof(data));
	for (int i = 0; i < 3; i++)
		posix_trace_event(POSIX_TRACE_UNNAMED_USEREVENT, data, i < 2 ? 20 : 16);
	PXT_EQ(posix_trace_trygetnext_event(trid, &event, data, 16, &len, &unavailable), 0);
	PXT_EQ(event.posix_truncation_status, POSIX_TRACE_TRUNCATED_RECORD);
	PXT_EQ(posix_trace_trygetnext_event(trid, &event, data, 15, &len, &unavailable), 0);
	PXT_EQ(event.posix_truncation_status, POSIX_TRACE_TRUNCATED_READ);
	PXT_EQ(posix_trace_trygetnext_event(trid, &event, data, 15, &len, &unavailable), 0);
	PXT_EQ(event.posix_truncation_status, POSIX_TRACE_TRUNCATED_READ);
	PXT_EQ(len, 15);
	PXT_EQ(posix_trace_shutdown(trid), 0);
}
#endif
