/* SPDX-License-Identifier: MIT */
/*
 * forks.c - streams that are inherited over fork, and the lock on names that forked processes share: for how
 * long, and for whom, a process that wants it waits; see forks.h.
 */
#include "core/process/forks.h"

#include "core/process/directory.h"
#include "core/stream/stream.h"
#include "core/stream/wanted.h"

#include <stdatomic.h>

#define SLICE_NS 50000u
/* So many slices are given to whoever holds the lock, before it is asked for: it copies a name meanwhile. */
#define UNASKED  20u

static bool has_forks;
static uint32_t own_space; /* 0: not known */

static bool any(void)
{
	return has_forks;
}

static void begin(void)
{
	has_forks = true;
	pxt_port_fence_processes();
}

/*
 * The parent's threads went on while the child was made: what is found here is as one of them left
 * it.  A stream that can be found by writers is whole, and its memory is the child's own mapping.
 */
static bool keeps(unsigned index)
{
	/* Not the block: another one's memory is not in the child. */
	return (pxt_streams[index].inherited || pxt_streams[index].theirs) &&
	       atomic_load_explicit(&pxt_blocks[index], memory_order_acquire);
}

static bool after_fork(void)
{
	has_forks = false;
	for (unsigned i = 0; i < CONFIG_PTRACE_MAX_STREAMS; i++)
		has_forks |= pxt_streams[i].theirs;
	if (has_forks) {
		pxt_port_fence_processes();
		pxt_wanted_inherited();
	}
	return has_forks;
}

/* ---- Who lives ---- */

static void start(void)
{
	own_space = pxt_port_pid_space();
}

/* The pid last: an entry of the process before it would be taken for a forked process' for a moment only. */
static void sign(struct pxt_thread *entry)
{
	atomic_store_explicit(&entry->space, own_space, memory_order_relaxed);
	atomic_store_explicit(&entry->pid, pxt_process_pid(), memory_order_relaxed);
}

static bool foreign(const struct pxt_thread *entry)
{
	uint32_t space = atomic_load_explicit(&entry->space, memory_order_relaxed);

	return atomic_load_explicit(&entry->pid, memory_order_relaxed) != pxt_process_pid() ||
	       (space && own_space && space != own_space);
}

static bool gone(const struct pxt_thread *entry)
{
	uint32_t space = atomic_load_explicit(&entry->space, memory_order_relaxed);

	return foreign(entry) && space && space == own_space &&
	       pxt_port_process_gone(atomic_load_explicit(&entry->pid, memory_order_relaxed));
}

/* ---- The lock ---- */

/*
 * The word says who is inside: its pid, and by its place among the forked processes' namespaces, from 1 on, the
 * one that the pid is of.  0: not known, or one more than there are places.
 */
#define PID_BITS 22u /* the system has no larger ones */
#define PID_MASK ((1u << PID_BITS) - 1u)

static uint32_t own_place(void)
{
	/* Bound: the places. */
	for (uint32_t i = 0; own_space && i < PXT_SPACES; i++) {
		uint32_t found = 0;

		if (atomic_compare_exchange_strong_explicit(&pxt_directory->spaces[i], &found,
		        own_space, memory_order_relaxed, memory_order_relaxed) ||
		    found == own_space)
			return i + 1u;
	}
	return 0;
}

/* Of the own namespace, where its number means something; else 0. */
static int32_t known_pid(uint32_t holder, uint32_t self)
{
	bool known = holder && holder >> PID_BITS && holder >> PID_BITS == self >> PID_BITS;

	return known ? (int32_t)(holder & PID_MASK) : 0;
}

static bool take(uint32_t from, uint32_t self)
{
	/* Acquire: names that others have added are seen. */
	return atomic_compare_exchange_strong_explicit(
	    &pxt_directory->lock, &from, self, memory_order_acquire, memory_order_relaxed);
}

/*
 * What the lock keeps apart, names and descriptions, is published by one store after everything else,
 * so a thread that takes the lock over from the dead finds the directory whole.  Not from the stopped:
 * one that goes on would write where others have written since.
 */
static bool lock_forks(struct pxt_patience *patience)
{
	const uint32_t self = (uint32_t)pxt_process_pid() | own_place() << PID_BITS;

	for (uint32_t slices = 0;; slices++) {
		uint32_t holder = atomic_load_explicit(&pxt_directory->lock, memory_order_relaxed);
		int32_t pid = known_pid(holder, self);

		if ((!holder || (pid && pxt_port_process_gone(pid))) && take(holder, self))
			return true;
		if (pid && slices >= UNASKED && pxt_port_process_stopped(pid))
			return false;
		if (!pxt_patience_pause(patience, SLICE_NS))
			return false;
	}
}

static void unlock_forks(void)
{
	atomic_store_explicit(&pxt_directory->lock, 0u, memory_order_release);
}

const struct pxt_forks_ops pxt_forks_ops = {
	.any = any,
	.begin = begin,
	.keeps = keeps,
	.after_fork = after_fork,
	.start = start,
	.sign = sign,
	.foreign = foreign,
	.gone = gone,
	.lock = lock_forks,
	.unlock = unlock_forks,
};
