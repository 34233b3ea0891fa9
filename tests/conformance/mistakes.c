/* SPDX-License-Identifier: MIT */
/* mistakes.c - what other implementations got wrong (docs/decisions.md), one test each. */
#include "../suite_trace.h"

#include <errno.h>
#include <string.h>
#include <trace.h>

#if PXT_CAN_CREATE
/* ERR-01, mistake 1 */
PXT_TEST(errors_are_numbers_and_not_minus_one)
{
	trace_id_t trid = pxt_any_stream(NULL);
	struct posix_trace_status_info status;

	PXT_EQ(posix_trace_shutdown(trid), 0);
	errno = 0;
	CU_ASSERT(posix_trace_start(trid) > 0);
	CU_ASSERT(posix_trace_get_status(trid, &status) > 0);
	CU_ASSERT(posix_trace_shutdown(trid) > 0);
	PXT_EQ(errno, 0);
}

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

#if PXT_CAN_WATCH && _PXT_UNIT_FILTER
/* SFILT-01, POL-01, mistake 2 */
PXT_TEST(a_filter_leaves_out_what_is_in_it)
{
	trace_event_id_t kept = pxt_open_event("mistakes_kept");
	trace_event_id_t left_out = pxt_open_event("mistakes_left_out");
	trace_event_set_t set;
	trace_id_t trid = pxt_running_stream(0, 0, 0);

	posix_trace_event(left_out, "new", 3);
	pxt_expect(trid, left_out, "new", 3);
	PXT_EQ(posix_trace_eventset_empty(&set), 0);
	PXT_EQ(posix_trace_eventset_add(left_out, &set), 0);
	PXT_EQ(posix_trace_set_filter(trid, &set, POSIX_TRACE_SET_EVENTSET), 0);
	posix_trace_event(left_out, "x", 1);
	posix_trace_event(kept, "y", 1);
	PXT_EQ(pxt_drain(trid, left_out), 0);
	posix_trace_event(kept, "z", 1);
	pxt_expect(trid, kept, "z", 1);
	PXT_EQ(posix_trace_shutdown(trid), 0);
}

/* SETADD-01, SFILT-01, mistake 5 */
PXT_TEST(types_that_differ_by_a_multiple_of_32_are_different)
{
	trace_event_id_t first = pxt_open_event("mistakes_first");
	trace_event_id_t other = first;
	trace_event_set_t set;
	char name[] = "mistakes_A0";

	for (int i = 0; i < 60 && (other == first || (other - first) % 32 != 0); i++) {
		name[9] = (char)('A' + i / 10);
		name[10] = (char)('0' + i % 10);
		other = pxt_open_event(name);
	}
	if ((other - first) % 32 != 0) {
		pxt_skip("too few user event types");
		return;
	}
	trace_id_t trid = pxt_running_stream(0, 0, 0);
	PXT_EQ(posix_trace_eventset_empty(&set), 0);
	PXT_EQ(posix_trace_eventset_add(first, &set), 0);
	PXT_EQ(posix_trace_set_filter(trid, &set, POSIX_TRACE_SET_EVENTSET), 0);
	pxt_drain(trid, 0);
	posix_trace_event(first, "1", 1);
	posix_trace_event(other, "2", 1);
	pxt_expect(trid, other, "2", 1);
	pxt_expect_none(trid);
	PXT_EQ(posix_trace_shutdown(trid), 0);
}
#endif

#if _PXT_UNIT_FILTER
/* SETFILL-01, mistake 3 */
PXT_TEST(fill_replaces_and_does_not_add)
{
	trace_event_set_t set;
	int member = 1;

	PXT_EQ(posix_trace_eventset_fill(&set, POSIX_TRACE_ALL_EVENTS), 0);
	PXT_EQ(posix_trace_eventset_fill(&set, POSIX_TRACE_SYSTEM_EVENTS), 0);
	PXT_EQ(posix_trace_eventset_ismember(POSIX_TRACE_UNNAMED_USEREVENT, &set, &member), 0);
	PXT_EQ(member, 0);
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

/* ASSFP-01, ASLFP-01, HDR-06, mistake 7 */
PXT_TEST(flush_and_append_are_different_policies)
{
	CU_ASSERT_NOT_EQUAL(POSIX_TRACE_FLUSH, POSIX_TRACE_APPEND);
}

/* HDR-06, mistake 8 */
PXT_TEST(flush_start_and_flush_stop_are_different_types)
{
	CU_ASSERT_NOT_EQUAL(POSIX_TRACE_FLUSH_START, POSIX_TRACE_FLUSH_STOP);
}

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

/* HDR-07, CREATE-02, mistake 10 */
PXT_TEST(calls_have_the_parameters_of_the_standard)
{
	trace_id_t trid = 0;
	trace_event_id_t id = 0;
	trace_attr_t attr;

	PXT_EQ(posix_trace_attr_init(&attr), 0);
	PXT_EQ(posix_trace_create(0, &attr, &trid), 0);
	PXT_EQ(posix_trace_eventid_open("mistakes_parameters", &id), 0);
	void (*record)(trace_event_id_t, const void *restrict, size_t) = posix_trace_event;
	record(id, NULL, 0);
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

#if PXT_CAN_WATCH && _PXT_UNIT_FILTER && CONFIG_PTRACE_SYSEV_START_STOP &&                         \
    CONFIG_PTRACE_SYSEV_FILTER
/* START-01, STOP-01, SFILT-04, SYS-02, mistake 12 */
PXT_TEST(start_stop_and_filter_changes_are_events)
{
	static const trace_event_id_t order[] = { POSIX_TRACE_START, POSIX_TRACE_FILTER,
		POSIX_TRACE_STOP };
	struct pxt_event event;
	trace_event_set_t set;
	trace_id_t trid = pxt_stream(0, 0, 0);

	PXT_EQ(posix_trace_eventset_fill(&set, POSIX_TRACE_WOPID_EVENTS), 0);
	PXT_EQ(posix_trace_start(trid), 0);
	PXT_EQ(posix_trace_set_filter(trid, &set, POSIX_TRACE_ADD_EVENTSET), 0);
	PXT_EQ(posix_trace_stop(trid), 0);
	for (size_t i = 0; i < 3; i++) {
		CU_ASSERT_FATAL(pxt_next(trid, &event));
		PXT_EQ(event.info.posix_event_id, order[i]);
	}
	pxt_expect_none(trid);
	PXT_EQ(posix_trace_shutdown(trid), 0);
}
#endif

/* AGMSE-01, mistake 14 */
PXT_TEST(the_system_event_size_is_really_stored)
{
	trace_attr_t attr;
	size_t size = 0;

	PXT_EQ(posix_trace_attr_init(&attr), 0);
	PXT_EQ(posix_trace_attr_getmaxsystemeventsize(&attr, &size), 0);
	CU_ASSERT_NOT_EQUAL(size, 0);
}

/* STA-02, HDR-04, mistake 15 */
PXT_TEST(no_overrun_compares_as_false)
{
	CU_ASSERT(!POSIX_TRACE_NO_OVERRUN);
}
