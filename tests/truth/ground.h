/* SPDX-License-Identifier: MIT */
/*
 * ground.h - small streams on which one thing happens at a time, as a test says; all that is reported
 * of it must be true exactly: on one processor, or by the fakes' clock, readings are off by nothing.
 */
#ifndef TRUTH_GROUND_H
#define TRUTH_GROUND_H

#include "readings.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define LOOP    POSIX_TRACE_LOOP
#define FULL    POSIX_TRACE_UNTIL_FULL
#define LONG_NS (UINT64_C(1000) * 1000000000)

#define GROUND_STREAMS 2u
#define GROUND_LAP     40u /* so many small events are more than a lane holds */

/* Who traces: sources. */
enum ground_source {
	OUTER, /* the event that is interrupted, or that stands still */
	BEFORE,
	NESTED, /* what happens meanwhile */
	INNER,  /* what happens within that */
	LAP,
	AFTER
};

enum ground_fill {
	FRESH,
	SOME, /* a few events in each lane */
	BRIM  /* LOOP: lapped; FULL: nearly full */
};

struct ground {
	int policy;
	unsigned lanes;
	size_t len; /* of the outer event */
	enum ground_fill fill;
	bool ordered;
	bool two;    /* streams */
	bool logged; /* nobody reads but the flusher */
	bool many;   /* events are read many at once */
};

extern const struct ground *ground;
extern trace_id_t ground_streams[GROUND_STREAMS];

/* Streams, running, filled; the calling thread traces into lane 0.  Nobody is given up. */
void ground_begin(const struct ground *where);
/* Two more events; then the law, and the verdict on everything.  @what: where it happened, for the report. */
bool ground_end(const char *what);
unsigned ground_count(void);
/* In words. */
const char *ground_name(void);

/* The calling thread registers, and traces into the lane that it says. */
void ground_register(void);
void ground_lane(uint32_t lane);
/* So many lanes beside that, and back. */
void ground_say(uint32_t beside, enum ground_source source, size_t len);

/* What may happen. */
void ground_read(void); /* logged: by a flush */
/* Nobody is waited for. */
void ground_stop_and_start(void);
void ground_clear(void);
/* LOOP: overwrites all there is in its lane; FULL: fills it, and is refused. */
void ground_lap(void);

#endif
