/* SPDX-License-Identifier: MIT */
/*
 * turns.h - threads of which one runs at a time, in an order that is drawn: a thread that runs passes
 * places at which another may be drawn to go on, and now and then does not come back for long.  The
 * same seed gives the same order, so a failure can be looked at again.
 */
#ifndef TURNS_H
#define TURNS_H

#include <stdbool.h>
#include <stdint.h>

#define TURNS_MOST 8 /* threads */

/* Before the first thread sits. */
void turns_prepare(void);

/*
 * One round for @count threads, which sit on seats 0 ... @count - 1, or will; returns when the last
 * one has left.
 */
void turns_round(uint64_t seed, unsigned count);

/* Of a thread, for each round: returns with its first turn; gives the last one away. */
void turns_sit(unsigned seat);
void turns_leave(void);

/* A place at which another may go on; nothing in a thread without a seat. */
void turns_pass(void);
/* Away for @draws draws, unless all others are away for longer.  False: a thread without a seat. */
bool turns_sleep(unsigned draws);

/* 0 ... @below - 1, of the sequence that the seed gives; by a thread whose turn it is. */
uint32_t turns_draw(uint32_t below);

#endif
