/* SPDX-License-Identifier: MIT */
/* pace.h - so many events at full speed or at a pace, whatever is lost. */
#ifndef BENCH_PACE_H
#define BENCH_PACE_H

#include <time.h>

/* @rate events a second, those of a millisecond in a row; 0: as fast as they go.  Returns ns of time of each. */
static inline double pace_events(
    void (*trace)(unsigned thread, unsigned long count), unsigned long events, unsigned long rate)
{
	static const struct timespec pause = { 0, 1000000 };
	struct timespec from;
	struct timespec now;
	unsigned long done = 0;
	double ns;

	(void)clock_gettime(CLOCK_MONOTONIC, &from);
	for (;;) {
		unsigned long due;

		(void)clock_gettime(CLOCK_MONOTONIC, &now);
		ns =
		    (double)(now.tv_sec - from.tv_sec) * 1e9 + (double)(now.tv_nsec - from.tv_nsec);
		if (done == events)
			return ns / (double)events;
		due = rate ? (unsigned long)(ns * (double)rate / 1e9) : events;
		due = due < events ? due : events;
		if (due == done)
			(void)nanosleep(&pause, NULL);
		trace(0, due - done);
		done = due;
	}
}

#endif
