/* SPDX-License-Identifier: MIT */
/*
 * whole.h - processors with slots that are stored and loaded in one access of 16 bytes, and with a counter that
 * programs read.
 */
#ifndef PXT_ARCH_WHOLE_H
#define PXT_ARCH_WHOLE_H

#include "port/posix/arch/tool.h"

#include <stdbool.h>
#include <stdint.h>

/* A cell is a slot as it is in a ring. */
typedef struct pxt_slot pxt_cell;

/* Set once, before main: the processor does not promise that plain 16-byte accesses are whole. */
extern bool pxt_port_slot_by_cas;
void pxt_port_slot_store_cas(struct pxt_slot *slot, uint64_t low, uint64_t high);
struct pxt_slot pxt_port_slot_load_cas(const struct pxt_slot *slot);

/*
 * The tag word alone, first for the writer's look before it stores, then for the consumer: pairs
 * with the release of the slot's store.
 */
PXT_INLINE uint32_t pxt_slot_peek(const pxt_cell *slot)
{
	return PXT_PEEK(slot->word[0]);
}

PXT_INLINE uint32_t pxt_slot_peek_acquire(const pxt_cell *slot)
{
	return __atomic_load_n(&slot->word[0], __ATOMIC_ACQUIRE);
}

/*
 * A slot in memory that another process writes and this one can only read: nothing is stored, and
 * there is an end to it whatever it does.  What was stored as one is seen as one; else all is 0,
 * which is no record.  @mask: slots of the ring less 1.
 */
PXT_INLINE struct pxt_halves pxt_slot_view(const pxt_cell *cell, uint32_t mask)
{
	const uint64_t *half = (const uint64_t *)(const void *)cell;

	(void)mask;
	/* The tag is in the first half, and comes back after 2^31 slots only. */
	for (int i = 0; i < 4; i++) {
		uint64_t low = __atomic_load_n(&half[0], __ATOMIC_ACQUIRE);
		uint64_t high = __atomic_load_n(&half[1], __ATOMIC_ACQUIRE);

		if (__atomic_load_n(&half[0], __ATOMIC_RELAXED) == low)
			return (struct pxt_halves){ low, high };
	}
	return (struct pxt_halves){ 0, 0 };
}

/* Before first use, while no other thread knows the @count cells (a power of two) at @cells. */
PXT_INLINE void pxt_cells_init(PXT_UNUSED pxt_cell *cells, PXT_UNUSED uint32_t count)
{
}

/* ---- The stamp clock: a counter that programs read; the including header has these two ---- */

PXT_INLINE uint64_t pxt_port_ticks_plain(void);
PXT_INLINE void pxt_port_ticks_fence(void);
extern bool pxt_port_use_counter; /* fixed by pxt_port_clock_start() */

PXT_INLINE uint64_t pxt_port_ticks_here(void)
{
	return PXT_LIKELY(pxt_port_use_counter) ? pxt_port_ticks_plain() : pxt_port_ticks_slow();
}

#if PXT_SMALL
uint64_t pxt_port_ticks(void);
uint64_t pxt_port_ticks_ordered(void);
#else
PXT_INLINE uint64_t pxt_port_ticks(void)
{
	return pxt_port_ticks_here();
}

/* Not before older instructions have finished: orders stamps against the look at head. */
PXT_INLINE uint64_t pxt_port_ticks_ordered(void)
{
	pxt_port_ticks_fence();
	return pxt_port_ticks_here();
}
#endif

/* Whether pxt_port_ticks_plain() and pxt_slot_store_plain() may be used. */
PXT_INLINE bool pxt_port_plain(void)
{
	return !PXT_TSAN && pxt_port_use_counter && !pxt_port_slot_by_cas;
}

#endif
