/* SPDX-License-Identifier: MIT */
/*
 * crowd.h - the threads that untrue times came from (the setting of the report after ruling 25): one
 * wakes every 60 us, whoever runs, and traces the two ends of a span of 20 us; one that it preempts,
 * anywhere in its trace points, traces in a loop; so does a third one on another processor.
 */
#ifndef TRUTH_CROWD_H
#define TRUTH_CROWD_H

#include <stdbool.h>
#include <stdint.h>

/* Their numbers are those of their sources (readings.h). */
enum crowd_member {
	CROWD_PEAK,
	CROWD_BELOW,
	CROWD_BESIDE,
	CROWD_MEMBERS
};

struct crowd_wish {
	uint32_t ms;  /* so long */
	bool signals; /* a timer's handler traces, too, in the two that trace in a loop */
	bool forked;  /* the one beside is none of this process' threads: crowd_be() is */
};

/* Events that a member makes at most in so long a time: what rd_begin() is to be told. */
uint32_t crowd_events(uint32_t ms);
/* How long they are at it, and how often: so short a time takes little memory. */
uint32_t crowd_ms(void);
unsigned crowd_rounds(void);
void crowd_begin(const struct crowd_wish *wish);
/* Whether anybody is still at it. */
bool crowd_busy(void);
/* Moves those who trace in a loop to the other processor, wherever they are in their code. */
void crowd_move(unsigned turn);
void crowd_end(void);

/* The calling thread is the one beside, for @ms. */
void crowd_be_beside(uint32_t ms);

void crowd_sleep_us(unsigned us);

#endif
