/* SPDX-License-Identifier: MIT */
/*
 * clock.c - events of a simulation have the simulation's time.
 *
 * Page: posix_trace_set_process_clock_np - stamp events by a clock of the program
 * Page: posix_trace_eventinfo_getextra_np, posix_trace_getclock_np - more about an event, and the
 * clock of its stamp
 *
 * Prints:
 *	the clock has 1000 ticks a second
 *	an event at tick 1500
 *	an event at tick 3000
 */
#include <trace.h>
#include <trace_np.h>

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

static _Atomic unsigned long simulated_ms;

static uint64_t simulated_time(void *context)
{
	return atomic_load_explicit((_Atomic unsigned long *)context, memory_order_relaxed);
}

static void must(int error)
{
	if (error != 0)
		exit(1);
}

int main(void)
{
	struct posix_trace_event_info event;
	struct posix_trace_eventextra_np extra;
	struct posix_trace_clock_np clock;
	trace_attr_t attr;
	trace_id_t trid;
	size_t length;
	int nothing;

	must(posix_trace_set_process_clock_np(simulated_time, &simulated_ms, 1000));
	must(posix_trace_attr_init(&attr));
	must(posix_trace_attr_setlanes_np(&attr, 1)); /* as the clock may stand still */
	must(posix_trace_create(0, &attr, &trid));
	must(posix_trace_getclock_np(trid, &clock, sizeof(clock)));
	(void)printf("the clock has %llu ticks a second\n", (unsigned long long)clock.posix_hz_np);
	must(posix_trace_start(trid));
	for (int step = 0; step < 2; step++) {
		atomic_fetch_add(&simulated_ms, 1500);
		posix_trace_event(POSIX_TRACE_UNNAMED_USEREVENT, NULL, 0);
	}
	must(posix_trace_stop(trid));
	for (;;) {
		must(posix_trace_trygetnext_event(trid, &event, NULL, 0, &length, &nothing));
		if (nothing)
			break;
		must(posix_trace_eventinfo_getextra_np(&event, &extra, sizeof(extra)));
		if (event.posix_event_id == POSIX_TRACE_UNNAMED_USEREVENT)
			(void)printf(
			    "an event at tick %llu\n", (unsigned long long)extra.posix_ticks_np);
	}
	must(posix_trace_shutdown(trid));
	return 0;
}
