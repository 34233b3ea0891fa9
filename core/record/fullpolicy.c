/* SPDX-License-Identifier: MIT */
/*
 * fullpolicy.c - what a full stream does that does not overwrite (UNTIL_FULL, FLUSH, DISCARD): the writer
 * that fills it stops it (automatic stop); with DISCARD it is refused; see slowpath.h.
 */
#define PXT_TRACE_PATH /* format/compiler.h */
#include "core/record/slowpath.h"

/*
 * No record takes the fast path any more: it would be taken in a lane that has room.  Each stop leaves another
 * value, far behind head, so that the exchange of a writer that read one before fails.
 */
static PXT_COLD void end_fast(struct pxt_block *block, uint32_t gate)
{
	const uint32_t behind = (UINT32_C(1) << 28) + ((gate / PXT_GATE_GENERATION & 0xfffu) << 16);

	/* Bound: the stream's lanes. */
	PXT_BOUND(lanes, pxt_block_lanes(block));
	for (uint32_t i = 0; i <= pxt_block_last(block); i++) {
		struct pxt_lane *lane = pxt_block_lane(block, i);

		PXT_ROUND(lanes);
		/* Release: pairs with the acquire in take(): who reads this finds the gate turned. */
		atomic_store_explicit(&lane->fast_end,
		    pxt_head_pos(pxt_cursor_peek(&lane->head)) - behind, memory_order_release);
	}
}

PXT_COLD void pxt_fullpolicy_switch(struct pxt_block *block, uint32_t gate)
{
	uint32_t seen = gate;
	uint32_t stopped = (gate & ~PXT_GATE_STATE) | PXT_GATE_AUTO;

	if ((gate & PXT_GATE_STATE) != PXT_GATE_RUNNING)
		return;
	if (!atomic_compare_exchange_strong_explicit(
	        &block->gate, &seen, stopped, memory_order_acq_rel, memory_order_relaxed))
		return;
	PXT_TESTPOINT(PXT_TP_AUTO_STOPPED);
	end_fast(block, gate);
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
		pxt_fullpolicy_switch(block, gate);
	if (got == PXT_RESERVED_LAST)
		return true;
	/* Not before the stop: what is refused while the stream runs belongs to a run before. */
	pxt_block_refuse(block, lane);
	return false;
}

/* So far behind head `fast_end` never falls: as a difference of 32 bits it would soon be ahead. */
#define FAR_BEHIND (UINT32_C(1) << 30)

/*
 * A record was taken: those behind it are usual ones as long as they leave a slot free, and are below the
 * mark.  Not where a writer has stopped the stream since @gate was read: with @fast_end, which was read behind it,
 * that is seen here, or the exchange fails.
 */
PXT_INLINE void raise_fast_end(struct pxt_block *block, uint32_t gate,
    const struct pxt_place *place, uint32_t slots, uint32_t fast_end)
{
	const uint32_t size = place->ring.mask + 1u;
	const uint32_t most = block->mark && block->mark < size ? block->mark : size;
	const uint32_t end = place->pos + slots + pxt_carry(place->seq);

	if (PXT_UNLIKELY(atomic_load_explicit(&block->gate, memory_order_relaxed) != gate))
		return;
	if (place->used < most)
		pxt_ring_raise_fast_end(
		    &place->ring, fast_end, end, end - place->used + most - 1u - size);
	else if (PXT_UNLIKELY(end - fast_end > FAR_BEHIND))
		(void)atomic_compare_exchange_strong_explicit(&place->ring.lane->fast_end,
		    &fast_end, end, memory_order_relaxed, memory_order_relaxed);
}

/* A place, or an automatic stop. */
PXT_INLINE bool take(
    struct pxt_block *block, uint32_t gate, struct pxt_place *place, uint32_t slots, unsigned how)
{
	/* Acquire: pairs with the release in end_fast(). */
	uint32_t fast_end = atomic_load_explicit(&place->ring.lane->fast_end, memory_order_acquire);
	enum pxt_reserve got = pxt_ring_reserve(place, slots, how | PXT_TAKE_FREE);

	if (PXT_UNLIKELY(got != PXT_RESERVED))
		return take_last(block, gate, place->ring.lane, got);
	raise_fast_end(block, gate, place, slots, fast_end);
	return true;
}

/* ---- DISCARD ---- */

/*
 * Counted, and no record is a usual one until one has put a mark.  Each refusal leaves another value,
 * so that a writer that read `fast_end` before it does not raise it.
 */
static PXT_COLD void refuse(struct pxt_block *block, struct pxt_lane *lane, uint64_t refused)
{
	uint32_t pos = pxt_head_pos(pxt_cursor_peek(&lane->head));

	pxt_counter_up(&lane->refused);
	/* Release: pairs with the acquire below; who reads this finds the count. */
	atomic_store_explicit(
	    &lane->fast_end, pos - 1u - ((uint32_t)refused & 0xffffu), memory_order_release);
	pxt_block_wake_at(block, UINT32_MAX);
}

/* The mark into the first slot of @place, which is the record's alone afterwards. */
static PXT_COLD void put_mark(struct pxt_place *place, uint64_t refused)
{
	struct pxt_lane *lane = place->ring.lane;

	pxt_ring_store_mark(place, PXT_MARK_REFUSED, refused);
	place->pos++;
	/* Only saves marks: a thread that sees the old number puts one more. */
	atomic_store_explicit(&lane->marked, (uint32_t)refused, memory_order_relaxed);
}

/* @how: PXT_TAKE_ORDERED or 0.  False: no room, or the stream was stopped; it is counted. */
static bool discard_reserve(
    struct pxt_block *block, struct pxt_place *place, uint32_t slots, unsigned how)
{
	struct pxt_lane *lane = place->ring.lane;
	/* Acquire: before the count, see refuse(). */
	uint32_t fast_end = atomic_load_explicit(&lane->fast_end, memory_order_acquire);
	uint64_t refused = pxt_counter_load(&lane->refused);
	bool marks = (uint32_t)refused != atomic_load_explicit(&lane->marked, memory_order_relaxed);
	enum pxt_reserve got = pxt_ring_reserve(place, slots + marks, how | PXT_TAKE_FREE);
	uint32_t end;

	if (PXT_UNLIKELY(got != PXT_RESERVED && got != PXT_RESERVED_LAST)) {
		refuse(block, lane, refused);
		return false;
	}
	end = place->pos + slots + marks + pxt_carry(place->seq);
	pxt_ring_raise_fast_end(&place->ring, fast_end, end, end - place->used);
	if (PXT_UNLIKELY(marks))
		put_mark(place, refused);
	return true;
}

/* ---- Any policy ---- */

/* Without an automatic stop, or after a look at the event. */
static PXT_NOINLINE bool reserve_otherwise(
    struct pxt_block *block, uint32_t gate, struct pxt_place *place, uint32_t slots, unsigned how)
{
	if (PXT_UNLIKELY((gate & PXT_GATE_INSPECTED) && !(how & PXT_AUTOSTOP_SEEN))) {
		slots = pxt_inspect_slots(block, &((struct pxt_inspect_candidate *)place)->event);
		if (!slots)
			return false;
		if (!(gate & PXT_GATE_KEEPS))
			return pxt_slowpath_overwrite(block, place, slots, how);
	}
	how &= ~PXT_AUTOSTOP_SEEN;
	if (CONFIG_PTRACE_POLICY_DISCARD && (gate & PXT_GATE_DISCARDS))
		return discard_reserve(block, place, slots, how);
	if ((gate & PXT_GATE_STATE) == PXT_GATE_RUNNING)
		return take(block, gate, place, slots, how);
	PXT_TESTPOINT(PXT_TP_FULL);
	pxt_block_refuse(block, place->ring.lane);
	return false;
}

bool pxt_fullpolicy_reserve(
    struct pxt_block *block, uint32_t gate, struct pxt_place *place, uint32_t slots, unsigned how)
{
	if (!PXT_AUTOSTOP_STOPS)
		return discard_reserve(block, place, slots, how & ~PXT_AUTOSTOP_SEEN);
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
