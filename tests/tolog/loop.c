/* SPDX-License-Identifier: MIT */
/* loop.c - LOOP logs that are begun anew by a clear, and those of the smallest frames. */
#define _GNU_SOURCE 1 /* memfd_create() */
#include "../suite.h"
#include "core/process/threads.h"
#include "fakes/fakes.h"
#include "suite.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sys/mman.h>
#include <trace_np.h>
#include <unistd.h>

/* ---- A log that is begun anew by a clear ---- */

/* Nothing of the former one is in what it says.  And one in a file that cannot be cut. */

static trace_event_id_t event;

static trace_id_t begin(int fd, size_t log_size)
{
	trace_attr_t attr;
	trace_id_t trid;

	pxt_attr(&attr, 8192, 64, POSIX_TRACE_LOOP);
	PXT_EQ(posix_trace_attr_setlogfullpolicy(&attr, POSIX_TRACE_LOOP), 0);
	PXT_EQ(posix_trace_attr_setlogsize(&attr, log_size), 0);
	trid = pxt_log_stream(&attr, fd);
	event = pxt_open_event("cleared");
	PXT_EQ(posix_trace_start(trid), 0);
	return trid;
}

static void record(trace_id_t trid, unsigned events)
{
	for (unsigned i = 0; i < events; i++) {
		posix_trace_event(event, &i, sizeof(i));
		if (i % 50 == 49)
			PXT_EQ(posix_trace_flush(trid), 0);
	}
	PXT_EQ(posix_trace_flush(trid), 0);
}

/* What the log says that it lost, when it was shut down. */
static uint64_t lost_in(trace_id_t trid, int fd)
{
	struct posix_trace_loginfo_np info;
	trace_id_t log;

	PXT_EQ(posix_trace_shutdown(trid), 0);
	log = pxt_open_log(fd);
	PXT_EQ(posix_trace_log_getinfo_np(log, &info, sizeof(info)), 0);
	PXT_EQ(posix_trace_close(log), 0);
	return info.posix_lost_np;
}

/* CLEAR-04, LOGP-08 */
PXT_TEST(what_a_former_log_overwrote_is_not_lost_in_the_new_one)
{
	int fd = pxt_temp_file();
	trace_id_t trid = begin(fd, 2048);

	record(trid, 1000);
	CU_ASSERT(lost_in(trid, fd) > 0);
	(void)close(fd);
	fd = pxt_temp_file();
	trid = begin(fd, 2048);
	record(trid, 1000);
	PXT_EQ(posix_trace_clear(trid), 0);
	record(trid, 5);
	PXT_EQ(lost_in(trid, fd), 0);
	(void)close(fd);
}

/* CLEAR-04, STA-03 */
PXT_TEST(the_error_of_a_former_log_is_not_the_new_one_s)
{
	struct posix_trace_status_info status;
	int fd = pxt_temp_file();
	trace_id_t trid = begin(fd, 65536);

	record(trid, 5);
	pxt_fault_arm(&pxt_fault_write, 1, ENOSPC);
	posix_trace_event(event, "full", 4);
	PXT_EQ(posix_trace_flush(trid), ENOSPC);
	pxt_fault_arm(&pxt_fault_write, 0, 0);
	PXT_EQ(posix_trace_clear(trid), 0);
	PXT_EQ(posix_trace_get_status(trid, &status), 0);
	PXT_EQ(status.posix_stream_flush_error, 0);
	(void)lost_in(trid, fd);
	(void)close(fd);
}

/* ---- A file that cannot be cut ---- */

static trace_id_t with_one_flushed(int fd)
{
	trace_attr_t attr;
	trace_id_t trid;

	pxt_attr(&attr, 0, 0, 0);
	PXT_EQ(posix_trace_attr_setlogfullpolicy(&attr, POSIX_TRACE_APPEND), 0);
	event = pxt_open_event("clearless");
	trid = pxt_log_stream(&attr, fd);
	PXT_EQ(posix_trace_start(trid), 0);
	posix_trace_event(event, "out", 3);
	PXT_EQ(posix_trace_flush(trid), 0);
	posix_trace_event(event, "held", 4);
	return trid;
}

static void all_three_are_there(int fd)
{
	trace_id_t log = pxt_open_log(fd);
	struct pxt_got read;
	size_t found = 0;

	while (pxt_log_next(log, &read))
		found += read.info.posix_event_id == event;
	PXT_EQ(found, 3);
	PXT_EQ(posix_trace_close(log), 0);
}

static void clear_says(trace_id_t trid, int error)
{
	struct posix_trace_status_info status;

	PXT_EQ(posix_trace_clear(trid), error);
	posix_trace_event(event, "then", 4);
	PXT_EQ(posix_trace_flush(trid), 0);
	PXT_EQ(posix_trace_get_status(trid, &status), 0);
	PXT_EQ(status.posix_stream_status, POSIX_TRACE_RUNNING);
	PXT_EQ(status.posix_stream_flush_error, 0);
	PXT_EQ(posix_trace_shutdown(trid), 0);
}

/* CLEAR-06, DEC-25 */
PXT_TEST(a_log_in_a_file_that_is_sealed_against_shrinking_stays_as_it_is)
{
	int fd = memfd_create("clearless", MFD_ALLOW_SEALING);

	if (fd < 0) {
		pxt_skip("no file that can be sealed");
		return;
	}
	PXT_EQ_FATAL(fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK), 0);
	clear_says(with_one_flushed(fd), EPERM);
	all_three_are_there(fd);
	close(fd);
}

/* ---- The smallest frames of a LOOP log ---- */

/* The largest record finds room in one, also after a loss. */

#define DATA     200u
/* More than a frame of SMALLEST bytes holds, which has room for any record of the library's. */
#define LONG     600u
/* More than any event of the library's, so that it decides how large a frame is. */
#define LARGEST  300u
#define SMALLEST 512u

static unsigned events;
static size_t bytes = DATA;
static bool behind_another; /* event, a short one */

static void *frames_record(void *argument)
{
	static unsigned char data[LONG];

	for (unsigned i = 0; i < events; i++)
		posix_trace_event(event, data, bytes);
	return argument;
}

/* By a thread beyond the table's places: its records carry it in full. */
static void record_beyond_the_table(void)
{
	uint32_t before = atomic_exchange(&pxt_threads->count, CONFIG_PTRACE_MAX_THREADS);
	pthread_t thread;

	PXT_EQ_FATAL(pthread_create(&thread, NULL, frames_record, NULL), 0);
	(void)pthread_join(thread, NULL);
	atomic_store(&pxt_threads->count, before);
}

/* Else the loss is told before OVERFLOW, which is a short record. */
static void tell_losses_before_events(trace_id_t trid)
{
	trace_event_set_t set;

	PXT_EQ(posix_trace_eventset_empty(&set), 0);
	PXT_EQ(posix_trace_eventset_add(POSIX_TRACE_OVERFLOW, &set), 0);
	PXT_EQ(posix_trace_eventset_add(POSIX_TRACE_RESUME, &set), 0);
	PXT_EQ(posix_trace_set_filter(trid, &set, POSIX_TRACE_SET_EVENTSET), 0);
}

static unsigned count(int fd)
{
	trace_id_t log = pxt_open_log(fd);
	struct pxt_got read;
	unsigned found = 0;

	while (pxt_log_next(log, &read))
		found += read.info.posix_event_id == event && read.len == bytes;
	PXT_EQ(posix_trace_close(log), 0);
	return found;
}

static void are_in_the_log(size_t size)
{
	int fd = pxt_temp_file();
	trace_attr_t attr;
	trace_id_t trid;

	pxt_attr(&attr, 8192, bytes, POSIX_TRACE_LOOP);
	PXT_EQ(posix_trace_attr_setlogfullpolicy(&attr, POSIX_TRACE_LOOP), 0);
	PXT_EQ(posix_trace_attr_setlogsize(&attr, size), 0);
	trid = pxt_log_stream(&attr, fd);
	PXT_EQ(posix_trace_start(trid), 0);
	event = pxt_open_event("smallest");
	tell_losses_before_events(trid);
	PXT_EQ(posix_trace_flush(trid), 0);
	if (behind_another)
		posix_trace_event(event, "short", 5);
	record_beyond_the_table();
	PXT_EQ(posix_trace_shutdown(trid), 0);
	PXT_CHECK(count(fd) > 0, "a log of %zu bytes", size);
	(void)close(fd);
}

/* LOGP-01 */
PXT_TEST(the_largest_record_of_a_thread_without_a_place_is_in_the_smallest_log)
{
	/* 128 bytes of a START are less than DATA: the data decides. */
	events = 1;
	for (size_t size = 512; size < 4096; size += 16)
		are_in_the_log(size);
}

/* LOGP-01, LOGP-08: what was lost before a record is told in its frame. */
PXT_TEST(so_are_those_after_a_loss)
{
	/* Twice what the stream holds. */
	events = 2 * 8192 / DATA;
	for (size_t size = 512; size < 4096; size += 256)
		are_in_the_log(size);
}

/* LOGP-01: its frame is another one, which it may fill to the last byte. */
PXT_TEST(so_is_one_behind_a_record_that_shares_no_frame_with_it)
{
	/* A START, the short one, the large one, a STOP: three frames at least. */
	events = 1;
	bytes = LARGEST;
	behind_another = true;
	for (size_t size = 1024; size < 4096; size += 16)
		are_in_the_log(size);
	behind_another = false;
	bytes = DATA;
}

/* What is told before events, and what the log says that was lost. */
static void sum_up(int fd, uint64_t *told, uint64_t *lost)
{
	struct posix_trace_eventextra_np extra;
	struct posix_trace_loginfo_np info;
	trace_id_t log = pxt_open_log(fd);
	struct pxt_got read;

	*told = 0;
	while (pxt_log_next(log, &read)) {
		PXT_EQ(posix_trace_eventinfo_getextra_np(&read.info, &extra, sizeof(extra)), 0);
		*told += extra.posix_lost_before_np;
	}
	PXT_EQ(posix_trace_log_getinfo_np(log, &info, sizeof(info)), 0);
	*lost = info.posix_lost_np;
	PXT_EQ(posix_trace_close(log), 0);
}

/* LOGP-08: of records that no frame has room for, and of what was lost in the stream before them. */
PXT_TEST(all_that_is_lost_is_told_where_records_find_no_room)
{
	int fd = pxt_temp_file();
	trace_attr_t attr;
	trace_id_t trid;
	uint64_t told;
	uint64_t lost;

	pxt_attr(&attr, 8192, LONG, POSIX_TRACE_LOOP);
	PXT_EQ(posix_trace_attr_setlogfullpolicy(&attr, POSIX_TRACE_LOOP), 0);
	PXT_EQ(posix_trace_attr_setlogsize(&attr, SMALLEST), 0);
	trid = pxt_log_stream(&attr, fd);
	PXT_EQ(posix_trace_start(trid), 0);
	event = pxt_open_event("smallest");
	tell_losses_before_events(trid);
	events = 2 * 8192 / LONG;
	bytes = LONG;
	record_beyond_the_table();
	bytes = DATA;
	posix_trace_event(event, "last", 4);
	PXT_EQ(posix_trace_shutdown(trid), 0);
	sum_up(fd, &told, &lost);
	CU_ASSERT(lost >= events);
	PXT_EQ(told, lost);
	(void)close(fd);
}
