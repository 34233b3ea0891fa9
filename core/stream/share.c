/* SPDX-License-Identifier: MIT */
/* share.c - Core's side of streams that other processes trace into; see share.h. */
#include "core/stream/share.h"

const struct pxt_share_ops *_Atomic pxt_share_ops;
uint64_t pxt_share_answer_ns = UINT64_C(3000000000);

/* No thread knows the identifier yet but those who come by the name. */
int pxt_share_name(struct pxt_stream *stream, const char *name)
{
	int error;

	if (!name)
		return 0;
	pxt_stream_unlock(stream);
	error = pxt_share_table()->open(stream, name);
	pxt_port_mutex_lock(&stream->mutex);
	if (error) {
		pxt_handle_remove(stream->trid);
		stream->trid = 0;
	}
	return error;
}

void pxt_share_close(struct pxt_stream *stream)
{
	if (stream->share)
		pxt_share_table()->close(stream);
}

void pxt_share_forget(void)
{
	for (unsigned i = 0; pxt_share_table() && i < CONFIG_PTRACE_MAX_STREAMS; i++)
		pxt_share_table()->forget(i);
}

static bool is_answered(trace_id_t trid, bool last)
{
	struct pxt_stream *stream = pxt_stream_lock(trid);
	bool answered;

	if (!stream)
		return true;
	answered = !stream->share || pxt_block_state(stream->block) == PXT_GATE_OFF ||
	           !pxt_share_table()->awaits(stream, last);
	pxt_stream_unlock(stream);
	return answered;
}

static void wait_for_answers(trace_id_t trid)
{
	const uint64_t slice = 1000000;
	struct pxt_patience patience;

	pxt_patience_begin(&patience, pxt_share_answer_ns);
	while (!is_answered(trid, false)) {
		if (!pxt_patience_pause(&patience, slice)) {
			(void)is_answered(trid, true);
			return;
		}
	}
}

static bool is_settled(trace_id_t trid, uint64_t clock)
{
	struct pxt_stream *stream = pxt_stream_lock(trid);
	bool settled;

	if (!stream)
		return true;
	settled = !stream->share || pxt_block_state(stream->block) == PXT_GATE_OFF ||
	          pxt_share_table()->pull(stream, pxt_port_ticks_ordered(),
	              pxt_share_takes_all(stream->block)) >= clock;
	pxt_stream_unlock(stream);
	return settled;
}

/* As pxt_share_patience_ns() says; the stream may be shut down meanwhile. */
static uint64_t settles_in_ns(trace_id_t trid)
{
	struct pxt_stream *stream = pxt_stream_lock(trid);
	uint64_t ns;

	if (!stream)
		return pxt_holdback_ns;
	ns = pxt_share_patience_ns(stream->block);
	pxt_stream_unlock(stream);
	return ns;
}

void pxt_share_settle(trace_id_t trid)
{
	const uint64_t slice = 200000;
	struct pxt_patience patience;
	uint64_t clock;

	if (!pxt_share_table())
		return;
	wait_for_answers(trid);
	clock = pxt_port_ticks_ordered();
	pxt_patience_begin(&patience, settles_in_ns(trid));
	while (!is_settled(trid, clock) && pxt_patience_pause(&patience, slice))
		;
}
