/* SPDX-License-Identifier: MIT */
/*
 * status.h - what an active stream is asked: status, counts, attributes, its types one by one, its clock.
 *
 *   concurrency: functions that take a struct pxt_stream under its mutex, beside writers; the others,
 *   operations of an identifier (struct pxt_ops), by any thread: they take the mutex.
 */
#ifndef PXT_STATUS_H
#define PXT_STATUS_H

#include "core/stream/stream.h"

/* Running, full, overrun.  Losses are reported once: the next call begins anew (STA-03). */
void pxt_status_take(struct pxt_stream *stream, struct posix_trace_status_info *status);
/* Of a stream without log, all of it (core/control/status.c). */
int pxt_status_get(void *object, trace_id_t trid, struct posix_trace_status_info *status);

void pxt_status_counts(struct pxt_stream *stream, struct posix_trace_counts_np *counts);

/* Operations that streams of every unit share. */
int pxt_status_get_attr(void *object, trace_id_t trid, struct _pxt_attr *attr);
int pxt_status_type_name(void *object, trace_id_t trid, trace_event_id_t id, char *name);
int pxt_status_type_format(void *object, trace_id_t trid, trace_event_id_t id, char *format);
int pxt_status_type_next(void *object, trace_id_t trid, trace_event_id_t *next);
int pxt_status_type_rewind(void *object, trace_id_t trid);
int pxt_status_get_clock(void *object, trace_id_t trid, struct posix_trace_clock_np *clock);

#endif
