/* SPDX-License-Identifier: MIT */
/*
 * thread.h - one thread's entry in the thread table (threads.h has the rules).
 *
 *   concurrency: its own thread and that one's handlers write (the name: under the process lock, or
 *   before others see the entry), others look.
 */
#ifndef PXT_THREAD_H
#define PXT_THREAD_H

#include "format/compiler.h"
#include "port_atomic.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#define PXT_THREAD_NAME 16u

#if CONFIG_PTRACE_INHERIT
#define PXT_SPACE_MEMBER _Atomic uint32_t space; /* that `pid` is of: pxt_port_pid_space() */
#else
#define PXT_SPACE_MEMBER
#endif

/* Whether places of threads that have ended are given to others (DESIGN.md 5.7). */
#if CONFIG_PTRACE_RECORD_THREAD
#define PXT_PLACES_AGAIN 1
#define PXT_LIFE_MEMBER                                                                            \
	_Atomic uint32_t life; /* core/process/threads.c */                                        \
	pxt_wide since;        /* records of the thread have this stamp or a later one */
#else
#define PXT_PLACES_AGAIN 0
#define PXT_LIFE_MEMBER
#endif

/* Who tells the end of a thread: itself, or on a board another task. */
#if CONFIG_PTRACE_PORT_BARE
#define PXT_ENDS_ASIDE 1
#else
#define PXT_ENDS_ASIDE 0
#endif

struct pxt_thread {
	PXT_ALIGNED(PXT_CACHE_LINE) _Atomic uint32_t passes; /* odd: inside a trace point */
	uint32_t gave_up; /* a value of `passes` that was waited for in vain */
	pxt_wide thread;  /* pthread_t; 0 until the entry is whole */
	_Atomic int32_t pid;
	_Atomic int32_t tid;        /* the system's number, 0: not known */
	char name[PXT_THREAD_NAME]; /* written first byte last; "": nobody looked yet */
	PXT_SPACE_MEMBER
	PXT_LIFE_MEMBER
};

#if PXT_PLACES_AGAIN
#define PXT_THREAD_GIVEN_BACK 1u /* `life` of a place that no thread has now */

PXT_INLINE uint64_t pxt_thread_since(const struct pxt_thread *entry)
{
	return pxt_wide_load((pxt_wide *)(uintptr_t)&entry->since);
}

PXT_INLINE bool pxt_thread_is_nobodys(const struct pxt_thread *entry)
{
	return atomic_load_explicit(&entry->life, memory_order_relaxed) == PXT_THREAD_GIVEN_BACK;
}
#else
PXT_OFF_RETURNS(0, uint64_t, pxt_thread_since, const struct pxt_thread *entry);
PXT_OFF_RETURNS(false, bool, pxt_thread_is_nobodys, const struct pxt_thread *entry);
#endif

/*
 * A name may be given again (posix_trace_thread_register_np()) while others read it.  While it is
 * written its first byte is 0.
 */
PXT_INLINE void pxt_thread_set_name(struct pxt_thread *entry, const char name[PXT_THREAD_NAME])
{
	__atomic_store_n(&entry->name[0], 0, __ATOMIC_RELAXED);
	/* A reader that saw a byte of the new name sees the first byte empty, or new, at its second look. */
	atomic_thread_fence(memory_order_release);
	for (unsigned i = 1; i < PXT_THREAD_NAME; i++)
		__atomic_store_n(&entry->name[i], name[i], __ATOMIC_RELAXED);
	__atomic_store_n(&entry->name[0], name[0], __ATOMIC_RELEASE);
}

/*
 * "": nobody looked yet, or it is just being written; there is a next look.  It is read twice, and
 * a mixture of two names is not met again, unless the name changes there and back meanwhile.
 */
PXT_INLINE void pxt_thread_get_name(const struct pxt_thread *entry, char name[PXT_THREAD_NAME])
{
	bool same = true;

	/* Acquire: the rest of the first name; and with the fence above, a write that has begun. */
	for (unsigned i = 0; i < PXT_THREAD_NAME; i++)
		name[i] = __atomic_load_n(&entry->name[i], __ATOMIC_ACQUIRE);
	for (unsigned i = 0; i < PXT_THREAD_NAME; i++)
		same = __atomic_load_n(&entry->name[i], __ATOMIC_ACQUIRE) == name[i] && same;
	if (!same || !name[0])
		memset(name, 0, PXT_THREAD_NAME);
}

#endif
