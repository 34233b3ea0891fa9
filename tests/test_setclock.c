/* SPDX-License-Identifier: MIT */
/* test_setclock.c - a clock of the program's own: what stamps and times it makes, and when it may be set. */
#include "suite.h"

#include <errno.h>
#include <trace_np.h>

#if _PXT_UNIT_EXTENSIONS && _PXT_UNIT_ONLINE && _PXT_UNIT_USEREVENTS
#define HAVE_CLOCK 1
#else
#define HAVE_CLOCK 0
#endif

#if HAVE_CLOCK
static uint64_t ticks;

/* Each reading is one more. */
static uint64_t counting(void *context)
{
	return ++*(uint64_t *)context;
}

static uint64_t standing(void *context)
{
	return *(const uint64_t *)context;
}

static trace_id_t begin(void)
{
	trace_id_t stream = 0;

	PXT_EQ_FATAL(posix_trace_create(0, NULL, &stream), 0);
	PXT_EQ(posix_trace_start(stream), 0);
	return stream;
}

/* The next user event's stamp and time. */
static uint64_t next(trace_id_t stream, struct timespec *time)
{
	struct posix_trace_eventextra_np extra;
	struct posix_trace_event_info info;
	int none = 0;
	size_t len;

	do {
		PXT_EQ(posix_trace_trygetnext_event(stream, &info, NULL, 0, &len, &none), 0);
		if (none)
			return 0;
	} while (info.posix_event_id < POSIX_TRACE_UNNAMED_USEREVENT);
	PXT_EQ(posix_trace_eventinfo_getextra_np(&info, &extra, sizeof(extra)), 0);
	*time = info.posix_timestamp;
	return extra.posix_ticks_np;
}

/* ZEP-08, ZEP-26: a counter as clock */
PXT_TEST_FRESH(events_are_stamped_with_what_the_clock_says)
{
	struct posix_trace_clock_np clock;
	struct timespec time;
	trace_id_t stream;

	PXT_EQ(posix_trace_set_process_clock_np(counting, &ticks, 1000), 0);
	stream = begin();
	PXT_EQ(posix_trace_getclock_np(stream, &clock, sizeof(clock)), 0);
	PXT_EQ(clock.posix_source_np, POSIX_TRACE_CLOCK_PORT_NP);
	PXT_EQ(clock.posix_hz_np, 1000);
	PXT_EQ(clock.posix_error_ppm_np, 0);
	ticks = 100;
	posix_trace_event(POSIX_TRACE_UNNAMED_USEREVENT, NULL, 0);
	posix_trace_event(POSIX_TRACE_UNNAMED_USEREVENT, "12345678901234567890", 20);
	ticks = 5000;
	posix_trace_event(POSIX_TRACE_UNNAMED_USEREVENT, NULL, 0);
	PXT_EQ(next(stream, &time), 101);
	PXT_EQ(next(stream, &time), 102);
	PXT_EQ(next(stream, &time), 5001);
	PXT_EQ(posix_trace_shutdown(stream), 0);
}

/* ZEP-08: times are counted from the stream's creation, at the rate that was given. */
PXT_TEST_FRESH(times_go_on_at_the_rate_of_the_clock)
{
	struct posix_trace_clock_np clock;
	struct timespec time;
	trace_id_t stream;
	int64_t ns;

	ticks = 7000000000;
	PXT_EQ(posix_trace_set_process_clock_np(standing, &ticks, 10), 0);
	stream = begin();
	PXT_EQ(posix_trace_getclock_np(stream, &clock, sizeof(clock)), 0);
	PXT_EQ(clock.posix_anchor_ticks_np, 7000000000);
	ticks += 25;
	posix_trace_event(POSIX_TRACE_UNNAMED_USEREVENT, NULL, 0);
	PXT_EQ(next(stream, &time), 7000000025);
	ns = (time.tv_sec - clock.posix_anchor_np.tv_sec) * 1000000000LL + time.tv_nsec -
	     clock.posix_anchor_np.tv_nsec;
	CU_ASSERT(ns == 2500000000);
	PXT_EQ(posix_trace_shutdown(stream), 0);
}

PXT_TEST_FRESH(the_machines_clock_comes_back)
{
	struct posix_trace_clock_np before;
	struct posix_trace_clock_np after;
	trace_id_t stream = begin();

	PXT_EQ(posix_trace_getclock_np(stream, &before, sizeof(before)), 0);
	PXT_EQ(posix_trace_set_process_clock_np(standing, &ticks, 10), EBUSY);
	PXT_EQ(posix_trace_shutdown(stream), 0);
	PXT_EQ(posix_trace_set_process_clock_np(standing, &ticks, 10), 0);
	PXT_EQ(posix_trace_set_process_clock_np(NULL, NULL, 0), 0);
	stream = begin();
	PXT_EQ(posix_trace_getclock_np(stream, &after, sizeof(after)), 0);
	PXT_EQ(after.posix_source_np, before.posix_source_np);
	CU_ASSERT(after.posix_anchor_ticks_np > before.posix_anchor_ticks_np);
	PXT_EQ(posix_trace_shutdown(stream), 0);
	PXT_EQ(posix_trace_set_process_clock_np(NULL, NULL, 0), 0);
}

static trace_id_t in_the_clock; /* a stream that its next reading shuts down; 0: none */

static uint64_t shutting_down(void *context)
{
	uint64_t *count = context;
	trace_id_t stream = in_the_clock;

	in_the_clock = 0;
	if (stream) {
		PXT_EQ(posix_trace_shutdown(stream), 0);
		PXT_EQ(posix_trace_set_process_clock_np(NULL, NULL, 0), EBUSY);
	}
	return ++*count;
}

PXT_TEST_FRESH(a_clock_that_a_trace_point_is_in_stays)
{
	trace_id_t stream;

	PXT_EQ(posix_trace_set_process_clock_np(shutting_down, &ticks, 1000), 0);
	stream = begin();
	in_the_clock = stream;
	posix_trace_event(POSIX_TRACE_UNNAMED_USEREVENT, NULL, 0);
	PXT_EQ(in_the_clock, 0);
	PXT_EQ(posix_trace_set_process_clock_np(NULL, NULL, 0), 0);
}

#endif
