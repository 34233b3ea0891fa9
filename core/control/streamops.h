/* SPDX-License-Identifier: MIT */
/*
 * streamops.h - operations on an identifier that active streams of every unit share (struct pxt_ops).
 *
 *   concurrency: any thread, beside all other calls; the stream's mutex inside.
 */
#ifndef PXT_STREAMOPS_H
#define PXT_STREAMOPS_H

#include "core/stream/stream.h"

/* Operations that streams of every unit share. */
int pxt_streamops_get_attr(void *object, trace_id_t trid, trace_attr_t *attr);
int pxt_streamops_type_name(void *object, trace_id_t trid, trace_event_id_t id, char *name);
int pxt_streamops_type_format(void *object, trace_id_t trid, trace_event_id_t id, char *format);
int pxt_streamops_type_next(void *object, trace_id_t trid, trace_event_id_t *next);
int pxt_streamops_type_rewind(void *object, trace_id_t trid);
int pxt_streamops_get_clock(void *object, trace_id_t trid, struct posix_trace_clock_np *clock);

#endif
