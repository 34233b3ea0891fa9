/* SPDX-License-Identifier: MIT */
/* log_policies.c - streams with a log: what a full log does, and clear; logs that are read. */
#include "story.h"

#include "../suite.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#define MARKS "FLUSH_START FLUSH_STOP"

/* ---- Log-full policies ---- */

/* LOGP-01, LOGP-08, LOGP-09, OPEN-02, FLUSH-04 */
PXT_TEST(a_looping_log_keeps_the_most_recent_events)
{
	struct st_spec spec = { .policy = POSIX_TRACE_LOOP,
		.size = 1 << 14,
		.log_policy = POSIX_TRACE_LOOP,
		.log_size = 1 << 16 };
	trace_id_t trid = lk_logging(&spec);
	struct posix_trace_status_info status;
	struct st_event event;
	trace_id_t log;
	int next;

	for (int i = 0; i < 100; i++) {
		st_say_many(i * 300 + 1, i * 300 + 300);
		PXT_EQ_FATAL(posix_trace_flush(trid), 0);
	}
	PXT_EQ(posix_trace_get_status(trid, &status), 0);
	PXT_EQ(status.posix_stream_overrun_status, POSIX_TRACE_NO_OVERRUN);
	PXT_EQ(status.posix_log_overrun_status, POSIX_TRACE_OVERRUN);
	PXT_EQ(status.posix_log_full_status, POSIX_TRACE_FULL);
	PXT_EQ(posix_trace_get_status(trid, &status), 0);
	PXT_EQ(status.posix_log_overrun_status, POSIX_TRACE_NO_OVERRUN);
	log = lk_finish(trid, &spec);
	CU_ASSERT_FATAL(st_take_user(log, &event));
	next = st_number(&event);
	PXT_CHECK(next > 1 && next <= 30000 - 500, "the log begins with %d", next);
	st_expect_without(log, "FLUSH_START FLUSH_STOP", st_text("%d..30000 STOP0", next + 1));
	lk_close_log(log, spec.fd);
}

/* LOGP-02, LOGP-08, LOGP-09, FLUSH-04, DEC-14 */
PXT_TEST(a_log_until_full_ends_with_an_automatic_stop)
{
	struct st_spec spec = { .policy = POSIX_TRACE_LOOP,
		.size = 1 << 14,
		.log_policy = POSIX_TRACE_UNTIL_FULL,
		.log_size = 1 << 15 };
	trace_id_t trid = lk_logging(&spec);
	struct posix_trace_status_info status;
	trace_id_t log;
	const char *story;
	int fitting;

	for (int i = 0; i < 40; i++) {
		st_say_many(i * 300 + 1, i * 300 + 300);
		PXT_EQ_FATAL(posix_trace_flush(trid), 0);
	}
	PXT_EQ(posix_trace_get_status(trid, &status), 0);
	PXT_EQ(status.posix_stream_status, POSIX_TRACE_SUSPENDED);
	PXT_EQ(status.posix_log_full_status, POSIX_TRACE_FULL);
	PXT_EQ(status.posix_log_overrun_status, POSIX_TRACE_OVERRUN);
	PXT_EQ(posix_trace_start(trid), 0);
	st_expect_status(trid, "SUSPENDED NOT_FULL NO_OVERRUN");
	fitting = st_fitting(trid, (1 << 15) - 2048, sizeof(int));
	log = lk_finish(trid, &spec);
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
	PXT_CHECK(kept >= fitting && kept < 12000, "%d events kept, %d fit", kept, fitting);
	lk_close_log(log, spec.fd);
}

/* LOGP-04, AGLSZ-01, ASLSZ-02 */
PXT_TEST(the_log_size_bounds_the_bytes_of_events_only)
{
	const size_t log_size = 1 << 15;
	struct st_spec spec = { .policy = POSIX_TRACE_LOOP,
		.size = 1 << 17,
		.log_policy = POSIX_TRACE_UNTIL_FULL,
		.log_size = log_size };
	trace_id_t trid = lk_logging(&spec);
	trace_attr_t attr;
	size_t system = 0;
	trace_id_t log;
	int fitting;

	PXT_EQ(posix_trace_get_attr(trid, &attr), 0);
	PXT_EQ(posix_trace_attr_getmaxsystemeventsize(&attr, &system), 0);
	/* START, the automatic STOP's place, the STOP, and the events. */
	fitting = st_fitting(trid, log_size - 3 * system, sizeof(int));
	st_say_many(1, fitting);
	log = lk_finish(trid, &spec);
	st_expect(log, st_text("START 1..%d STOP0", fitting));
	lk_close_log(log, spec.fd);
}

/* LOGP-03, LOGP-09, ASLSZ-02 */
PXT_TEST(an_appending_log_grows_beyond_its_size)
{
	struct st_spec spec = { .policy = POSIX_TRACE_LOOP,
		.size = 1 << 14,
		.log_policy = POSIX_TRACE_APPEND,
		.log_size = 4096 };
	trace_id_t trid = lk_logging(&spec);
	struct posix_trace_status_info status;
	trace_id_t log;

	for (int i = 0; i < 50; i++) {
		st_say_many(i * 300 + 1, i * 300 + 300);
		PXT_EQ_FATAL(posix_trace_flush(trid), 0);
	}
	PXT_EQ(posix_trace_get_status(trid, &status), 0);
	PXT_EQ(status.posix_log_full_status, POSIX_TRACE_NOT_FULL);
	PXT_EQ(status.posix_log_overrun_status, POSIX_TRACE_NO_OVERRUN);
	log = lk_finish(trid, &spec);
	st_expect_without(log, MARKS, "START 1..15000 STOP0");
	lk_close_log(log, spec.fd);
}

/* LOGP-08, STA-06, CREATE-03: a new log has lost nothing and is not full */
PXT_TEST(the_status_of_a_new_stream_with_log_is_clean)
{
	struct st_spec spec = { .with_log = true, .fd = pxt_temp_file() };
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

/* ---- Clear ---- */

/* CLEAR-06, CLEAR-02, LOGP-09, CLEAR-07, DEC-25 */
PXT_TEST(clear_empties_the_log_too)
{
	const int policies[] = { POSIX_TRACE_LOOP, POSIX_TRACE_UNTIL_FULL, POSIX_TRACE_APPEND };

	for (int i = 0; i < 3; i++) {
		struct st_spec spec = { .policy = POSIX_TRACE_LOOP,
			.size = 1 << 14,
			.log_policy = policies[i],
			.log_size = 1 << 15 };
		trace_id_t trid = lk_logging(&spec);
		struct posix_trace_status_info status;
		trace_id_t log;

		for (int k = 0; k < 10; k++) {
			st_say_many(1, 300);
			PXT_EQ(posix_trace_flush(trid), 0);
		}
		PXT_EQ(posix_trace_clear(trid), 0);
		PXT_EQ(posix_trace_get_status(trid, &status), 0);
		PXT_EQ(status.posix_log_full_status, POSIX_TRACE_NOT_FULL);
		PXT_EQ(status.posix_log_overrun_status, POSIX_TRACE_NO_OVERRUN);
		PXT_EQ(posix_trace_start(trid), 0);
		st_say_many(4001, 4005);
		log = lk_finish(trid, &spec);
		st_expect_without(log, "START FLUSH_START FLUSH_STOP", "4001..4005 STOP0");
		lk_close_log(log, spec.fd);
	}
}

/* CLEAR-06: numbers and sums begin anew, whatever was recorded and lost before */
PXT_TEST(a_log_that_was_cleared_is_sound)
{
	const int policies[] = { POSIX_TRACE_LOOP, POSIX_TRACE_UNTIL_FULL, POSIX_TRACE_APPEND };

	for (int i = 0; i < 6; i++) {
		struct st_spec spec = { .policy = POSIX_TRACE_LOOP,
			.size = 1 << 12,
			.log_policy = policies[i % 3],
			.log_size = 1 << 16 };
		trace_id_t trid = lk_logging(&spec);
		struct posix_trace_logfinding_np finding = { 0 };
		struct posix_trace_logcheck_np sum;
		trace_id_t log;

		st_say_many(1, 2000);
		PXT_EQ(posix_trace_flush(trid), 0);
		st_say_many(1, 2000);
		if (i >= 3)
			PXT_EQ(posix_trace_flush(trid), 0);
		PXT_EQ(posix_trace_clear(trid), 0);
		st_say_many(1, 30);
		PXT_EQ(posix_trace_flush(trid), 0);
		st_say_many(31, 40);
		log = lk_finish(trid, &spec);
		PXT_EQ(posix_trace_log_check_np(
		           spec.fd, &sum, sizeof(sum), &finding, sizeof(finding), 1, NULL, NULL),
		    0);
		PXT_CHECK(sum.posix_findings_np == 0, "%s", finding.posix_reason_np);
		PXT_EQ(sum.posix_told_np, 0);
		st_expect_without(log, "FLUSH_START FLUSH_STOP", "1..40 STOP0");
		lk_close_log(log, spec.fd);
	}
}

/* CLEAR-06: the first event afterwards is the same in stream and log */
PXT_TEST(after_clear_the_log_begins_with_the_first_event_behind_it)
{
	struct st_spec spec = { .policy = POSIX_TRACE_LOOP };
	trace_id_t trid = lk_logging(&spec);
	trace_id_t log;

	st_say_many(1, 5);
	PXT_EQ(posix_trace_clear(trid), 0);
	st_say_many(6, 8);
	log = lk_finish(trid, &spec);
	st_expect(log, "6..8 STOP0");
	lk_close_log(log, spec.fd);
}

/* ---- Logs that are read: at their end, twice, cut off, or before they are whole ---- */

/* GETNX-04, REWIND-01, TRU-06 */
PXT_TEST(a_log_stays_at_its_end_until_it_is_rewound)
{
	struct st_spec spec = { .policy = POSIX_TRACE_LOOP, .max_data = 10 };
	trace_id_t trid = lk_logging(&spec);
	struct posix_trace_event_info info;
	char data[16];
	size_t len = 0;
	int gone = 0;

	posix_trace_event(st_type(), "0123456789abcdef", 16);
	trace_id_t log = lk_finish(trid, &spec);
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
	lk_close_log(log, spec.fd);
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
PXT_TEST(a_log_is_read_in_another_process_too)
{
	struct st_spec spec = { .policy = POSIX_TRACE_LOOP };
	trace_id_t trid = lk_logging(&spec);

	st_say_many(1, 9);
	PXT_EQ(posix_trace_shutdown(trid), 0);
	PXT_EQ(pxt_in_child(read_in_child, &spec.fd), 0);
	(void)close(spec.fd);
}

/* OPEN-01, CON-04: two readers of one file, each with its own position */
PXT_TEST(a_log_can_be_opened_twice)
{
	struct st_spec spec = { .policy = POSIX_TRACE_LOOP };
	trace_id_t trid = lk_logging(&spec);
	trace_id_t one;
	trace_id_t two;

	st_say_many(1, 9);
	one = lk_finish(trid, &spec);
	two = pxt_open_log(spec.fd);
	CU_ASSERT(one != two);
	st_expect_most(one, 5, "START 1..4");
	st_expect_most(two, 3, "START 1..2");
	st_expect(one, "5..9 STOP0");
	st_expect(two, "3..9 STOP0");
	PXT_EQ(posix_trace_close(two), 0);
	lk_close_log(one, spec.fd);
}

/* CLOSE-01, CLOSE-02, CLOSE-E1, REWIND-E1, DEC-02, DEC-22 */
PXT_TEST(close_frees_the_identifier_and_leaves_the_descriptor_open)
{
	struct st_spec spec = { .policy = POSIX_TRACE_LOOP };
	trace_id_t log = lk_finish(lk_logging(&spec), &spec);
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
		log = pxt_open_log(spec.fd);
		PXT_EQ(posix_trace_close(log), 0);
	}
	(void)close(spec.fd);
}

/* A finished log with some events, and no longer than they need. */
static int short_log(void)
{
	struct st_spec spec = { .policy = POSIX_TRACE_LOOP, .log_policy = POSIX_TRACE_APPEND };
	trace_id_t trid = lk_logging(&spec);

	st_say_many(1, 50);
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
		CU_ASSERT(failed == 0 || failed == EIO);
		if (failed != 0)
			break;
	}
	PXT_EQ(posix_trace_close(log), 0);
	return 0;
}

/* OPEN-06, OPEN-E2, DEC-29, LOGP-06: cut off anywhere, the log is incomplete */
PXT_TEST(a_log_without_its_end_is_einval)
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

/* CON-10, DEC-29, LOGP-06 */
PXT_TEST(a_log_is_not_complete_before_shutdown)
{
	struct st_spec spec = { .policy = POSIX_TRACE_LOOP };
	trace_id_t trid = lk_logging(&spec);
	trace_id_t none = NEVER;

	st_say_many(1, 50);
	PXT_EQ(posix_trace_flush(trid), 0);
	PXT_EQ(posix_trace_open(spec.fd, &none), EINVAL);
	CU_ASSERT(none == NEVER);
	lk_close_log(lk_finish(trid, &spec), spec.fd);
}
