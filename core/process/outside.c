/* SPDX-License-Identifier: MIT */
/* outside.c - counting in and out; see outside.h. */
#include "core/process/outside.h"

struct pxt_outside pxt_outside;

uint32_t pxt_outside_enter(struct pxt_outside *outside)
{
	uint32_t turn = atomic_load_explicit(&outside->turn, memory_order_relaxed) & 1u;

	atomic_fetch_add_explicit(&outside->inside[turn], 1u, memory_order_seq_cst);
	return turn;
}

/* Release: whoever sees the number go down sees no later access of this trace point. */
void pxt_outside_leave(struct pxt_outside *outside, uint32_t turn)
{
	atomic_fetch_sub_explicit(&outside->inside[turn], 1u, memory_order_release);
}
