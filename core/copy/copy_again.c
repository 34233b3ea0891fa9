/* SPDX-License-Identifier: MIT */
/* copy_again.c - a stream's private copy, made once more for a consumer that goes on; see copy.h. */
#include "core/copy/copy.h"
#include "core/copy/copy_steps.h"
#include "core/process/holdback.h"
#include "core/read/lane.h"
#include "core/stream/admit.h"
#include "core/stream/gate.h"
#include "core/stream/startset.h"

#include <errno.h>

/*
 * A copy that is made once more: what its consumer did stays, what control calls have done since
 * comes.  An automatic stop whose STOP was handed out ends with the START of the restart, however
 * long ago the stream's own consumer took that.  One that began and ended since the last time is not seen; what was
 * refused in it is counted.
 */
static void renew_block(struct pxt_block *to, struct pxt_block *from)
{
	bool restarted = to->start_ticks != from->start_ticks;

	pxt_copy_gate(to, from);
	pxt_copy_filter(to, from);
	to->barriers = from->barriers;
	if (pxt_gate_stop_told(to) && (restarted || pxt_block_state(from) != PXT_GATE_AUTO))
		pxt_gate_step(to, restarted && pxt_admit_system(from, PXT_ID_START)
		                      ? PXT_STEP_RESTART
		                      : PXT_STEP_RESTART_MUTE);
	to->start_ticks = from->start_ticks;
}

/* START and STOP that are beside the lanes since @since. */
static void renew_oobs(struct pxt_block *to, struct pxt_block *from, uint64_t since)
{
	unsigned at = 0;

	for (unsigned i = 0; i < PXT_OOBS; i++) {
		while (at < PXT_OOBS && to->oob[at].info)
			at++;
		if (at == PXT_OOBS || !from->oob[i].info || from->oob[i].ticks <= since)
			continue;
		to->oob[at] = from->oob[i];
		for (uint32_t lane = 0; lane <= pxt_block_last(from); lane++)
			pxt_block_lane(to, lane)->oob_pos[at] =
			    pxt_block_lane(from, lane)->oob_pos[i];
	}
}

/* What was refused is counted for all lanes at once, and by no mark in addition. */
static void count_refused(struct pxt_copy *copy, struct pxt_block *from, uint64_t since)
{
	struct pxt_block *to = copy->stream.block;

	pxt_lane_gap_lost(to, copy->refused - since);
	for (uint32_t lane = 0; lane <= pxt_block_last(from); lane++)
		pxt_lane_discarded_forget(to, pxt_block_lane(to, lane), pxt_block_lane(from, lane));
}

static bool renew_all(struct pxt_copy *copy, struct pxt_stream *stream, struct pxt_copy_span *spans)
{
	pxt_copy_begin(copy, stream);
	renew_block(copy->stream.block, stream->block);
	return pxt_copy_lanes(copy, stream->block, spans);
}

int pxt_copy_again(struct pxt_stream *stream, struct pxt_copy *copy)
{
	struct pxt_copy_span spans[CONFIG_PTRACE_LANES_MAX] = { { 0 } };
	struct pxt_block *block = copy->stream.block;
	uint64_t since = copy->moment;
	uint64_t refused = copy->again ? copy->refused : block->refused_told;
	trace_id_t trid;
	bool quiet;

	pxt_port_mutex_lock(&stream->mutex);
	if (!stream->block || stream->block_bytes != copy->stream.block_bytes) {
		pxt_stream_unlock(stream);
		return EINVAL;
	}
	copy->again = true;
	for (unsigned left = PXT_COPY_TRIES; left && !renew_all(copy, stream, spans); left--)
		continue;
	renew_oobs(block, stream->block, since);
	count_refused(copy, stream->block, refused);
	trid = stream->trid;
	quiet = stream->block->quiet;
	pxt_stream_unlock(stream);
	pxt_copy_complete(trid, copy, spans, quiet);
	return 0;
}
