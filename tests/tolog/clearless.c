/* SPDX-License-Identifier: MIT */
/* clearless.c - clear of a stream whose log lies in a file that cannot be cut. */
#define _GNU_SOURCE 1 /* memfd_create() */
#include "../suite_trace.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <trace_np.h>
#include <unistd.h>

#if PXT_CAN_LOG && _PXT_UNIT_USEREVENTS

static trace_event_id_t event;

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

/* CLEAR-06, DEC-25 */
PXT_TEST(a_log_in_a_file_that_can_be_cut_is_cleared)
{
	int fd = pxt_temp_file();
	trace_id_t trid = with_one_flushed(fd);
	struct posix_trace_counts_np counts;

	PXT_EQ(posix_trace_clear(trid), 0);
	PXT_EQ(posix_trace_getcounts_np(trid, &counts, sizeof(counts)), 0);
	PXT_EQ(counts.posix_held_np, 0);
	PXT_EQ(posix_trace_shutdown(trid), 0);
	close(fd);
}
#endif
