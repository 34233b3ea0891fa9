/* SPDX-License-Identifier: MIT */
/*
 * ticks.h - from stamps to time, exactly: the counter's ticks (TSC) to struct timespec.
 *
 * What is computed: anchor + floor((ticks - anchor_ticks) * 10^9 / hz) nanoseconds, without
 * rounding on the way, for ticks up to 2^63 before or after the anchor (the difference is taken
 * modulo 2^64 and read as a signed number).  A larger count of ticks never gives an earlier time.
 *
 * No division and no 128-bit type is needed for a conversion: two multiplications by reciprocals
 * that are at most 1 too small, each followed by one correction.
 *
 * concurrency: a struct pxt_ticks does not change after pxt_ticks_init(); any thread reads it.
 */
#ifndef PXT_TICKS_H
#define PXT_TICKS_H

#include "format/mul64.h"

#include <time.h>

#define PXT_NS_PER_S 1000000000u
#define PXT_HZ_MAX   (UINT64_C(1) << 40)

/* Where time ends in 2038, it stays there. */
PXT_INLINE time_t pxt_ticks_seconds(int64_t seconds)
{
	if (sizeof(time_t) == sizeof(int32_t) && seconds > INT32_MAX)
		return (time_t)INT32_MAX;
	if (sizeof(time_t) == sizeof(int32_t) && seconds < INT32_MIN)
		return (time_t)INT32_MIN;
	return (time_t)seconds;
}

struct pxt_ticks {
	uint64_t hz;
	uint64_t anchor_ticks;
	struct timespec anchor;
	uint64_t per_second; /* floor((2^64 - 1) / hz) */
	uint64_t per_ns;     /* floor(10^9 * 2^64 / (hz << shift)) */
	uint32_t shift;      /* brings hz up to 2^40 .. 2^41 - 1 */
};

/*
 * @hz: ticks per second, 1 to PXT_HZ_MAX (the caller checks what it reads from a file).
 * @anchor: CLOCK_REALTIME when the counter was at @anchor_ticks.
 */
void pxt_ticks_init(
    struct pxt_ticks *clock, uint64_t hz, uint64_t anchor_ticks, const struct timespec *anchor);
/* The time of @ticks.  Seconds beyond the range of time_t stay at its end. */
void pxt_ticks_time(const struct pxt_ticks *clock, uint64_t ticks, struct timespec *time);
/* Nanoseconds since 1970.  A time that they cannot hold (before 1678, after 2261) is the nearest they can. */
PXT_INLINE int64_t pxt_ticks_as_ns(const struct timespec *time)
{
	const int64_t most = INT64_MAX / (int64_t)PXT_NS_PER_S;
	int64_t seconds = time->tv_sec; /* time_t may have 32 bits */

	if (PXT_UNLIKELY(seconds >= most))
		return INT64_MAX;
	if (PXT_UNLIKELY(seconds < -most))
		return INT64_MIN;
	return seconds * (int64_t)PXT_NS_PER_S + (int64_t)time->tv_nsec;
}
/*
 * floor(rest * 10^9 / hz) for rest < hz.  The estimate is at most 1 too small, because
 * rest << shift < 2^41; what is left over is below 2 * hz, so that the difference of the two
 * products is right although each is known modulo 2^64 only.
 */
PXT_INLINE uint32_t pxt_ticks_rest_ns(const struct pxt_ticks *clock, uint64_t rest)
{
	uint64_t ns = pxt_mul_high(rest << clock->shift, clock->per_ns);

	if (rest * PXT_NS_PER_S - ns * clock->hz >= clock->hz)
		ns++;
	return (uint32_t)ns;
}

/* A second after the anchor, for a reader whose times lie near each other.  Zeros: none yet. */
struct pxt_second {
	uint64_t from;   /* its first tick */
	uint64_t length; /* in ticks */
	time_t seconds;  /* of the time at its first tick; the anchor's nanoseconds are beside it */
};

#if PXT_SMALL
/* The same as pxt_ticks_time(); what @second is for is speed. */
PXT_INLINE void pxt_ticks_near(
    const struct pxt_ticks *clock, struct pxt_second *second, uint64_t ticks, struct timespec *time)
{
	(void)second;
	pxt_ticks_time(clock, ticks, time);
}
#else
/* The same as pxt_ticks_time(), which also finds out what @second is for times near this one. */
void pxt_ticks_other_second(const struct pxt_ticks *clock, struct pxt_second *second,
    uint64_t ticks, struct timespec *time);

PXT_INLINE void pxt_ticks_near(
    const struct pxt_ticks *clock, struct pxt_second *second, uint64_t ticks, struct timespec *time)
{
	uint64_t rest = ticks - second->from;
	uint64_t ns;

	if (PXT_UNLIKELY(rest >= second->length)) {
		pxt_ticks_other_second(clock, second, ticks, time);
		return;
	}
	ns = (uint64_t)clock->anchor.tv_nsec + pxt_ticks_rest_ns(clock, rest);
	time->tv_sec = second->seconds + (ns >= PXT_NS_PER_S);
	time->tv_nsec = (long)(ns >= PXT_NS_PER_S ? ns - PXT_NS_PER_S : ns);
}
#endif

/* floor(count * 10^9 / hz): the length of @count ticks; UINT64_MAX when it is longer. */
uint64_t pxt_ticks_to_ns(const struct pxt_ticks *clock, uint64_t count);
/*
 * A counter's steps of @step ticks (0: as 1) in nanoseconds, rounded up: the clock-resolution attribute
 * (DEC-18).
 */
uint32_t pxt_ticks_resolution_ns(uint64_t hz, uint32_t step);

#endif
