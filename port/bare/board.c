/* SPDX-License-Identifier: MIT */
/*
 * board.c - what a board must provide, in the least way that works: counter (one of 32 bits is continued to
 * 64), rate, output; see board.h.  Each function gives way to a board's
 * own.
 */
#include "port/bare/board.h"

#include "format/mul64.h"
#include "port/port.h"
#include "port_atomic.h"

#define WEAK __attribute__((weak))

/* The only one has number 0. */
const volatile uint32_t pxt_port_only_cpu = 0;

static pxt_cursor readings;

WEAK uint64_t pxt_board_ticks(void)
{
	return pxt_cursor_add(&readings, 1) + 1;
}

WEAK uint64_t pxt_board_hz(void)
{
	return 1000000;
}

WEAK void pxt_board_realtime(struct timespec *now)
{
	pxt_port_since(pxt_board_ticks(), now);
}

WEAK void pxt_board_idle(void)
{
	atomic_signal_fence(memory_order_seq_cst);
}

/* The first word is 1 while somebody has it. */
WEAK bool pxt_board_lock(void *lock, bool wait)
{
	pxt_cursor *word = lock;
	uint64_t unlocked = 0;

	while (!pxt_cursor_swap(word, &unlocked, 1)) {
		if (!wait)
			return false;
		unlocked = 0;
		pxt_board_idle();
	}
	return true;
}

WEAK void pxt_board_unlock(void *lock)
{
	pxt_cursor_set((pxt_cursor *)lock, 0);
}

WEAK long pxt_board_output(PXT_UNUSED int fd, PXT_UNUSED const void *data, PXT_UNUSED size_t bytes)
{
	return 0;
}

/* ---- Ticks as time ---- */

void pxt_port_since(uint64_t ticks, struct timespec *time)
{
	uint64_t hz = pxt_board_hz();
	/* Less than a second of ticks: no overflow up to 18 GHz. */
	uint64_t ns = pxt_divide_wide(0, &ticks, hz) * 1000000000u;

	(void)pxt_divide_wide(0, &ns, hz);
	time->tv_sec = (time_t)ticks;
	time->tv_nsec = (long)ns;
}
