/* SPDX-License-Identifier: MIT */
/*
 * forks.c - streams that are inherited over fork, and the lock on names that forked processes share: for how
 * long, and for whom, a process that wants it waits; the inheritance attribute; see forks.h.
 */
#include "core/process/forks.h"
#include "base/attr.h"
#include "core/process/directory.h"
#include "core/stream/stream.h"
#include "core/stream/wanted.h"

#define SLICE_NS 50000u
/* Slices that the lock's holder, which copies a name, gets before it is checked whether it lives. */
#define UNASKED  20u

static bool has_forks;

static bool any(void)
{
	return has_forks;
}

/*
 * The parent's threads went on while the child was made: what is found here is as one of them left
 * it.  A stream that can be found by writers is whole, and its memory is the child's own mapping.
 */
static bool keeps(unsigned index)
{
	/* Not the block: another one's memory is not in the child. */
	return (pxt_streams[index].inherited || pxt_streams[index].theirs) &&
	       pxt_stream_block(index);
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
	for (uint32_t i = 0; pxt_forks_space && i < PXT_SPACES; i++) {
		uint32_t found = 0;

		if (atomic_compare_exchange_strong_explicit(&pxt_directory->spaces[i], &found,
		        pxt_forks_space, memory_order_relaxed, memory_order_relaxed) ||
		    found == pxt_forks_space)
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

void pxt_forks_begin(void)
{
	static const struct pxt_forks_ops ops = {
		.any = any,
		.keeps = keeps,
		.after_fork = after_fork,
		.lock = lock_forks,
		.unlock = unlock_forks,
	};

	if (!has_forks) {
		pxt_forks_ask_space();
		pxt_threads_sign_again();
	}
	has_forks = true;
	pxt_port_fence_processes();
	atomic_store_explicit(&pxt_forks_ops, &ops, memory_order_release);
}

/* ---- The inheritance attribute; what it does, Core does (core/process/forks.h) ---- */

PXT_ATTR_GETTER(posix_trace_attr_getinherited, int, inheritancepolicy, kept->_pxt_inherit);

PXT_ATTR_SETTER(posix_trace_attr_setinherited, int, inheritancepolicy, _pxt_inherit,
    !pxt_forks_known(inheritancepolicy));
