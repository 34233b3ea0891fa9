/* SPDX-License-Identifier: MIT */
/* when.c - times as logs tell them, hostile ones too. */
#include "tools/output/when.h"

#include "suite.h"

#include <limits.h>

static int64_t at(time_t seconds, long ns)
{
	return pxt_when_ns(&(struct timespec){ .tv_sec = seconds, .tv_nsec = ns });
}

PXT_TEST(a_time_is_nanoseconds_since_1970)
{
	CU_ASSERT(at(0, 0) == 0);
	CU_ASSERT(at(1800000000, 5) == INT64_C(1800000000000000005));
	CU_ASSERT(at(-2, 500000000) == INT64_C(-1500000000));
}

PXT_TEST(any_two_times_may_be_subtracted)
{
	const time_t latest = sizeof(time_t) == 8 ? (time_t)INT64_MAX : (time_t)INT32_MAX;
	int64_t difference;

	CU_ASSERT(
	    !__builtin_sub_overflow(at(latest, LONG_MAX), at(-latest, LONG_MIN), &difference));
	CU_ASSERT(difference > 0);
	CU_ASSERT(!__builtin_sub_overflow(
	    pxt_within_range(INT64_MIN), pxt_within_range(INT64_MAX), &difference));
	CU_ASSERT(difference < 0);
}

static bool means(const char *text, int64_t ns)
{
	struct pxt_when when = { 0 };

	return pxt_when_parse(text, &when) && when.set && !when.absolute && when.ns == ns;
}

PXT_TEST(a_plain_number_is_seconds_also_before_the_start)
{
	struct pxt_when when;

	CU_ASSERT(means("1.9", 1900000000));
	CU_ASSERT(means("-1.5", -1500000000));
	CU_ASSERT(means("-2ms", -2000000));
	CU_ASSERT(means("-0.25us", -250));
	CU_ASSERT(!pxt_when_parse("-", &when));
	CU_ASSERT(!pxt_when_parse("--1", &when));
	CU_ASSERT(!pxt_when_parse("-.5", &when));
	CU_ASSERT(!pxt_when_parse("-ms", &when));
}
