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

#include "core/read/merge.h"
#include "core/stream/startset.h"
#include "core/stream/stream.h"

enum pxt_item_kind {
	PXT_ITEM_RECORD, /* in a lane */
	PXT_ITEM_OOB,    /* a START or STOP by call that had found no room */
	PXT_ITEM_MADE,   /* made by the consumer: automatic STOP, START, OVERFLOW, RESUME */
};

#define PXT_MADE_BYTES (PXT_START_BYTES > sizeof(int) ? PXT_START_BYTES : sizeof(int))

struct pxt_item {
	enum pxt_item_kind kind;
	uint32_t lane;
	uint32_t info;  /* pxt_slot_info() */
	uint32_t slots; /* that the record takes in a log */
	uint64_t ticks; /* as reported: never less than the event's before */
	uint64_t stamp; /* as the trace point read it; of what is made: the same as ticks */
	uint64_t lost_before;
	uint64_t ctx; /* SIDE, MADE */
	unsigned char data[PXT_MADE_BYTES];
};

enum pxt_next pxt_consumer_next(struct pxt_stream *stream, struct pxt_item *item);
/* The item was taken: its room is free, its count moves from held to retrieved. */
void pxt_consumer_done(struct pxt_stream *stream, const struct pxt_item *item);

#endif
