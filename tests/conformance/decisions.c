/* SPDX-License-Identifier: MIT */
/*
 * decisions.c - where the standard leaves a choice and the library has made it: addresses, clock,
 * order, files and descriptors.
 */
#include "../suite_trace.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <trace.h>
#include <trace_np.h>
#include <unistd.h>

#if PXT_CAN_WATCH

/* The calls below must not become jumps, or the return address is another function's. */
static volatile int calls_made;

__attribute__((noinline)) static void record_here(trace_event_id_t id)
{
	posix_trace_event(id, "h", 1);
	calls_made++;
}

__attribute__((noinline)) static void record_there(trace_event_id_t id)
{
	posix_trace_event(id, "t", 1);
	calls_made++;
}

__attribute__((noinline)) static void start_here(trace_id_t trid)
{
	PXT_EQ(posix_trace_start(trid), 0);
	calls_made++;
}

/* Whether @address lies in the first bytes of @function. */
static bool within(void *address, uintptr_t function)
{
	return (uintptr_t)address > function && (uintptr_t)address < function + 400;
}

/* DEC-17, INF-03, CON-22 */
PXT_TEST(the_program_address_is_that_of_the_call)
{
	struct pxt_event event;
	trace_event_id_t id = pxt_open_event("decisions_address");
	trace_id_t trid = pxt_stream(0, 0, 0);
	uintptr_t expected[3] = { (uintptr_t)start_here, (uintptr_t)record_here,
		(uintptr_t)record_there };

	if (!CONFIG_PTRACE_RECORD_ADDRESS) {
		PXT_EQ(posix_trace_shutdown(trid), 0);
		pxt_skip("program addresses are not recorded");
		return;
	}
	start_here(trid);
	record_here(id);
	record_there(id);
	for (size_t i = CONFIG_PTRACE_SYSEV_START_STOP ? 0 : 1; i < 3; i++) {
		CU_ASSERT_FATAL(pxt_next(trid, &event));
		PXT_CHECK(within(event.info.posix_prog_address, expected[i]),
		    "event %zu: %p is not behind %#lx", i, event.info.posix_prog_address,
		    (unsigned long)expected[i]);
	}
	PXT_EQ(posix_trace_shutdown(trid), 0);
}

/* DEC-17, DEC-39, INF-03 */
PXT_TEST(automatic_events_have_no_program_address)
{
	struct posix_trace_status_info status = { .posix_stream_status = POSIX_TRACE_RUNNING };
	struct pxt_event event;
	trace_event_id_t id = pxt_open_event("decisions_automatic");
	size_t automatic = 0;

	if (!pxt_stream_policy_exists(POSIX_TRACE_UNTIL_FULL) || !CONFIG_PTRACE_SYSEV_START_STOP) {
		pxt_skip("no automatic events");
		return;
	}
	trace_id_t trid = pxt_running_stream(2048, 0, POSIX_TRACE_UNTIL_FULL);
	for (int i = 0; i < 10000 && status.posix_stream_status == POSIX_TRACE_RUNNING; i++) {
		posix_trace_event(id, &i, sizeof(i));
		PXT_EQ(posix_trace_get_status(trid, &status), 0);
	}
	while (pxt_next(trid, &event)) {
		if (event.info.posix_event_id == id)
			continue;
		CU_ASSERT_PTR_NULL(event.info.posix_prog_address);
		PXT_EQ(event.info.posix_pid, getpid());
		automatic++;
	}
	PXT_EQ(automatic, 2);
	PXT_EQ(posix_trace_shutdown(trid), 0);
}

/* DEC-18, TIM-01, TIM-02, INF-06, INF-07 */
PXT_TEST(stamps_lie_on_the_realtime_line_of_the_creation_time)
{
	const long long tolerance = 2000000;
	struct timespec created = { 0, 0 };
	struct pxt_event event;
	trace_attr_t attr;
	trace_event_id_t id = pxt_open_event("decisions_clock");
	trace_id_t trid = pxt_running_stream(0, 0, 0);

	PXT_EQ(posix_trace_get_attr(trid, &attr), 0);
	PXT_EQ(posix_trace_attr_getcreatetime(&attr, &created), 0);
	for (int i = 0; i < 20; i++) {
		long long before = pxt_now_ns();
		posix_trace_event(id, NULL, 0);
		long long after = pxt_now_ns();
		CU_ASSERT_FATAL(pxt_next(trid, &event));
		long long stamp = pxt_ns(&event.info.posix_timestamp);
		PXT_CHECK(stamp >= before - tolerance && stamp <= after + tolerance,
		    "stamp %lld is not in %lld..%lld", stamp, before, after);
		CU_ASSERT(stamp >= pxt_ns(&created));
		CU_ASSERT(event.info.posix_timestamp.tv_nsec >= 0 &&
		          event.info.posix_timestamp.tv_nsec < 1000000000L);
		pxt_sleep_ms(3);
	}
	PXT_EQ(posix_trace_shutdown(trid), 0);
}

#define TURNS 400
static pthread_mutex_t turn_lock = PTHREAD_MUTEX_INITIALIZER;
static int turn;
static trace_event_id_t turn_event;

/* Two threads record in turns; the mutex puts each event before the next. */
static void *take_turns(void *argument)
{
	int parity = argument != NULL;
	int mine = 0;

	while (mine < TURNS / 2) {
		pthread_mutex_lock(&turn_lock);
		if (turn % 2 == parity) {
			posix_trace_event(turn_event, &turn, sizeof(turn));
			turn++;
			mine++;
		}
		pthread_mutex_unlock(&turn_lock);
		sched_yield();
	}
	return NULL;
}

static void check_order(trace_id_t trid)
{
	struct pxt_event event;
	pthread_t threads[2];
	long long last = 0;
	int next = 0;
	static char odd;

	turn = 0;
	turn_event = pxt_open_event("decisions_turn");
	PXT_EQ_FATAL(pthread_create(&threads[0], NULL, take_turns, NULL), 0);
	PXT_EQ_FATAL(pthread_create(&threads[1], NULL, take_turns, &odd), 0);
	pthread_join(threads[0], NULL);
	pthread_join(threads[1], NULL);
	while (pxt_next(trid, &event)) {
		int number = -1;
		if (event.info.posix_event_id != turn_event)
			continue;
		memcpy(&number, event.data, sizeof(number));
		PXT_CHECK(number == next, "turn %d came for %d", number, next);
		next++;
		PXT_CHECK(pxt_ns(&event.info.posix_timestamp) >= last, "time runs back at turn %d",
		    number);
		last = pxt_ns(&event.info.posix_timestamp);
	}
	PXT_EQ(next, TURNS);
	PXT_EQ(posix_trace_shutdown(trid), 0);
}

/* DEC-19, TIM-03, TIM-06 */
PXT_TEST(what_happened_before_is_reported_before_on_one_lane)
{
	trace_attr_t attr;

	pxt_attr(&attr, 1 << 16, 0, 0);
	PXT_EQ(posix_trace_attr_setlanes_np(&attr, 1), 0);
	trace_id_t trid = pxt_any_stream(&attr);
	PXT_EQ(posix_trace_start(trid), 0);
	check_order(trid);
}

/* DEC-19, TIM-03, TIM-06 */
PXT_TEST(what_happened_before_is_reported_before_with_ordered_stamps)
{
	trace_attr_t attr;

	pxt_attr(&attr, 1 << 16, 0, 0);
	PXT_EQ(posix_trace_attr_setorderedstamps_np(&attr, 1), 0);
	trace_id_t trid = pxt_any_stream(&attr);
	PXT_EQ(posix_trace_start(trid), 0);
	check_order(trid);
}

/* DEC-19, TIM-04 */
PXT_TEST(a_thread_reads_its_own_events_in_program_order)
{
	struct pxt_event event;
	trace_event_id_t id = pxt_open_event("decisions_program_order");
	trace_id_t trid = pxt_running_stream(1 << 16, 0, 0);
	int next = 0;

	for (int i = 0; i < 1000; i++)
		posix_trace_event(id, &i, sizeof(i));
	while (pxt_next(trid, &event)) {
		int number = -1;
		memcpy(&number, event.data, sizeof(number));
		PXT_EQ(number, next);
		next++;
	}
	PXT_EQ(next, 1000);
	PXT_EQ(posix_trace_shutdown(trid), 0);
}
#endif

#if _PXT_UNIT_USEREVENTS
/* DEC-32, EVENT-04 */
PXT_TEST(a_trace_point_leaves_errno_alone)
{
	errno = 4321;
	posix_trace_event(POSIX_TRACE_UNNAMED_USEREVENT, "x", 1);
	posix_trace_event(0, NULL, 0);
	posix_trace_event((trace_event_id_t)-1, "x", 1);
	PXT_EQ(errno, 4321);
}
#endif

/* ---- Files and descriptors ---- */

#if PXT_CAN_LOG && _PXT_UNIT_USEREVENTS

static int log_with_policy(int fd, int policy, trace_id_t *trid)
{
	trace_attr_t attr;

	pxt_attr(&attr, 0, 0, 0);
	PXT_EQ(posix_trace_attr_setlogfullpolicy(&attr, policy), 0);
	return posix_trace_create_withlog(0, &attr, fd, trid);
}

static void record_ten(trace_id_t trid)
{
	trace_event_id_t id = pxt_open_event("decisions_logged");

	PXT_EQ(posix_trace_start(trid), 0);
	for (int i = 0; i < 10; i++)
		posix_trace_event(id, &i, sizeof(i));
	PXT_EQ(posix_trace_shutdown(trid), 0);
}

static void expect_ten(int fd)
{
	trace_event_id_t id = pxt_open_event("decisions_logged");
	trace_id_t trid = pxt_open_log(fd);
	struct pxt_event event;
	int next = 0;

	while (pxt_log_next(trid, &event)) {
		int number = -1;
		if (event.info.posix_event_id != id)
			continue;
		memcpy(&number, event.data, sizeof(number));
		PXT_EQ(number, next);
		next++;
	}
	PXT_EQ(next, 10);
	PXT_EQ(posix_trace_close(trid), 0);
}

/* DEC-21, LOGP-05 */
PXT_TEST(a_regular_file_is_rewritten_from_its_start_under_every_policy)
{
	static const int policies[] = { POSIX_TRACE_LOOP, POSIX_TRACE_UNTIL_FULL,
		POSIX_TRACE_APPEND };

	for (size_t i = 0; i < 3; i++) {
		char path[] = "/tmp/pxt-test-XXXXXX";
		char rubbish[3000];
		trace_id_t trid = 0;
		if (!pxt_log_policy_exists(policies[i]))
			continue;
		int reader = mkstemp(path);
		CU_ASSERT_FATAL(reader >= 0);
		/* A descriptor for writing only, with old bytes before and after its offset. */
		int fd = open(path, O_WRONLY);
		unlink(path);
		memset(rubbish, 'r', sizeof(rubbish));
		CU_ASSERT(write(fd, rubbish, sizeof(rubbish)) == (ssize_t)sizeof(rubbish));
		lseek(fd, 1234, SEEK_SET);
		PXT_EQ_FATAL(log_with_policy(fd, policies[i], &trid), 0);
		record_ten(trid);
		expect_ten(reader);
		close(fd);
		close(reader);
	}
}

/* DEC-21, LOGP-05 */
PXT_TEST(an_empty_append_only_file_takes_an_appended_log)
{
	int fd = pxt_temp_file();
	trace_id_t trid = 0;

	if (!pxt_log_policy_exists(POSIX_TRACE_APPEND)) {
		close(fd);
		pxt_skip("no APPEND policy");
		return;
	}
	CU_ASSERT_FATAL(fcntl(fd, F_SETFL, O_APPEND) == 0);
	PXT_EQ_FATAL(log_with_policy(fd, POSIX_TRACE_APPEND, &trid), 0);
	record_ten(trid);
	expect_ten(fd);
	close(fd);
}

struct copier {
	int from;
	int to;
};

static void *copy_all(void *argument)
{
	const struct copier *copier = argument;
	char buffer[4096];
	ssize_t got;

	while ((got = read(copier->from, buffer, sizeof(buffer))) > 0) {
		if (write(copier->to, buffer, (size_t)got) != got)
			break;
	}
	return NULL;
}

/* What goes through a pipe or a socket is a log as well, once it is in a file. */
static void log_through(int out, int in)
{
	struct copier copier = { .from = in, .to = pxt_temp_file() };
	trace_id_t trid = 0;
	pthread_t thread;

	PXT_EQ_FATAL(pthread_create(&thread, NULL, copy_all, &copier), 0);
	PXT_EQ_FATAL(log_with_policy(out, POSIX_TRACE_APPEND, &trid), 0);
	record_ten(trid);
	close(out);
	pthread_join(thread, NULL);
	expect_ten(copier.to);
	close(in);
	close(copier.to);
}

/* DEC-21, LOGP-05, LPT-06, LPT-08 */
PXT_TEST(pipes_and_sockets_take_an_appended_log)
{
	int ends[2];

	if (!pxt_log_policy_exists(POSIX_TRACE_APPEND)) {
		pxt_skip("no APPEND policy");
		return;
	}
	CU_ASSERT_FATAL(pipe(ends) == 0);
	log_through(ends[1], ends[0]);
	CU_ASSERT_FATAL(socketpair(AF_UNIX, SOCK_STREAM, 0, ends) == 0);
	log_through(ends[1], ends[0]);
}

static bool is_open(int fd)
{
	return fcntl(fd, F_GETFD) != -1;
}

/* DEC-22, CLOSE-01, CON-12 */
PXT_TEST(the_applications_descriptors_stay_open_and_are_not_needed)
{
	int fd = pxt_temp_file();
	int other = dup(fd);
	trace_id_t trid = pxt_log_stream(NULL, fd);

	CU_ASSERT(is_open(fd));
	record_ten(trid);
	CU_ASSERT(is_open(fd));
	trid = pxt_open_log(fd);
	PXT_EQ(posix_trace_close(trid), 0);
	CU_ASSERT(is_open(fd));
	/* Closed after the library's back, neither writing nor reading minds. */
	trid = pxt_log_stream(NULL, fd);
	close(fd);
	record_ten(trid);
	fd = dup(other);
	trid = pxt_open_log(fd);
	close(fd);
	PXT_EQ(posix_trace_rewind(trid), 0);
	struct pxt_event event;
	size_t count = 0;
	while (pxt_log_next(trid, &event))
		count++;
	CU_ASSERT(count >= 10);
	PXT_EQ(posix_trace_close(trid), 0);
	expect_ten(other);
	close(other);
}

/* DEC-22, CLOSE-01, SHUT-01 */
PXT_TEST(no_descriptor_is_left_behind)
{
	int fd = pxt_temp_file();
	int lowest = dup(fd);

	close(lowest);
	for (int i = 0; i < 10; i++) {
		trace_id_t trid = pxt_log_stream(NULL, fd);
		record_ten(trid);
		trid = pxt_open_log(fd);
		PXT_EQ(posix_trace_close(trid), 0);
	}
	int now = dup(fd);
	PXT_EQ(now, lowest);
	close(now);
	close(fd);
}

/* DEC-22, DEC-24 */
PXT_TEST(descriptors_of_the_library_are_closed_by_exec)
{
	int fd = pxt_temp_file();
	int lowest = dup(fd);

	close(lowest);
	trace_id_t trid = pxt_log_stream(NULL, fd);
	for (int i = lowest; i < lowest + 4; i++) {
		if (is_open(i))
			CU_ASSERT(fcntl(i, F_GETFD) & FD_CLOEXEC);
	}
	PXT_EQ(posix_trace_shutdown(trid), 0);
	close(fd);
}

/* DEC-30, OPEN-E2, LOGP-07 */
PXT_TEST(a_damaged_or_short_log_is_refused)
{
	int fd = pxt_temp_file();
	trace_id_t trid = pxt_log_stream(NULL, fd);
	struct stat status;
	unsigned char byte = 0;

	record_ten(trid);
	CU_ASSERT_FATAL(fstat(fd, &status) == 0);
	CU_ASSERT_FATAL(pread(fd, &byte, 1, 0) == 1);
	byte ^= 0xff;
	CU_ASSERT_FATAL(pwrite(fd, &byte, 1, 0) == 1);
	lseek(fd, 0, SEEK_SET);
	PXT_EQ(posix_trace_open(fd, &trid), EINVAL);
	byte ^= 0xff;
	CU_ASSERT_FATAL(pwrite(fd, &byte, 1, 0) == 1);
	expect_ten(fd);
	for (off_t cut = 1; cut < 200 && cut < status.st_size; cut += 13) {
		CU_ASSERT_FATAL(ftruncate(fd, status.st_size - cut) == 0);
		lseek(fd, 0, SEEK_SET);
		PXT_CHECK(
		    posix_trace_open(fd, &trid) == EINVAL, "opened without %ld bytes", (long)cut);
	}
	close(fd);
}
#endif
