/* SPDX-License-Identifier: MIT */
/*
 * signals.c - a timer's signal every 100 us, whose handler interrupts system calls: the two that
 * wait for an event say EINTR and have lost nothing, all others do as if there were no signals.
 */
#define _GNU_SOURCE /* F_SETPIPE_SZ */
#include "beside.h"
#include "logs.h"
#include "suite.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <trace_np.h>
#include <unistd.h>

#define MARK        4711
#define HOLDBACK_MS CONFIG_PTRACE_HOLDBACK_MS
#define PERIOD_US   (PXT_SANITIZED ? 1000 : 100)
#define ROUNDS      (pxt_in_full() ? 500 : 20)

static atomic_ulong signals;

static void on_signal(int number)
{
	atomic_fetch_add(&signals, 1u);
}

/* Every thread that is made from now on by a test leaves the signals to the caller. */
static void storm_begin(void)
{
	struct sigaction action = { .sa_handler = on_signal };
	const struct itimerval often = { { 0, PERIOD_US }, { 0, PERIOD_US } };

	(void)sigaction(SIGALRM, &action, NULL);
	atomic_store(&signals, 0u);
	(void)setitimer(ITIMER_REAL, &often, NULL);
}

static void storm_end(void)
{
	const struct itimerval never = { { 0, 0 }, { 0, 0 } };

	(void)setitimer(ITIMER_REAL, &never, NULL);
	(void)signal(SIGALRM, SIG_IGN);
}

static void thread_begin(pthread_t *thread, void *(*body)(void *), void *argument)
{
	sigset_t alarms;

	(void)sigemptyset(&alarms);
	(void)sigaddset(&alarms, SIGALRM);
	(void)pthread_sigmask(SIG_BLOCK, &alarms, NULL);
	CU_ASSERT_FATAL(pthread_create(thread, NULL, body, argument) == 0);
	(void)pthread_sigmask(SIG_UNBLOCK, &alarms, NULL);
}

/* The call's error; errno, which no call changes, is checked. */
#define CALL(call) (errno = MARK, same_errno(call))
static int same_errno(int error)
{
	PXT_EQ(errno, MARK);
	return error;
}

static long long ms_since(long long begin)
{
	return (pxt_now_ns() - begin) / 1000000;
}

/* ---- Waiting for events ---- */

static int next(trace_id_t trid, const struct timespec *until, uint32_t *number)
{
	struct posix_trace_event_info event;
	size_t len = 0;
	int unavailable = 0;
	int error;

	if (until)
		error = CALL(posix_trace_timedgetnext_event(
		    trid, &event, number, sizeof(*number), &len, &unavailable, until));
	else
		error = CALL(posix_trace_getnext_event(
		    trid, &event, number, sizeof(*number), &len, &unavailable));
	CU_ASSERT((unavailable == 0) == (error == 0));
	return error;
}

static trace_event_id_t numbered;
static atomic_uint gone_through; /* what was read, for who writes */
static unsigned rounds;

/* One at a time, each when the one before was read, so that the reader waits for all. */
static void *say_numbers(void *argument)
{
	for (uint32_t i = 0; i < rounds; i++) {
		while (atomic_load(&gone_through) < i)
			pxt_sleep_ms(1);
		pxt_sleep_ms(1);
		posix_trace_event(numbered, &i, sizeof(i));
	}
	return argument;
}

/* GETNX-E2, TIMED-E2: an event is read once, whether signals come before or after it. */
PXT_TEST(who_waits_is_told_of_the_signal_and_loses_nothing)
{
	struct timespec far = { .tv_sec = (time_t)(pxt_now_ns() / 1000000000) + 60 };
	trace_id_t trid = pxt_running_stream(16384, 16, POSIX_TRACE_LOOP);
	unsigned interrupted = 0;
	pthread_t thread;

	numbered = pxt_open_event("numbered");
	rounds = (unsigned)ROUNDS;
	atomic_store(&gone_through, 0u);
	thread_begin(&thread, say_numbers, NULL);
	storm_begin();
	for (uint32_t i = 0; i < rounds;) {
		uint32_t number = UINT32_MAX;
		int error = next(trid, i % 2 ? &far : NULL, &number);

		interrupted += error == EINTR;
		CU_ASSERT(error == 0 || error == EINTR);
		if (error)
			continue;
		PXT_EQ(number, i);
		atomic_store(&gone_through, ++i);
	}
	storm_end();
	(void)pthread_join(thread, NULL);
	PXT_CHECK(interrupted >= rounds, "%u signals were told", interrupted);
	pxt_expect_none(trid);
	PXT_EQ(posix_trace_shutdown(trid), 0);
}

/* TIMED-04: who calls again after each signal waits as long as it wanted. */
PXT_TEST(a_limit_in_time_is_met_however_often_a_signal_comes)
{
	trace_id_t trid = pxt_stream(16384, 16, POSIX_TRACE_LOOP);
	long long begin = pxt_now_ns();
	long long end = begin + 30000000;
	struct timespec until = { (time_t)(end / 1000000000), (long)(end % 1000000000) };
	uint32_t number;
	int error;

	storm_begin();
	do
		error = next(trid, &until, &number);
	while (error == EINTR);
	storm_end();
	PXT_EQ(error, ETIMEDOUT);
	CU_ASSERT(ms_since(begin) >= 30 && ms_since(begin) < 2000);
	PXT_EQ(posix_trace_shutdown(trid), 0);
}

/* ---- Waiting for a thread that is inside a trace point ---- */

/* Its error; it was waited for by the time that a thread inside has, and a little. */
#define WAITS(call)                                                                                \
	do {                                                                                       \
		long long begin = pxt_now_ns();                                                    \
                                                                                                   \
		somebody_inside(true);                                                             \
		PXT_EQ(CALL(call), 0);                                                             \
		PXT_CHECK(ms_since(begin) >= HOLDBACK_MS && ms_since(begin) < HOLDBACK_MS + 2000,  \
		    #call ": %lld ms", ms_since(begin));                                           \
		somebody_inside(false);                                                            \
	} while (0)

/* STOP-02, STOP-E2, SFILT-01, SFILT-05, SFILT-E2, GFILT-E2, SHUT-01: signals do not change how long. */
PXT_TEST(what_waits_for_a_writer_waits_as_without_signals)
{
	trace_id_t trid = pxt_running_stream(16384, 16, POSIX_TRACE_LOOP);
	trace_event_set_t set;

	PXT_EQ(posix_trace_eventset_fill(&set, POSIX_TRACE_SYSTEM_EVENTS), 0);
	storm_begin();
	WAITS(posix_trace_set_filter(trid, &set, POSIX_TRACE_SET_EVENTSET));
	PXT_EQ(CALL(posix_trace_get_filter(trid, &set)), 0);
	WAITS(posix_trace_stop(trid));
	WAITS(posix_trace_shutdown(trid));
	storm_end();
}

/* ---- Logs into a pipe that is full ---- */

struct sink {
	int from;
	int to; /* a file */
	long delay_ms;
	pthread_t thread;
};

/* Slowly at first, so that the pipe is full. */
static void *swallow(void *argument)
{
	struct sink *sink = argument;
	char bytes[4096];
	ssize_t got;

	pxt_sleep_ms(sink->delay_ms);
	while ((got = read(sink->from, bytes, sizeof(bytes))) > 0) {
		if (write(sink->to, bytes, (size_t)got) != got)
			abort();
	}
	close(sink->from);
	return NULL;
}

/* The end to write to, of a pipe of one page. */
static int sink_begin(struct sink *sink, long delay_ms)
{
	int ends[2];

	CU_ASSERT_FATAL(pipe(ends) == 0);
	(void)fcntl(ends[1], F_SETPIPE_SZ, 4096);
	*sink = (struct sink){ .from = ends[0], .to = pxt_temp_file(), .delay_ms = delay_ms };
	thread_begin(&sink->thread, swallow, sink);
	return ends[1];
}

/* Events of that type in what came through. */
static unsigned sink_end(struct sink *sink, trace_event_id_t id)
{
	struct pxt_got event;
	unsigned count = 0;
	trace_id_t log;

	(void)pthread_join(sink->thread, NULL);
	log = pxt_open_log(sink->to);
	while (pxt_log_next(log, &event)) {
		if (event.info.posix_event_id == id)
			PXT_EQ(event.data[0], count++ % 256);
	}
	PXT_EQ(posix_trace_close(log), 0);
	close(sink->to);
	return count;
}

static trace_id_t pipe_stream(int fd)
{
	trace_attr_t attr;

	pxt_attr(&attr, 65536, 128, POSIX_TRACE_UNTIL_FULL);
	PXT_EQ(posix_trace_attr_setlogfullpolicy(&attr, POSIX_TRACE_APPEND), 0);
	return pxt_log_stream(&attr, fd);
}

static void say_many(trace_id_t trid, unsigned first, unsigned count)
{
	unsigned char data[100] = "";

	for (unsigned i = first; i < first + count; i++) {
		data[0] = (unsigned char)i;
		posix_trace_event(numbered, data, sizeof(data));
	}
}

/* Under the storm: 200 events were flushed, 200 more are in the stream. */
static trace_id_t half_written_into_full_pipe(struct sink *sink)
{
	int fd = sink_begin(sink, 30);
	trace_id_t trid;

	numbered = pxt_open_event("numbered");
	storm_begin();
	trid = pipe_stream(fd);
	close(fd);
	PXT_EQ(CALL(posix_trace_start(trid)), 0);
	say_many(trid, 0, 200);
	PXT_EQ(CALL(posix_trace_flush(trid)), 0);
	say_many(trid, 200, 200);
	return trid;
}

/* FLUSH-01, SHUT-01: EINTR in the middle of a write goes on with the rest. */
PXT_TEST(a_full_pipe_is_written_to_the_end)
{
	struct sink sink;
	trace_id_t trid = half_written_into_full_pipe(&sink);

	PXT_EQ(CALL(posix_trace_clear(trid)), 0);
	PXT_EQ(CALL(posix_trace_stop(trid)), 0);
	PXT_EQ(CALL(posix_trace_shutdown(trid)), 0);
	storm_end();
	/* A log that was cleared in a pipe begins after its mark. */
	PXT_EQ(sink_end(&sink, numbered), 0);
	PXT_CHECK(signals > 0, "no signal came");
}

PXT_TEST(a_shutdown_into_a_full_pipe_writes_all)
{
	struct sink sink;
	trace_id_t trid = half_written_into_full_pipe(&sink);

	PXT_EQ(CALL(posix_trace_shutdown(trid)), 0);
	storm_end();
	PXT_EQ(sink_end(&sink, numbered), 400);
}

PXT_TEST(a_snapshot_into_a_full_pipe_is_whole)
{
	trace_id_t trid = pxt_running_stream(65536, 128, POSIX_TRACE_LOOP);
	struct sink sink;
	int fd = sink_begin(&sink, 30);

	numbered = pxt_open_event("numbered");
	storm_begin();
	say_many(trid, 0, 200);
	PXT_EQ(CALL(posix_trace_snapshot_np(trid, fd)), 0);
	storm_end();
	close(fd);
	PXT_EQ(sink_end(&sink, numbered), 200);
	PXT_EQ(posix_trace_shutdown(trid), 0);
}

static void fill(int fd)
{
	char bytes[4096] = "";
	int flags = fcntl(fd, F_GETFL);

	(void)fcntl(fd, F_SETFL, flags | O_NONBLOCK);
	while (write(fd, bytes, sizeof(bytes)) > 0)
		;
	(void)fcntl(fd, F_SETFL, flags);
}

/* Ends with a log that nobody reads. */
static pid_t exit_with_a_full_pipe(int ends[2])
{
	pid_t child;

	CU_ASSERT_FATAL(pipe(ends) == 0);
	child = fork();
	if (child == 0) {
		trace_id_t trid = pipe_stream(ends[1]);

		if (posix_trace_start(trid) != 0)
			_exit(9);
		fill(ends[1]);
		storm_begin();
		exit(0);
	}
	return child;
}

static bool ended(pid_t child, unsigned seconds)
{
	for (unsigned i = 0; i < seconds * 100; i++) {
		if (waitpid(child, NULL, WNOHANG) == child)
			return true;
		pxt_sleep_ms(10);
	}
	(void)kill(child, SIGKILL);
	(void)waitpid(child, NULL, 0);
	return false;
}

/*
 * FLUSH-E2, SHUT-08: a device that takes nothing is waited for as long as without signals, in flush
 * not for less, and at exit, where every signal would begin the wait anew, not for ever.
 */
PXT_TEST(a_device_that_takes_nothing_is_waited_for_a_second)
{
	int ends[2];
	int others[2];
	pid_t child = exit_with_a_full_pipe(others);
	trace_id_t trid;
	long long begin;
	long long ms;

	CU_ASSERT_FATAL(pipe2(ends, O_NONBLOCK) == 0);
	trid = pipe_stream(ends[1]);
	PXT_EQ(posix_trace_start(trid), 0);
	while (write(ends[1], "", 1) == 1)
		;
	storm_begin();
	begin = pxt_now_ns();
	PXT_EQ(CALL(posix_trace_flush(trid)), EAGAIN);
	ms = ms_since(begin);
	storm_end();
	PXT_CHECK(ms >= 990, "%lld ms", ms);
	close(ends[0]);
	(void)signal(SIGPIPE, SIG_IGN);
	PXT_EQ(posix_trace_shutdown(trid), EPIPE);
	(void)signal(SIGPIPE, SIG_DFL);
	close(ends[1]);
	PXT_CHECK(ended(child, 10), "exit() does not come to its end");
	close(others[0]);
	close(others[1]);
}

/* ---- What makes and takes away ---- */

static void one_of_each(const char *name, int file)
{
	trace_attr_t attr;
	trace_event_id_t id;
	trace_id_t trid;
	trace_id_t log;
	int box = pxt_temp_file();

	pxt_attr(&attr, 65536, 128, POSIX_TRACE_FLUSH);
	PXT_EQ(posix_trace_attr_setfile_np(&attr, box), 0);
	PXT_EQ(posix_trace_attr_setsharename_np(&attr, name), 0);
	PXT_EQ(ftruncate(file, 0), 0);
	PXT_EQ_FATAL(CALL(posix_trace_create_withlog(0, &attr, file, &trid)), 0);
	PXT_EQ(CALL(posix_trace_start(trid)), 0);
	PXT_EQ(CALL(posix_trace_eventid_open("numbered", &id)), 0);
	say_many(trid, 0, 50);
	PXT_EQ(CALL(posix_trace_flush(trid)), 0);
	PXT_EQ(CALL(posix_trace_stop(trid)), 0);
	PXT_EQ(CALL(posix_trace_shutdown(trid)), 0);
	(void)lseek(file, 0, SEEK_SET);
	PXT_EQ_FATAL(CALL(posix_trace_open(file, &log)), 0);
	PXT_EQ(CALL(posix_trace_rewind(log)), 0);
	PXT_EQ(CALL(posix_trace_close(log)), 0);
	close(box);
}

/* OPEN-E1, CREATE-E2, START-E2, DEC-35 */
PXT_TEST(streams_logs_and_names_come_and_go)
{
	char name[128];
	int file = pxt_temp_file();

	(void)snprintf(name, sizeof(name), "%s/ctlsock", pxt_temp_folder());
	numbered = pxt_open_event("numbered");
	storm_begin();
	for (int i = 0; i < ROUNDS; i++)
		one_of_each(name, file);
	storm_end();
	close(file);
}

/* ---- Attaching ---- */

static void attach_often(void *argument)
{
	trace_event_id_t id = pxt_open_event("numbered");
	unsigned char data[100] = "";

	storm_begin();
	for (int i = 0; i < ROUNDS; i++) {
		trace_id_t trid = 0;

		errno = MARK;
		if (posix_trace_attach_np(owner_name, NULL, &trid) != 0 || errno != MARK)
			_exit(21);
		/* The owner begins to listen when it has answered. */
		for (int n = 0; n < 2000 && !posix_trace_wanted_np(id); n++)
			pxt_sleep_ms(1);
		data[0] = (unsigned char)i;
		posix_trace_event(id, data, sizeof(data));
		errno = MARK;
		if (posix_trace_shutdown(trid) != 0 || errno != MARK)
			_exit(22);
	}
	storm_end();
	producer_say(1);
}

/* LPT-31: signals on both sides. */
PXT_TEST(attachments_come_and_go)
{
	/* All events have room in the lane of one processor. */
	const struct owner_spec spec = { .stream_bytes = 262144 };
	trace_id_t trid = owner_open(&spec);
	struct producer producer = producer_begin(attach_often, NULL);
	static struct pxt_got events[600];
	size_t count;

	numbered = pxt_open_event("numbered");
	storm_begin();
	PXT_EQ(producer_told(&producer), 1);
	storm_end();
	count = owner_collect(trid, events, (size_t)ROUNDS, 5000);
	PXT_EQ(count, ROUNDS);
	for (size_t i = 0; i < count; i++)
		PXT_EQ(events[i].data[0], i % 256);
	producer_end(&producer);
	owner_close(trid);
}
