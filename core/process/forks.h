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
 *              says in the block itself whether the short path may be taken: when it may not,
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

#include <stdbool.h>
#include <trace.h>

#if CONFIG_PTRACE_INHERIT

/* What the unit Inheritance does for Core (inherit/forks.c). */
struct pxt_forks_ops {
	/* Whether other processes may share this one's directory. */
	bool (*any)(void);
	/* An inherited stream is made: from now on fences reach forked processes. */
	void (*begin)(void);
	/* Whether a forked child goes on with the block of its parent's stream @index. */
	bool (*keeps)(unsigned index);
	/* In a child whose streams were forgotten: whether others share with it still; else it is alone. */
	bool (*after_fork)(void);
	/* The process begins, or a child does. */
	void (*start)(void);
	/* Whose the entry is: this process'. */
	void (*sign)(struct pxt_thread *entry);
	/* Another process', for all that is known: with a pid of its own, or the same in another namespace. */
	bool (*foreign)(const struct pxt_thread *entry);
	/* A thread of a process that is known not to live any more. */
	bool (*gone)(const struct pxt_thread *entry);
	/*
	 * Excludes forked processes, under the process lock.  False: one of them holds it and is stopped, or did not
	 * go on while the patience lasted.
	 */
	bool (*lock)(struct pxt_patience *patience);
	void (*unlock)(void);
};

extern const struct pxt_forks_ops pxt_forks_ops;

PXT_INLINE bool pxt_forks_any(void)
{
	return pxt_forks_ops.any();
}

PXT_INLINE void pxt_forks_begin(void)
{
	pxt_forks_ops.begin();
}

PXT_INLINE bool pxt_forks_keeps(unsigned index)
{
	return pxt_forks_ops.keeps(index);
}

PXT_INLINE bool pxt_forks_after_fork(void)
{
	return pxt_forks_ops.after_fork();
}

PXT_INLINE bool pxt_forks_gone(const struct pxt_thread *entry)
{
	return pxt_forks_ops.gone(entry);
}

PXT_INLINE bool pxt_forks_lock(struct pxt_patience *patience)
{
	return pxt_forks_ops.lock(patience);
}

PXT_INLINE void pxt_forks_unlock(void)
{
	pxt_forks_ops.unlock();
}

PXT_INLINE void pxt_forks_start(void)
{
	pxt_forks_ops.start();
}

PXT_INLINE void pxt_forks_sign(struct pxt_thread *entry, int32_t pid)
{
	(void)pid;
	pxt_forks_ops.sign(entry);
}

PXT_INLINE bool pxt_forks_foreign(const struct pxt_thread *entry)
{
	return pxt_forks_ops.foreign(entry);
}

PXT_INLINE bool pxt_forks_known(int inheritance)
{
	return inheritance == POSIX_TRACE_CLOSE_FOR_CHILD || inheritance == POSIX_TRACE_INHERITED;
}

PXT_INLINE void *pxt_forks_alloc(size_t bytes, bool shared)
{
	return shared ? pxt_port_alloc_shared(bytes) : pxt_port_alloc(bytes);
}
#else

PXT_INLINE void pxt_forks_start(void)
{
}

PXT_INLINE bool pxt_forks_any(void)
{
	return false;
}

PXT_INLINE void pxt_forks_begin(void)
{
}

PXT_INLINE bool pxt_forks_keeps(unsigned index)
{
	(void)index;
	return false;
}

PXT_INLINE bool pxt_forks_after_fork(void)
{
	return false;
}

PXT_INLINE bool pxt_forks_gone(const struct pxt_thread *entry)
{
	(void)entry;
	return false;
}

PXT_INLINE bool pxt_forks_lock(struct pxt_patience *patience)
{
	(void)patience;
	return true;
}

PXT_INLINE void pxt_forks_unlock(void)
{
}

PXT_INLINE bool pxt_forks_foreign(const struct pxt_thread *entry)
{
	(void)entry;
	return false;
}

PXT_INLINE void pxt_forks_sign(struct pxt_thread *entry, int32_t pid)
{
	atomic_store_explicit(&entry->pid, pid, memory_order_relaxed);
}

PXT_INLINE bool pxt_forks_known(int inheritance)
{
	return inheritance == POSIX_TRACE_CLOSE_FOR_CHILD;
}

PXT_INLINE void *pxt_forks_alloc(size_t bytes, bool shared)
{
	(void)shared;
	return pxt_port_alloc(bytes);
}
#endif

#endif
