/* SPDX-License-Identifier: MIT */
/*
 * fork_exit.c - processes: what a child has of its parent's tracing (nothing), and what becomes of
 * streams and logs when a process ends.
 */
#define _GNU_SOURCE 1 /* syscall(), vfork() */
#include "../suite.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <trace.h>
#include <trace_np.h>
#include <unistd.h>

#if PXT_CAN_WATCH || (PXT_CAN_LOG && _PXT_UNIT_USEREVENTS)
/* Ends with all that exit() does, unlike the helper that it runs in. */
static int exit_politely(void *argument)
{
	exit(0);
}
#endif

#if PXT_CAN_WATCH

static trace_event_id_t event_id;

#if _PXT_UNIT_EXTENSIONS && _PXT_USER_EVENT_MAX > 5
#define HAVE_POINTS 1
POSIX_TRACE_DEFINE_NP(of_a_child, u8, number);
#else
#define HAVE_POINTS 0
#endif

/* A running stream without events, and the type that this file records. */
static trace_id_t watched(void)
{
	event_id = pxt_open_event("fork_event");
	return pxt_running_stream(0, 0, 0);
}

/* The stream goes on as if nothing had happened, and has nothing that this process did not record. */
static void expect_undisturbed(trace_id_t trid)
{
	struct posix_trace_status_info status;

	pxt_expect_none(trid);
	PXT_EQ(posix_trace_get_status(trid, &status), 0);
	PXT_EQ(status.posix_stream_status, POSIX_TRACE_RUNNING);
	PXT_EQ(status.posix_stream_overrun_status, POSIX_TRACE_NO_OVERRUN);
	posix_trace_event(event_id, "mine", 4);
	pxt_expect(trid, event_id, "mine", 4);
	pxt_expect_none(trid);
}

static int record_ten(void *argument)
{
	for (int i = 0; i < 10; i++)
		posix_trace_event(event_id, "child", 5);
	return 0;
}

static int record_what_nobody_wants(void *argument)
{
	PXT_CHILD_CHECK(posix_trace_wanted_np(event_id) == 0);
	return record_ten(argument);
}

/* PROC-03, PROC-11, DEC-34 */
PXT_TEST(a_forked_child_is_traced_into_nothing)
{
	trace_id_t trid = watched();

	PXT_EQ(pxt_in_child(record_what_nobody_wants, NULL), 0);
	expect_undisturbed(trid);
	PXT_EQ(posix_trace_shutdown(trid), 0);
}

/* Every function that takes an identifier, on one that belongs to the parent. */
static int use_parents_stream(void *argument)
{
	trace_id_t trid = *(const trace_id_t *)argument;
	struct posix_trace_event_info event;
	struct posix_trace_status_info status;
	struct posix_trace_counts_np counts;
	trace_attr_t attr;
	trace_event_id_t id;
	char name[TRACE_EVENT_NAME_MAX + 1];
	size_t len;
	int unavailable;

	PXT_CHILD_CHECK(posix_trace_stop(trid) == EINVAL);
	PXT_CHILD_CHECK(posix_trace_start(trid) == EINVAL);
	PXT_CHILD_CHECK(posix_trace_clear(trid) == EINVAL);
	PXT_CHILD_CHECK(posix_trace_get_attr(trid, &attr) == EINVAL);
	PXT_CHILD_CHECK(posix_trace_get_status(trid, &status) == EINVAL);
	PXT_CHILD_CHECK(posix_trace_getcounts_np(trid, &counts, sizeof(counts)) == EINVAL);
	PXT_CHILD_CHECK(posix_trace_eventid_get_name(trid, event_id, name) == EINVAL);
	PXT_CHILD_CHECK(posix_trace_eventtypelist_rewind(trid) == EINVAL);
	PXT_CHILD_CHECK(posix_trace_eventtypelist_getnext_id(trid, &id, &unavailable) == EINVAL);
	PXT_CHILD_CHECK(
	    posix_trace_getnext_event(trid, &event, NULL, 0, &len, &unavailable) == EINVAL);
	PXT_CHILD_CHECK(
	    posix_trace_trygetnext_event(trid, &event, NULL, 0, &len, &unavailable) == EINVAL);
	PXT_CHILD_CHECK(posix_trace_shutdown(trid) == EINVAL);
	return 0;
}

static atomic_bool child_has_ended;

/* Stays: ThreadSanitizer lets a child alone whose parent had threads, but does not know of ended ones. */
static void *begin_to_trace(void *argument)
{
	(void)pxt_open_event("the first call of the process");
	while (!atomic_load(&child_has_ended))
		pxt_sleep_ms(1);
	return argument;
}

static int trace_something_else(void *argument)
{
	trace_event_id_t id;

	(void)alarm(120);
	PXT_CHILD_CHECK(posix_trace_eventid_open("the first call of the child", &id) == 0);
	return 0;
}

/* DEC-34: the first call takes some 20 ms where the counter's rate must be measured. */
PXT_TEST_FRESH(a_child_does_not_wait_for_a_start_that_its_parent_had_begun)
{
	pthread_t thread;

	PXT_EQ_FATAL(pthread_create(&thread, NULL, begin_to_trace, NULL), 0);
	pxt_sleep_ms(3);
	PXT_EQ(pxt_in_child(trace_something_else, NULL), 0);
	atomic_store(&child_has_ended, true);
	PXT_EQ(pthread_join(thread, NULL), 0);
}

/* PROC-02, PROC-05, CON-02, DEC-34 */
PXT_TEST(a_child_does_not_control_its_parents_streams)
{
	trace_id_t trid = watched();

	PXT_EQ(pxt_in_child(use_parents_stream, &trid), 0);
	expect_undisturbed(trid);
	PXT_EQ(posix_trace_shutdown(trid), 0);
}

static int trace_in_child(void *argument)
{
	trace_id_t streams[TRACE_SYS_MAX];
	trace_id_t more;
	struct posix_trace_event_info event;
	trace_event_id_t id = 0;
	char data[8];
	size_t len = 0;
	int unavailable = 1;

	alarm(120);
	for (size_t i = 0; i < TRACE_SYS_MAX; i++) {
		PXT_CHILD_CHECK(posix_trace_create(0, NULL, &streams[i]) == 0);
		PXT_CHILD_CHECK(posix_trace_start(streams[i]) == 0);
	}
	PXT_CHILD_CHECK(posix_trace_create(0, NULL, &more) == EAGAIN);
	/* The names of the parent are still names, with the same numbers. */
	PXT_CHILD_CHECK(posix_trace_eventid_open("fork_event", &id) == 0 && id == event_id);
	PXT_CHILD_CHECK(posix_trace_wanted_np(id) != 0);
	posix_trace_event(id, "child", 5);
	for (size_t i = 0; i < TRACE_SYS_MAX; i++) {
		do {
			PXT_CHILD_CHECK(posix_trace_trygetnext_event(streams[i], &event, data,
			                    sizeof(data), &len, &unavailable) == 0);
			PXT_CHILD_CHECK(unavailable == 0);
		} while (event.posix_event_id != id);
		PXT_CHILD_CHECK(len == 5 && event.posix_pid == getpid());
		PXT_CHILD_CHECK(posix_trace_shutdown(streams[i]) == 0);
	}
	return 0;
}

/* DEC-34, DEC-36, PROC-05, INF-02, CON-17 */
PXT_TEST(a_child_has_all_streams_to_itself)
{
	trace_id_t trid = watched();

	PXT_EQ(pxt_in_child(trace_in_child, NULL), 0);
	expect_undisturbed(trid);
	PXT_EQ(posix_trace_shutdown(trid), 0);
}

#if CONFIG_PTRACE_FORMAT_POOL_BYTES >= 64
static int describe_another_type(void *of_parent)
{
	char format[POSIX_TRACE_FORMAT_MAX_NP];
	trace_event_id_t id;
	trace_id_t trid;

	PXT_CHILD_CHECK(posix_trace_create(0, NULL, &trid) == 0);
	PXT_CHILD_CHECK(posix_trace_eventid_open("of_child", &id) == 0);
	PXT_CHILD_CHECK(posix_trace_eventid_setformat_np(id, "i64 other") == 0);
	PXT_CHILD_CHECK(posix_trace_eventid_getformat_np(trid, *(const trace_event_id_t *)of_parent,
	                    format, sizeof(format)) == 0);
	PXT_CHILD_CHECK(strcmp(format, "u32 number") == 0);
	PXT_CHILD_CHECK(posix_trace_eventid_getformat_np(trid, id, format, sizeof(format)) == 0);
	PXT_CHILD_CHECK(strcmp(format, "i64 other") == 0);
	return 0;
}

/* DEC-34, DEC-36 */
PXT_TEST(a_child_has_its_parents_descriptions_beside_its_own)
{
	trace_event_id_t id = pxt_open_event("of_parent");

	PXT_EQ(posix_trace_eventid_setformat_np(id, "u32 number"), 0);
	PXT_EQ(pxt_in_child(describe_another_type, &id), 0);
}
#endif

/* DEC-34, DEC-23 */
PXT_TEST(the_exit_of_a_child_leaves_the_parents_streams_alone)
{
	trace_id_t trid = watched();

	PXT_EQ(pxt_in_child(exit_politely, NULL), 0);
	expect_undisturbed(trid);
	PXT_EQ(posix_trace_shutdown(trid), 0);
}

/* A child made without the C library's knowledge. */
static int in_raw_clone(int (*body)(void *), void *argument)
{
	int status = -1;

	fflush(stdout);
	pid_t child = (pid_t)syscall(SYS_clone, (long)SIGCHLD, 0L, 0L, 0L, 0L);
	if (child == 0)
		_exit(body(argument) != 0);
	if (child < 0 || waitpid(child, &status, 0) != child)
		return __LINE__;
	return status;
}

/* DEC-34, PROC-02, PROC-11 */
PXT_TEST(a_raw_clone_is_recognised_as_a_child)
{
	trace_id_t trid;

	if (pxt_skip_emulated("advice on memory stays with it"))
		return;
	trid = watched();
	PXT_EQ(in_raw_clone(record_ten, NULL), 0);
	PXT_EQ(in_raw_clone(use_parents_stream, &trid), 0);
	expect_undisturbed(trid);
	PXT_EQ(posix_trace_shutdown(trid), 0);
}

static void *clone_before_it_traces(void *status)
{
	*(int *)status = in_raw_clone(record_ten, NULL);
	return NULL;
}

/* DEC-34, PROC-11: neither process knows the thread. */
PXT_TEST(a_raw_clone_by_a_thread_that_never_traced_is_recognised_as_a_child)
{
	int status = -1;
	pthread_t thread;
	trace_id_t trid;

	if (pxt_skip_emulated("advice on memory stays with it"))
		return;
	trid = watched();
	PXT_EQ_FATAL(pthread_create(&thread, NULL, clone_before_it_traces, &status), 0);
	PXT_EQ(pthread_join(thread, NULL), 0);
	PXT_EQ(status, 0);
	expect_undisturbed(trid);
	PXT_EQ(posix_trace_shutdown(trid), 0);
}

#if HAVE_POINTS
static int pass_a_point_then_trace(void *passed)
{
	char name[TRACE_EVENT_NAME_MAX + 1];
	struct pxt_got event;
	trace_id_t trid;

	/* The parent's stream still asks for it, as far as the trace point sees. */
	posix_trace_point_np(of_a_child, *(uint8_t *)passed = 1);
	PXT_CHILD_CHECK(*(uint8_t *)passed == 1);
	PXT_CHILD_CHECK(posix_trace_create(0, NULL, &trid) == 0);
	PXT_CHILD_CHECK(posix_trace_start(trid) == 0);
	posix_trace_point_np(of_a_child, 2);
	while (pxt_next(trid, &event) && event.info.posix_event_id < POSIX_TRACE_UNNAMED_USEREVENT)
		continue;
	PXT_CHILD_CHECK(event.len == 1 && event.data[0] == 2);
	PXT_CHILD_CHECK(posix_trace_eventid_get_name(trid, event.info.posix_event_id, name) == 0);
	PXT_CHILD_CHECK(strcmp(name, "of_a_child") == 0);
	return 0;
}

/* DEC-34 */
PXT_TEST(a_point_that_a_raw_clone_passes_before_it_traces_has_its_name_later)
{
	uint8_t passed = 0;
	trace_id_t trid;

	if (pxt_skip_emulated("advice on memory stays with it"))
		return;
	trid = watched();
	PXT_EQ(in_raw_clone(pass_a_point_then_trace, &passed), 0);
	expect_undisturbed(trid);
	PXT_EQ(posix_trace_shutdown(trid), 0);
}
#endif

/* DEC-34 */
PXT_TEST(a_vfork_child_harms_nothing)
{
	int status = -1;
	trace_id_t trid = watched();
	pid_t child = vfork();

	if (child == 0)
		_exit(7);
	CU_ASSERT(waitpid(child, &status, 0) == child);
	CU_ASSERT(WIFEXITED(status) && WEXITSTATUS(status) == 7);
	expect_undisturbed(trid);
	child = vfork();
	if (child == 0) {
		execl("/bin/true", "true", (char *)NULL);
		_exit(7);
	}
	CU_ASSERT(waitpid(child, &status, 0) == child);
	PXT_EQ(status, 0);
	expect_undisturbed(trid);
	PXT_EQ(posix_trace_shutdown(trid), 0);
}

/* ---- Threads ---- */

static void *record_one(void *argument)
{
	posix_trace_event(event_id, argument, 1);
	return NULL;
}

static pthread_barrier_t started;

static void *record_one_when_told(void *argument)
{
	pthread_barrier_wait(&started);
	return record_one(argument);
}

/* PROC-10, INF-04 */
PXT_TEST(all_threads_of_the_process_are_traced)
{
	pthread_t early;
	pthread_t late;
	struct pxt_got event;
	size_t seen[2] = { 0, 0 };

	event_id = pxt_open_event("fork_event");
	pthread_barrier_init(&started, NULL, 2);
	PXT_EQ_FATAL(
	    pthread_create(&early, NULL, record_one_when_told, (void *)(uintptr_t) "e"), 0);
	trace_id_t trid = watched();
	PXT_EQ_FATAL(pthread_create(&late, NULL, record_one, (void *)(uintptr_t) "l"), 0);
	pthread_barrier_wait(&started);
	pthread_join(early, NULL);
	pthread_join(late, NULL);
	while (pxt_next(trid, &event)) {
		bool is_early = event.data[0] == 'e';
		PXT_EQ(event.info.posix_event_id, event_id);
		seen[is_early]++;
		if (CONFIG_PTRACE_RECORD_THREAD)
			CU_ASSERT(pthread_equal(
			              event.info.posix_thread_id, is_early ? early : late) != 0);
	}
	PXT_EQ(seen[0], 1);
	PXT_EQ(seen[1], 1);
	pthread_barrier_destroy(&started);
	PXT_EQ(posix_trace_shutdown(trid), 0);
}
#endif

/* ---- Programs that this one starts: exec, spawn, and the ways to end ---- */

#if PXT_CAN_WATCH || (PXT_CAN_LOG && _PXT_UNIT_USEREVENTS)
static int run_role(const char *role, int fd)
{
	char number[16];
	char option[] = "--role";
	char name[32];
	char *arguments[PXT_SUITE_ARGV];
	int status = -1;
	pid_t child;

	snprintf(number, sizeof(number), "%d", fd);
	snprintf(name, sizeof(name), "%s", role);
	pxt_suite_argv(arguments, option, name, number);
	fflush(stdout);
	PXT_EQ_FATAL(posix_spawn(&child, arguments[0], NULL, NULL, arguments, environ), 0);
	CU_ASSERT(waitpid(child, &status, 0) == child);
	return status;
}
#endif

#if PXT_CAN_WATCH
/* The role: a program of its own has no streams, and nothing it records goes anywhere. */
static int role_untraced(int fd)
{
	trace_event_id_t id = 0;

	if (posix_trace_eventid_open("fork_event", &id) != 0 || posix_trace_wanted_np(id) != 0)
		return 1;
	posix_trace_event(id, "spawned", 7);
	return 0;
}

/* PROC-09, DEC-24 */
PXT_TEST(a_spawned_program_is_not_traced)
{
	trace_id_t trid = watched();

	PXT_EQ(run_role("untraced", -1), 0);
	expect_undisturbed(trid);
	PXT_EQ(posix_trace_shutdown(trid), 0);
}
#endif

#if PXT_CAN_LOG && _PXT_UNIT_USEREVENTS

#define ROLE_EVENTS 100

static int open_log(int fd)
{
	trace_id_t trid = 0;
	int error = posix_trace_open(fd, &trid);

	if (error == 0)
		posix_trace_close(trid);
	return error;
}

/* The roles below begin like this: a running stream with a log on @fd, and some events. */
static trace_id_t role_stream(int fd)
{
	trace_id_t trid = 0;
	trace_event_id_t id = 0;

	if (posix_trace_create_withlog(0, NULL, fd, &trid) != 0 || posix_trace_start(trid) != 0 ||
	    posix_trace_eventid_open("fork_role", &id) != 0)
		_exit(99);
	for (int i = 0; i < ROLE_EVENTS; i++)
		posix_trace_event(id, &i, sizeof(i));
	return trid;
}

static void record_at_exit(void)
{
	trace_event_id_t id = 0;

	posix_trace_eventid_open("fork_at_exit", &id);
	posix_trace_event(id, "bye", 3);
}

static int role_exits(int fd)
{
	atexit(record_at_exit);
	role_stream(fd);
	exit(0);
}

static int role_returns(int fd)
{
	atexit(record_at_exit);
	role_stream(fd);
	return 0;
}

static int role_leaves_at_once(int fd)
{
	role_stream(fd);
	_exit(0);
}

static int role_is_killed(int fd)
{
	role_stream(fd);
	raise(SIGKILL);
	return 1;
}

/* After exec: the log of the image before is incomplete, and tracing has ended. */
static int role_after_exec(int fd)
{
	trace_event_id_t id = 0;

	if (open_log(fd) != EINVAL)
		return 1;
	if (posix_trace_eventid_open("fork_role", &id) != 0 || posix_trace_wanted_np(id) != 0)
		return 2;
	posix_trace_event(id, "x", 1);
	return 0;
}

static int role_execs(int fd)
{
	char number[16];
	char option[] = "--role";
	char name[] = "after_exec";
	char *arguments[PXT_SUITE_ARGV];

	role_stream(fd);
	snprintf(number, sizeof(number), "%d", fd);
	pxt_suite_argv(arguments, option, name, number);
	execv(arguments[0], arguments);
	return 98;
}

static void expect_role_log(int fd)
{
	struct pxt_got event = { .len = 0 };
	trace_event_id_t last = 0;
	int next = 0;
	int said_bye = 0;
	trace_id_t trid = pxt_open_log(fd);
	char name[TRACE_EVENT_NAME_MAX + 1];

	while (pxt_log_next(trid, &event)) {
		int number = -1;
		last = event.info.posix_event_id;
		PXT_EQ(posix_trace_eventid_get_name(trid, last, name), 0);
		if (strcmp(name, "fork_role") == 0) {
			memcpy(&number, event.data, sizeof(number));
			PXT_EQ(number, next);
			next++;
		}
		said_bye += strcmp(name, "fork_at_exit") == 0;
	}
	PXT_EQ(next, ROLE_EVENTS);
	PXT_EQ(said_bye, 1);
	if (CONFIG_PTRACE_SYSEV_START_STOP)
		PXT_EQ(last, POSIX_TRACE_STOP);
	PXT_EQ(posix_trace_close(trid), 0);
}

/* PROC-08, SHUT-06, DEC-23, SYS-04, CON-09 */
PXT_TEST(a_process_that_exits_completes_its_log)
{
	static const char *const ways[] = { "exits", "returns" };

	for (size_t i = 0; i < 2; i++) {
		int fd = pxt_temp_file();
		PXT_EQ(run_role(ways[i], fd), 0);
		expect_role_log(fd);
		close(fd);
	}
}

/* DEC-23, DEC-29, PROC-08 */
PXT_TEST(a_process_that_cannot_say_goodbye_leaves_an_incomplete_log)
{
	int fd = pxt_temp_file();

	PXT_EQ(run_role("leaves_at_once", fd), 0);
	PXT_EQ(open_log(fd), EINVAL);
	close(fd);
	fd = pxt_temp_file();
	CU_ASSERT(WIFSIGNALED(run_role("is_killed", fd)));
	PXT_EQ(open_log(fd), EINVAL);
	close(fd);
}

/* PROC-07, DEC-24, DEC-29 */
PXT_TEST(tracing_ends_with_exec)
{
	int fd = pxt_temp_file();

	PXT_EQ(run_role("execs", fd), 0);
	PXT_EQ(open_log(fd), EINVAL);
	close(fd);
}

/* DEC-34, DEC-23 */
PXT_TEST(the_exit_of_a_child_does_not_complete_the_parents_log)
{
	int fd = pxt_temp_file();
	trace_event_id_t id = pxt_open_event("fork_logged");
	trace_id_t trid = pxt_log_stream(NULL, fd);
	struct pxt_got event;
	size_t count = 0;

	PXT_EQ(posix_trace_start(trid), 0);
	for (int i = 0; i < 50; i++)
		posix_trace_event(id, &i, sizeof(i));
	PXT_EQ(pxt_in_child(exit_politely, NULL), 0);
	PXT_EQ(open_log(fd), EINVAL);
	for (int i = 50; i < 80; i++)
		posix_trace_event(id, &i, sizeof(i));
	PXT_EQ(posix_trace_shutdown(trid), 0);
	trid = pxt_open_log(fd);
	while (pxt_log_next(trid, &event))
		count += event.info.posix_event_id == id;
	PXT_EQ(count, 80);
	PXT_EQ(posix_trace_close(trid), 0);
	close(fd);
}

#endif

static const struct role {
	const char *name;
	int (*play)(int fd);
} roles[] = {
#if PXT_CAN_WATCH
	{ "untraced", role_untraced },
#endif
#if PXT_CAN_LOG && _PXT_UNIT_USEREVENTS
	{ "exits", role_exits },
	{ "returns", role_returns },
	{ "leaves_at_once", role_leaves_at_once },
	{ "is_killed", role_is_killed },
	{ "execs", role_execs },
	{ "after_exec", role_after_exec },
#endif
	{ NULL, NULL },
};

PXT_ROLE(argc, argv)
{
	int fd = argc > 1 ? (int)strtol(argv[1], NULL, 10) : -1;

	for (size_t i = 0; roles[i].name; i++) {
		if (strcmp(roles[i].name, argv[0]) == 0)
			return roles[i].play(fd);
	}
	return 97;
}
