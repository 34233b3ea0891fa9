/* SPDX-License-Identifier: MIT */
/* port_own.h - words that a trace point asks and counts, by the atomics of C; behind a port's cursors and cells. */
#ifndef PXT_PORT_OWN_H
#define PXT_PORT_OWN_H

#include "format/slot.h"

#include <stdatomic.h>

/*
 * Words that a trace point asks and counts.  pxt_own_...: only the calling thread and its handlers write
 * them; up() is a release.
 */
PXT_INLINE void pxt_own_up(_Atomic uint32_t *number)
{
	atomic_store_explicit(
	    number, atomic_load_explicit(number, memory_order_relaxed) + 1u, memory_order_release);
}

PXT_INLINE bool pxt_own_odd(const _Atomic uint32_t *number)
{
	return atomic_load_explicit(number, memory_order_relaxed) & 1u;
}

PXT_INLINE bool pxt_word_is(const _Atomic uint32_t *word, uint32_t value)
{
	return atomic_load_explicit(word, memory_order_relaxed) == value;
}

/* @value less the word. */
PXT_INLINE uint32_t pxt_word_behind(const _Atomic uint32_t *word, uint32_t value)
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

/* ---- A record that a consumer takes ---- */

/* Whether that is to be called. */
PXT_INLINE bool pxt_record_takes(void)
{
	return true;
}

/* Word 1 of what may be a begin slot: pxt_record_take() says whether it is. */
PXT_INLINE uint32_t pxt_record_info(const pxt_cell *from)
{
	return (uint32_t)(pxt_slot_load_halves(from).low >> 32);
}

/*
 * Copies the @slots slots of a record in a row, each as one, with 0 for their tags; acquire.  False: they do not have
 * @tag, or the begin slot has another word 1 than @info.
 */
PXT_INLINE bool pxt_record_take(struct pxt_slot *to, const pxt_cell *from, uint32_t slots,
    uint32_t info, uint32_t tag, uint64_t *ticks)
{
	const struct pxt_halves front = pxt_slot_load_halves(from);
	uint32_t odd = 0;

	*ticks = front.high;
	if (front.low != ((uint64_t)info << 32 | PXT_SLOT_BEGIN | tag))
		return false;
	to[0] = pxt_slot_of(front);
	to[0].word[0] = PXT_SLOT_BEGIN;
	/* Bound: the slots of the record. */
	PXT_BOUND(taken, slots);
	for (uint32_t i = 1; i < slots; i++) {
		PXT_ROUND(taken);
		to[i] = pxt_slot_load(&from[i]);
		odd |= to[i].word[0] ^ tag;
		to[i].word[0] = 0;
	}
	return odd == 0;
}

#endif
