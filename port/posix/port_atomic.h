/* SPDX-License-Identifier: MIT */
/*
 * port_atomic.h - slot access, cursor arithmetic and the stamp clock on a POSIX host.
 *
 * A slot is stored and loaded as one 16-byte access; whoever sees any of it sees all of it:
 *   x86-64 with AVX     aligned vector move (both makers promise its atomicity)
 *   x86-64 without      cmpxchg16b, chosen at run time by one predictable test
 *   AArch64 with LSE2   aligned stp and ldp, with the barriers they lack
 *   AArch64 without     exclusive pair, chosen at run time in the same way
 *   other machines      words that tell to what they belong (words.h)
 *   ThreadSanitizer     the same moves, which the tool does not see, and beside each an atomic access
 *                       of the tag, which tells it the order.  Its own 16-byte atomics have one
 *                       lock for all: accesses never meet, and a child forked meanwhile waits for ever.
 *
 *   who beside whom         slot_store   slot_load   head_*   ticks
 *   any of these                -            -          -       -      all at once, in signal
 *                                                                      handlers too
 */
#ifndef PXT_PORT_ATOMIC_H
#define PXT_PORT_ATOMIC_H

#include "base/compiler.h"
#include "base/slot.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#if defined(__SANITIZE_THREAD__)
#define PXT_TSAN 1
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define PXT_TSAN 1
#endif
#endif
#ifndef PXT_TSAN
#define PXT_TSAN 0
#endif

/* A 32-bit word that others change, as an operand: as an atomic load would be, relaxed. */
#if PXT_TSAN
#define PXT_PEEK(word) __atomic_load_n(&(word), __ATOMIC_RELAXED)
#else
#define PXT_PEEK(word) (*(const volatile uint32_t *)&(word))
#endif

/* ---- Slots ---- */

/* A cell is a slot as it stands in a ring. */
#if defined(__x86_64__) || defined(__aarch64__)
typedef struct pxt_slot pxt_cell;
#else
#include "port/posix/words.h"
typedef struct pxt_words_cell pxt_cell;
#endif

#if defined(__x86_64__) || defined(__aarch64__)
/* Set once, before main: the processor does not promise that plain 16-byte accesses are whole. */
extern bool pxt_port_slot_by_cas;
void pxt_port_slot_store_cas(struct pxt_slot *slot, uint64_t low, uint64_t high);
struct pxt_slot pxt_port_slot_load_cas(const struct pxt_slot *slot);
#endif

/*
 * The tool takes a store as a release of the slot's address, a load as an acquire.  Told before the
 * store and behind the load: who sees the slot has its writer's order.  The tag keeps its value, so
 * what is told is also an access that meets plain ones of the same memory.
 */
#if PXT_TSAN
PXT_INLINE void pxt_slot_tell_store(struct pxt_slot *slot)
{
	(void)__atomic_fetch_or(&slot->word[0], 0, __ATOMIC_RELEASE);
}

PXT_INLINE void pxt_slot_tell_load(const struct pxt_slot *slot)
{
	(void)__atomic_load_n(&slot->word[0], __ATOMIC_ACQUIRE);
}
#else
#define pxt_slot_tell_store(slot) ((void)0)
#define pxt_slot_tell_load(slot)  ((void)0)
#endif

#if defined(__x86_64__)

#include <emmintrin.h>

#if PXT_TSAN
PXT_INLINE void pxt_vector_store(struct pxt_slot *slot, __m128i value)
{
	__asm__ volatile("movdqa	%1, %0" : "=m"(*slot) : "x"(value) : "memory");
}

PXT_INLINE __m128i pxt_vector_load(const struct pxt_slot *slot)
{
	__m128i value;

	__asm__ volatile("movdqa	%1, %0" : "=x"(value) : "m"(*slot) : "memory");
	return value;
}
#else
PXT_INLINE void pxt_vector_store(struct pxt_slot *slot, __m128i value)
{
	*(volatile __m128i *)(void *)slot = value;
}

PXT_INLINE __m128i pxt_vector_load(const struct pxt_slot *slot)
{
	return *(const volatile __m128i *)(const void *)slot;
}
#endif

/* Release: on this processor a store is never seen before an older one. */
PXT_INLINE void pxt_slot_store(struct pxt_slot *slot, uint64_t low, uint64_t high)
{
	atomic_signal_fence(memory_order_release);
	pxt_slot_tell_store(slot);
	if (PXT_UNLIKELY(pxt_port_slot_by_cas))
		pxt_port_slot_store_cas(slot, low, high);
	else
		pxt_vector_store(slot, _mm_set_epi64x((long long)high, (long long)low));
}

/* The same for callers that know that vector moves may be used: no test. */
PXT_INLINE void pxt_slot_store_plain(struct pxt_slot *slot, uint64_t low, uint64_t high)
{
	atomic_signal_fence(memory_order_release);
	pxt_slot_tell_store(slot);
	pxt_vector_store(slot, _mm_set_epi64x((long long)high, (long long)low));
}

/* Acquire: a load is never done before an older one. */
PXT_INLINE struct pxt_halves pxt_slot_load_here(const struct pxt_slot *slot)
{
	__m128i value;

	if (PXT_UNLIKELY(pxt_port_slot_by_cas)) {
		struct pxt_slot loaded = pxt_port_slot_load_cas(slot);

		pxt_slot_tell_load(slot);
		return pxt_slot_halves(&loaded);
	}
	value = pxt_vector_load(slot);
	pxt_slot_tell_load(slot);
	atomic_signal_fence(memory_order_acquire);
	return (struct pxt_halves){ (uint64_t)_mm_cvtsi128_si64(value),
		(uint64_t)_mm_cvtsi128_si64(_mm_unpackhi_epi64(value, value)) };
}

#if PXT_SMALL
struct pxt_halves pxt_slot_load_halves(const struct pxt_slot *slot);
#else
PXT_INLINE struct pxt_halves pxt_slot_load_halves(const struct pxt_slot *slot)
{
	return pxt_slot_load_here(slot);
}
#endif

PXT_INLINE struct pxt_slot pxt_slot_load(const struct pxt_slot *slot)
{
	return pxt_slot_of(pxt_slot_load_halves(slot));
}

#elif defined(__aarch64__)

/* Release: the barrier stands before the store, for which there is no instruction of that kind. */
PXT_INLINE void pxt_slot_store_plain(struct pxt_slot *slot, uint64_t low, uint64_t high)
{
	pxt_slot_tell_store(slot);
	__asm__ volatile("dmb	ish\n\t"
	                 "stp	%1, %2, [%0]"
	                 :
	                 : "r"(slot), "r"(low), "r"(high)
	                 : "memory");
}

PXT_INLINE void pxt_slot_store(struct pxt_slot *slot, uint64_t low, uint64_t high)
{
	if (PXT_UNLIKELY(pxt_port_slot_by_cas)) {
		pxt_slot_tell_store(slot);
		pxt_port_slot_store_cas(slot, low, high);
	} else {
		pxt_slot_store_plain(slot, low, high);
	}
}

/* Acquire: no later load is done before the barrier. */
PXT_INLINE struct pxt_slot pxt_slot_load(const struct pxt_slot *slot)
{
	uint64_t low;
	uint64_t high;

	if (PXT_UNLIKELY(pxt_port_slot_by_cas)) {
		struct pxt_slot loaded = pxt_port_slot_load_cas(slot);

		pxt_slot_tell_load(slot);
		return loaded;
	}
	__asm__ volatile("ldp	%0, %1, [%2]\n\t"
	                 "dmb	ishld"
	                 : "=&r"(low), "=&r"(high)
	                 : "r"(slot)
	                 : "memory");
	pxt_slot_tell_load(slot);
	return (struct pxt_slot){ .word = { (uint32_t)low, (uint32_t)(low >> 32), (uint32_t)high,
		                      (uint32_t)(high >> 32) } };
}

#else

PXT_INLINE void pxt_slot_store(pxt_cell *cell, uint64_t low, uint64_t high)
{
	pxt_words_store(cell, low, high);
}

PXT_INLINE void pxt_slot_store_plain(pxt_cell *cell, uint64_t low, uint64_t high)
{
	pxt_words_store(cell, low, high);
}

PXT_INLINE struct pxt_slot pxt_slot_load(const pxt_cell *cell)
{
	return pxt_words_load(cell);
}

#endif

/*
 * Stores @tag and the twelve bytes at @bytes.  The four bytes before @bytes can be loaded, too.
 */
#if defined(__x86_64__)
PXT_INLINE void pxt_slot_store_piece(
    struct pxt_slot *slot, uint32_t tag, const unsigned char *bytes)
{
	__m128i piece = _mm_loadu_si128((const __m128i *)(const void *)(bytes - 4));
	__m128i whole = _mm_castps_si128(
	    _mm_move_ss(_mm_castsi128_ps(piece), _mm_castsi128_ps(_mm_cvtsi32_si128((int)tag))));

	atomic_signal_fence(memory_order_release);
	pxt_slot_tell_store(slot);
	if (PXT_UNLIKELY(pxt_port_slot_by_cas))
		pxt_port_slot_store_cas(slot, (uint64_t)_mm_cvtsi128_si64(whole),
		    (uint64_t)_mm_cvtsi128_si64(_mm_unpackhi_epi64(whole, whole)));
	else
		pxt_vector_store(slot, whole);
}
#else
PXT_INLINE void pxt_slot_store_piece(pxt_cell *slot, uint32_t tag, const unsigned char *bytes)
{
	uint32_t first;
	uint64_t rest;

	memcpy(&first, bytes, 4);
	memcpy(&rest, bytes + 4, 8);
	pxt_slot_store(slot, (uint64_t)first << 32 | tag, rest);
}
#endif

/* Both again for callers that know that vector moves may be used. */
#if defined(__x86_64__)
PXT_INLINE void pxt_slot_store_piece_plain(
    struct pxt_slot *slot, uint32_t tag, const unsigned char *bytes)
{
	__m128 piece =
	    _mm_castsi128_ps(_mm_loadu_si128((const __m128i *)(const void *)(bytes - 4)));
	__m128 whole = _mm_move_ss(piece, _mm_castsi128_ps(_mm_cvtsi32_si128((int)tag)));

	atomic_signal_fence(memory_order_release);
	pxt_slot_tell_store(slot);
	pxt_vector_store(slot, _mm_castps_si128(whole));
}
#else
PXT_INLINE void pxt_slot_store_piece_plain(pxt_cell *slot, uint32_t tag, const unsigned char *bytes)
{
	uint32_t first;
	uint64_t rest;

	memcpy(&first, bytes, 4);
	memcpy(&rest, bytes + 4, 8);
	pxt_slot_store_plain(slot, (uint64_t)first << 32 | tag, rest);
}

PXT_INLINE struct pxt_halves pxt_slot_load_halves(const pxt_cell *slot)
{
	struct pxt_slot loaded = pxt_slot_load(slot);

	return pxt_slot_halves(&loaded);
}
#endif

/*
 * The tag word alone, first for the writer's look before it stores, then for the consumer: pairs
 * with the release of the slot's store.  A cell's tells the consumer nothing without its other words.
 */
#if defined(__x86_64__) || defined(__aarch64__)
PXT_INLINE uint32_t pxt_slot_peek(const pxt_cell *slot)
{
	return PXT_PEEK(slot->word[0]);
}

PXT_INLINE uint32_t pxt_slot_peek_acquire(const pxt_cell *slot)
{
	return __atomic_load_n(&slot->word[0], __ATOMIC_ACQUIRE);
}
#else
PXT_INLINE uint32_t pxt_slot_peek(const pxt_cell *slot)
{
	return pxt_word_load(&slot->tag);
}

PXT_INLINE uint32_t pxt_slot_peek_acquire(const pxt_cell *slot)
{
	return pxt_slot_load(slot).word[0];
}
#endif

/*
 * A slot in memory that another process writes and this one can only read: nothing is stored, and
 * there is an end to it whatever he does.  What was stored as one is seen as one; else all is 0,
 * which is no record.  @mask: slots of the ring less 1.
 */
#if defined(__x86_64__) || defined(__aarch64__)
PXT_INLINE struct pxt_halves pxt_slot_view(const pxt_cell *cell, uint32_t mask)
{
	const uint64_t *half = (const uint64_t *)(const void *)cell;

	(void)mask;
	/* The tag stands in the first half, and comes back after 2^31 slots only. */
	for (int i = 0; i < 4; i++) {
		uint64_t low = __atomic_load_n(&half[0], __ATOMIC_ACQUIRE);
		uint64_t high = __atomic_load_n(&half[1], __ATOMIC_ACQUIRE);

		if (__atomic_load_n(&half[0], __ATOMIC_RELAXED) == low)
			return (struct pxt_halves){ low, high };
	}
	return (struct pxt_halves){ 0, 0 };
}
#else
PXT_INLINE struct pxt_halves pxt_slot_view(const pxt_cell *cell, uint32_t mask)
{
	struct pxt_slot slot = pxt_words_view(cell, mask);

	return pxt_slot_halves(&slot);
}
#endif

/* Before first use, while nobody else knows the @count cells (a power of two) at @cells. */
#if defined(__x86_64__) || defined(__aarch64__)
PXT_INLINE void pxt_cells_init(pxt_cell *cells, uint32_t count)
{
	(void)cells;
	(void)count;
}
#else
PXT_INLINE void pxt_cells_init(pxt_cell *cells, uint32_t count)
{
	pxt_words_init(cells, count);
}
#endif

/* ---- Cursors ---- */

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

#include "port/posix/words_port.h"

#endif

/*
 * Words that a trace point asks and counts, in one instruction where there is one: no register is
 * needed, and no handler comes into the middle.  pxt_own_...: only the calling thread and its
 * handlers write them; up() is a release.
 */
#if !PXT_TSAN && defined(__x86_64__)
PXT_INLINE void pxt_own_up(_Atomic uint32_t *number)
{
	__asm__ volatile("addl	$1, %0" : "+m"(*number) : : "memory", "cc");
}

PXT_INLINE bool pxt_own_odd(const _Atomic uint32_t *number)
{
	bool odd;

	__asm__ volatile("testb	$1, %1" : "=@ccne"(odd) : "m"(*number));
	return odd;
}

PXT_INLINE bool pxt_word_is(const _Atomic uint32_t *word, uint32_t value)
{
	bool is;

	__asm__ volatile("cmpl	%2, %1" : "=@cce"(is) : "m"(*word), "ri"(value));
	return is;
}

/* @value less the word. */
PXT_INLINE uint32_t pxt_word_behind(const _Atomic uint32_t *word, uint32_t value)
{
	__asm__ volatile("subl	%1, %0" : "+r"(value) : "m"(*word) : "cc");
	return value;
}

/* As pxt_cursor_swap(), to what was seen and @by more. */
PXT_INLINE bool pxt_cursor_move(pxt_cursor *cursor, uint64_t *seen, uint64_t by)
{
	uint64_t next = *seen;
	bool moved;

	__asm__ volatile("addq	%4, %1\n\tlock cmpxchgq	%1, %2"
	                 : "+a"(*seen), "+&r"(next), "+m"(*cursor), "=@ccz"(moved)
	                 : "rm"(by)
	                 : "memory");
	return moved;
}

/* @tag less that of the slot, for the writer's look before it stores. */
PXT_INLINE uint32_t pxt_slot_behind(const struct pxt_slot *slot, uint32_t tag)
{
	__asm__ volatile("subl	%1, %0" : "+r"(tag) : "m"(slot->word[0]) : "cc");
	return tag;
}
#else
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

PXT_INLINE uint32_t pxt_word_behind(_Atomic uint32_t *word, uint32_t value)
{
	return value - atomic_load_explicit(word, memory_order_relaxed);
}

PXT_INLINE bool pxt_cursor_move(pxt_cursor *cursor, uint64_t *seen, uint64_t by)
{
	return pxt_cursor_swap(cursor, seen, *seen + by);
}

PXT_INLINE uint32_t pxt_slot_behind(const pxt_cell *slot, uint32_t tag)
{
	return tag - pxt_slot_peek(slot);
}
#endif

/*
 * Words of the calling thread's own storage, found by their distance from the thread pointer, which
 * is in a register.  At distance 0 stands the thread pointer itself.
 */
#if !PXT_TSAN && defined(__x86_64__) && defined(__LP64__)
#define PXT_OWN_BY_DISTANCE 1

PXT_INLINE intptr_t pxt_own_distance(const void *own)
{
	uintptr_t pointer;

	__asm__ volatile("movq	%%fs:0, %0" : "=r"(pointer));
	return (intptr_t)((uintptr_t)own - pointer);
}

PXT_INLINE uint64_t pxt_own_load(intptr_t at)
{
	uint64_t value;

	__asm__ volatile("movq	%%fs:%1, %0" : "=r"(value) : "m"(*(const uint64_t *)at));
	return value;
}

PXT_INLINE bool pxt_own_is(intptr_t at, uint64_t value)
{
	bool is;

	__asm__ volatile("cmpq	%2, %%fs:%1"
	                 : "=@cce"(is)
	                 : "m"(*(const uint64_t *)at), "r"(value));
	return is;
}

/* @bits, and those of the word. */
PXT_INLINE uint32_t pxt_own_or(intptr_t at, uint32_t bits)
{
	__asm__ volatile("orl	%%fs:%1, %0" : "+r"(bits) : "m"(*(const uint32_t *)at) : "cc");
	return bits;
}
#else
#define PXT_OWN_BY_DISTANCE 0
#endif

/* ---- The stamp clock ---- */

uint64_t pxt_port_ticks_slow(void);

#if defined(__x86_64__) || defined(__aarch64__)

extern bool pxt_port_use_counter; /* fixed by pxt_port_clock_start() */

#if defined(__x86_64__)

/* For callers that know that the counter is used: no test. */
PXT_INLINE uint64_t pxt_port_ticks_plain(void)
{
	uint64_t low;
	uint64_t high;

	/* Both are 32 bits in 64. */
	__asm__ volatile("rdtsc" : "=a"(low), "=d"(high) : : "memory");
	return high << 32 | low;
}

/* Nothing behind it starts before older instructions have finished: neither readings nor looks. */
PXT_INLINE void pxt_port_ticks_fence(void)
{
	__asm__ volatile("lfence" : : : "memory");
}

#else

/* The same: the virtual count, which is at hand in every mode and the same on all processors. */
PXT_INLINE uint64_t pxt_port_ticks_plain(void)
{
	uint64_t ticks;

	__asm__ volatile("mrs	%0, cntvct_el0" : "=r"(ticks) : : "memory");
	return ticks;
}

/* The counter waits for no access to memory; the first barrier does, the second holds it back. */
PXT_INLINE void pxt_port_ticks_fence(void)
{
	__asm__ volatile("dsb	ish\n\tisb" : : : "memory");
}

#endif

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

#else

PXT_INLINE uint64_t pxt_port_ticks_plain(void)
{
	return pxt_port_ticks_slow();
}

PXT_INLINE bool pxt_port_plain(void)
{
	return true;
}

PXT_INLINE uint64_t pxt_port_ticks(void)
{
	return pxt_port_ticks_slow();
}

PXT_INLINE uint64_t pxt_port_ticks_ordered(void)
{
	return pxt_port_ticks_slow();
}

PXT_INLINE void pxt_port_ticks_fence(void)
{
	atomic_thread_fence(memory_order_seq_cst);
}

#endif

/* ---- Where the caller runs ---- */

PXT_INLINE uint64_t pxt_port_thread(void)
{
	return (uint64_t)(uintptr_t)pthread_self();
}

#if defined(__GLIBC__) && defined(__has_include)
#if __has_include(<sys/rseq.h>)
#include <sys/rseq.h>
#define PXT_HAVE_RSEQ 1
#endif
#endif
#ifndef PXT_HAVE_RSEQ
#define PXT_HAVE_RSEQ 0
#endif

#if PXT_HAVE_RSEQ
/* Where the kernel keeps the number of the CPU the calling thread runs on; NULL: nowhere. */
PXT_INLINE const volatile uint32_t *pxt_port_cpu_word(void)
{
	const struct rseq *area =
	    (const void *)((const char *)__builtin_thread_pointer() + __rseq_offset);

	return __rseq_size ? (const volatile uint32_t *)&area->cpu_id : NULL;
}
#else
PXT_INLINE const volatile uint32_t *pxt_port_cpu_word(void)
{
	return NULL;
}
#endif

#endif
