/* SPDX-License-Identifier: MIT */
/*
 * shutdown.h - the end of a stream: by call, with its process, by a fatal signal, in a forked child.
 *
 *   concurrency: shutdown by any thread, beside writers, readers and other control calls; of two
 *   shutdowns of one stream one finds it gone.  Returns when its memory is given back.  seal() in the
 *   handler of a fatal signal, with the stream's mutex alone.  A child has one thread.
 */
#ifndef PXT_SHUTDOWN_H
#define PXT_SHUTDOWN_H

#include "core/process/process.h"
#include "core/stream/stream.h"

/* EINVAL, or what the unit's at_shutdown() said; the stream is gone in any case. */
int pxt_shutdown_stream(trace_id_t trid, const void *caller);
void pxt_shutdown_abandon(struct pxt_stream *stream);

/*
 * Stops because the process ends, as an automatic stop; in a signal handler, without the process
 * lock.  Takes up to the hold-back time.  Control calls of other streams put right what is left.
 */
void pxt_shutdown_seal(struct pxt_stream *stream);

/* What becomes of streams in a forked child.  Set by the first create of a process. */
extern const struct pxt_child_part pxt_shutdown_child;

#endif
