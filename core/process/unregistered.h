/* SPDX-License-Identifier: MIT */
/*
 * unregistered.h - threads that have no entry in the thread table.
 *
 *   concurrency: any threads enter and leave at once, in signal handlers too; a thread that waits for
 *   them changes the index (core/process/threads.c), one at a time.
 */
#ifndef PXT_UNREGISTERED_H
#define PXT_UNREGISTERED_H

#include "format/compiler.h"

#include <stdint.h>

/* After the widths: newlib's needs them under clang. */
#include <stdatomic.h>

/*
 * Threads without an entry that are inside now, in two numbers: who comes in counts itself in the one
 * that the index names (as in SRCU).  A thread that waits changes the index, so that the number it waits for
 * comes to 0 however many come in meanwhile.
 */
struct pxt_unregistered {
	_Atomic uint32_t index;
	_Atomic uint32_t inside[2];
	_Atomic uint32_t abandoned[2]; /* ... of which so many were waited for in vain */
};

/*
 * The same of this process alone: a forked process that dies inside counts for ever among theirs,
 * but it touches no memory of this process.
 */
extern struct pxt_unregistered pxt_unregistered;

/* A thread counts itself; which number it was is what it goes out with. */
uint32_t pxt_unregistered_enter(struct pxt_unregistered *outside);
void pxt_unregistered_leave(struct pxt_unregistered *outside, uint32_t index);

/* Everybody who is inside and has no entry. */
PXT_INLINE uint32_t pxt_unregistered_count(struct pxt_unregistered *outside)
{
	return atomic_load_explicit(&outside->inside[0], memory_order_acquire) +
	       atomic_load_explicit(&outside->inside[1], memory_order_acquire);
}

#endif
