/* SPDX-License-Identifier: MIT */
/* filter.c - what a stream leaves out: types in its filter, from one call to the next. */
#include "../suite.h"

#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>
#include <trace.h>
#include <trace_np.h>

#if _PXT_UNIT_FILTER && PXT_CAN_CREATE

/* A set of the types given, up to a 0. */
static trace_event_set_t set_of(const trace_event_id_t *ids)
{
	trace_event_set_t set;

	PXT_EQ(posix_trace_eventset_empty(&set), 0);
	for (; *ids; ids++)
		PXT_EQ(posix_trace_eventset_add(*ids, &set), 0);
	return set;
}
#define SET(...) set_of((const trace_event_id_t[]){ __VA_ARGS__, 0 })

static trace_event_set_t filter_of(trace_id_t trid)
{
	trace_event_set_t set;

	memset(&set, 0x5a, sizeof(set));
	PXT_EQ(posix_trace_get_filter(trid, &set), 0);
	return set;
}

static bool same(const trace_event_set_t *a, const trace_event_set_t *b)
{
	return memcmp(a, b, sizeof(*a)) == 0;
}

/* GFILT-01, POL-01, CREATE-03 */
PXT_TEST(the_filter_of_a_new_stream_is_empty)
{
	trace_event_set_t empty;
	trace_id_t trid = pxt_any_stream(NULL);
	trace_event_set_t got = filter_of(trid);

	PXT_EQ(posix_trace_eventset_empty(&empty), 0);
	CU_ASSERT(same(&got, &empty));
	PXT_EQ(posix_trace_shutdown(trid), 0);
}

/* One step: this set, this way, gives that filter. */
static const struct how_row {
	int how;
	trace_event_id_t set[4];
	trace_event_id_t result[6];
} how_table[] = {
	{ POSIX_TRACE_SET_EVENTSET, { 40, 41 }, { 40, 41 } },
	{ POSIX_TRACE_ADD_EVENTSET, { 41, 42 }, { 40, 41, 42 } },
	{ POSIX_TRACE_ADD_EVENTSET, { 0 }, { 40, 41, 42 } },
	{ POSIX_TRACE_SUB_EVENTSET, { 41, 50 }, { 40, 42 } },
	{ POSIX_TRACE_SUB_EVENTSET, { 0 }, { 40, 42 } },
	{ POSIX_TRACE_ADD_EVENTSET, { POSIX_TRACE_STOP, 31, 60 },
	    { 40, 42, POSIX_TRACE_STOP, 31, 60 } },
	{ POSIX_TRACE_SET_EVENTSET, { 33 }, { 33 } },
	{ POSIX_TRACE_SUB_EVENTSET, { 33 }, { 0 } },
	{ POSIX_TRACE_ADD_EVENTSET, { 40 }, { 40 } },
	{ POSIX_TRACE_SET_EVENTSET, { 0 }, { 0 } },
};
#define HOW_ROWS (sizeof(how_table) / sizeof(how_table[0]))

/* SFILT-02, SFILT-03, GFILT-01 */
PXT_TEST(set_add_and_sub_give_what_their_names_say_in_every_state)
{
	trace_id_t trid = pxt_any_stream(NULL);

	for (int state = 0; state < 3; state++) {
		if (state == 1)
			PXT_EQ(posix_trace_start(trid), 0);
		if (state == 2)
			PXT_EQ(posix_trace_stop(trid), 0);
		for (size_t i = 0; i < HOW_ROWS; i++) {
			trace_event_set_t set = set_of(how_table[i].set);
			trace_event_set_t want = set_of(how_table[i].result);
			PXT_EQ(posix_trace_set_filter(trid, &set, how_table[i].how), 0);
			trace_event_set_t got = filter_of(trid);
			PXT_CHECK(same(&got, &want), "row %zu in state %d", i, state);
		}
	}
	PXT_EQ(posix_trace_shutdown(trid), 0);
}

#if PXT_CHECKS_ARGUMENTS
#endif
#endif

#if _PXT_UNIT_FILTER && PXT_CAN_WATCH

static const trace_event_set_t *nothing(void)
{
	static trace_event_set_t empty;

	PXT_EQ(posix_trace_eventset_empty(&empty), 0);
	return &empty;
}

static void set_filter(trace_id_t trid, trace_event_set_t set)
{
	PXT_EQ_FATAL(posix_trace_set_filter(trid, &set, POSIX_TRACE_SET_EVENTSET), 0);
}

/* A running stream with an empty queue. */
static trace_id_t watched(void)
{
	return pxt_running_stream(0, 0, 0);
}

static void expect_filter_event(
    trace_id_t trid, const trace_event_set_t *old, const trace_event_set_t *new)
{
	trace_event_set_t both[2];

	if (!pxt_has_type(trid, POSIX_TRACE_FILTER))
		return;
	both[0] = *old;
	both[1] = *new;
	pxt_expect(trid, POSIX_TRACE_FILTER, both, sizeof(both));
}

/* mistake 2, SFILT-01, CON-23, EVENT-03, CREATE-03 */
PXT_TEST(types_in_the_filter_are_left_out_and_all_others_recorded)
{
	trace_event_id_t in = pxt_open_event("filter_in");
	trace_event_id_t out = pxt_open_event("filter_out");
	trace_id_t trid = watched();
	trace_event_set_t set = SET(in);

	posix_trace_event(in, "1", 1);
	pxt_expect(trid, in, "1", 1);
	set_filter(trid, set);
	expect_filter_event(trid, nothing(), &set);
	posix_trace_event(in, "2", 1);
	posix_trace_event(out, "3", 1);
	posix_trace_event(POSIX_TRACE_UNNAMED_USEREVENT, "4", 1);
	pxt_expect(trid, out, "3", 1);
	pxt_expect(trid, POSIX_TRACE_UNNAMED_USEREVENT, "4", 1);
	pxt_expect_none(trid);
	PXT_EQ(posix_trace_set_filter(trid, &set, POSIX_TRACE_SUB_EVENTSET), 0);
	expect_filter_event(trid, &set, nothing());
	posix_trace_event(in, "5", 1);
	pxt_expect(trid, in, "5", 1);
	pxt_expect_none(trid);
	PXT_EQ(posix_trace_shutdown(trid), 0);
}

/* mistake 12, SFILT-04, SYS-05 */
PXT_TEST(only_a_change_while_running_is_recorded_with_both_filters)
{
	trace_id_t trid = pxt_stream(0, 0, 0);
	trace_event_set_t first = SET(40);
	trace_event_set_t second = SET(40, 41);
	trace_event_set_t third = SET(42);

	set_filter(trid, first);
	pxt_expect_none(trid);
	PXT_EQ(posix_trace_start(trid), 0);
	pxt_drain(trid, 0);
	PXT_EQ(posix_trace_set_filter(trid, &second, POSIX_TRACE_ADD_EVENTSET), 0);
	expect_filter_event(trid, &first, &second);
	pxt_expect_none(trid);
	PXT_EQ(posix_trace_stop(trid), 0);
	pxt_drain(trid, 0);
	set_filter(trid, third);
	pxt_expect_none(trid);
	PXT_EQ(posix_trace_shutdown(trid), 0);
}

/* SFILT-06 */
PXT_TEST(events_recorded_before_a_change_stay)
{
	trace_event_id_t id = pxt_open_event("filter_recorded");
	trace_id_t trid = watched();

	posix_trace_event(id, "before", 6);
	set_filter(trid, SET(id));
	posix_trace_event(id, "after", 5);
	pxt_expect(trid, id, "before", 6);
	PXT_EQ(pxt_drain(trid, id), 0);
	PXT_EQ(posix_trace_shutdown(trid), 0);
}

/* SYS-03, SFILT-03 */
PXT_TEST(start_carries_the_filter_in_force)
{
	trace_id_t trid = pxt_stream(0, 0, 0);
	trace_event_set_t set = SET(40, POSIX_TRACE_UNNAMED_USEREVENT);

	if (!pxt_has_type(trid, POSIX_TRACE_START)) {
		PXT_EQ(posix_trace_shutdown(trid), 0);
		pxt_skip("no START event");
		return;
	}
	PXT_EQ(posix_trace_start(trid), 0);
	pxt_expect(trid, POSIX_TRACE_START, nothing(), sizeof(set));
	PXT_EQ(posix_trace_stop(trid), 0);
	pxt_drain(trid, 0);
	set_filter(trid, set);
	PXT_EQ(posix_trace_start(trid), 0);
	pxt_expect(trid, POSIX_TRACE_START, &set, sizeof(set));
	PXT_EQ(posix_trace_shutdown(trid), 0);
}

/* SYS-12, DEC-15, SFILT-01 */
PXT_TEST(system_events_are_filtered_like_user_events)
{
	trace_id_t trid = pxt_stream(0, 0, 0);
	struct posix_trace_status_info status;

	set_filter(trid, SET(POSIX_TRACE_START, POSIX_TRACE_STOP));
	PXT_EQ(posix_trace_start(trid), 0);
	PXT_EQ(posix_trace_get_status(trid, &status), 0);
	PXT_EQ(status.posix_stream_status, POSIX_TRACE_RUNNING);
	pxt_expect_none(trid);
	PXT_EQ(posix_trace_stop(trid), 0);
	PXT_EQ(posix_trace_get_status(trid, &status), 0);
	PXT_EQ(status.posix_stream_status, POSIX_TRACE_SUSPENDED);
	pxt_expect_none(trid);
	PXT_EQ(posix_trace_shutdown(trid), 0);
}

/* DEC-15, SYS-12 */
PXT_TEST(a_change_is_judged_by_the_filter_before_it)
{
	trace_id_t trid = watched();
	trace_event_set_t with = SET(POSIX_TRACE_FILTER);
	trace_event_set_t without = SET(40);

	set_filter(trid, with);
	expect_filter_event(trid, nothing(), &with);
	set_filter(trid, without);
	pxt_expect_none(trid);
	set_filter(trid, with);
	expect_filter_event(trid, &without, &with);
	pxt_expect_none(trid);
	PXT_EQ(posix_trace_shutdown(trid), 0);
}

/* DEC-15, POL-09 */
PXT_TEST(an_automatic_stop_happens_even_when_its_event_is_filtered)
{
	struct posix_trace_status_info status = { .posix_stream_status = 0 };
	trace_event_id_t id = pxt_open_event("filter_automatic");
	struct pxt_got event;
	int i = 0;

	if (!pxt_stream_policy_exists(POSIX_TRACE_UNTIL_FULL)) {
		pxt_skip("no UNTIL_FULL policy");
		return;
	}
	trace_id_t trid = pxt_stream(2048, 0, POSIX_TRACE_UNTIL_FULL);
	set_filter(trid, SET(POSIX_TRACE_START, POSIX_TRACE_STOP));
	PXT_EQ(posix_trace_start(trid), 0);
	do {
		posix_trace_event(id, &i, sizeof(i));
		PXT_EQ(posix_trace_get_status(trid, &status), 0);
	} while (status.posix_stream_status == POSIX_TRACE_RUNNING && ++i < 10000);
	PXT_EQ(status.posix_stream_status, POSIX_TRACE_SUSPENDED);
	while (pxt_next(trid, &event))
		PXT_EQ(event.info.posix_event_id, id);
	PXT_EQ(posix_trace_get_status(trid, &status), 0);
	PXT_EQ(status.posix_stream_status, POSIX_TRACE_RUNNING);
	posix_trace_event(id, "go", 2);
	pxt_expect(trid, id, "go", 2);
	PXT_EQ(posix_trace_shutdown(trid), 0);
}

/* CON-04, CON-24, SFILT-01 */
PXT_TEST(each_stream_has_a_filter_of_its_own)
{
	trace_event_id_t a = pxt_open_event("filter_stream_a");
	trace_event_id_t b = pxt_open_event("filter_stream_b");

	if (TRACE_SYS_MAX < 2) {
		pxt_skip("a single stream");
		return;
	}
	trace_id_t no_a = watched();
	trace_id_t no_b = watched();
	set_filter(no_a, SET(a));
	set_filter(no_b, SET(b));
	pxt_drain(no_a, 0);
	pxt_drain(no_b, 0);
	posix_trace_event(a, "a", 1);
	posix_trace_event(b, "b", 1);
	pxt_expect(no_a, b, "b", 1);
	pxt_expect_none(no_a);
	pxt_expect(no_b, a, "a", 1);
	pxt_expect_none(no_b);
	PXT_EQ(posix_trace_shutdown(no_a), 0);
	PXT_EQ(posix_trace_shutdown(no_b), 0);
}

/* LPT-33 */
PXT_TEST_FRESH(wanted_follows_the_filter_and_the_state)
{
	trace_event_id_t id = pxt_open_event("filter_wanted");
	trace_event_set_t set = SET(id);

	PXT_EQ(posix_trace_wanted_np(id), 0);
	trace_id_t trid = pxt_stream(0, 0, 0);
	PXT_EQ(posix_trace_wanted_np(id), 0);
	PXT_EQ(posix_trace_start(trid), 0);
	CU_ASSERT_NOT_EQUAL(posix_trace_wanted_np(id), 0);
	set_filter(trid, set);
	PXT_EQ(posix_trace_wanted_np(id), 0);
	PXT_EQ(posix_trace_set_filter(trid, &set, POSIX_TRACE_SUB_EVENTSET), 0);
	CU_ASSERT_NOT_EQUAL(posix_trace_wanted_np(id), 0);
	PXT_EQ(posix_trace_stop(trid), 0);
	PXT_EQ(posix_trace_wanted_np(id), 0);
	PXT_EQ(posix_trace_start(trid), 0);
	CU_ASSERT_NOT_EQUAL(posix_trace_wanted_np(id), 0);
	PXT_EQ(posix_trace_shutdown(trid), 0);
	PXT_EQ(posix_trace_wanted_np(id), 0);
}

static atomic_bool writers_stop;
static trace_event_id_t stormed[2];

static void *write_storm(void *argument)
{
	while (!atomic_load(&writers_stop)) {
		posix_trace_event(stormed[0], "0", 1);
		posix_trace_event(stormed[1], "1", 1);
	}
	return NULL;
}

/* SETFILL-03, SFILT-01: "all events" holds for types that come later, too */
PXT_TEST(a_type_that_is_defined_while_all_events_are_filtered_is_filtered)
{
	static const int fills[] = { POSIX_TRACE_ALL_EVENTS, POSIX_TRACE_WOPID_EVENTS };

	for (int i = 0; i < 2; i++) {
		trace_id_t trid = watched();
		trace_event_set_t set;
		trace_event_id_t id;
		bool filtered = fills[i] == POSIX_TRACE_ALL_EVENTS;

		PXT_EQ(posix_trace_eventset_fill(&set, fills[i]), 0);
		set_filter(trid, set);
		id = pxt_open_event(filtered ? "filter_comes_late" : "filter_comes_late_too");
		PXT_EQ(posix_trace_wanted_np(id) != 0, !filtered);
		posix_trace_event(id, "late", 4);
		PXT_EQ(pxt_drain(trid, id), filtered ? 0 : 1);
		/* With the filter off it is a type like others. */
		PXT_EQ(posix_trace_eventset_empty(&set), 0);
		set_filter(trid, set);
		posix_trace_event(id, "then", 4);
		PXT_EQ(pxt_drain(trid, id), 1);
		PXT_EQ(posix_trace_shutdown(trid), 0);
	}
}

/*
 * Reads under full load what was recorded after a change.  A record that a writer has not finished
 * holds the reader back for a while, so "no event" is asked again.
 */
static void check_storm(trace_id_t trid, trace_event_id_t out, trace_event_id_t in, int round)
{
	/* The conversion of stamps may be off by a little, never by this much. */
	long long since = pxt_now_ns() + 1000000;
	struct pxt_got event;
	size_t seen = 0;
	size_t reads = 0;

	pxt_sleep_ms(4);
	while ((reads < 3000 || seen == 0) && pxt_now_ns() < since + 2000000000LL) {
		if (!pxt_next(trid, &event))
			continue;
		reads++;
		PXT_CHECK(
		    event.info.posix_event_id != out || pxt_ns(&event.info.posix_timestamp) < since,
		    "round %d: filtered event", round);
		seen += event.info.posix_event_id == in;
	}
	PXT_CHECK(seen > 0, "round %d: the other event is missing in %zu reads", round, reads);
}

/* SFILT-07 */
PXT_TEST(after_return_the_new_filter_governs_all_threads)
{
	pthread_t threads[2];

	stormed[0] = pxt_open_event("filter_storm_0");
	stormed[1] = pxt_open_event("filter_storm_1");
	atomic_store(&writers_stop, false);
	trace_id_t trid = watched();
	for (size_t i = 0; i < 2; i++)
		PXT_EQ_FATAL(pthread_create(&threads[i], NULL, write_storm, NULL), 0);
	for (int round = 0; round < 20; round++) {
		trace_event_id_t out = stormed[round % 2];
		trace_event_id_t in = stormed[1 - round % 2];
		set_filter(trid, SET(out));
		check_storm(trid, out, in, round);
	}
	atomic_store(&writers_stop, true);
	for (size_t i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
	PXT_EQ(posix_trace_shutdown(trid), 0);
}
#endif

#if _PXT_UNIT_EXTENSIONS && _PXT_UNIT_USEREVENTS && PXT_CAN_CREATE
static bool is_in(const trace_event_set_t *set, trace_event_id_t id)
{
	int is = 0;

	PXT_EQ(posix_trace_eventset_ismember(id, set, &is), 0);
	return is != 0;
}

/* SHARK-24, SHARK-44: a family is what its types' names have in common */
PXT_TEST(a_group_has_the_types_whose_names_match)
{
	static const char *const names[] = { "net_rx", "net_tx", "net_tx_done", "disk_tx", "net" };
	static const struct {
		const char *pattern;
		unsigned members; /* a bit for each name */
	} groups[] = {
		{ "net_*", 7 },
		{ "*_tx", 10 },
		{ "net_?x", 3 },
		{ "net", 16 },
		{ "n*t*x", 3 },
		{ "net_tx*", 6 },
		{ "net_tx**", 6 },
		{ "*t*_*x*", 7 },
		{ "net*", 23 },
		{ "*_*n*", 4 },
	};
	trace_event_id_t ids[5];

	for (unsigned i = 0; i < 5; i++)
		PXT_EQ_FATAL(posix_trace_eventid_open(names[i], &ids[i]), 0);
	for (unsigned g = 0; g < sizeof(groups) / sizeof(groups[0]); g++) {
		trace_event_set_t set;

		PXT_EQ(posix_trace_eventset_empty(&set), 0);
		PXT_EQ(posix_trace_eventset_addgroup_np(groups[g].pattern, &set), 0);
		for (unsigned i = 0; i < 5; i++)
			PXT_CHECK(is_in(&set, ids[i]) == (groups[g].members >> i & 1u), "%s in %s",
			    names[i], groups[g].pattern);
		CU_ASSERT(!is_in(&set, POSIX_TRACE_START));
	}
}

/* SHARK-24: what was in the set stays, and system types have names, too */
PXT_TEST(a_group_is_added_to_what_the_set_has)
{
	trace_event_set_t set;
	trace_event_set_t system;

	PXT_EQ(posix_trace_eventset_empty(&set), 0);
	PXT_EQ(posix_trace_eventset_add(POSIX_TRACE_UNNAMED_USEREVENT, &set), 0);
	PXT_EQ(posix_trace_eventset_addgroup_np("posix_trace_st*", &set), 0);
	system = SET(POSIX_TRACE_START, POSIX_TRACE_STOP, POSIX_TRACE_UNNAMED_USEREVENT);
	CU_ASSERT(same(&set, &system));
	PXT_EQ(posix_trace_eventset_addgroup_np("posix_trace_x*", &set), ENOENT);
	CU_ASSERT(same(&set, &system));
}
#endif
