/* SPDX-License-Identifier: MIT */
/*
 * ring.c - reserving a place, with the reading of the counter (plain or ordered) in it, and storing a
 * record; see ring.h.
 */
#define PXT_TRACE_PATH /* format/compiler.h */
#include "core/ring/ring.h"

/*
 * Every writer of a quarter tries once; a failed try means that another one succeeded.  A
 * difference of 3 is a late writer of the quarter before: nothing to do.
 */
PXT_COLD void pxt_ring_bump_epoch(struct pxt_lane *lane, uint64_t head)
{
	uint64_t epoch = pxt_twins_peek(&lane->epoch);
	uint32_t pos_quarters = pxt_epoch_half((uint32_t)(epoch >> 32));
	uint32_t seq_quarters = pxt_epoch_half((uint32_t)epoch);
	uint64_t next;

	if ((((uint32_t)(head >> 62) - pos_quarters) & 3u) == 1u)
		pos_quarters++;
	if (((((uint32_t)head >> 30) - seq_quarters) & 3u) == 1u)
		seq_quarters++;
	next = pxt_epoch_make(pos_quarters, seq_quarters);
	if (next != epoch)
		pxt_twins_move(&lane->epoch, epoch, next);
}

/* So many marks in a row are passed: of stops and starts that nobody has read, without an event. */
#define MARKS_PASSED 8u

/*
 * This writer alone owns the slot of the first unread record now.  What is there is that record, if it was
 * ever finished; else the consumer must do without its stamp (0).  A mark has none; the record after it does.
 */
static PXT_COLD void note_lost(const struct pxt_ring *ring, uint32_t limit)
{
	uint64_t ticks = 0;

	for (uint32_t i = 0; i < MARKS_PASSED + 1u; i++) {
		struct pxt_slot old = pxt_slot_load(&ring->slots[(limit + i) & ring->mask]);

		if (!pxt_tag_begins(ring->mask, old.word[0], limit + i))
			break;
		if (pxt_info_id(old.word[1]) != PXT_ID_MARK) {
			ticks = pxt_slot_ticks(&old);
			break;
		}
	}
	pxt_wide_set(&ring->lane->first_lost, ticks);
}

static void take(struct pxt_place *place, uint64_t head, uint32_t used)
{
	PXT_TESTPOINT(PXT_TP_RESERVED);
	place->pos = pxt_head_pos(head);
	place->seq = pxt_head_seq(head);
	place->used = used;
	pxt_ring_keep_epoch(place->ring.lane, head);
}

enum pxt_reserve pxt_ring_reserve(struct pxt_place *place, uint32_t slots, unsigned how)
{
	struct pxt_lane *lane = place->ring.lane;
	const uint32_t size = place->ring.mask + 1u;
	uint32_t fast_end = atomic_load_explicit(&lane->fast_end, memory_order_acquire);
	uint64_t head = pxt_cursor_peek(&lane->head);

	/* Bound: N + 1 rounds.  Each further one means that head has moved; see ring.h. */
	PXT_BOUND(tries, (unsigned long long)size + 1u);
	for (uint32_t round = 0; round <= size; round++) {
		uint32_t needed = slots + pxt_carry(pxt_head_seq(head));
		uint32_t limit;
		uint32_t used;

		PXT_ROUND(tries);
		if (head & PXT_HEAD_CLOSED)
			return PXT_CLOSED;
		PXT_TESTPOINT(PXT_TP_HEAD_SEEN);
		/* Pairs with the consumer's release: what it freed, it has read. */
		limit = atomic_load_explicit(&lane->limit, memory_order_acquire);
		PXT_TESTPOINT(PXT_TP_LIMIT_SEEN);
		used = pxt_head_pos(head) + needed - limit;
		if (used > size && (how & PXT_TAKE_FREE)) {
			/* Full, unless @head is so old that the limit has passed it. */
			uint64_t again = pxt_cursor_peek(&lane->head);

			if (again == head)
				return PXT_NO_ROOM;
			head = again;
			continue;
		}
		place->ticks = how & PXT_TAKE_ORDERED ? pxt_port_ticks_ordered() : pxt_port_ticks();
		PXT_TESTPOINT(PXT_TP_STAMPED);
		if (!pxt_cursor_swap(&lane->head, &head, head + pxt_head_step(slots)))
			continue;
		take(place, head, how & PXT_TAKE_FREE ? used : 0);
		if (how & PXT_TAKE_FREE)
			return used == size ? PXT_RESERVED_LAST : PXT_RESERVED;
		/* Its stamp goes before the record does. */
		if (PXT_UNLIKELY(pxt_ring_covers(size - 1u, place->pos, needed, limit)))
			note_lost(&place->ring, limit);
		pxt_ring_raise_fast_end(&place->ring, fast_end, place->pos + needed, limit);
		return PXT_RESERVED;
	}
	return PXT_NO_ROOM;
}

void pxt_ring_reserve_closed(struct pxt_place *place, uint32_t slots)
{
	struct pxt_lane *lane = place->ring.lane;
	uint32_t limit = atomic_load_explicit(&lane->limit, memory_order_acquire);

	take(place, pxt_cursor_add(&lane->head, pxt_head_step(slots)), 0);
	if (pxt_ring_covers(place->ring.mask, place->pos, slots, limit))
		note_lost(&place->ring, limit);
}

bool pxt_ring_reserve_mark(struct pxt_place *place, bool overwrite)
{
	struct pxt_lane *lane = place->ring.lane;
	uint32_t limit = atomic_load_explicit(&lane->limit, memory_order_acquire);
	uint32_t pos = pxt_head_pos(pxt_cursor_peek(&lane->head));

	/* Writers that do not overwrite find the lane closed, so this room stays. */
	if (!overwrite && pos + 1u - limit > place->ring.mask + 1u)
		return false;
	take(place, pxt_cursor_add(&lane->head, UINT64_C(1) << 32), 0);
	if (pxt_ring_covers(place->ring.mask, place->pos, 1u, limit))
		note_lost(&place->ring, limit);
	return true;
}

/* One continuation slot with 1 to 12 bytes of @bytes. */
PXT_INLINE void put_piece(
    const struct pxt_place *place, uint32_t pos, const unsigned char *bytes, uint32_t count)
{
	uint32_t tag = pxt_tag(place->ring.mask, pos, place->seq);
	uint32_t first;
	uint64_t rest;

	if (count >= PXT_SLOT_PAYLOAD) {
		first = pxt_piece_load4(bytes);
		rest = pxt_piece_load8(bytes + 4);
	} else if (count > 4) {
		first = pxt_piece_load4(bytes);
		rest = pxt_piece_load_some(bytes + 4, count - 4);
	} else {
		first = (uint32_t)pxt_piece_load_some(bytes, count);
		rest = 0;
	}
	pxt_ring_put(&place->ring, pos, pxt_piece_pair(tag, first), rest);
	PXT_TESTPOINT(PXT_TP_MIDDLE_STORED);
}

#if PXT_CTX_BYTES

/* Twelve bytes; the four before them are the event's, too, and may be loaded along. */
PXT_INLINE void put_whole(pxt_cell *slot, uint32_t tag, const unsigned char *bytes)
{
	if (PXT_UNLIKELY(pxt_tag_ahead(pxt_slot_peek(slot), tag) > 0))
		return;
	PXT_TESTPOINT(PXT_TP_LOOKED);
	pxt_slot_store_piece(slot, tag, bytes);
	PXT_TESTPOINT(PXT_TP_MIDDLE_STORED);
}

#else

PXT_INLINE void put_whole(pxt_cell *slot, uint32_t tag, const unsigned char *bytes)
{
	if (PXT_UNLIKELY(pxt_tag_ahead(pxt_slot_peek(slot), tag) > 0))
		return;
	PXT_TESTPOINT(PXT_TP_LOOKED);
	pxt_slot_store(
	    slot, pxt_piece_pair(tag, pxt_piece_load4(bytes)), pxt_piece_load8(bytes + 4));
	PXT_TESTPOINT(PXT_TP_MIDDLE_STORED);
}

#endif

#if PXT_CTX_BYTES == 8 && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__

#define FIRST_DATA 4u /* bytes of data in the slot that carries the context */

/* Built in registers: a slot put together in memory costs a stall when it is loaded as a whole. */
PXT_INLINE void put_context(const struct pxt_place *place, const struct pxt_ring_event *event)
{
	uint32_t pos = place->pos + 1u;
	uint32_t tag = pxt_tag(place->ring.mask, pos, place->seq);
	uint32_t data = event->bytes >= 4
	                    ? pxt_piece_load4(event->data)
	                    : (uint32_t)pxt_piece_load_some(event->data, event->bytes);

	pxt_ring_put(&place->ring, pos, pxt_piece_pair(tag, (uint32_t)event->ctx),
	    pxt_piece_pair((uint32_t)(event->ctx >> 32), data));
	PXT_TESTPOINT(PXT_TP_MIDDLE_STORED);
}

#else

#define FIRST_DATA ((PXT_SLOT_PAYLOAD - PXT_CTX_BYTES) % PXT_SLOT_PAYLOAD)

PXT_INLINE void put_context(const struct pxt_place *place, const struct pxt_ring_event *event)
{
	unsigned char piece[PXT_SLOT_PAYLOAD] = { 0 };
	uint32_t count = event->bytes > FIRST_DATA ? FIRST_DATA : event->bytes;

	for (uint32_t i = 0; i != PXT_CTX_BYTES; i++)
		piece[i] = (unsigned char)(event->ctx >> 8 * i);
	if (count)
		memcpy(piece + PXT_CTX_BYTES, event->data, count);
	put_piece(place, place->pos + 1u, piece, PXT_SLOT_PAYLOAD);
}

#endif

/*
 * The rare record of a thread without a place in the table: 12 bytes of identity are between
 * context and data, so its payload is put together in pieces.
 */
static PXT_COLD void store_extra(const struct pxt_place *place, const struct pxt_ring_event *event)
{
	unsigned char head[PXT_CTX_BYTES + PXT_THREAD_EXTRA_BYTES];
	uint32_t total = (uint32_t)sizeof(head) + event->bytes;
	uint32_t pos = place->pos + 1u;

	for (uint32_t i = 0; i != PXT_CTX_BYTES; i++)
		head[i] = (unsigned char)(event->ctx >> 8 * i);
	for (uint32_t i = 0; i < 8; i++)
		head[PXT_CTX_BYTES + i] = (unsigned char)(event->thread >> 8 * i);
	for (uint32_t i = 0; i < 4; i++)
		head[PXT_CTX_BYTES + 8 + i] = (unsigned char)(event->pid >> 8 * i);
	/* Bound: the slots of the record. */
	PXT_BOUND(slots, pxt_slots_for(total) - 1u);
	for (uint32_t at = 0; at < total; at += PXT_SLOT_PAYLOAD, pos++) {
		unsigned char piece[PXT_SLOT_PAYLOAD] = { 0 };

		PXT_ROUND(slots);
		for (uint32_t i = 0; i < PXT_SLOT_PAYLOAD; i++) {
			if (at + i < total)
				piece[i] = at + i < sizeof(head)
				               ? head[at + i]
				               : event->data[at + i - sizeof(head)];
		}
		put_piece(place, pos, piece, PXT_SLOT_PAYLOAD);
	}
}

/* Whole pieces in a row, up to the ring's end. */
void pxt_ring_store_rest(pxt_cell *slots, uint32_t mask, uint32_t pos, uint32_t seq,
    const unsigned char *data, uint32_t left)
{
	const struct pxt_place place = {
		.ring = { .slots = slots, .mask = mask }, .pos = pos, .seq = seq
	};

	/* Bound: 2 runs, before the ring's end and after it; a record is no longer than half of it. */
	PXT_BOUND(runs, 2);
	while (left > PXT_SLOT_PAYLOAD) {
		uint32_t at = pos & mask;
		uint32_t whole = (left - 1u) / PXT_SLOT_PAYLOAD;
		uint32_t run = whole < mask + 1u - at ? whole : mask + 1u - at;
		uint32_t tag = pxt_tag(mask, pos, seq);
		pxt_cell *slot = slots + at;
		const unsigned char *end = data + (size_t)run * PXT_SLOT_PAYLOAD;

		PXT_ROUND(runs);
		/* Bound: the slots of the record. */
		PXT_BOUND(slots, mask / 2u + 1u);
		for (; data != end; data += PXT_SLOT_PAYLOAD) {
			PXT_ROUND(slots);
			put_whole(slot++, tag, data);
		}
		pos += run;
		left -= run * PXT_SLOT_PAYLOAD;
	}
	put_piece(&place, pos, data, left);
}

void pxt_ring_store(const struct pxt_place *place, const struct pxt_ring_event *event)
{
	uint32_t tag = pxt_tag(place->ring.mask, place->pos, place->seq) | PXT_SLOT_BEGIN;
	uint32_t pos = place->pos + 1u;
	const unsigned char *data = event->data;
	uint32_t left = event->bytes;

	pxt_ring_put(&place->ring, place->pos, pxt_piece_pair(tag, event->info), event->ticks);
	PXT_TESTPOINT(PXT_TP_BEGIN_STORED);
	if (PXT_UNLIKELY(pxt_info_extra(event->info))) {
		store_extra(place, event);
		return;
	}
	if (PXT_CTX_BYTES) {
		put_context(place, event);
		if (left <= FIRST_DATA)
			return;
		data += FIRST_DATA;
		left -= FIRST_DATA;
		pos++;
	}
	if (left)
		pxt_ring_store_rest(
		    place->ring.slots, place->ring.mask, pos, place->seq, data, left);
}

void pxt_ring_store_mark(const struct pxt_place *place, uint32_t kind, uint64_t number)
{
	uint32_t tag = pxt_tag(place->ring.mask, place->pos, place->seq) | PXT_SLOT_BEGIN;
	uint32_t info = pxt_slot_info(PXT_ID_MARK, kind, false, false, PXT_CPU_UNKNOWN);

	pxt_ring_put(&place->ring, place->pos, pxt_piece_pair(tag, info), number);
}
