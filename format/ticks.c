/* SPDX-License-Identifier: MIT */
/*
 * ticks.c - from stamps (readings of the counter, as the TSC) to struct timespec and back, and the clock's
 * resolution; see ticks.h for what it computes.
 */
#include "format/ticks.h"

#include <stdbool.h>

#define NORMAL_HZ (UINT64_C(1) << 40)

/* Time on the counter's line: whole seconds, and ticks below one second. */
struct parts {
	uint64_t seconds;
	uint64_t rest;
};

void pxt_ticks_init(
    struct pxt_ticks *clock, uint64_t hz, uint64_t anchor_ticks, const struct timespec *anchor)
{
	PXT_ASSERT(hz >= 1 && hz <= PXT_HZ_MAX);
	clock->hz = hz;
	clock->anchor_ticks = anchor_ticks;
	clock->anchor = *anchor;
	clock->per_second = pxt_divide(UINT64_MAX, hz);
	clock->shift = 0;
	while (hz << clock->shift < NORMAL_HZ)
		clock->shift++;
	clock->per_ns = pxt_divide_high(PXT_NS_PER_S, hz << clock->shift);
}

/*
 * per_second >= 2^64 / hz - 1, so the product is less than 1 below count / hz, and its whole part
 * at most 1 too small.
 */
static struct parts split(const struct pxt_ticks *clock, uint64_t count)
{
	struct parts parts;

	parts.seconds = pxt_mul_high(count, clock->per_second);
	parts.rest = count - parts.seconds * clock->hz;
	if (parts.rest >= clock->hz) {
		parts.rest -= clock->hz;
		parts.seconds++;
	}
	return parts;
}

static int64_t add_seconds(int64_t anchor, uint64_t seconds, bool back)
{
	if (back)
		return anchor >= INT64_MIN + (int64_t)seconds ? anchor - (int64_t)seconds
		                                              : INT64_MIN;
	return anchor <= INT64_MAX - (int64_t)seconds ? anchor + (int64_t)seconds : INT64_MAX;
}

void pxt_ticks_time(const struct pxt_ticks *clock, uint64_t ticks, struct timespec *time)
{
	uint64_t count = ticks - clock->anchor_ticks;
	bool back = count >> 63 != 0;
	struct parts parts = split(clock, back ? 0 - count : count);
	int64_t seconds;
	int64_t ns;

	/* Downwards too: a second more back, and forward again by the rest of it. */
	if (back && parts.rest != 0) {
		parts.rest = clock->hz - parts.rest;
		parts.seconds++;
	}
	/* At most 2^63, the one value that is no int64_t, from ticks of one second: cut by one. */
	if (parts.seconds > INT64_MAX)
		parts.seconds = INT64_MAX;
	seconds = add_seconds((int64_t)clock->anchor.tv_sec, parts.seconds, back);
	ns = (int64_t)clock->anchor.tv_nsec + (int64_t)pxt_ticks_rest_ns(clock, parts.rest);
	if (ns >= (int64_t)PXT_NS_PER_S) {
		ns -= (int64_t)PXT_NS_PER_S;
		seconds = add_seconds(seconds, 1, false);
	}
	time->tv_sec = pxt_ticks_seconds(seconds);
	time->tv_nsec = (long)ns;
}

#if !PXT_SMALL
void pxt_ticks_other_second(
    const struct pxt_ticks *clock, struct pxt_second *second, uint64_t ticks, struct timespec *time)
{
	uint64_t since = ticks - clock->anchor_ticks;
	uint64_t rest = since % clock->hz;
	bool next;

	pxt_ticks_time(clock, ticks, time);
	*second = (struct pxt_second){ 0 };
	/* Not before the anchor, nor where time_t ends. */
	if (since >> 63 || time->tv_sec >= pxt_ticks_seconds(INT64_MAX) - 1)
		return;
	next = (uint64_t)clock->anchor.tv_nsec + pxt_ticks_rest_ns(clock, rest) >= PXT_NS_PER_S;
	second->from = ticks - rest;
	second->length = clock->hz;
	second->seconds = time->tv_sec - next;
}
#endif

uint64_t pxt_ticks_to_ns(const struct pxt_ticks *clock, uint64_t count)
{
	struct parts parts = split(clock, count);
	uint64_t rest = pxt_ticks_rest_ns(clock, parts.rest);

	if (parts.seconds > (UINT64_MAX - rest) / PXT_NS_PER_S)
		return UINT64_MAX;
	return parts.seconds * PXT_NS_PER_S + rest;
}

uint32_t pxt_ticks_resolution_ns(uint64_t hz, uint32_t step)
{
	return (uint32_t)pxt_divide(PXT_NS_PER_S * (uint64_t)(step + !step) + hz - 1u, hz);
}
