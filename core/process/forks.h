/* SPDX-License-Identifier: MIT */
/*
 * forks.h - processes that came from one another by fork and trace into the same streams
 * (POSIX_TRACE_INHERITED, DEC-43).
 *
 *   concurrency: forked processes at any time, and any of them may die at any instruction; within a
 *   process, what changes something is called under the process lock, or in a child before fork()
 *   returns in it.
 *
 * Forked processes share the blocks of inherited streams and one directory: names and threads have one
 * numbering.  Only the process that created a stream controls and reads it.  What each process
 * keeps for itself, the wanted table and the hot stream, it fills by its own view:
 *
 *   creator    as for any other stream
 *   children   every type that exists is wanted, always; the stream is hot if nothing else is
 *              wanted.  That is too much while the stream is stopped or filters.  So the creator
 *              says in the block itself whether the fast path may be taken: when it may not,
 *              `no_short` is set, and all writers look at gate and filter.
 *
 * A forked process that was killed inside a trace point is seen by its absence (pxt_port_process_gone)
 * and marked as having left, so that it delays one control call by a moment, and none after it.  Its
 * pid means something in its own pid namespace alone.  A process of another one is taken for a living
 * one: the hold-back time decides then, as for a thread that stands still.
 */
#ifndef PXT_FORKS_H
#define PXT_FORKS_H

#include "core/process/thread.h"
#include "port/port.h"

#include <trace.h>

/* What the unit Inheritance does for Core (inherit/forks.c). */
struct pxt_forks_ops {
	/* Whether other processes may share this one's directory. */
	bool (*any)(void);
	/* Whether a forked child goes on with the block of its parent's stream @index. */
	bool (*keeps)(unsigned index);
	/* In a child whose streams were forgotten: whether others share with it still; else it is alone. */
	bool (*after_fork)(void);
	/*
	 * Excludes forked processes, under the process lock.  False: one of them holds it and is stopped, or did not
	 * go on while the patience lasted.
	 */
	bool (*lock)(struct pxt_patience *patience);
	void (*unlock)(void);
};

#if CONFIG_PTRACE_INHERIT

/* NULL: no inherited stream was made, here or in a parent.  Set under the process lock. */
extern const struct pxt_forks_ops *_Atomic pxt_forks_ops;
/* The pid namespace of this process; 0: not known, or not asked, as it shares nothing. */
extern uint32_t pxt_forks_space;

/*
 * An inherited stream is made: from now on fences reach forked processes, and the table is there.  Called by
 * create alone.
 */
void pxt_forks_begin(void);

PXT_INLINE const struct pxt_forks_ops *pxt_forks_table(void)
{
	return atomic_load_explicit(&pxt_forks_ops, memory_order_acquire);
}

/* The process begins, or a child does. */
void pxt_forks_start(int32_t pid);
/* Before others share the table; then pxt_threads_sign_again(). */
void pxt_forks_ask_space(void);
/* Whose the entry is: this process'. */
void pxt_forks_sign(struct pxt_thread *entry, int32_t pid);
/* Another process', for all that is known: with a pid of its own, or the same in another namespace. */
bool pxt_forks_foreign(const struct pxt_thread *entry);
/* A thread of a process that is known not to live any more. */
bool pxt_forks_gone(const struct pxt_thread *entry);

PXT_INLINE bool pxt_forks_known(int inheritance)
{
	return inheritance == POSIX_TRACE_CLOSE_FOR_CHILD || inheritance == POSIX_TRACE_INHERITED;
}

PXT_INLINE void *pxt_forks_alloc(size_t bytes, bool shared)
{
	return shared ? pxt_port_alloc_shared(bytes) : pxt_port_alloc(bytes);
}

#else

/* Without the unit no table is ever there. */
PXT_OFF_RETURNS(NULL, const struct pxt_forks_ops *, pxt_forks_table, void);
PXT_OFF(pxt_forks_start, int32_t pid);
PXT_OFF(pxt_forks_begin, void);
PXT_OFF_RETURNS(false, bool, pxt_forks_gone, const struct pxt_thread *entry);
PXT_OFF_RETURNS(false, bool, pxt_forks_foreign, const struct pxt_thread *entry);

PXT_INLINE void pxt_forks_sign(struct pxt_thread *entry, int32_t pid)
{
	atomic_store_explicit(&entry->pid, pid, memory_order_relaxed);
}

PXT_OFF_RETURNS(inheritance == POSIX_TRACE_CLOSE_FOR_CHILD, bool, pxt_forks_known, int inheritance);
PXT_OFF_RETURNS(pxt_port_alloc(bytes), void *, pxt_forks_alloc, size_t bytes, bool shared);

#endif

PXT_INLINE bool pxt_forks_any(void)
{
	const struct pxt_forks_ops *ops = pxt_forks_table();

	return ops && ops->any();
}

PXT_INLINE bool pxt_forks_keeps(unsigned index)
{
	const struct pxt_forks_ops *ops = pxt_forks_table();

	return ops && ops->keeps(index);
}

PXT_INLINE bool pxt_forks_after_fork(void)
{
	const struct pxt_forks_ops *ops = pxt_forks_table();

	return ops && ops->after_fork();
}

PXT_INLINE bool pxt_forks_lock(struct pxt_patience *patience)
{
	const struct pxt_forks_ops *ops = pxt_forks_table();

	return !ops || ops->lock(patience);
}

PXT_INLINE void pxt_forks_unlock(void)
{
	PXT_IF_THERE(pxt_forks_table(), unlock());
}

#endif
