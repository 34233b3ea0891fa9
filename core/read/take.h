/* SPDX-License-Identifier: MIT */
/*
 * take.h - the next event as a reader takes it: next(), read() and done() of consumer.h in one step.
 *
 *   concurrency: as consumer.h.
 */
#ifndef PXT_TAKE_H
#define PXT_TAKE_H

#include "core/process/context.h"
#include "core/read/contents.h"
#include "core/read/plain.h"
#include "core/read/walk.h"

/* Whatever it is. */
enum pxt_next pxt_take_any(struct pxt_stream *stream, struct pxt_item *item, void *data,
    size_t room, struct pxt_origin *origin);

/* Who recorded it, and where; most often the thread that recorded the event before. */
PXT_INLINE void pxt_take_origin(struct pxt_stream *stream, uint64_t ctx, struct pxt_origin *origin)
{
	uint32_t index = pxt_context_thread(ctx);

	if (PXT_UNLIKELY(index != stream->last_thread)) {
		pxt_contents_origin(stream->block, ctx, &stream->last_origin);
		/* A thread that is not known may be later. */
		stream->last_thread = stream->last_origin.known ? index : PXT_THREAD_EXTRA;
	}
	*origin = stream->last_origin;
	origin->address = pxt_context_address(ctx);
}

PXT_INLINE enum pxt_next pxt_take_here(struct pxt_stream *stream, struct pxt_item *item, void *data,
    size_t room, struct pxt_origin *origin)
{
	struct pxt_block *block = stream->block;
	struct pxt_walk walk = pxt_walk_begin(block);
	struct pxt_halves front;
	uint64_t ctx;

	if (PXT_UNLIKELY(!pxt_walk_front(block, &walk, &front) ||
	                 !pxt_plain_is((uint32_t)(front.low >> 32)) ||
	                 !pxt_plain_read(&walk.ring, (uint32_t)walk.pos, (uint32_t)walk.seq,
	                     (uint32_t)(front.low >> 32), data, room, &ctx)))
		return pxt_take_any(stream, item, data, room, origin);
	pxt_take_origin(stream, ctx, origin);
	item->info = (uint32_t)(front.low >> 32);
	item->stamp = front.high;
	item->ticks = front.high < block->last_ticks ? block->last_ticks : front.high;
	item->lost_before = block->lost_before;
	block->lost_before = 0;
	pxt_walk_on(&walk, pxt_info_slots(item->info, PXT_CTX_BYTES));
	pxt_walk_end(stream, &walk, front.high);
	return PXT_NEXT_READY;
}

/*
 * The next event.  READY: it was taken; of *item are info, ticks, stamp and lost_before set.  A record
 * whose lane has the turn is read where it is; what else there may be is looked for.
 */
#if PXT_SMALL
enum pxt_next pxt_take_next(struct pxt_stream *stream, struct pxt_item *item, void *data,
    size_t room, struct pxt_origin *origin);
#else
PXT_INLINE enum pxt_next pxt_take_next(struct pxt_stream *stream, struct pxt_item *item, void *data,
    size_t room, struct pxt_origin *origin)
{
	return pxt_take_here(stream, item, data, room, origin);
}
#endif

#endif
