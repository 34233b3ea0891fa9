/* SPDX-License-Identifier: MIT */
/* inspect.c - events that a stream judges one by one: by process, thread and handler; short types. */
#define _DEFAULT_SOURCE /* MAP_ANONYMOUS */
#include "../suite.h"

#include <errno.h>
#include <pthread.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <trace_np.h>
#include <unistd.h>

#if _PXT_UNIT_INSPECT && _PXT_UNIT_ONLINE && _PXT_USER_EVENT_MAX > 8
#define HAVE_INSPECT 1
#else
#define HAVE_INSPECT 0
#endif

#if HAVE_INSPECT
static trace_id_t stream;
static trace_event_id_t types[3];
static trace_event_set_t sets[3];

/* A running stream, three types, and sets of one type each. */
static void begin(int policy)
{
	static const char *const names[3] = { "one", "two", "three" };
	trace_attr_t attr;

	posix_trace_attr_init(&attr);
	PXT_EQ(posix_trace_attr_setstreamfullpolicy(&attr, policy), 0);
	PXT_EQ_FATAL(posix_trace_create(0, &attr, &stream), 0);
	for (int i = 0; i < 3; i++) {
		PXT_EQ(posix_trace_eventid_open(names[i], &types[i]), 0);
		PXT_EQ(posix_trace_eventset_empty(&sets[i]), 0);
		PXT_EQ(posix_trace_eventset_add(types[i], &sets[i]), 0);
	}
	PXT_EQ(posix_trace_start(stream), 0);
}

static void say(int type, uint32_t number)
{
	posix_trace_event(types[type], &number, sizeof(number));
}

/* The numbers of the user events that are there, in order, as digits. */
static void expect(const char *wanted)
{
	struct posix_trace_event_info info;
	char found[64] = "";
	size_t count = 0;
	int none = 0;

	while (count + 1 < sizeof(found)) {
		uint32_t number = 0;
		size_t len;

		if (posix_trace_trygetnext_event(
		        stream, &info, &number, sizeof(number), &len, &none) != 0 ||
		    none)
			break;
		if (info.posix_event_id >= POSIX_TRACE_UNNAMED_USEREVENT)
			found[count++] = (char)('0' + number);
	}
	PXT_CHECK(strcmp(found, wanted) == 0, "%s instead of %s", found, wanted);
}

static void end(void)
{
	PXT_EQ(posix_trace_shutdown(stream), 0);
}

/* ---- Handlers ---- */

static int every_other(const struct posix_trace_handled_np *event, void *arg)
{
	unsigned *calls = arg;

	errno = EDOM;
	return (*calls)++ % 2 == 0 && event->posix_data_len_np == sizeof(uint32_t);
}

/* QNX-09, QNX-45: the handler's result decides, for its types alone. */
PXT_TEST_FRESH(a_handler_keeps_and_drops_events_of_its_types)
{
	struct posix_trace_levels_np levels;
	unsigned calls = 0;

	begin(POSIX_TRACE_LOOP);
	PXT_EQ(posix_trace_set_handler_np(stream, &sets[0], every_other, &calls), 0);
	errno = 0;
	for (uint32_t i = 0; i < 4; i++) {
		say(0, i);
		say(1, i + 5);
	}
	PXT_EQ(errno, 0);
	PXT_EQ(calls, 4);
	expect("056278");
	PXT_EQ(posix_trace_getlevels_np(stream, &levels, sizeof(levels)), 0);
	PXT_EQ(levels.posix_came_np, 8);
	PXT_EQ(levels.posix_handled_np, 4);
	PXT_EQ(levels.posix_not_handler_np, 2);
	PXT_EQ(posix_trace_set_handler_np(stream, &sets[0], NULL, NULL), 0);
	say(0, 1);
	say(0, 2);
	PXT_EQ(calls, 4);
	expect("12");
	end();
}

static const struct posix_trace_handled_np *seen;
static struct posix_trace_handled_np seen_event;
static uint32_t seen_number;

static int look(const struct posix_trace_handled_np *event, void *arg)
{
	seen = event;
	seen_event = *event;
	memcpy(&seen_number, event->posix_data_np, sizeof(seen_number));
	/* Not asked for this one. */
	say(0, 7);
	return 1;
}

/* QNX-45 */
PXT_TEST_FRESH(a_handler_is_told_of_the_event_and_its_own_events_ask_nobody)
{
	begin(POSIX_TRACE_LOOP);
	PXT_EQ(posix_trace_set_handler_np(stream, &sets[0], look, NULL), 0);
	say(0, 4);
	CU_ASSERT_PTR_NOT_NULL(seen);
	PXT_EQ(seen_event.posix_event_id_np, types[0]);
	PXT_EQ(seen_event.posix_data_len_np, sizeof(uint32_t));
	PXT_EQ(seen_number, 4);
	expect("74");
	end();
}

static int drop_all(const struct posix_trace_handled_np *event, void *arg)
{
	return 0;
}

PXT_TEST_FRESH(there_is_room_for_16_handlers_and_those_without_types_make_room)
{
	static char args[17];
	unsigned fine = 0;

	begin(POSIX_TRACE_LOOP);
	for (unsigned i = 0; i < 17; i++) {
		trace_event_set_t set;
		trace_event_id_t id;
		char name[] = "type a";

		name[5] = (char)('a' + i);
		PXT_EQ(posix_trace_eventid_open(name, &id), 0);
		PXT_EQ(posix_trace_eventset_empty(&set), 0);
		PXT_EQ(posix_trace_eventset_add(id, &set), 0);
		fine += posix_trace_set_handler_np(stream, &set, drop_all, &args[i]) == 0;
		/* The one that found no room has changed nothing. */
		if (i == 16) {
			posix_trace_event(id, "1\0\0", 4);
			PXT_EQ(posix_trace_eventset_fill(&set, POSIX_TRACE_ALL_EVENTS), 0);
			PXT_EQ(posix_trace_set_handler_np(stream, &set, drop_all, NULL), 0);
			posix_trace_event(id, "1\0\0", 4);
		}
	}
	PXT_EQ(fine, 16);
	end();
}

/* ---- Threads and processes ---- */

static void *say_five(void *unused)
{
	say(0, 5);
	return unused;
}

/* QNX-44 */
PXT_TEST_FRESH(events_of_other_threads_than_those_asked_for_are_not_recorded)
{
	struct posix_trace_levels_np levels;
	pthread_t self = pthread_self();
	pthread_t other;

	begin(POSIX_TRACE_LOOP);
	PXT_EQ(posix_trace_set_threads_np(stream, &self, 1), 0);
	PXT_EQ(pthread_create(&other, NULL, say_five, NULL), 0);
	PXT_EQ(pthread_join(other, NULL), 0);
	say(0, 1);
	expect("1");
	PXT_EQ(posix_trace_getlevels_np(stream, &levels, sizeof(levels)), 0);
	PXT_EQ(levels.posix_not_thread_np, 1);
	PXT_EQ(posix_trace_set_threads_np(stream, NULL, 0), 0);
	PXT_EQ(pthread_create(&other, NULL, say_five, NULL), 0);
	PXT_EQ(pthread_join(other, NULL), 0);
	expect("5");
	end();
}

/* QNX-43 */
PXT_TEST_FRESH(events_of_other_processes_than_those_asked_for_are_not_recorded)
{
	struct posix_trace_levels_np levels;
	pid_t self = getpid();
	pid_t other = self == 1 ? 2 : 1;

	begin(POSIX_TRACE_LOOP);
	PXT_EQ(posix_trace_set_processes_np(stream, &other, 1), 0);
	say(0, 1);
	PXT_EQ(posix_trace_set_processes_np(stream, &self, 1), 0);
	say(0, 2);
	expect("2");
	PXT_EQ(posix_trace_getlevels_np(stream, &levels, sizeof(levels)), 0);
	PXT_EQ(levels.posix_not_process_np, 1);
	end();
}

#if _PXT_UNIT_INHERIT
/* QNX-43: a child that goes on with the stream is asked the same. */
PXT_TEST_FRESH(a_child_is_left_out_of_a_stream_that_records_its_parent)
{
	pid_t self = getpid();
	trace_attr_t attr;
	pid_t child;
	int status;

	begin(POSIX_TRACE_LOOP);
	end();
	posix_trace_attr_init(&attr);
	PXT_EQ(posix_trace_attr_setinherited(&attr, POSIX_TRACE_INHERITED), 0);
	PXT_EQ_FATAL(posix_trace_create(0, &attr, &stream), 0);
	PXT_EQ(posix_trace_start(stream), 0);
	PXT_EQ(posix_trace_set_processes_np(stream, &self, 1), 0);
	child = fork();
	if (child == 0) {
		say(0, 9);
		_exit(0);
	}
	PXT_EQ(waitpid(child, &status, 0), child);
	say(0, 1);
	expect("1");
	end();
}

static int drop(const struct posix_trace_handled_np *event, void *arg)
{
	return 0;
}

/* The stream becomes an inspected one after the fork: then the child has no rules for it. */
PXT_TEST_FRESH(a_child_judges_by_no_rules_of_a_stream_that_is_gone)
{
	trace_attr_t attr;
	int go[2];
	pid_t child;
	char byte;

	begin(POSIX_TRACE_LOOP);
	PXT_EQ(posix_trace_set_handler_np(stream, &sets[0], drop, NULL), 0);
	end();
	posix_trace_attr_init(&attr);
	PXT_EQ(posix_trace_attr_setinherited(&attr, POSIX_TRACE_INHERITED), 0);
	PXT_EQ_FATAL(posix_trace_create(0, &attr, &stream), 0);
	PXT_EQ(posix_trace_start(stream), 0);
	PXT_EQ_FATAL(pipe(go), 0);
	child = fork();
	if (child == 0) {
		if (read(go[0], &byte, 1) == 1)
			say(0, 1);
		_exit(0);
	}
	PXT_EQ(posix_trace_set_processes_np(stream, NULL, 0), 0);
	PXT_EQ(write(go[1], "", 1), 1);
	PXT_EQ(waitpid(child, NULL, 0), child);
	close(go[0]);
	close(go[1]);
	expect("1");
	end();
}

/* Handlers are asked in the child as at the fork, whatever its parent changes afterwards. */
PXT_TEST_FRESH(a_child_keeps_the_rules_of_the_fork)
{
	trace_attr_t attr;
	int go[2];
	pid_t child;
	char byte;

	begin(POSIX_TRACE_LOOP);
	end();
	posix_trace_attr_init(&attr);
	PXT_EQ(posix_trace_attr_setinherited(&attr, POSIX_TRACE_INHERITED), 0);
	PXT_EQ_FATAL(posix_trace_create(0, &attr, &stream), 0);
	PXT_EQ(posix_trace_set_handler_np(stream, &sets[0], drop, NULL), 0);
	PXT_EQ(posix_trace_start(stream), 0);
	PXT_EQ_FATAL(pipe(go), 0);
	child = fork();
	if (child == 0) {
		if (read(go[0], &byte, 1) == 1) {
			say(0, 1);
			say(1, 2);
		}
		_exit(0);
	}
	for (int i = 0; i < 3; i++)
		PXT_EQ(posix_trace_set_handler_np(stream, &sets[i % 2], NULL, NULL), 0);
	PXT_EQ(write(go[1], "", 1), 1);
	PXT_EQ(waitpid(child, NULL, 0), child);
	close(go[0]);
	close(go[1]);
	say(0, 3);
	expect("23");
	end();
}
#endif

/* ---- Levels ---- */

static int count_calls(const struct posix_trace_handled_np *event, void *arg)
{
	++*(unsigned *)arg;
	return 1;
}

/* QNX-26, QNX-46: what a cheap level holds back the next one does not see. */
PXT_TEST_FRESH(levels_come_in_order_of_cost_and_are_counted)
{
	struct posix_trace_levels_np levels;
	pthread_t self = pthread_self();
	pid_t pid = getpid();
	unsigned calls = 0;
	pthread_t other;

	begin(POSIX_TRACE_LOOP);
	PXT_EQ(posix_trace_getlevels_np(stream, &levels, sizeof(levels)), 0);
	PXT_EQ(levels.posix_came_np, 0);
	PXT_EQ(posix_trace_set_handler_np(stream, &sets[0], count_calls, &calls), 0);
	PXT_EQ(posix_trace_set_threads_np(stream, &self, 1), 0);
	PXT_EQ(posix_trace_set_processes_np(stream, &pid, 1), 0);
	PXT_EQ(posix_trace_set_filter(stream, &sets[2], POSIX_TRACE_SET_EVENTSET), 0);
	say(2, 1);
	PXT_EQ(pthread_create(&other, NULL, say_five, NULL), 0);
	PXT_EQ(pthread_join(other, NULL), 0);
	say(1, 2);
	say(0, 3);
	expect("23");
	PXT_EQ(calls, 1);
	PXT_EQ(posix_trace_getlevels_np(stream, &levels, sizeof(levels)), 0);
	PXT_EQ(levels.posix_came_np, 3);
	PXT_EQ(levels.posix_not_process_np, 0);
	PXT_EQ(levels.posix_not_thread_np, 1);
	PXT_EQ(levels.posix_handled_np, 1);
	PXT_EQ(levels.posix_not_handler_np, 0);
	end();
}

/* ---- Short types ---- */

/* @set, a set of no types, ends where the process' memory ends. */
static trace_event_set_t *set_at_the_end(void)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	unsigned char *pages =
	    mmap(NULL, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	trace_event_set_t *set;

	CU_ASSERT_FATAL(pages != MAP_FAILED);
	PXT_EQ(mprotect(pages + page, page, PROT_NONE), 0);
	set = (trace_event_set_t *)(void *)(pages + page - sizeof(*set));
	PXT_EQ(posix_trace_eventset_empty(set), 0);
	return set;
}

/* All that take a set: nobody looks behind it. */
PXT_TEST_FRESH(a_set_is_read_to_its_end)
{
	trace_event_set_t *set = set_at_the_end();
	int is_member;

	begin(POSIX_TRACE_LOOP);
	PXT_EQ(posix_trace_eventset_fill(set, POSIX_TRACE_ALL_EVENTS), 0);
	PXT_EQ(posix_trace_eventset_ismember(types[0], set, &is_member), 0);
	PXT_EQ(posix_trace_set_handler_np(stream, set, NULL, NULL), 0);
	PXT_EQ(posix_trace_set_short_np(stream, set), 0);
	PXT_EQ(posix_trace_eventset_addgroup_np("o*", set), 0);
	PXT_EQ(posix_trace_set_filter(stream, set, POSIX_TRACE_SET_EVENTSET), 0);
	PXT_EQ(posix_trace_get_filter(stream, set), 0);
	end();
}

/* QNX-36, QNX-37, QNX-38: per type, and what was left out is told. */
PXT_TEST_FRESH(a_short_type_keeps_four_bytes_and_the_others_all)
{
	struct posix_trace_levels_np levels;
	struct posix_trace_event_info info;
	unsigned char data[64];
	size_t len;
	int none;

	begin(POSIX_TRACE_LOOP);
	PXT_EQ(posix_trace_set_short_np(stream, &sets[0]), 0);
	posix_trace_event(types[0], "abcdefghijklmnopqrstuvwxyz", 26);
	posix_trace_event(types[1], "abcdefghijklmnopqrstuvwxyz", 26);
	posix_trace_event(types[0], "abc", 3);
	/* Just as long as it may be. */
	posix_trace_event(types[0], "abcd", 4);
	for (int i = 0; i < 4;) {
		PXT_EQ(posix_trace_trygetnext_event(stream, &info, data, sizeof(data), &len, &none),
		    0);
		if (none)
			break;
		if (info.posix_event_id < POSIX_TRACE_UNNAMED_USEREVENT)
			continue;
		PXT_EQ(len, i == 0 ? 4 : i == 1 ? 26 : i == 2 ? 3 : 4);
		CU_ASSERT(memcmp(data, "abcdefghijklmnopqrstuvwxyz", len) == 0);
		PXT_EQ(info.posix_truncation_status,
		    i == 0 ? POSIX_TRACE_TRUNCATED_RECORD : POSIX_TRACE_NOT_TRUNCATED);
		i++;
	}
	PXT_EQ(posix_trace_getlevels_np(stream, &levels, sizeof(levels)), 0);
	PXT_EQ(levels.posix_shortened_np, 1);
	end();
}

/* QNX-36, POL-09: a stream that stopped by itself, and gets new rules, counts and restarts as before. */
PXT_TEST_FRESH(new_rules_leave_a_stream_that_stopped_by_itself_as_it_is)
{
	struct posix_trace_status_info status = { 0 };
	struct posix_trace_counts_np before;
	struct posix_trace_counts_np after;

	begin(POSIX_TRACE_UNTIL_FULL);
	for (uint32_t i = 0; status.posix_stream_status != POSIX_TRACE_SUSPENDED && i < 100000;
	     i++) {
		say(0, i);
		PXT_EQ(posix_trace_get_status(stream, &status), 0);
	}
	PXT_EQ(posix_trace_getcounts_np(stream, &before, sizeof(before)), 0);
	PXT_EQ(posix_trace_set_short_np(stream, &sets[1]), 0);
	say(0, 1);
	PXT_EQ(posix_trace_getcounts_np(stream, &after, sizeof(after)), 0);
	PXT_EQ(after.posix_lost_np, before.posix_lost_np + 1);
	while (posix_trace_get_status(stream, &status) == 0 &&
	       status.posix_stream_status == POSIX_TRACE_SUSPENDED) {
		struct posix_trace_event_info info;
		unsigned char data[64];
		size_t len;
		int none = 0;

		PXT_EQ(posix_trace_trygetnext_event(stream, &info, data, sizeof(data), &len, &none),
		    0);
		if (none)
			break;
	}
	say(0, 2);
	PXT_EQ(posix_trace_getcounts_np(stream, &before, sizeof(before)), 0);
	PXT_EQ(before.posix_lost_np, after.posix_lost_np);
	end();
}

/* ---- With other policies, and without ---- */

/* A stream that does not overwrite fills with what is let through, stops, and starts again. */
PXT_TEST_FRESH(an_inspected_stream_keeps_its_policy)
{
	static const int policies[] = {
		POSIX_TRACE_UNTIL_FULL,
#if CONFIG_PTRACE_POLICY_DISCARD
		POSIX_TRACE_DISCARD_NP
#endif
	};

	for (size_t i = 0; i < sizeof(policies) / sizeof(policies[0]); i++) {
		struct posix_trace_counts_np counts;
		struct posix_trace_status_info status;
		unsigned calls = 0;

		begin(policies[i]);
		PXT_EQ(posix_trace_set_handler_np(stream, &sets[0], every_other, &calls), 0);
		do {
			say(0, 1);
			PXT_EQ_FATAL(posix_trace_getcounts_np(stream, &counts, sizeof(counts)), 0);
		} while (counts.posix_lost_np == 0 && calls < 4000000);
		CU_ASSERT(calls >= 2 * (counts.posix_written_np - counts.posix_lost_np - 2));
		PXT_EQ(posix_trace_get_status(stream, &status), 0);
		PXT_EQ(status.posix_stream_full_status, POSIX_TRACE_FULL);
		PXT_EQ(status.posix_stream_status, policies[i] == POSIX_TRACE_UNTIL_FULL
		                                       ? POSIX_TRACE_SUSPENDED
		                                       : POSIX_TRACE_RUNNING);
		PXT_EQ(posix_trace_clear(stream), 0);
		PXT_EQ(posix_trace_start(stream), 0);
		/* The rules stay. */
		calls = 0;
		say(0, 1);
		say(0, 2);
		expect("1");
		end();
	}
}

#if _PXT_UNIT_FILTER
/* SYS-12, QNX-45: what the library records itself is not judged, also where a full stream stops. */
PXT_TEST_FRESH(a_change_of_the_filter_is_recorded_without_being_judged)
{
	struct posix_trace_event_info info;
	struct posix_trace_levels_np levels;
	unsigned changes = 0;
	unsigned calls = 0;
	uint32_t data[64];
	size_t len;
	int none = 0;

	begin(POSIX_TRACE_UNTIL_FULL);
	if (!pxt_has_type(stream, POSIX_TRACE_FILTER)) {
		end();
		return;
	}
	PXT_EQ(posix_trace_set_handler_np(stream, &sets[0], every_other, &calls), 0);
	for (int i = 0; i < 4; i++)
		PXT_EQ(posix_trace_set_filter(stream, &sets[i % 2], POSIX_TRACE_SET_EVENTSET), 0);
	PXT_EQ(posix_trace_getlevels_np(stream, &levels, sizeof(levels)), 0);
	PXT_EQ(levels.posix_came_np, 0);
	while (posix_trace_trygetnext_event(stream, &info, data, sizeof(data), &len, &none) == 0 &&
	       !none)
		changes += info.posix_event_id == POSIX_TRACE_FILTER;
	PXT_EQ(changes, 4);
	end();
}
#endif

PXT_TEST_FRESH(a_stream_in_the_place_of_an_inspected_one_lets_all_through)
{
	pthread_t none = pthread_self();
	struct posix_trace_levels_np levels;

	memset(&none, 0, sizeof(none));
	begin(POSIX_TRACE_LOOP);
	PXT_EQ(posix_trace_set_threads_np(stream, &none, 1), 0);
	say(0, 1);
	expect("");
	end();
	begin(POSIX_TRACE_LOOP);
	say(0, 2);
	expect("2");
	PXT_EQ(posix_trace_set_short_np(stream, &sets[1]), 0);
	say(0, 3);
	expect("3");
	PXT_EQ(posix_trace_getlevels_np(stream, &levels, sizeof(levels)), 0);
	PXT_EQ(levels.posix_came_np, 1);
	PXT_EQ(levels.posix_not_thread_np, 0);
	end();
}

#endif
