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
	_Atomic int32_t tid; /* the system's number, 0 until a thread looked */
	char name[PXT_THREAD_NAME];
	PXT_SPACE_MEMBER
};

#endif
