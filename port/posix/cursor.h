/* SPDX-License-Identifier: MIT */
/*
 * cursor.h - shared numbers of 64 bits: where such a word is one access, that; else made of words
 * (words.h).
 */
#ifndef PXT_CURSOR_H
#define PXT_CURSOR_H

#include "format/compiler.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#if __GCC_ATOMIC_LLONG_LOCK_FREE == 2
typedef _Atomic uint64_t pxt_cursor;

/* Relaxed: the slots carry their own validity; nothing is published through a cursor alone. */
PXT_INLINE uint64_t pxt_cursor_add(pxt_cursor *cursor, uint64_t by)
{
	return atomic_fetch_add_explicit(cursor, by, memory_order_relaxed);
}

PXT_INLINE uint64_t pxt_cursor_peek(pxt_cursor *cursor)
{
	return atomic_load_explicit(cursor, memory_order_relaxed);
}

/* Acquire: what is read after it is not older than the cursor (the consumer's second look). */
PXT_INLINE uint64_t pxt_cursor_load(pxt_cursor *cursor)
{
	return atomic_load_explicit(cursor, memory_order_acquire);
}

/* The same of a cursor that another process moves and this one can only read. */
PXT_INLINE uint64_t pxt_cursor_view(const pxt_cursor *cursor)
{
	return atomic_load_explicit((pxt_cursor *)(uintptr_t)cursor, memory_order_acquire);
}

PXT_INLINE void pxt_cursor_set(pxt_cursor *cursor, uint64_t value)
{
	atomic_store_explicit(cursor, value, memory_order_release);
}

/* A failed exchange writes what it saw.  NOLINTNEXTLINE(readability-non-const-parameter) */
PXT_INLINE bool pxt_cursor_swap(pxt_cursor *cursor, uint64_t *seen, uint64_t value)
{
	return atomic_compare_exchange_strong_explicit(
	    cursor, seen, value, memory_order_relaxed, memory_order_relaxed);
}

/* Bit 0. */
PXT_INLINE void pxt_cursor_close(pxt_cursor *cursor)
{
	atomic_fetch_or_explicit(cursor, UINT64_C(1), memory_order_acq_rel);
}

PXT_INLINE void pxt_cursor_open(pxt_cursor *cursor)
{
	atomic_fetch_and_explicit(cursor, ~UINT64_C(1), memory_order_acq_rel);
}

#include "port/port_wide.h"
#else
#include "port/posix/words.h"

typedef struct pxt_words_cursor pxt_cursor;
typedef struct pxt_words_counter pxt_counter;
typedef struct pxt_words_twins pxt_twins;
typedef struct pxt_words_wide pxt_wide;

PXT_INLINE uint64_t pxt_cursor_add(pxt_cursor *cursor, uint64_t by)
{
	return pxt_words_add(cursor, by);
}

PXT_INLINE uint64_t pxt_cursor_peek(pxt_cursor *cursor)
{
	return pxt_words_peek(cursor);
}

PXT_INLINE uint64_t pxt_cursor_load(pxt_cursor *cursor)
{
	return pxt_words_peek(cursor);
}

PXT_INLINE uint64_t pxt_cursor_view(const pxt_cursor *cursor)
{
	return pxt_words_view_cursor(cursor);
}

PXT_INLINE void pxt_cursor_set(pxt_cursor *cursor, uint64_t value)
{
	pxt_words_set(cursor, value);
}

PXT_INLINE bool pxt_cursor_swap(pxt_cursor *cursor, uint64_t *seen, uint64_t value)
{
	return pxt_words_swap(cursor, seen, value);
}

PXT_INLINE void pxt_cursor_close(pxt_cursor *cursor)
{
	pxt_words_close(cursor);
}

PXT_INLINE void pxt_cursor_open(pxt_cursor *cursor)
{
	pxt_words_open(cursor);
}

PXT_INLINE void pxt_counter_up(pxt_counter *counter)
{
	pxt_words_count_up(counter);
}

PXT_INLINE uint64_t pxt_counter_load(pxt_counter *counter)
{
	return pxt_words_count(counter);
}

PXT_INLINE uint64_t pxt_twins_peek(pxt_twins *twins)
{
	return pxt_words_twins(twins);
}

PXT_INLINE uint64_t pxt_twins_load(pxt_twins *twins)
{
	return pxt_words_twins(twins);
}

PXT_INLINE void pxt_twins_set(pxt_twins *twins, uint64_t value)
{
	pxt_words_twins_set(twins, value);
}

PXT_INLINE void pxt_twins_move(pxt_twins *twins, uint64_t from, uint64_t to)
{
	pxt_words_twins_move(twins, from, to);
}

PXT_INLINE uint64_t pxt_wide_load(pxt_wide *wide)
{
	return pxt_words_wide(wide);
}

PXT_INLINE void pxt_wide_set(pxt_wide *wide, uint64_t value)
{
	pxt_words_wide_set(wide, value);
}
#endif

#endif
