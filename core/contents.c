/* SPDX-License-Identifier: MIT */
/* contents.c - what an item of the sequence holds: data and origin, or the slots of a log. */
#include "core/consumer.h"
#include "core/context.h"

#include <string.h>
#include <trace.h>

static uint64_t little(const unsigned char *bytes, uint32_t count)
{
	uint64_t value = 0;

	for (uint32_t i = 0; i < count; i++)
		value |= (uint64_t)bytes[i] << 8 * i;
	return value;
}

static void origin_of(const struct pxt_block *block, uint64_t ctx, struct pxt_origin *origin)
{
	origin->address = pxt_context_address(ctx);
	origin->thread = 0;
	origin->pid = block->pid;
	origin->known = pxt_threads_find(pxt_context_thread(ctx), &origin->thread, &origin->pid);
}

/* By newer records, or spoiled by a writer that was stopped for a lap (ruling 23): look again. */
static void overwritten(struct pxt_stream *stream, const struct pxt_item *item)
{
	struct pxt_lane *lane = pxt_block_lane(stream->block, item->lane);

	lane->front_state = PXT_FRONT_UNKNOWN;
	pxt_consumer_look_again(stream->block);
	pxt_consumer_notice_laps(stream);
}

/* What stands before the data. */
struct pxt_payload {
	uint64_t ctx;
	uint64_t thread; /* only with the extra bit */
	int32_t pid;
};

#if PXT_CTX_BYTES == 8 && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
#define PXT_PLAIN_CONTEXT 1

/* Loads a continuation slot; false: it is not one of this record. */
PXT_INLINE bool load_piece(
    const struct pxt_ring *ring, uint32_t pos, uint32_t seq, struct pxt_halves *piece)
{
	*piece = pxt_slot_load_halves(&ring->slots[pos & ring->mask]);
	if (PXT_UNLIKELY((uint32_t)piece->low != pxt_tag(ring->mask, pos, seq)))
		return false;
	PXT_TESTPOINT(PXT_TP_PIECE_READ);
	return true;
}

/* The end of the data, or as much of it as there is room for. */
PXT_INLINE void copy_end(unsigned char *to, const struct pxt_halves *piece, size_t count)
{
	uint32_t first = (uint32_t)(piece->low >> 32);
	unsigned char bytes[PXT_SLOT_PAYLOAD];

	memcpy(bytes, &first, 4);
	memcpy(bytes + 4, &piece->high, 8);
	memcpy(to, bytes, count);
}

/* The context is one number in the first continuation slot, with the first 4 bytes of data. */
PXT_INLINE bool read_plain(const struct pxt_ring *ring, const struct pxt_item *item,
    unsigned char *data, size_t room, uint64_t *ctx)
{
	uint32_t seq = (uint32_t)ring->lane->seq;
	uint32_t pos = (uint32_t)ring->lane->pos + 1u;
	uint32_t end = pos + item->slots - 1u;
	size_t left = pxt_info_bytes(item->info);
	struct pxt_halves piece;
	uint32_t first;

	if (!load_piece(ring, pos, seq, &piece))
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
	/* Bound: the slots of the record. */
	for (pos++; pos != end; pos++) {
		if (!load_piece(ring, pos, seq, &piece))
			return false;
		first = (uint32_t)(piece.low >> 32);
		if (PXT_LIKELY(left >= PXT_SLOT_PAYLOAD)) {
			memcpy(data, &first, 4);
			memcpy(data + 4, &piece.high, 8);
			data += PXT_SLOT_PAYLOAD;
			left -= PXT_SLOT_PAYLOAD;
		} else if (left) {
			copy_end(data, &piece, left);
			left = 0;
		}
	}
	return true;
}

#else
#define PXT_PLAIN_CONTEXT 0

PXT_INLINE bool read_plain(const struct pxt_ring *ring, const struct pxt_item *item,
    unsigned char *data, size_t room, uint64_t *ctx)
{
	(void)ring;
	(void)item;
	(void)data;
	(void)room;
	*ctx = 0;
	return false;
}

#endif

/* Any context, any byte order, with the identity of a thread that has no place in the table. */
static bool read_pieces(const struct pxt_ring *ring, const struct pxt_item *item,
    unsigned char *data, size_t room, struct pxt_payload *got)
{
	uint32_t pos = (uint32_t)ring->lane->pos;
	uint32_t seq = (uint32_t)ring->lane->seq;
	unsigned char head[PXT_CTX_BYTES + PXT_THREAD_EXTRA_BYTES] = { 0 };
	uint32_t heads = PXT_CTX_BYTES + (pxt_info_extra(item->info) ? PXT_THREAD_EXTRA_BYTES : 0);
	uint32_t total = heads + pxt_info_bytes(item->info);
	uint32_t at = 0;

	for (uint32_t i = 1; i < item->slots; i++, at += PXT_SLOT_PAYLOAD) {
		struct pxt_slot slot = pxt_slot_load(&ring->slots[(pos + i) & ring->mask]);
		const unsigned char *piece = (const unsigned char *)&slot.word[1];
		uint32_t count = total - at < PXT_SLOT_PAYLOAD ? total - at : PXT_SLOT_PAYLOAD;
		uint32_t skip = 0;

		if (slot.word[0] != pxt_tag(ring->mask, pos + i, seq))
			return false;
		PXT_TESTPOINT(PXT_TP_PIECE_READ);
		if (at < heads) {
			skip = heads - at < count ? heads - at : count;
			memcpy(head + at, piece, skip);
		}
		if (skip < count && at + skip - heads < room) {
			size_t to = at + skip - heads;
			size_t fits = room - to;

			memcpy(data + to, piece + skip, count - skip < fits ? count - skip : fits);
		}
	}
	got->ctx = little(head, PXT_CTX_BYTES);
	got->thread = little(head + PXT_CTX_BYTES, 8);
	got->pid = (int32_t)little(head + PXT_CTX_BYTES + 8, 4);
	return true;
}

static bool read_record(struct pxt_stream *stream, const struct pxt_item *item, unsigned char *data,
    size_t room, struct pxt_origin *origin)
{
	struct pxt_ring ring = pxt_block_ring(stream->block, item->lane);
	bool extra = pxt_info_extra(item->info);
	struct pxt_payload got;

	if (PXT_UNLIKELY(extra) || !PXT_PLAIN_CONTEXT) {
		if (!read_pieces(&ring, item, data, room, &got))
			return false;
	} else if (!read_plain(&ring, item, data, room, &got.ctx)) {
		return false;
	}
	origin_of(stream->block, got.ctx, origin);
	if (PXT_UNLIKELY(extra)) {
		origin->thread = got.thread;
		origin->pid = got.pid;
		origin->known = true;
	}
	return true;
}

/* Any context, any byte order, also of a thread that has no place in the table. */
static void origin_of_pieces(
    struct pxt_stream *stream, const struct pxt_slot *slots, struct pxt_origin *origin)
{
	unsigned char head[PXT_CTX_BYTES + PXT_THREAD_EXTRA_BYTES];
	uint32_t heads = PXT_CTX_BYTES;

	heads += pxt_info_extra(slots[0].word[1]) ? PXT_THREAD_EXTRA_BYTES : 0u;
	for (uint32_t i = 0; i < heads; i++)
		head[i] = ((const unsigned char *)&slots[1u + i / PXT_SLOT_PAYLOAD]
		               .word[1])[i % PXT_SLOT_PAYLOAD];
	origin_of(stream->block, little(head, PXT_CTX_BYTES), origin);
	if (heads == PXT_CTX_BYTES)
		return;
	origin->thread = little(head + PXT_CTX_BYTES, 8);
	origin->pid = (int32_t)little(head + PXT_CTX_BYTES + 8, 4);
	origin->known = true;
}

void pxt_consumer_origin(struct pxt_stream *stream, const struct pxt_slot *slots, uint64_t *ctx,
    struct pxt_origin *origin)
{
	uint64_t here = PXT_CTX_NONE;

	if (PXT_PLAIN_CONTEXT && PXT_LIKELY(!pxt_info_extra(slots[0].word[1]))) {
		here = slots[1].word[1] | (uint64_t)slots[1].word[2] << 32;
		if (here == *ctx)
			return;
		origin_of(stream->block, here, origin);
	} else {
		origin_of_pieces(stream, slots, origin);
	}
	*ctx = here;
}

bool pxt_consumer_read(struct pxt_stream *stream, const struct pxt_item *item, void *data,
    size_t room, struct pxt_origin *origin)
{
	uint32_t bytes = pxt_info_bytes(item->info);

	if (PXT_LIKELY(item->kind == PXT_ITEM_RECORD)) {
		if (PXT_LIKELY(read_record(stream, item, data, room, origin)))
			return true;
		overwritten(stream, item);
		return false;
	}
	origin_of(stream->block, item->ctx, origin);
	if (pxt_info_extra(item->info)) {
		origin->thread = pxt_port_thread();
		origin->known = true;
	}
	if (bytes && room)
		memcpy(data, item->data, bytes < room ? bytes : room);
	return true;
}

/* The slots of a record that is in no lane. */
static void build(const struct pxt_item *item, struct pxt_slot *slots)
{
	unsigned char head[PXT_CTX_BYTES + PXT_THREAD_EXTRA_BYTES + PXT_MADE_BYTES];
	uint64_t thread = pxt_port_thread();
	uint32_t bytes = pxt_info_bytes(item->info);
	uint32_t at = 0;

	for (uint32_t i = 0; i < PXT_CTX_BYTES; i++)
		head[at++] = (unsigned char)(item->ctx >> 8 * i);
	if (pxt_info_extra(item->info)) {
		for (uint32_t i = 0; i < 8; i++)
			head[at++] = (unsigned char)(thread >> 8 * i);
		for (uint32_t i = 0; i < 4; i++)
			head[at++] = (unsigned char)((uint32_t)pxt_process_pid() >> 8 * i);
	}
	memcpy(head + at, item->data, bytes);
	at += bytes;
	for (uint32_t i = 1, from = 0; i < item->slots; i++, from += PXT_SLOT_PAYLOAD) {
		memset(&slots[i], 0, sizeof(slots[i]));
		memcpy(&slots[i].word[1], head + from,
		    at - from < PXT_SLOT_PAYLOAD ? at - from : PXT_SLOT_PAYLOAD);
	}
}

bool pxt_consumer_slots(
    struct pxt_stream *stream, const struct pxt_item *item, struct pxt_slot *slots)
{
	struct pxt_ring ring = pxt_block_ring(stream->block, item->lane);
	uint32_t pos = (uint32_t)ring.lane->pos;
	uint32_t seq = (uint32_t)ring.lane->seq;

	slots[0].word[0] = PXT_SLOT_BEGIN;
	slots[0].word[1] = item->info;
	/* What is reported of it is the log reader's to make. */
	slots[0].word[2] = (uint32_t)item->stamp;
	slots[0].word[3] = (uint32_t)(item->stamp >> 32);
	if (PXT_UNLIKELY(item->kind != PXT_ITEM_RECORD)) {
		build(item, slots);
		return true;
	}
	for (uint32_t i = 1; i < item->slots; i++) {
		struct pxt_halves piece = pxt_slot_load_halves(&ring.slots[(pos + i) & ring.mask]);

		if ((uint32_t)piece.low != pxt_tag(ring.mask, pos + i, seq)) {
			overwritten(stream, item);
			return false;
		}
		piece.low &= UINT64_C(0xffffffff00000000);
		slots[i] = pxt_slot_of(piece);
		PXT_TESTPOINT(PXT_TP_PIECE_READ);
	}
	return true;
}
