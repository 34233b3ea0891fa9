/* SPDX-License-Identifier: MIT */
/*
 * process.h - one process: its lock for control calls, and what becomes of it at fork.
 *
 * A forked child is traced into none of its parent's streams and knows none of its identifiers.
 * The page that holds `epoch` is wiped by the system in every child, however it was made, so a
 * trace point there meets epoch 0, no wanted type and no hot stream, and has no effect (DEC-34).
 *
 * The same page has all that a trace point reads of the process, most of it in one line: a call with
 * cold caches misses on few lines and few address translations.
 *
 *   concurrency: lock and unlock exclude each other; `epoch` may be read at any time.
 */
#ifndef PXT_PROCESS_H
#define PXT_PROCESS_H

#include "format/ids.h"
#include "port/port.h"

#include <stdatomic.h>

/* ---- The rate of the counter that stamps are read from; written by the start of the process ---- */

extern struct pxt_clock_rate pxt_clock;

/*
 * ---- How long a thread that is inside a trace point is waited for ----
 *
 * Read at any time; written by tests alone.
 */

/* Kconfig's time in ticks; fixed by the first create. */
uint64_t pxt_process_holdback_ticks(void);
/* So long, in ticks. */
uint64_t pxt_process_ticks(uint64_t ns);
/* Tests shorten the hold-back time. */
extern uint64_t pxt_holdback_ns;

/* ---- A lock that its holder may never give back ---- */

/*
 * The end of a process, in a handler or in exit(), waits for locks so long, all in all: a thread that
 * holds one may be the thread that was interrupted.  Tests shorten it.
 */
extern uint64_t pxt_lock_patience_ns;
/* Any lock of ours, in signal handlers too.  False: a thread holds it still, maybe the caller. */
bool pxt_process_mutex_within(struct pxt_port_mutex *mutex, struct pxt_patience *patience);

/*
 * ---- What a trace point keeps of its look whether a type is wanted (core/stream/wanted.h) ----
 *
 * Where the type's bit is, so that it need not be found twice.
 */

#if CONFIG_PTRACE_PORT_POSIX
/*
 * Two bits for each type: whether any stream wants it, and whether the hot stream does, which is
 * told while that is in force only.  System events have words of their own.
 */
#define PXT_WANTED_WORDS       (PXT_ID_COUNT / 32u + 1u)
#define PXT_WANTED_SYSTEM_WORD (PXT_ID_COUNT / 32u)

struct pxt_bits {
	struct {
		uint32_t any;
		uint32_t hot;
	} word[PXT_WANTED_WORDS];
};
#define PXT_BITS_MEMBER struct pxt_bits wanted;

struct pxt_look {
	const struct pxt_bits *bits;
	size_t word;
};
/* Of functions that look once more, after their other ones. */
#define PXT_LOOK_PARAMETER  , PXT_UNUSED struct pxt_look look
#define PXT_LOOK_ARGUMENT   , look
#define PXT_LOOK_USER_FIRST 0u /* below the users' first type no bit of theirs is ever set */
#else
/* No bits: the table is as near as they would be, and memory is short. */
#define PXT_BITS_MEMBER
struct pxt_look {
	size_t nothing;
};
#define PXT_LOOK_PARAMETER
#define PXT_LOOK_ARGUMENT
#define PXT_LOOK_USER_FIRST PXT_ID_UNNAMED
#endif

/* ---- The process ---- */

#if CONFIG_PTRACE_PORT_POSIX
#define PXT_FORK_PAGE 4096u /* a page of its own: wiping it must wipe nothing else */
#else
#define PXT_FORK_PAGE 32u
#endif

struct pxt_block;

struct pxt_fork {
	PXT_ALIGNED(PXT_FORK_PAGE)
	_Atomic uintptr_t epoch;       /* 0: not started, or a child not yet started */
	intptr_t self_at;              /* core/process/threads.h; in a wiped page 0 */
	struct pxt_block *_Atomic hot; /* core/stream/wanted.h; NULL: as long as epoch is 0 */
	/* Those of the first 160 types are on the same line. */
	PXT_BITS_MEMBER
	/* No trace point's. */
	_Atomic uint32_t state; /* of the start: 0 none, or process.c's */
};

extern struct pxt_fork pxt_fork __attribute__((visibility("hidden")));

/* In place of a hot stream: its `no_short` is set, and nothing else of it may be read. */
extern const struct pxt_no_hot pxt_no_hot __attribute__((visibility("hidden")));
#define PXT_NO_HOT ((struct pxt_block *)(uintptr_t)&pxt_no_hot)

/* Relaxed: a trace point that finds its thread's own epoch here registered after the start. */
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
/* The same as pxt_process_lock(), but no longer than the patience that is left. */
bool pxt_process_lock_within(struct pxt_patience *patience);
/*
 * What becomes, in a forked child, of what its parent had: each part is set under the process lock,
 * when there is something of it for the first time, and is the child's own to use from then on.
 */
struct pxt_child_part {
	/* In the thread that forks, inside a trace point: its child will find memory where it is now. */
	void (*lend)(void);
	/* Before fork() returns in the child; async-signal-safe.  Perhaps once more before begin(). */
	void (*abandon)(void);
	/* Whether the child is traced from its first trace point on; asked of the streams alone. */
	bool (*goes_on)(void);
	/*
	 * The child starts.  @shared: it goes on with its parent's directory; returns the same.
	 * @inside: its thread comes back into so many trace points (forked.h), which find zeros where
	 * the parent's memory was.
	 */
	bool (*begin)(bool shared, uint32_t inside);
};
enum {
	PXT_CHILD_STREAMS,
	PXT_CHILD_DIRECTORY,
	PXT_CHILD_PARTS
};
extern const struct pxt_child_part *_Atomic pxt_child_parts[PXT_CHILD_PARTS];
/* Nothing forks on a board. */
PXT_INLINE void pxt_process_child_part(unsigned which, const struct pxt_child_part *part)
{
	/* Release: pairs with the acquire of a fork, which takes no lock. */
	if (CONFIG_PTRACE_PORT_POSIX)
		atomic_store_explicit(&pxt_child_parts[which], part, memory_order_release);
}

/*
 * Who makes a stream for a child that has none of its parent's, when that is first needed: at a trace point, which
 * has to find its type wanted (core/stream/wanted.h), or at a control call.  NULL: nobody.  A unit sets it, before
 * the process forks.  It may wait, in a signal handler, too; true: the child was started.
 */
extern bool (*_Atomic pxt_process_late)(void);
/* Asks for that, in a process that was not started. */
bool pxt_process_begin_late(void);

/* pid as of the start. */
int32_t pxt_process_pid(void);
/* True when identifiers made at @epoch belong to this process. */
bool pxt_process_owns(uint32_t epoch);

#endif
