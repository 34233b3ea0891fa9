/* SPDX-License-Identifier: MIT */
/* family.c - streams that are inherited over fork; see family.h. */
#include "core/family.h"

#include "core/directory.h"
#include "core/wanted.h"

#include <stdatomic.h>

/* How long a relative may hold the lock: it copies a name meanwhile. */
#define PATIENCE_NS UINT64_C(1000000000)
#define SLICE_NS    UINT64_C(50000)

static bool has_relatives;

bool pxt_family(void)
{
	return has_relatives;
}

void pxt_family_begin(void)
{
	has_relatives = true;
	pxt_port_fence_relatives();
}

/*
 * The parent's threads went on while the child was made: what is found here is as one of them left
 * it.  A stream that can be found by writers is whole, and its memory is the child's own mapping.
 */
bool pxt_family_keeps(unsigned index)
{
	/* Not the block: another one's memory is not in the child. */
	return (pxt_streams[index].inherited || pxt_streams[index].theirs) &&
	       atomic_load_explicit(&pxt_blocks[index], memory_order_acquire);
}

bool pxt_family_after_fork(void)
{
	has_relatives = false;
	for (unsigned i = 0; i < CONFIG_PTRACE_MAX_STREAMS; i++)
		has_relatives |= pxt_streams[i].theirs;
	if (has_relatives) {
		pxt_port_fence_relatives();
		pxt_wanted_inherited();
	}
	return has_relatives;
}

bool pxt_family_gone(const struct pxt_thread *entry)
{
	return pxt_family_foreign(entry) &&
	       pxt_port_process_gone(atomic_load_explicit(&entry->pid, memory_order_relaxed));
}

/*
 * The word holds the pid of who is inside.  What the lock keeps apart, names and descriptions, is
 * published by one store behind everything else, so whoever takes the lock over from the dead
 * finds the directory whole.
 */
bool pxt_family_lock(void)
{
	_Atomic int32_t *lock = &pxt_directory->lock;
	const int32_t self = pxt_process_pid();
	struct pxt_patience patience;

	pxt_patience_begin(&patience, PATIENCE_NS);
	for (;;) {
		int32_t holder = 0;

		/* Acquire: names that others have added are seen. */
		if (atomic_compare_exchange_strong_explicit(
		        lock, &holder, self, memory_order_acquire, memory_order_relaxed))
			return true;
		if (pxt_port_process_gone(holder) &&
		    atomic_compare_exchange_strong_explicit(
		        lock, &holder, self, memory_order_acquire, memory_order_relaxed))
			return true;
		if (!pxt_patience_pause(&patience, SLICE_NS))
			return false;
	}
}

void pxt_family_unlock(void)
{
	atomic_store_explicit(&pxt_directory->lock, 0, memory_order_release);
}
