/* SPDX-License-Identifier: MIT */
/*
 * eventset.c - objects that are the application's own: sets of event types, and attributes that are none or have no place to store.
 */
#include "../suite.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
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

/* ---- Attribute functions given something else than an attributes object ---- */

/* Or no place to store. */

#define CANARY 0xa5

/* ---- Attribute functions: no object, a wrong object, nowhere to store ---- */

struct attr_row {
	const char *name;
	int (*call)(trace_attr_t *attr, void *out);
	bool stores;
};

#define GETTER(name, type)                                                                         \
	static int get_##name(trace_attr_t *attr, void *out)                                       \
	{                                                                                          \
		return posix_trace_attr_get##name(attr, (type *)out);                              \
	}
#define SETTER(name, value)                                                                        \
	static int set_##name(trace_attr_t *attr, void *out)                                       \
	{                                                                                          \
		(void)out;                                                                         \
		return posix_trace_attr_set##name(attr, value);                                    \
	}

GETTER(clockres, struct timespec)
GETTER(createtime, struct timespec)
GETTER(genversion, char)
GETTER(name, char)
GETTER(maxdatasize, size_t)
GETTER(maxsystemeventsize, size_t)
GETTER(streamfullpolicy, int)
GETTER(streamsize, size_t)

static int get_maxusereventsize(trace_attr_t *attr, void *out)
{
	return posix_trace_attr_getmaxusereventsize(attr, 8, (size_t *)out);
}

static int destroy(trace_attr_t *attr, void *out)
{
	return posix_trace_attr_destroy(attr);
}

#if _PXT_UNIT_CORE
SETTER(name, "name")
SETTER(maxdatasize, 8)
SETTER(streamfullpolicy, pxt_default_stream_policy_is(false))
SETTER(streamsize, 4096)
#endif
#if _PXT_UNIT_TOLOG
GETTER(logfullpolicy, int)
GETTER(logsize, size_t)
SETTER(logfullpolicy, pxt_default_log_policy_is())
SETTER(logsize, 65536)
#endif

static const struct attr_row attr_functions[] = {
	{ "getclockres", get_clockres, true },
	{ "getcreatetime", get_createtime, true },
	{ "getgenversion", get_genversion, true },
	{ "getname", get_name, true },
	{ "getmaxdatasize", get_maxdatasize, true },
	{ "getmaxsystemeventsize", get_maxsystemeventsize, true },
	{ "getmaxusereventsize", get_maxusereventsize, true },
	{ "getstreamfullpolicy", get_streamfullpolicy, true },
	{ "getstreamsize", get_streamsize, true },
#if _PXT_UNIT_CORE
	{ "setname", set_name, false },
	{ "setmaxdatasize", set_maxdatasize, false },
	{ "setstreamfullpolicy", set_streamfullpolicy, false },
	{ "setstreamsize", set_streamsize, false },
#endif
#if _PXT_UNIT_TOLOG
	{ "getlogfullpolicy", get_logfullpolicy, true },
	{ "getlogsize", get_logsize, true },
	{ "setlogfullpolicy", set_logfullpolicy, false },
	{ "setlogsize", set_logsize, false },
#endif
	{ "destroy", destroy, false },
};
#define ATTR_FUNCTIONS (sizeof(attr_functions) / sizeof(attr_functions[0]))

union attr_output {
	struct timespec time;
	size_t size;
	int number;
	char text[TRACE_NAME_MAX + 1];
	unsigned char bytes[64];
};

/* ERR-01, AGCLK-01, AGCRT-01, AGGEN-01, AGNAM-01, AGMSE-01, ADEST-01 */
PXT_TEST(attribute_functions_return_zero_and_leave_errno_alone)
{
	trace_attr_t attr;
	union attr_output out;

	PXT_EQ(posix_trace_attr_init(&attr), 0);
	for (size_t i = 0; i < ATTR_FUNCTIONS; i++) {
		errno = 12345;
		int error = attr_functions[i].call(&attr, &out);
		PXT_CHECK(error == 0 && errno == 12345, "%s: %d, errno %d", attr_functions[i].name,
		    error, errno);
	}
}

#if PXT_CHECKS_ARGUMENTS
static void check_bad_attr(const struct attr_row *row, trace_attr_t *attr, const char *what)
{
	union attr_output out;
	int error;

	memset(&out, CANARY, sizeof(out));
	errno = 12345;
	error = row->call(attr, &out);
	PXT_CHECK(error == EINVAL, "%s on %s returns %d", row->name, what, error);
	PXT_CHECK(errno == 12345, "%s on %s changes errno", row->name, what);
	for (size_t i = 0; i < sizeof(out); i++)
		PXT_CHECK(out.bytes[i] == CANARY, "%s on %s stores a result", row->name, what);
}

/* ADEST-E1, ADEST-02, AGCLK-E1, AGCRT-E1, AGGEN-E1, AGNAM-E1, AGLFP-E1, ASLFP-E1, AGSFP-E1, ASSFP-E1,
 * AGLSZ-E1, ASLSZ-E1, AGMDS-E1, ASMDS-E1, AGMSE-E1, AGMUE-E1, AGSSZ-E1, ASSSZ-E1, DEC-02, DEC-05 */
PXT_TEST(attribute_functions_refuse_what_is_no_attributes_object)
{
	trace_attr_t attr;

	for (size_t i = 0; i < ATTR_FUNCTIONS; i++) {
		const struct attr_row *row = &attr_functions[i];
		check_bad_attr(row, NULL, "NULL");
		memset(&attr, 0, sizeof(attr));
		check_bad_attr(row, &attr, "zeroes");
		memset(&attr, 0x5a, sizeof(attr));
		check_bad_attr(row, &attr, "garbage");
		PXT_EQ(posix_trace_attr_init(&attr), 0);
		PXT_EQ(posix_trace_attr_destroy(&attr), 0);
		check_bad_attr(row, &attr, "a destroyed object");
		PXT_EQ(posix_trace_attr_init(&attr), 0);
		if (row->stores)
			PXT_CHECK(row->call(&attr, NULL) == EINVAL, "%s stores to NULL", row->name);
	}
	PXT_EQ(posix_trace_attr_init(NULL), EINVAL);
}
#endif
