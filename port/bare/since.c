/* SPDX-License-Identifier: MIT */
/*
 * since.c - ticks as time.  Bit by bit: 64-bit division costs 700 bytes on a 32-bit processor
 * without one, and a reader has time.
 */
#include "port/port_since.h"

#include "port/bare/board.h"

/* *value becomes the quotient, the rest is returned.  @by < 2^63. */
static uint64_t divide(uint64_t *value, uint64_t by)
{
	uint64_t rest = 0;

	for (unsigned i = 0; i < 64; i++) {
		rest = rest << 1 | *value >> 63;
		*value <<= 1;
		if (rest >= by) {
			rest -= by;
			*value |= 1u;
		}
	}
	return rest;
}

void pxt_port_since(uint64_t ticks, struct timespec *time)
{
	uint64_t hz = pxt_board_hz();
	/* Less than a second of ticks: no overflow up to 18 GHz. */
	uint64_t ns = divide(&ticks, hz) * 1000000000u;

	(void)divide(&ns, hz);
	time->tv_sec = (time_t)ticks;
	time->tv_nsec = (long)ns;
}
