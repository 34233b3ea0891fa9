/* SPDX-License-Identifier: MIT */
/* rotated.c - logs that go from file to file: what each file has, what all have, and what goes wrong. */
#define _GNU_SOURCE /* symlinkat() */
#include "fakes/fakes.h"
#include "format/logfmt.h"
#include "logs.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#define NAME "run.ptl"

static struct folder folder;
static trace_event_id_t event;

static trace_id_t begin(uint64_t bytes, unsigned files)
{
	const struct posix_trace_rotation_np rotation = {
		.posix_name_np = NAME, .posix_bytes_np = bytes, .posix_files_np = files
	};

	event = pxt_open_event("tick");
	return folder_stream(&folder, NULL, &rotation);
}

/* @last events, flushed after every hundred. */
static void record(trace_id_t trid, uint32_t last)
{
	for (uint32_t i = 1; i <= last; i += 100) {
		folder_record(event, i, i + 99);
		PXT_EQ(posix_trace_flush(trid), 0);
	}
}

/* The files from number @from on, whole, one going on where the other ends; returns the events of all. */
static uint32_t read_all(unsigned from, unsigned to)
{
	struct folder_log before = { 0 };
	struct folder_log log;
	uint32_t events = 0;

	for (unsigned i = from; i <= to; i++) {
		CU_ASSERT_FATAL(folder_read(&folder, i, "tick", &log));
		PXT_CHECK(log.whole && !log.gap, "file %u is not whole", i);
		PXT_EQ(log.info.posix_file_np, i);
		if (i > from) {
			PXT_EQ(log.info.posix_earlier_np,
			    before.info.posix_earlier_np + before.records);
			CU_ASSERT(
			    memcmp(log.info.posix_uuid_np, before.info.posix_uuid_np, 16) == 0);
			CU_ASSERT(!log.first || log.first == before.last + 1);
		}
		log.last = log.last ? log.last : before.last;
		before = log;
		events += log.events;
	}
	return events;
}

/* LPT-96 */
PXT_TEST(each_file_can_be_read_alone_and_all_have_every_event_once)
{
	struct posix_trace_counts_np counts;
	struct folder_log log;
	uint64_t retrieved = 0;
	unsigned files;
	trace_id_t trid;

	folder_make(&folder);
	trid = begin(65536, 0);
	record(trid, 10000);
	PXT_EQ(posix_trace_stop(trid), 0);
	PXT_EQ(posix_trace_flush(trid), 0);
	PXT_EQ(posix_trace_getcounts_np(trid, &counts, sizeof(counts)), 0);
	PXT_EQ(posix_trace_shutdown(trid), 0);
	files = folder_count(&folder);
	CU_ASSERT(files > 3);
	PXT_EQ(read_all(1, files), 10000);
	for (unsigned i = 1; i <= files; i++) {
		CU_ASSERT(folder_read(&folder, i, "tick", &log));
		retrieved += log.info.posix_counts_np.posix_retrieved_np;
		PXT_EQ(log.info.posix_lost_np, 0);
	}
	PXT_EQ(retrieved, counts.posix_retrieved_np);
	folder_remove(&folder);
}

/* LPT-96 */
PXT_TEST(no_file_is_larger_than_was_asked)
{
	struct stat state;
	trace_id_t trid;

	folder_make(&folder);
	trid = begin(100000, 0);
	/* As many in one flush as fill the largest blocks. */
	for (uint32_t i = 0; i < 10; i++) {
		folder_record(event, 1, 1900);
		PXT_EQ(posix_trace_flush(trid), 0);
	}
	PXT_EQ(posix_trace_shutdown(trid), 0);
	for (unsigned i = 1; i <= folder_count(&folder); i++) {
		char name[32];

		(void)snprintf(name, sizeof(name), NAME ".%04u", i);
		PXT_EQ(fstatat(folder.fd, name, &state, 0), 0);
		CU_ASSERT(state.st_size <= 100000);
	}
	folder_remove(&folder);
}

/* LPT-96 */
PXT_TEST(the_newest_files_are_kept_and_the_oldest_of_them_says_what_is_gone)
{
	struct folder_log log;
	uint32_t events;
	unsigned last = 0;
	trace_id_t trid;

	folder_make(&folder);
	trid = begin(65536, 3);
	record(trid, 20000);
	PXT_EQ(posix_trace_shutdown(trid), 0);
	PXT_EQ(folder_count(&folder), 3);
	while (!folder_read(&folder, last, "tick", &log))
		last++;
	CU_ASSERT(last > 2 && log.info.posix_file_np == last);
	events = read_all(last, last + 2);
	/* Beside the events START and those of flushes. */
	CU_ASSERT(log.info.posix_earlier_np > 20000 - events);
	PXT_EQ(log.first, 20000 - events + 1);
	folder_remove(&folder);
}

/* LPT-96 */
PXT_TEST(losses_are_counted_in_the_file_that_tells_them)
{
	const struct posix_trace_rotation_np rotation = { .posix_name_np = NAME };
	struct folder_log log;
	trace_attr_t attr;
	trace_id_t trid;
	uint64_t lost[3];

	folder_make(&folder);
	event = pxt_open_event("tick");
	pxt_attr(&attr, 2048, 64, POSIX_TRACE_LOOP);
	PXT_EQ(posix_trace_attr_setlanes_np(&attr, 1), 0);
	trid = folder_stream(&folder, &attr, &rotation);
	for (uint32_t i = 0; i < 3; i++) {
		/* What the ring has no room for was overwritten before the flush. */
		folder_record(event, 1, 1000 * (i + 1));
		if (i < 2)
			PXT_EQ(posix_trace_rotate_np(trid), 0);
	}
	PXT_EQ(posix_trace_shutdown(trid), 0);
	for (unsigned i = 0; i < 3; i++) {
		CU_ASSERT_FATAL(folder_read(&folder, i + 1, "tick", &log));
		lost[i] = log.info.posix_lost_np;
		CU_ASSERT(log.whole && lost[i] > 0);
		CU_ASSERT(log.events + lost[i] >= 1000 * (i + 1));
		CU_ASSERT(log.events + lost[i] <= 1000 * (i + 1) + 4);
		PXT_EQ(log.info.posix_earlier_lost_np, i == 0   ? 0
		                                       : i == 1 ? lost[0]
		                                                : lost[0] + lost[1]);
	}
	folder_remove(&folder);
}

/* LPT-96 */
PXT_TEST(each_file_has_the_notes_and_threads_and_types)
{
	struct folder_log log;
	trace_id_t trid;

	folder_make(&folder);
	trid = begin(0, 0);
	PXT_EQ(posix_trace_note_np(trid, "place", "here"), 0);
	folder_record(event, 1, 5);
	PXT_EQ(posix_trace_rotate_np(trid), 0);
	folder_record(event, 6, 10);
	PXT_EQ(posix_trace_shutdown(trid), 0);
	for (unsigned i = 1; i <= 2; i++) {
		CU_ASSERT_FATAL(folder_read(&folder, i, "tick", &log));
		PXT_EQ(log.events, 5);
		PXT_EQ(log.info.posix_notes_np, 1);
		PXT_EQ(log.info.posix_pid_np, getpid());
		CU_ASSERT(log.info.posix_threads_np > 0 && log.info.posix_modules_np > 0);
	}
	folder_remove(&folder);
}

static bool is_text(const char *name, const char *text)
{
	char back[64] = "";
	int fd = openat(folder.fd, name, O_RDONLY | O_CLOEXEC);
	bool same = read(fd, back, sizeof(back) - 1) >= 0 && strcmp(back, text) == 0;

	(void)close(fd);
	return same;
}

static void put_text(const char *name, const char *text)
{
	int fd = openat(folder.fd, name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);

	PXT_EQ(write(fd, text, strlen(text)), (long)strlen(text));
	(void)close(fd);
}

/* LPT-96 */
PXT_TEST(what_has_a_name_already_is_neither_written_nor_followed_nor_removed)
{
	trace_id_t trid;

	folder_make(&folder);
	put_text(NAME ".0001", "theirs");
	put_text("aim", "theirs");
	PXT_EQ(symlinkat("aim", folder.fd, NAME ".0003"), 0);
	trid = begin(0, 1);
	CU_ASSERT(folder_has(&folder, NAME ".0002"));
	PXT_EQ(posix_trace_rotate_np(trid), 0);
	CU_ASSERT(folder_has(&folder, NAME ".0004"));
	CU_ASSERT(!folder_has(&folder, NAME ".0002"));
	/* Somebody's own file in place of ours. */
	PXT_EQ(unlinkat(folder.fd, NAME ".0004", 0), 0);
	put_text(NAME ".0004", "theirs");
	PXT_EQ(posix_trace_rotate_np(trid), 0);
	CU_ASSERT(folder_has(&folder, NAME ".0005"));
	PXT_EQ(posix_trace_shutdown(trid), 0);
	CU_ASSERT(is_text(NAME ".0001", "theirs") && is_text(NAME ".0004", "theirs"));
	CU_ASSERT(is_text("aim", "theirs") && folder_has(&folder, NAME ".0003"));
	folder_remove(&folder);
}

static int flush_error(trace_id_t trid)
{
	struct posix_trace_status_info status;

	PXT_EQ(posix_trace_get_status(trid, &status), 0);
	return status.posix_stream_flush_error;
}

/* LPT-96 */
PXT_TEST(where_no_file_can_be_made_the_log_goes_on_and_tells_it)
{
	struct folder_log log;
	trace_id_t trid;

	folder_make(&folder);
	trid = begin(65536, 2);
	pxt_fault_arm_from(&pxt_fault_next, 1, EACCES);
	record(trid, 5000);
	PXT_EQ(flush_error(trid), EACCES);
	PXT_EQ(posix_trace_rotate_np(trid), EACCES);
	pxt_fault_arm(&pxt_fault_next, 0, 0);
	CU_ASSERT(folder_read(&folder, 1, "posix_trace_error", &log));
	PXT_EQ(log.events, 1);
	PXT_EQ(posix_trace_rotate_np(trid), 0);
	PXT_EQ(posix_trace_shutdown(trid), 0);
	PXT_EQ(read_all(1, 2), 5000);
	folder_remove(&folder);
}

/* The library's own descriptor of what is open at @fd. */
static int number_of(int fd)
{
	struct stat own;
	struct stat state;

	PXT_EQ(fstat(fd, &own), 0);
	for (int other = 3; other < 64; other++) {
		if (other != fd && fstat(other, &state) == 0 && state.st_ino == own.st_ino &&
		    state.st_dev == own.st_dev)
			return other;
	}
	return -1;
}

/* LPT-96, DEC-22: the log's files are still its own. */
PXT_TEST(a_folder_of_the_program_at_the_number_of_the_logs_gets_no_file_and_stays_open)
{
	struct folder own;
	trace_id_t trid;
	int number;

	folder_make(&folder);
	folder_make(&own);
	trid = begin(0, 1);
	number = number_of(folder.fd);
	CU_ASSERT_FATAL(dup2(own.fd, number) == number);
	PXT_EQ(posix_trace_rotate_np(trid), EBADF);
	folder_record(event, 1, 100);
	PXT_EQ(posix_trace_flush(trid), 0);
	PXT_EQ(posix_trace_clear(trid), 0);
	folder_record(event, 1, 10);
	PXT_EQ(posix_trace_shutdown(trid), 0);
	PXT_EQ(folder_count(&own), 0);
	PXT_EQ(number_of(own.fd), number);
	PXT_EQ(read_all(1, 1), 10);
	(void)close(number);
	folder_remove(&own);
	folder_remove(&folder);
}

/* LPT-96, DEC-22: beside the file's own number. */
PXT_TEST(files_of_the_program_at_all_numbers_of_a_rotated_log_are_left_alone)
{
	struct folder own;
	trace_id_t trid;
	int numbers[2];
	int file;

	folder_make(&folder);
	folder_make(&own);
	trid = begin(0, 2);
	file = openat(folder.fd, NAME ".0001", O_RDONLY | O_CLOEXEC);
	numbers[0] = number_of(folder.fd);
	numbers[1] = number_of(file);
	CU_ASSERT_FATAL(dup2(own.fd, numbers[0]) >= 0 && dup2(own.fd, numbers[1]) >= 0);
	folder_record(event, 1, 100);
	PXT_EQ(posix_trace_flush(trid), EBADF);
	PXT_EQ(posix_trace_rotate_np(trid), EBADF);
	PXT_EQ(posix_trace_shutdown(trid), EBADF);
	PXT_EQ(folder_count(&own), 0);
	PXT_EQ(folder_count(&folder), 1);
	CU_ASSERT(close(numbers[0]) == 0 && close(numbers[1]) == 0 && close(file) == 0);
	folder_remove(&own);
	folder_remove(&folder);
}

static bool has_head(const char *name)
{
	struct stat state;

	return fstatat(folder.fd, name, &state, 0) == 0 &&
	       state.st_size >= (off_t)PXT_LOG_HEADER_BYTES;
}

/* LPT-96: at every write between one file and the next. */
PXT_TEST(a_full_disk_between_two_files_loses_nothing_and_leaves_no_file_without_its_head)
{
	unsigned failed = 1;
	unsigned n;

	for (n = 1; failed; n++) {
		trace_id_t trid;

		folder_make(&folder);
		trid = begin(0, 0);
		folder_record(event, 1, 100);
		PXT_EQ(posix_trace_flush(trid), 0);
		pxt_fault_write.accept = n % 3 * 16;
		pxt_fault_arm(&pxt_fault_write, n, ENOSPC);
		failed = posix_trace_rotate_np(trid) == ENOSPC;
		PXT_CHECK(
		    !folder_has(&folder, NAME ".0002") || has_head(NAME ".0002"), "at write %u", n);
		pxt_fault_arm(&pxt_fault_write, 0, 0);
		folder_record(event, 101, 200);
		PXT_EQ(posix_trace_flush(trid), 0);
		PXT_EQ(posix_trace_shutdown(trid), 0);
		PXT_EQ(read_all(1, folder_count(&folder)), 200);
		folder_remove(&folder);
	}
	CU_ASSERT(n > 6);
	pxt_fault_write.accept = 0;
}

/* LPT-96: the oldest file is the present one, in which the log goes on. */
PXT_TEST(a_full_disk_leaves_the_only_file_that_is_kept)
{
	unsigned failed = 1;
	bool stayed;
	unsigned n;

	for (n = 1; failed; n++) {
		trace_id_t trid;

		folder_make(&folder);
		trid = begin(0, 1);
		folder_record(event, 1, 100);
		PXT_EQ(posix_trace_flush(trid), 0);
		pxt_fault_arm(&pxt_fault_write, n, ENOSPC);
		failed = posix_trace_rotate_np(trid) == ENOSPC;
		pxt_fault_arm(&pxt_fault_write, 0, 0);
		folder_record(event, 101, 200);
		PXT_EQ(posix_trace_shutdown(trid), 0);
		PXT_EQ(folder_count(&folder), 1);
		stayed = folder_has(&folder, NAME ".0001");
		/* What the new file begins with may fail, too. */
		CU_ASSERT(stayed ? failed != 0 : n > 4);
		PXT_EQ(stayed ? read_all(1, 1) : read_all(2, 2), stayed ? 200 : 100);
		folder_remove(&folder);
	}
	CU_ASSERT(n > 6);
}

/* LPT-96 */
PXT_TEST(a_file_that_cannot_be_cut_behind_its_end_goes_on_without_that)
{
	trace_id_t trid;

	folder_make(&folder);
	trid = begin(0, 0);
	folder_record(event, 1, 100);
	pxt_fault_arm(&pxt_fault_truncate, 1, EIO);
	PXT_EQ(posix_trace_rotate_np(trid), EIO);
	folder_record(event, 101, 200);
	PXT_EQ(posix_trace_shutdown(trid), 0);
	PXT_EQ(read_all(1, folder_count(&folder)), 200);
	folder_remove(&folder);
}

/* LPT-96: at each write of a log that goes to its next files by itself, and of what those begin with. */
PXT_TEST(a_full_disk_where_files_are_full_loses_nothing)
{
	unsigned failed = 1;
	unsigned n;

	for (n = 1; failed; n++) {
		trace_id_t trid;

		folder_make(&folder);
		trid = begin(65536, 0);
		pxt_fault_write.accept = n % 3 * 16;
		pxt_fault_arm(&pxt_fault_write, n, ENOSPC);
		failed = 0;
		for (uint32_t i = 0; i < 9; i++) {
			folder_record(event, i * 400 + 1, i * 400 + 400);
			failed += posix_trace_flush(trid) != 0;
		}
		pxt_fault_arm(&pxt_fault_write, 0, 0);
		failed += (unsigned)flush_error(trid);
		PXT_EQ(posix_trace_shutdown(trid), 0);
		CU_ASSERT(failed || folder_count(&folder) > 1);
		PXT_EQ(read_all(1, folder_count(&folder)), 3600);
		folder_remove(&folder);
	}
	CU_ASSERT(n > 20);
	pxt_fault_write.accept = 0;
}

/* LPT-96 */
PXT_TEST(a_file_that_cannot_be_removed_is_told_and_the_log_goes_on)
{
	trace_id_t trid;

	folder_make(&folder);
	trid = begin(0, 1);
	folder_record(event, 1, 10);
	pxt_fault_arm(&pxt_fault_remove, 1, EPERM);
	PXT_EQ(posix_trace_rotate_np(trid), 0);
	PXT_EQ(flush_error(trid), EPERM);
	folder_record(event, 11, 20);
	PXT_EQ(posix_trace_shutdown(trid), 0);
	PXT_EQ(read_all(1, 2), 20);
	folder_remove(&folder);
}

/* LPT-96, CLEAR-04 */
PXT_TEST(a_clear_removes_the_earlier_files)
{
	struct folder_log log;
	trace_id_t trid;

	folder_make(&folder);
	trid = begin(0, 4);
	folder_record(event, 1, 10);
	PXT_EQ(posix_trace_rotate_np(trid), 0);
	PXT_EQ(posix_trace_rotate_np(trid), 0);
	PXT_EQ(posix_trace_clear(trid), 0);
	folder_record(event, 1, 7);
	PXT_EQ(posix_trace_shutdown(trid), 0);
	PXT_EQ(folder_count(&folder), 1);
	CU_ASSERT_FATAL(folder_read(&folder, 3, "tick", &log));
	CU_ASSERT(log.whole);
	PXT_EQ(log.events, 7);
	PXT_EQ(log.info.posix_earlier_np, 0);
	folder_remove(&folder);
}

/* LPT-96, CLEAR-04: of as many files as there are, too. */
PXT_TEST(what_was_cleared_is_in_no_file_where_all_are_kept)
{
	struct folder_log log;
	trace_id_t trid;

	folder_make(&folder);
	trid = begin(0, 0);
	for (uint32_t i = 1; i <= 6; i++) {
		folder_record(event, 10 * i, 10 * i + 9);
		PXT_EQ(posix_trace_rotate_np(trid), 0);
	}
	PXT_EQ(posix_trace_clear(trid), 0);
	folder_record(event, 1, 7);
	PXT_EQ(posix_trace_shutdown(trid), 0);
	PXT_EQ(folder_count(&folder), 1);
	CU_ASSERT_FATAL(folder_read(&folder, 7, "tick", &log));
	PXT_EQ(log.events, 7);
	PXT_EQ(log.info.posix_earlier_np, 0);
	folder_remove(&folder);
}

/* LPT-96 */
PXT_TEST(a_file_ends_when_it_is_old_enough)
{
	const struct posix_trace_rotation_np rotation = { .posix_name_np = NAME,
		.posix_seconds_np = 1 };
	struct timespec now;
	struct timespec end;
	trace_id_t trid;

	folder_make(&folder);
	event = pxt_open_event("tick");
	trid = folder_stream(&folder, NULL, &rotation);
	folder_record(event, 1, 1);
	PXT_EQ(posix_trace_flush(trid), 0);
	PXT_EQ(folder_count(&folder), 1);
	(void)clock_gettime(CLOCK_MONOTONIC, &end);
	end.tv_sec += 30;
	for (uint32_t i = 2; folder_count(&folder) < 2; i++) {
		pxt_sleep_ms(20);
		folder_record(event, i, i);
		PXT_EQ(posix_trace_flush(trid), 0);
		(void)clock_gettime(CLOCK_MONOTONIC, &now);
		CU_ASSERT_FATAL(now.tv_sec < end.tv_sec);
	}
	PXT_EQ(posix_trace_shutdown(trid), 0);
	CU_ASSERT(read_all(1, folder_count(&folder)) > 1);
	folder_remove(&folder);
}

/* ---- All files as one log ---- */

/* Files @numbers, in that order, as one log; its events of the type are counted.  Returns what open says. */
static int open_files(const unsigned *numbers, unsigned count, struct folder_log *log)
{
	int fds[FOLDER_FILES] = { -1 };
	struct posix_trace_logerror_np why;
	struct posix_trace_event_info info;
	int unavailable = 0;
	trace_id_t trid;
	int error;

	memset(log, 0, sizeof(*log));
	for (unsigned i = 0; i < count; i++) {
		char name[32];

		(void)snprintf(name, sizeof(name), NAME ".%04u", numbers[i]);
		fds[i] = openat(folder.fd, name, O_RDONLY | O_CLOEXEC);
		CU_ASSERT_FATAL(fds[i] >= 0);
	}
	error = posix_trace_log_open_np(fds, count, 0, &trid, &why, sizeof(why));
	for (unsigned i = 0; i < count; i++)
		(void)close(fds[i]);
	if (error)
		return error;
	for (int turn = 0; turn < 2; turn++) {
		uint64_t lost = 0;

		log->events = log->last = 0;
		log->records = 0;
		for (;;) {
			struct posix_trace_eventextra_np extra;
			uint32_t number = 0;
			size_t bytes;

			PXT_EQ_FATAL(posix_trace_getnext_event(trid, &info, &number, sizeof(number),
			                 &bytes, &unavailable),
			    0);
			if (unavailable)
				break;
			PXT_EQ(posix_trace_eventinfo_getextra_np(&info, &extra, sizeof(extra)), 0);
			lost += extra.posix_lost_before_np;
			log->records++;
			if (info.posix_event_id != event)
				continue;
			log->gap |= log->last && number != log->last + 1;
			log->first = log->first ? log->first : number;
			log->last = number;
			log->events++;
			PXT_EQ(info.posix_pid, getpid());
		}
		PXT_EQ(posix_trace_log_getinfo_np(trid, &log->info, sizeof(log->info)), 0);
		PXT_EQ(lost, log->info.posix_lost_np);
		PXT_EQ(posix_trace_rewind(trid), 0);
	}
	PXT_EQ(posix_trace_close(trid), 0);
	return 0;
}

/* LPT-96: of 9,999, which may be kept, as many as open at once where a process may have 9,000 descriptors. */
PXT_TEST(thousands_of_files_are_one_log)
{
	static int fds[4200];
	const unsigned count = sizeof(fds) / sizeof(*fds);
	struct posix_trace_logpassed_np passed = { 0 };
	struct posix_trace_logerror_np why;
	struct rlimit before;
	struct rlimit limit;
	trace_id_t trid;

	PXT_EQ_FATAL(getrlimit(RLIMIT_NOFILE, &before), 0);
	limit = before;
	limit.rlim_cur = limit.rlim_max;
	if (limit.rlim_max < 9000 || setrlimit(RLIMIT_NOFILE, &limit) != 0) {
		pxt_skip("a process may not have so many descriptors");
		return;
	}
	folder_make(&folder);
	trid = begin(0, 0);
	for (unsigned i = 1; i < count; i++)
		PXT_EQ(posix_trace_rotate_np(trid), 0);
	folder_record(event, 1, 1);
	PXT_EQ(posix_trace_shutdown(trid), 0);
	for (unsigned i = 0; i < count; i++) {
		char name[32];

		(void)snprintf(name, sizeof(name), NAME ".%04u", i + 1);
		fds[i] = openat(folder.fd, name, O_RDONLY | O_CLOEXEC);
		CU_ASSERT_FATAL(fds[i] >= 0);
	}
	PXT_EQ_FATAL(posix_trace_log_open_np(fds, count, 0, &trid, &why, sizeof(why)), 0);
	PXT_EQ(posix_trace_seek_np(trid, INT64_MAX, &passed, sizeof(passed)), 0);
	CU_ASSERT(passed.posix_records_np > count);
	PXT_EQ(posix_trace_close(trid), 0);
	for (unsigned i = 0; i < count; i++)
		(void)close(fds[i]);
	folder_remove(&folder);
	PXT_EQ(setrlimit(RLIMIT_NOFILE, &before), 0);
}

/* LPT-96, LPT-93 */
PXT_TEST(files_in_any_order_are_one_log)
{
	static const unsigned numbers[] = { 3, 1, 4, 2 };
	struct posix_trace_counts_np counts;
	struct folder_log log;
	trace_id_t trid;

	folder_make(&folder);
	trid = begin(0, 0);
	PXT_EQ(posix_trace_note_np(trid, "place", "here"), 0);
	for (uint32_t i = 0; i < 4; i++) {
		if (i)
			PXT_EQ(posix_trace_rotate_np(trid), 0);
		folder_record(event, i * 1000 + 1, i * 1000 + 1000);
	}
	PXT_EQ(posix_trace_stop(trid), 0);
	PXT_EQ(posix_trace_flush(trid), 0);
	PXT_EQ(posix_trace_getcounts_np(trid, &counts, sizeof(counts)), 0);
	PXT_EQ(posix_trace_shutdown(trid), 0);
	PXT_EQ(open_files(numbers, 4, &log), 0);
	CU_ASSERT(!log.gap && log.info.posix_complete_np);
	PXT_EQ(log.events, 4000);
	PXT_EQ(log.info.posix_counts_np.posix_retrieved_np, counts.posix_retrieved_np);
	PXT_EQ(log.info.posix_counts_np.posix_written_np, counts.posix_written_np);
	PXT_EQ(log.info.posix_notes_np, 1);
	PXT_EQ(log.info.posix_threads_np, 1);
	PXT_EQ(log.info.posix_earlier_np, 0);
	folder_remove(&folder);
}

/* LPT-96 */
PXT_TEST(what_a_missing_file_holds_is_lost_and_earlier_files_are_told)
{
	static const unsigned numbers[] = { 4, 2 };
	static const unsigned wrong[] = { 2, 2 };
	struct folder_log missing;
	struct folder_log log;
	trace_id_t trid;

	folder_make(&folder);
	trid = begin(0, 0);
	for (uint32_t i = 0; i < 4; i++) {
		if (i)
			PXT_EQ(posix_trace_rotate_np(trid), 0);
		folder_record(event, i * 100 + 1, i * 100 + 100);
	}
	PXT_EQ(posix_trace_shutdown(trid), 0);
	CU_ASSERT(folder_read(&folder, 1, "tick", &missing));
	PXT_EQ(open_files(numbers, 2, &log), 0);
	PXT_EQ(log.info.posix_earlier_np, missing.records);
	CU_ASSERT(folder_read(&folder, 3, "tick", &missing));
	PXT_EQ(log.info.posix_lost_np, missing.records);
	PXT_EQ(log.events, 200);
	PXT_EQ(open_files(wrong, 2, &log), EINVAL);
	folder_remove(&folder);
}

/* ---- Damage ---- */

/* A DATA block of file 2. */
struct damaged {
	off_t at;
	uint32_t events;
	uint64_t with;    /* events of file 2 up to its end, and ... */
	uint64_t earlier; /* ... of file 1 */
	int64_t next_ns;  /* time of the event behind it */
};

static void find_block(struct damaged *block, unsigned which)
{
	int fd = openat(folder.fd, NAME ".0002", O_RDONLY | O_CLOEXEC);
	struct posix_trace_eventview_np view = { .posix_ns_np = 0 };
	struct posix_trace_loginfo_np info;
	unsigned char head[16];
	uint16_t type = 0;
	uint32_t bytes;
	trace_id_t trid;
	size_t got;

	memset(block, 0, sizeof(*block));
	PXT_EQ_FATAL(pread(fd, &bytes, sizeof(bytes), 24), sizeof(bytes));
	for (which++; which; which -= type == PXT_LOG_DATA) {
		block->at += (off_t)bytes;
		PXT_EQ_FATAL(pread(fd, head, sizeof(head), block->at), sizeof(head));
		memcpy(&type, head + 4, sizeof(type));
		memcpy(&bytes, head + 8, sizeof(bytes));
		memcpy(&block->events, head + 12, sizeof(block->events));
		block->with += type == PXT_LOG_DATA ? block->events : 0;
	}
	PXT_EQ_FATAL(posix_trace_open(fd, &trid), 0);
	PXT_EQ(posix_trace_log_getinfo_np(trid, &info, sizeof(info)), 0);
	block->earlier = info.posix_earlier_np;
	for (uint64_t i = 0; i <= block->with; i++)
		PXT_EQ_FATAL(posix_trace_getnext_events_np(trid, &view, sizeof(view), 1, &got), 0);
	block->next_ns = view.posix_ns_np;
	PXT_EQ(posix_trace_close(trid), 0);
	(void)close(fd);
}

static void damage(const struct damaged *block)
{
	int fd = openat(folder.fd, NAME ".0002", O_RDWR | O_CLOEXEC);
	unsigned char byte = 0;

	PXT_EQ(pread(fd, &byte, 1, block->at + 120), 1);
	byte ^= 0xff;
	PXT_EQ(pwrite(fd, &byte, 1, block->at + 120), 1);
	(void)close(fd);
}

enum way {
	READ,
	SEEK,
	BLOCKS, /* passed over unread */
};

/* To the damage, past it, and the next event: how many are lost there. */
static uint64_t lost_behind(enum way way, const struct damaged *damaged)
{
	int fds[2] = { openat(folder.fd, NAME ".0001", O_RDONLY | O_CLOEXEC),
		openat(folder.fd, NAME ".0002", O_RDONLY | O_CLOEXEC) };
	struct posix_trace_eventview_np view = { .posix_ns_np = 0 };
	struct posix_trace_logfinding_np finding;
	struct posix_trace_logblock_np block;
	uint64_t passed = 0;
	size_t got = 1;
	int unavailable = 0;
	trace_id_t trid;

	PXT_EQ_FATAL(posix_trace_log_open_np(fds, 2, 0, &trid, NULL, 0), 0);
	if (way == SEEK)
		PXT_EQ(posix_trace_seek_np(trid, damaged->next_ns, NULL, 0), EIO);
	while (way == BLOCKS && passed < damaged->earlier + damaged->with) {
		PXT_EQ_FATAL(
		    posix_trace_log_nextblock_np(trid, &block, sizeof(block), &unavailable), 0);
		passed += block.posix_records_np;
	}
	while (got && posix_trace_getnext_events_np(trid, &view, sizeof(view), 1, &got) == 0)
		;
	PXT_EQ(posix_trace_log_skipdamage_np(trid, &finding, sizeof(finding)), 0);
	PXT_EQ(posix_trace_getnext_events_np(trid, &view, sizeof(view), 1, &got), 0);
	CU_ASSERT(got == 1 && view.posix_ns_np == damaged->next_ns);
	PXT_EQ(posix_trace_close(trid), 0);
	(void)close(fds[0]);
	(void)close(fds[1]);
	return view.posix_lost_before_np;
}

/* LPT-96: each file counts its blocks anew, and blocks may have been passed over unread before. */
PXT_TEST(of_a_damaged_block_its_own_events_are_lost_however_it_is_come_to)
{
	static const enum way ways[] = { READ, SEEK, BLOCKS };

	for (unsigned which = 0; which < 2; which++) {
		struct damaged block;
		trace_id_t trid;

		folder_make(&folder);
		trid = begin(0, 0);
		record(trid, 200);
		PXT_EQ(posix_trace_rotate_np(trid), 0);
		record(trid, 400);
		PXT_EQ(posix_trace_shutdown(trid), 0);
		find_block(&block, which);
		damage(&block);
		for (unsigned i = 0; i < 3; i++)
			PXT_CHECK(lost_behind(ways[i], &block) == block.events, "block %u, way %u",
			    which, i);
		folder_remove(&folder);
	}
}

/* LPT-96: at the end of any block, and within it. */
PXT_TEST(of_a_file_that_is_cut_off_the_rest_is_lost_and_no_other_file)
{
	struct posix_trace_eventview_np view = { .posix_ns_np = 0 };

	for (unsigned kept = 512; kept < 4096; kept += 504) {
		uint64_t events = 0;
		uint64_t lost = 0;
		int fds[3];
		trace_id_t trid;
		size_t got;

		folder_make(&folder);
		trid = begin(0, 0);
		for (unsigned i = 0; i < 3; i++) {
			record(trid, 400);
			if (i < 2)
				PXT_EQ(posix_trace_rotate_np(trid), 0);
		}
		PXT_EQ(posix_trace_shutdown(trid), 0);
		fds[0] = openat(folder.fd, NAME ".0001", O_RDONLY | O_CLOEXEC);
		fds[1] = openat(folder.fd, NAME ".0002", O_RDWR | O_CLOEXEC);
		fds[2] = openat(folder.fd, NAME ".0003", O_RDONLY | O_CLOEXEC);
		CU_ASSERT_FATAL(ftruncate(fds[1], (off_t)kept) == 0);
		if (posix_trace_log_open_np(fds, 3, 0, &trid, NULL, 0) != 0)
			PXT_EQ_FATAL(posix_trace_log_open_np(
			                 fds, 3, POSIX_TRACE_OPEN_GROWING_NP, &trid, NULL, 0),
			    0);
		while (
		    posix_trace_getnext_events_np(trid, &view, sizeof(view), 1, &got) == 0 && got) {
			events += view.posix_event_id_np == event;
			lost += view.posix_lost_before_np;
		}
		PXT_CHECK(events >= 800 && events < 1200 && lost >= 1200 - events && lost < 430,
		    "%u kept bytes: %lu events, %lu lost", kept, (unsigned long)events,
		    (unsigned long)lost);
		PXT_EQ(posix_trace_close(trid), 0);
		for (unsigned i = 0; i < 3; i++)
			(void)close(fds[i]);
		folder_remove(&folder);
	}
}

/* LPT-96 */
PXT_TEST(files_of_two_logs_are_not_one)
{
	static const unsigned numbers[] = { 1, 2 };
	struct folder_log log;
	trace_id_t first;
	trace_id_t second;

	folder_make(&folder);
	first = begin(0, 0);
	second = begin(0, 0);
	PXT_EQ(posix_trace_shutdown(first), 0);
	PXT_EQ(posix_trace_shutdown(second), 0);
	PXT_EQ(open_files(numbers, 2, &log), EINVAL);
	folder_remove(&folder);
}

/* LPT-96 */
PXT_TEST(attributes_within_their_limits_are_taken_and_others_refused)
{
	char long_name[202] = "";
	const struct posix_trace_rotation_np wrong[] = { { NULL, 0, 0, 0, 0 }, { "", 0, 0, 0, 0 },
		{ "a/b", 0, 0, 0, 0 }, { long_name, 0, 0, 0, 0 },
		{ "a", POSIX_TRACE_ROTATION_MIN_NP - 1, 0, 0, 0 }, { "a", 0, 0, 10000, 0 },
		{ "a", 0, 0, 0, 01000 } };
	const struct posix_trace_rotation_np right = { "a", POSIX_TRACE_ROTATION_MIN_NP, 1, 9999,
		0600 };
	struct posix_trace_rotation_np got = right;
	struct {
		struct posix_trace_rotation_np known;
		uint64_t later;
	} newer = { right, 0 };
	trace_attr_t attr;

	memset(long_name, 'a', sizeof(long_name) - 1);
	PXT_EQ(posix_trace_attr_init(&attr), 0);
	PXT_EQ(posix_trace_attr_getrotation_np(&attr, &got, sizeof(got)), 0);
	CU_ASSERT(got.posix_name_np == NULL);
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
		PXT_EQ(posix_trace_attr_setrotation_np(&attr, &wrong[i], sizeof(wrong[i])), EINVAL);
	PXT_EQ(posix_trace_attr_setrotation_np(&attr, &right, sizeof(right)), 0);
	/* A program that was compiled with another release's headers. */
	PXT_EQ(posix_trace_attr_setrotation_np(&attr, &right, sizeof(right) - 4), EINVAL);
	PXT_EQ(posix_trace_attr_setrotation_np(&attr, &newer.known, sizeof(newer)), 0);
	newer.later = 1;
	PXT_EQ(posix_trace_attr_setrotation_np(&attr, &newer.known, sizeof(newer)), EINVAL);
}

/* LPT-96 */
PXT_TEST(attributes_keep_a_copy_of_how_files_follow_one_another)
{
	char name[] = "mine";
	struct posix_trace_rotation_np given = { name, POSIX_TRACE_ROTATION_MIN_NP, 1, 9999, 0600 };
	struct posix_trace_rotation_np got;
	trace_attr_t attr;

	PXT_EQ(posix_trace_attr_init(&attr), 0);
	PXT_EQ(posix_trace_attr_setrotation_np(&attr, &given, sizeof(given)), 0);
	memset(name, 'x', 4);
	memset(&given, 0, sizeof(given));
	PXT_EQ(posix_trace_attr_getrotation_np(&attr, &got, sizeof(got)), 0);
	CU_ASSERT_STRING_EQUAL(got.posix_name_np, "mine");
	CU_ASSERT_EQUAL(got.posix_bytes_np, POSIX_TRACE_ROTATION_MIN_NP);
	PXT_EQ(got.posix_seconds_np, 1);
	PXT_EQ(got.posix_files_np, 9999);
	PXT_EQ(got.posix_mode_np, 0600);
	/* The text that they keep, given to them again. */
	PXT_EQ(posix_trace_attr_setrotation_np(&attr, &got, sizeof(got)), 0);
	PXT_EQ(posix_trace_attr_getrotation_np(&attr, &got, sizeof(got)), 0);
	CU_ASSERT_STRING_EQUAL(got.posix_name_np, "mine");
	PXT_EQ(posix_trace_attr_setrotation_np(&attr, NULL, 0), 0);
	PXT_EQ(posix_trace_attr_getrotation_np(&attr, &got, sizeof(got)), 0);
	CU_ASSERT(got.posix_name_np == NULL);
}

/* LPT-96 */
PXT_TEST(only_a_folder_and_the_policy_append_are_taken)
{
	const struct posix_trace_rotation_np rotation = { .posix_name_np = NAME };
	trace_attr_t attr;
	trace_id_t trid;
	int fd = pxt_temp_file();

	folder_make(&folder);
	pxt_attr(&attr, 65536, 64, POSIX_TRACE_LOOP);
	PXT_EQ(posix_trace_attr_setrotation_np(&attr, &rotation, sizeof(rotation)), 0);
	PXT_EQ(posix_trace_create_withlog(0, &attr, fd, &trid), ENOTDIR);
	PXT_EQ(posix_trace_attr_setlogfullpolicy(&attr, POSIX_TRACE_LOOP), 0);
	PXT_EQ(posix_trace_create_withlog(0, &attr, folder.fd, &trid), EINVAL);
	PXT_EQ(folder_count(&folder), 0);
	trid = pxt_log_stream(NULL, fd);
	PXT_EQ(posix_trace_rotate_np(trid), EINVAL);
	PXT_EQ(posix_trace_shutdown(trid), 0);
	(void)close(fd);
	folder_remove(&folder);
}
