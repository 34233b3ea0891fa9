/* SPDX-License-Identifier: MIT */
/*
 * rival.h - what a tracer has to supply to be measured as the others are (rival.c has main()).
 *
 *	PROGRAM [--csv] [--quick | --smoke] [--row NAME] [--bytes 4|32|256] [--threads 1|2]
 *	        [--state on|off] [--events N [--rate R]] [--lines VERSION]
 *
 * Tables "one thread" and "two threads" (columns by payload, and "off"), "one event at a time"
 * (columns by rank), "after a walk", "after a sleep" (frame/cold.c) and "lost".  
 * --lines: what scripts/lines.py asks for, and nothing else.  --events: nothing but so many events, at R a second
 * (0: at full speed), and then what each took.
 */
#ifndef BENCH_RIVAL_H
#define BENCH_RIVAL_H

#include "bench/frame/frame.h"

#include <stdbool.h>
#include <stdint.h>
#include <time.h>

enum rival_payload {
	RIVAL_4,
	RIVAL_32,
	RIVAL_256,
	RIVAL_PAYLOADS
};

/* Of how many events it traced so far, this many were lost, as the tracer itself says. */
struct rival_loss {
	bool reported;
	uint64_t lost;
	const char *why_not; /* if it does not say */
};

struct rival {
	const char *name;
	bench_loop *loop[RIVAL_PAYLOADS];
	unsigned long passes[RIVAL_PAYLOADS]; /* half a millisecond or so */
	lines_calls *lines[RIVAL_PAYLOADS];   /* NULL: that is not counted */
	bool cold;                            /* measured with everything out of the caches, too */
	bench_loop *off;                      /* NULL: cannot be disabled */
	/* NULL: outside of this program.  Returns why it cannot be, or NULL. */
	const char *(*start)(enum rival_payload payload);
	void (*stop)(void);                    /* NULL: nothing to do */
	void (*loss)(struct rival_loss *loss); /* before stop; NULL: not known in this program */
};

/* Each program has some, up to one without a name. */
extern const struct rival rivals[];

/* ---- So many events at full speed or at a pace, whatever is lost ---- */

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
