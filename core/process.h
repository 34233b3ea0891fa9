/* SPDX-License-Identifier: MIT */
/*
 * process.h - one process: its lock for control calls, and what becomes of it at fork.
 *
 * A forked child is traced into none of its parent's streams and knows none of its identifiers.
 * The page that holds `epoch` is wiped by the system in every child, however it was made, so a
 * trace point there meets epoch 0, no wanted type and no hot stream, and has no effect (DEC-34).
 *
 * The same page has all that a trace point reads of the process, the most of it in one line: a call
 * that finds nothing in the caches waits for few lines, and for few translations of addresses.
 *
 *   who beside whom: lock and unlock exclude each other; `epoch` may be read at any time.
 */
#ifndef PXT_PROCESS_H
#define PXT_PROCESS_H

#include "base/compiler.h"
#include "core/look.h"
#include "port/port.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#if CONFIG_PTRACE_PORT_POSIX
#define PXT_FORK_PAGE 4096u /* a page of its own: wiping it must wipe nothing else */
#else
#define PXT_FORK_PAGE 32u
#endif

struct pxt_block;

struct pxt_fork {
	PXT_ALIGNED(PXT_FORK_PAGE)
	_Atomic uintptr_t epoch;       /* 0: not started, or a child not yet started */
	intptr_t self_at;              /* core/threads.h; in a wiped page 0 */
	struct pxt_block *_Atomic hot; /* core/wanted.h; NULL: as long as epoch is 0 */
	/* Those of the first 160 types are on the same line. */
	PXT_BITS_MEMBER
	/* No trace point's. */
	_Atomic uint32_t state; /* of the start: 0 none, or process.c's */
};

extern struct pxt_fork pxt_fork __attribute__((visibility("hidden")));

/* Relaxed: a trace point that finds its thread's own epoch here registered behind the start. */
PXT_INLINE uintptr_t pxt_fork_epoch(void)
{
	return atomic_load_explicit(&pxt_fork.epoch, memory_order_relaxed);
}

/*
 * Starts the library in this process (clock, fork handler; in a child: forgets the parent's
 * streams) if that was not done, and takes the process lock.  Not for signal handlers.
 */
void pxt_process_lock(void);
void pxt_process_unlock(void);
/*
 * The end of a process, in a handler or in exit(), waits for locks so long, all in all: whoever
 * holds one may be the thread that was interrupted.  Tests shorten it.
 */
extern uint64_t pxt_patience_ns;
/* The same as pxt_process_lock(), but no longer than the patience that is left. */
bool pxt_process_lock_within(struct pxt_patience *patience);
/* Any lock of ours, in signal handlers too.  False: somebody holds it still, maybe the caller. */
bool pxt_lock_within(struct pxt_port_mutex *mutex, struct pxt_patience *patience);
/* pid as of the start. */
int32_t pxt_process_pid(void);
/* True when identifiers made at @epoch belong to this process. */
bool pxt_process_owns(uint32_t epoch);
extern struct pxt_clock_rate pxt_clock;

#endif
