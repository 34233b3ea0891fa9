/* SPDX-License-Identifier: MIT */
/*
 * consumer.h - the reading side of a stream, for getnext (On-Line) and for the flusher
 * (Trace-To-Log): one sequence of items out of lanes, side records and synthetic events.
 *
 *   who beside whom: one consumer at a time (the stream's mutex); writers at any time.
 *
 * Use: next(); read() or slots(); done().  next() consumes nothing.  read() or slots() may find
 * that the record was overwritten meanwhile (LOOP): then next() again.
 */
#ifndef PXT_CONSUMER_H
#define PXT_CONSUMER_H

#include "core/lane.h"

enum pxt_next {
	PXT_NEXT_NONE,  /* nothing recorded */
	PXT_NEXT_READY, /* *item is the next event */
	PXT_NEXT_HELD,  /* something is there, but an unfinished record must be waited for */
};

enum pxt_item_kind {
	PXT_ITEM_RECORD, /* in a lane */
	PXT_ITEM_SIDE,   /* a START or STOP by call that had found no room */
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
/* Up to @room bytes of the data, all of the origin.  False: overwritten meanwhile. */
bool pxt_consumer_read(struct pxt_stream *stream, const struct pxt_item *item, void *data,
    size_t room, struct pxt_origin *origin);
/* Who and where, out of a record's context. */
void pxt_consumer_origin(const struct pxt_block *block, uint64_t ctx, struct pxt_origin *origin);
/* The record as item->slots slots with tag 0.  False: overwritten meanwhile. */
bool pxt_consumer_slots(
    struct pxt_stream *stream, const struct pxt_item *item, struct pxt_slot *slots);
/*
 * Records in a row, as slots with tag 0, as long as it is plain what comes next.  None
 * may be taken that way now: records is 0, and next() tells.
 */
struct pxt_run {
	struct pxt_slot *to;
	uint32_t room;  /* slots at @to */
	uint32_t limit; /* records, at most */
	uint32_t slots;
	uint32_t records;
	uint32_t last_id;
	uint64_t least; /* stamp, and ... */
	uint64_t most;  /* ... the largest one */
};
/* Records with stamps up to @until, @to, @room and @limit as the caller set them; they are done. */
void pxt_consumer_run(struct pxt_stream *stream, struct pxt_run *run, uint64_t until);
/* The item was taken: its room is free, its count moves from held to retrieved. */
void pxt_consumer_done(struct pxt_stream *stream, const struct pxt_item *item);
/*
 * An automatically stopped stream has nothing left to hand out: the flusher calls this behind
 * its last write, and the stream runs again.  (getnext's streams restart by themselves.)
 */
void pxt_consumer_settle(struct pxt_stream *stream);

/*
 * The turn: once it was found out which record comes next, that holds for more of the same lane, as
 * long as their stamps are below `turn_end`: the other lanes' fronts, the snapshot and what is due
 * beside the lanes stay as they were.  Writers cannot make that wrong: what they add is later, what
 * they overwrite is seen by its tag.  Everything else that changes what comes next ends it.
 */
PXT_INLINE void pxt_consumer_look_again(struct pxt_block *block)
{
	block->turn_end = 0;
	block->idle_since = 0;
}

/* ---- Shared with core/merge.c and core/control.c ---- */

/* Something was taken (@record: out of a lane): an automatically stopped stream may go on. */
PXT_NOINLINE void pxt_consumer_go_on(struct pxt_stream *stream, bool record);
PXT_INLINE void pxt_consumer_freed_here(struct pxt_stream *stream, bool record)
{
	const struct pxt_block *block = stream->block;

	if (PXT_UNLIKELY(block->owes_stop || pxt_block_state(stream->block) == PXT_GATE_AUTO))
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
/* Counts records that were lost before what comes next. */
void pxt_consumer_lost(struct pxt_block *block, uint64_t records);
/* LOOP: a gap, for which OVERFLOW (with the stamp of the first lost, 0 unknown), RESUME are due. */
void pxt_consumer_gap(struct pxt_block *block, uint64_t ticks);
/* Nothing is in any lane or side record, and nobody's record is unfinished. */
bool pxt_consumer_drained(struct pxt_block *block);
/* Makes losses known that nobody has read up to yet. */
void pxt_consumer_notice_laps(struct pxt_stream *stream);

#endif
