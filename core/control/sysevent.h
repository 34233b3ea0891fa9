/* SPDX-License-Identifier: MIT */
/*
 * sysevent.h - the system events that control calls record.
 *
 *   concurrency: under the stream's mutex, beside writers.
 */
#ifndef PXT_SYSEVENT_H
#define PXT_SYSEVENT_H

#include "core/stream/stream.h"

/* An event of the calling thread; all but its stamp. */
void pxt_sysevent_fill(struct pxt_ring_event *event, uint32_t id, const void *data, uint32_t bytes,
    const void *caller);
/* One system event from a control call, into this stream only, if it is wanted and fits. */
bool pxt_sysevent_record(
    struct pxt_block *block, uint32_t id, const void *data, uint32_t bytes, const void *caller);

#endif
