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
/*
 * Gives back what earlier shutdowns had to keep, if it is known by now that no thread can be in there.
 * Under the process lock.
 */
void pxt_shutdown_free_left(void);
/* In a child: what its parent has still to give back is not the child's to give back. */
void pxt_shutdown_after_fork(void);

void pxt_shutdown_abandon(struct pxt_stream *stream);

#endif
