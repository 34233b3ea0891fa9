/* SPDX-License-Identifier: MIT */
/* synthetic.c - the events that the consumer makes itself; see synthetic.h. */
#include "core/read/synthetic.h"

#include "core/process/context.h"
#include "core/process/threads.h"
#include "core/read/gap.h"
#include "core/read/lane.h"
#include "core/stream/admit.h"
#include "core/stream/gate.h"
#include "core/stream/startset.h"

#include <string.h>
#include <trace.h>

/* The consumer's own thread stands for automatic events (DEC-39). */
static void make(
    struct pxt_item *item, uint32_t id, uint64_t ticks, const void *data, uint32_t bytes)
{
	const uint32_t index = pxt_threads_who()->index;

	item->kind = PXT_ITEM_MADE;
	item->lane = 0;
	item->info = pxt_slot_info(id, bytes, false, pxt_context_extra(index), PXT_CPU_UNKNOWN);
	item->slots = pxt_info_slots(item->info, PXT_CTX_BYTES);
	item->ticks = ticks;
	item->ctx = pxt_context(index, NULL);
	if (bytes)
		memcpy(item->data, data, bytes);
}

void pxt_synthetic_start(struct pxt_block *block, struct pxt_item *item)
{
	make(item, PXT_ID_START, block->start_ticks, pxt_start_data(block), PXT_START_BYTES);
}

void pxt_synthetic_gap_first(struct pxt_block *block, struct pxt_item *item)
{
	uint64_t ticks = item->ticks;

	if (block->gap == PXT_GAP_OVERFLOW_DUE && pxt_admit_system(block, PXT_ID_OVERFLOW))
		make(item, PXT_ID_OVERFLOW, block->gap_ticks < ticks ? block->gap_ticks : ticks,
		    NULL, 0);
	else if (block->gap != PXT_GAP_NONE && pxt_admit_system(block, PXT_ID_RESUME))
		make(item, PXT_ID_RESUME, ticks, NULL, 0);
}

/* [proof: next_stop] */
bool pxt_synthetic_stop(struct pxt_block *block, struct pxt_item *item)
{
	const int automatic = 1;
	bool due = pxt_gate_stop_is_due(block);
	/* Before the lanes are looked at: what comes into one later returns later than that. */
	uint64_t ticks = pxt_wide_load(&block->auto_stop_ticks);

	if (!due || !pxt_admit_system(block, PXT_ID_STOP) || !pxt_lane_all_drained(block))
		return false;
	/* Other processes may hold what is older than the stop, and younger than this. */
	if (pxt_block_merges(block) && block->snapshot < ticks)
		ticks = block->snapshot;
	/* Writers may have died before they said when: then the last stamp serves. */
	make(item, PXT_ID_STOP, ticks, &automatic, sizeof(automatic));
	return true;
}

void pxt_synthetic_done(struct pxt_block *block, uint32_t id)
{
	if (id == PXT_ID_OVERFLOW || id == PXT_ID_RESUME) {
		block->gap = id == PXT_ID_OVERFLOW ? PXT_GAP_RESUME_DUE : PXT_GAP_NONE;
		/* What comes after the gap may be overwritten by now. */
		pxt_block_lane(block, block->turn_lane)->front_state = PXT_FRONT_UNKNOWN;
	} else if (id == PXT_ID_START) {
		pxt_gate_step(block, PXT_STEP_START_TOLD);
	} else {
		pxt_gate_step(block, PXT_STEP_STOP_TOLD);
	}
}
