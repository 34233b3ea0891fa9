/* SPDX-License-Identifier: MIT */
/*
 * thread.h - one thread's entry in the thread table (threads.h has the rules).
 *
 *   concurrency: its own thread and that one's handlers write, others look.
 */
#ifndef PXT_THREAD_H
#define PXT_THREAD_H

#include "format/compiler.h"
#include "port_atomic.h"

#include <stdatomic.h>
#include <stdint.h>
#include <string.h>

#define PXT_THREAD_NAME 16u

#if CONFIG_PTRACE_INHERIT
#define PXT_SPACE_MEMBER _Atomic uint32_t space; /* that `pid` is of: pxt_port_pid_space() */
#else
#define PXT_SPACE_MEMBER
#endif

struct pxt_thread {
	PXT_ALIGNED(PXT_CACHE_LINE) _Atomic uint32_t passes; /* odd: inside a trace point */
	uint32_t gave_up; /* a value of `passes` that was waited for in vain */
	pxt_wide thread;  /* pthread_t; 0 until the entry is whole */
	_Atomic int32_t pid;
	_Atomic int32_t tid;        /* the system's number, 0: not known */
	char name[PXT_THREAD_NAME]; /* its first byte last; "": nobody looked yet */
	PXT_SPACE_MEMBER
};

/* The first byte last: a thread that sees it sees the rest of the first name. */
PXT_INLINE void pxt_thread_set_name(struct pxt_thread *entry, const char name[PXT_THREAD_NAME])
{
	memcpy(entry->name + 1, name + 1, PXT_THREAD_NAME - 1u);
	__atomic_store_n(&entry->name[0], name[0], __ATOMIC_RELEASE);
}

PXT_INLINE void pxt_thread_get_name(const struct pxt_thread *entry, char name[PXT_THREAD_NAME])
{
	name[0] = __atomic_load_n(&entry->name[0], __ATOMIC_ACQUIRE);
	memcpy(name + 1, entry->name + 1, PXT_THREAD_NAME - 1u);
	if (!name[0])
		memset(name, 0, PXT_THREAD_NAME);
}

#endif
