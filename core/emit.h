/* SPDX-License-Identifier: MIT */
/* emit.h - from a trace point into the streams that want the event. */
#ifndef PXT_EMIT_H
#define PXT_EMIT_H

#include "base/compiler.h"

#include <stddef.h>
#include <trace.h>

/*
 * Records an event in every stream that wants it.  @id < PXT_ID_COUNT.  The caller has seen
 * _pxt_wanted[id] non-zero; @address is the trace point's.
 *
 * Context: any thread, signal handler, interrupt; may interrupt itself.  Leaves errno alone.
 * Bound: per stream N + 1 rounds of reservation and the record's slots.
 */
void pxt_emit(trace_event_id_t id, const void *data, size_t bytes, const void *address);

/* A system event from Core or its instrumentation: one test when nobody wants it (LPT-33). */
void pxt_system_event(trace_event_id_t id, const void *data, size_t bytes);

#endif
