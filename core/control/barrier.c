/* SPDX-License-Identifier: MIT */
/*
 * barrier.c - START and STOP by call: where they are put, between all that was recorded before and after,
 * and whether there is room for them: a START is refused while the stream is full; see barrier.h.
 */
#include "core/control/barrier.h"

#include "core/control/sysevent.h"
#include "core/process/threads.h"
#include "core/stream/admit.h"
#include "core/stream/gate.h"
#include "core/stream/startset.h"

#include <string.h>

/*
 * Puts a mark into every lane, or into none.  Counted after all of them: a lane of a killed process
 * that has no mark is taken for one that has passed all that were counted.
 */
static void put_marks(struct pxt_block *block)
{
	uint64_t number = block->barriers + 1u;

	for (uint32_t i = 0; i <= pxt_block_last(block); i++) {
		struct pxt_place place = { .ring = pxt_block_ring(block, i) };

		if (pxt_ring_reserve_mark(&place, block->full_policy == POSIX_TRACE_LOOP)) {
			pxt_ring_store_mark(&place, PXT_MARK_BARRIER, number);
			place.ring.lane->barrier_pos = place.pos;
		} else {
			/* Seen as passed, like a mark that was overwritten: room was checked. */
			place.ring.lane->barrier = number;
		}
		/* What was empty is so no more: the consumer takes the mark when it looks next. */
		if (place.ring.lane->front_state == PXT_FRONT_EMPTY)
			place.ring.lane->front_state = PXT_FRONT_UNKNOWN;
	}
	block->barriers = number;
}

/* Into lane 0, though it is closed: only control calls do that, and room was looked at. */
static void put(struct pxt_block *block, struct pxt_ring_event *event)
{
	struct pxt_place place = { .ring = pxt_block_ring(block, 0) };

	pxt_ring_reserve_closed(&place, pxt_info_slots(event->info, PXT_CTX_BYTES));
	event->ticks = pxt_port_ticks_ordered();
	pxt_ring_store(&place, event);
}

/* Its data has no second place. */
static bool start_is_oob(const struct pxt_block *block)
{
	bool found = false;

	for (uint32_t i = 0; i < PXT_OOBS; i++)
		found |= pxt_info_id(block->oob[i].info) == PXT_ID_START;
	return found;
}

static bool put_oob(struct pxt_block *block, const struct pxt_ring_event *event, bool automatic)
{
	struct pxt_oob *oob = NULL;
	bool start;

	for (uint32_t i = 0; i < PXT_OOBS && !oob; i++)
		oob = block->oob[i].info ? NULL : &block->oob[i];
	start = pxt_info_id(event->info) == PXT_ID_START;
	if (!oob || (start && start_is_oob(block)))
		return false;
	oob->ticks = pxt_port_ticks_ordered();
	oob->ctx = event->ctx;
	oob->thread = event->thread;
	pxt_threads_keep(pxt_threads_who());
	if (event->bytes)
		memcpy(start ? pxt_oob_data(block) : &oob->why, event->data, event->bytes);
	for (uint32_t i = 0; i <= pxt_block_last(block); i++) {
		struct pxt_lane *lane = pxt_block_lane(block, i);

		lane->oob_pos[oob - block->oob] = pxt_head_pos(pxt_cursor_load(&lane->head));
	}
	oob->info = event->info;
	oob->automatic = automatic;
	block->oob_records += !automatic;
	return true;
}

/*
 * START or STOP by call: a barrier between what was recorded before and after.  The lanes are
 * closed, so nothing is reserved while the room is looked at.  False: there was no place at all.
 * [proof: barrier]
 */
bool pxt_barrier_put(
    struct pxt_block *block, uint32_t id, const void *data, uint32_t bytes, const void *caller)
{
	struct pxt_ring_event event;
	uint32_t needed;

	if (!pxt_admit_system(block, id))
		return true;
	pxt_sysevent_fill(&event, id, data, bytes, caller);
	needed = pxt_info_slots(event.info, PXT_CTX_BYTES) + (pxt_block_merges(block) ? 1u : 0u) +
	         pxt_carry(pxt_head_seq(pxt_cursor_load(&pxt_block_lane(block, 0)->head)));
	if (pxt_block_room(block) < needed)
		return put_oob(block, &event, false);
	if (pxt_block_merges(block))
		put_marks(block);
	put(block, &event);
	return true;
}

/* An automatic STOP that is due, and wanted. */
static bool stop_is_owed(struct pxt_block *block)
{
	return pxt_gate_stop_is_due(block) && pxt_admit_system(block, PXT_ID_STOP);
}

/*
 * Whether a START finds its place, the automatic STOP that is due before it, and the STOP that
 * may follow when no slot is left: a stop cannot be refused.
 */
bool pxt_barrier_start_has_place(struct pxt_block *block)
{
	uint32_t slots = pxt_slots_for(PXT_CTX_BYTES + PXT_THREAD_EXTRA_BYTES + PXT_START_BYTES) +
	                 (pxt_block_merges(block) ? 2u : 1u);
	bool aside = pxt_block_room(block) < slots;
	uint32_t needed = 1u + aside + stop_is_owed(block);

	if (aside && start_is_oob(block))
		return false;
	for (uint32_t i = 0; i < PXT_OOBS; i++)
		needed -= needed && !block->oob[i].info;
	return !needed;
}

bool pxt_barrier_is_full(struct pxt_block *block)
{
	return pxt_block_room(block) == 0 ||
	       (pxt_gate_was_auto(block) && !block->freed_since_full) ||
	       !pxt_barrier_start_has_place(block);
}

/*
 * An automatic STOP that was not handed out yet must be before the START that follows.  It
 * takes no room in the lanes, and it is not counted: no writer made it.
 */
bool pxt_barrier_put_owed_stop(struct pxt_block *block)
{
	const int automatic = 1;
	struct pxt_ring_event event;

	if (stop_is_owed(block)) {
		pxt_sysevent_fill(&event, PXT_ID_STOP, &automatic, sizeof(automatic), NULL);
		if (!put_oob(block, &event, true))
			return false;
	}
	pxt_gate_step(block, PXT_STEP_STOP_PUT);
	return true;
}

void pxt_barrier_put_stop(struct pxt_block *block, int why, const void *caller)
{
	(void)pxt_barrier_put(block, PXT_ID_STOP, &why, sizeof(why), caller);
}
