/* SPDX-License-Identifier: MIT */
/*
 * shutdown.h - the end of a stream.
 *
 *   concurrency: any thread, beside writers, readers and other control calls; of two
 *   shutdowns of one stream one finds it gone.  Returns when its memory is given back.
 */
#ifndef PXT_SHUTDOWN_H
#define PXT_SHUTDOWN_H

#include "core/stream/stream.h"

/* EINVAL, or what the unit's at_shutdown() said; the stream is gone in any case. */
int pxt_shutdown_stream(trace_id_t trid, const void *caller);
void pxt_shutdown_abandon(struct pxt_stream *stream);

#endif
