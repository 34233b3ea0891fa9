/* SPDX-License-Identifier: MIT */
/*
 * status.h - posix_trace_get_status() of a stream without a log.
 *
 *   concurrency: any thread, beside all other calls; the stream's mutex inside.
 */
#ifndef PXT_STATUS_H
#define PXT_STATUS_H

#include "core/stream/stream.h"

/* Of a stream without log (core/control/status.c). */
int pxt_status_get(void *object, trace_id_t trid, struct posix_trace_status_info *status);

#endif
