/* SPDX-License-Identifier: MIT */
/* since.c - ticks as time. */
#include "port/port.h"

#include "format/mul64.h"
#include "port/bare/board.h"

void pxt_port_since(uint64_t ticks, struct timespec *time)
{
	uint64_t hz = pxt_board_hz();
	/* Less than a second of ticks: no overflow up to 18 GHz. */
	uint64_t ns = pxt_divide_wide(0, &ticks, hz) * 1000000000u;

	(void)pxt_divide_wide(0, &ns, hz);
	time->tv_sec = (time_t)ticks;
	time->tv_nsec = (long)ns;
}
