/* SPDX-License-Identifier: MIT */
/* memory.c - allocations that fail, and how much of what was allocated is there. */
#include "fakes.h"

#include <limits.h>
#include <time.h>

struct pxt_fault pxt_fault_alloc;
struct pxt_fault pxt_fault_shared;
void (*_Atomic pxt_fault_alloc_meanwhile)(void);
atomic_long pxt_live_blocks;
atomic_long pxt_live_bytes;

static void *counted(void *memory, size_t bytes)
{
	if (memory) {
		atomic_fetch_add(&pxt_live_blocks, 1);
		atomic_fetch_add(&pxt_live_bytes, (long)bytes);
	}
	return memory;
}

PXT_WRAPPED(void *, pxt_port_alloc, (size_t bytes))
{
	void (*meanwhile)(void) = atomic_exchange(&pxt_fault_alloc_meanwhile, NULL);

	if (meanwhile)
		meanwhile();
	return pxt_fault_hit(&pxt_fault_alloc) ? NULL
	                                       : counted(__real_pxt_port_alloc(bytes), bytes);
}

PXT_WRAPPED(void *, pxt_port_alloc_shared, (size_t bytes))
{
	return pxt_fault_hit(&pxt_fault_shared)
	           ? NULL
	           : counted(__real_pxt_port_alloc_shared(bytes), bytes);
}

PXT_WRAPPED(void *, pxt_port_alloc_sparse, (size_t bytes))
{
	return counted(__real_pxt_port_alloc_sparse(bytes), bytes);
}

/* Also of files that were mapped: filemap.c, view.c. */
PXT_WRAPPED(void, pxt_port_free, (void *memory, size_t bytes))
{
	if (memory) {
		atomic_fetch_sub(&pxt_live_blocks, 1);
		atomic_fetch_sub(&pxt_live_bytes, (long)bytes);
	}
	__real_pxt_port_free(memory, bytes);
}

/* ---- Which call fails ---- */

static void arm(struct pxt_fault *fault, unsigned first, unsigned last, int error)
{
	fault->first = first;
	fault->last = last;
	fault->error = error;
	fault->accept = 0;
	atomic_store(&fault->calls, 0);
}

void pxt_fault_arm(struct pxt_fault *fault, unsigned n, int error)
{
	arm(fault, n, n, error);
}

void pxt_fault_arm_from(struct pxt_fault *fault, unsigned n, int error)
{
	arm(fault, n, UINT_MAX, error);
}

bool pxt_fault_hit(struct pxt_fault *fault)
{
	unsigned call = atomic_fetch_add(&fault->calls, 1) + 1;

	return fault->first != 0 && call >= fault->first && call <= fault->last;
}

/* ---- Waits that are interrupted, and a system without membarrier ---- */

struct pxt_fault pxt_fault_wait;
struct pxt_fault pxt_fault_fence;

PXT_WRAPPED(int, pxt_port_wait,
    (_Atomic uint32_t *word, uint32_t expected, const struct timespec *until, uint64_t slice_ns))
{
	if (pxt_fault_hit(&pxt_fault_wait))
		return pxt_fault_wait.error;
	return __real_pxt_port_wait(word, expected, until, slice_ns);
}

PXT_WRAPPED(bool, pxt_port_fence_all, (void))
{
	return pxt_fault_hit(&pxt_fault_fence) ? false : __real_pxt_port_fence_all();
}
