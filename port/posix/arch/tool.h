/* SPDX-License-Identifier: MIT */
/*
 * tool.h - annotations for ThreadSanitizer.  Slots move as without it, which the tool does not see;
 * beside each move is an atomic access of the tag, which tells it the order.  Its own 16-byte atomics
 * have one lock for all: accesses never meet, and a child forked meanwhile waits for ever.
 */
#ifndef PXT_ARCH_TOOL_H
#define PXT_ARCH_TOOL_H

#include "format/slot.h"

#include <stdint.h>

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

/*
 * The tool takes a store as a release of the slot's address, a load as an acquire.  Told before the
 * store and after the load: who sees the slot has its writer's order.  The tag keeps its value, so
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

#endif
