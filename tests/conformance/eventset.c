/* SPDX-License-Identifier: MIT */
/* eventset.c - sets of event types, which are the application's own until a stream is told. */
#include "../suite_trace.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <trace.h>

#if _PXT_UNIT_FILTER

static const trace_event_id_t standard_types[] = { POSIX_TRACE_ERROR, POSIX_TRACE_START,
	POSIX_TRACE_STOP, POSIX_TRACE_OVERFLOW, POSIX_TRACE_RESUME, POSIX_TRACE_FILTER,
	POSIX_TRACE_FLUSH_START, POSIX_TRACE_FLUSH_STOP };
#define STANDARD_TYPES (sizeof(standard_types) / sizeof(standard_types[0]))

static bool member(const trace_event_set_t *set, trace_event_id_t id)
{
	int is = 12345;

	PXT_EQ(posix_trace_eventset_ismember(id, set, &is), 0);
	CU_ASSERT_NOT_EQUAL(is, 12345);
	return is != 0;
}

/* SETEMP-01 */
PXT_TEST(an_emptied_set_has_no_member_whatever_it_held)
{
	trace_event_set_t set;
	static const unsigned char before[] = { 0x00, 0xff, 0x55 };

	for (size_t i = 0; i < sizeof(before); i++) {
		memset(&set, before[i], sizeof(set));
		PXT_EQ(posix_trace_eventset_empty(&set), 0);
		for (trace_event_id_t id = 1; id < _PXT_EVENT_IDS; id++)
			PXT_CHECK(!member(&set, id), "%u is in an empty set", (unsigned)id);
	}
}

/* mistake 5, SETADD-01, SETDEL-01, SETMEM-01 */
PXT_TEST(each_type_is_added_and_removed_alone)
{
	trace_event_set_t set;

	PXT_EQ(posix_trace_eventset_empty(&set), 0);
	for (trace_event_id_t id = 1; id < _PXT_EVENT_IDS; id++) {
		PXT_EQ(posix_trace_eventset_add(id, &set), 0);
		PXT_EQ(posix_trace_eventset_add(id, &set), 0);
		CU_ASSERT(member(&set, id));
		CU_ASSERT_FALSE(id > 1 && member(&set, id - 1));
		CU_ASSERT_FALSE(id + 1 < _PXT_EVENT_IDS && member(&set, id + 1));
		/* A shift that wraps would show here. */
		CU_ASSERT_FALSE(id > 32 && member(&set, id - 32));
		CU_ASSERT_FALSE(id + 32 < _PXT_EVENT_IDS && member(&set, id + 32));
		PXT_EQ(posix_trace_eventset_del(id, &set), 0);
		PXT_EQ(posix_trace_eventset_del(id, &set), 0);
		CU_ASSERT_FALSE(member(&set, id));
	}
}

/* SETADD-01, SETDEL-01, SETMEM-01 */
PXT_TEST(other_members_stay_as_they_are)
{
	static bool model[_PXT_EVENT_IDS];
	trace_event_set_t set;
	unsigned random = 12345;

	PXT_EQ(posix_trace_eventset_empty(&set), 0);
	for (int step = 0; step < 3000; step++) {
		random = random * 1103515245u + 12345u;
		trace_event_id_t id = 1 + (random >> 8) % (_PXT_EVENT_IDS - 1);
		model[id] = (random >> 30 & 1u) != 0;
		if (model[id])
			PXT_EQ(posix_trace_eventset_add(id, &set), 0);
		else
			PXT_EQ(posix_trace_eventset_del(id, &set), 0);
	}
	for (trace_event_id_t id = 1; id < _PXT_EVENT_IDS; id++)
		PXT_CHECK(member(&set, id) == model[id], "%u differs", (unsigned)id);
}

static const struct fill_row {
	int what;
	bool system;
	bool user;
} fill_table[] = {
	/* Nothing of ours is process-independent by the letter (DEC-27). */
	{ POSIX_TRACE_WOPID_EVENTS, false, false },
	{ POSIX_TRACE_SYSTEM_EVENTS, true, false },
	{ POSIX_TRACE_ALL_EVENTS, true, true },
};

/* mistake 3, SETFILL-01, SETFILL-02, SETFILL-03, DEC-27 */
PXT_TEST(fill_makes_the_set_it_is_asked_for_whatever_it_held)
{
	trace_event_set_t set;

	for (size_t i = 0; i < 6; i++) {
		const struct fill_row *row = &fill_table[i / 2];
		memset(&set, i % 2 ? 0xff : 0, sizeof(set));
		PXT_EQ(posix_trace_eventset_fill(&set, row->what), 0);
		for (size_t j = 0; j < STANDARD_TYPES; j++) {
			PXT_CHECK(member(&set, standard_types[j]) == row->system,
			    "system type %u, fill %d", (unsigned)standard_types[j], row->what);
		}
		PXT_CHECK(member(&set, POSIX_TRACE_UNNAMED_USEREVENT) == row->user,
		    "the unnamed event, fill %d", row->what);
		for (trace_event_id_t id = 32; id < _PXT_EVENT_IDS; id++) {
			PXT_CHECK(member(&set, id) == row->user, "user type %u, fill %d",
			    (unsigned)id, row->what);
		}
	}
}

#if _PXT_UNIT_USEREVENTS
/* SETFILL-02, SETFILL-03, DEC-27 */
PXT_TEST(all_events_holds_names_opened_before_and_after)
{
	trace_event_set_t all;
	trace_event_set_t system;
	trace_event_id_t before = pxt_open_event("eventset_before");

	PXT_EQ(posix_trace_eventset_fill(&all, POSIX_TRACE_ALL_EVENTS), 0);
	PXT_EQ(posix_trace_eventset_fill(&system, POSIX_TRACE_SYSTEM_EVENTS), 0);
	trace_event_id_t after = pxt_open_event("eventset_after");
	CU_ASSERT(member(&all, before));
	CU_ASSERT(member(&all, after));
	CU_ASSERT_FALSE(member(&system, before));
	CU_ASSERT_FALSE(member(&system, after));
}
#endif

#if PXT_CAN_CREATE
/* SETFILL-01 */
PXT_TEST(system_events_holds_every_listed_type_that_is_no_user_type)
{
	trace_event_set_t set;
	trace_event_id_t id = 0;
	int unavailable = 0;
	trace_id_t trid = pxt_any_stream(NULL);

	PXT_EQ(posix_trace_eventset_fill(&set, POSIX_TRACE_SYSTEM_EVENTS), 0);
	PXT_EQ(posix_trace_eventtypelist_getnext_id(trid, &id, &unavailable), 0);
	while (unavailable == 0 && id < POSIX_TRACE_UNNAMED_USEREVENT) {
		PXT_CHECK(member(&set, id), "system type %u", (unsigned)id);
		PXT_EQ(posix_trace_eventtypelist_getnext_id(trid, &id, &unavailable), 0);
	}
	PXT_EQ(posix_trace_shutdown(trid), 0);
}

/* SETADD-03, SFILT-02 */
PXT_TEST(a_set_changed_after_set_filter_leaves_the_stream_alone)
{
	trace_event_set_t set;
	trace_event_set_t got;
	trace_id_t trid = pxt_any_stream(NULL);

	PXT_EQ(posix_trace_eventset_empty(&set), 0);
	PXT_EQ(posix_trace_eventset_add(40, &set), 0);
	PXT_EQ(posix_trace_set_filter(trid, &set, POSIX_TRACE_SET_EVENTSET), 0);
	PXT_EQ(posix_trace_eventset_del(40, &set), 0);
	PXT_EQ(posix_trace_eventset_add(41, &set), 0);
	PXT_EQ(posix_trace_get_filter(trid, &got), 0);
	CU_ASSERT(member(&got, 40));
	CU_ASSERT_FALSE(member(&got, 41));
	/* What was got is a copy as well. */
	PXT_EQ(posix_trace_eventset_add(42, &got), 0);
	PXT_EQ(posix_trace_get_filter(trid, &set), 0);
	CU_ASSERT_FALSE(member(&set, 42));
	PXT_EQ(posix_trace_shutdown(trid), 0);
}
#endif

#if PXT_CHECKS_ARGUMENTS
#endif

#endif
