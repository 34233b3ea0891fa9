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
 *
 * The set is also the data of START.  What is here of that is under the stream's mutex.
 */
#ifndef PXT_ADMIT_H
#define PXT_ADMIT_H

#include "core/stream/block.h"

#include <stddef.h>

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

/* ---- The filter as the data of START, and where that is kept until START is read ---- */

#if CONFIG_PTRACE_FILTER
/*
 * The filter in force, as the data of START.  An automatic START that is due has its own copy: filter
 * and stream may change before it is read, and another START by call may come after it.
 */
PXT_INLINE const void *pxt_admit_set(const struct pxt_block *block, uint32_t gate)
{
	return block->filter[gate & PXT_GATE_FILTER ? 1 : 0];
}

PXT_INLINE const void *pxt_admit_start_data(const struct pxt_block *block)
{
	return block->start_set;
}

/* Copies the filter in force to where an automatic START's data is taken from. */
PXT_INLINE void pxt_admit_note_start(struct pxt_block *block, uint32_t gate)
{
	for (uint32_t i = 0; i < PXT_SET_WORDS; i++)
		block->start_set[i] = atomic_load_explicit(
		    &block->filter[gate & PXT_GATE_FILTER ? 1 : 0][i], memory_order_relaxed);
}

/* Data of the START that is beside the lanes. */
#define PXT_OOB_SET_AT offsetof(struct pxt_block, oob_set)
PXT_INLINE void *pxt_admit_oob_data(struct pxt_block *block)
{
	return block->oob_set;
}

/* Both sets, and the one of the last automatic START. */
PXT_INLINE void pxt_admit_copy(struct pxt_block *to, struct pxt_block *from)
{
	for (uint32_t i = 0; i < PXT_SET_WORDS; i++) {
		for (unsigned set = 0; set < 2u; set++)
			atomic_store_explicit(&to->filter[set][i],
			    atomic_load_explicit(&from->filter[set][i], memory_order_relaxed),
			    memory_order_relaxed);
		to->start_set[i] = from->start_set[i];
		to->oob_set[i] = from->oob_set[i];
	}
}

/* What a new stream leaves out: nothing, or the users' types. */
PXT_INLINE uint32_t pxt_admit_first(uint32_t word)
{
	if (!CONFIG_PTRACE_START_FILTERED)
		return 0;
	return word ? UINT32_MAX : UINT32_MAX << PXT_ID_UNNAMED;
}

/* Into the set that is not in force: as of a new stream. */
PXT_INLINE void pxt_admit_empty(struct pxt_block *block, uint32_t gate)
{
	for (uint32_t i = 0; i < PXT_SET_WORDS; i++)
		atomic_store_explicit(&block->filter[gate & PXT_GATE_FILTER ? 0 : 1][i],
		    pxt_admit_first(i), memory_order_relaxed);
}
#define PXT_CLEAR_TURNS PXT_GATE_FILTER
#else
PXT_INLINE const void *pxt_admit_set(const struct pxt_block *block, uint32_t gate)
{
	(void)gate;
	return block;
}

PXT_INLINE const void *pxt_admit_start_data(const struct pxt_block *block)
{
	return block;
}

PXT_INLINE void pxt_admit_note_start(struct pxt_block *block, uint32_t gate)
{
	(void)block;
	(void)gate;
}

#define PXT_OOB_SET_AT  0u
PXT_INLINE void *pxt_admit_oob_data(struct pxt_block *block)
{
	return block;
}

PXT_INLINE void pxt_admit_copy(struct pxt_block *to, struct pxt_block *from)
{
	(void)to;
	(void)from;
}

PXT_INLINE void pxt_admit_empty(struct pxt_block *block, uint32_t gate)
{
	(void)block;
	(void)gate;
}
#define PXT_CLEAR_TURNS 0u
#endif

#endif
