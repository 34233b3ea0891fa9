/* SPDX-License-Identifier: MIT */
/*
 * x86_64.h - slots by aligned vector moves, which the makers of processors with AVX promise to be whole;
 * without AVX by cmpxchg16b, chosen at run time by one predictable test.
 */
#ifndef PXT_ARCH_X86_64_H
#define PXT_ARCH_X86_64_H

#include "port/posix/arch/whole.h"

#include <emmintrin.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

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

/*
 * Stores @tag and the twelve bytes at @bytes.  The four bytes before @bytes can be loaded, too.
 */
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

/* Both again for callers that know that vector moves may be used. */
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

/* ---- The stamp clock ---- */

/* For callers that know that the counter is used: no test. */
PXT_INLINE uint64_t pxt_port_ticks_plain(void)
{
	uint64_t low;
	uint64_t high;

	/* Both are 32 bits in 64. */
	__asm__ volatile("rdtsc" : "=a"(low), "=d"(high) : : "memory");
	return high << 32 | low;
}

/* Nothing after it starts before older instructions have finished: neither readings nor looks. */
PXT_INLINE void pxt_port_ticks_fence(void)
{
	__asm__ volatile("lfence" : : : "memory");
}

/* ---- Words that a trace point asks and counts, each by one instruction ---- */

#include "port/posix/cursor.h"

#if PXT_TSAN
#include "port/port_own.h"
#else
/*
 * Words that a trace point asks and counts, in one instruction where there is one: no register is
 * needed, and no handler comes into the middle.  pxt_own_...: only the calling thread and its
 * handlers write them; up() is a release.
 */
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

/* Whether that is to be called: slots are not stored by exchange. */
PXT_INLINE bool pxt_record_takes(void)
{
	return PXT_LIKELY(!pxt_port_slot_by_cas);
}

/* Word 1 of what may be a begin slot: pxt_record_take() says whether it is. */
PXT_INLINE uint32_t pxt_record_info(const struct pxt_slot *from)
{
	return *(const volatile uint32_t *)&from->word[1];
}

/*
 * Copies the @slots slots of a record in a row, each as one, with 0 for their tags; acquire.  False: they do not have
 * @tag, or the begin slot has another word 1 than @info.
 */
PXT_INLINE bool pxt_record_take(struct pxt_slot *to, const struct pxt_slot *from, uint32_t slots,
    uint32_t info, uint32_t tag, uint64_t *ticks)
{
	/* Less the tag a slot is as it is to be stored, if the tag is right. */
	const __m128i tags = _mm_cvtsi32_si128((int)tag);
	__m128i value = _mm_xor_si128(pxt_vector_load(from), tags);
	__m128i odd = _mm_setzero_si128();

	*ticks = (uint64_t)_mm_cvtsi128_si64(_mm_unpackhi_epi64(value, value));
	if ((uint64_t)_mm_cvtsi128_si64(value) != ((uint64_t)info << 32 | PXT_SLOT_BEGIN))
		return false;
	_mm_store_si128((__m128i *)to, value);
	/* Bound: the slots of the record. */
	PXT_BOUND(taken, slots);
#pragma GCC unroll 4
	for (uint32_t i = 1; i < slots; i++) {
		PXT_ROUND(taken);
		value = _mm_xor_si128(pxt_vector_load(&from[i]), tags);
		odd = _mm_or_si128(odd, value);
		_mm_store_si128((__m128i *)&to[i], value);
	}
	atomic_signal_fence(memory_order_acquire);
	return _mm_cvtsi128_si32(odd) == 0;
}
#endif

/*
 * Words of the calling thread's own storage, found by their distance from the thread pointer, which
 * is in a register.  At distance 0 is the thread pointer itself.
 */
#if !PXT_TSAN && defined(__LP64__)
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

#endif
