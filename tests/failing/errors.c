/* SPDX-License-Identifier: MIT */
/*
 * errors.c - a call that fails leaves nothing: no descriptor, memory, thread or lock, nothing in
 * errno or where results go.  Every error of every public function; listed.py holds the list
 * (cases.h) against the headers.
 */
#include "fakes/fakes.h"
#include "fixture.h"
#include "left.h"
#include "port/port.h"

#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

/* How long a case and the calls after it may take: a lock that nobody gives back takes longer. */
#define SECONDS 120

#define HOW(function, error, how, ...)                                                             \
	static int function##_##error##_##how(void)                                                \
	{                                                                                          \
		return __VA_ARGS__;                                                                \
	}
/* Not by HOW(): the error's name would have become a number. */
#define CASE(function, error, how, ...)                                                            \
	static int function##_##error##_##how(void)                                                \
	{                                                                                          \
		return TRY(__VA_ARGS__);                                                           \
	}
#include "cases.h"
#undef HOW
#undef CASE

static const struct row {
	const char *function;
	const char *name; /* of the error */
	const char *how;
	int error;
	bool alone; /* one call, which stores no results */
	int (*run)(void);
} rows[] = {
#define HOW(function, error, how, ...)                                                             \
	{ #function, #error, #how, error, false, function##_##error##_##how },
#define CASE(function, error, how, ...)                                                            \
	{ #function, #error, #how, error, true, function##_##error##_##how },
#include "cases.h"
#undef HOW
#undef CASE
};
#define ROWS (sizeof(rows) / sizeof(rows[0]))

static const struct row *_Atomic running;

static void too_long(int number)
{
	const struct row *row = running;

	(void)fprintf(
	    stderr, "%s, %s, %s: does not come to its end\n", row->function, row->name, row->how);
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

static void run(const struct row *row)
{
	trace_attr_t good = env.good;
	int error;

	running = row;
	(void)alarm(SECONDS);
	(void)fixture_changed_errno();
	(void)pxt_drain(env.stream, env.id);
	memset(&out, STALE, sizeof(out));
	error = row->run();
	PXT_CHECK(error == row->error, "%s, %s, %s: %d", row->function, row->name, row->how, error);
	PXT_CHECK(!fixture_changed_errno(), "%s, %s, %s: errno was changed", row->function,
	    row->name, row->how);
	PXT_CHECK(!row->alone || nothing_stored(), "%s, %s, %s: stored a result", row->function,
	    row->name, row->how);
	PXT_CHECK(memcmp(&good, &env.good, sizeof(good)) == 0, "%s, %s, %s: changed its argument",
	    row->function, row->name, row->how);
	PXT_CHECK(pxt_locks_held == 0, "%s, %s, %s: holds %d locks", row->function, row->name,
	    row->how, pxt_locks_held);
}

/* Twice: what the first call makes for good does not grow.  But not where it takes seconds. */
static void run_and_compare(const struct row *row)
{
	struct left before;
	char what[256];

	if (strcmp(row->how, "silence") != 0)
		run(row);
	before = left_now();
	run(row);
	PXT_CHECK(left_again(&before, what, sizeof(what)), "%s, %s, %s: %s", row->function,
	    row->name, row->how, what);
	PXT_CHECK(fixture_serves(), "%s, %s, %s: what comes next fails", row->function, row->name,
	    row->how);
	(void)alarm(0);
}

/*
 * DEC-32, DEC-33, ERR-01, CREATE-E4, CREATE-E5, CREATE-E6, CRLOG-E1, SETADD-E1, SETDEL-E1, SETEMP-E1, SETFILL-E1,
 * SETMEM-E1, LPT-12: all of cases.h
 */
PXT_TEST(a_call_that_fails_leaves_nothing_behind)
{
	(void)signal(SIGALRM, too_long);
	fixture_open();
	for (size_t i = 0; i < ROWS; i++)
		run_and_compare(&rows[i]);
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
	for (size_t i = 0; i < ROWS; i++) {
		if (strcmp(rows[i].function, "posix_trace_create_withlog") != 0 ||
		    strstr(rows[i].how, "name") || strstr(rows[i].how, "path"))
			continue;
		for (int n = 0; n < 32 && error == 0; n++)
			error = rows[i].run() - rows[i].error;
		PXT_CHECK(error == 0, "%s, %s", rows[i].name, rows[i].how);
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
	for (size_t i = 0; i < ROWS; i++)
		(void)printf("%s %s %s\n", rows[i].function, rows[i].name, rows[i].how);
	return 0;
}
