/* SPDX-License-Identifier: MIT */
/*
 * port.h - what every configuration of libptrace asks of the system below it (barriers and atomics: port_atomic.h).  A
 * port supplies these functions and the header port_atomic.h (slot access, cursor arithmetic, the stamp clock) beside
 * them, and those of the other headers of this folder whose units it can have (docs/porting.md says
 * which).
 *
 * Units and Core touch the operating system here and nowhere else, so that a fake port can fail the
 * n-th call of each kind (tests/fakes).  tests/test_port.c holds what any port must pass.
 *
 * concurrency: every function may run in any number of threads at once, except where noted.  Only
 * pxt_port_ticks(), pxt_port_cpu_word(), pxt_port_thread(), pxt_port_tid() and pxt_port_wake() run on
 * the trace path, in signal or interrupt context too.
 */
#ifndef PXT_PORT_H
#define PXT_PORT_H

#include "format/compiler.h"
#include "format/facts.h"

#include <stdbool.h>
#include <stddef.h>

/* ---- Clock ---- */

/* Fixes source and rate once for the process; later calls return the same.  One thread at a time. */
void pxt_port_clock_start(struct pxt_clock_rate *rate);
void pxt_port_clock_read(struct pxt_clock_set *set);
/*
 * A clock of the program's takes the place of the port's, or NULL: no longer.  For systems with
 * CONFIG_PTRACE_EXTENSIONS; after the first start, while nobody reads stamps; start again afterwards.
 */
void pxt_port_clock_choose(uint64_t (*clock)(void *context), void *context, uint64_t hz);

/* ---- Ends of threads ---- */

/*
 * From now on @end is called in each thread that has marked itself and ends, after nearly all that the
 * program does there.  False: that cannot be had.  Once in a process, by one thread.
 */
bool pxt_port_thread_end_watch(void (*end)(void));
/* The calling thread wants it; on the trace path. */
void pxt_port_thread_end_mark(void);

/* ---- Memory (never on the trace path) ---- */

/* Zeroed, 4,096-byte aligned on hosts (64 elsewhere), touched, kept from forked children. */
void *pxt_port_alloc(size_t bytes);
void pxt_port_free(void *memory, size_t bytes);
/*
 * Gives back the memory, not its addresses: a thread that is late reads zeros there, and what it writes is
 * lost.  Memory of other files' and processes', too.  Whole pages of the host, else nothing is done.
 */
void pxt_port_empty(void *memory, size_t bytes);
/*
 * Makes @memory this process' own: what others share of it, or a file has, stays as it is from here on.
 * Whole pages; false: no memory.
 */
bool pxt_port_own(void *memory, size_t bytes, bool with_children);
/*
 * From now on children have at @memory's address what they share with this process, if it is shared
 * memory, else zeros.
 */
void pxt_port_lend(void *memory, size_t bytes);
/* Shared memory at a second address; NULL: it cannot be had. */
void *pxt_port_alias(void *memory, size_t bytes);
/* The same, but shared with children: a fork copies nothing of it, in parent or child. */
void *pxt_port_alloc_shared(size_t bytes);
/* The same, whose pages come when they are touched. */
void *pxt_port_alloc_sparse(size_t bytes);
/*
 * Children will find @memory zeroed, also those made behind the C library's back (clone, vfork's
 * cousins), where no fork handler runs.  Whole pages only; false where the system cannot.
 */
bool pxt_port_wipe_on_fork(void *memory, size_t bytes);

/* ---- Identity ---- */

int32_t pxt_port_pid(void);
/* Whether @pid, which is not 0, may be traced from here: 0, ESRCH or EPERM (DEC-20). */
int pxt_port_may_trace(int32_t pid);
/*
 * Whether no process @pid runs any more; one that no process has waited for yet counts as gone.  @pid: as
 * this process' own pid namespace has it.
 */
bool pxt_port_process_gone(int32_t pid);
/* Whether it is stopped, by a signal or a debugger, as far as its first thread tells.  False also where that is not known. */
bool pxt_port_process_stopped(int32_t pid);
/* A number of that namespace, the same in all its processes and another one elsewhere; 0: not known. */
uint32_t pxt_port_pid_space(void);
/* CPUs the system may ever run, at least 1. */
unsigned pxt_port_cpus(void);
/*
 * From now on every forked child runs @child before fork() returns in it.  For the life of the
 * process, or of the shared library that holds @child.
 */
void pxt_port_at_fork(void (*child)(void));
/* The same, and the thread that forks runs @before, and @parent when the child is made or was not. */
void pxt_port_around_fork(void (*before)(void), void (*parent)(void), void (*child)(void));

/* ---- Waiting: a word that holds @expected is slept upon ---- */

/*
 * Sleeps while *word == expected, until woken, until CLOCK_REALTIME reaches @until (NULL: no
 * limit) or @slice_ns nanoseconds have passed (0: no limit).  Returns 0, EINTR (a signal handler
 * ran) or ETIMEDOUT (either limit).
 */
int pxt_port_wait(
    _Atomic uint32_t *word, uint32_t expected, const struct timespec *until, uint64_t slice_ns);
/* Wakes all sleepers on @word.  Async-signal-safe; leaves errno alone. */
void pxt_port_wake(_Atomic uint32_t *word);
/*
 * All running threads of the process have passed a full fence when this returns true.  False: the
 * system cannot, and the caller must sleep in slices and look again.
 */
bool pxt_port_fence_all(void);
/* From now on fences reach all processes that called this, or came by fork from one that did. */
void pxt_port_fence_processes(void);
/* Lets other threads run for about this long; signals make it no shorter. */
void pxt_port_pause_ns(uint64_t ns);
/* A clock that is never set, in nanoseconds from anywhere.  Also for signal handlers. */
uint64_t pxt_port_now_ns(void);

/* What is waited for at most, in slices.  port/patience.c, the same on every port. */
struct pxt_patience {
	uint64_t until_ns;  /* of pxt_port_now_ns() */
	uint64_t slices_ns; /* that may still be asked for */
};
void pxt_patience_begin(struct pxt_patience *patience, uint64_t ns);
/* Pauses for a slice, or what is left.  False, at once: nothing is. */
bool pxt_patience_pause(struct pxt_patience *patience, uint64_t slice_ns);

/* ---- Mutual exclusion of control calls and readers ---- */

/* As large as the port's own: on a board as port/bare/board.h promises. */
#define PXT_PORT_MUTEX_WORDS (CONFIG_PTRACE_PORT_BARE ? 2u : 8u)
struct pxt_port_mutex {
	uint64_t opaque[PXT_PORT_MUTEX_WORDS];
};
void pxt_port_mutex_init(struct pxt_port_mutex *mutex);
void pxt_port_mutex_lock(struct pxt_port_mutex *mutex);
/* False: a thread holds it, who may be the caller.  Also for signal handlers. */
bool pxt_port_mutex_try(struct pxt_port_mutex *mutex);
void pxt_port_mutex_unlock(struct pxt_port_mutex *mutex);

/*
 * Which file it is, whatever its name and its descriptor's number.
 *
 * A program may close any descriptor, also the library's, and the number becomes another file's then.
 * So a descriptor is kept with its place, which is compared before each use.
 */

struct pxt_port_place {
	uint64_t device;
	uint64_t file;
};

PXT_INLINE bool pxt_port_same_place(
    const struct pxt_port_place *one, const struct pxt_port_place *other)
{
	return one->device == other->device && one->file == other->file;
}

/* Ticks as time, where there is no room for a compiler library's long division. */

/* @ticks of the stamp clock as seconds and nanoseconds, cut.  Bound: 128 rounds. */
void pxt_port_since(uint64_t ticks, struct timespec *time);

/*
 * A thread of the library's own (the flusher, and helpers for other processes).
 *
 * It runs with all signals blocked and cannot be cancelled by accident: the program does not get its
 * pthread_t.  A forked child has no such thread; there a struct pxt_port_thread is forgotten, not
 * joined.
 *
 *   concurrency     start, join     the thread itself
 *   start, join              X                 -
 *   (X: of one struct, one after the other: the caller sees to it; of different ones, at any time.
 *   -: start writes what the thread reads before that begins, and `handle` is start's and join's.)
 */

/* Stays where it is between start and join. */
struct pxt_port_thread {
	void (*run)(void *argument);
	void *argument;
	uint64_t handle;
};

/*
 * What others ask for, and the thread that does it, shall not displace a real-time thread; where it
 * holds a lock that one waits for, it is raised by that (port.h).
 */
#define PXT_THREAD_ORDINARY (-1)

/*
 * @priority: of SCHED_FIFO; 0: policy and priority of the caller; PXT_THREAD_ORDINARY: the caller's,
 * but never a real-time one.  Returns EAGAIN, EPERM (that priority is not for this process), EINVAL
 * (no such priority).
 */
int pxt_port_thread_start(
    struct pxt_port_thread *thread, void (*run)(void *), void *argument, int priority);
/* Returns when the thread's function has returned. */
void pxt_port_thread_join(struct pxt_port_thread *thread);
/*
 * Of the thread itself: ordinary threads wait for it, not it for them, where the process may ask for that.
 * Who runs the program at another nice value, or as real time, has said what is to wait: nothing changes.
 */
void pxt_port_thread_hurry(void);
/* Of the thread itself, before it returns: nobody joins it, now or later. */
void pxt_port_thread_leave(void);

/*
 * ---- Calls of the C library that are the library's own: where they are wrapped (sysevents/wrap/),
 * nobody wants to be told of them ----
 *
 *   concurrency: a thread's own; its signal handlers find it as the interrupted code left it.
 */

/*
 * 0: what the calling thread does is its program's.  Bit 0: the thread is excluded; bit 31: it is the
 * library's own, with all signals blocked; the rest: calls deep.
 */
extern PXT_TLS uint32_t pxt_port_untold;

#define PXT_PORT_UNTOLD_THREAD 1u
#define PXT_PORT_UNTOLD_CALL   2u
#define PXT_PORT_UNTOLD_OWN    0x80000000u

PXT_INLINE void pxt_port_untold_begin(void)
{
	pxt_port_untold += PXT_PORT_UNTOLD_CALL;
}

PXT_INLINE void pxt_port_untold_end(void)
{
	pxt_port_untold -= PXT_PORT_UNTOLD_CALL;
}

#endif
