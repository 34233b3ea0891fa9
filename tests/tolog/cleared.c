/* SPDX-License-Identifier: MIT */
/*
 * cleared.c - a log that is begun anew by a clear: nothing of the former one is in what it says.  And one in a
 * file that cannot be cut.
 */
#define _GNU_SOURCE 1 /* memfd_create() */
#include "../suite_trace.h"

#include "fakes/fakes.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <trace_np.h>
#include <unistd.h>

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
	struct pxt_event read;
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
