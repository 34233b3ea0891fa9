/* SPDX-License-Identifier: MIT */
/* log.c - streams with a log: what is read back, and how a stream with a log is made. */
#include "story.h"

#include "../suite.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#define MARKS "FLUSH_START FLUSH_STOP"

/* ---- A log gives back what the stream had ---- */

/* CON-09, SHUT-05, OPEN-01, OPEN-02, LOGP-06, ASSFP-03 */
PXT_TEST(a_log_holds_all_events_of_the_stream_in_order)
{
	for (int policy = POSIX_TRACE_LOOP; policy <= POSIX_TRACE_FLUSH; policy++) {
		struct st_spec spec = { .policy = policy, .max_data = 300, .size = 1 << 17 };
		trace_id_t trid = lk_logging(&spec);
		trace_id_t log;
		struct st_event event;

		for (int i = 4; i <= 300; i++)
			st_say_long(i, (size_t)i);
		log = lk_finish(trid, &spec);
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
		lk_close_log(log, spec.fd);
	}
}

/* OPEN-05, LOGP-06, GATTR-01, AGCLK-02, AGGEN-03, EVNAM-04, CON-20 */
PXT_TEST(a_log_has_the_attributes_and_names_of_its_stream)
{
	struct st_spec spec = { .with_log = true, .fd = pxt_temp_file() };
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
	pxt_sleep_ms(5);
	log = lk_finish(trid, &spec);
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
	PXT_EQ(pxt_ns(&times[0]), pxt_ns(&times[1]));
	PXT_EQ(posix_trace_attr_getclockres(&before, &times[0]), 0);
	PXT_EQ(posix_trace_attr_getclockres(&after, &times[1]), 0);
	PXT_EQ(pxt_ns(&times[0]), pxt_ns(&times[1]));
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
	lk_close_log(log, spec.fd);
}

/* STA-07, OPEN-05, DEC-28, LOGP-08 */
PXT_TEST(the_status_of_a_log_is_that_at_shutdown_and_reading_does_not_reset_it)
{
	struct st_spec spec = {
		.policy = POSIX_TRACE_LOOP, .size = 1024, .log_policy = POSIX_TRACE_APPEND
	};
	trace_id_t trid = lk_logging(&spec);
	struct posix_trace_loginfo_np info;
	trace_id_t log;

	st_say_many(1, 1000);
	log = lk_finish(trid, &spec);
	for (int i = 0; i < 3; i++) {
		struct posix_trace_status_info status;

		PXT_EQ(posix_trace_get_status(log, &status), 0);
		PXT_EQ(status.posix_stream_status, POSIX_TRACE_SUSPENDED);
		PXT_EQ(status.posix_stream_overrun_status, POSIX_TRACE_OVERRUN);
		PXT_EQ(status.posix_stream_flush_status, POSIX_TRACE_NOT_FLUSHING);
		PXT_EQ(status.posix_stream_flush_error, 0);
	}
	PXT_EQ(posix_trace_log_getinfo_np(log, &info, sizeof(info)), 0);
	PXT_EQ(info.posix_counts_np.posix_stable_np, 1);
	lk_close_log(log, spec.fd);
}

/* CON-11 */
PXT_TEST(writing_and_reading_a_log_marks_the_times_of_its_file)
{
	const struct timespec old[2] = { { 1000000, 0 }, { 1000000, 0 } };
	struct st_spec spec = { .policy = POSIX_TRACE_LOOP };
	trace_id_t trid = lk_logging(&spec);
	int control = lk_foreign_file("control", 7);
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
	log = pxt_open_log(spec.fd);
	st_expect_without(log, MARKS, "START 1 STOP0");
	PXT_EQ(pread(control, &byte, 1, 0), 1);
	PXT_EQ(fstat(control, &status), 0);
	bool marks_reads = status.st_atim.tv_sec > 1000000; /* not on noatime mounts */
	PXT_EQ(fstat(spec.fd, &status), 0);
	CU_ASSERT((status.st_atim.tv_sec > 1000000) == marks_reads);
	lk_close_log(log, spec.fd);
	(void)close(control);
}

/* ---- Create ---- */

static trace_id_t create_on(int fd, int log_policy, int *error)
{
	trace_attr_t attr;
	trace_id_t trid = 0;

	PXT_EQ(posix_trace_attr_init(&attr), 0);
	if (log_policy)
		PXT_EQ(posix_trace_attr_setlogfullpolicy(&attr, log_policy), 0);
	*error = posix_trace_create_withlog(0, &attr, fd, &trid);
	return trid;
}

/* CON-12, CRLOG-01, LOGP-05, DEC-21, DEC-22: a write-only descriptor, its offset anywhere, closed early */
PXT_TEST(a_write_only_descriptor_is_enough_and_its_offset_does_not_matter)
{
	static const int policies[] = { POSIX_TRACE_LOOP, POSIX_TRACE_UNTIL_FULL,
		POSIX_TRACE_APPEND, POSIX_TRACE_APPEND };

	for (int i = 0; i < 4; i++) {
		/* The last one is empty, and can be appended to alone. */
		int fd = i < 3 ? lk_foreign_file("something older and longer than nothing", 39)
		               : pxt_temp_file();
		char path[64];
		int error;
		trace_id_t trid;
		trace_id_t log;

		(void)snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
		int writer = open(path, O_WRONLY | (i < 3 ? 0 : O_APPEND));
		CU_ASSERT_FATAL(writer >= 0);
		PXT_EQ(lseek(writer, 20, SEEK_SET), 20);
		trid = create_on(writer, policies[i], &error);
		PXT_EQ_FATAL(error, 0);
		PXT_EQ(posix_trace_start(trid), 0);
		st_say(1);
		PXT_EQ(fcntl(writer, F_GETFD) >= 0, 1);
		(void)close(writer);
		PXT_EQ(posix_trace_shutdown(trid), 0);
		log = pxt_open_log(fd);
		st_expect(log, "START 1 STOP0");
		lk_close_log(log, fd);
	}
}

/* CRLOG-E2, LOGP-05, DEC-21, LPT-08 */
PXT_TEST(each_kind_of_file_takes_the_log_policies_it_can_do)
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
				fds[1] = kind == APPENDING_OLD ? lk_foreign_file("x", 1)
				                               : pxt_temp_file();
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

/* LOGP-05, AGLFP-01: LOOP is the default where it can be, and APPEND where nothing else can. */
PXT_TEST(a_log_policy_that_nobody_set_suits_the_kind_of_file)
{
	trace_attr_t attr;
	int error = -1;
	int fds[2];
	int policy;

	PXT_EQ_FATAL(pipe(fds), 0);
	for (int regular = 0; regular < 2; regular++) {
		int fd = regular ? pxt_temp_file() : fds[1];
		trace_id_t trid = create_on(fd, 0, &error);

		PXT_EQ_FATAL(error, 0);
		PXT_EQ(posix_trace_get_attr(trid, &attr), 0);
		PXT_EQ(posix_trace_attr_getlogfullpolicy(&attr, &policy), 0);
		PXT_EQ(policy, regular ? POSIX_TRACE_LOOP : POSIX_TRACE_APPEND);
		PXT_EQ(posix_trace_shutdown(trid), 0);
		(void)close(fd);
	}
	(void)close(fds[0]);
}

/* LPT-06 */
PXT_TEST(the_form_of_a_log_is_what_was_set_last)
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

/* LPT-06: the other attributes stay, and so does the form when they are set */
PXT_TEST(the_form_of_a_log_is_set_apart_from_polling_and_ordered_stamps)
{
	static const int forms[] = { POSIX_TRACE_LOG_PLAIN_NP, POSIX_TRACE_LOG_AUTO_NP };
	trace_attr_t attr;

	PXT_EQ(posix_trace_attr_init(&attr), 0);
	for (int i = 0; i < 4; i++) {
		int form = -1;
		int polling = -1;
		int ordered = -1;

		PXT_EQ(posix_trace_attr_setpolling_np(&attr, i < 2), 0);
		PXT_EQ(posix_trace_attr_setorderedstamps_np(&attr, i % 2), 0);
		PXT_EQ(posix_trace_attr_getlogform_np(&attr, &form), 0);
		PXT_EQ(form, i ? forms[(i - 1) % 2] : POSIX_TRACE_LOG_AUTO_NP);
		PXT_EQ(posix_trace_attr_setlogform_np(&attr, forms[i % 2]), 0);
		PXT_EQ(posix_trace_attr_getpolling_np(&attr, &polling), 0);
		PXT_EQ(posix_trace_attr_getorderedstamps_np(&attr, &ordered), 0);
		PXT_EQ(polling, i < 2);
		PXT_EQ(ordered, i % 2);
	}
	PXT_EQ(posix_trace_attr_destroy(&attr), 0);
}
