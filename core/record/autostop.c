/* SPDX-License-Identifier: MIT */
/*
 * autostop.c - the policies that do not overwrite, as a writer meets them: who fills the stream stops
 * it; see autostop.h.
 */
#include "core/record/autostop.h"

PXT_COLD void pxt_autostop_switch(struct pxt_block *block, uint32_t gate)
{
	uint32_t seen = gate;
	uint32_t stopped = (gate & ~PXT_GATE_STATE) | PXT_GATE_AUTO;

	if ((gate & PXT_GATE_STATE) != PXT_GATE_RUNNING)
		return;
	/* Release: who sees the stream stopped sees the refusal counted. */
	if (!atomic_compare_exchange_strong_explicit(
	        &block->gate, &seen, stopped, memory_order_acq_rel, memory_order_relaxed))
		return;
	PXT_TESTPOINT(PXT_TP_AUTO_STOPPED);
	/* May come late or never (a kill): then the consumer takes the last record's stamp. */
	pxt_wide_set(&block->auto_stop_ticks, pxt_port_ticks());
	pxt_block_wake(block);
}

/* A place, or an automatic stop. */
PXT_INLINE bool take(
    struct pxt_block *block, uint32_t gate, struct pxt_place *place, uint32_t slots, unsigned how)
{
	enum pxt_reserve got = pxt_ring_reserve(place, slots, how | PXT_TAKE_FREE);

	if (got == PXT_RESERVED)
		return true;
	if (got != PXT_RESERVED_LAST)
		pxt_counter_up(&place->ring.lane->refused);
	if (got == PXT_CLOSED)
		return false;
	if (got == PXT_NO_ROOM)
		PXT_TESTPOINT(PXT_TP_FULL);
	pxt_autostop_switch(block, gate);
	return got == PXT_RESERVED_LAST;
}

/* A place in a stream that overwrites. */
static bool overwrite(struct pxt_place *place, uint32_t slots, unsigned how)
{
	bool got = pxt_ring_reserve(place, slots, how) == PXT_RESERVED;

	if (!got)
		pxt_counter_up(&place->ring.lane->refused);
	return got;
}

/* Without an automatic stop, or after a look at the event. */
static PXT_NOINLINE bool reserve_otherwise(
    struct pxt_block *block, uint32_t gate, struct pxt_place *place, uint32_t slots, unsigned how)
{
	if (PXT_UNLIKELY((gate & PXT_GATE_INSPECTED) && !(how & PXT_AUTOSTOP_SEEN))) {
		slots = pxt_inspect_slots(block, &((struct pxt_inspect_candidate *)place)->event);
		if (!slots)
			return false;
		if (!(gate & PXT_GATE_KEEPS))
			return overwrite(place, slots, how);
	}
	how &= ~PXT_AUTOSTOP_SEEN;
	if (gate & PXT_GATE_DISCARDS)
		return pxt_discard_reserve(place, slots, how);
	if ((gate & PXT_GATE_STATE) == PXT_GATE_RUNNING)
		return take(block, gate, place, slots, how);
	PXT_TESTPOINT(PXT_TP_FULL);
	pxt_counter_up(&place->ring.lane->refused);
	return false;
}

bool pxt_autostop_reserve(
    struct pxt_block *block, uint32_t gate, struct pxt_place *place, uint32_t slots, unsigned how)
{
	/* One test for all: what has an automatic stop pays nothing for what has none. */
	if (PXT_UNLIKELY((gate & (PXT_GATE_STATE | PXT_GATE_DISCARDS | PXT_GATE_INSPECTED)) !=
	                 PXT_GATE_RUNNING)) {
		if (gate & (PXT_GATE_DISCARDS | PXT_GATE_INSPECTED))
			return reserve_otherwise(block, gate, place, slots, how);
		PXT_TESTPOINT(PXT_TP_FULL);
		pxt_counter_up(&place->ring.lane->refused);
		return false;
	}
	return take(block, gate, place, slots, how);
}
