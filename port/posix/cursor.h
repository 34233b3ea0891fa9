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

#define pxt_cursor_add   pxt_words_add
#define pxt_cursor_peek  pxt_words_peek
#define pxt_cursor_load  pxt_words_peek
#define pxt_cursor_view  pxt_words_view_cursor
#define pxt_cursor_set   pxt_words_set
#define pxt_cursor_swap  pxt_words_swap
#define pxt_cursor_close pxt_words_close
#define pxt_cursor_open  pxt_words_open
#define pxt_counter_up   pxt_words_count_up
#define pxt_counter_load pxt_words_count
#define pxt_twins_peek   pxt_words_twins
#define pxt_twins_load   pxt_words_twins
#define pxt_twins_set    pxt_words_twins_set
#define pxt_twins_move   pxt_words_twins_move
#define pxt_wide_load    pxt_words_wide
#define pxt_wide_set     pxt_words_wide_set
#endif

#endif
