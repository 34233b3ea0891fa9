/* SPDX-License-Identifier: MIT */
/* counts.c - the counts of a stream; see counts.h. */
#include "core/control/counts.h"

#include "core/read/lane.h"
#include "core/stream/share.h"
#include "core/testpoints.h"

/* Reads what the writers change until two readings agree; @stable tells whether they did. */
static void read_lanes(struct pxt_block *block, uint64_t *seq, uint64_t *refused, int *stable)
{
	uint64_t before_seq = 0;
	uint64_t before_refused = 0;

	*stable = 0;
	for (int round = 0; round < 8 && !*stable; round++) {
		*seq = 0;
		*refused = 0;
		for (uint32_t i = 0; i <= pxt_block_last(block); i++) {
			struct pxt_lane *lane = pxt_block_lane(block, i);
			uint64_t pos;
			uint64_t lane_seq;

			pxt_lane_head(lane, &pos, &lane_seq);
			*seq += lane_seq;
			*refused += pxt_counter_load(&lane->refused);
		}
		*stable = round && *seq == before_seq && *refused == before_refused;
		before_seq = *seq;
		before_refused = *refused;
		PXT_TESTPOINT(PXT_TP_COUNTED);
	}
}

/*
 * written = admitted + refused + those put aside, whose place is head alone; held = what head is
 * ahead of the consumer: so the law holds by construction for whatever head said.
 */
void pxt_counts_take(struct pxt_stream *stream, struct posix_trace_counts_np *counts)
{
	struct pxt_block *block = stream->block;
	uint64_t admitted = 0;
	uint64_t refused = 0;
	uint64_t consumed = 0;
	uint64_t aside = 0;

	pxt_share_pull_now(block, false);
	pxt_lane_notice_laps(block);
	read_lanes(block, &admitted, &refused, &counts->posix_stable_np);
	for (uint32_t i = 0; i <= pxt_block_last(block); i++)
		consumed += pxt_block_lane(block, i)->seq;
	for (uint32_t i = 0; i < PXT_OOBS; i++)
		aside += block->oob[i].info != 0 && !block->oob[i].automatic;
	counts->posix_written_np = admitted + refused + block->oob_records;
	counts->posix_retrieved_np = block->retrieved;
	counts->posix_lost_np = block->lost + refused;
	counts->posix_cleared_np = block->cleared;
	counts->posix_held_np = admitted - consumed + aside;
}
