/* SPDX-License-Identifier: MIT */
/* port_own.h - words that a trace point asks and counts, by the atomics of C; behind a port's cursors and cells. */
#ifndef PXT_PORT_OWN_H
#define PXT_PORT_OWN_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

/*
 * Words that a trace point asks and counts.  pxt_own_...: only the calling thread and its handlers write
 * them; up() is a release.
 */
PXT_INLINE void pxt_own_up(_Atomic uint32_t *number)
{
	atomic_store_explicit(
	    number, atomic_load_explicit(number, memory_order_relaxed) + 1u, memory_order_release);
}

PXT_INLINE bool pxt_own_odd(_Atomic uint32_t *number)
{
	return atomic_load_explicit(number, memory_order_relaxed) & 1u;
}

PXT_INLINE bool pxt_word_is(_Atomic uint32_t *word, uint32_t value)
{
	return atomic_load_explicit(word, memory_order_relaxed) == value;
}

/* @value less the word. */
PXT_INLINE uint32_t pxt_word_behind(_Atomic uint32_t *word, uint32_t value)
{
	return value - atomic_load_explicit(word, memory_order_relaxed);
}

PXT_INLINE bool pxt_cursor_move(pxt_cursor *cursor, uint64_t *seen, uint64_t by)
{
	return pxt_cursor_swap(cursor, seen, *seen + by);
}

/* @tag less that of the slot, for the writer's look before it stores. */
PXT_INLINE uint32_t pxt_slot_behind(const pxt_cell *slot, uint32_t tag)
{
	return tag - pxt_slot_peek(slot);
}

#endif
