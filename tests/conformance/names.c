/* SPDX-License-Identifier: MIT */
/* names.c - event types: one map of names and identifiers, its limits, and its list. */
#include "../suite.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <trace.h>
#include <unistd.h>

#if PXT_CAN_CREATE

struct predefined_row {
	trace_event_id_t id;
	const char *name;
	bool exists;
};
static const struct predefined_row predefined[] = {
	{ POSIX_TRACE_ERROR, "posix_trace_error", CONFIG_PTRACE_SYSEV_ERROR },
	{ POSIX_TRACE_START, "posix_trace_start", CONFIG_PTRACE_SYSEV_START_STOP },
	{ POSIX_TRACE_STOP, "posix_trace_stop", CONFIG_PTRACE_SYSEV_START_STOP },
	{ POSIX_TRACE_FILTER, "posix_trace_filter", CONFIG_PTRACE_SYSEV_FILTER },
	{ POSIX_TRACE_OVERFLOW, "posix_trace_overflow", CONFIG_PTRACE_SYSEV_OVERFLOW_RESUME },
	{ POSIX_TRACE_RESUME, "posix_trace_resume", CONFIG_PTRACE_SYSEV_OVERFLOW_RESUME },
	{ POSIX_TRACE_FLUSH_START, "posix_trace_flush_start", CONFIG_PTRACE_SYSEV_FLUSH },
	{ POSIX_TRACE_FLUSH_STOP, "posix_trace_flush_stop", CONFIG_PTRACE_SYSEV_FLUSH },
	{ POSIX_TRACE_UNNAMED_USEREVENT, "posix_trace_unnamed_userevent", true },
};
#define PREDEFINED (sizeof(predefined) / sizeof(predefined[0]))

#define LIST_MAX 1024

/* The rest of the stream's type list. */
static size_t list_rest(trace_id_t trid, trace_event_id_t *ids, size_t max)
{
	size_t count = 0;
	int unavailable = 0;

	while (count < max) {
		unavailable = -1;
		PXT_EQ_FATAL(
		    posix_trace_eventtypelist_getnext_id(trid, &ids[count], &unavailable), 0);
		if (unavailable != 0)
			break;
		count++;
	}
	CU_ASSERT_NOT_EQUAL(unavailable, -1);
	return count;
}

static size_t list_all(trace_id_t trid, trace_event_id_t *ids, size_t max)
{
	PXT_EQ_FATAL(posix_trace_eventtypelist_rewind(trid), 0);
	return list_rest(trid, ids, max);
}

static bool listed(trace_id_t trid, trace_event_id_t id)
{
	trace_event_id_t ids[LIST_MAX];
	size_t count = list_all(trid, ids, LIST_MAX);

	for (size_t i = 0; i < count; i++) {
		if (ids[i] == id)
			return true;
	}
	return false;
}

#if _PXT_UNIT_USEREVENTS
static bool has_name(trace_id_t trid, trace_event_id_t id, const char *wanted)
{
	char name[TRACE_EVENT_NAME_MAX + 1] = "";

	return posix_trace_eventid_get_name(trid, id, name) == 0 && strcmp(name, wanted) == 0;
}
#endif

/* ---- Names of predefined types ---- */

/* mistake 6, EVNAM-01, EVNAM-02, EVNAM-03, SYS-01, CON-15 */
PXT_TEST(predefined_types_have_the_prescribed_names_and_constants)
{
	trace_id_t trid = pxt_any_stream(NULL);

	for (size_t i = 0; i < PREDEFINED; i++) {
		const struct predefined_row *row = &predefined[i];
		for (int again = 0; again < 2; again++) {
			char name[TRACE_EVENT_NAME_MAX + 1] = "";
			int error = posix_trace_eventid_get_name(trid, row->id, name);
			PXT_CHECK(error == (row->exists ? 0 : EINVAL), "%s: %d", row->name, error);
			PXT_CHECK(!row->exists || strcmp(name, row->name) == 0, "%s is named %s",
			    row->name, name);
		}
		PXT_CHECK(listed(trid, row->id) == row->exists, "%s in the list", row->name);
	}
	PXT_EQ(posix_trace_shutdown(trid), 0);
}

/* CON-13, CON-21, EVNAM-02, LSTNX-03 */
PXT_TEST(each_type_of_the_list_has_a_name_of_its_own)
{
	static char names[LIST_MAX][TRACE_EVENT_NAME_MAX + 1];
	trace_event_id_t ids[LIST_MAX];
	trace_id_t trid = pxt_any_stream(NULL);
	size_t count = list_all(trid, ids, LIST_MAX);

	CU_ASSERT(count >= 1);
	for (size_t i = 0; i < count; i++) {
		PXT_EQ(posix_trace_eventid_get_name(trid, ids[i], names[i]), 0);
		CU_ASSERT(strlen(names[i]) <= TRACE_EVENT_NAME_MAX);
		for (size_t j = 0; j < i; j++) {
			PXT_CHECK(ids[i] != ids[j] && strcmp(names[i], names[j]) != 0,
			    "%s twice in the list", names[i]);
		}
	}
	PXT_EQ(posix_trace_shutdown(trid), 0);
}

/* EVNAM-E2, DEC-31, ERR-03 */
PXT_TEST(an_identifier_without_name_is_an_error)
{
	static const trace_event_id_t unknown[] = { 0, (trace_event_id_t)-1, _PXT_EVENT_IDS,
		_PXT_EVENT_IDS - 1, 29, 30, 0x7fffffff };
	trace_id_t trid = pxt_any_stream(NULL);

	for (size_t i = 0; i < sizeof(unknown) / sizeof(unknown[0]); i++) {
		char name[TRACE_EVENT_NAME_MAX + 1] = "as before";
		PXT_CHECK(posix_trace_eventid_get_name(trid, unknown[i], name) == EINVAL,
		    "%u has a name", (unsigned)unknown[i]);
		CU_ASSERT_STRING_EQUAL(name, "as before");
	}
	PXT_EQ(posix_trace_shutdown(trid), 0);
}

/* EVEQ-01, DEC-31 */
PXT_TEST(equal_compares_identifiers_and_is_no_error_number)
{
	trace_id_t trid = pxt_any_stream(NULL);

	CU_ASSERT_NOT_EQUAL(posix_trace_eventid_equal(trid, POSIX_TRACE_UNNAMED_USEREVENT,
	                        POSIX_TRACE_UNNAMED_USER_EVENT),
	    0);
	PXT_EQ(posix_trace_eventid_equal(trid, POSIX_TRACE_START, POSIX_TRACE_STOP), 0);
	PXT_EQ(posix_trace_eventid_equal(trid, POSIX_TRACE_STOP, POSIX_TRACE_START), 0);
	PXT_EQ(posix_trace_shutdown(trid), 0);
	/* Plain comparison, also where the stream is gone or never was. */
	CU_ASSERT_NOT_EQUAL(posix_trace_eventid_equal(trid, POSIX_TRACE_STOP, POSIX_TRACE_STOP), 0);
	PXT_EQ(posix_trace_eventid_equal(0, POSIX_TRACE_STOP, POSIX_TRACE_START), 0);
}

/* ---- The list ---- */

/* mistake 17, LSTNX-01, LSTNX-02, LSTRW-01 */
PXT_TEST(the_list_ends_and_rewind_begins_it_again)
{
	trace_event_id_t first[LIST_MAX];
	trace_event_id_t second[LIST_MAX];
	trace_event_id_t untouched = 12345;
	int unavailable = 0;
	trace_id_t trid = pxt_any_stream(NULL);
	size_t count = list_rest(trid, first, LIST_MAX);

	CU_ASSERT(count >= 1 && count < LIST_MAX);
	for (int i = 0; i < 3; i++) {
		unavailable = 0;
		PXT_EQ(posix_trace_eventtypelist_getnext_id(trid, &untouched, &unavailable), 0);
		CU_ASSERT_NOT_EQUAL(unavailable, 0);
		PXT_EQ(untouched, 12345);
	}
	PXT_EQ(list_all(trid, second, LIST_MAX), count);
	CU_ASSERT(memcmp(first, second, count * sizeof(first[0])) == 0);
	/* Rewinding in the middle begins at the first as well. */
	PXT_EQ(posix_trace_eventtypelist_rewind(trid), 0);
	PXT_EQ(posix_trace_eventtypelist_getnext_id(trid, &second[0], &unavailable), 0);
	PXT_EQ(posix_trace_eventtypelist_rewind(trid), 0);
	PXT_EQ(posix_trace_eventtypelist_getnext_id(trid, &second[0], &unavailable), 0);
	PXT_EQ(second[0], first[0]);
	PXT_EQ(posix_trace_shutdown(trid), 0);
}

/* LSTNX-04 */
PXT_TEST(two_streams_keep_positions_of_their_own)
{
	trace_event_id_t a[2];
	trace_event_id_t b[2];
	int unavailable = 0;

	if (TRACE_SYS_MAX < 2) {
		pxt_skip("a single stream");
		return;
	}
	trace_id_t one = pxt_any_stream(NULL);
	trace_id_t other = pxt_any_stream(NULL);
	PXT_EQ(posix_trace_eventtypelist_getnext_id(one, &a[0], &unavailable), 0);
	PXT_EQ(posix_trace_eventtypelist_getnext_id(other, &b[0], &unavailable), 0);
	PXT_EQ(posix_trace_eventtypelist_rewind(other), 0);
	PXT_EQ(posix_trace_eventtypelist_getnext_id(one, &a[1], &unavailable), 0);
	PXT_EQ(posix_trace_eventtypelist_getnext_id(other, &b[1], &unavailable), 0);
	PXT_EQ(b[0], a[0]);
	PXT_EQ(b[1], a[0]);
	CU_ASSERT(unavailable != 0 || a[1] != a[0]);
	PXT_EQ(posix_trace_shutdown(one), 0);
	PXT_EQ(posix_trace_shutdown(other), 0);
}

struct walker {
	trace_id_t trid;
	trace_event_id_t ids[LIST_MAX];
	size_t count;
	int error;
};

#endif

/* ---- User events ---- */

#if _PXT_UNIT_USEREVENTS

/* EVOPEN-01, EVOPEN-02, EVOPEN-03, CON-13, CON-16 */
PXT_TEST(one_name_has_one_identifier_and_another_name_another)
{
	trace_event_id_t a = pxt_open_event("names_a");
	trace_event_id_t b = pxt_open_event("names_b");

	CU_ASSERT_NOT_EQUAL(a, b);
	PXT_EQ(pxt_open_event("names_a"), a);
	PXT_EQ(pxt_open_event("names_b"), b);
	for (size_t i = 0; i < PREDEFINED; i++)
		CU_ASSERT(a != predefined[i].id && b != predefined[i].id);
}

/* EVOPEN-05, CON-15, CON-17, CREATE-09 */
PXT_TEST_FRESH(names_opened_before_any_stream_hold_for_later_ones)
{
	trace_event_id_t id = pxt_open_event("names_early");
	trace_id_t trid = pxt_any_stream(NULL);

	CU_ASSERT(has_name(trid, id, "names_early"));
	CU_ASSERT(listed(trid, id));
	PXT_EQ(posix_trace_shutdown(trid), 0);
}

/* CON-15, EVENT-11 */
PXT_TEST(names_opened_later_appear_in_streams_that_exist)
{
	trace_id_t trid = pxt_any_stream(NULL);
	trace_event_id_t id = pxt_open_event("names_late");

	CU_ASSERT(has_name(trid, id, "names_late"));
	CU_ASSERT(listed(trid, id));
	PXT_EQ(posix_trace_shutdown(trid), 0);
}

/* EVOPEN-06, EVOPEN-E1, LIM-04, EVNAM-01, DEC-04, ERR-03 */
PXT_TEST_FRESH(names_up_to_the_limit_are_taken_and_longer_ones_refused)
{
	char given[TRACE_EVENT_NAME_MAX + 40];
	char got[TRACE_EVENT_NAME_MAX + 1];
	trace_event_id_t ids[LIST_MAX];
	trace_id_t trid = pxt_any_stream(NULL);
	static const int beyond[] = { 1, 2, 16, 39 };
	static const int within[] = { 0, 1, 2, 8, 30 };

	memset(given, 'n', sizeof(given));
	for (size_t i = 0; i < sizeof(within) / sizeof(within[0]); i++) {
		size_t len = TRACE_EVENT_NAME_MAX - (size_t)within[i];
		given[len] = '\0';
		trace_event_id_t id = pxt_open_event(given);
		CU_ASSERT_NOT_EQUAL(id, POSIX_TRACE_UNNAMED_USEREVENT);
		memset(got, 'x', sizeof(got));
		PXT_EQ(posix_trace_eventid_get_name(trid, id, got), 0);
		CU_ASSERT_PTR_NOT_NULL_FATAL(memchr(got, 0, sizeof(got)));
		CU_ASSERT_STRING_EQUAL(got, given);
		given[len] = 'n';
	}
	size_t before = list_all(trid, ids, LIST_MAX);
	for (size_t i = 0; i < sizeof(beyond) / sizeof(beyond[0]); i++) {
		trace_event_id_t id = 12345;
		given[TRACE_EVENT_NAME_MAX + beyond[i]] = '\0';
		PXT_EQ(posix_trace_eventid_open(given, &id), ENAMETOOLONG);
		PXT_EQ(id, 12345);
		given[TRACE_EVENT_NAME_MAX + beyond[i]] = 'n';
	}
	PXT_EQ(list_all(trid, ids, LIST_MAX), before);
	PXT_EQ(posix_trace_shutdown(trid), 0);
}

/* EVOPEN-07 */
PXT_TEST_FRESH(names_are_copied_and_compared_byte_by_byte)
{
	static const char *const alike[] = { "names_case", "Names_case", "names_case ", "names_cas",
		"names_case1", "names\xc3\xa4", "names\xc3\xa5", "names%s", "names case",
		"1names" };
	char buffer[TRACE_EVENT_NAME_MAX + 1];
	trace_event_id_t ids[10];
	trace_id_t trid = pxt_any_stream(NULL);

	for (size_t i = 0; i < 10; i++) {
		snprintf(buffer, sizeof(buffer), "%s", alike[i]);
		ids[i] = pxt_open_event(buffer);
		memset(buffer, '?', sizeof(buffer) - 1);
		for (size_t j = 0; j < i; j++)
			PXT_CHECK(ids[i] != ids[j], "%s is %s", alike[i], alike[j]);
	}
	for (size_t i = 0; i < 10; i++)
		PXT_CHECK(has_name(trid, ids[i], alike[i]), "%s lost its name", alike[i]);
	PXT_EQ(posix_trace_shutdown(trid), 0);
}

#define RACE_NAMES   16
#define RACE_THREADS 8
static pthread_barrier_t race_start;
static trace_event_id_t raced[RACE_THREADS][RACE_NAMES];
static int race_errors[RACE_THREADS];

static void *open_names(void *argument)
{
	size_t me = (size_t)((trace_event_id_t(*)[RACE_NAMES])argument - raced);
	char name[32];

	pthread_barrier_wait(&race_start);
	for (int i = 0; i < RACE_NAMES; i++) {
		snprintf(name, sizeof(name), "names_race_%d", i);
		race_errors[me] |= posix_trace_eventid_open(name, &raced[me][i]);
	}
	return NULL;
}

/* EVOPEN-08, SAFE-03 */
PXT_TEST_FRESH(threads_that_open_one_name_at_once_get_one_identifier)
{
	pthread_t threads[RACE_THREADS];

	pthread_barrier_init(&race_start, NULL, RACE_THREADS);
	for (size_t i = 0; i < RACE_THREADS; i++)
		PXT_EQ_FATAL(pthread_create(&threads[i], NULL, open_names, raced[i]), 0);
	for (size_t i = 0; i < RACE_THREADS; i++) {
		pthread_join(threads[i], NULL);
		PXT_EQ(race_errors[i], 0);
		CU_ASSERT(memcmp(raced[i], raced[0], sizeof(raced[0])) == 0);
	}
	pthread_barrier_destroy(&race_start);
	for (size_t i = 1; i < RACE_NAMES; i++)
		CU_ASSERT_NOT_EQUAL(raced[0][i], raced[0][i - 1]);
}

/* EVOPEN-04, CON-19, LIM-03 */
PXT_TEST_FRESH(new_names_beyond_the_limit_give_the_unnamed_event)
{
	static trace_event_id_t ids[TRACE_USER_EVENT_MAX];
	char name[32];

	for (int i = 0; i < TRACE_USER_EVENT_MAX - 1; i++) {
		snprintf(name, sizeof(name), "names_many_%d", i);
		PXT_EQ_FATAL(posix_trace_eventid_open(name, &ids[i]), 0);
		PXT_CHECK(ids[i] != POSIX_TRACE_UNNAMED_USEREVENT, "name %d of %d", i + 1,
		    TRACE_USER_EVENT_MAX);
		CU_ASSERT(i == 0 || ids[i] != ids[i - 1]);
	}
	for (int i = 0; i < 3; i++) {
		trace_event_id_t id = 0;
		snprintf(name, sizeof(name), "names_too_many_%d", i);
		PXT_EQ(posix_trace_eventid_open(name, &id), 0);
		PXT_EQ(id, POSIX_TRACE_UNNAMED_USEREVENT);
	}
	for (int i = 0; i < TRACE_USER_EVENT_MAX - 1; i++) {
		snprintf(name, sizeof(name), "names_many_%d", i);
		PXT_EQ(pxt_open_event(name), ids[i]);
	}
	trace_id_t trid = pxt_any_stream(NULL);
	CU_ASSERT(listed(trid, ids[TRACE_USER_EVENT_MAX - 2]));
	PXT_EQ(posix_trace_shutdown(trid), 0);
}

/* DEC-31, EVOPEN-09, CON-13 */
PXT_TEST(names_of_predefined_types_give_their_constants)
{
	for (size_t i = 0; i < PREDEFINED; i++) {
		trace_event_id_t id = 0;
		if (!predefined[i].exists)
			continue;
		PXT_EQ(posix_trace_eventid_open(predefined[i].name, &id), 0);
		PXT_CHECK(id == predefined[i].id, "%s is %u", predefined[i].name, (unsigned)id);
	}
}

/* DEC-31, EVOPEN-09 */
PXT_TEST(the_empty_name_is_a_name)
{
	trace_event_id_t id = pxt_open_event("");
	trace_id_t trid = pxt_any_stream(NULL);

	CU_ASSERT_NOT_EQUAL(id, POSIX_TRACE_UNNAMED_USEREVENT);
	PXT_EQ(pxt_open_event(""), id);
	CU_ASSERT(has_name(trid, id, ""));
	PXT_EQ(posix_trace_shutdown(trid), 0);
}

/* DEC-31, LSTNX-05 */
PXT_TEST(the_list_ascends_and_takes_in_what_is_opened_meanwhile)
{
	trace_event_id_t ids[LIST_MAX];
	trace_event_id_t added[2];
	int unavailable = 0;
	trace_id_t trid = pxt_any_stream(NULL);
	size_t count = list_all(trid, ids, LIST_MAX);

	for (size_t i = 1; i < count; i++)
		CU_ASSERT(ids[i] > ids[i - 1]);
	added[0] = pxt_open_event("names_meanwhile_0");
	added[1] = pxt_open_event("names_meanwhile_1");
	CU_ASSERT(added[0] > ids[count - 1] && added[1] > added[0]);
	for (size_t i = 0; i < 2; i++) {
		PXT_EQ(posix_trace_eventtypelist_getnext_id(trid, &ids[0], &unavailable), 0);
		PXT_EQ(unavailable, 0);
		PXT_EQ(ids[0], added[i]);
	}
	PXT_EQ(posix_trace_eventtypelist_getnext_id(trid, &ids[0], &unavailable), 0);
	CU_ASSERT_NOT_EQUAL(unavailable, 0);
	PXT_EQ(posix_trace_shutdown(trid), 0);
}
#endif

#if PXT_CAN_WATCH
/* CON-13, CON-22, INF-01 */
PXT_TEST(an_event_carries_the_identifier_that_names_its_type)
{
	trace_event_id_t id = pxt_open_event("names_carried");
	trace_id_t trid = pxt_running_stream(0, 0, 0);
	struct pxt_got event;

	posix_trace_event(id, NULL, 0);
	CU_ASSERT_FATAL(pxt_next(trid, &event));
	CU_ASSERT_NOT_EQUAL(posix_trace_eventid_equal(trid, event.info.posix_event_id, id), 0);
	CU_ASSERT(has_name(trid, event.info.posix_event_id, "names_carried"));
	PXT_EQ(posix_trace_shutdown(trid), 0);
}
#endif

/* ---- Names through a stream ---- */

#if _PXT_UNIT_FILTER && PXT_CAN_CREATE
/* TREVO-01, TREVO-E2, EVOPEN-06, ERR-03 */
PXT_TEST_FRESH(a_name_too_long_is_refused_through_a_stream_as_well)
{
	char name[TRACE_EVENT_NAME_MAX + 2];
	trace_event_id_t id = 12345;
	trace_id_t trid = pxt_any_stream(NULL);

	memset(name, 'l', sizeof(name));
	name[TRACE_EVENT_NAME_MAX + 1] = '\0';
	PXT_EQ(posix_trace_trid_eventid_open(trid, name, &id), ENAMETOOLONG);
	PXT_EQ(id, 12345);
	name[TRACE_EVENT_NAME_MAX] = '\0';
	PXT_EQ(posix_trace_trid_eventid_open(trid, name, &id), 0);
	CU_ASSERT_NOT_EQUAL(id, 12345);
	PXT_EQ(posix_trace_shutdown(trid), 0);
}

#if _PXT_UNIT_USEREVENTS
/* TREVO-01, TREVO-02, TREVO-03, CON-16 */
PXT_TEST(both_ways_to_open_a_name_reach_one_map)
{
	trace_event_id_t by_stream = 0;
	trace_event_id_t again = 0;
	trace_event_id_t known = pxt_open_event("names_known");
	trace_id_t trid = pxt_any_stream(NULL);

	PXT_EQ(posix_trace_trid_eventid_open(trid, "names_by_stream", &by_stream), 0);
	CU_ASSERT_NOT_EQUAL(by_stream, POSIX_TRACE_UNNAMED_USEREVENT);
	CU_ASSERT(has_name(trid, by_stream, "names_by_stream"));
	PXT_EQ(pxt_open_event("names_by_stream"), by_stream);
	PXT_EQ(posix_trace_trid_eventid_open(trid, "names_known", &again), 0);
	PXT_EQ(again, known);
	PXT_EQ(posix_trace_shutdown(trid), 0);
	trid = pxt_any_stream(NULL);
	PXT_EQ(posix_trace_trid_eventid_open(trid, "names_by_stream", &again), 0);
	PXT_EQ(again, by_stream);
	PXT_EQ(posix_trace_shutdown(trid), 0);
}

/* TREVO-04, CON-19, LIM-03 */
PXT_TEST_FRESH(names_opened_through_a_stream_count_against_the_limit)
{
	trace_id_t trid = pxt_any_stream(NULL);
	trace_event_id_t id = 0;
	char name[32];

	for (int i = 0; i < TRACE_USER_EVENT_MAX - 1; i++) {
		snprintf(name, sizeof(name), "names_mixed_%d", i);
		if (i % 2)
			PXT_EQ_FATAL(posix_trace_trid_eventid_open(trid, name, &id), 0);
		else
			id = pxt_open_event(name);
		CU_ASSERT_NOT_EQUAL(id, POSIX_TRACE_UNNAMED_USEREVENT);
	}
	PXT_EQ(posix_trace_trid_eventid_open(trid, "names_mixed_over", &id), 0);
	PXT_EQ(id, POSIX_TRACE_UNNAMED_USEREVENT);
	PXT_EQ(pxt_open_event("names_mixed_over"), POSIX_TRACE_UNNAMED_USEREVENT);
	PXT_EQ(posix_trace_trid_eventid_open(trid, "names_mixed_0", &id), 0);
	CU_ASSERT_NOT_EQUAL(id, POSIX_TRACE_UNNAMED_USEREVENT);
	PXT_EQ(posix_trace_shutdown(trid), 0);
}
#else
/* TREVO-04, CON-19 */
PXT_TEST(without_user_events_every_new_name_is_unnamed)
{
	trace_event_id_t id = 0;
	trace_id_t trid = pxt_any_stream(NULL);

	PXT_EQ(posix_trace_trid_eventid_open(trid, "names_new", &id), 0);
	PXT_EQ(id, POSIX_TRACE_UNNAMED_USEREVENT);
	PXT_EQ(posix_trace_shutdown(trid), 0);
}
#endif
#endif

/* ---- Names in a log ---- */

#if PXT_CAN_LOG && _PXT_UNIT_USEREVENTS
#endif
