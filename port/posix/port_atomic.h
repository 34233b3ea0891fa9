/* SPDX-License-Identifier: MIT */
/*
 * port_atomic.h - barriers and atomics of a POSIX host: access to slots, arithmetic of cursors, the stamp clock.
 *
 * A slot is stored and loaded as one 16-byte access; a thread that sees any of it sees all of it.  How,
 * arch/ says, with one header for each processor, and one for those that have no such access:
 *
 *   arch/x86_64.h    arch/aarch64.h    arch/other.h
 *
 * What they share: arch/whole.h (a slot is one access, a counter is the clock), arch/tool.h;
 * with another port: port/port_pieces.h (slots out of bytes), port/port_own.h.
 *
 *   concurrency         slot_store   slot_load   head_*   ticks
 *   any of these                -            -          -       -      all at once, in signal
 *                                                                      handlers too
 */
#ifndef PXT_PORT_ATOMIC_H
#define PXT_PORT_ATOMIC_H

#include "format/compiler.h"
#include "format/slot.h"

#include <pthread.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>

/* Where no counter can be used: the system's clock. */
uint64_t pxt_port_ticks_slow(void);

#if defined(__x86_64__)
#include "port/posix/arch/x86_64.h"
#elif defined(__aarch64__)
#include "port/posix/arch/aarch64.h"
#else
#include "port/posix/arch/other.h"
#endif

/* ---- The number of the CPU on which the calling thread runs, as the kernel keeps it ---- */

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
PXT_OFF_RETURNS(NULL, const volatile uint32_t *, pxt_port_cpu_word, void);
#endif

/* Bits of a mask of any width. */
#define PXT_MASK_OR(mask, bits)  ((void)__atomic_fetch_or(mask, bits, __ATOMIC_SEQ_CST))
#define PXT_MASK_AND(mask, bits) ((void)__atomic_fetch_and(mask, bits, __ATOMIC_SEQ_CST))

PXT_INLINE uint64_t pxt_port_thread(void)
{
	return (uint64_t)(uintptr_t)pthread_self();
}

/*
 * The system's number of the calling thread, or 0.  Without a system call: its CPU clock is named
 * after it, in the kernel's way (bits 31:3, inverted).
 */
PXT_INLINE int32_t pxt_port_tid(void)
{
	clockid_t clock;

	return pthread_getcpuclockid(pthread_self(), &clock) == 0 ? ~((int32_t)clock >> 3) : 0;
}

#endif
