/* SPDX-License-Identifier: MIT */
/* status.c - what an active stream answers: status, counts, attributes, event types, clock; see control.h. */
#include "core/control/control.h"

#include "core/read/lane.h"
#include "core/stream/gate.h"
#include "core/stream/share.h"
#include "core/testpoints.h"

/* ---- Whether it runs, is full, and has lost something ---- */

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

		if (pxt_lane_end(lane) - lane->pos + lane->partial > block->slot_mask)
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
	return pxt_sysevent_is_full(block);
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

int pxt_status_get(void *object, struct posix_trace_status_info *status)
{
	pxt_status_take(object, status);
	status->posix_stream_flush_status = POSIX_TRACE_NOT_FLUSHING;
	status->posix_stream_flush_error = 0;
	status->posix_log_overrun_status = POSIX_TRACE_NO_OVERRUN;
	status->posix_log_full_status = POSIX_TRACE_NOT_FULL;
	return 0;
}

/* ---- Counts ---- */

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
 * written = admitted + refused + those put aside, whose place is head alone; held = what head is ahead
 * of the consumer: so the count equation holds for any value of head.
 */
void pxt_status_counts(struct pxt_stream *stream, struct posix_trace_counts_np *counts)
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

PXT_API int posix_trace_getcounts_np(
    trace_id_t trid, struct posix_trace_counts_np *counts, size_t bytes)
{
	struct posix_trace_counts_np own = { 0 };
	struct pxt_stream *stream = pxt_arg_given(counts) ? pxt_stream_lock(trid) : NULL;

	if (!stream)
		return EINVAL;
	pxt_status_counts(stream, &own);
	pxt_give(counts, bytes, &own, sizeof(own));
	return pxt_stream_leave(stream, 0);
}

/* ---- Attributes, types one by one, clock ---- */

int pxt_status_get_attr(void *object, struct _pxt_attr *attr)
{
	const struct pxt_stream *stream = object;

	*attr = stream->block->attr;
	return 0;
}

/* Not strcpy(): the bare profile asks the C library for mem* alone.  NULL: there is no such type. */
static int copy_text(char *to, const char *text)
{
	if (!text)
		return EINVAL;
	do
		*to++ = *text;
	while (*text++ != '\0');
	return 0;
}

/* Names are the process' own, and need no lock. */
int pxt_status_type_name(PXT_UNUSED void *object, trace_event_id_t id, char *name)
{
	return copy_text(name, pxt_names_of(id));
}

int pxt_status_type_format(PXT_UNUSED void *object, trace_event_id_t id, char *format)
{
	return copy_text(format, pxt_names_format(id));
}

/* Ascending: system, unnamed, then user types; later ones are appended (DEC-31). */
int pxt_status_type_next(void *object, trace_event_id_t *next)
{
	struct pxt_stream *stream = object;
	trace_event_id_t found = 0;

	for (trace_event_id_t id = stream->type_at + 1; id < PXT_ID_COUNT && !found; id++)
		found = pxt_names_of(id) ? id : 0;
	if (found)
		stream->type_at = found;
	*next = found;
	return 0;
}

int pxt_status_type_rewind(void *object)
{
	struct pxt_stream *stream = object;

	stream->type_at = 0;
	return 0;
}

int pxt_status_get_clock(void *object, struct posix_trace_clock_np *clock)
{
	const struct pxt_stream *stream = object;

	clock->posix_source_np = pxt_clock.source;
	clock->posix_error_ppm_np = pxt_clock.error_ppm;
	clock->posix_hz_np = pxt_clock.hz;
	clock->posix_anchor_ticks_np = stream->block->created.ticks;
	clock->posix_anchor_np = stream->block->created.realtime;
	return 0;
}
