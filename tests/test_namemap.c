/* SPDX-License-Identifier: MIT */
/* test_namemap.c - the name map of the process and the descriptions in it. */
#include "suite.h"

#include "format/compiler.h"

#include <trace.h>

/* The tests open some twenty names and describe a few of them. */
#if _PXT_UNIT_USEREVENTS && _PXT_USER_EVENT_MAX > 24 && CONFIG_PTRACE_FORMAT_POOL_BYTES >= 512
#define HAVE_NAMES 1
#else
#define HAVE_NAMES 0
#endif

#if HAVE_NAMES
#include "core/process/names.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <trace_np.h>

static unsigned open_name(const char *name, bool *is_new)
{
	trace_event_id_t id = 0;

	PXT_EQ(pxt_names_open(name, &id, is_new), 0);
	return id;
}

static unsigned must_open(const char *name)
{
	bool is_new;

	return open_name(name, &is_new);
}

/* EVOPEN-01, EVOPEN-02, EVOPEN-03 */
PXT_TEST_FRESH(a_name_has_one_identifier_and_another_name_another)
{
	bool is_new;
	unsigned id = open_name("one", &is_new);

	CU_ASSERT_TRUE(is_new);
	PXT_EQ(id, PXT_ID_USER_FIRST);
	PXT_EQ(open_name("one", &is_new), id);
	CU_ASSERT_FALSE(is_new);
	CU_ASSERT(open_name("One", &is_new) != id);
	CU_ASSERT(open_name("on", &is_new) != id);
	CU_ASSERT_STRING_EQUAL(pxt_names_of(id), "one");
	PXT_EQ(pxt_names_count(), 3);
	CU_ASSERT_PTR_NULL(pxt_names_of(id + 3));
	CU_ASSERT_PTR_NULL(pxt_names_of(PXT_ID_COUNT + 5));
}

/* DEC-31 */
PXT_TEST_FRESH(an_empty_name_is_a_name_and_predefined_names_are_predefined_types)
{
	bool is_new;
	unsigned empty = open_name("", &is_new);

	CU_ASSERT_TRUE(is_new);
	PXT_EQ(must_open(""), empty);
	PXT_EQ(must_open("posix_trace_unnamed_userevent"), POSIX_TRACE_UNNAMED_USEREVENT);
	for (unsigned id = PXT_ID_SYSTEM_FIRST; id <= PXT_ID_SYSTEM_LAST; id++) {
		const char *name = pxt_system_event_name(id);

		if (name)
			PXT_EQ(open_name(name, &is_new), id);
		CU_ASSERT_FALSE(name && is_new);
	}
	PXT_EQ(pxt_names_count(), 1);
}

/* EVOPEN-06, EVOPEN-E1, LIM-04, DEC-04 */
PXT_TEST_FRESH(the_longest_name_fits_and_one_byte_more_is_refused_unread)
{
	/* On the heap without a NUL: asan sees a read beyond the byte that decides. */
	char *name = malloc(TRACE_EVENT_NAME_MAX + 1);
	trace_event_id_t id = 7;
	bool is_new;

	memset(name, 'n', TRACE_EVENT_NAME_MAX + 1);
	PXT_EQ(pxt_names_open(name, &id, &is_new), ENAMETOOLONG);
	PXT_EQ(id, 7);
	CU_ASSERT_FALSE(is_new);
	PXT_EQ(pxt_names_count(), 0);
	name[TRACE_EVENT_NAME_MAX] = '\0';
	PXT_EQ(pxt_names_open(name, &id, &is_new), 0);
	CU_ASSERT_STRING_EQUAL(pxt_names_of(id), name);
	free(name);
}

/* CON-19, LIM-03, EVOPEN-04 */
PXT_TEST_FRESH(beyond_the_limit_new_names_are_unnamed_and_old_ones_keep_theirs)
{
	unsigned wrong = 0;
	bool is_new;
	char name[32];

	for (unsigned i = 0; i < PXT_NAMES_MAX; i++) {
		snprintf(name, sizeof(name), "event %u", i);
		wrong += open_name(name, &is_new) != PXT_ID_USER_FIRST + i || !is_new;
	}
	PXT_EQ(wrong, 0);
	PXT_EQ(open_name("one more", &is_new), POSIX_TRACE_UNNAMED_USEREVENT);
	CU_ASSERT_FALSE(is_new);
	for (unsigned i = 0; i < PXT_NAMES_MAX; i++) {
		snprintf(name, sizeof(name), "event %u", i);
		wrong += must_open(name) != PXT_ID_USER_FIRST + i;
	}
	PXT_EQ(wrong, 0);
	PXT_EQ(pxt_names_count(), PXT_NAMES_MAX);
}

#define THREADS 8
#define NAMES   20

struct opener {
	pthread_t thread;
	unsigned ids[NAMES];
	unsigned made;
	pthread_barrier_t *start;
};

static void *open_all(void *argument)
{
	struct opener *me = argument;

	pthread_barrier_wait(me->start);
	for (unsigned i = 0; i < NAMES; i++) {
		char name[16];
		trace_event_id_t id = 0;
		bool is_new;

		snprintf(name, sizeof(name), "shared %u", i);
		(void)pxt_names_open(name, &id, &is_new);
		me->ids[i] = id;
		me->made += is_new;
	}
	return NULL;
}

/* EVOPEN-08 */
PXT_TEST_FRESH(threads_that_open_one_name_get_one_identifier)
{
	struct opener openers[THREADS];
	pthread_barrier_t start;
	unsigned made = 0, differ = 0;

	pthread_barrier_init(&start, NULL, THREADS);
	memset(openers, 0, sizeof(openers));
	for (int i = 0; i < THREADS; i++) {
		openers[i].start = &start;
		pthread_create(&openers[i].thread, NULL, open_all, &openers[i]);
	}
	for (int i = 0; i < THREADS; i++) {
		pthread_join(openers[i].thread, NULL);
		made += openers[i].made;
		differ += memcmp(openers[i].ids, openers[0].ids, sizeof(openers[0].ids)) != 0;
	}
	pthread_barrier_destroy(&start);
	PXT_EQ(made, NAMES);
	PXT_EQ(differ, 0);
	PXT_EQ(pxt_names_count(), NAMES);
}

/* The first description stays. */
PXT_TEST(a_type_is_described_once)
{
	unsigned id = must_open("described");

	CU_ASSERT_STRING_EQUAL(pxt_names_format(id), "");
	PXT_EQ(posix_trace_eventid_setformat_np(id, "u32 job, i64 late_ns"), 0);
	CU_ASSERT_STRING_EQUAL(pxt_names_format(id), "u32 job, i64 late_ns");
	PXT_EQ(posix_trace_eventid_setformat_np(id, "u32 job, i64 late_ns"), 0);
	PXT_EQ(posix_trace_eventid_setformat_np(id, "u32 job, i64 late"), EBUSY);
	PXT_EQ(posix_trace_eventid_setformat_np(id, "u32 job, i64 late_ns2"), EBUSY);
	PXT_EQ(posix_trace_eventid_setformat_np(id, "u32 job,"), EINVAL);
	CU_ASSERT_STRING_EQUAL(pxt_names_format(id), "u32 job, i64 late_ns");
}

PXT_TEST(what_is_malformed_or_no_user_type_is_refused_and_changes_nothing)
{
	unsigned id = must_open("plain");

	PXT_EQ(posix_trace_eventid_setformat_np(id, "u31 job"), EINVAL);
	CU_ASSERT_STRING_EQUAL(pxt_names_format(id), "");
	PXT_EQ(posix_trace_eventid_setformat_np(id + 1, "u32 job"), EINVAL);
	PXT_EQ(posix_trace_eventid_setformat_np(0, "u32 job"), EINVAL);
	PXT_EQ(posix_trace_eventid_setformat_np(POSIX_TRACE_START, "u32 job"), EINVAL);
	PXT_EQ(posix_trace_eventid_setformat_np(POSIX_TRACE_UNNAMED_USEREVENT, "u32 job"), EINVAL);
	PXT_EQ(posix_trace_eventid_setformat_np((trace_event_id_t)-1, "u32 job"), EINVAL);
	CU_ASSERT_PTR_NULL(pxt_names_format(id + 1));
	CU_ASSERT_STRING_EQUAL(pxt_names_format(POSIX_TRACE_UNNAMED_USEREVENT), "");
}

/* A full pool refuses what does not fit, keeps what it has and still takes what fits. */
PXT_TEST_FRESH(a_full_pool_says_so)
{
	char format[POSIX_TRACE_FORMAT_MAX_NP + 1];
	char name[32];
	size_t used = 0;
	unsigned i = 0, first = must_open("event 0");

	memset(format, ' ', sizeof(format));
	memcpy(format + sizeof(format) - 7, "u8 abc", 7);
	while (used + sizeof(format) <= CONFIG_PTRACE_FORMAT_POOL_BYTES && i < PXT_NAMES_MAX - 1) {
		snprintf(name, sizeof(name), "event %u", i++);
		PXT_EQ_FATAL(posix_trace_eventid_setformat_np(must_open(name), format), 0);
		used += sizeof(format);
	}
	if (used + sizeof(format) <= CONFIG_PTRACE_FORMAT_POOL_BYTES) {
		pxt_skip("more room for descriptions than for names");
		return;
	}
	PXT_EQ(posix_trace_eventid_setformat_np(must_open("last"), format), ENOMEM);
	CU_ASSERT_STRING_EQUAL(pxt_names_format(must_open("last")), "");
	if (used > 0)
		CU_ASSERT_STRING_EQUAL(pxt_names_format(first), format);
}

static int child(void *id)
{
	bool is_new;
	trace_event_id_t other = 0;

	PXT_CHILD_CHECK(strcmp(pxt_names_of(*(unsigned *)id), "before") == 0);
	PXT_CHILD_CHECK(pxt_names_open("before", &other, &is_new) == 0);
	PXT_CHILD_CHECK(other == *(unsigned *)id && !is_new);
	PXT_CHILD_CHECK(pxt_names_open("after", &other, &is_new) == 0 && is_new);
	PXT_CHILD_CHECK(strcmp(pxt_names_format(*(unsigned *)id), "u8 a") == 0);
	return 0;
}

/* DEC-34 */
PXT_TEST_FRESH(a_child_keeps_the_map_and_adds_to_its_own)
{
	unsigned id = must_open("before");

	PXT_EQ(pxt_names_set_format(id, "u8 a"), 0);
	PXT_EQ(pxt_in_child(child, &id), 0);
	PXT_EQ(pxt_names_count(), 1);
}
#endif
