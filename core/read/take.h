/* SPDX-License-Identifier: MIT */
/*
 * take.h - hands out an item of the sequence: to a reader the next event, in one step; to a log its slots, one record
 * or a run of them.
 *
 *   concurrency: as lane.h.
 */
#ifndef PXT_TAKE_H
#define PXT_TAKE_H

#include "core/process/context.h"
#include "core/read/consumer.h"

/*
 * ---- Plain records ----
 *
 * The context of a plain record is one number in the first continuation slot, with 4 bytes of data.
 */

/* The begin slot says what is read. */
PXT_INLINE bool pxt_take_is_plain(uint32_t info)
{
	return PXT_CTX_BYTES == 8 && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ &&
	       !pxt_info_extra(info);
}

/* Loads a continuation slot; false: it is not one of record @seq. */
PXT_INLINE bool pxt_take_piece(
    const struct pxt_ring *ring, uint32_t pos, uint32_t seq, struct pxt_halves *piece)
{
	*piece = pxt_slot_load_halves(&ring->slots[pos & ring->mask]);
	if (PXT_UNLIKELY((uint32_t)piece->low != pxt_tag(ring->mask, pos, seq)))
		return false;
	PXT_TESTPOINT(PXT_TP_PIECE_READ);
	return true;
}

PXT_INLINE bool pxt_take_rest_here(
    const struct pxt_ring *ring, uint32_t pos, uint32_t seq, struct pxt_slot *to, uint32_t slots)
{
	/* Bound: the slots of the record. */
	for (uint32_t i = 1; i < slots; i++) {
		struct pxt_halves piece;

		if (!pxt_take_piece(ring, pos + i, seq, &piece))
			return false;
		piece.low &= UINT64_C(0xffffffff00000000);
		to[i] = pxt_slot_of(piece);
	}
	return true;
}

/* The continuation slots of any record, with tag 0; @to: its begin slot.  False: as above. */
#if PXT_SMALL
bool pxt_take_rest(
    const struct pxt_ring *ring, uint32_t pos, uint32_t seq, struct pxt_slot *to, uint32_t slots);
#else
PXT_INLINE bool pxt_take_rest(
    const struct pxt_ring *ring, uint32_t pos, uint32_t seq, struct pxt_slot *to, uint32_t slots)
{
	return pxt_take_rest_here(ring, pos, seq, to, slots);
}
#endif

/* @count bytes of a piece's 12. */
PXT_INLINE void pxt_take_plain_copy(unsigned char *to, const struct pxt_halves *piece, size_t count)
{
	uint32_t first = (uint32_t)(piece->low >> 32);
	unsigned char bytes[PXT_SLOT_PAYLOAD];

	if (PXT_LIKELY(count >= sizeof(bytes))) {
		memcpy(to, &first, 4);
		memcpy(to + 4, &piece->high, 8);
		return;
	}
	memcpy(bytes, &first, 4);
	memcpy(bytes + 4, &piece->high, 8);
	memcpy(to, bytes, count);
}

/*
 * The record @seq at @pos, which begins with @info: its context, and its data up to @room bytes.
 * False: overwritten, or not whole.  Bound: the slots of the record.
 */
PXT_INLINE bool pxt_take_plain(const struct pxt_ring *ring, uint32_t pos, uint32_t seq,
    uint32_t info, unsigned char *data, size_t room, uint64_t *ctx)
{
	const uint32_t end = pos + pxt_info_slots(info, PXT_CTX_BYTES);
	size_t left = pxt_info_bytes(info);
	struct pxt_halves piece;
	uint32_t first;

	if (!pxt_take_piece(ring, ++pos, seq, &piece))
		return false;
	*ctx = piece.low >> 32 | piece.high << 32;
	first = (uint32_t)(piece.high >> 32);
	left = left < room ? left : room;
	if (PXT_LIKELY(left >= 4)) {
		memcpy(data, &first, 4);
		data += 4;
		left -= 4;
	} else {
		for (; left; left--, first >>= 8)
			*data++ = (unsigned char)first;
	}
	while (++pos != end) {
		size_t count = left < PXT_SLOT_PAYLOAD ? left : PXT_SLOT_PAYLOAD;

		if (!pxt_take_piece(ring, pos, seq, &piece))
			return false;
		if (PXT_UNLIKELY(!count))
			continue;
		pxt_take_plain_copy(data, &piece, count);
		data += count;
		left -= count;
	}
	return true;
}

/* ---- One item ---- */

/* Up to @room bytes of the data, all of the origin.  False: overwritten meanwhile. */
bool pxt_take_data(struct pxt_stream *stream, const struct pxt_item *item, void *data, size_t room,
    struct pxt_origin *origin);
/* Who and where, out of a record's context. */
void pxt_take_who(
    const struct pxt_block *block, uint64_t ctx, uint64_t stamp, struct pxt_origin *origin);
/* The record as item->slots slots with tag 0.  False: overwritten meanwhile. */
bool pxt_take_slots(struct pxt_stream *stream, const struct pxt_item *item, struct pxt_slot *slots);

/* ---- The next event: next(), data and done() in one step ---- */

/* Whatever it is. */
enum pxt_next pxt_take_any(struct pxt_stream *stream, struct pxt_item *item, void *data,
    size_t room, struct pxt_origin *origin);

/* Who recorded it, and where; most often the thread that recorded the event before. */
PXT_INLINE void pxt_take_origin(
    struct pxt_stream *stream, uint64_t ctx, uint64_t stamp, struct pxt_origin *origin)
{
	uint32_t index = pxt_context_thread(ctx);
	uint32_t given;

	/* After the record: pairs with the fence of who was given the place. */
	atomic_thread_fence(memory_order_acquire);
	given = atomic_load_explicit(&pxt_threads_given, memory_order_relaxed);
	if (PXT_UNLIKELY(index != stream->last_thread || given != stream->last_given)) {
		pxt_take_who(stream->block, ctx, stamp, &stream->last_origin);
		stream->last_given = given;
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
	struct pxt_walk walk = pxt_consumer_walk_begin(block);
	struct pxt_halves front;
	uint64_t ctx;

	if (PXT_UNLIKELY(!pxt_consumer_walk_front(block, &walk, &front) ||
	                 !pxt_take_is_plain((uint32_t)(front.low >> 32)) ||
	                 !pxt_take_plain(&walk.ring, (uint32_t)walk.pos, (uint32_t)walk.seq,
	                     (uint32_t)(front.low >> 32), data, room, &ctx)))
		return pxt_take_any(stream, item, data, room, origin);
	pxt_take_origin(stream, ctx, front.high, origin);
	item->info = (uint32_t)(front.low >> 32);
	item->stamp = front.high;
	item->ticks = front.high < block->last_ticks ? block->last_ticks : front.high;
	item->lost_before = block->lost_before;
	block->lost_before = 0;
	pxt_consumer_walk_on(&walk, pxt_info_slots(item->info, PXT_CTX_BYTES));
	pxt_consumer_walk_end(stream, &walk, front.high);
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

/* ---- Records in a row, for the flusher of a log ---- */

/*
 * Records in a row, as slots with tag 0, as long as it is plain what comes next.  None
 * may be taken that way now: records is 0, and next() tells.
 */
struct pxt_run {
	struct pxt_slot *to;
	uint32_t room; /* slots at @to */
	uint32_t slots;
	uint32_t records;
	uint32_t last_id;
	uint64_t least; /* stamp, and ... */
	uint64_t most;  /* ... the largest one */
};
/* Records with stamps up to @until, @to and @room as the caller set them; they are done. */
void pxt_take_run(struct pxt_stream *stream, struct pxt_run *run, uint64_t until);

#endif
