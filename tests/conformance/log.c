/* SPDX-License-Identifier: MIT */
/* log.c - streams with a log: policies, flushes, errors, and what is read back. */
#define _GNU_SOURCE /* unshare(): a small file system of our own, to be filled */
#include "story.h"

#include "../suite.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define NEVER ((trace_id_t)0x5a5a5a5a)
#define MARKS "FLUSH_START FLUSH_STOP"

/* A stream with a log in a new file; the policies as given (0: default). */
static trace_id_t logging(struct st_spec *spec)
{
	spec->with_log = true;
	spec->fd = st_file();
	return st_started(spec);
}

static trace_id_t open_log(int fd)
{
	trace_id_t trid = 0;

	PXT_EQ_FATAL(posix_trace_open(fd, &trid), 0);
	return trid;
}

/* Shuts the stream down and opens its log. */
static trace_id_t finish(trace_id_t trid, const struct st_spec *spec)
{
	PXT_EQ(posix_trace_shutdown(trid), 0);
	return open_log(spec->fd);
}

static void close_log(trace_id_t log, int fd)
{
	PXT_EQ(posix_trace_close(log), 0);
	PXT_EQ(close(fd), 0);
}

static void say_many(int first, int last)
{
	for (int i = first; i <= last; i++)
		st_say(i);
}

/* A log file on which bytes were written by somebody else. */
static int foreign_file(const void *bytes, size_t len)
{
	int fd = st_file();

	PXT_EQ(write(fd, bytes, len), len);
	return fd;
}

/* ---- A log gives back what the stream had ---- */

/* CON-09, SHUT-05, OPEN-01, OPEN-02, LOGP-06, ASSFP-03 */
static void a_log_holds_all_events_of_the_stream_in_order(void)
{
	for (int policy = POSIX_TRACE_LOOP; policy <= POSIX_TRACE_FLUSH; policy++) {
		struct st_spec spec = { .policy = policy, .max_data = 300, .size = 1 << 17 };
		trace_id_t trid = logging(&spec);
		trace_id_t log;
		struct st_event event;

		for (int i = 4; i <= 300; i++)
			st_say_long(i, (size_t)i);
		log = finish(trid, &spec);
		for (int i = 4; i <= 300; i++) {
			CU_ASSERT_FATAL(st_take_user(log, &event));
			PXT_EQ(st_number(&event), i);
			PXT_EQ(event.len, i);
			PXT_EQ(event.info.posix_truncation_status, POSIX_TRACE_NOT_TRUNCATED);
			PXT_EQ(event.info.posix_pid, getpid());
			CU_ASSERT(pthread_equal(event.info.posix_thread_id, pthread_self()));
			CU_ASSERT_PTR_NOT_NULL(event.info.posix_prog_address);
			CU_ASSERT(st_data_intact(&event));
		}
		st_expect_without(log, MARKS, "STOP0");
		close_log(log, spec.fd);
	}
}

/* OPEN-05, LOGP-06, GATTR-01, AGCLK-02, AGGEN-03, EVNAM-04, CON-20 */
static void a_log_has_the_attributes_and_names_of_its_stream(void)
{
	struct st_spec spec = { .with_log = true, .fd = st_file() };
	trace_attr_t attr;
	trace_attr_t before;
	trace_attr_t after;
	trace_id_t trid = 0;
	trace_id_t log;
	trace_event_id_t id = 0;
	char names[2][TRACE_EVENT_NAME_MAX + 1];
	struct timespec times[2];
	size_t sizes[2];
	int policies[2];

	PXT_EQ(posix_trace_attr_init(&attr), 0);
	PXT_EQ(posix_trace_attr_setname(&attr, "logged"), 0);
	PXT_EQ(posix_trace_attr_setmaxdatasize(&attr, 77), 0);
	PXT_EQ(posix_trace_attr_setlogfullpolicy(&attr, POSIX_TRACE_APPEND), 0);
	PXT_EQ_FATAL(posix_trace_create_withlog(0, &attr, spec.fd, &trid), 0);
	PXT_EQ(posix_trace_eventid_open("only in the log", &id), 0);
	PXT_EQ(posix_trace_get_attr(trid, &before), 0);
	st_sleep_ms(5);
	log = finish(trid, &spec);
	PXT_EQ(posix_trace_get_attr(log, &after), 0);

	const trace_attr_t *const both[2] = { &before, &after };
	for (int i = 0; i < 2; i++) {
		char name[TRACE_NAME_MAX + 1];

		PXT_EQ(posix_trace_attr_getname(both[i], name), 0);
		CU_ASSERT_STRING_EQUAL(name, "logged");
		PXT_EQ(posix_trace_attr_getmaxdatasize(both[i], &sizes[i]), 0);
		PXT_EQ(sizes[i], 77);
		PXT_EQ(posix_trace_attr_getstreamfullpolicy(both[i], &policies[i]), 0);
		PXT_EQ(policies[i], POSIX_TRACE_FLUSH);
		PXT_EQ(posix_trace_attr_getlogfullpolicy(both[i], &policies[i]), 0);
		PXT_EQ(policies[i], POSIX_TRACE_APPEND);
	}
	PXT_EQ(posix_trace_attr_getcreatetime(&before, &times[0]), 0);
	PXT_EQ(posix_trace_attr_getcreatetime(&after, &times[1]), 0);
	PXT_EQ(st_ns(&times[0]), st_ns(&times[1]));
	PXT_EQ(posix_trace_attr_getclockres(&before, &times[0]), 0);
	PXT_EQ(posix_trace_attr_getclockres(&after, &times[1]), 0);
	PXT_EQ(st_ns(&times[0]), st_ns(&times[1]));
	PXT_EQ(posix_trace_attr_getgenversion(&before, names[0]), 0);
	PXT_EQ(posix_trace_attr_getgenversion(&after, names[1]), 0);
	CU_ASSERT_STRING_EQUAL(names[0], names[1]);
	PXT_EQ(posix_trace_attr_getstreamsize(&before, &sizes[0]), 0);
	PXT_EQ(posix_trace_attr_getstreamsize(&after, &sizes[1]), 0);
	PXT_EQ(sizes[0], sizes[1]);
	PXT_EQ(posix_trace_attr_getlogsize(&before, &sizes[0]), 0);
	PXT_EQ(posix_trace_attr_getlogsize(&after, &sizes[1]), 0);
	PXT_EQ(sizes[0], sizes[1]);
	PXT_EQ(posix_trace_eventid_get_name(log, id, names[0]), 0);
	CU_ASSERT_STRING_EQUAL(names[0], "only in the log");
	close_log(log, spec.fd);
}

/* STA-07, OPEN-05, DEC-28, LOGP-08 */
static void the_status_of_a_log_is_that_at_shutdown_and_reading_does_not_reset_it(void)
{
	struct st_spec spec = {
		.policy = POSIX_TRACE_LOOP, .size = 1024, .log_policy = POSIX_TRACE_APPEND
	};
	trace_id_t trid = logging(&spec);
	trace_id_t log;

	say_many(1, 1000);
	log = finish(trid, &spec);
	for (int i = 0; i < 3; i++) {
		struct posix_trace_status_info status;

		PXT_EQ(posix_trace_get_status(log, &status), 0);
		PXT_EQ(status.posix_stream_status, POSIX_TRACE_SUSPENDED);
		PXT_EQ(status.posix_stream_overrun_status, POSIX_TRACE_OVERRUN);
		PXT_EQ(status.posix_stream_flush_status, POSIX_TRACE_NOT_FLUSHING);
		PXT_EQ(status.posix_stream_flush_error, 0);
	}
	close_log(log, spec.fd);
}

/* CON-11 */
static void writing_and_reading_a_log_marks_the_times_of_its_file(void)
{
	const struct timespec old[2] = { { 1000000, 0 }, { 1000000, 0 } };
	struct st_spec spec = { .policy = POSIX_TRACE_LOOP };
	trace_id_t trid = logging(&spec);
	int control = foreign_file("control", 7);
	struct stat status;
	trace_id_t log;
	char byte;

	st_say(1);
	PXT_EQ(futimens(spec.fd, old), 0);
	PXT_EQ(posix_trace_flush(trid), 0);
	PXT_EQ(posix_trace_shutdown(trid), 0);
	PXT_EQ(fstat(spec.fd, &status), 0);
	CU_ASSERT(status.st_mtim.tv_sec > 1000000);
	CU_ASSERT(status.st_ctim.tv_sec > 1000000);

	PXT_EQ(futimens(spec.fd, old), 0);
	PXT_EQ(futimens(control, old), 0);
	log = open_log(spec.fd);
	st_expect_without(log, MARKS, "START 1 STOP0");
	PXT_EQ(pread(control, &byte, 1, 0), 1);
	PXT_EQ(fstat(control, &status), 0);
	bool marks_reads = status.st_atim.tv_sec > 1000000; /* not on noatime mounts */
	PXT_EQ(fstat(spec.fd, &status), 0);
	CU_ASSERT((status.st_atim.tv_sec > 1000000) == marks_reads);
	close_log(log, spec.fd);
	(void)close(control);
}

/* ---- Create ---- */

/* CRLOG-03, CRLOG-04, AGSFP-03, CRLOG-01, CREATE-03, POL-01, DEC-06 */
static void with_a_log_the_default_policy_is_flush_and_all_three_are_accepted(void)
{
	const int wanted[] = { 0, POSIX_TRACE_LOOP, POSIX_TRACE_UNTIL_FULL, POSIX_TRACE_FLUSH };

	for (size_t i = 0; i < 4; i++) {
		struct st_spec spec = { .policy = wanted[i], .with_log = true, .fd = st_file() };
		trace_id_t trid = st_create(&spec);
		trace_attr_t attr;
		int policy = 0;

		st_expect_status(trid, "SUSPENDED NOT_FULL NO_OVERRUN");
		PXT_EQ(posix_trace_get_attr(trid, &attr), 0);
		PXT_EQ(posix_trace_attr_getstreamfullpolicy(&attr, &policy), 0);
		PXT_EQ(policy, wanted[i] != 0 ? wanted[i] : POSIX_TRACE_FLUSH);
		PXT_EQ(posix_trace_shutdown(trid), 0);
		(void)close(spec.fd);
	}
}

/* CRLOG-01, CREATE-07, CREATE-E1, CREATE-10, SHUT-08, DEC-33 */
static void streams_with_log_count_for_the_maximum_and_failures_leak_nothing(void)
{
	trace_id_t trids[TRACE_SYS_MAX];
	int fd = st_file();
	int read_only = open("/dev/null", O_RDONLY);

	for (int i = 0; i < 3 * TRACE_SYS_MAX; i++) {
		trace_id_t none = NEVER;

		PXT_EQ(posix_trace_create_withlog(0, NULL, read_only, &none), EBADF);
		PXT_EQ(posix_trace_create_withlog(-1, NULL, fd, &none), ESRCH);
		CU_ASSERT(none == NEVER);
	}
	for (size_t i = 0; i < TRACE_SYS_MAX; i++) {
		struct st_spec spec = { .with_log = true, .fd = st_file() };

		trids[i] = st_create(&spec);
		(void)close(spec.fd);
	}
	trace_id_t none = NEVER;
	PXT_EQ(posix_trace_create_withlog(0, NULL, fd, &none), EAGAIN);
	PXT_EQ(posix_trace_create(0, NULL, &none), EAGAIN);
	CU_ASSERT(none == NEVER);
	for (size_t i = 0; i < TRACE_SYS_MAX; i++)
		PXT_EQ(posix_trace_shutdown(trids[i]), 0);
	(void)close(fd);
	(void)close(read_only);
}

/* CRLOG-E1, DEC-33 */
static void a_descriptor_that_is_not_open_for_writing_is_ebadf(void)
{
	int fd = open("/dev/null", O_RDONLY);
	trace_id_t trid = NEVER;

	PXT_EQ(posix_trace_create_withlog(0, NULL, -1, &trid), EBADF);
	PXT_EQ(posix_trace_create_withlog(0, NULL, 1 << 20, &trid), EBADF);
	PXT_EQ(posix_trace_create_withlog(0, NULL, fd, &trid), EBADF);
	(void)close(fd);
	PXT_EQ(posix_trace_create_withlog(0, NULL, fd, &trid), EBADF);
	CU_ASSERT(trid == NEVER);
}

/* CRLOG-01, DEC-21, DEC-22: a write-only descriptor, its offset anywhere, closed early */
static void a_write_only_descriptor_is_enough_and_its_offset_does_not_matter(void)
{
	int fd = foreign_file("something older and longer than nothing", 39);
	char path[64];
	trace_id_t trid = 0;
	trace_id_t log;

	(void)snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	int writer = open(path, O_WRONLY);
	CU_ASSERT_FATAL(writer >= 0);
	PXT_EQ(lseek(writer, 20, SEEK_SET), 20);
	PXT_EQ_FATAL(posix_trace_create_withlog(0, NULL, writer, &trid), 0);
	PXT_EQ(posix_trace_start(trid), 0);
	st_say(1);
	PXT_EQ(fcntl(writer, F_GETFD) >= 0, 1);
	(void)close(writer);
	PXT_EQ(posix_trace_shutdown(trid), 0);
	log = open_log(fd);
	st_expect(log, "START 1 STOP0");
	close_log(log, fd);
}

static trace_id_t create_on(int fd, int log_policy, int *error)
{
	trace_attr_t attr;
	trace_id_t trid = 0;

	PXT_EQ(posix_trace_attr_init(&attr), 0);
	PXT_EQ(posix_trace_attr_setlogfullpolicy(&attr, log_policy), 0);
	*error = posix_trace_create_withlog(0, &attr, fd, &trid);
	return trid;
}

/* CRLOG-E2, LOGP-05, DEC-21 */
static void each_kind_of_file_takes_the_log_policies_it_can_do(void)
{
	enum {
		REGULAR,
		APPENDING,
		APPENDING_OLD,
		PIPE,
		SOCKET,
		DEVICE,
		KINDS
	};
	static const char *const names[KINDS] = { "regular", "O_APPEND", "O_APPEND, not empty",
		"pipe", "socket", "device" };
	static const int policies[] = { POSIX_TRACE_LOOP, POSIX_TRACE_UNTIL_FULL,
		POSIX_TRACE_APPEND };

	for (int kind = 0; kind < KINDS; kind++) {
		for (int i = 0; i < 3; i++) {
			int fds[2] = { -1, -1 };
			int error = -1;
			bool fine = kind == REGULAR ||
			            (kind != APPENDING_OLD && policies[i] == POSIX_TRACE_APPEND);

			if (kind <= APPENDING_OLD)
				fds[1] = kind == APPENDING_OLD ? foreign_file("x", 1) : st_file();
			if (kind == APPENDING || kind == APPENDING_OLD)
				(void)fcntl(fds[1], F_SETFL, O_APPEND);
			if (kind == PIPE)
				PXT_EQ(pipe(fds), 0);
			if (kind == SOCKET)
				PXT_EQ(socketpair(AF_UNIX, SOCK_STREAM, 0, fds), 0);
			if (kind == DEVICE)
				fds[1] = open("/dev/null", O_WRONLY);
			trace_id_t trid = create_on(fds[1], policies[i], &error);
			PXT_CHECK(error == (fine ? 0 : EINVAL), "%s, policy %d: error %d",
			    names[kind], policies[i], error);
			if (error == 0)
				PXT_EQ(posix_trace_shutdown(trid), 0);
			(void)close(fds[1]);
			if (fds[0] >= 0)
				(void)close(fds[0]);
		}
	}
}

/* LOGP-05, DEC-21, LOGP-03: what went through a pipe is a log when it is put into a file */
static void a_log_that_went_through_a_pipe_can_be_read(void)
{
	int fds[2];
	int error = 0;
	int fd = st_file();
	char bytes[65536];
	ssize_t got;
	trace_id_t log;

	PXT_EQ_FATAL(pipe(fds), 0);
	trace_id_t trid = create_on(fds[1], POSIX_TRACE_APPEND, &error);
	PXT_EQ_FATAL(error, 0);
	PXT_EQ(posix_trace_start(trid), 0);
	say_many(1, 20);
	PXT_EQ(posix_trace_shutdown(trid), 0);
	(void)close(fds[1]);
	while ((got = read(fds[0], bytes, sizeof(bytes))) > 0)
		PXT_EQ(write(fd, bytes, (size_t)got), got);
	(void)close(fds[0]);
	log = open_log(fd);
	st_expect(log, "START 1..20 STOP0");
	close_log(log, fd);
}

/* DEC-07 */
static void a_log_size_without_room_for_anything_is_einval(void)
{
	const int policies[] = { POSIX_TRACE_LOOP, POSIX_TRACE_UNTIL_FULL };
	int fd = st_file();

	for (int i = 0; i < 2; i++) {
		trace_attr_t attr;
		trace_id_t trid = NEVER;

		PXT_EQ(posix_trace_attr_init(&attr), 0);
		PXT_EQ(posix_trace_attr_setlogfullpolicy(&attr, policies[i]), 0);
		PXT_EQ(posix_trace_attr_setlogsize(&attr, 1), 0);
		PXT_EQ(posix_trace_create_withlog(0, &attr, fd, &trid), EINVAL);
		CU_ASSERT(trid == NEVER);
	}
	(void)close(fd);
}

/* CRLOG-02, GETNX-09, TRYNX-E1, GETNX-E1, TIMED-E1, REWIND-E1, CLOSE-02, DEC-16 */
static void a_stream_with_log_is_not_read_rewound_or_closed(void)
{
	struct st_spec spec = { .policy = POSIX_TRACE_LOOP };
	trace_id_t trid = logging(&spec);
	struct posix_trace_event_info info;
	const struct timespec late = st_in_ms(60000);
	size_t len = 0;
	int gone = 0;
	trace_id_t log;

	st_say(1);
	PXT_EQ(posix_trace_getnext_event(trid, &info, NULL, 0, &len, &gone), EINVAL);
	CU_ASSERT(gone != 0);
	PXT_EQ(posix_trace_trygetnext_event(trid, &info, NULL, 0, &len, &gone), EINVAL);
	PXT_EQ(posix_trace_timedgetnext_event(trid, &info, NULL, 0, &len, &gone, &late), EINVAL);
	PXT_EQ(posix_trace_rewind(trid), EINVAL);
	PXT_EQ(posix_trace_close(trid), EINVAL);
	st_say(2);
	log = finish(trid, &spec);
	st_expect(log, "START 1..2 STOP0");
	close_log(log, spec.fd);
}

/* ---- Log-full policies ---- */

/* LOGP-01, LOGP-08, LOGP-09, OPEN-02, FLUSH-04 */
static void a_looping_log_keeps_the_most_recent_events(void)
{
	struct st_spec spec = { .policy = POSIX_TRACE_LOOP,
		.size = 1 << 14,
		.log_policy = POSIX_TRACE_LOOP,
		.log_size = 1 << 16 };
	trace_id_t trid = logging(&spec);
	struct posix_trace_status_info status;
	struct st_event event;
	trace_id_t log;
	int next;

	for (int i = 0; i < 100; i++) {
		say_many(i * 300 + 1, i * 300 + 300);
		PXT_EQ_FATAL(posix_trace_flush(trid), 0);
	}
	PXT_EQ(posix_trace_get_status(trid, &status), 0);
	PXT_EQ(status.posix_stream_overrun_status, POSIX_TRACE_NO_OVERRUN);
	PXT_EQ(status.posix_log_overrun_status, POSIX_TRACE_OVERRUN);
	PXT_EQ(status.posix_log_full_status, POSIX_TRACE_FULL);
	PXT_EQ(posix_trace_get_status(trid, &status), 0);
	PXT_EQ(status.posix_log_overrun_status, POSIX_TRACE_NO_OVERRUN);
	log = finish(trid, &spec);
	CU_ASSERT_FATAL(st_take_user(log, &event));
	next = st_number(&event);
	PXT_CHECK(next > 1 && next <= 30000 - 500, "the log begins with %d", next);
	st_expect_without(log, "FLUSH_START FLUSH_STOP", st_text("%d..30000 STOP0", next + 1));
	close_log(log, spec.fd);
}

/* LOGP-02, LOGP-08, LOGP-09, FLUSH-04, DEC-14 */
static void a_log_until_full_ends_with_an_automatic_stop(void)
{
	struct st_spec spec = { .policy = POSIX_TRACE_LOOP,
		.size = 1 << 14,
		.log_policy = POSIX_TRACE_UNTIL_FULL,
		.log_size = 1 << 15 };
	trace_id_t trid = logging(&spec);
	struct posix_trace_status_info status;
	trace_id_t log;
	const char *story;
	int fitting;

	for (int i = 0; i < 20; i++) {
		say_many(i * 300 + 1, i * 300 + 300);
		PXT_EQ_FATAL(posix_trace_flush(trid), 0);
	}
	PXT_EQ(posix_trace_get_status(trid, &status), 0);
	PXT_EQ(status.posix_stream_status, POSIX_TRACE_SUSPENDED);
	PXT_EQ(status.posix_log_full_status, POSIX_TRACE_FULL);
	PXT_EQ(status.posix_log_overrun_status, POSIX_TRACE_OVERRUN);
	PXT_EQ(posix_trace_start(trid), 0);
	st_expect_status(trid, "SUSPENDED NOT_FULL NO_OVERRUN");
	fitting = st_fitting(trid, (1 << 15) - 2048, sizeof(int));
	log = finish(trid, &spec);
	PXT_EQ(posix_trace_get_status(log, &status), 0);
	PXT_EQ(status.posix_log_full_status, POSIX_TRACE_FULL);
	story = st_story_of(log, 1 << 30);
	CU_ASSERT(strncmp(story, "START 1..", 9) == 0);
	CU_ASSERT(strlen(story) > 6 && strcmp(story + strlen(story) - 6, " STOP1") == 0);
	PXT_EQ(posix_trace_rewind(log), 0);
	int kept = 0;
	struct st_event event;
	while (st_take_user(log, &event))
		kept += st_number(&event) == kept + 1;
	PXT_CHECK(kept >= fitting && kept < 6000, "%d events kept, %d fit", kept, fitting);
	close_log(log, spec.fd);
}

/* LOGP-04, AGLSZ-01, ASLSZ-02 */
static void the_log_size_bounds_the_bytes_of_events_only(void)
{
	const size_t log_size = 1 << 15;
	struct st_spec spec = { .policy = POSIX_TRACE_LOOP,
		.size = 1 << 17,
		.log_policy = POSIX_TRACE_UNTIL_FULL,
		.log_size = log_size };
	trace_id_t trid = logging(&spec);
	trace_attr_t attr;
	size_t system = 0;
	trace_id_t log;
	int fitting;

	PXT_EQ(posix_trace_get_attr(trid, &attr), 0);
	PXT_EQ(posix_trace_attr_getmaxsystemeventsize(&attr, &system), 0);
	/* START, the automatic STOP's place, the STOP, and the events. */
	fitting = st_fitting(trid, log_size - 3 * system, sizeof(int));
	say_many(1, fitting);
	log = finish(trid, &spec);
	st_expect(log, st_text("START 1..%d STOP0", fitting));
	close_log(log, spec.fd);
}

/* LOGP-03, LOGP-09, ASLSZ-02 */
static void an_appending_log_grows_beyond_its_size(void)
{
	struct st_spec spec = { .policy = POSIX_TRACE_LOOP,
		.size = 1 << 14,
		.log_policy = POSIX_TRACE_APPEND,
		.log_size = 4096 };
	trace_id_t trid = logging(&spec);
	struct posix_trace_status_info status;
	trace_id_t log;

	for (int i = 0; i < 50; i++) {
		say_many(i * 300 + 1, i * 300 + 300);
		PXT_EQ_FATAL(posix_trace_flush(trid), 0);
	}
	PXT_EQ(posix_trace_get_status(trid, &status), 0);
	PXT_EQ(status.posix_log_full_status, POSIX_TRACE_NOT_FULL);
	PXT_EQ(status.posix_log_overrun_status, POSIX_TRACE_NO_OVERRUN);
	log = finish(trid, &spec);
	st_expect_without(log, MARKS, "START 1..15000 STOP0");
	close_log(log, spec.fd);
}

/* LOGP-08, STA-06, CREATE-03: a new log has lost nothing and is not full */
static void the_status_of_a_new_stream_with_log_is_clean(void)
{
	struct st_spec spec = { .with_log = true, .fd = st_file() };
	trace_id_t trid = st_create(&spec);
	struct posix_trace_status_info status;

	memset(&status, 0x5a, sizeof(status));
	PXT_EQ(posix_trace_get_status(trid, &status), 0);
	PXT_EQ(status.posix_stream_flush_status, POSIX_TRACE_NOT_FLUSHING);
	PXT_EQ(status.posix_stream_flush_error, 0);
	PXT_EQ(status.posix_log_overrun_status, POSIX_TRACE_NO_OVERRUN);
	PXT_EQ(status.posix_log_full_status, POSIX_TRACE_NOT_FULL);
	PXT_EQ(posix_trace_shutdown(trid), 0);
	(void)close(spec.fd);
}

/* ---- Flush ---- */

/* FLUSH-01, FLUSH-05, SYS-09, DEC-13 */
static void flushes_of_a_running_stream_are_marked_and_duplicate_nothing(void)
{
	struct st_spec spec = { .policy = POSIX_TRACE_UNTIL_FULL };
	trace_id_t trid = logging(&spec);
	trace_id_t log;

	say_many(1, 3);
	PXT_EQ(posix_trace_flush(trid), 0);
	say_many(4, 6);
	PXT_EQ(posix_trace_flush(trid), 0);
	PXT_EQ(posix_trace_flush(trid), 0);
	st_say(7);
	PXT_EQ(posix_trace_stop(trid), 0);
	log = finish(trid, &spec);
	st_expect(log, "START 1..3 FLUSH_START FLUSH_STOP 4..6 FLUSH_START FLUSH_STOP FLUSH_START "
	               "FLUSH_STOP 7 STOP0");
	close_log(log, spec.fd);
}

/* FLUSH-03, FLUSH-06, POL-08, POL-09, DEC-10, DEC-13 (order of ruling 14) */
static void a_flush_frees_the_stream_and_restarts_it(void)
{
	struct st_spec spec = { .policy = POSIX_TRACE_UNTIL_FULL, .size = 2048 };
	struct st_full full;
	trace_id_t log;

	spec.with_log = true;
	spec.fd = st_file();
	st_pin(true);
	trace_id_t trid = st_full_stream(&spec, false, &full);
	st_expect_status(trid, "SUSPENDED FULL NO_OVERRUN");
	PXT_EQ(posix_trace_flush(trid), 0);
	st_expect_status(trid, "RUNNING NOT_FULL NO_OVERRUN");
	st_say(1000);
	log = finish(trid, &spec);
	st_expect(log,
	    st_text("START 1..%d STOP1 FLUSH_START FLUSH_STOP START 1000 STOP0", full.recorded));
	close_log(log, spec.fd);
	st_pin(false);
}

/* FLUSH-06, DEC-13 */
static void an_empty_and_a_stopped_stream_can_be_flushed(void)
{
	struct st_spec spec = { .policy = POSIX_TRACE_LOOP, .with_log = true, .fd = st_file() };
	trace_id_t trid = st_create(&spec);
	trace_id_t log;

	PXT_EQ(posix_trace_flush(trid), 0);
	PXT_EQ(posix_trace_start(trid), 0);
	st_say(1);
	PXT_EQ(posix_trace_stop(trid), 0);
	PXT_EQ(posix_trace_flush(trid), 0);
	PXT_EQ(posix_trace_flush(trid), 0);
	st_expect_status(trid, "SUSPENDED NOT_FULL NO_OVERRUN");
	log = finish(trid, &spec);
	st_expect_without(log, MARKS, "START 1 STOP0");
	close_log(log, spec.fd);
}

/* DEC-13: what the application stopped ends with its STOP */
static void flushing_a_stopped_stream_adds_no_marks(void)
{
	struct st_spec spec = { .policy = POSIX_TRACE_LOOP };
	trace_id_t trid = logging(&spec);
	trace_id_t log;

	st_say(1);
	PXT_EQ(posix_trace_stop(trid), 0);
	PXT_EQ(posix_trace_flush(trid), 0);
	PXT_EQ(posix_trace_flush(trid), 0);
	log = finish(trid, &spec);
	st_expect(log, "START 1 STOP0");
	close_log(log, spec.fd);
}

/* FLUSH-E1 */
static void only_an_active_stream_with_log_can_be_flushed(void)
{
	struct st_spec spec = { .policy = POSIX_TRACE_LOOP };
	trace_id_t trid = logging(&spec);
	trace_id_t log = finish(trid, &spec);

	PXT_EQ(posix_trace_flush(trid), EINVAL);
	PXT_EQ(posix_trace_flush(log), EINVAL);
	PXT_EQ(posix_trace_flush(0), EINVAL);
	close_log(log, spec.fd);
}

static atomic_int flush_result;

static void *flush_in_thread(void *argument)
{
	atomic_store(&flush_result, posix_trace_flush(*(const trace_id_t *)argument));
	return NULL;
}

static atomic_long swallowed;

static void *swallow(void *argument)
{
	int fd = *(const int *)argument;
	static char bytes[65536];
	ssize_t got;

	while ((got = read(fd, bytes, sizeof(bytes))) > 0)
		atomic_fetch_add(&swallowed, got);
	return NULL;
}

static int flush_status_of(trace_id_t trid)
{
	struct posix_trace_status_info status = { 0 };

	PXT_EQ(posix_trace_get_status(trid, &status), 0);
	return status.posix_stream_flush_status;
}

/* STA-04, FLUSH-01, FLUSH-02: the log is a pipe that nobody reads for a while */
static void the_status_shows_a_flush_under_way_and_tracing_goes_on_meanwhile(void)
{
	int fds[2];
	int error = 0;
	int looks = 0;
	pthread_t flusher;
	pthread_t reader;
	trace_attr_t attr;
	trace_id_t trid = 0;
	struct posix_trace_counts_np before;
	struct posix_trace_counts_np after;

	PXT_EQ_FATAL(pipe(fds), 0);
	PXT_EQ(posix_trace_attr_init(&attr), 0);
	PXT_EQ(posix_trace_attr_setlogfullpolicy(&attr, POSIX_TRACE_APPEND), 0);
	PXT_EQ(posix_trace_attr_setstreamfullpolicy(&attr, POSIX_TRACE_LOOP), 0);
	PXT_EQ(posix_trace_attr_setstreamsize(&attr, 1 << 18), 0);
	error = posix_trace_create_withlog(0, &attr, fds[1], &trid);
	PXT_EQ_FATAL(error, 0);
	PXT_EQ(posix_trace_start(trid), 0);
	PXT_EQ(flush_status_of(trid), POSIX_TRACE_NOT_FLUSHING);
	for (int i = 0; i < 6000; i++)
		st_say(i);
	atomic_store(&flush_result, -1);
	PXT_EQ_FATAL(pthread_create(&flusher, NULL, flush_in_thread, &trid), 0);
	while (flush_status_of(trid) != POSIX_TRACE_FLUSHING && ++looks < 2000)
		st_sleep_ms(1);
	CU_ASSERT(looks < 2000);
	st_sleep_ms(50);
	PXT_EQ(flush_status_of(trid), POSIX_TRACE_FLUSHING);
	PXT_EQ(atomic_load(&flush_result), -1);
	PXT_EQ(posix_trace_counts_np(trid, &before), 0);
	say_many(1, 100);
	PXT_EQ(posix_trace_counts_np(trid, &after), 0);
	PXT_EQ(after.posix_written_np - before.posix_written_np, 100);
	PXT_EQ(after.posix_lost_np, before.posix_lost_np);
	PXT_EQ_FATAL(pthread_create(&reader, NULL, swallow, &fds[0]), 0);
	(void)pthread_join(flusher, NULL);
	PXT_EQ(atomic_load(&flush_result), 0);
	PXT_EQ(flush_status_of(trid), POSIX_TRACE_NOT_FLUSHING);
	PXT_EQ(posix_trace_shutdown(trid), 0);
	(void)close(fds[1]);
	(void)pthread_join(reader, NULL);
	CU_ASSERT(atomic_load(&swallowed) > 6000 * 16);
	(void)close(fds[0]);
}

/* ---- Errors of the file ---- */

/* Limits the size of files for this process; SIGXFSZ is ignored by the caller. */
static void limit_files(rlim_t bytes)
{
	struct rlimit limit;

	(void)getrlimit(RLIMIT_FSIZE, &limit);
	limit.rlim_cur = bytes;
	(void)setrlimit(RLIMIT_FSIZE, &limit);
}

/* Flushes until an error comes; 0: none came. */
static int flush_until_error(trace_id_t trid)
{
	for (int i = 0; i < 200; i++) {
		int error;

		for (int k = 0; k < 300; k++)
			st_say(k);
		error = posix_trace_flush(trid);
		if (error != 0)
			return error;
	}
	return 0;
}

static int meet_the_file_limit(void *argument)
{
	struct st_spec spec = { .policy = POSIX_TRACE_LOOP,
		.size = 1 << 14,
		.log_policy = POSIX_TRACE_APPEND,
		.with_log = true,
		.fd = st_file() };
	trace_id_t trid = st_started(&spec);
	struct posix_trace_status_info status;

	(void)argument;
	(void)signal(SIGXFSZ, SIG_IGN);
	limit_files(1 << 17);
	PXT_CHILD_CHECK(flush_until_error(trid) == EFBIG);
	PXT_CHILD_CHECK(flush_until_error(trid) == EFBIG);
	PXT_CHILD_CHECK(posix_trace_get_status(trid, &status) == 0);
	PXT_CHILD_CHECK(status.posix_stream_flush_error == EFBIG);
	PXT_CHILD_CHECK(status.posix_stream_flush_status == POSIX_TRACE_NOT_FLUSHING);
	PXT_CHILD_CHECK(posix_trace_get_status(trid, &status) == 0);
	PXT_CHILD_CHECK(status.posix_stream_flush_error == 0);
	st_say(1);
	PXT_CHILD_CHECK(posix_trace_shutdown(trid) == EFBIG);
	PXT_CHILD_CHECK(posix_trace_shutdown(trid) == EINVAL);
	return 0;
}

/* FLUSH-E2, FLUSH-07, STA-05, STA-02, SHUT-E2, SHUT-02, DEC-40 */
static void a_file_limit_is_efbig_from_flush_and_shutdown_and_kept_in_the_status(void)
{
	PXT_EQ(pxt_in_child(meet_the_file_limit, NULL), 0);
}

static int lose_events_to_the_file_limit(void *argument)
{
	struct st_spec spec = { .policy = POSIX_TRACE_LOOP,
		.size = 1 << 14,
		.log_policy = POSIX_TRACE_APPEND,
		.with_log = true,
		.fd = st_file() };
	trace_id_t trid = st_started(&spec);
	trace_id_t log = 0;
	int last = 0;
	int number = 0;

	(void)argument;
	(void)signal(SIGXFSZ, SIG_IGN);
	limit_files(1 << 16);
	for (int i = 0; i < 40; i++) {
		for (int k = 0; k < 300; k++)
			st_say(++number);
		(void)posix_trace_flush(trid);
	}
	limit_files(RLIM_INFINITY);
	st_say(++number);
	PXT_CHILD_CHECK(posix_trace_shutdown(trid) == 0);
	PXT_CHILD_CHECK(posix_trace_open(spec.fd, &log) == 0);
	for (;;) {
		struct posix_trace_event_info info;
		int data = 0;
		size_t len = 0;
		int gone = 0;

		PXT_CHILD_CHECK(
		    posix_trace_getnext_event(log, &info, &data, sizeof(data), &len, &gone) == 0);
		if (gone != 0)
			break;
		if (info.posix_event_id != st_type())
			continue;
		/* Something may be missing, nothing may be there twice or out of order. */
		PXT_CHILD_CHECK(len == sizeof(data) && data > last);
		last = data;
	}
	PXT_CHILD_CHECK(last == number);
	return 0;
}

/* CON-26, FLUSH-05, FLUSH-07: after the trouble is over */
static void after_failed_flushes_the_log_has_gaps_but_no_duplicates(void)
{
	PXT_EQ(pxt_in_child(lose_events_to_the_file_limit, NULL), 0);
}

#define NO_MOUNT 4711

static int fill_a_small_file_system(void *argument)
{
	char directory[] = "/tmp/ptrace-test-XXXXXX";
	char path[64];
	struct posix_trace_status_info status;
	trace_id_t trid;

	(void)argument;
	if (mkdtemp(directory) == NULL)
		return NO_MOUNT;
	(void)snprintf(path, sizeof(path), "%s/log", directory);
	if (unshare(CLONE_NEWNS) != 0 || mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) != 0 ||
	    mount("none", directory, "tmpfs", 0, "size=128k") != 0) {
		(void)rmdir(directory);
		return NO_MOUNT;
	}
	struct st_spec spec = { .policy = POSIX_TRACE_LOOP,
		.size = 1 << 14,
		.log_policy = POSIX_TRACE_APPEND,
		.with_log = true,
		.fd = open(path, O_RDWR | O_CREAT, 0600) };
	PXT_CHILD_CHECK(spec.fd >= 0);
	trid = st_started(&spec);
	int error = flush_until_error(trid);
	int first = posix_trace_get_status(trid, &status);
	int kept = status.posix_stream_flush_error;
	st_say(1);
	int last = posix_trace_shutdown(trid);
	(void)close(spec.fd);
	(void)umount(directory);
	(void)rmdir(directory);
	PXT_CHILD_CHECK(error == ENOSPC);
	PXT_CHILD_CHECK(first == 0 && kept == ENOSPC);
	PXT_CHILD_CHECK(last == ENOSPC);
	return 0;
}

/* FLUSH-E3, SHUT-E3, FLUSH-07, STA-05 */
static void a_full_device_is_enospc_from_flush_and_shutdown(void)
{
	int result = pxt_in_child(fill_a_small_file_system, NULL);

	if (result == NO_MOUNT)
		pxt_skip("no file system can be mounted here");
	else
		PXT_EQ(result, 0);
}

/* CRLOG-E3, CREATE-10, DEC-33 */
static void a_device_without_any_space_is_enospc_at_create(void)
{
	int fd = open("/dev/full", O_WRONLY);

	for (int i = 0; i < 2 * TRACE_SYS_MAX; i++) {
		trace_attr_t attr;
		trace_id_t trid = NEVER;

		PXT_EQ(posix_trace_attr_init(&attr), 0);
		PXT_EQ(posix_trace_attr_setlogfullpolicy(&attr, POSIX_TRACE_APPEND), 0);
		PXT_EQ(posix_trace_create_withlog(0, &attr, fd, &trid), ENOSPC);
		CU_ASSERT(trid == NEVER);
	}
	(void)close(fd);
}

/* What the flusher makes has a stamp of its own, of all 64 bits. */
static void the_marks_of_a_flush_are_stamped_between_what_is_around_them(void)
{
	struct st_spec spec = { .policy = POSIX_TRACE_LOOP, .lanes = 1 };
	trace_id_t trid = logging(&spec);
	struct posix_trace_eventextra_np extra;
	struct posix_trace_event_info info;
	uint64_t last = 0;
	unsigned events = 0;
	int unavailable = 0;
	char data[256];
	trace_id_t log;
	size_t len;

	for (int i = 1; i <= 5; i++) {
		st_say(i);
		PXT_EQ(posix_trace_flush(trid), 0);
	}
	st_say(6);
	log = finish(trid, &spec);
	for (;;) {
		PXT_EQ_FATAL(
		    posix_trace_getnext_event(log, &info, data, sizeof(data), &len, &unavailable),
		    0);
		if (unavailable)
			break;
		PXT_EQ(posix_trace_eventinfo_getextra_np(&info, &extra), 0);
		PXT_CHECK(extra.posix_ticks_np >= last, "event %u, of type %u", events,
		    (unsigned)info.posix_event_id);
		/* A second of any counter is less than that. */
		if (events)
			CU_ASSERT(extra.posix_ticks_np - last < UINT64_C(600000000000));
		last = extra.posix_ticks_np;
		events++;
	}
	PXT_EQ(events, 1 + 6 + 2 * 5 + 1);
	close_log(log, spec.fd);
}

/* LPT-06 */
static void the_form_of_a_log_is_what_was_set_last(void)
{
	static const int forms[] = { POSIX_TRACE_LOG_AUTO_NP, POSIX_TRACE_LOG_PLAIN_NP,
		POSIX_TRACE_LOG_FRAMES_NP };
	trace_attr_t attr;

	for (int i = 0; i < 9; i++) {
		int form = -1;

		PXT_EQ(posix_trace_attr_init(&attr), 0);
		if (posix_trace_attr_setlogform_np(&attr, forms[i / 3]) == 0 &&
		    posix_trace_attr_setlogform_np(&attr, forms[i % 3]) == 0) {
			PXT_EQ(posix_trace_attr_getlogform_np(&attr, &form), 0);
			PXT_EQ(form, forms[i % 3]);
		}
		PXT_EQ(posix_trace_attr_destroy(&attr), 0);
	}
}

/* ---- Clear ---- */

/* CLEAR-06, CLEAR-02, LOGP-09, CLEAR-07, DEC-25 */
static void clear_empties_the_log_too(void)
{
	const int policies[] = { POSIX_TRACE_LOOP, POSIX_TRACE_UNTIL_FULL, POSIX_TRACE_APPEND };

	for (int i = 0; i < 3; i++) {
		struct st_spec spec = { .policy = POSIX_TRACE_LOOP,
			.size = 1 << 14,
			.log_policy = policies[i],
			.log_size = 1 << 15 };
		trace_id_t trid = logging(&spec);
		struct posix_trace_status_info status;
		trace_id_t log;

		for (int k = 0; k < 10; k++) {
			say_many(1, 300);
			PXT_EQ(posix_trace_flush(trid), 0);
		}
		PXT_EQ(posix_trace_clear(trid), 0);
		PXT_EQ(posix_trace_get_status(trid, &status), 0);
		PXT_EQ(status.posix_log_full_status, POSIX_TRACE_NOT_FULL);
		PXT_EQ(status.posix_log_overrun_status, POSIX_TRACE_NO_OVERRUN);
		PXT_EQ(posix_trace_start(trid), 0);
		say_many(4001, 4005);
		log = finish(trid, &spec);
		st_expect_without(log, "START FLUSH_START FLUSH_STOP", "4001..4005 STOP0");
		close_log(log, spec.fd);
	}
}

/* CLEAR-06: numbers and sums begin anew, whatever was recorded and lost before */
static void a_log_that_was_cleared_is_sound(void)
{
	const int policies[] = { POSIX_TRACE_LOOP, POSIX_TRACE_UNTIL_FULL, POSIX_TRACE_APPEND };

	for (int i = 0; i < 6; i++) {
		struct st_spec spec = { .policy = POSIX_TRACE_LOOP,
			.size = 1 << 12,
			.log_policy = policies[i % 3],
			.log_size = 1 << 16 };
		trace_id_t trid = logging(&spec);
		struct posix_trace_logfinding_np finding = { 0 };
		struct posix_trace_logcheck_np sum;
		trace_id_t log;

		say_many(1, 2000);
		PXT_EQ(posix_trace_flush(trid), 0);
		say_many(1, 2000);
		if (i >= 3)
			PXT_EQ(posix_trace_flush(trid), 0);
		PXT_EQ(posix_trace_clear(trid), 0);
		say_many(1, 30);
		PXT_EQ(posix_trace_flush(trid), 0);
		say_many(31, 40);
		log = finish(trid, &spec);
		PXT_EQ(posix_trace_log_check_np(spec.fd, &sum, &finding, 1), 0);
		PXT_CHECK(sum.posix_findings_np == 0, "%s", finding.posix_reason_np);
		PXT_EQ(sum.posix_told_np, 0);
		st_expect_without(log, "FLUSH_START FLUSH_STOP", "1..40 STOP0");
		close_log(log, spec.fd);
	}
}

/* CLEAR-06: the first event afterwards is the same in stream and log */
static void after_clear_the_log_begins_with_the_first_event_behind_it(void)
{
	struct st_spec spec = { .policy = POSIX_TRACE_LOOP };
	trace_id_t trid = logging(&spec);
	trace_id_t log;

	say_many(1, 5);
	PXT_EQ(posix_trace_clear(trid), 0);
	say_many(6, 8);
	log = finish(trid, &spec);
	st_expect(log, "6..8 STOP0");
	close_log(log, spec.fd);
}

/* ---- Reading logs ---- */

/* OPEN-03, TRYNX-E1, TIMED-05, START-E1, STOP-E1, CLEAR-E1, SHUT-E1, DEC-16 */
static void a_log_cannot_be_controlled(void)
{
	struct st_spec spec = { .policy = POSIX_TRACE_LOOP };
	trace_id_t log = finish(logging(&spec), &spec);
	struct posix_trace_event_info info;
	const struct timespec late = st_in_ms(60000);
	size_t len = 0;
	int gone = 0;

	PXT_EQ(posix_trace_start(log), EINVAL);
	PXT_EQ(posix_trace_stop(log), EINVAL);
	PXT_EQ(posix_trace_clear(log), EINVAL);
	PXT_EQ(posix_trace_shutdown(log), EINVAL);
	PXT_EQ(posix_trace_trygetnext_event(log, &info, NULL, 0, &len, &gone), EINVAL);
	CU_ASSERT(gone != 0);
	PXT_EQ(posix_trace_timedgetnext_event(log, &info, NULL, 0, &len, &gone, &late), EINVAL);
	st_expect(log, "START STOP0");
	close_log(log, spec.fd);
}

/* GETNX-04, REWIND-01, TRU-06 */
static void a_log_stays_at_its_end_until_it_is_rewound(void)
{
	struct st_spec spec = { .policy = POSIX_TRACE_LOOP, .max_data = 10 };
	trace_id_t trid = logging(&spec);
	struct posix_trace_event_info info;
	char data[16];
	size_t len = 0;
	int gone = 0;

	posix_trace_event(st_type(), "0123456789abcdef", 16);
	trace_id_t log = finish(trid, &spec);
	for (int round = 0; round < 3; round++) {
		const size_t room = round == 1 ? 4 : sizeof(data);

		PXT_EQ(posix_trace_getnext_event(log, &info, NULL, 0, &len, &gone), 0);
		PXT_EQ(info.posix_event_id, POSIX_TRACE_START);
		PXT_EQ(posix_trace_getnext_event(log, &info, data, room, &len, &gone), 0);
		PXT_EQ(gone, 0);
		PXT_EQ(len, round == 1 ? 4 : 10);
		PXT_EQ(info.posix_truncation_status,
		    round == 1 ? POSIX_TRACE_TRUNCATED_READ : POSIX_TRACE_TRUNCATED_RECORD);
		CU_ASSERT(memcmp(data, "0123456789", len) == 0);
		PXT_EQ(posix_trace_getnext_event(log, &info, data, room, &len, &gone), 0);
		PXT_EQ(info.posix_event_id, POSIX_TRACE_STOP);
		for (int i = 0; i < 3; i++) {
			gone = 0;
			PXT_EQ(posix_trace_getnext_event(log, &info, data, room, &len, &gone), 0);
			CU_ASSERT(gone != 0);
		}
		PXT_EQ(posix_trace_rewind(log), 0);
	}
	close_log(log, spec.fd);
}

static int read_in_child(void *argument)
{
	trace_id_t log = 0;

	PXT_CHILD_CHECK(posix_trace_open(*(const int *)argument, &log) == 0);
	PXT_CHILD_CHECK(strcmp(st_story_of(log, 100), "START 1..9 STOP0") == 0);
	PXT_CHILD_CHECK(posix_trace_close(log) == 0);
	return 0;
}

/* OPEN-04 */
static void a_log_is_read_in_another_process_too(void)
{
	struct st_spec spec = { .policy = POSIX_TRACE_LOOP };
	trace_id_t trid = logging(&spec);

	say_many(1, 9);
	PXT_EQ(posix_trace_shutdown(trid), 0);
	PXT_EQ(pxt_in_child(read_in_child, &spec.fd), 0);
	(void)close(spec.fd);
}

/* OPEN-01, CON-04: two readers of one file, each with its own position */
static void a_log_can_be_opened_twice(void)
{
	struct st_spec spec = { .policy = POSIX_TRACE_LOOP };
	trace_id_t trid = logging(&spec);
	trace_id_t one;
	trace_id_t two;

	say_many(1, 9);
	one = finish(trid, &spec);
	two = open_log(spec.fd);
	CU_ASSERT(one != two);
	st_expect_most(one, 5, "START 1..4");
	st_expect_most(two, 3, "START 1..2");
	st_expect(one, "5..9 STOP0");
	st_expect(two, "3..9 STOP0");
	PXT_EQ(posix_trace_close(two), 0);
	close_log(one, spec.fd);
}

/* CLOSE-01, CLOSE-02, CLOSE-E1, REWIND-E1, DEC-02, DEC-22 */
static void close_frees_the_identifier_and_leaves_the_descriptor_open(void)
{
	struct st_spec spec = { .policy = POSIX_TRACE_LOOP };
	trace_id_t log = finish(logging(&spec), &spec);
	trace_attr_t attr;
	trace_attr_t kept;
	char name[TRACE_NAME_MAX + 1];
	struct posix_trace_event_info info;
	size_t len = 0;
	int gone = 0;

	PXT_EQ(posix_trace_get_attr(log, &kept), 0);
	PXT_EQ(posix_trace_close(log), 0);
	PXT_EQ(posix_trace_close(log), EINVAL);
	PXT_EQ(posix_trace_rewind(log), EINVAL);
	PXT_EQ(posix_trace_get_attr(log, &attr), EINVAL);
	PXT_EQ(posix_trace_getnext_event(log, &info, NULL, 0, &len, &gone), EINVAL);
	PXT_EQ(posix_trace_close(0), EINVAL);
	PXT_EQ(posix_trace_attr_getname(&kept, name), 0);
	CU_ASSERT(fcntl(spec.fd, F_GETFD) >= 0);
	for (int i = 0; i < 200; i++) {
		log = open_log(spec.fd);
		PXT_EQ(posix_trace_close(log), 0);
	}
	(void)close(spec.fd);
}

/* OPEN-E2, DEC-30, DEC-33 */
static void what_is_no_log_is_einval(void)
{
	static const char zeros[100000];
	trace_id_t trid = NEVER;
	int fds[2];
	int write_only = open("/dev/null", O_WRONLY);
	const int files[] = { -1, 1 << 20, write_only, foreign_file("", 0), foreign_file("x", 1),
		foreign_file("this is not a log, only text", 28),
		foreign_file(zeros, sizeof(zeros)), open("/dev/null", O_RDONLY),
		open("/tmp", O_RDONLY) };

	for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++)
		PXT_CHECK(posix_trace_open(files[i], &trid) == EINVAL, "file %zu", i);
	for (size_t i = 2; i < sizeof(files) / sizeof(files[0]); i++)
		(void)close(files[i]);
	PXT_EQ(pipe(fds), 0);
	(void)close(fds[1]);
	PXT_EQ(posix_trace_open(fds[0], &trid), EINVAL);
	(void)close(fds[0]);
	CU_ASSERT(trid == NEVER);
}

/* A finished log with some events, and no longer than they need. */
static int short_log(void)
{
	struct st_spec spec = { .policy = POSIX_TRACE_LOOP, .log_policy = POSIX_TRACE_APPEND };
	trace_id_t trid = logging(&spec);

	say_many(1, 50);
	PXT_EQ(posix_trace_shutdown(trid), 0);
	return spec.fd;
}

/* Bytes from one trial to the next where each of them may matter. */
static off_t fine(void)
{
	return st_sanitized() ? 7 : 1;
}

/* Opens the log and, where that succeeds, reads all of it. */
static int try_log(int fd)
{
	trace_id_t log = 0;
	struct posix_trace_event_info info;
	unsigned char data[256];
	size_t got = 0;
	int gone = 0;
	int error = posix_trace_open(fd, &log);

	if (error != 0)
		return error;
	for (int i = 0; i < 1000 && gone == 0; i++) {
		int failed = posix_trace_getnext_event(log, &info, data, sizeof(data), &got, &gone);
		CU_ASSERT(failed == 0 || failed == EINVAL);
		if (failed != 0)
			break;
	}
	PXT_EQ(posix_trace_close(log), 0);
	return 0;
}

/* OPEN-06, OPEN-E2, DEC-29, LOGP-06: cut off anywhere, the log is incomplete */
static void a_log_without_its_end_is_einval(void)
{
	int fd = short_log();
	off_t len = (off_t)st_file_bytes(fd);

	PXT_EQ(try_log(fd), 0);
	for (off_t cut = len - 1; cut >= 0; cut -= cut < 600 || cut > len - 600 ? fine() : 101) {
		PXT_EQ(ftruncate(fd, cut), 0);
		PXT_CHECK(try_log(fd) == EINVAL, "%ld of %ld bytes", (long)cut, (long)len);
	}
	(void)close(fd);
}

static void flip(int fd, off_t at)
{
	unsigned char byte = 0;

	PXT_EQ(pread(fd, &byte, 1, at), 1);
	byte ^= 0x81;
	PXT_EQ(pwrite(fd, &byte, 1, at), 1);
}

/* OPEN-06, DEC-30 */
static void a_damaged_log_is_refused_or_read_without_harm(void)
{
	int fd = short_log();
	off_t len = (off_t)st_file_bytes(fd);

	for (off_t at = 0; at < len; at += at < 1024 || at > len - 600 ? fine() : 37) {
		int error;

		flip(fd, at);
		error = try_log(fd);
		PXT_CHECK(error == 0 || error == EINVAL, "byte %ld: error %d", (long)at, error);
		flip(fd, at);
	}
	PXT_EQ(try_log(fd), 0);
	(void)close(fd);
}

/* CON-10, DEC-29, LOGP-06 */
static void a_log_is_not_complete_before_shutdown(void)
{
	struct st_spec spec = { .policy = POSIX_TRACE_LOOP };
	trace_id_t trid = logging(&spec);
	trace_id_t none = NEVER;

	say_many(1, 50);
	PXT_EQ(posix_trace_flush(trid), 0);
	PXT_EQ(posix_trace_open(spec.fd, &none), EINVAL);
	CU_ASSERT(none == NEVER);
	close_log(finish(trid, &spec), spec.fd);
}

/* ---- The FLUSH policy ---- */

/* POL-11, POL-08, CRLOG-03, SYS-09, DEC-13 */
static void under_flush_the_stream_empties_itself_into_the_log(void)
{
	struct st_spec spec = {
		.policy = POSIX_TRACE_FLUSH, .size = 1 << 14, .log_policy = POSIX_TRACE_APPEND
	};
	trace_id_t trid = logging(&spec);
	struct posix_trace_counts_np counts;
	struct st_event event;
	trace_id_t log;
	int seen = 0;
	int flushes = 0;

	for (int i = 1; i <= 20000; i++) {
		st_say(i);
		if (i % 100 == 0)
			st_sleep_ms(2);
	}
	CU_ASSERT(st_law(trid, &counts));
	log = finish(trid, &spec);
	while (st_take(log, &event)) {
		flushes += event.info.posix_event_id == POSIX_TRACE_FLUSH_START;
		if (event.info.posix_event_id != st_type())
			continue;
		CU_ASSERT(st_number(&event) > seen);
		seen = st_number(&event);
	}
	PXT_EQ(seen, 20000);
	CU_ASSERT(flushes > 10);
	CU_ASSERT(counts.posix_retrieved_np > 10000);
	close_log(log, spec.fd);
}

struct tale {
	bool running;
	bool flushing;
	int overflows;
	int last;
	int events;
	int rounds; /* automatic stops */
	int mistakes;
};

/* STOP only while running, START only while not, FLUSH_STOP only after FLUSH_START, ... */
static void follow(struct tale *tale, const struct st_event *event)
{
	trace_event_id_t id = event->info.posix_event_id;

	if (id == POSIX_TRACE_START || id == POSIX_TRACE_STOP) {
		tale->mistakes += tale->running == (id == POSIX_TRACE_START);
		tale->running = id == POSIX_TRACE_START;
		tale->rounds += id == POSIX_TRACE_STOP;
	} else if (id == POSIX_TRACE_FLUSH_START || id == POSIX_TRACE_FLUSH_STOP) {
		tale->mistakes += tale->flushing == (id == POSIX_TRACE_FLUSH_START);
		tale->flushing = id == POSIX_TRACE_FLUSH_START;
	} else if (id == POSIX_TRACE_OVERFLOW) {
		tale->overflows++;
	} else if (id == POSIX_TRACE_RESUME) {
		tale->mistakes += --tale->overflows != 0;
	} else if (id == st_type()) {
		tale->mistakes += tale->overflows != 0;
		tale->mistakes += st_number(event) <= tale->last;
		tale->last = st_number(event);
		tale->events++;
	}
}

/* POL-11, POL-12, SYS-08, SYS-09, DEC-11, DEC-12, DEC-13: faster than the log can take it */
static void under_flush_pauses_and_losses_are_told_and_counted(void)
{
	struct st_spec spec = {
		.policy = POSIX_TRACE_FLUSH, .size = 2048, .log_policy = POSIX_TRACE_APPEND
	};
	const int written = 200000;
	trace_id_t trid = logging(&spec);
	struct posix_trace_counts_np counts;
	struct tale tale = { 0 };
	struct st_event event;
	trace_id_t log;

	for (int i = 0; i < written; i += written / 20) {
		say_many(i + 1, i + written / 20);
		st_sleep_ms(5); /* the flusher's turn, however busy the machine is */
	}
	PXT_EQ(posix_trace_stop(trid), 0);
	PXT_EQ(posix_trace_flush(trid), 0);
	CU_ASSERT(st_law(trid, &counts));
	PXT_EQ(counts.posix_held_np, 0);
	CU_ASSERT(counts.posix_written_np >= (uint64_t)written + 1);
	CU_ASSERT(counts.posix_written_np <= (uint64_t)written + 2);
	log = finish(trid, &spec);
	while (st_take(log, &event))
		follow(&tale, &event);
	PXT_EQ(tale.mistakes, 0);
	CU_ASSERT(tale.rounds > 1);
	CU_ASSERT_FALSE(tale.running);
	/* START, perhaps STOP, and every event that was not lost. */
	CU_ASSERT((uint64_t)tale.events + counts.posix_lost_np >= (uint64_t)written);
	PXT_CHECK((uint64_t)tale.events + 2 >= counts.posix_retrieved_np &&
	              (uint64_t)tale.events <= counts.posix_retrieved_np,
	    "%d in the log, %llu retrieved", tale.events,
	    (unsigned long long)counts.posix_retrieved_np);
	close_log(log, spec.fd);
}

static const struct pxt_case cases[] = {
	PXT_CASE(a_log_holds_all_events_of_the_stream_in_order),
	PXT_CASE(a_log_has_the_attributes_and_names_of_its_stream),
	PXT_CASE(the_status_of_a_log_is_that_at_shutdown_and_reading_does_not_reset_it),
	PXT_CASE(writing_and_reading_a_log_marks_the_times_of_its_file),
	PXT_CASE(with_a_log_the_default_policy_is_flush_and_all_three_are_accepted),
	PXT_CASE(streams_with_log_count_for_the_maximum_and_failures_leak_nothing),
	PXT_CASE(a_descriptor_that_is_not_open_for_writing_is_ebadf),
	PXT_CASE(a_write_only_descriptor_is_enough_and_its_offset_does_not_matter),
	PXT_CASE(each_kind_of_file_takes_the_log_policies_it_can_do),
	PXT_CASE(a_log_that_went_through_a_pipe_can_be_read),
	PXT_CASE(a_log_size_without_room_for_anything_is_einval),
	PXT_CASE(a_stream_with_log_is_not_read_rewound_or_closed),
	PXT_CASE(a_looping_log_keeps_the_most_recent_events),
	PXT_CASE(a_log_until_full_ends_with_an_automatic_stop),
	PXT_CASE(the_log_size_bounds_the_bytes_of_events_only),
	PXT_CASE(an_appending_log_grows_beyond_its_size),
	PXT_CASE(the_status_of_a_new_stream_with_log_is_clean),
	PXT_CASE(flushes_of_a_running_stream_are_marked_and_duplicate_nothing),
	PXT_CASE(a_flush_frees_the_stream_and_restarts_it),
	PXT_CASE(an_empty_and_a_stopped_stream_can_be_flushed),
	PXT_CASE(flushing_a_stopped_stream_adds_no_marks),
	PXT_CASE(only_an_active_stream_with_log_can_be_flushed),
	PXT_CASE(the_status_shows_a_flush_under_way_and_tracing_goes_on_meanwhile),
	PXT_CASE(a_file_limit_is_efbig_from_flush_and_shutdown_and_kept_in_the_status),
	PXT_CASE(after_failed_flushes_the_log_has_gaps_but_no_duplicates),
	PXT_CASE(a_full_device_is_enospc_from_flush_and_shutdown),
	PXT_CASE(a_device_without_any_space_is_enospc_at_create),
	PXT_CASE(the_marks_of_a_flush_are_stamped_between_what_is_around_them),
	PXT_CASE(the_form_of_a_log_is_what_was_set_last),
	PXT_CASE(clear_empties_the_log_too),
	PXT_CASE(a_log_that_was_cleared_is_sound),
	PXT_CASE(after_clear_the_log_begins_with_the_first_event_behind_it),
	PXT_CASE(a_log_cannot_be_controlled),
	PXT_CASE(a_log_stays_at_its_end_until_it_is_rewound),
	PXT_CASE(a_log_is_read_in_another_process_too),
	PXT_CASE(a_log_can_be_opened_twice),
	PXT_CASE(close_frees_the_identifier_and_leaves_the_descriptor_open),
	PXT_CASE(what_is_no_log_is_einval),
	PXT_CASE(a_log_without_its_end_is_einval),
	PXT_CASE(a_damaged_log_is_refused_or_read_without_harm),
	PXT_CASE(a_log_is_not_complete_before_shutdown),
	PXT_CASE(under_flush_the_stream_empties_itself_into_the_log),
	PXT_CASE(under_flush_pauses_and_losses_are_told_and_counted),
};
PXT_SUITE("log", cases)
