/* SPDX-License-Identifier: MIT */
/*
 * block.c - the memory of a stream: where its lanes are, how much room is left, who sleeps (block.h); its gate
 * (gate.h).
 */
#include "core/stream/block.h"

#include "base/attr.h"
#include "core/process/process.h"
#include "core/stream/gate.h"

void pxt_block_lay_out(struct pxt_block *block)
{
	const uint32_t lanes = pxt_block_lanes(block);
	const size_t ring = ((size_t)block->slot_mask + 1u) * sizeof(pxt_cell);

	block->lane_stride = sizeof(struct pxt_lane);
	for (uint32_t i = 0; i < lanes; i++) {
		struct pxt_lane *lane = pxt_block_lane(block, i);

		lane->cells_at = (lanes - i) * sizeof(struct pxt_lane) + i * ring;
		lane->reader_cells_at = lane->cells_at;
	}
}

uint32_t pxt_block_announce_sleep(struct pxt_block *block)
{
	uint32_t seen = atomic_load_explicit(&block->asleep, memory_order_relaxed);

	/* Another one sleeps already: what wakes it wakes this one, too. */
	if (seen & PXT_ASLEEP)
		return seen;
	block->sleeps += PXT_SLEEP_STEP;
	seen = block->sleeps | PXT_WOKEN | PXT_ASLEEP;
	atomic_store_explicit(&block->asleep, seen, memory_order_seq_cst);
	return seen;
}

/* [proof: woken] */
void pxt_block_wake(struct pxt_block *block)
{
	uint32_t seen;

	/* A thread that is about to sleep does not. */
	(void)atomic_fetch_and_explicit(&block->asleep, ~PXT_ASLEEP, memory_order_acq_rel);
	seen = atomic_load_explicit(&block->asleep, memory_order_relaxed);
	/* 0: another writer has done it.  A new sleeper has looked after the record was stored. */
	if (!seen || (seen & PXT_ASLEEP))
		return;
	PXT_TESTPOINT(PXT_TP_WAKES);
	pxt_port_wake(&block->asleep);
	/* Not before: a writer that ends in between leaves the rest to the next.  Of this sleep alone. */
	(void)atomic_compare_exchange_strong_explicit(
	    &block->asleep, &seen, 0u, memory_order_relaxed, memory_order_relaxed);
}

PXT_COLD void pxt_block_refuse(struct pxt_block *block, struct pxt_lane *lane)
{
	pxt_counter_up(&lane->refused);
	/* Pairs with the exchange of the reader, which counts behind it: one of the two sees the other. */
	atomic_thread_fence(memory_order_seq_cst);
	if (!atomic_load_explicit(&block->unreported, memory_order_relaxed))
		atomic_store_explicit(&block->unreported, 1u, memory_order_release);
	pxt_block_wake_at(block, UINT32_MAX);
}

uint32_t pxt_block_room(struct pxt_block *block)
{
	uint32_t least = block->slot_mask + 1u;

	if (block->full_policy == POSIX_TRACE_LOOP)
		return least;
	for (uint32_t i = 0; i <= pxt_block_last(block); i++) {
		struct pxt_lane *lane = pxt_block_lane(block, i);
		uint32_t used = pxt_head_pos(pxt_cursor_load(&lane->head)) -
		                atomic_load_explicit(&lane->limit, memory_order_acquire);
		uint32_t left = used < block->slot_mask + 1u ? block->slot_mask + 1u - used : 0u;

		least = left < least ? left : least;
	}
	return least;
}

/* ---- What stands for the hot stream where there is none (core/process/process.h) ---- */

/* As far into a block as a trace point looks that finds no hot stream. */
struct pxt_no_hot {
	PXT_ALIGNED(PXT_CACHE_LINE) unsigned char before[offsetof(struct pxt_block, no_short)];
	uint32_t no_short;
};

const struct pxt_no_hot pxt_no_hot = { .no_short = 1u };

/* ---- The gate: running, stopped by call, stopped automatically; the filter, of system events (gate.h) ---- */

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
