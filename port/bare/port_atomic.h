/* SPDX-License-Identifier: MIT */
/*
 * port_atomic.h - slot access, cursor arithmetic and the stamp clock on one processor without an
 * operating system.
 *
 * Whatever must be seen whole is done with interrupts away: at most four words are copied or one
 * 64-bit word is changed, some ten instructions.  Nothing here can be killed in between, and there
 * is no second processor, so program order is the order that everybody sees.
 *
 *   concurrency         slot_store   slot_load   cursor_*   ticks
 *   any of these                -            -          -         -     in interrupt handlers too
 */
#ifndef PXT_PORT_ATOMIC_H
#define PXT_PORT_ATOMIC_H

#include "format/compiler.h"
#include "format/position.h"
#include "format/slot.h"
#include "port/bare/board.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

/* No thread has storage of its own (port/posix/arch/x86_64.h). */
#define PXT_OWN_BY_DISTANCE 0

/* ---- Without interrupts ---- */

#if defined(__ARM_ARCH) && defined(__ARM_ARCH_PROFILE) && __ARM_ARCH_PROFILE == 'M'
#define PXT_CORTEX_M 1
#else
#define PXT_CORTEX_M 0
#endif

#if PXT_CORTEX_M

PXT_INLINE uint32_t pxt_irq_save(void)
{
	uint32_t state;

	__asm__ volatile("mrs %0, primask\n\tcpsid i" : "=r"(state) : : "memory");
	return state;
}

PXT_INLINE void pxt_irq_restore(uint32_t state)
{
	__asm__ volatile("msr primask, %0" : : "r"(state) : "memory");
}

#elif defined(__riscv) && __riscv_xlen == 32

/* In machine mode, where a processor of 32 bits without an operating system runs. */
PXT_INLINE uint32_t pxt_irq_save(void)
{
	uint32_t state;

	__asm__ volatile("csrrci %0, mstatus, 8" : "=r"(state) : : "memory");
	return state & 8u;
}

PXT_INLINE void pxt_irq_restore(uint32_t state)
{
	__asm__ volatile("csrs mstatus, %0" : : "r"(state) : "memory");
}

#else

#define pxt_irq_save    pxt_board_irq_save
#define pxt_irq_restore pxt_board_irq_restore

#endif

/* Bits of a mask of any width: not every processor changes a byte in one step. */
#define PXT_MASK_CHANGE(mask, operator, bits)                                                      \
	do {                                                                                       \
		uint32_t pxt_state = pxt_irq_save();                                               \
		*(mask) operator(bits);                                                            \
		pxt_irq_restore(pxt_state);                                                        \
	} while (0)
#define PXT_MASK_OR(mask, bits)  PXT_MASK_CHANGE(mask, |=, bits)
#define PXT_MASK_AND(mask, bits) PXT_MASK_CHANGE(mask, &=, bits)

/* ---- Slots ---- */

/* A slot as it is in a ring. */
typedef struct pxt_slot pxt_cell;

PXT_OFF(pxt_cells_init, pxt_cell *cells, uint32_t count);

PXT_INLINE void pxt_slot_store(struct pxt_slot *slot, uint64_t low, uint64_t high)
{
	uint32_t state = pxt_irq_save();

	/* In any order: neither call lets the compiler take a store beyond it. */
	slot->word[0] = (uint32_t)low;
	slot->word[1] = (uint32_t)(low >> 32);
	slot->word[2] = (uint32_t)high;
	slot->word[3] = (uint32_t)(high >> 32);
	pxt_irq_restore(state);
}

/* From anywhere; interrupts are away.  Of a Cortex-M all four words are one load and one store. */
#if PXT_CORTEX_M
PXT_INLINE void pxt_slot_copy(struct pxt_slot *slot, const uint32_t *word)
{
	memcpy(slot->word, word, sizeof(slot->word));
}
#else
PXT_INLINE void pxt_slot_copy(struct pxt_slot *slot, const uint32_t *word)
{
	slot->word[0] = word[0];
	slot->word[1] = word[1];
	slot->word[2] = word[2];
	slot->word[3] = word[3];
}
#endif

#define pxt_slot_store_plain pxt_slot_store

PXT_INLINE struct pxt_slot pxt_slot_load(const struct pxt_slot *slot)
{
	const volatile uint32_t *word = slot->word;
	struct pxt_slot copy;
	uint32_t state = pxt_irq_save();

	for (unsigned i = 0; i < 4; i++)
		copy.word[i] = word[i];
	pxt_irq_restore(state);
	return copy;
}

#include "port/port_pieces.h"

/* The tag word alone, for the writer's look before it stores. */
PXT_INLINE uint32_t pxt_slot_peek(const struct pxt_slot *slot)
{
	return *(const volatile uint32_t *)&slot->word[0];
}

/* On one processor the plain look is an acquire as soon as the compiler keeps the order. */
PXT_INLINE uint32_t pxt_slot_peek_acquire(const struct pxt_slot *slot)
{
	uint32_t tag = pxt_slot_peek(slot);

	atomic_signal_fence(memory_order_acquire);
	return tag;
}

/* ---- While nobody came first (tiny/) ---- */

/* A count whose halves need not change together. */
struct pxt_count {
	volatile uint32_t low;
	volatile uint32_t turns;
};

#if CONFIG_PTRACE_EXCLUSIVES
#if !(defined(__riscv_atomic) || (PXT_CORTEX_M && defined(__ARM_FEATURE_LDREX)))
#error "PTRACE_EXCLUSIVES: this processor has none"
#endif

/*
 * By the processor's exclusive loads and stores, and interrupts are never away: a store fails where an interrupt
 * came after its load, or where another such store did, as each event makes.  A move is counted after it; so a
 * task that is interrupted between the two is missing in the count until it goes on.  Two readers at once may report
 * the same loss.
 */
#if PXT_CORTEX_M
#define PXT_EXCLUSIVE(checks, value)                                                               \
	"1:	ldrex %0, [%1]\n" checks "	strex %0, " value ", [%1]\n"                       \
	"	cmp %0, #0\n"                                                                            \
	"	bne 1b\n"                                                                                \
	"2:\n"
#define PXT_EXCLUSIVE_SAME(at)      "	subs %0, %0, " at "\n	bne 2f\n"
#define PXT_EXCLUSIVE_IS(guard, at) "	ldr %0, [" guard "]\n" PXT_EXCLUSIVE_SAME(at)
#define PXT_EXCLUSIVE_OPEN(gate)    "	ldrb %0, [" gate "]\n	eors %0, %0, #1\n	bne 2f\n"
#define PXT_EXCLUSIVE_NEXT(value)   "	add " value ", %0, #1\n"
#else
#define PXT_EXCLUSIVE(checks, value)                                                               \
	"1:	lr.w %0, (%1)\n" checks "	sc.w %0, " value ", (%1)\n"                        \
	"	bnez %0, 1b\n"                                                                           \
	"2:\n"
#define PXT_EXCLUSIVE_SAME(at)      "	sub %0, %0, " at "\n	bnez %0, 2f\n"
#define PXT_EXCLUSIVE_IS(guard, at) "	lw %0, 0(" guard ")\n" PXT_EXCLUSIVE_SAME(at)
#define PXT_EXCLUSIVE_OPEN(gate)                                                                   \
	"	lbu %0, 0(" gate ")\n	xori %0, %0, 1\n	bnez %0, 2f\n"
#define PXT_EXCLUSIVE_NEXT(value) "	addi " value ", %0, 1\n"
#endif

/* Of each: not 0, where it was not stored. */
PXT_INLINE uint32_t pxt_word_store_if(
    volatile uint32_t *to, uint32_t value, const volatile uint32_t *guard, uint32_t at)
{
	uint32_t failed;

	__asm__ volatile(PXT_EXCLUSIVE(PXT_EXCLUSIVE_IS("%2", "%3"), "%4")
	                 : "=&r"(failed)
	                 : "r"(to), "r"(guard), "r"(at), "r"(value)
	                 : "cc", "memory");
	return failed;
}

PXT_INLINE uint32_t pxt_word_move(volatile uint32_t *word, uint32_t seen, uint32_t to)
{
	uint32_t failed;

	__asm__ volatile(PXT_EXCLUSIVE(PXT_EXCLUSIVE_SAME("%2"), "%3")
	                 : "=&r"(failed)
	                 : "r"(word), "r"(seen), "r"(to)
	                 : "cc", "memory");
	return failed;
}

PXT_INLINE uint32_t pxt_word_move_open(
    volatile uint32_t *word, uint32_t seen, uint32_t to, const volatile bool *gate)
{
	uint32_t failed;

	__asm__ volatile(PXT_EXCLUSIVE(PXT_EXCLUSIVE_SAME("%2") PXT_EXCLUSIVE_OPEN("%4"), "%3")
	                 : "=&r"(failed)
	                 : "r"(word), "r"(seen), "r"(to), "r"(gate)
	                 : "cc", "memory");
	return failed;
}

/* What it is then; where the guard says no, what it would be. */
PXT_INLINE uint32_t pxt_word_add_one(
    volatile uint32_t *word, const volatile uint32_t *guard, uint32_t at)
{
	uint32_t failed;
	uint32_t next;

	__asm__ volatile(PXT_EXCLUSIVE(PXT_EXCLUSIVE_NEXT("%4") PXT_EXCLUSIVE_IS("%2", "%3"), "%4")
	                 : "=&r"(failed), "+r"(word), "+r"(guard), "+r"(at), "=&r"(next)
	                 :
	                 : "cc", "memory");
	return next;
}

/* Its turns are halves: odd ones, where the lower half's highest bit is set. */
PXT_INLINE void pxt_count_one(struct pxt_count *count, const volatile uint32_t *guard, uint32_t at)
{
	const uint32_t low = pxt_word_add_one(&count->low, guard, at);

	if (PXT_UNLIKELY(low << 1 == 0))
		(void)pxt_word_add_one(&count->turns, guard, at);
}

/* A turn that is not counted yet is seen by that bit. */
PXT_INLINE uint64_t pxt_count_read(const struct pxt_count *count)
{
	uint32_t turns;
	uint32_t low;

	/* Bound: the turns meanwhile, and 1. */
	PXT_BOUND(turns, UINT32_MAX);
	do {
		PXT_ROUND(turns);
		turns = count->turns;
		low = count->low;
	} while (turns != count->turns);
	return pxt_count_of(low, turns);
}

PXT_INLINE bool pxt_slot_store_if(
    struct pxt_slot *slot, const uint32_t *word, const volatile uint32_t *guard, uint32_t at)
{
	return !pxt_word_store_if(&slot->word[0], word[0], guard, at) &&
	       !pxt_word_store_if(&slot->word[1], word[1], guard, at) &&
	       !pxt_word_store_if(&slot->word[2], word[2], guard, at) &&
	       !pxt_word_store_if(&slot->word[3], word[3], guard, at);
}

PXT_INLINE bool pxt_word_move_counted(volatile uint32_t *word, uint32_t seen, uint32_t to,
    struct pxt_count *count, const volatile uint32_t *guard)
{
	const uint32_t at = *guard;

	if (pxt_word_move(word, seen, to))
		return false;
	pxt_count_one(count, guard, at);
	return true;
}

PXT_INLINE bool pxt_word_move_taken(volatile uint32_t *word, uint32_t seen, uint32_t to,
    struct pxt_count *gone, struct pxt_count *taken, volatile uint32_t *told,
    const volatile uint32_t *guard, uint32_t *lost)
{
	const uint32_t at = *guard;
	const uint32_t before = gone->low;
	const uint32_t missing = before - *told;

	if (pxt_word_move(word, seen, to))
		return false;
	*lost = (int32_t)missing < 0 ? 0 : missing;
	(void)pxt_word_store_if(told, before + 1u, guard, at);
	pxt_count_one(gone, guard, at);
	pxt_count_one(taken, guard, at);
	return true;
}

PXT_INLINE bool pxt_slot_store_last(struct pxt_slot *slot, const uint32_t *words,
    volatile uint32_t *word, uint32_t seen, uint32_t to, volatile uint32_t *count,
    const volatile uint32_t *guard, const volatile bool *gate)
{
	const uint32_t at = *guard;

	if (!pxt_slot_store_if(slot, words, word, seen) || pxt_word_move_open(word, seen, to, gate))
		return false;
	(void)pxt_word_add_one(count, guard, at);
	return true;
}

#else

/* The words, where *@guard still is @at. */
PXT_INLINE bool pxt_slot_store_if(
    struct pxt_slot *slot, const uint32_t *word, const volatile uint32_t *guard, uint32_t at)
{
	uint32_t state = pxt_irq_save();
	bool done = *guard == at;

	if (done)
		pxt_slot_copy(slot, word);
	pxt_irq_restore(state);
	return done;
}

PXT_INLINE void pxt_count_add_one(struct pxt_count *count)
{
	if (PXT_UNLIKELY(++count->low == 0))
		count->turns++;
}

/* From @seen, and counts that; a count that begins anew meanwhile, as *@guard says, is left alone. */
PXT_INLINE bool pxt_word_move_counted(volatile uint32_t *word, uint32_t seen, uint32_t to,
    struct pxt_count *count, const volatile uint32_t *guard)
{
	uint32_t state = pxt_irq_save();
	bool done = *word == seen;

	(void)guard;
	if (done) {
		*word = to;
		pxt_count_add_one(count);
	}
	pxt_irq_restore(state);
	return done;
}

/*
 * As pxt_word_move_counted(), by a reader: what it takes is counted in @taken, too.  Of those that went before,
 * all beyond *@told are lost: *@lost of them, which are told now.
 */
PXT_INLINE bool pxt_word_move_taken(volatile uint32_t *word, uint32_t seen, uint32_t to,
    struct pxt_count *gone, struct pxt_count *taken, volatile uint32_t *told,
    const volatile uint32_t *guard, uint32_t *lost)
{
	uint32_t state = pxt_irq_save();
	bool done = *word == seen;

	(void)guard;
	if (done) {
		*word = to;
		*lost = gone->low - *told;
		pxt_count_add_one(gone);
		pxt_count_add_one(taken);
		*told = gone->low;
	}
	pxt_irq_restore(state);
	return done;
}

/* The words, and what makes them be there, while *@gate says yes; as pxt_word_move_counted(). */
PXT_INLINE bool pxt_slot_store_last(struct pxt_slot *slot, const uint32_t *words,
    volatile uint32_t *word, uint32_t seen, uint32_t to, volatile uint32_t *count,
    const volatile uint32_t *guard, const volatile bool *gate)
{
	uint32_t state = pxt_irq_save();
	bool done = *word == seen && *gate;

	(void)guard;
	if (done) {
		pxt_slot_copy(slot, words);
		*word = to;
		++*count;
	}
	pxt_irq_restore(state);
	return done;
}

PXT_INLINE uint64_t pxt_count_read(const struct pxt_count *count)
{
	uint32_t state = pxt_irq_save();
	uint64_t value = (uint64_t)count->turns << 32 | count->low;

	pxt_irq_restore(state);
	return value;
}

#endif

/* ---- Cursors ---- */

typedef volatile uint64_t pxt_cursor;

PXT_INLINE uint64_t pxt_cursor_add(pxt_cursor *cursor, uint64_t by)
{
	uint32_t state = pxt_irq_save();
	uint64_t old = *cursor;

	*cursor = old + by;
	pxt_irq_restore(state);
	return old;
}

PXT_INLINE uint64_t pxt_cursor_load(pxt_cursor *cursor)
{
	uint32_t state = pxt_irq_save();
	uint64_t value = *cursor;

	pxt_irq_restore(state);
	return value;
}

#define pxt_cursor_peek pxt_cursor_load

PXT_INLINE void pxt_cursor_set(pxt_cursor *cursor, uint64_t value)
{
	uint32_t state = pxt_irq_save();

	*cursor = value;
	pxt_irq_restore(state);
}

PXT_INLINE bool pxt_cursor_swap(pxt_cursor *cursor, uint64_t *seen, uint64_t value)
{
	uint32_t state = pxt_irq_save();
	uint64_t old = *cursor;
	bool done = old == *seen;

	if (done)
		*cursor = value;
	pxt_irq_restore(state);
	*seen = old;
	return done;
}

/* The halves may be of two moments, so their sum may never have existed; not volatile: kept in registers. */
PXT_INLINE uint64_t pxt_cursor_glance(const pxt_cursor *cursor)
{
	const uint64_t *plain;

	__asm__ volatile("" : "=r"(plain) : "0"(cursor) : "memory");
	return *plain;
}

/* One word for a cursor whose halves never go back: each move changes it, and so does closing. */
PXT_INLINE uint32_t pxt_cursor_sum(uint64_t value)
{
	return (uint32_t)value + (uint32_t)(value >> 32);
}

/* Moves both halves if its sum still is @sum; the lower one does not overflow.  *@was: what it was. */
PXT_INLINE bool pxt_cursor_take(
    pxt_cursor *cursor, uint32_t sum, uint32_t high, uint32_t low, uint64_t *was)
{
	uint32_t state = pxt_irq_save();
	uint64_t old = *cursor;

	if (PXT_UNLIKELY(pxt_cursor_sum(old) != sum)) {
		pxt_irq_restore(state);
		return false;
	}
	*cursor = (uint64_t)((uint32_t)(old >> 32) + high) << 32 | ((uint32_t)old + low);
	pxt_irq_restore(state);
	*was = old;
	return true;
}

/* Bit 0. */
PXT_INLINE void pxt_cursor_close(pxt_cursor *cursor)
{
	PXT_MASK_OR(cursor, 1u);
}

PXT_INLINE void pxt_cursor_open(pxt_cursor *cursor)
{
	PXT_MASK_AND(cursor, ~UINT64_C(1));
}

#include "port/port_own.h"
#include "port/port_wide.h"

/* ---- The stamp clock ---- */

PXT_INLINE uint64_t pxt_port_ticks(void)
{
	return pxt_board_ticks();
}

/* There is one way only, and a call is ordered as the program has it. */
#define pxt_port_ticks_plain   pxt_port_ticks
#define pxt_port_ticks_ordered pxt_port_ticks
PXT_OFF_RETURNS(true, bool, pxt_port_plain, void);

PXT_INLINE void pxt_port_ticks_fence(void)
{
	atomic_signal_fence(memory_order_seq_cst);
}

/* ---- Where the caller runs ---- */

/*
 * Words of the caller's own, zero at the start (task.c).  A task's are where the system's switch says; an
 * interrupt's by its number where the processor has one, else where the board says that it began.
 */
#define PXT_PORT_WORDS_BYTES 48u
extern void *pxt_port_words_of_task;
void *pxt_port_words_of_interrupt(uint32_t number);

/* Of the interrupt that runs; 0: none, or the processor does not number them. */
PXT_INLINE uint32_t pxt_port_interrupt(void)
{
	uint32_t number = 0;

#if PXT_CORTEX_M
	/* Not volatile: as long as a function runs, the answer is the same. */
	__asm__("mrs %0, ipsr" : "=r"(number));
#endif
	return number;
}

PXT_INLINE void *pxt_port_words(void)
{
	const uint32_t number = pxt_port_interrupt();

	if (PXT_UNLIKELY(number))
		return pxt_port_words_of_interrupt(number);
	return pxt_port_words_of_task;
}

/* Different in each task and interrupt. */
PXT_INLINE uint64_t pxt_port_thread(void)
{
	return (uintptr_t)pxt_port_words();
}

/* It stands behind the words (task.c). */
PXT_INLINE int32_t pxt_port_tid(void)
{
	return ((const int32_t *)pxt_port_words())[PXT_PORT_WORDS_BYTES / 4u];
}

/* It never changes. */
extern const volatile uint32_t pxt_port_only_cpu;

PXT_INLINE const volatile uint32_t *pxt_port_cpu_word(void)
{
	return &pxt_port_only_cpu;
}

#endif
