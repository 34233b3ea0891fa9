/* SPDX-License-Identifier: MIT */
/*
 * board.h - the page that a board fills in.  board.c defines each function weakly, in the least
 * way that works; a board's own definition replaces it.
 *
 * Functions marked (i) may run in interrupt handlers.
 */
#ifndef PXT_BOARD_H
#define PXT_BOARD_H

#include <stddef.h>
#include <stdint.h>
#include <time.h>

/*
 * (i) A counter that never runs backwards, and its rate.  64 bits do not run over in the life of a
 * board (117 years at 5 GHz); hardware that has fewer is continued by pxt_board_widen().  The
 * default rises by one at each reading: order without duration.
 */
uint64_t pxt_board_ticks(void);
uint64_t pxt_board_hz(void);
/*
 * (i) The counter of 64 bits after one of 32: @last is its last value, @now what the hardware shows.
 * Exact if it is asked at least once in 2^32 ticks, which a timer's interrupt must see to while the
 * board is idle.  Reading, calling and keeping the result belong together, with interrupts away:
 *
 *	uint32_t state = pxt_board_irq_save();
 *	uint64_t ticks = last = pxt_board_widen(last, *CYCLE_COUNTER);
 *	pxt_board_irq_restore(state);
 */
static inline uint64_t pxt_board_widen(uint64_t last, uint32_t now)
{
	return last + (uint32_t)(now - (uint32_t)last);
}
/* Time of day; the default is the time since the counter was 0. */
void pxt_board_realtime(struct timespec *now);

/* (i) The running thread as a number that is not 0, an interrupt handler's included. */
uint64_t pxt_board_thread(void);

/* Nothing to do until an interrupt or another thread has run; may return at any time. */
void pxt_board_idle(void);

/*
 * Sends up to @bytes to the device @fd and returns how many it took; 0: none now, negative: the
 * device is broken.  The default takes none.
 */
long pxt_board_output(int fd, const void *data, size_t bytes);

/*
 * (i) Keep interrupts away, and let them come as before.  Used where the processor is not a
 * Cortex-M, whose own instructions are used otherwise.
 */
uint32_t pxt_board_irq_save(void);
void pxt_board_irq_restore(uint32_t state);

#endif
