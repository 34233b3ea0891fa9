/* SPDX-License-Identifier: MIT */
/*
 * control.c - starts, asks, clears and stops a stream.
 *
 * Page: posix_trace_start, posix_trace_stop - begin and end recording
 * Page: posix_trace_clear - discard what a stream and its log hold
 * Page: posix_trace_get_attr, posix_trace_get_status - attributes and status of a stream or log
 * Page: posix_trace_getcounts_np, posix_trace_streams_np - count a stream's records, and list the
 * streams
 * Page: POSIX_TRACE_ERROR_OF_NP, POSIX_TRACE_ERROR_CAUSE_NP,
 * POSIX_TRACE_ERROR_NUMBER_NP - take the data of an error event apart
 *
 * Prints:
 *	recorded: written 4, held 4, cleared 0
 *	cleared: written 4, held 0, cleared 4
 *	suspended, no overrun, 1 stream
 *	cause 1, number 28
 */
#include <trace.h>
#include <trace_np.h>

#include <stdio.h>
#include <stdlib.h>

static void must(int error)
{
	if (error != 0)
		exit(1);
}

static void show(const char *when, trace_id_t trid)
{
	struct posix_trace_counts_np counts;

	must(posix_trace_getcounts_np(trid, &counts, sizeof(counts)));
	(void)printf("%s: written %llu, held %llu, cleared %llu\n", when,
	    (unsigned long long)counts.posix_written_np, (unsigned long long)counts.posix_held_np,
	    (unsigned long long)counts.posix_cleared_np);
}

int main(void)
{
	struct posix_trace_status_info status;
	trace_id_t trid;
	size_t streams;
	/* As it came with an event POSIX_TRACE_ERROR: a flush found no room (ENOSPC). */
	int data = POSIX_TRACE_ERROR_OF_NP(POSIX_TRACE_ERROR_LOG_NP, 28);

	must(posix_trace_create(0, NULL, &trid));
	must(posix_trace_start(trid)); /* records an event START */
	for (int number = 0; number < 3; number++)
		posix_trace_event(POSIX_TRACE_UNNAMED_USEREVENT, &number, sizeof(number));
	show("recorded", trid);
	must(posix_trace_clear(trid));
	show("cleared", trid);
	must(posix_trace_stop(trid));

	must(posix_trace_get_status(trid, &status));
	must(posix_trace_streams_np(NULL, 0, &streams));
	(void)printf("%s, %s, %zu stream\n",
	    status.posix_stream_status == POSIX_TRACE_SUSPENDED ? "suspended" : "running",
	    status.posix_stream_overrun_status == POSIX_TRACE_OVERRUN ? "overrun" : "no overrun",
	    streams);
	(void)printf("cause %d, number %d\n", POSIX_TRACE_ERROR_CAUSE_NP(data),
	    POSIX_TRACE_ERROR_NUMBER_NP(data));
	must(posix_trace_shutdown(trid));
	return 0;
}
