/* SPDX-License-Identifier: MIT */
/* x86_64_own.h - words that a trace point asks and counts, each by one instruction. */
#ifndef PXT_ARCH_X86_64_OWN_H
#define PXT_ARCH_X86_64_OWN_H

#include "port/posix/arch/numbers.h"
#include "port/posix/arch/whole.h"

#include <stdbool.h>
#include <stdint.h>

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
