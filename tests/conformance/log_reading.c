/* SPDX-License-Identifier: MIT */
/* log_reading.c - streams with a log: logs that are read: at their end, twice, damaged, or no logs at all. */
#include "story.h"

#include "../suite.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

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

	lk_say_many(1, 9);
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

	lk_say_many(1, 9);
	one = lk_finish(trid, &spec);
	two = lk_open_log(spec.fd);
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
		log = lk_open_log(spec.fd);
		PXT_EQ(posix_trace_close(log), 0);
	}
	(void)close(spec.fd);
}

/* A finished log with some events, and no longer than they need. */
static int short_log(void)
{
	struct st_spec spec = { .policy = POSIX_TRACE_LOOP, .log_policy = POSIX_TRACE_APPEND };
	trace_id_t trid = lk_logging(&spec);

	lk_say_many(1, 50);
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

	lk_say_many(1, 50);
	PXT_EQ(posix_trace_flush(trid), 0);
	PXT_EQ(posix_trace_open(spec.fd, &none), EINVAL);
	CU_ASSERT(none == NEVER);
	lk_close_log(lk_finish(trid, &spec), spec.fd);
}
