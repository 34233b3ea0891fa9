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
	if (!atomic_compare_exchange_strong_explicit(
	        &block->gate, &seen, stopped, memory_order_acq_rel, memory_order_relaxed))
		return;
	PXT_TESTPOINT(PXT_TP_AUTO_STOPPED);
	/* May come late or never (a kill): then the consumer takes the last record's stamp. */
	pxt_wide_set(&block->auto_stop_ticks, pxt_port_ticks());
}

/* The last place, or none. */
static PXT_COLD bool take_last(
    struct pxt_block *block, uint32_t gate, struct pxt_lane *lane, enum pxt_reserve got)
{
	if (got == PXT_NO_ROOM)
		PXT_TESTPOINT(PXT_TP_FULL);
	if (got != PXT_CLOSED)
		pxt_autostop_switch(block, gate);
	if (got == PXT_RESERVED_LAST)
		return true;
	/* Not before the stop: what is refused while the stream runs belongs to a run before. */
	pxt_block_refuse(block, lane);
	return false;
}

/* A place, or an automatic stop. */
PXT_INLINE bool take(
    struct pxt_block *block, uint32_t gate, struct pxt_place *place, uint32_t slots, unsigned how)
{
	enum pxt_reserve got = pxt_ring_reserve(place, slots, how | PXT_TAKE_FREE);

	return got == PXT_RESERVED || take_last(block, gate, place->ring.lane, got);
}

/* A place in a stream that overwrites. */
static bool overwrite(
    struct pxt_block *block, struct pxt_place *place, uint32_t slots, unsigned how)
{
	bool got = pxt_ring_reserve(place, slots, how) == PXT_RESERVED;

	if (!got)
		pxt_block_refuse(block, place->ring.lane);
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
			return overwrite(block, place, slots, how);
	}
	how &= ~PXT_AUTOSTOP_SEEN;
	if (gate & PXT_GATE_DISCARDS)
		return pxt_discard_reserve(block, place, slots, how);
	if ((gate & PXT_GATE_STATE) == PXT_GATE_RUNNING)
		return take(block, gate, place, slots, how);
	PXT_TESTPOINT(PXT_TP_FULL);
	pxt_block_refuse(block, place->ring.lane);
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
		pxt_block_refuse(block, place->ring.lane);
		return false;
	}
	return take(block, gate, place, slots, how);
}
