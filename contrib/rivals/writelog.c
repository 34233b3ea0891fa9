/* SPDX-License-Identifier: MIT */
/*
 * writelog.c - a log of as many events as asked for, nothing lost, to be read by readlog.  Prints
 * what the library counted: events, and lost ones.
 *
 *	writelog FILE EVENTS BYTES
 *	writelog FILE EVENTS BYTES RATE    default attributes, whatever is lost (rival.h); also ns of each event
 */
#define _GNU_SOURCE
#include "rival.h"

#include <trace.h>
#include <trace_np.h>

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define STREAM_BYTES (16ul * 1024 * 1024)
#define BYTES_MAX    256
#define CHUNK        20000 /* events between flushes: these fit, also at BYTES_MAX */

static void must(const char *what, int error)
{
	if (error != 0) {
		(void)fprintf(stderr, "writelog: %s: %s\n", what, strerror(error));
		exit(1);
	}
}

static trace_id_t open_log(int file, bool full)
{
	trace_attr_t attr;
	trace_id_t trid;

	must("attributes", posix_trace_attr_init(&attr));
	if (full) {
		must("log policy", posix_trace_attr_setlogfullpolicy(&attr, POSIX_TRACE_APPEND));
		must("create", posix_trace_create_withlog(0, &attr, file, &trid));
		must("start", posix_trace_start(trid));
		return trid;
	}
	must("policy", posix_trace_attr_setstreamfullpolicy(&attr, POSIX_TRACE_UNTIL_FULL));
	must("log policy", posix_trace_attr_setlogfullpolicy(&attr, POSIX_TRACE_APPEND));
	must("data size", posix_trace_attr_setmaxdatasize(&attr, BYTES_MAX));
	must("stream size", posix_trace_attr_setstreamsize(&attr, STREAM_BYTES));
	must("create", posix_trace_create_withlog(0, &attr, file, &trid));
	must("start", posix_trace_start(trid));
	return trid;
}

static trace_event_id_t sample;
static unsigned long bytes;

/* No two events have the same data. */
static void write_some(unsigned thread, unsigned long count)
{
	static unsigned char payload[BYTES_MAX];
	static uint32_t number;

	(void)thread;
	for (unsigned i = 4; i < BYTES_MAX && !number; i++)
		payload[i] = (unsigned char)(i * 151u);
	for (unsigned long i = 0; i < count; i++) {
		number++;
		memcpy(payload, &number, sizeof(number));
		posix_trace_event(sample, payload, bytes);
	}
}

int main(int argc, char **argv)
{
	static const unsigned char payload[BYTES_MAX];
	bool full = argc == 5;
	double ns = 0;
	struct posix_trace_counts_np counts;
	trace_id_t trid;
	int file;
	unsigned long events = argc >= 4 ? strtoul(argv[2], NULL, 10) : 0;

	bytes = argc >= 4 ? strtoul(argv[3], NULL, 10) : 0;
	if ((argc != 4 && !full) || bytes > BYTES_MAX) {
		(void)fputs("usage: writelog FILE EVENTS BYTES [RATE]\n", stderr);
		return 2;
	}
	file = open(argv[1], O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
	if (file < 0)
		must(argv[1], errno);
	must("event", posix_trace_eventid_open("sample", &sample));
	trid = open_log(file, full);
	if (full)
		ns = pace_events(write_some, events, strtoul(argv[4], NULL, 10));
	for (unsigned long i = 0; i < events && !full; i++) {
		posix_trace_event(sample, payload, bytes);
		if (i % CHUNK == CHUNK - 1)
			must("flush", posix_trace_flush(trid));
	}
	must("flush", posix_trace_flush(trid));
	must("counts", posix_trace_getcounts_np(trid, &counts, sizeof(counts)));
	must("shutdown", posix_trace_shutdown(trid));
	(void)close(file);
	(void)printf("%lu %llu %.3f\n", events, (unsigned long long)counts.posix_lost_np, ns);
	return 0;
}
