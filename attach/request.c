/* SPDX-License-Identifier: MIT */
/*
 * request.c - what others may ask of a stream: the public functions, called for them.
 *
 * By its identifier, as the program itself calls them; so what they may do beside others, and what
 * they record of it, is what is known of them.
 */
#include "attach/owner.h"

#include "core/control/control.h"
#include "core/read/consumer.h"

/* ---- What it is ---- */

static uint32_t state_of(struct pxt_block *block)
{
	switch (pxt_block_state(block)) {
	case PXT_GATE_OFF:
		return PXT_CTLSOCK_STOPPED;
	case PXT_GATE_AUTO:
		return PXT_CTLSOCK_FULL;
	default:
		return PXT_CTLSOCK_RUNNING;
	}
}

/* Slots that hold what was not read yet; of a lane that was overtaken: all. */
static uint64_t slots_used(struct pxt_block *block)
{
	uint64_t size = (uint64_t)block->slot_mask + 1u;
	uint64_t sum = 0;

	for (uint32_t i = 0; i <= pxt_block_last(block); i++) {
		struct pxt_lane *lane = pxt_block_lane(block, i);
		uint64_t pos;
		uint64_t seq;

		pxt_lane_head(lane, &pos, &seq);
		sum += pos - lane->pos < size ? pos - lane->pos : size;
	}
	return sum;
}

static void fill(struct pxt_ctlsock *ctlsock, struct pxt_ctlsock_status *status)
{
	struct pxt_block *block = ctlsock->stream->block;
	struct posix_trace_counts_np counts;

	pxt_status_counts(ctlsock->stream, &counts);
	status->pid = block->pid;
	status->state = state_of(block);
	status->full_policy = block->full_policy;
	status->with_log = block->with_log;
	status->filtered = pxt_ask_filter_now(block);
	status->slot_count = ((uint64_t)block->slot_mask + 1u) * pxt_block_lanes(block);
	status->slots_used = slots_used(block);
	status->written = counts.posix_written_np;
	status->retrieved = counts.posix_retrieved_np;
	status->lost = counts.posix_lost_np;
	status->cleared = counts.posix_cleared_np;
	status->held = counts.posix_held_np;
	status->created_sec = block->created.realtime.tv_sec;
	status->created_nsec = (uint32_t)block->created.realtime.tv_nsec;
	(void)strncpy(status->name, block->attr._pxt_name, sizeof(status->name) - 1u);
}

int pxt_request_status(struct pxt_ctlsock *ctlsock, struct pxt_ctlsock_status *status)
{
	memset(status, 0, sizeof(*status));
	if (pxt_ctlsock_ending(ctlsock) || !pxt_stream_enter(ctlsock->stream))
		return ECANCELED;
	fill(ctlsock, status);
	pxt_stream_unlock(ctlsock->stream);
	status->producers = pxt_connections_count(ctlsock, PXT_CONNECTION_PRODUCER);
	memcpy(status->executable, ctlsock->executable, sizeof(status->executable));
	return 0;
}

/* ---- What it does ---- */

/* The stream tells who was not let in. */
static int attach(struct pxt_ctlsock *ctlsock, unsigned i,
    const struct pxt_ctlsock_request *request, const struct pxt_port_passed *passed)
{
	const struct pxt_intake_files files = { passed->fd[0],
		passed->count > 1 ? passed->fd[1] : -1 };
	int error;

	if (request->what != PXT_CTLSOCK_GUEST)
		error = pxt_producers_add(ctlsock, i, &files);
	else if (request->how)
		error = request->how & 0xffff;
	else
		error = pxt_producers_add_guest(ctlsock, i, &files);
	if (error && pxt_stream_enter(ctlsock->stream)) {
		pxt_sysevent_error_of(ctlsock->stream->block, POSIX_TRACE_ERROR_ATTACH_NP, error,
		    ctlsock->connection[i].pid);
		pxt_stream_unlock(ctlsock->stream);
	}
	return error;
}

int pxt_request_do(struct pxt_ctlsock *ctlsock, unsigned i,
    const struct pxt_ctlsock_request *request, const char *words,
    const struct pxt_port_passed *passed, char text[128])
{
	/* Core waits for types to be learnt, when it stops or copies; here that would be for itself. */
	(void)pxt_producers_learn(ctlsock);
	switch ((enum pxt_ctlsock_what)request->what) {
	case PXT_CTLSOCK_ATTACH:
	case PXT_CTLSOCK_GUEST:
		return attach(ctlsock, i, request, passed);
	case PXT_CTLSOCK_STATUS:
		return 0;
	case PXT_CTLSOCK_START:
		return posix_trace_start(ctlsock->trid);
	case PXT_CTLSOCK_STOP:
		return posix_trace_stop(ctlsock->trid);
	case PXT_CTLSOCK_CLEAR:
		return posix_trace_clear(ctlsock->trid);
	case PXT_CTLSOCK_FLUSH:
		return pxt_ask_flush(ctlsock);
	case PXT_CTLSOCK_FILTER:
		return pxt_ask_filter(ctlsock, request->how, words, request->text_bytes, text);
	case PXT_CTLSOCK_SNAPSHOT:
		return pxt_follow_snapshot(ctlsock, passed->fd[0]);
	case PXT_CTLSOCK_FOLLOW:
		return pxt_follow_begin_log(ctlsock, i, passed->fd[0]);
	default:
		return EPROTO;
	}
}
