/* SPDX-License-Identifier: MIT */
/*
 * status.h - what posix_trace_get_status() says of a stream.
 *
 *   concurrency: take() under the stream's mutex, beside writers; get() takes that itself.
 */
#ifndef PXT_STATUS_H
#define PXT_STATUS_H

#include "core/stream/stream.h"

/* Running, full, overrun.  What was lost is told once: the next call begins anew (STA-03). */
void pxt_status_take(struct pxt_stream *stream, struct posix_trace_status_info *status);
/* Of a stream without log, all of it (core/control/status_get.c). */
int pxt_status_get(void *object, trace_id_t trid, struct posix_trace_status_info *status);

#endif
