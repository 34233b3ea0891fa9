/* SPDX-License-Identifier: MIT */
/*
 * gate.h - whether a stream runs, and which automatic STOP and START its reader has yet to get.
 *
 *   concurrency: writers read the gate, and turn it to "stopped automatically"
 *   (core/record/autostop.h); all else here belongs to a thread that holds the stream's mutex.
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

#endif
