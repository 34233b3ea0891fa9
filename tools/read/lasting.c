/* SPDX-License-Identifier: MIT */
/* lasting.c - see lasting.h. */
#include "tools/read/lasting.h"

#include "tools/output/when.h"

#define SECOND INT64_C(1000000000)

/* 0 where the log does not know both, or says that time ran backward. */
static int64_t between(const struct timespec *from, const struct timespec *to)
{
	int64_t start = pxt_when_ns(from);
	int64_t end = pxt_when_ns(to);

	return start > 0 && end > start ? end - start : 0;
}

int64_t pxt_lasting_ns(const struct posix_trace_loginfo_np *info)
{
	if (!info->posix_complete_np)
		return 0;
	/* A recorder without CLOCK_MONOTONIC has the civil clock alone. */
	if (pxt_when_ns(&info->posix_start_monotonic_np) > 0)
		return between(&info->posix_start_monotonic_np, &info->posix_end_monotonic_np);
	return between(&info->posix_start_np, &info->posix_end_np);
}

int64_t pxt_lasting_end(const struct posix_trace_loginfo_np *info)
{
	int64_t lasted = pxt_lasting_ns(info);

	return lasted > 0 ? pxt_within_range(pxt_when_ns(&info->posix_start_np)) + lasted : 0;
}

bool pxt_lasting_one_monotonic(
    const struct posix_trace_loginfo_np *a, const struct posix_trace_loginfo_np *b, bool *counted)
{
	const struct posix_trace_clock_np *x = &a->posix_clock_np;
	const struct posix_trace_clock_np *y = &b->posix_clock_np;
	double by_clock = (double)pxt_when_ns(&b->posix_start_monotonic_np) -
	                  (double)pxt_when_ns(&a->posix_start_monotonic_np);
	double by_counter;
	double most;

	*counted = x->posix_source_np == POSIX_TRACE_CLOCK_TSC_NP &&
	           y->posix_source_np == POSIX_TRACE_CLOCK_TSC_NP && x->posix_hz_np > 0;
	if (!*counted)
		return true;
	by_counter = ((double)y->posix_anchor_ticks_np - (double)x->posix_anchor_ticks_np) /
	             (double)x->posix_hz_np * 1e9;
	/* A second, and a thousandth of the time: rates are not known better. */
	most = 1e9 + 1e-3 * (by_clock < 0 ? -by_clock : by_clock);
	return by_counter - by_clock < most && by_clock - by_counter < most;
}

bool pxt_lasting_stepped(const struct posix_trace_loginfo_np *info, int64_t *by)
{
	/* What the machine slept is in civil time, and in CLOCK_BOOTTIME. */
	int64_t passed = between(&info->posix_start_boottime_np, &info->posix_end_boottime_np);

	if (passed == 0)
		passed = between(&info->posix_start_monotonic_np, &info->posix_end_monotonic_np);
	if (!info->posix_complete_np || passed == 0)
		return false;
	*by = pxt_within_range(pxt_when_ns(&info->posix_end_np)) -
	      pxt_within_range(pxt_when_ns(&info->posix_start_np)) - passed;
	/* Slewing may take 500 ppm, and more where it is in a hurry. */
	return *by > SECOND + passed / 1000 || *by < -SECOND - passed / 1000;
}
