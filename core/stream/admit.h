/* SPDX-License-Identifier: MIT */
/*
 * admit.h - may this event enter this stream?  The filter's data and the answer, inline; only
 * the call that sets it belongs to the Event Filter unit.
 *
 *   concurrency     admits     set_filter, clear
 *   admits                 -              -
 *   set_filter, clear      -              X            X: both locks (core/stream/stream.h)
 *
 * The set in force is not written: a change writes the other one and turns the gate, and set_filter
 * waits for the trace points that are inside before and after it.
 */
#ifndef PXT_ADMIT_H
#define PXT_ADMIT_H

#include "core/stream/block.h"

#if CONFIG_PTRACE_FILTER
/* Acquire of the gate pairs with set_filter()'s release: the set it names is complete. */
PXT_INLINE bool pxt_admit(struct pxt_block *block, uint32_t gate, uint32_t id)
{
	const uint32_t which = gate & PXT_GATE_FILTER ? 1u : 0u;

	if (PXT_LIKELY(!(gate & PXT_GATE_FILTERED)))
		return true;
	return !(atomic_load_explicit(&block->filter[which][id / 32u], memory_order_relaxed) >>
	             id % 32u &
	         1u);
}
#else
PXT_INLINE bool pxt_admit(struct pxt_block *block, uint32_t gate, uint32_t id)
{
	(void)block;
	(void)gate;
	(void)id;
	return true;
}
#endif

/* True when this configuration makes events of system type @id, and @block's filter lets it in. */
bool pxt_admit_system(struct pxt_block *block, uint32_t id);

#endif
