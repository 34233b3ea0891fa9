/* SPDX-License-Identifier: MIT */
/*
 * sysevent.h - the system events that control calls record: START and STOP by call, FILTER, ERROR; and
 * whether START and STOP find room.
 *
 *   concurrency: under the stream's mutex, beside writers; START and STOP with the lanes closed.
 *   pxt_sysevent_start_has_place() beside writers, too: then the answer may be old when it is returned.
 *
 * With several lanes a mark goes into each before START or STOP, so that the merge knows what comes
 * before.  In a stream that does not overwrite and is full, the event is kept beside the lanes (struct
 * pxt_oob).  Where the configuration makes neither event, a START always finds its place.
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

/* @cause: POSIX_TRACE_ERROR_*_NP (<trace_np.h>).  A stream that does not run has no such event. */
void pxt_sysevent_error(struct pxt_block *block, unsigned cause, int error);
/* The same as an event of that process, of no thread. */
void pxt_sysevent_error_of(struct pxt_block *block, unsigned cause, int error, int32_t pid);

/* ---- START and STOP by call ---- */

/* START or STOP with its data.  False: there was no place at all. */
bool pxt_sysevent_barrier(
    struct pxt_block *block, uint32_t id, const void *data, uint32_t bytes, const void *caller);
/* Data of STOP; 0: by call, 1: full. */
#define PXT_STOP_BY_SIGNAL 2
/* STOP with its data, after all that the closed lanes hold. */
void pxt_sysevent_stop(struct pxt_block *block, int why, const void *caller);
/* An unread automatic STOP becomes an out-of-band record, before a START.  False: no place. */
bool pxt_sysevent_owed_stop(struct pxt_block *block);
/* Whether a START, and all that must come with it, finds its place. */
bool pxt_sysevent_start_has_place(struct pxt_block *block);
/* Of a stream that does not overwrite: nothing can be recorded before something was read. */
bool pxt_sysevent_is_full(struct pxt_block *block);

#endif
