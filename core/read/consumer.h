/* SPDX-License-Identifier: MIT */
/*
 * consumer.h - the reading side of a stream, for getnext (On-Line) and for the flusher
 * (Trace-To-Log): one sequence of items out of lanes, out-of-band records and synthetic events.
 *
 *   concurrency: one consumer at a time (the stream's mutex); writers at any time.
 *
 * Use: next(); read() or slots(); done().  next() consumes nothing.  read() or slots() may find
 * that the record was overwritten meanwhile (LOOP): then next() again.
 */
#ifndef PXT_CONSUMER_H
#define PXT_CONSUMER_H

#include "core/read/item.h"
#include "core/read/merge.h"
#include "core/stream/stream.h"

enum pxt_next pxt_consumer_next(struct pxt_stream *stream, struct pxt_item *item);
/* The item was taken: its room is free, its count moves from held to retrieved. */
void pxt_consumer_done(struct pxt_stream *stream, const struct pxt_item *item);

#endif
