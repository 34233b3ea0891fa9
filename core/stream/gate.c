/* SPDX-License-Identifier: MIT */
/* gate.c - running, stopped by call, stopped automatically; the filter, of system events; see gate.h. */
#include "core/stream/gate.h"

#include "base/attr.h"

/* Short names of the phases, for the table alone. */
enum {
	P = PXT_PHASE_PLAIN,
	T = PXT_PHASE_STOP_TOLD,
	S = PXT_PHASE_START_DUE,
	O = PXT_PHASE_STOP_OWED,
	B = PXT_PHASE_BOTH_OWED
};

/* Where each step leads from each phase; a step that cannot happen there changes nothing. */
/* clang-format off */
static const uint8_t next_phase[PXT_STEPS][PXT_PHASES] = {
	/*                          P  T  S  O  B */
	[PXT_STEP_START] =        { P, P, S, O, B },
	[PXT_STEP_STOP] =         { P, P, S, O, B },
	[PXT_STEP_STOP_AUTO] =    { O, P, B, O, B },
	[PXT_STEP_STOP_PUT] =     { P, T, S, P, S },
	[PXT_STEP_STOP_TOLD] =    { T, T, S, P, B },
	[PXT_STEP_START_TOLD] =   { P, T, P, O, O },
	[PXT_STEP_RESTART] =      { S, S, S, O, B },
	[PXT_STEP_RESTART_MUTE] = { P, P, P, O, B },
	[PXT_STEP_CLEAR] =        { P, P, P, P, P },
};
/* clang-format on */

void pxt_gate_step(struct pxt_block *block, enum pxt_gate_step step)
{
	block->phase = next_phase[step][block->phase];
}

bool pxt_gate_was_auto(struct pxt_block *block)
{
	return pxt_block_state(block) == PXT_GATE_AUTO || pxt_gate_owes_stop(block);
}

bool pxt_gate_stop_is_due(struct pxt_block *block)
{
	return pxt_gate_was_auto(block) && !pxt_gate_stop_told(block);
}

void pxt_gate_switch(struct pxt_block *block, uint32_t state, uint32_t turn)
{
	uint32_t gate = atomic_load_explicit(&block->gate, memory_order_relaxed);
	uint32_t next;

	/* Only a writer's automatic stop can come between, once per generation. */
	do {
		next = ((gate & ~PXT_GATE_STATE) | state) ^ turn;
		if (turn)
			next = (next & ~PXT_GATE_FILTERED) | PXT_GATE_FIRST;
		if (state == PXT_GATE_RUNNING)
			next += PXT_GATE_GENERATION;
	} while (!atomic_compare_exchange_weak_explicit(
	    &block->gate, &gate, next, memory_order_acq_rel, memory_order_relaxed));
	PXT_TESTPOINT(PXT_TP_GATE_TURNED);
}

void pxt_gate_close_lanes(struct pxt_block *block)
{
	for (uint32_t i = 0; i <= pxt_block_last(block); i++) {
		pxt_cursor_close(&pxt_block_lane(block, i)->head);
		PXT_TESTPOINT(PXT_TP_CLOSED_LANE);
	}
}

void pxt_gate_open_lanes(struct pxt_block *block)
{
	for (uint32_t i = 0; i <= pxt_block_last(block); i++)
		pxt_cursor_open(&pxt_block_lane(block, i)->head);
}

void pxt_gate_begin_run(struct pxt_block *block)
{
	block->freed_since_full = 0;
	pxt_wide_set(&block->auto_stop_ticks, 0);
}

/* ---- Whether an event passes a stream's filter: of the system's own, here ---- */

/* Bit i: this configuration makes events of system type i. */
static const uint32_t system_events =
    (uint32_t)CONFIG_PTRACE_SYSEV_ERROR << PXT_ID_SYSTEM_FIRST |
    (uint32_t)CONFIG_PTRACE_SYSEV_START_STOP * (1u << 2 | 1u << 3) |
    (uint32_t)CONFIG_PTRACE_SYSEV_OVERFLOW_RESUME * (1u << 4 | 1u << 5) |
    (uint32_t)CONFIG_PTRACE_SYSEV_FILTER << 6 |
    (uint32_t)CONFIG_PTRACE_SYSEV_FLUSH * (1u << 7 | 1u << 8);

bool pxt_admit_system(struct pxt_block *block, uint32_t id)
{
	uint32_t gate = atomic_load_explicit(&block->gate, memory_order_acquire);

	/* Another process counts what is recorded for it; it makes system events of its own. */
	return (system_events >> id & 1u) && !pxt_attr_producer(&block->attr) &&
	       pxt_admit(block, gate, id);
}
