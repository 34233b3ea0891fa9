/* SPDX-License-Identifier: MIT */
/*
 * control.h - start, stop and clear, as control calls share them.
 *
 *   concurrency: under both locks (core/stream/stream.h), beside writers; shut_gate() also with
 *   the stream's mutex alone, in a handler (shutdown.c).
 */
#ifndef PXT_CONTROL_H
#define PXT_CONTROL_H

#include "core/stream/stream.h"

/* Closes gate and lanes; returns the state that the stream was in. */
uint32_t pxt_control_shut_gate(struct pxt_stream *stream);

/* Who called, for the event's program address. */
void pxt_control_start(struct pxt_stream *stream, const void *caller);
void pxt_control_stop(struct pxt_stream *stream, const void *caller);
/* Stops for another reason than room (a full log), without an event of its own. */
void pxt_control_stop_now(struct pxt_stream *stream);
void pxt_control_clear(struct pxt_stream *stream);

#endif
