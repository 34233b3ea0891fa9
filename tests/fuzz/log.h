/* SPDX-License-Identifier: MIT */
/*
 * log.h - a log that was made of whatever came in is opened and read to its end, and is in no
 * contradiction with itself.
 */
#ifndef PXT_FUZZ_LOG_H
#define PXT_FUZZ_LOG_H

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <trace.h>
#include <trace_np.h>
#include <unistd.h>

#define EVENTS_MAX 100000u

/* The open file, whose log was read. */
static inline int read_log(const char *path)
{
	struct posix_trace_logerror_np error = { 0 };
	struct posix_trace_event_info event;
	unsigned char data[4096];
	int unavailable = 0;
	trace_id_t trid;
	size_t length;
	int fd = open(path, O_RDONLY);

	if (fd < 0 || posix_trace_open_explained_np(fd, &trid, &error)) {
		(void)fprintf(stderr, "%s: byte %llu: %s\n", path,
		    (unsigned long long)error.posix_offset_np, error.posix_reason_np);
		abort();
	}
	for (unsigned i = 0; i < EVENTS_MAX && !unavailable; i++)
		if (posix_trace_getnext_event(
		        trid, &event, data, sizeof data, &length, &unavailable))
			abort();
	if (posix_trace_close(trid))
		abort();
	return fd;
}

#define FINDINGS 16u

static inline void check_log(const char *path)
{
	struct posix_trace_logfinding_np findings[FINDINGS];
	struct posix_trace_logcheck_np sum;
	int fd = read_log(path);

	if (posix_trace_log_check_np(fd, &sum, findings, FINDINGS))
		abort();
	for (uint64_t i = 0; i < sum.posix_findings_np && i < FINDINGS; i++)
		(void)fprintf(stderr, "byte %llu: %s\n",
		    (unsigned long long)findings[i].posix_offset_np, findings[i].posix_reason_np);
	if (sum.posix_findings_np)
		abort();
	(void)close(fd);
	(void)unlink(path);
}

#endif
