/* SPDX-License-Identifier: MIT */
/*
 * gate.h - whether a stream runs, and which automatic STOP and START its reader has yet to get; the event filter
 * at the trace point: whether the stream admits an event (pxt_admit()).
 *
 *   concurrency: writers read the gate, and turn it to "stopped automatically"
 *   (core/record/slowpath.h); all else here belongs to a thread that holds the stream's mutex.
 *
 * The gate is one word, which writers read once for each event: PXT_GATE_... in block.h.  After it
 * is the phase, which no writer sees.  A stream that does not overwrite is stopped by the writer that
 * fills it, and runs again when it was emptied.  No thread records these two moments: the consumer makes
 * a STOP and a START of them.  The phase says which of the two are due:
 *
 *   phase        gate           due
 *   PLAIN        OFF, RUNNING   nothing
 *   PLAIN        AUTO           STOP, after the last record
 *   STOP_TOLD    AUTO           the restart; STOP was handed out
 *   START_DUE    any            START, before the next record; with AUTO also STOP, after the last
 *   STOP_OWED    OFF            STOP: a call stopped the stream before the consumer came to it
 *   BOTH_OWED    OFF            START, records, STOP
 *
 * pxt_gate_step() is the only function that changes the phase; the model is proof/gate.pml.
 */
#ifndef PXT_GATE_H
#define PXT_GATE_H

#include "core/stream/block.h"

enum pxt_phase {
	PXT_PHASE_PLAIN,
	PXT_PHASE_STOP_TOLD,
	PXT_PHASE_START_DUE,
	PXT_PHASE_STOP_OWED,
	PXT_PHASE_BOTH_OWED,
	PXT_PHASES
};

/* What happens to a stream, as far as the phase is concerned. */
enum pxt_gate_step {
	PXT_STEP_START,        /* started by call */
	PXT_STEP_STOP,         /* stopped by call */
	PXT_STEP_STOP_AUTO,    /* stopped by call, when a writer had stopped it before */
	PXT_STEP_STOP_PUT,     /* the automatic STOP became an out-of-band record */
	PXT_STEP_STOP_TOLD,    /* the automatic STOP was handed out */
	PXT_STEP_START_TOLD,   /* the automatic START was handed out */
	PXT_STEP_RESTART,      /* runs again; its START is wanted */
	PXT_STEP_RESTART_MUTE, /* runs again; START is filtered */
	PXT_STEP_CLEAR,        /* emptied by call */
	PXT_STEPS
};

void pxt_gate_step(struct pxt_block *block, enum pxt_gate_step step);

PXT_INLINE bool pxt_gate_owes_start(const struct pxt_block *block)
{
	return block->phase == PXT_PHASE_START_DUE || block->phase == PXT_PHASE_BOTH_OWED;
}

PXT_INLINE bool pxt_gate_owes_stop(const struct pxt_block *block)
{
	return block->phase == PXT_PHASE_STOP_OWED || block->phase == PXT_PHASE_BOTH_OWED;
}

/* The automatic STOP was handed out, and the stream has not been restarted since. */
PXT_INLINE bool pxt_gate_stop_told(const struct pxt_block *block)
{
	return block->phase == PXT_PHASE_STOP_TOLD;
}

/* A writer stopped it, and the consumer has not seen it run since. */
bool pxt_gate_was_auto(struct pxt_block *block);
/* ... and its STOP was not read yet. */
bool pxt_gate_stop_is_due(struct pxt_block *block);

/*
 * Turns the gate to @state, and the bits of @turn.  Release: writers that see the new gate see lanes
 * and filter as they were made for it.
 */
void pxt_gate_switch(struct pxt_block *block, uint32_t state, uint32_t turn);
/* After close(), reservations fail; after open(), they succeed again. */
void pxt_gate_close_lanes(struct pxt_block *block);
void pxt_gate_open_lanes(struct pxt_block *block);
/* A run begins, by call or by itself: nothing is known of how it will end. */
void pxt_gate_begin_run(struct pxt_block *block);

/*
 * Does this stream admit this event?  The filter's data and the answer at the trace point, inline; only
 * the call that sets it belongs to the Event Filter unit (filter/filter.c).
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
PXT_OFF_RETURNS(true, bool, pxt_admit, struct pxt_block *block, uint32_t gate, uint32_t id);
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
PXT_OFF_RETURNS(block, const void *, pxt_admit_set, const struct pxt_block *block, uint32_t gate);

PXT_OFF_RETURNS(block, const void *, pxt_admit_start_data, const struct pxt_block *block);
PXT_OFF(pxt_admit_note_start, struct pxt_block *block, uint32_t gate);

#define PXT_OOB_SET_AT  0u
PXT_OFF_RETURNS(block, void *, pxt_admit_oob_data, struct pxt_block *block);
PXT_OFF(pxt_admit_copy, struct pxt_block *to, struct pxt_block *from);
PXT_OFF(pxt_admit_empty, struct pxt_block *block, uint32_t gate);
#define PXT_CLEAR_TURNS 0u
#endif

#endif
