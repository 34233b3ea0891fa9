/* SPDX-License-Identifier: MIT */
/*
 * exit.c - the ends of a process without a signal: when its logs are completed, what is still in
 * them, and how long a device or a lock may delay the end.
 */
#define _GNU_SOURCE 1 /* F_SETPIPE_SZ */
#include "logs.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

extern uint64_t pxt_holdback_ns; /* core/process/process.h */

static const struct crash plain = { .log_policy = POSIX_TRACE_APPEND, .unwatched = true };

/* ---- Order ---- */

static bool traces_late;

static void trace_late(void)
{
	if (traces_late)
		crash_trace(10);
}

/* The program's own destructor; the library is part of this program. */
__attribute__((destructor)) static void trace_in_destructor(void)
{
	trace_late();
}

/* Before the library's constructors, if it had some, and before its first call. */
__attribute__((constructor)) static void register_early(void)
{
	(void)atexit(trace_late);
}

static int exit_with_handlers(const struct crash *crash)
{
	(void)atexit(trace_late);
	traces_late = true;
	return crash->argument;
}

/* DEC-23, PROC-08 */
PXT_TEST(exit_handlers_and_destructors_of_the_program_are_traced)
{
	struct crash crash = plain;

	crash.act = exit_with_handlers;
	crash.argument = 3;
	PXT_EQ(crash_play(&crash), 3 << 8);
	PXT_EQ(atomic_load(&crash_notes->written), CRASH_EVENTS + 30);
	crash_expect_whole(0);
}

/* ---- Threads ---- */

static void *trace_on(void *argument)
{
	trace_event_id_t type;

	if (posix_trace_eventid_open("exit_other", &type) != 0)
		_exit(97);
	atomic_fetch_add(&crash_notes->mark, 1u);
	for (;;)
		posix_trace_event(type, "on and on and on", 16);
	return argument;
}

static void *leave_the_process(void *argument)
{
	exit(5);
}

static int exit_in_a_thread(const struct crash *crash)
{
	pthread_t thread;

	for (int i = 0; i < 3; i++)
		PXT_CHILD_CHECK(pthread_create(&thread, NULL, trace_on, NULL) == 0);
	while (atomic_load(&crash_notes->mark) < 3)
		(void)sched_yield();
	PXT_CHILD_CHECK(pthread_create(&thread, NULL, leave_the_process, NULL) == 0);
	(void)pthread_join(thread, NULL);
	return crash->argument;
}

static void expect_complete(void)
{
	struct posix_trace_logerror_np error = { 0 };
	struct posix_trace_loginfo_np info;
	trace_id_t log;

	int result = posix_trace_log_open_np(&crash_log, 1, 0, &log, &error, sizeof(error));

	PXT_CHECK(result == 0, "at %llu: %s", (unsigned long long)error.posix_offset_np,
	    error.posix_reason_np);
	CU_ASSERT_FATAL(result == 0);
	PXT_EQ(posix_trace_log_getinfo_np(log, &info, sizeof(info)), 0);
	PXT_EQ(info.posix_signal_np, 0);
	PXT_EQ(info.posix_counts_np.posix_held_np, 0);
	PXT_EQ(posix_trace_close(log), 0);
}

/* DEC-23, SAFE-03 */
PXT_TEST(exit_in_a_thread_completes_the_log_while_others_trace)
{
	static const int policies[] = { POSIX_TRACE_LOOP, POSIX_TRACE_UNTIL_FULL,
		POSIX_TRACE_FLUSH };

	for (size_t i = 0; i < 3; i++) {
		struct crash crash = plain;

		crash.stream_policy = policies[i];
		crash.act = exit_in_a_thread;
		PXT_EQ(crash_play(&crash), 5 << 8);
		expect_complete();
	}
}

static void *flush_on(void *argument)
{
	atomic_fetch_add(&crash_notes->mark, 1u);
	for (;;)
		(void)posix_trace_flush(crash_stream);
	return argument;
}

static int exit_while_others_flush(const struct crash *crash)
{
	pthread_t thread;

	for (int i = 0; i < 2; i++)
		PXT_CHILD_CHECK(pthread_create(&thread, NULL, flush_on, NULL) == 0);
	while (atomic_load(&crash_notes->mark) < 2)
		(void)sched_yield();
	return crash->argument;
}

/* DEC-23, SAFE-03: one writer follows upon the other. */
PXT_TEST(exit_completes_the_log_while_others_flush_again_and_again)
{
	for (int i = 0; i < 20; i++) {
		struct crash crash = plain;

		crash.stream_policy = POSIX_TRACE_LOOP;
		crash.argument = 5;
		crash.act = exit_while_others_flush;
		PXT_EQ(crash_play(&crash), 5 << 8);
		expect_complete();
	}
}

static void *shut_down(void *argument)
{
	(void)posix_trace_shutdown(crash_stream);
	return argument;
}

static int exit_beside_a_shutdown(const struct crash *crash)
{
	pthread_t thread;

	crash_trace(200);
	PXT_CHILD_CHECK(pthread_create(&thread, NULL, shut_down, NULL) == 0);
	for (int i = 0; i < crash->argument; i++)
		(void)sched_yield();
	return 0;
}

/* DEC-23, SHUT-06 */
PXT_TEST(exit_waits_for_the_shutdown_that_another_thread_has_begun)
{
	for (int round = 0; round < 10; round++) {
		struct crash crash = plain;

		crash.act = exit_beside_a_shutdown;
		crash.argument = round;
		PXT_EQ(crash_play(&crash), 0);
		crash_expect_whole(0);
	}
}

/* ---- Ways that are none ---- */

static int leave_quickly(const struct crash *crash)
{
	quick_exit(6);
}

static void say_goodbye(void)
{
	(void)posix_trace_shutdown(crash_stream);
}

static int leave_quickly_but_politely(const struct crash *crash)
{
	(void)at_quick_exit(say_goodbye);
	quick_exit(6);
}

/* DEC-23, DEC-29 */
PXT_TEST(quick_exit_completes_nothing_unless_the_program_sees_to_it)
{
	struct crash crash = plain;
	trace_id_t log;

	crash.act = leave_quickly;
	PXT_EQ(crash_play(&crash), 6 << 8);
	PXT_EQ(crash_open(&log), EINVAL);
	crash.act = leave_quickly_but_politely;
	PXT_EQ(crash_play(&crash), 6 << 8);
	crash_expect_whole(0);
}

/* ---- Handlers ---- */

static void exit_here(int number)
{
	exit(number == SIGALRM ? 4 : 5);
}

/* The handler comes wherever the thread is: with a lock, in a trace point, in a write. */
static int exit_in_a_handler(const struct crash *crash)
{
	const struct sigaction action = { .sa_handler = exit_here };
	struct posix_trace_status_info status;

	(void)sigaction(SIGALRM, &action, NULL);
	(void)ualarm((useconds_t)(200 + 37 * crash->argument), 0);
	while (posix_trace_get_status(crash_stream, &status) == 0) {
		crash_trace(1);
		(void)posix_trace_flush(crash_stream);
	}
	return 1;
}

/* DEC-23, SAFE-01 */
PXT_TEST(exit_in_a_handler_ends_the_process_in_time)
{
	for (int round = 0; round < 6; round++) {
		struct crash crash = plain;
		int status;

		crash.impatient = true;
		crash.act = exit_in_a_handler;
		crash.argument = round;
		status = crash_play(&crash);
		PXT_CHECK(status == 4 << 8, "ended with status %#x", (unsigned)status);
		(void)crash_expect_honest(0);
	}
}

/* A timer would be the one that ends a child that hangs. */
static void *disturb(void *argument)
{
	(void)usleep(40000);
	(void)pthread_kill(*(pthread_t *)argument, SIGUSR1);
	return argument;
}

static bool disturbed_soon(void)
{
	const struct sigaction action = { .sa_handler = exit_here };
	static pthread_t self;
	pthread_t thread;

	self = pthread_self();
	(void)sigaction(SIGUSR1, &action, NULL);
	return pthread_create(&thread, NULL, disturb, &self) == 0;
}

/* Nobody writes into it: the handler comes while this thread sleeps. */
static int exit_while_it_sleeps_for_an_event(const struct crash *crash)
{
	struct posix_trace_event_info event;
	trace_attr_t attr;
	trace_id_t trid;
	int unavailable;
	size_t bytes;

	pxt_attr(&attr, 16384, 64, POSIX_TRACE_LOOP);
	PXT_CHILD_CHECK(posix_trace_create(0, &attr, &trid) == 0);
	PXT_CHILD_CHECK(disturbed_soon());
	(void)posix_trace_getnext_event(trid, &event, NULL, 0, &bytes, &unavailable);
	return 1;
}

/* DEC-23, SAFE-01: the stream of which it reads, and the log of the other one. */
PXT_TEST(exit_in_a_handler_that_woke_a_reader_ends_the_process)
{
	struct crash crash = plain;

	crash.act = exit_while_it_sleeps_for_an_event;
	PXT_EQ(crash_play(&crash), 5 << 8);
	CU_ASSERT(crash_took_ms < 3000);
	crash_expect_whole(0);
}

/* ---- Devices ---- */

/* More than the pipe takes, so that the helper's thread is in its write. */
static int exit_behind_a_full_pipe(const struct crash *crash)
{
	for (int i = 0; i < 100; i++) {
		crash_trace(100);
		(void)usleep(1000);
	}
	return crash->argument;
}

/* DEC-13, DEC-23, DEC-29 */
PXT_TEST(a_device_that_takes_nothing_holds_exit_a_few_seconds_at_most)
{
	static const int policies[] = { POSIX_TRACE_FLUSH, POSIX_TRACE_LOOP };

	for (size_t i = 0; i < 2; i++) {
		struct crash crash = plain;
		int ends[2];

		PXT_EQ_FATAL(pipe(ends), 0);
		(void)fcntl(ends[1], F_SETPIPE_SZ, 8192);
		crash.stream_policy = policies[i];
		crash.stream_bytes = 65536;
		crash.fd = ends[1];
		crash.act = exit_behind_a_full_pipe;
		crash.argument = 9;
		PXT_EQ(crash_play(&crash), 9 << 8);
		CU_ASSERT(crash_took_ms < 20000);
		(void)close(ends[0]);
		(void)close(ends[1]);
	}
}

/* 512 bytes every few milliseconds, into a file. */
static void *read_slowly(void *argument)
{
	const int *fds = argument;
	char bytes[512];
	ssize_t got;

	while ((got = read(fds[0], bytes, sizeof(bytes))) > 0) {
		if (write(fds[1], bytes, (size_t)got) != got)
			break;
		(void)usleep(3000);
	}
	return NULL;
}

/* Events of which a slow device takes a while, however few bytes each takes of the log. */
#define MANY 8000u

static int exit_behind_a_slow_pipe(const struct crash *crash)
{
	crash_trace(MANY);
	return crash->argument;
}

static void *flush_once(void *argument)
{
	atomic_fetch_add(&crash_notes->mark, 1u);
	(void)posix_trace_flush(crash_stream);
	return argument;
}

/* The other thread's flush takes longer than this one sleeps for the lock. */
static int exit_while_it_waits_for_the_lock(const struct crash *crash)
{
	pthread_t thread;

	crash_trace(MANY);
	PXT_CHILD_CHECK(pthread_create(&thread, NULL, flush_once, NULL) == 0);
	while (atomic_load(&crash_notes->mark) < 1)
		(void)sched_yield();
	(void)usleep(20000);
	PXT_CHILD_CHECK(disturbed_soon());
	(void)posix_trace_flush(crash_stream);
	return 1;
}

static void play_to_a_slow_device(int (*act)(const struct crash *crash), int status)
{
	struct crash crash = plain;
	pthread_t reader;
	int file = pxt_temp_file();
	int ends[2];
	int fds[2];

	PXT_EQ_FATAL(pipe(ends), 0);
	(void)fcntl(ends[1], F_SETPIPE_SZ, 4096);
	fds[0] = ends[0];
	fds[1] = file;
	PXT_EQ_FATAL(pthread_create(&reader, NULL, read_slowly, fds), 0);
	crash.stream_bytes = 524288;
	crash.fd = ends[1];
	crash.act = act;
	PXT_EQ(crash_play(&crash), status);
	(void)close(ends[1]);
	(void)close(crash_log);
	pthread_join(reader, NULL);
	(void)close(ends[0]);
	crash_log = file;
	crash_expect_whole(0);
}

/* DEC-23 */
PXT_TEST(a_slow_device_gets_all_of_the_log)
{
	play_to_a_slow_device(exit_behind_a_slow_pipe, 0);
}

/* DEC-23, SAFE-01 */
PXT_TEST(exit_in_a_handler_that_interrupted_a_wait_for_the_logs_lock_completes_the_log)
{
	play_to_a_slow_device(exit_while_it_waits_for_the_lock, 5 << 8);
}

static int exit_with_much_patience(const struct crash *crash)
{
	pxt_holdback_ns = UINT64_C(20000000000);
	return crash->argument;
}

/* DEC-23: who looked at the log on the way out has gone, and is not waited for. */
PXT_TEST(exit_waits_for_nobody_where_nobody_uses_the_log)
{
	struct crash crash = plain;

	crash.act = exit_with_much_patience;
	PXT_EQ(crash_play(&crash), 0);
	PXT_CHECK(crash_took_ms < 10000, "%ld ms", crash_took_ms);
	crash_expect_whole(0);
}
