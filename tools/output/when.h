/* SPDX-License-Identifier: MIT */
/* when.h - times: from the command line, to the screen, and durations in readable units. */
#ifndef PXT_WHEN_H
#define PXT_WHEN_H

#include "tools/output/out.h"

#include <stdbool.h>
#include <stdint.h>
#include <time.h>

/* A moment on the command line. */
struct pxt_when {
	bool set;
	bool absolute; /* @ns counts from 1970, else from the start of the log */
	int64_t ns;
};

/*
 * "1.5", "1500us", "2min": since the start of the log, "-1.5" before it (a plain number is seconds);
 * "2026-01-31T12:00:00.25Z": absolute, in UTC with Z, else local.  False: it is none of these.
 */
bool pxt_when_parse(const char *text, struct pxt_when *when);

/* Times stay within this of 1970 (146 years), so that any two may be subtracted. */
#define PXT_NS_MAX (INT64_MAX / 2)

/* Nanoseconds since 1970; a hostile time stamp ends at the edge of the range. */
int64_t pxt_when_ns(const struct timespec *time);

/* Now, by a clock that never steps back: for limits and pauses of the command itself. */
static inline int64_t pxt_when_monotonic(void)
{
	struct timespec now;

	(void)clock_gettime(CLOCK_MONOTONIC, &now);
	return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

static inline int64_t pxt_within_range(int64_t ns)
{
	if (ns > PXT_NS_MAX)
		return PXT_NS_MAX;
	return ns < -PXT_NS_MAX ? -PXT_NS_MAX : ns;
}

/* A hostile log's times stay at the edge of the range: each within half of what fits, so that the sum is a number. */
static inline int64_t pxt_when_sum(int64_t ns, int64_t more)
{
	return pxt_within_range(pxt_within_range(ns) + pxt_within_range(more));
}

/* The nearest whole number, as far as it is within the range. */
int64_t pxt_when_whole(double ns);

/* How event times are shown. */
enum pxt_face {
	PXT_FACE_RELATIVE,
	PXT_FACE_UTC,
	PXT_FACE_LOCAL,
	PXT_FACE_RAW
};

/* An absolute time, whose date and hour are worked out once a second. */
struct pxt_calendar {
	bool local;
	bool filled;
	int64_t second;
	char head[64]; /* "2026-01-31T12:00:00" */
	char tail[16]; /* "Z", "+01:00" */
};
void pxt_out_calendar(struct pxt_out *out, struct pxt_calendar *calendar, int64_t ns);

/* "   12.345678901", of at least 15 columns. */
void pxt_out_seconds(struct pxt_out *out, int64_t ns);

/* The same without spaces in front: "12.345678901". */
void pxt_out_seconds_plain(struct pxt_out *out, int64_t ns);

/* "999 ns", "1.23 us", "147 ms": three digits, to @text of 16 bytes. */
void pxt_duration(char *text, uint64_t ns);

#endif
