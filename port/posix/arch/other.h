/* SPDX-License-Identifier: MIT */
/*
 * other.h - machines that access no slot as one: words that tell to what they belong (words.h).
 */
#ifndef PXT_ARCH_OTHER_H
#define PXT_ARCH_OTHER_H

#include "port/posix/arch/tool.h"
#include "port/posix/words.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

/* A cell is a slot as it is in a ring. */
typedef struct pxt_words_cell pxt_cell;

#define pxt_slot_store       pxt_words_store
#define pxt_slot_store_plain pxt_words_store
#define pxt_slot_load        pxt_words_load

#include "port/port_pieces.h"

/*
 * The tag word alone, first for the writer's look before it stores, then for the consumer: pairs
 * with the release of the slot's store.  A cell's tells the consumer nothing without its other words.
 */
PXT_INLINE uint32_t pxt_slot_peek(const pxt_cell *slot)
{
	return pxt_word_load(&slot->tag);
}

PXT_INLINE uint32_t pxt_slot_peek_acquire(const pxt_cell *slot)
{
	return pxt_slot_load(slot).word[0];
}

/*
 * A slot in memory that another process writes and this one can only read: nothing is stored, and
 * there is an end to it whatever it does.  What was stored as one is seen as one; else all is 0,
 * which is no record.  @mask: slots of the ring less 1.
 */
PXT_INLINE struct pxt_halves pxt_slot_view(const pxt_cell *cell, uint32_t mask)
{
	struct pxt_slot slot = pxt_words_view(cell, mask);

	return pxt_slot_halves(&slot);
}

/* Before first use, while no other thread knows the @count cells (a power of two) at @cells. */
#define pxt_cells_init pxt_words_init

/* ---- The stamp clock ---- */

#define pxt_port_ticks         pxt_port_ticks_slow
#define pxt_port_ticks_plain   pxt_port_ticks_slow
#define pxt_port_ticks_ordered pxt_port_ticks_slow
PXT_OFF_RETURNS(true, bool, pxt_port_plain, void);

PXT_INLINE void pxt_port_ticks_fence(void)
{
	atomic_thread_fence(memory_order_seq_cst);
}

/* The cursors first. */
#include "port/posix/cursor.h"

#include "port/port_own.h"

/* Words of a thread are found by their addresses. */
#define PXT_OWN_BY_DISTANCE 0

#endif
