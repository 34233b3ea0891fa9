/* SPDX-License-Identifier: MIT */
/*
 * replica.h - copies of the process' directory in the files of streams (filestream.h), kept up to
 * date: who kills the process finds in each file the names, descriptions and threads that the
 * events in it can have.
 *
 *   concurrency     thread    name, format, named, begin, end
 *   thread                -                   -                      trace points, signal handlers
 *   the others            -                   X                      X: the process lock; names and
 *                                                                       formats, with forked processes kept
 *                                                                       out (forks.h)
 *
 * What is new is in the replicas before it is in the directory: a thread that finds a name there
 * may write an event of it at once, and be killed.  In a replica, as in the directory, an entry is
 * written before the count or the offset that makes it one.
 */
#ifndef PXT_REPLICA_H
#define PXT_REPLICA_H

#include "format/compiler.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct pxt_directory;
struct pxt_names;
struct pxt_thread_table;

/* Of the streams by their index, and the one that attached streams of this process have in common. */
#define PXT_REPLICA_PRODUCERS CONFIG_PTRACE_MAX_STREAMS

#if CONFIG_PTRACE_ATTACH
#define PXT_REPLICAS (CONFIG_PTRACE_MAX_STREAMS + 1u)
#else
#define PXT_REPLICAS CONFIG_PTRACE_MAX_STREAMS
#endif

/* What the unit Black Box does when something new is in the directory (blackbox/replica.c). */
struct pxt_replica_ops {
	/* See pxt_replica_end(), and so on. */
	void (*end)(uint32_t index);
	void (*after_fork)(void);
	void (*enter)(struct pxt_thread_table *table, uint32_t index);
	void (*named)(uint32_t index);
	bool (*any)(void);
};

/* The same for names: only with User Events (blackbox/replica_names.c). */
struct pxt_replica_names_ops {
	void (*add)(const struct pxt_names *names, uint32_t index);
	void (*format)(const struct pxt_names *names, uint32_t index, uint32_t at, uint32_t bytes);
	void (*follow)(const struct pxt_names *names);
};

#if CONFIG_PTRACE_FILE_STREAMS

/* NULL: there was no replica yet, here or in a parent.  Set under the process lock. */
extern const struct pxt_replica_ops *_Atomic pxt_replica_ops;
extern const struct pxt_replica_names_ops *_Atomic pxt_replica_names_ops;
/* Where a thread that enters itself and who changes the list meet (blackbox/replica.c). */
extern _Atomic uint32_t pxt_replica_meeting;

/*
 * Stream @index has its replica at @replica: filled in, and kept up to date from now on.  Of the unit; units alone
 * call it.
 */
void pxt_replica_begin(uint32_t index, struct pxt_directory *replica);

PXT_INLINE const struct pxt_replica_ops *pxt_replica_table(void)
{
	return atomic_load_explicit(&pxt_replica_ops, memory_order_acquire);
}

PXT_INLINE const struct pxt_replica_names_ops *pxt_replica_names_table(void)
{
	return atomic_load_explicit(&pxt_replica_names_ops, memory_order_acquire);
}

/* Nothing is added: it is the meeting that counts. */
PXT_INLINE void pxt_replica_meet(void)
{
	(void)atomic_fetch_add_explicit(&pxt_replica_meeting, 0u, memory_order_acq_rel);
}

#else

/* Without the unit no table is ever there. */
PXT_OFF_RETURNS(NULL, const struct pxt_replica_ops *, pxt_replica_table, void);
PXT_OFF_RETURNS(NULL, const struct pxt_replica_names_ops *, pxt_replica_names_table, void);
PXT_OFF(pxt_replica_meet, void);

#endif

/*
 * Stream @index has none any more.  Its memory may go when pxt_threads_wait_left() has returned
 * true afterwards.
 */
PXT_INLINE void pxt_replica_end(uint32_t index)
{
	PXT_IF_THERE(pxt_replica_table(), end(index));
}

/* In a forked child: there are those of the streams that it goes on with. */
PXT_INLINE void pxt_replica_after_fork(void)
{
	PXT_IF_THERE(pxt_replica_table(), after_fork());
}

/*
 * Thread @index has entered itself into @table.  Async-signal-safe.  Bound: the replicas, and in
 * each a round for every thread of the table that enters itself meanwhile (raise_count()).
 */
PXT_INLINE void pxt_replica_thread(struct pxt_thread_table *table, uint32_t index)
{
	pxt_replica_meet();
	PXT_IF_THERE(pxt_replica_table(), enter(table, index));
}

/* Its number and name are in the table. */
PXT_INLINE void pxt_replica_named(uint32_t index)
{
	PXT_IF_THERE(pxt_replica_table(), named(index));
}

/* Whether there is a stream in a file. */
PXT_INLINE bool pxt_replica_any(void)
{
	const struct pxt_replica_ops *ops = pxt_replica_table();

	return ops && ops->any();
}

/* Name @index is in the map, not counted yet. */
PXT_INLINE void pxt_replica_names_add(const struct pxt_names *names, uint32_t index)
{
	PXT_IF_THERE(pxt_replica_names_table(), add(names, index));
}

/* @bytes of the description of name @index are in the pool, @at; its offset is not there yet. */
PXT_INLINE void pxt_replica_names_format(
    const struct pxt_names *names, uint32_t index, uint32_t at, uint32_t bytes)
{
	PXT_IF_THERE(pxt_replica_names_table(), format(names, index, at, bytes));
}

/* What forked processes (forks.h) have put into the map comes into this process' replicas. */
PXT_INLINE void pxt_replica_names_follow(const struct pxt_names *names)
{
	PXT_IF_THERE(pxt_replica_names_table(), follow(names));
}

#endif
