/* SPDX-License-Identifier: MIT */
/*
 * flight_recorder.c - always on, written only when something went wrong.  A LOOP stream keeps the
 * last events; the log gets them when posix_trace_flush() is called, and holds nothing before.
 *
 *	flight_recorder [LOG]        (default: flight_recorder.ptl)
 */
#include <trace.h>
#include <trace_np.h>

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* After so many samples something goes wrong. */
#define INCIDENT 77777u

static void must(const char *what, int error)
{
	if (error != 0) {
		(void)fprintf(stderr, "flight_recorder: %s: %s\n", what, strerror(error));
		exit(1);
	}
}

int main(int argc, char **argv)
{
	const char *path = argc > 1 ? argv[1] : "flight_recorder.ptl";
	int fd = open(path, O_RDWR | O_CREAT | O_TRUNC, 0644);
	struct posix_trace_counts_np counts;
	trace_event_id_t sample;
	trace_attr_t attr;
	trace_id_t trid;

	if (fd < 0) {
		perror(path);
		return 1;
	}
	must("attributes", posix_trace_attr_init(&attr));
	must("policy", posix_trace_attr_setstreamfullpolicy(&attr, POSIX_TRACE_LOOP));
	must("size", posix_trace_attr_setstreamsize(&attr, 16384));
	must("lanes", posix_trace_attr_setlanes_np(&attr, 1));
	must("create", posix_trace_create_withlog(0, &attr, fd, &trid));
	must("event", posix_trace_eventid_open("sample", &sample));
	must("format", posix_trace_eventid_setformat_np(sample, "u32 number"));
	must("start", posix_trace_start(trid));

	for (uint32_t number = 0; number < INCIDENT; number++)
		posix_trace_event(sample, &number, sizeof(number));
	must("flush", posix_trace_flush(trid));

	must("counts", posix_trace_getcounts_np(trid, &counts, sizeof(counts)));
	must("shutdown", posix_trace_shutdown(trid));
	(void)close(fd);
	(void)printf("flight_recorder: %llu events happened, the last %llu before the incident are "
	             "in %s\n",
	    (unsigned long long)counts.posix_written_np,
	    (unsigned long long)counts.posix_retrieved_np, path);
	return 0;
}
