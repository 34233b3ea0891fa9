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

#define NAMES 20

struct opener {
	pthread_t thread;
	unsigned ids[NAMES];
	unsigned made;
	pthread_barrier_t *start;
};

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
