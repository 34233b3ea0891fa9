/* SPDX-License-Identifier: MIT */
/*
 * restart.h - a stream that a writer stopped runs again when it was emptied.
 *
 *   concurrency: as consumer.h; now() in control calls, too, by the stream's mutex.
 */
#ifndef PXT_RESTART_H
#define PXT_RESTART_H

#include "core/stream/gate.h"
#include "core/stream/stream.h"

/* Restart of an automatically stopped, emptied stream: START becomes due. */
void pxt_restart_now(struct pxt_stream *stream);
/*
 * An automatically stopped stream has nothing left to hand out: the flusher calls this after
 * its last write, and the stream runs again.  (getnext's streams restart by themselves.)
 */
void pxt_restart_settle(struct pxt_stream *stream);

/* Something was taken (@record: out of a lane): an automatically stopped stream may go on. */
PXT_NOINLINE void pxt_restart_go_on(struct pxt_stream *stream, bool record);
PXT_INLINE void pxt_restart_freed_here(struct pxt_stream *stream, bool record)
{
	const struct pxt_block *block = stream->block;

	if (PXT_UNLIKELY(
	        pxt_gate_owes_stop(block) || pxt_block_state(stream->block) == PXT_GATE_AUTO))
		pxt_restart_go_on(stream, record);
}

#if PXT_SMALL
void pxt_restart_freed(struct pxt_stream *stream, bool record);
#else
PXT_INLINE void pxt_restart_freed(struct pxt_stream *stream, bool record)
{
	pxt_restart_freed_here(stream, record);
}
#endif

#endif
