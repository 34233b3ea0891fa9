/* SPDX-License-Identifier: MIT */
/* restart.c - the end of an automatic stop; see restart.h. */
#include "core/read/restart.h"

#include "core/read/lane.h"
#include "core/stream/admit.h"
#include "core/stream/share.h"
#include "core/stream/startset.h"

/* [proof: restart] */
void pxt_restart_now(struct pxt_stream *stream)
{
	struct pxt_block *block = stream->block;
	uint64_t start = pxt_port_ticks_ordered();

	pxt_block_end_turn(block);
	/* What other processes have recorded by now comes before this moment, or is bound by it. */
	start = pxt_share_pull(block, start, true);
	for (uint32_t i = 0; i <= pxt_block_last(block); i++) {
		struct pxt_ring ring = pxt_block_ring(block, i);
		uint64_t late = pxt_lane_floor(&ring);

		/* What a late writer has recorded comes after the START, and not later than it was. */
		start = late < start ? late : start;
	}
	if (pxt_gap_refused(block) && block->with_log)
		pxt_gap_begin(block, pxt_wide_load(&block->auto_stop_ticks));
	pxt_gate_begin_run(block);
	pxt_note_start_set(block, atomic_load_explicit(&block->gate, memory_order_relaxed));
	block->start_ticks = start;
	pxt_gate_step(block,
	    pxt_admit_system(block, PXT_ID_START) ? PXT_STEP_RESTART : PXT_STEP_RESTART_MUTE);
	pxt_gate_switch(block, PXT_GATE_RUNNING, 0);
}

/* [proof: settle] */
void pxt_restart_settle(struct pxt_stream *stream)
{
	struct pxt_block *block = stream->block;

	if (pxt_block_state(block) != PXT_GATE_AUTO)
		return;
	if (!pxt_gate_stop_told(block) && pxt_admit_system(block, PXT_ID_STOP))
		return;
	/* After a STOP that was handed out there is nothing but late writers' records. */
	if (pxt_gate_stop_told(block) || pxt_lane_all_drained(block))
		pxt_restart_now(stream);
}

void pxt_restart_go_on(struct pxt_stream *stream, bool record)
{
	struct pxt_block *block = stream->block;

	block->freed_since_full |= record;
	if (!block->with_log)
		pxt_restart_settle(stream);
}

#if PXT_SMALL
void pxt_restart_freed(struct pxt_stream *stream, bool record)
{
	pxt_restart_freed_here(stream, record);
}
#endif
