/* SPDX-License-Identifier: MIT */
/* status.c - whether a stream runs, is full, and has lost something; see status.h. */
#include "core/control/status.h"

#include "core/control/barrier.h"
#include "core/read/lane.h"
#include "core/stream/gate.h"
#include "core/stream/share.h"

static uint64_t refused_in_all(struct pxt_block *block)
{
	uint64_t sum = 0;

	for (uint32_t i = 0; i <= pxt_block_last(block); i++)
		sum += pxt_counter_load(&pxt_block_lane(block, i)->refused);
	return sum;
}

/* LOOP is full where a lane overwrites. */
static bool loop_full(struct pxt_block *block)
{
	for (uint32_t i = 0; i <= pxt_block_last(block); i++) {
		struct pxt_lane *lane = pxt_block_lane(block, i);
		uint64_t pos;
		uint64_t seq;

		pxt_lane_head(lane, &pos, &seq);
		if (pos - lane->pos + lane->ruins > block->slot_mask)
			return true;
	}
	return false;
}

/* DISCARD: there is no room for the smallest event and the mark before it. */
static bool is_full(struct pxt_block *block)
{
	if (block->full_policy == POSIX_TRACE_LOOP)
		return loop_full(block);
	if (block->full_policy == POSIX_TRACE_DISCARD_NP)
		return pxt_block_room(block) < pxt_slots_for(PXT_CTX_BYTES) + 1u;
	return pxt_barrier_is_full(block);
}

/* Policies whose streams stop when they are full. */
static bool stops_by_itself(const struct pxt_block *block)
{
	return block->full_policy == POSIX_TRACE_UNTIL_FULL ||
	       block->full_policy == POSIX_TRACE_FLUSH;
}

void pxt_status_take(struct pxt_stream *stream, struct posix_trace_status_info *status)
{
	struct pxt_block *block = stream->block;
	uint64_t lost;
	bool running;
	bool full;

	pxt_share_pull_now(block, false);
	pxt_lane_notice_laps(block);
	full = is_full(block);
	/* Last: a writer that fills the stream now stops it, so RUNNING is never seen with FULL. */
	running = pxt_block_state(block) == PXT_GATE_RUNNING;
	if (running && stops_by_itself(block))
		full = false;
	lost = block->lost + refused_in_all(block);
	status->posix_stream_status = running ? POSIX_TRACE_RUNNING : POSIX_TRACE_SUSPENDED;
	status->posix_stream_full_status = full ? POSIX_TRACE_FULL : POSIX_TRACE_NOT_FULL;
	status->posix_stream_overrun_status =
	    lost != block->lost_told ? POSIX_TRACE_OVERRUN : POSIX_TRACE_NO_OVERRUN;
	block->lost_told = lost;
}
