/* SPDX-License-Identifier: MIT */
/* barrier_none.c - START and STOP where this configuration makes no such events; see barrier.h. */
#include "core/control/barrier.h"

#include "core/stream/gate.h"

bool pxt_barrier_put(
    struct pxt_block *block, uint32_t id, const void *data, uint32_t bytes, const void *caller)
{
	(void)block;
	(void)id;
	(void)data;
	(void)bytes;
	(void)caller;
	return true;
}

void pxt_barrier_put_stop(struct pxt_block *block, int why, const void *caller)
{
	(void)block;
	(void)why;
	(void)caller;
}

bool pxt_barrier_put_owed_stop(struct pxt_block *block)
{
	pxt_gate_step(block, PXT_STEP_STOP_PUT);
	return true;
}

bool pxt_barrier_start_has_place(struct pxt_block *block)
{
	(void)block;
	return true;
}

bool pxt_barrier_is_full(struct pxt_block *block)
{
	return pxt_block_room(block) == 0 || (pxt_gate_was_auto(block) && !block->freed_since_full);
}
