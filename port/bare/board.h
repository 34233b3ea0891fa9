/* SPDX-License-Identifier: MIT */
/*
 * board.h - the page that a board fills in.  board.c defines each function but the last two weakly, in
 * the least way that works; a board's own definition replaces it.
 *
 * Functions marked (i) may run in interrupt handlers.
 */
#ifndef PXT_BOARD_H
#define PXT_BOARD_H

#include <stdbool.h>
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

/*
 * Nothing to do until an interrupt or another task has run; may return at any time.  Where tasks have
 * priorities it must let less urgent ones run: the caller waits for one of them.  A sleep of one tick does.
 */
void pxt_board_idle(void);

/*
 * Lock and unlock of control calls; the trace path has none.  @lock: PXT_BOARD_LOCK_BYTES, zero when nobody has
 * it.  False: somebody has it, and the caller does not @wait.  The default waits by pxt_board_idle().  A board whose
 * tasks have priorities takes its kernel's mutex with inheritance, so that an urgent task waits no longer than the
 * call that it waits for takes.
 */
#define PXT_BOARD_LOCK_BYTES 16u
bool pxt_board_lock(void *lock, bool wait);
void pxt_board_unlock(void *lock);

/*
 * Sends up to @bytes to the device @fd and returns how many it took; 0: none now, negative: the
 * device is broken.  The default takes none.
 */
long pxt_board_output(int fd, const void *data, size_t bytes);

/*
 * (i) Keep interrupts away, and let them come as before.  A Cortex-M and a RISC-V of 32 bits in machine
 * mode need none, their own instructions are used; elsewhere a board without them does not link.
 */
uint32_t pxt_board_irq_save(void);
void pxt_board_irq_restore(uint32_t state);

#endif
