/* SPDX-License-Identifier: MIT */
/*
 * test_handle.c - identifiers find what they were made for, and nothing else, at any time; the name map of the
 * process and the descriptions in it; operations that were begun with an identifier whose object is another's by then.
 */
#include "base/handle.h"
#include "format/compiler.h"
#include "suite.h"
#if _PXT_UNIT_LOGRETRIEVAL
#include "logretrieval/log.h"
#endif

#include <errno.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <trace_np.h>
#include <unistd.h>

static const int kind_a, kind_b;
static const struct pxt_ops ops_a = { .kind = &kind_a };
static const struct pxt_ops ops_b = { .kind = &kind_b };

/* Small configurations have a cell for each stream and no more. */
static void make_room(void)
{
	static void *memory[64];
	static bool done;

	if (!done)
		PXT_EQ(pxt_handle_grow(memory, sizeof(memory)), 0);
	done = true;
}

/* CREATE-05 */
PXT_TEST(an_identifier_finds_its_object_and_operations)
{
	const struct pxt_ops *ops = NULL;
	trace_id_t first, second;
	int one, two;

	make_room();
	PXT_EQ(pxt_handle_add(&ops_a, &one, &first), 0);
	PXT_EQ(pxt_handle_add(&ops_b, &two, &second), 0);
	CU_ASSERT(first != second);
	CU_ASSERT(first != 0 && second != 0);
	CU_ASSERT(pxt_handle_find(first, &ops) == &one && ops == &ops_a);
	CU_ASSERT(pxt_handle_find(second, &ops) == &two && ops == &ops_b);
	CU_ASSERT(pxt_handle_find_kind(first, &kind_a) == &one);
	CU_ASSERT(pxt_handle_find_kind(first, &kind_b) == NULL);
	pxt_handle_remove(first);
	pxt_handle_remove(second);
}

/* SHUT-02, CLOSE-01 */
PXT_TEST(a_removed_identifier_is_not_found_and_not_given_out_again)
{
	const struct pxt_ops *ops;
	trace_id_t stale, id;
	int object;
	bool again = false;

	PXT_EQ(pxt_handle_add(&ops_a, &object, &stale), 0);
	pxt_handle_remove(stale);
	for (int i = 0; i < 65535; i++) {
		again |= pxt_handle_find(stale, &ops) != NULL;
		if (pxt_handle_add(&ops_a, &object, &id) != 0)
			CU_FAIL_FATAL("no room");
		again |= id == stale;
		pxt_handle_remove(stale); /* must not remove the newer one */
		if (i % 1000 == 0)
			CU_ASSERT(pxt_handle_find(id, &ops) == &object);
		pxt_handle_remove(id);
	}
	CU_ASSERT_FALSE(again);
}

/* DEC-02 */
PXT_TEST(any_number_may_be_asked_for)
{
	const struct pxt_ops *ops;
	trace_id_t id;
	unsigned found = 0;
	int object;

	PXT_EQ(pxt_handle_add(&ops_a, &object, &id), 0);
	for (unsigned long i = 0; i < 0x30000; i++)
		found += pxt_handle_find(i, &ops) != NULL && i != id;
	for (unsigned bit = 0; bit < 8 * sizeof(id); bit++) {
		found += pxt_handle_find(id ^ 1ul << bit, &ops) != NULL;
		found += pxt_handle_find(1ul << bit, &ops) != NULL;
		pxt_handle_remove(id ^ 1ul << bit);
	}
	found += pxt_handle_find((trace_id_t)-1, &ops) != NULL;
	PXT_EQ(found, 0);
	CU_ASSERT(pxt_handle_find(id, &ops) == &object);
	pxt_handle_remove(id);
}

/* The state of the cell whose object is @object, in memory that the table was given. */
static uint32_t *state_of(void **memory, size_t words, const void *object)
{
	for (size_t i = 2; i < words; i++) {
		if (memory[i] == object)
			return (uint32_t *)(void *)&memory[i - 2];
	}
	return NULL;
}

/* PROC-02, SAFE-03: later, a thread of the child may be making an identifier. */
PXT_TEST_FRESH(what_is_just_being_made_is_forgotten_at_the_fork_alone)
{
	static void *memory[64];
	const struct pxt_ops *ops;
	uint32_t *state = NULL;
	trace_id_t id;
	int object;

	PXT_EQ(pxt_handle_grow(memory, sizeof(memory)), 0);
	for (unsigned i = 0; i <= PXT_HANDLES && !state; i++) {
		PXT_EQ_FATAL(pxt_handle_add(&ops_a, &object, &id), 0);
		state = state_of(memory, sizeof(memory) / sizeof(memory[0]), &object);
	}
	CU_ASSERT_PTR_NOT_NULL_FATAL(state);
	/* As if its maker was between the claim and the end. */
	*state = (*state & ~3u) | 1u;
	pxt_handle_forget_kind(&kind_a);
	PXT_EQ(*state & 3u, 1u);
	pxt_handle_forget_claims();
	PXT_EQ(*state & 3u, 0u);
	CU_ASSERT_PTR_NULL(pxt_handle_find(id, &ops));
}

#define THREADS 4
#define ROUNDS  20000

/* Adds, finds and removes objects of its own; counts what was not as it should be. */
static void *turn_over(void *wrong)
{
	uintptr_t object = (uintptr_t)wrong;

	for (int i = 0; i < ROUNDS; i++) {
		const struct pxt_ops *ops;
		trace_id_t id;

		if (pxt_handle_add(i & 1 ? &ops_a : &ops_b, &object, &id) != 0) {
			++*(unsigned *)wrong;
			continue;
		}
		if (pxt_handle_find(id, &ops) != &object || ops != (i & 1 ? &ops_a : &ops_b))
			++*(unsigned *)wrong;
		pxt_handle_remove(id);
		if (pxt_handle_find(id, &ops) != NULL)
			++*(unsigned *)wrong;
	}
	return NULL;
}

/* CREATE-05, SAFE-03 */
PXT_TEST(threads_never_get_each_other_s_objects)
{
	pthread_t threads[THREADS];
	unsigned wrong[THREADS] = { 0 };

	make_room();
	for (int i = 0; i < THREADS; i++)
		PXT_EQ_FATAL(pthread_create(&threads[i], NULL, turn_over, &wrong[i]), 0);
	for (int i = 0; i < THREADS; i++) {
		pthread_join(threads[i], NULL);
		PXT_EQ(wrong[i], 0);
	}
}

#if CONFIG_PTRACE_LOGRETRIEVAL
static unsigned fill_with(const struct pxt_ops *ops)
{
	static int object;
	unsigned count = 0;
	trace_id_t id;

	while (pxt_handle_add(ops, &object, &id) == 0)
		count++;
	return count;
}

static const struct pxt_ops logs = { .kind = &kind_b, .log = &kind_b };

/* CREATE-05, DEC-36 */
PXT_TEST_FRESH(logs_leave_streams_their_identifiers)
{
	(void)fill_with(&logs);
	CU_ASSERT(fill_with(&ops_a) >= CONFIG_PTRACE_MAX_STREAMS);
}

/* OPEN-01, DEC-36 */
PXT_TEST_FRESH(streams_leave_logs_theirs)
{
	trace_id_t id;
	int object;

	for (int i = 0; i < CONFIG_PTRACE_MAX_STREAMS; i++)
		PXT_EQ(pxt_handle_add(&ops_a, &object, &id), 0);
	PXT_EQ(fill_with(&logs), PXT_HANDLES - PXT_HANDLES_KEPT);
}

/* OPEN-01, DEC-36: none of the cells that logs bring is kept from them. */
PXT_TEST_FRESH(logs_have_all_cells_that_they_bring)
{
	static void *memory[256];
	unsigned before = fill_with(&logs);
	unsigned more;

	PXT_EQ(pxt_handle_grow(memory, sizeof(memory)), 0);
	more = fill_with(&logs);
	/* A cell has two pointers and a word; the rest is what says where they are. */
	CU_ASSERT(more >= 256 / 3 - 3);
	CU_ASSERT(before + more >= PXT_HANDLES - PXT_HANDLES_KEPT + 256 / 3 - 3);
}
#endif

/* ---- The name map of the process and the descriptions in it ---- */

/* The tests open some twenty names and describe a few of them. */
#if _PXT_UNIT_USEREVENTS && _PXT_USER_EVENT_MAX > 24 && CONFIG_PTRACE_FORMAT_POOL_BYTES >= 512
#define HAVE_NAMES 1
#else
#define HAVE_NAMES 0
#endif

#if HAVE_NAMES
#include "core/process/names.h"

static unsigned must_open(const char *name)
{
	trace_event_id_t id = 0;
	bool is_new;

	PXT_EQ(pxt_names_open(name, &id, &is_new), 0);
	return id;
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

/* ---- Operations that were begun with an identifier whose object is another's by then ---- */

/* The look-up comes first, as in a thread that is stopped after it, and the object changes hands. */

/* What was looked up with an identifier, and the identifier. */
struct found {
	void *object;
	const struct pxt_ops *ops;
	trace_id_t trid;
};

#if PXT_CAN_CREATE || PXT_CAN_LOG
/* What PXT_HANDLE_ASK does when it has looked up. */
#define ASK(found, answer)                                                                         \
	((found)->ops->begin_call((found)->object, (found)->trid)                                  \
	        ? EINVAL                                                                           \
	        : (found)->ops->end_call((found)->object, answer))

/* All that may be asked in both worlds; an operation that the kind does not have is as good as refused. */
static void all_say(const struct found *old, int want)
{
	static struct posix_trace_status_info status;
	static struct _pxt_attr attr;
	static char name[TRACE_EVENT_NAME_MAX + 1];
	static char format[POSIX_TRACE_FORMAT_MAX_NP + 1];
	struct posix_trace_clock_np clock;
	trace_event_id_t id = 0;

	PXT_EQ(ASK(old, old->ops->get_attr(old->object, &attr)), want);
	PXT_EQ(ASK(old, old->ops->get_status(old->object, &status)), want);
	PXT_EQ(
	    ASK(old, old->ops->type_name(old->object, POSIX_TRACE_UNNAMED_USEREVENT, name)), want);
	PXT_EQ(ASK(old, old->ops->type_format(old->object, POSIX_TRACE_UNNAMED_USEREVENT, format)),
	    want);
	PXT_EQ(ASK(old, old->ops->type_next(old->object, &id)), want);
	PXT_EQ(ASK(old, old->ops->type_rewind(old->object)), want);
	PXT_EQ(ASK(old, old->ops->get_clock(old->object, &clock)), want);
	if (old->ops->rewind)
		PXT_EQ(ASK(old, old->ops->rewind(old->object)), want);
}
#endif

#if _PXT_UNIT_ONLINE || PXT_CAN_LOG
#if (_PXT_UNIT_EXTENSIONS && _PXT_UNIT_ONLINE) || _PXT_UNIT_LOGRETRIEVAL
static void no_views_are_read(const struct found *old)
{
	struct posix_trace_eventview_np view;
	size_t count = 0;

	if (!old->ops->views)
		return;
	PXT_EQ(ASK(old, old->ops->views(old->object, &view, 1, &count)), EINVAL);
	PXT_EQ(count, 0);
}
#else
static void no_views_are_read(const struct found *old)
{
	CU_ASSERT(!old->ops->views);
}
#endif

/* Nothing is handed out: a request that would wait is not made. */
static void nothing_is_read(const struct found *old)
{
	struct posix_trace_event_info event;
	unsigned char data[8];
	size_t len;
	int unavailable = 1;
	struct pxt_getnext request = { .trid = old->trid,
		.event = &event,
		.data = data,
		.num_bytes = sizeof(data),
		.data_len = &len,
		.unavailable = &unavailable,
		.wait = old->ops->log ? PXT_WAIT_BLOCK : PXT_WAIT_NOT };

	if (old->ops->getnext)
		PXT_EQ(old->ops->getnext(old->object, &request), EINVAL);
	no_views_are_read(old);
	PXT_EQ(unavailable, 1);
}
#endif

#if PXT_CAN_CREATE
static struct found look_up(trace_id_t trid)
{
	struct found found = { .trid = trid };

	found.object = pxt_handle_find(trid, &found.ops);
	CU_ASSERT_PTR_NOT_NULL_FATAL(found.object);
	return found;
}
#endif

#if _PXT_UNIT_ONLINE
/* SHUT-02, DEC-01 */
PXT_TEST(an_old_identifier_asks_nothing_of_the_stream_that_has_its_place)
{
	struct found old = look_up(pxt_stream(0, 0, 0));
	struct found now;

	all_say(&old, 0);
	PXT_EQ(posix_trace_shutdown(old.trid), 0);
	now = look_up(pxt_stream(0, 0, 0));
	CU_ASSERT_PTR_EQUAL(now.object, old.object);
	all_say(&old, EINVAL);
	nothing_is_read(&old);
	all_say(&now, 0);
	PXT_EQ(posix_trace_shutdown(now.trid), 0);
}
#endif

#if _PXT_UNIT_TOLOG
/* SHUT-02, STA-03 */
PXT_TEST(an_old_identifier_asks_nothing_of_the_stream_with_log_that_has_its_place)
{
	int fd = pxt_temp_file();
	int other = pxt_temp_file();
	struct found old = look_up(pxt_log_stream(NULL, fd));
	struct found now;

	PXT_EQ(posix_trace_shutdown(old.trid), 0);
	now = look_up(pxt_log_stream(NULL, other));
	CU_ASSERT_PTR_EQUAL(now.object, old.object);
	all_say(&old, EINVAL);
	all_say(&now, 0);
	PXT_EQ(posix_trace_shutdown(now.trid), 0);
	close(fd);
	close(other);
}
#endif

#if PXT_CAN_LOG
static int made_log(void)
{
	int fd = pxt_temp_file();

	PXT_EQ_FATAL(posix_trace_shutdown(pxt_log_stream(NULL, fd)), 0);
	return fd;
}

/* What only logs can be asked. */
static void getters_say(const struct found *old, int want)
{
	static struct posix_trace_loginfo_np info;
	static struct posix_trace_logmodule_np module;
	const struct pxt_log_getters *getters = old->ops->log;
	struct posix_trace_logthread_np thread;
	struct posix_trace_logblock_np block;
	struct posix_trace_logfinding_np finding;
	struct timespec time;
	int unavailable = 1;

	PXT_EQ(ASK(old, getters->info(old->object, &info)), want);
	PXT_EQ(ASK(old, getters->time(old->object, 1, &time)), want);
	PXT_EQ(ASK(old, getters->block(old->object, &block, &unavailable)), want);
	PXT_EQ(ASK(old, getters->thread(old->object, 0, &thread)), want);
	if (want)
		PXT_EQ(ASK(old, getters->module(old->object, 0, &module)), want);
	PXT_EQ(ASK(old, getters->damage(old->object, &finding)), want ? want : ENOENT);
}

/* CLOSE-01, DEC-01 */
PXT_TEST(an_old_identifier_asks_nothing_of_the_log_that_has_its_object)
{
	int fd = made_log();
	struct found old = look_up(pxt_open_log(fd));
	struct found now;

	all_say(&old, 0);
	getters_say(&old, 0);
	PXT_EQ(posix_trace_close(old.trid), 0);
	all_say(&old, EINVAL);
	now = look_up(pxt_open_log(fd));
	CU_ASSERT_PTR_EQUAL(now.object, old.object);
	all_say(&old, EINVAL);
	getters_say(&old, EINVAL);
	nothing_is_read(&old);
	all_say(&now, 0);
	PXT_EQ(posix_trace_close(now.trid), 0);
	close(fd);
}

/* CLOSE-01, CLOSE-02 */
PXT_TEST(of_two_who_close_one_log_the_second_closes_no_other)
{
	int fd = made_log();
	struct found old = look_up(pxt_open_log(fd));
	struct found now;

	PXT_EQ(posix_trace_close(old.trid), 0);
	now = look_up(pxt_open_log(fd));
	PXT_EQ(old.ops->close(old.object, old.trid), EINVAL);
	all_say(&now, 0);
	PXT_EQ(posix_trace_close(now.trid), 0);
	close(fd);
}
#endif
