/* SPDX-License-Identifier: MIT */
/*
 * errors.c - a call that fails leaves nothing: no descriptor, memory, thread or lock, nothing in
 * errno or where results go.  Every error of every public function; listed.py holds the list
 * (cases.c) against the headers.  A call that succeeds has given back each lock that it took, and has taken each
 * one that it gives back: the system's lock refuses in silence what somebody else's thread gives back.
 */
#include "fakes/fakes.h"
#include "fixture.h"
#include "port/port.h"
#include "suite.h"

#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/eventfd.h>
#include <trace_np.h>
#include <unistd.h>

/* How long a case and the calls after it may take: a lock that nobody gives back takes longer. */
#define SECONDS 120

static const struct failing_case *_Atomic running;

static void too_long(int number)
{
	const struct failing_case *one = running;

	(void)fprintf(
	    stderr, "%s, %s, %s: does not come to its end\n", one->function, one->name, one->how);
	_exit(1);
}

static bool nothing_stored(void)
{
	const unsigned char *bytes = (const void *)&out;

	for (size_t i = 0; i < sizeof(out); i++) {
		if (bytes[i] != STALE)
			return false;
	}
	return true;
}

static void run(const struct failing_case *one)
{
	trace_attr_t good = env.good;
	int error;

	running = one;
	(void)alarm(SECONDS);
	(void)fixture_changed_errno();
	(void)pxt_drain(env.stream, env.id);
	memset(&out, STALE, sizeof(out));
	error = one->run();
	PXT_CHECK(error == one->error, "%s, %s, %s: %d", one->function, one->name, one->how, error);
	PXT_CHECK(!fixture_changed_errno(), "%s, %s, %s: errno was changed", one->function,
	    one->name, one->how);
	PXT_CHECK(!one->alone || nothing_stored(), "%s, %s, %s: stored a result", one->function,
	    one->name, one->how);
	PXT_CHECK(memcmp(&good, &env.good, sizeof(good)) == 0, "%s, %s, %s: changed its argument",
	    one->function, one->name, one->how);
	PXT_CHECK(pxt_locks_held == 0, "%s, %s, %s: holds %d locks", one->function, one->name,
	    one->how, pxt_locks_held);
}

/* Twice: what the first call makes for good does not grow.  But not where it takes seconds. */
static void run_and_compare(const struct failing_case *one)
{
	struct left before;
	char what[256];

	if (strcmp(one->how, "silence") != 0)
		run(one);
	before = left_now();
	run(one);
	PXT_CHECK(left_again(&before, what, sizeof(what)), "%s, %s, %s: %s", one->function,
	    one->name, one->how, what);
	PXT_CHECK(fixture_serves(), "%s, %s, %s: what comes next fails", one->function, one->name,
	    one->how);
	(void)alarm(0);
}

/*
 * DEC-32, DEC-33, ERR-01, CREATE-E4, CREATE-E5, CREATE-E6, CRLOG-E1, SETADD-E1, SETDEL-E1, SETEMP-E1, SETFILL-E1,
 * SETMEM-E1, LPT-12: all of cases.c
 */
PXT_TEST(a_call_that_fails_leaves_nothing_behind)
{
	(void)signal(SIGALRM, too_long);
	fixture_open();
	for (size_t i = 0; i < failing_count; i++)
		run_and_compare(&failing_cases[i]);
	fixture_close();
}

/* Of each kind that has nothing to do with names in the file system. */
PXT_TEST(thirty_two_creations_that_fail_keep_no_descriptor)
{
	struct left before;
	char what[256];
	int error = 0;

	fixture_open();
	before = left_now();
	for (size_t i = 0; i < failing_count; i++) {
		if (strcmp(failing_cases[i].function, "posix_trace_create_withlog") != 0 ||
		    strstr(failing_cases[i].how, "name") || strstr(failing_cases[i].how, "path"))
			continue;
		for (int n = 0; n < 32 && error == 0; n++)
			error = failing_cases[i].run() - failing_cases[i].error;
		PXT_CHECK(error == 0, "%s, %s", failing_cases[i].name, failing_cases[i].how);
	}
	PXT_CHECK(left_again(&before, what, sizeof(what)), "%s", what);
	fixture_close();
}

/* In all ways of reading, of changing what is recorded, and of writing logs. */
static void use_all(void)
{
	asking *const of_logs[] = { read_one, read_whole, read_many, next_block, seek_end };
	asking *const of_streams[] = { read_whole, read_many };

	for (size_t i = 0; i < 5; i++) {
		PXT_EQ(of_logs[i](env.log), 0);
		PXT_EQ(posix_trace_rewind(env.log), 0);
	}
	for (size_t i = 0; i < 2; i++) {
		posix_trace_event(env.id, "four", 4);
		PXT_EQ(of_streams[i](env.stream), 0);
	}
	PXT_EQ(posix_trace_set_handler_np(env.stream, &env.set, keep_event, NULL), 0);
	PXT_EQ(posix_trace_set_filter(env.stream, &env.set, POSIX_TRACE_SET_EVENTSET), 0);
	PXT_EQ(posix_trace_snapshot_np(env.stream, env.file), 0);
	PXT_EQ(posix_trace_flush(env.logged), 0);
	PXT_EQ(posix_trace_clear(env.logged), 0);
	PXT_EQ(check_plain(env.log_file), 0);
}

/* Twice: what the first use makes for good does not grow. */
PXT_TEST(what_streams_and_logs_took_while_they_were_used_is_given_back_at_their_end)
{
	struct left before;
	char what[256];

	for (int i = 0; i < 2; i++) {
		before = left_now();
		fixture_open();
		use_all();
		fixture_close();
	}
	PXT_CHECK(left_again(&before, what, sizeof(what)), "%s", what);
}

/* A stranger's number is asked for in the same way as a forked process'. */
PXT_TEST(asking_whether_a_process_lives_keeps_no_descriptor)
{
	pid_t dead = dead_pid();
	struct left before = left_now();
	char what[256];

	for (int i = 0; i < 32; i++) {
		errno = MARK;
		CU_ASSERT(!pxt_port_process_gone(getppid()));
		CU_ASSERT(pxt_port_process_gone(dead));
		PXT_EQ(errno, MARK);
	}
	PXT_CHECK(left_again(&before, what, sizeof(what)), "%s", what);
}

static void *nothing(void *argument)
{
	return argument;
}

static void join_one(void)
{
	pthread_t thread;

	CU_ASSERT_FATAL(pthread_create(&thread, NULL, nothing, NULL) == 0);
	(void)pthread_join(thread, NULL);
}

/* What all of this file stands on.  A sanitizer has a thread of its own after the first. */
PXT_TEST(a_thread_that_was_joined_is_not_counted)
{
	unsigned before;
	unsigned wrong = 0;

	join_one();
	before = pxt_threads_running();
	for (int i = 0; i < 5000; i++) {
		join_one();
		wrong += pxt_threads_running() != before;
	}
	PXT_EQ(wrong, 0);
}

PXT_ROLE(argc, argv)
{
	if (argc > 1 && strcmp(argv[0], "first") == 0)
		return fixture_first(argv[1]);
	if (argc < 1 || strcmp(argv[0], "cases") != 0)
		return 2;
	for (size_t i = 0; i < failing_count; i++)
		(void)printf("%s %s %s\n", failing_cases[i].function, failing_cases[i].name,
		    failing_cases[i].how);
	return 0;
}

/* ---- Calls that succeed give back each lock that they took ---- */

/* Says 0, and leaves the calling thread without a lock. */
#define CALL(call)                                                                                 \
	(PXT_EQ(call, 0), PXT_CHECK(pxt_locks_held == 0, "%s: %d locks", #call, pxt_locks_held))

static void use(trace_id_t trid, bool logged)
{
	struct posix_trace_status_info status;
	struct posix_trace_counts_np counts;
	trace_event_set_t set;
	trace_event_id_t id;
	trace_event_id_t any;
	trace_attr_t attr;
	char name[TRACE_EVENT_NAME_MAX + 1];
	int unavailable;

	CALL(posix_trace_start(trid));
	CALL(posix_trace_eventid_open("locks", &id));
	CALL(posix_trace_eventid_setformat_np(id, "u32 number"));
	CALL(posix_trace_trid_eventid_open(trid, "locks", &id));
	CALL(posix_trace_eventid_get_name(trid, id, name));
	CALL(posix_trace_eventtypelist_rewind(trid));
	CALL(posix_trace_eventtypelist_getnext_id(trid, &any, &unavailable));
	CALL(posix_trace_thread_register_np());
	for (uint32_t i = 0; i < 3000; i++)
		posix_trace_event(id, &i, sizeof(i));
	PXT_EQ(pxt_locks_held, 0);
	CALL(posix_trace_get_attr(trid, &attr));
	CALL(posix_trace_get_status(trid, &status));
	CALL(posix_trace_getcounts_np(trid, &counts, sizeof(counts)));
	CALL(posix_trace_get_filter(trid, &set));
	CALL(posix_trace_set_filter(trid, &set, POSIX_TRACE_ADD_EVENTSET));
	if (logged) {
		CALL(posix_trace_flush(trid));
	} else {
		struct posix_trace_event_info event;
		unsigned char data[64];
		const struct timespec past = { 1, 0 };
		size_t len;

		CALL(posix_trace_getnext_event(
		    trid, &event, data, sizeof(data), &len, &unavailable));
		CALL(posix_trace_trygetnext_event(
		    trid, &event, data, sizeof(data), &len, &unavailable));
		CALL(posix_trace_timedgetnext_event(
		    trid, &event, data, sizeof(data), &len, &unavailable, &past));
	}
	CALL(posix_trace_stop(trid));
	CALL(posix_trace_clear(trid));
	CALL(posix_trace_start(trid));
	CALL(posix_trace_shutdown(trid));
}

static void stream_of(int policy, bool named, bool boxed)
{
	int box = pxt_temp_file();
	trace_attr_t attr;
	char name[128];
	trace_id_t trid;
	int shot = pxt_temp_file();

	(void)snprintf(name, sizeof(name), "%s/locks", pxt_temp_folder());
	pxt_attr(&attr, 16384, 64, policy);
	if (named)
		CALL(posix_trace_attr_setsharename_np(&attr, name));
	if (boxed)
		CALL(posix_trace_attr_setfile_np(&attr, box));
	CALL(posix_trace_create(0, &attr, &trid));
	CALL(posix_trace_snapshot_np(trid, shot));
	use(trid, false);
	(void)close(shot);
	(void)close(box);
}

static void logged_stream_of(int policy, int log_policy)
{
	int file = pxt_temp_file();
	trace_attr_t attr;
	trace_id_t trid;
	trace_id_t log;
	struct posix_trace_event_info event;
	int unavailable;
	size_t len;

	pxt_attr(&attr, 65536, 64, policy);
	CALL(posix_trace_attr_setlogfullpolicy(&attr, log_policy));
	CALL(posix_trace_attr_setlogsize(&attr, 65536));
	CALL(posix_trace_create_withlog(0, &attr, file, &trid));
	use(trid, true);
	(void)lseek(file, 0, SEEK_SET);
	CALL(posix_trace_open(file, &log));
	CALL(posix_trace_getnext_event(log, &event, NULL, 0, &len, &unavailable));
	CALL(posix_trace_rewind(log));
	CALL(posix_trace_close(log));
	(void)close(file);
}

PXT_TEST(whatever_succeeds_gives_back_the_locks_that_it_took)
{
	stream_of(POSIX_TRACE_LOOP, false, false);
	stream_of(POSIX_TRACE_UNTIL_FULL, false, true);
	stream_of(POSIX_TRACE_LOOP, true, false);
	stream_of(POSIX_TRACE_UNTIL_FULL, true, true);
	logged_stream_of(POSIX_TRACE_LOOP, POSIX_TRACE_APPEND);
	logged_stream_of(POSIX_TRACE_UNTIL_FULL, POSIX_TRACE_UNTIL_FULL);
	logged_stream_of(POSIX_TRACE_FLUSH, POSIX_TRACE_LOOP);
}
