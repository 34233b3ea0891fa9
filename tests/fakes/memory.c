/* SPDX-License-Identifier: MIT */
/* memory.c - allocations that fail, and how much of what was allocated is there. */
#include "fakes.h"
#include "wrap.h"

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
