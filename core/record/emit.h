/* SPDX-License-Identifier: MIT */
/*
 * emit.h - from a trace point into the streams that want the event.
 *
 *   concurrency     trace points     consumer     control
 *   trace points             -               -            -
 *   (-: any number at once, in signal handlers too, which may interrupt a trace point anywhere.)
 *
 * A trace point takes no lock and never waits.  What it reads, and what keeps that valid:
 *   wanted table, hot stream   a word each; a thread that changes them waits afterwards for the trace points
 *                              that are inside (core/stream/wanted.h)
 *   gate, filter               loaded with acquire; turned with release, and the set that was in
 *                              force stays as it is until no trace point is inside (core/stream/stream.h)
 *   the stream's memory        is freed when no thread is inside any more, or is kept (core/process/threads.h)
 *   lanes, slots               a place is its own from the reservation on (core/ring/ring.h)
 *   its thread's entry         while that lives, only it and its handlers write there
 *
 * The smallest Core (tiny/) disables interrupts instead.
 */
#ifndef PXT_EMIT_H
#define PXT_EMIT_H

#include "core/process/process.h"
#include "format/slot.h"

/* The slot that carries the context has room for 4 bytes of data, and is put together in registers. */
#if PXT_CTX_BYTES == 8 && defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
#define PXT_SHORT_CONTEXT 1
#else
#define PXT_SHORT_CONTEXT 0
#endif

/* A board's, with words of 32 bits (core/record/narrow.h). */
#if CONFIG_PTRACE_PORT_BARE && PXT_CTX_BYTES == 6 && defined(__BYTE_ORDER__) &&                    \
    __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
#define PXT_NARROW 1
#else
#define PXT_NARROW 0
#endif

/*
 * Records an event in every stream that wants it.  @id < PXT_ID_COUNT.  The caller has looked and
 * seen that some stream does (pxt_look_wanted()); @address is the trace point's.
 *
 * Context: any thread, signal handler, interrupt; may interrupt itself.  Leaves errno alone.
 * Bound: per stream N + 1 rounds of reservation and the record's slots.
 */
PXT_OWN_PAGE void pxt_emit(
    uint32_t id, const void *data, size_t bytes, const void *address PXT_LOOK_PARAMETER);

/* A system event from Core or its instrumentation: one test if no stream wants it (LPT-33). */
void pxt_emit_system(trace_event_id_t id, const void *data, size_t bytes);

#endif
