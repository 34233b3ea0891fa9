/* SPDX-License-Identifier: MIT */
/* log_errors.c - streams with a log: a file that takes no more. */
#define _GNU_SOURCE /* unshare(): a small file system of our own, to be filled */
#include "story.h"

#include "../suite.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <unistd.h>

/* Limits the size of files for this process. */
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
PXT_TEST(a_file_limit_is_efbig_from_flush_and_shutdown_and_kept_in_the_status)
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
PXT_TEST(after_failed_flushes_the_log_has_gaps_but_no_duplicates)
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
PXT_TEST(a_full_device_is_enospc_from_flush_and_shutdown)
{
	int result = pxt_in_child(fill_a_small_file_system, NULL);

	if (result == NO_MOUNT)
		pxt_skip("no file system can be mounted here");
	else
		PXT_EQ(result, 0);
}

/* CRLOG-E3, CREATE-10, DEC-33 */
PXT_TEST(a_device_without_any_space_is_enospc_at_create)
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
