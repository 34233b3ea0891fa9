/* SPDX-License-Identifier: MIT */
/*
 * consumer.h - one sequence of items out of lanes, out-of-band records and synthetic events, for
 * getnext (On-Line) and for the flusher (Trace-To-Log).
 *
 *   concurrency: as lane.h; restart() also in control calls, under the stream's mutex.
 *
 * Use: next(); then the data or the slots (take.h); done().  next() consumes nothing.  The record may
 * be overwritten before it is read (LOOP): then next() again.
 */
#ifndef PXT_CONSUMER_H
#define PXT_CONSUMER_H

#include "core/read/merge.h"
#include "core/stream/gate.h"
#include "core/stream/stream.h"

/* ---- An item of the sequence ---- */

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
	uint64_t ctx;    /* OOB, MADE */
	uint64_t thread; /* ... and who, without a place in the table (format/slot.h) */
	unsigned char data[PXT_MADE_BYTES];
};

/* ---- An automatic stop ends: the stream was emptied, and runs again ---- */

/* Restart of an automatically stopped, emptied stream: START becomes due. */
void pxt_consumer_restart(struct pxt_stream *stream);
/*
 * An automatically stopped stream has nothing left to hand out: the flusher calls this after
 * its last write, and the stream runs again.  (getnext's streams restart by themselves.)
 */
void pxt_consumer_settle(struct pxt_stream *stream);

/* Something was taken (@record: out of a lane): an automatically stopped stream may go on. */
PXT_NOINLINE void pxt_consumer_go_on(struct pxt_stream *stream, bool record);
PXT_INLINE void pxt_consumer_freed_here(struct pxt_stream *stream, bool record)
{
	const struct pxt_block *block = stream->block;

	if (PXT_UNLIKELY(
	        pxt_gate_owes_stop(block) || pxt_block_state(stream->block) == PXT_GATE_AUTO))
		pxt_consumer_go_on(stream, record);
}

#if PXT_SMALL
void pxt_consumer_freed(struct pxt_stream *stream, bool record);
#else
PXT_INLINE void pxt_consumer_freed(struct pxt_stream *stream, bool record)
{
	pxt_consumer_freed_here(stream, record);
}
#endif

/*
 * ---- The turn ----
 *
 * Along the lane whose turn it is, record by record, as long as it is plain that the next one comes
 * next.  A walk lives within one call of its consumer: begin(); front() and on() for each record;
 * end(), if one was taken.
 */

struct pxt_walk {
	struct pxt_ring ring;
	uint64_t pos;
	uint64_t seq;
	uint64_t turn_end;
	uint32_t records; /* taken */
};

PXT_INLINE struct pxt_walk pxt_consumer_walk_begin(struct pxt_block *block)
{
	struct pxt_ring ring = pxt_block_ring(block, block->turn_lane);

	return (struct pxt_walk){ .ring = ring,
		.pos = ring.lane->pos,
		.seq = ring.lane->seq,
		.turn_end = block->turn_end };
}

/* The begin slot of the record that comes next; whether that is whole shows when it is read. */
PXT_INLINE bool pxt_consumer_walk_front(
    struct pxt_block *block, const struct pxt_walk *walk, struct pxt_halves *front)
{
	uint32_t pos = (uint32_t)walk->pos;
	uint32_t tag = pxt_tag(walk->ring.mask, pos, (uint32_t)walk->seq);

	*front = pxt_slot_load_halves(&walk->ring.slots[pos & walk->ring.mask]);
	if (PXT_UNLIKELY((uint32_t)front->low != (tag | PXT_SLOT_BEGIN) ||
	                 front->high >= walk->turn_end ||
	                 pxt_info_id((uint32_t)(front->low >> 32)) == PXT_ID_MARK ||
	                 pxt_lane_gap_is_unreported(block, walk->records)))
		return false;
	PXT_TESTPOINT(PXT_TP_FRONT_SEEN);
	return true;
}

PXT_INLINE void pxt_consumer_walk_on(struct pxt_walk *walk, uint32_t slots)
{
	walk->pos += slots + pxt_carry((uint32_t)walk->seq);
	walk->seq++;
	walk->records++;
}

/* Counted at once, in case the process dies now.  @last: the largest stamp among them. */
PXT_INLINE void pxt_consumer_walk_end(
    struct pxt_stream *stream, const struct pxt_walk *walk, uint64_t last)
{
	struct pxt_block *block = stream->block;

	pxt_lane_move(block, walk->ring.lane, walk->pos, walk->seq);
	block->retrieved += walk->records;
	block->turn += walk->records;
	/* What is reported never decreases. */
	if (block->last_ticks < last)
		block->last_ticks = last;
	PXT_TESTPOINT(PXT_TP_CONSUMED);
	pxt_consumer_freed(stream, true);
}

/* ---- The sequence ---- */

enum pxt_next pxt_consumer_next(struct pxt_stream *stream, struct pxt_item *item);
/* An item that is in no lane.  The consumer's own thread stands for automatic events (DEC-39). */
void pxt_consumer_make(
    struct pxt_item *item, uint32_t id, uint64_t ticks, const void *data, uint32_t bytes);
/* The item was taken: its room is free, its count moves from held to retrieved. */
void pxt_consumer_done(struct pxt_stream *stream, const struct pxt_item *item);

#endif
