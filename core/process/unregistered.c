/* SPDX-License-Identifier: MIT */
/* unregistered.c - threads without a place in the table: counted in and out; see unregistered.h. */
#include "core/process/unregistered.h"

struct pxt_unregistered pxt_unregistered;

uint32_t pxt_unregistered_enter(struct pxt_unregistered *outside)
{
	uint32_t index = atomic_load_explicit(&outside->index, memory_order_relaxed) & 1u;

	atomic_fetch_add_explicit(&outside->inside[index], 1u, memory_order_seq_cst);
	return index;
}

/* Release: a thread that sees the number go down sees no later access of this trace point. */
void pxt_unregistered_leave(struct pxt_unregistered *outside, uint32_t index)
{
	atomic_fetch_sub_explicit(&outside->inside[index], 1u, memory_order_release);
}
