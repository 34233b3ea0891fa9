/* SPDX-License-Identifier: MIT */
/*
 * words.h - slots and cursors where nothing wider than 32 bits is stored in one access.
 *
 *   concurrency         cell_store   cell_load   cursor, counter, twins, wide
 *   any of these                -            -            -      all at once, in signal handlers too
 *
 * No lock, because a handler may interrupt its holder, and a holder may be killed.  Instead every
 * word tells by itself to what it belongs:
 *
 * A cell holds one slot in seven words.  The first is the slot's own, with the tag; each of the
 * others is half lap, half payload.  A cell is whole when all agree.  A writer that was stopped in
 * the middle, for however long, spoils at most what it stores into, and that shows.  Laps repeat
 * after 65,536: a writer stopped for an exact multiple of them might not be noticed.
 *
 * A cursor moves by one exchange of its tail, which decides everything: where a record is and
 * that it is counted.  The numbers that do not fit into the tail follow it: each is at most one
 * after, which the parity in the tail tells, and a thread that wants to move the tail first brings them
 * up.  They only ever grow, so that a late helper's exchange fails.  (A tail repeats after 2^30
 * slots: who was stopped for an exact multiple of that might move it wrongly.)
 *
 * Order: what moves a tail releases, and every look acquires, so that who sees a tail sees the
 * followers that it needed; followers are looked at between two looks at the tail.
 */
#ifndef PXT_WORDS_H
#define PXT_WORDS_H

#include "format/compiler.h"
#include "format/position.h"
#include "format/slot.h"

#include <stdatomic.h>

/* A test interrupts between any two steps. */
#ifndef PXT_WORDS_STEP
#define PXT_WORDS_STEP() ((void)0)
#endif

PXT_INLINE uint32_t pxt_word_load(const _Atomic uint32_t *word)
{
	return atomic_load_explicit((_Atomic uint32_t *)(uintptr_t)word, memory_order_acquire);
}

/* ---- Cells ---- */

struct pxt_words_cell {
	_Atomic uint32_t tag;     /* word 0 of the slot */
	_Atomic uint32_t half[6]; /* [31:16] lap [15:0] the other words, low half first */
	uint32_t shift;           /* of the lap in the tag; the same in the whole ring, for ever */
} PXT_ALIGNED(32);

#define PXT_WORDS_TAG UINT32_C(0x7fffffff)

PXT_INLINE uint32_t pxt_words_lap(const struct pxt_words_cell *cell, uint32_t tag)
{
	return (tag & PXT_WORDS_TAG) >> cell->shift << 16;
}

/* The cells of one ring, a power of two, while no other thread knows them. */
static inline void pxt_words_init(struct pxt_words_cell *cells, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++)
		cells[i].shift = (uint32_t)__builtin_ctz(count);
}

/* The tag last: a thread that sees it, sees the rest at least as new. */
static inline void pxt_words_store(struct pxt_words_cell *cell, uint64_t low, uint64_t high)
{
	uint32_t tag = (uint32_t)low;
	uint32_t lap = pxt_words_lap(cell, tag);
	uint64_t rest = high;
	uint32_t first = (uint32_t)(low >> 32);

	atomic_store_explicit(&cell->half[0], lap | (first & 0xffffu), memory_order_relaxed);
	PXT_WORDS_STEP();
	atomic_store_explicit(&cell->half[1], lap | first >> 16, memory_order_relaxed);
	PXT_WORDS_STEP();
	for (unsigned i = 2; i < 6; i++, rest >>= 16) {
		atomic_store_explicit(
		    &cell->half[i], lap | ((uint32_t)rest & 0xffffu), memory_order_relaxed);
		PXT_WORDS_STEP();
	}
	atomic_store_explicit(&cell->tag, tag, memory_order_release);
}

/*
 * A cell that is not whole, now or for ever: a tag that is far older than any that is waited for,
 * and nothing else, so that its reader takes it for a slot that was not stored yet.
 */
PXT_INLINE struct pxt_slot pxt_words_not_whole(uint32_t tag)
{
	return (struct pxt_slot){ .word = { (tag - (UINT32_C(1) << 29)) & PXT_WORDS_TAG } };
}

/* What is stored with @tag, of @lap; a cell that is not whole is not. */
static inline struct pxt_slot pxt_words_with(
    const struct pxt_words_cell *cell, uint32_t tag, uint32_t lap)
{
	uint32_t half[6];
	uint32_t strange = 0;

	for (unsigned i = 0; i < 6; i++) {
		PXT_WORDS_STEP();
		half[i] = pxt_word_load(&cell->half[i]);
		strange |= (half[i] ^ lap) & 0xffff0000u;
	}
	PXT_WORDS_STEP();
	if (strange || pxt_word_load(&cell->tag) != tag)
		return pxt_words_not_whole(tag);
	return (struct pxt_slot){ .word = { tag, (half[0] & 0xffffu) | half[1] << 16,
		                      (half[2] & 0xffffu) | half[3] << 16,
		                      (half[4] & 0xffffu) | half[5] << 16 } };
}

static inline struct pxt_slot pxt_words_load(const struct pxt_words_cell *cell)
{
	uint32_t tag = pxt_word_load(&cell->tag);

	return pxt_words_with(cell, tag, pxt_words_lap(cell, tag));
}

/* In memory that another process writes: its word for the shift is not taken. */
static inline struct pxt_slot pxt_words_view(const struct pxt_words_cell *cell, uint32_t mask)
{
	uint32_t tag = pxt_word_load(&cell->tag);

	return pxt_words_with(cell, tag, (tag & PXT_WORDS_TAG) / (mask + 1u) << 16);
}

/* ---- The cursor of a ring: [63:32] pos [31:1] seq [0] closed, as core/ring/ring.h has it ---- */

struct pxt_words_cursor {
	_Atomic uint32_t tail;    /* [31:2] pos [1] parity of records [0] closed */
	_Atomic uint32_t records; /* seq, and how often it ran over */
	_Atomic uint32_t turns;   /* how often pos crossed a multiple of 2^29: bits 31:29 of it */
};

struct pxt_words_seen {
	uint32_t tail;
	uint32_t records;
	uint32_t turns;
};

PXT_INLINE uint64_t pxt_words_value(const struct pxt_words_seen *seen)
{
	uint32_t pos = seen->turns << 29 | (seen->tail >> 2 & 0x1fffffffu);

	return (uint64_t)pos << 32 | (seen->records << 1) | (seen->tail & 1u);
}

/* Brings a follower up to the tail, if it is after; a lost exchange was won by another helper. */
static inline uint32_t pxt_words_follow(
    _Atomic uint32_t *follower, uint32_t number, uint32_t parity)
{
	uint32_t expected = number;

	if (!((number ^ parity) & 1u))
		return number;
	PXT_WORDS_STEP();
	(void)atomic_compare_exchange_strong_explicit(
	    follower, &expected, number + 1u, memory_order_acq_rel, memory_order_acquire);
	return number + 1u;
}

static inline struct pxt_words_seen pxt_words_settle(struct pxt_words_cursor *cursor)
{
	struct pxt_words_seen seen;

	/* No bound: each round more is a record that another writer got in, or a stop. */
	do {
		seen.tail = pxt_word_load(&cursor->tail);
		PXT_WORDS_STEP();
		seen.records = pxt_word_load(&cursor->records);
		PXT_WORDS_STEP();
		seen.turns = pxt_word_load(&cursor->turns);
		PXT_WORDS_STEP();
	} while (pxt_word_load(&cursor->tail) != seen.tail);
	PXT_WORDS_STEP();
	seen.records = pxt_words_follow(&cursor->records, seen.records, seen.tail >> 1);
	PXT_WORDS_STEP();
	seen.turns = pxt_words_follow(&cursor->turns, seen.turns, seen.tail >> 31);
	PXT_WORDS_STEP();
	return seen;
}

/* In memory that another process writes: changes nothing, and does not wait until it is at rest. */
static inline uint64_t pxt_words_view_cursor(const struct pxt_words_cursor *cursor)
{
	struct pxt_words_seen seen;

	for (int i = 0; i < 16; i++) {
		seen.tail = pxt_word_load(&cursor->tail);
		seen.records = pxt_word_load(&cursor->records);
		seen.turns = pxt_word_load(&cursor->turns);
		if (pxt_word_load(&cursor->tail) == seen.tail)
			break;
	}
	seen.records += (seen.records ^ seen.tail >> 1) & 1u;
	seen.turns += (seen.turns ^ seen.tail >> 31) & 1u;
	return pxt_words_value(&seen);
}

/* From what was seen by @by: any slots, no record or one.  The closed bit stays. */
static inline bool pxt_words_move(
    struct pxt_words_cursor *cursor, const struct pxt_words_seen *seen, uint64_t by)
{
	uint64_t value = pxt_words_value(seen);
	uint64_t next = value + by;
	uint32_t slots = (uint32_t)(next >> 32) - (uint32_t)(value >> 32);
	uint32_t tail = (seen->tail + (slots << 2)) ^ ((uint32_t)(next ^ value) & 2u);
	uint32_t expected = seen->tail;

	return atomic_compare_exchange_strong_explicit(
	    &cursor->tail, &expected, tail, memory_order_acq_rel, memory_order_acquire);
}

static inline uint64_t pxt_words_peek(struct pxt_words_cursor *cursor)
{
	struct pxt_words_seen seen = pxt_words_settle(cursor);

	return pxt_words_value(&seen);
}

static inline uint64_t pxt_words_add(struct pxt_words_cursor *cursor, uint64_t by)
{
	struct pxt_words_seen seen;

	/* No bound: the same. */
	do
		seen = pxt_words_settle(cursor);
	while (!pxt_words_move(cursor, &seen, by));
	return pxt_words_value(&seen);
}

static inline bool pxt_words_swap(
    struct pxt_words_cursor *cursor, uint64_t *expected, uint64_t next)
{
	struct pxt_words_seen seen = pxt_words_settle(cursor);

	if (pxt_words_value(&seen) == *expected && pxt_words_move(cursor, &seen, next - *expected))
		return true;
	*expected = pxt_words_peek(cursor);
	return false;
}

/* No other thread uses the cursor now. */
static inline void pxt_words_set(struct pxt_words_cursor *cursor, uint64_t value)
{
	uint32_t pos = (uint32_t)(value >> 32);
	uint32_t seq = (uint32_t)value >> 1;

	atomic_store_explicit(&cursor->records, seq, memory_order_relaxed);
	atomic_store_explicit(&cursor->turns, pos >> 29, memory_order_relaxed);
	atomic_store_explicit(&cursor->tail, pos << 2 | (seq & 1u) << 1 | ((uint32_t)value & 1u),
	    memory_order_release);
}

PXT_INLINE void pxt_words_close(struct pxt_words_cursor *cursor)
{
	(void)atomic_fetch_or_explicit(&cursor->tail, 1u, memory_order_acq_rel);
}

PXT_INLINE void pxt_words_open(struct pxt_words_cursor *cursor)
{
	(void)atomic_fetch_and_explicit(&cursor->tail, ~1u, memory_order_acq_rel);
}

/* ---- A number that many count up ---- */

/* `turns` follows as above: it counts how often `low` crossed a multiple of 2^31. */
struct pxt_words_counter {
	_Atomic uint32_t low;
	_Atomic uint32_t turns;
};

static inline uint64_t pxt_words_count(struct pxt_words_counter *counter)
{
	uint32_t low;
	uint32_t turns;

	/* No bound: each round more is 2^31 events of others. */
	do {
		low = pxt_word_load(&counter->low);
		PXT_WORDS_STEP();
		turns = pxt_word_load(&counter->turns);
		PXT_WORDS_STEP();
	} while ((pxt_word_load(&counter->low) ^ low) >> 31);
	return pxt_count_of(low, pxt_words_follow(&counter->turns, turns, low >> 31));
}

static inline void pxt_words_count_up(struct pxt_words_counter *counter)
{
	uint32_t before = atomic_fetch_add_explicit(&counter->low, 1u, memory_order_release);

	PXT_WORDS_STEP();
	if (PXT_UNLIKELY((before & 0x7fffffffu) == 0x7fffffffu))
		(void)pxt_words_count(counter);
}

/* ---- Two numbers in one word, each of which grows for itself ---- */

struct pxt_words_twins {
	_Atomic uint32_t high;
	_Atomic uint32_t low;
};

PXT_INLINE uint64_t pxt_words_twins(const struct pxt_words_twins *twins)
{
	uint32_t high = pxt_word_load(&twins->high);

	return (uint64_t)high << 32 | pxt_word_load(&twins->low);
}

PXT_INLINE void pxt_words_twins_set(struct pxt_words_twins *twins, uint64_t value)
{
	atomic_store_explicit(&twins->high, (uint32_t)(value >> 32), memory_order_relaxed);
	atomic_store_explicit(&twins->low, (uint32_t)value, memory_order_release);
}

/* A lost exchange was won by another who wanted the same. */
static inline void pxt_words_twins_move(struct pxt_words_twins *twins, uint64_t from, uint64_t to)
{
	uint32_t high = (uint32_t)(from >> 32);
	uint32_t low = (uint32_t)from;

	if (high != (uint32_t)(to >> 32))
		(void)atomic_compare_exchange_strong_explicit(&twins->high, &high,
		    (uint32_t)(to >> 32), memory_order_acq_rel, memory_order_relaxed);
	if (low != (uint32_t)to)
		(void)atomic_compare_exchange_strong_explicit(
		    &twins->low, &low, (uint32_t)to, memory_order_acq_rel, memory_order_relaxed);
}

/* ---- A number that is set, rarely by two at once; 0: not known ---- */

/* `check` is the exclusive-or of the others.  Of two values no mixture passes for a third. */
struct pxt_words_wide {
	_Atomic uint32_t low;
	_Atomic uint32_t high;
	_Atomic uint32_t check;
};

static inline void pxt_words_wide_set(struct pxt_words_wide *wide, uint64_t value)
{
	uint32_t low = (uint32_t)value;
	uint32_t high = (uint32_t)(value >> 32);

	atomic_store_explicit(&wide->low, low, memory_order_release);
	PXT_WORDS_STEP();
	atomic_store_explicit(&wide->high, high, memory_order_release);
	PXT_WORDS_STEP();
	atomic_store_explicit(&wide->check, low ^ high, memory_order_release);
}

static inline uint64_t pxt_words_wide(const struct pxt_words_wide *wide)
{
	uint32_t check = pxt_word_load(&wide->check);
	uint32_t high;
	uint32_t low;

	PXT_WORDS_STEP();
	high = pxt_word_load(&wide->high);
	PXT_WORDS_STEP();
	low = pxt_word_load(&wide->low);
	return (low ^ high) == check ? (uint64_t)high << 32 | low : 0;
}

#endif
