/* SPDX-License-Identifier: MIT */
/*
 * exit.c - the ways out of a process that are none of a signal's: when its logs are completed, what
 * is still in them, and how long a device or a lock may hold it.
 */
#define _GNU_SOURCE 1 /* F_SETPIPE_SZ */
#include "scene.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

extern uint64_t pxt_holdback_ns; /* core/control/control.h, whose events have the name of ours */

static const struct scene plain = { .log_policy = POSIX_TRACE_APPEND, .unwatched = true };

/* ---- Order ---- */

static bool traces_late;

static void trace_late(void)
{
	if (traces_late)
		scene_trace(10);
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

static int exit_with_handlers(const struct scene *scene)
{
	(void)atexit(trace_late);
	traces_late = true;
	return scene->argument;
}

/* DEC-23, PROC-08 */
static void exit_handlers_and_destructors_of_the_program_are_traced(void)
{
	struct scene scene = plain;

	scene.act = exit_with_handlers;
	scene.argument = 3;
	PXT_EQ(scene_play(&scene), 3 << 8);
	PXT_EQ(atomic_load(&scene_notes->written), SCENE_EVENTS + 30);
	scene_expect_whole(&scene, 0);
}

/* ---- Threads ---- */

static void *trace_on(void *argument)
{
	trace_event_id_t type;

	if (posix_trace_eventid_open("exit_other", &type) != 0)
		_exit(97);
	atomic_fetch_add(&scene_notes->mark, 1u);
	for (;;)
		posix_trace_event(type, "on and on and on", 16);
	return argument;
}

static void *leave_the_process(void *argument)
{
	(void)argument;
	exit(5);
}

static int exit_in_a_thread(const struct scene *scene)
{
	pthread_t thread;

	for (int i = 0; i < 3; i++)
		PXT_CHILD_CHECK(pthread_create(&thread, NULL, trace_on, NULL) == 0);
	while (atomic_load(&scene_notes->mark) < 3)
		(void)sched_yield();
	PXT_CHILD_CHECK(pthread_create(&thread, NULL, leave_the_process, NULL) == 0);
	(void)pthread_join(thread, NULL);
	return scene->argument;
}

static void expect_complete(void)
{
	struct posix_trace_logerror_np error = { 0 };
	struct posix_trace_loginfo_np info;
	trace_id_t log;

	int result = posix_trace_open_explained_np(scene_log, &log, &error);

	PXT_CHECK(result == 0, "at %llu: %s", (unsigned long long)error.posix_offset_np,
	    error.posix_reason_np);
	CU_ASSERT_FATAL(result == 0);
	PXT_EQ(posix_trace_log_getinfo_np(log, &info), 0);
	PXT_EQ(info.posix_signal_np, 0);
	PXT_EQ(info.posix_counts_np.posix_held_np, 0);
	PXT_EQ(posix_trace_close(log), 0);
}

/* DEC-23, SAFE-03 */
static void exit_in_a_thread_completes_the_log_while_others_trace(void)
{
	static const int policies[] = { POSIX_TRACE_LOOP, POSIX_TRACE_UNTIL_FULL,
		POSIX_TRACE_FLUSH };

	for (size_t i = 0; i < 3; i++) {
		struct scene scene = plain;

		scene.stream_policy = policies[i];
		scene.act = exit_in_a_thread;
		PXT_EQ(scene_play(&scene), 5 << 8);
		expect_complete();
	}
}

static void *flush_on(void *argument)
{
	atomic_fetch_add(&scene_notes->mark, 1u);
	for (;;)
		(void)posix_trace_flush(scene_stream);
	return argument;
}

static int exit_while_others_flush(const struct scene *scene)
{
	pthread_t thread;

	for (int i = 0; i < 2; i++)
		PXT_CHILD_CHECK(pthread_create(&thread, NULL, flush_on, NULL) == 0);
	while (atomic_load(&scene_notes->mark) < 2)
		(void)sched_yield();
	return scene->argument;
}

/* DEC-23, SAFE-03: one turn follows upon the other. */
static void exit_completes_the_log_while_others_flush_again_and_again(void)
{
	for (int i = 0; i < 20; i++) {
		struct scene scene = plain;

		scene.stream_policy = POSIX_TRACE_LOOP;
		scene.argument = 5;
		scene.act = exit_while_others_flush;
		PXT_EQ(scene_play(&scene), 5 << 8);
		expect_complete();
	}
}

static void *shut_down(void *argument)
{
	(void)posix_trace_shutdown(scene_stream);
	return argument;
}

static int exit_beside_a_shutdown(const struct scene *scene)
{
	pthread_t thread;

	scene_trace(200);
	PXT_CHILD_CHECK(pthread_create(&thread, NULL, shut_down, NULL) == 0);
	for (int i = 0; i < scene->argument; i++)
		(void)sched_yield();
	return 0;
}

/* DEC-23, SHUT-06 */
static void exit_waits_for_the_shutdown_that_another_thread_has_begun(void)
{
	for (int round = 0; round < 10; round++) {
		struct scene scene = plain;

		scene.act = exit_beside_a_shutdown;
		scene.argument = round;
		PXT_EQ(scene_play(&scene), 0);
		scene_expect_whole(&scene, 0);
	}
}

/* ---- Ways that are none ---- */

static int leave_quickly(const struct scene *scene)
{
	(void)scene;
	quick_exit(6);
}

static void say_goodbye(void)
{
	(void)posix_trace_shutdown(scene_stream);
}

static int leave_quickly_but_politely(const struct scene *scene)
{
	(void)scene;
	(void)at_quick_exit(say_goodbye);
	quick_exit(6);
}

/* DEC-23, DEC-29 */
static void quick_exit_completes_nothing_unless_the_program_sees_to_it(void)
{
	struct scene scene = plain;
	trace_id_t log;

	scene.act = leave_quickly;
	PXT_EQ(scene_play(&scene), 6 << 8);
	PXT_EQ(scene_open(&log), EINVAL);
	scene.act = leave_quickly_but_politely;
	PXT_EQ(scene_play(&scene), 6 << 8);
	scene_expect_whole(&scene, 0);
}

/* ---- Handlers ---- */

static void exit_here(int number)
{
	exit(number == SIGALRM ? 4 : 5);
}

/* The handler comes wherever the thread is: with a lock, in a trace point, in a write. */
static int exit_in_a_handler(const struct scene *scene)
{
	const struct sigaction action = { .sa_handler = exit_here };
	struct posix_trace_status_info status;

	(void)sigaction(SIGALRM, &action, NULL);
	(void)ualarm((useconds_t)(200 + 37 * scene->argument), 0);
	while (posix_trace_get_status(scene_stream, &status) == 0) {
		scene_trace(1);
		(void)posix_trace_flush(scene_stream);
	}
	return 1;
}

/* DEC-23, SAFE-01 */
static void exit_in_a_handler_ends_the_process_in_time(void)
{
	for (int round = 0; round < 6; round++) {
		struct scene scene = plain;
		int status;

		scene.impatient = true;
		scene.act = exit_in_a_handler;
		scene.argument = round;
		status = scene_play(&scene);
		PXT_CHECK(status == 4 << 8, "ended with status %#x", (unsigned)status);
		(void)scene_expect_honest(&scene, 0);
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
static int exit_while_it_sleeps_for_an_event(const struct scene *scene)
{
	struct posix_trace_event_info event;
	trace_attr_t attr;
	trace_id_t trid;
	int unavailable;
	size_t bytes;

	(void)scene;
	pxt_attr(&attr, 16384, 64, POSIX_TRACE_LOOP);
	PXT_CHILD_CHECK(posix_trace_create(0, &attr, &trid) == 0);
	PXT_CHILD_CHECK(disturbed_soon());
	(void)posix_trace_getnext_event(trid, &event, NULL, 0, &bytes, &unavailable);
	return 1;
}

/* DEC-23, SAFE-01: the stream of which it reads, and the log of the other one. */
static void exit_in_a_handler_that_woke_a_reader_ends_the_process(void)
{
	struct scene scene = plain;

	scene.act = exit_while_it_sleeps_for_an_event;
	PXT_EQ(scene_play(&scene), 5 << 8);
	CU_ASSERT(scene_took_ms < 3000);
	scene_expect_whole(&scene, 0);
}

/* ---- Devices ---- */

/* More than the pipe takes, so that the helper's thread stands in its write. */
static int exit_behind_a_full_pipe(const struct scene *scene)
{
	for (int i = 0; i < 100; i++) {
		scene_trace(100);
		(void)usleep(1000);
	}
	return scene->argument;
}

/* DEC-13, DEC-23, DEC-29 */
static void a_device_that_takes_nothing_holds_exit_a_few_seconds_at_most(void)
{
	static const int policies[] = { POSIX_TRACE_FLUSH, POSIX_TRACE_LOOP };

	for (size_t i = 0; i < 2; i++) {
		struct scene scene = plain;
		int ends[2];

		PXT_EQ_FATAL(pipe(ends), 0);
		(void)fcntl(ends[1], F_SETPIPE_SZ, 8192);
		scene.stream_policy = policies[i];
		scene.stream_bytes = 65536;
		scene.fd = ends[1];
		scene.act = exit_behind_a_full_pipe;
		scene.argument = 9;
		PXT_EQ(scene_play(&scene), 9 << 8);
		CU_ASSERT(scene_took_ms < 20000);
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

static int exit_behind_a_slow_pipe(const struct scene *scene)
{
	scene_trace(1000);
	return scene->argument;
}

static void *flush_once(void *argument)
{
	atomic_fetch_add(&scene_notes->mark, 1u);
	(void)posix_trace_flush(scene_stream);
	return argument;
}

/* The other thread's flush takes longer than this one sleeps for its turn. */
static int exit_while_it_waits_for_its_turn(const struct scene *scene)
{
	pthread_t thread;

	(void)scene;
	scene_trace(1000);
	PXT_CHILD_CHECK(pthread_create(&thread, NULL, flush_once, NULL) == 0);
	while (atomic_load(&scene_notes->mark) < 1)
		(void)sched_yield();
	(void)usleep(20000);
	PXT_CHILD_CHECK(disturbed_soon());
	(void)posix_trace_flush(scene_stream);
	return 1;
}

static void play_to_a_slow_device(int (*act)(const struct scene *scene), int status)
{
	struct scene scene = plain;
	pthread_t reader;
	int file = pxt_temp_file();
	int ends[2];
	int fds[2];

	PXT_EQ_FATAL(pipe(ends), 0);
	(void)fcntl(ends[1], F_SETPIPE_SZ, 4096);
	fds[0] = ends[0];
	fds[1] = file;
	PXT_EQ_FATAL(pthread_create(&reader, NULL, read_slowly, fds), 0);
	scene.stream_bytes = 65536;
	scene.fd = ends[1];
	scene.act = act;
	PXT_EQ(scene_play(&scene), status);
	(void)close(ends[1]);
	(void)close(scene_log);
	pthread_join(reader, NULL);
	(void)close(ends[0]);
	scene_log = file;
	scene_expect_whole(&scene, 0);
}

/* DEC-23 */
static void a_slow_device_gets_all_of_the_log(void)
{
	play_to_a_slow_device(exit_behind_a_slow_pipe, 0);
}

/* DEC-23, SAFE-01 */
static void exit_in_a_handler_that_interrupted_a_wait_for_a_turn_completes_the_log(void)
{
	play_to_a_slow_device(exit_while_it_waits_for_its_turn, 5 << 8);
}

static int exit_with_much_patience(const struct scene *scene)
{
	pxt_holdback_ns = UINT64_C(20000000000);
	return scene->argument;
}

/* DEC-23: who looked at the log on the way out has gone, and is not waited for. */
static void exit_waits_for_nobody_where_nobody_uses_the_log(void)
{
	struct scene scene = plain;

	scene.act = exit_with_much_patience;
	PXT_EQ(scene_play(&scene), 0);
	PXT_CHECK(scene_took_ms < 10000, "%ld ms", scene_took_ms);
	scene_expect_whole(&scene, 0);
}

static const struct pxt_case cases[] = {
	PXT_CASE(exit_handlers_and_destructors_of_the_program_are_traced),
	PXT_CASE(exit_waits_for_nobody_where_nobody_uses_the_log),
	PXT_CASE(exit_in_a_thread_completes_the_log_while_others_trace),
	PXT_CASE(exit_completes_the_log_while_others_flush_again_and_again),
	PXT_CASE(exit_waits_for_the_shutdown_that_another_thread_has_begun),
	PXT_CASE(quick_exit_completes_nothing_unless_the_program_sees_to_it),
	PXT_CASE(exit_in_a_handler_ends_the_process_in_time),
	PXT_CASE(exit_in_a_handler_that_woke_a_reader_ends_the_process),
	PXT_CASE(a_device_that_takes_nothing_holds_exit_a_few_seconds_at_most),
	PXT_CASE(a_slow_device_gets_all_of_the_log),
	PXT_CASE(exit_in_a_handler_that_interrupted_a_wait_for_a_turn_completes_the_log),
};
PXT_SUITE("exit", cases)
