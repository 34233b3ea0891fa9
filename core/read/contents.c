/* SPDX-License-Identifier: MIT */
/* contents.c - what an item of the sequence holds: data and origin, or the slots of a log. */
#include "core/read/contents.h"

#include "core/process/context.h"
#include "core/read/lap.h"
#include "core/read/plain.h"

#include <string.h>
#include <trace.h>

static uint64_t little(const unsigned char *bytes, uint32_t count)
{
	uint64_t value = 0;

	for (uint32_t i = 0; i < count; i++)
		value |= (uint64_t)bytes[i] << 8 * i;
	return value;
}

void pxt_contents_origin(const struct pxt_block *block, uint64_t ctx, struct pxt_origin *origin)
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
	pxt_block_end_turn(stream->block);
	pxt_lap_notice_all(stream->block);
}

/* What is before the data. */
struct pxt_payload {
	uint64_t ctx;
	uint64_t thread; /* only with the extra bit */
	int32_t pid;
};

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
	struct pxt_payload got = { 0 };

	if (!PXT_SMALL && pxt_plain_is(item->info)) {
		if (!pxt_plain_read(&ring, (uint32_t)ring.lane->pos, (uint32_t)ring.lane->seq,
		        item->info, data, room, &got.ctx))
			return false;
	} else if (!read_pieces(&ring, item, data, room, &got)) {
		return false;
	}
	pxt_contents_origin(stream->block, got.ctx, origin);
	if (PXT_UNLIKELY(pxt_info_extra(item->info))) {
		origin->thread = got.thread;
		origin->pid = got.pid;
		origin->known = true;
	}
	return true;
}

bool pxt_contents_read(struct pxt_stream *stream, const struct pxt_item *item, void *data,
    size_t room, struct pxt_origin *origin)
{
	uint32_t bytes = pxt_info_bytes(item->info);

	if (PXT_LIKELY(item->kind == PXT_ITEM_RECORD)) {
		if (PXT_LIKELY(read_record(stream, item, data, room, origin)))
			return true;
		overwritten(stream, item);
		return false;
	}
	pxt_contents_origin(stream->block, item->ctx, origin);
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

	for (uint32_t i = 0; i != PXT_CTX_BYTES; i++)
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

#if PXT_SMALL
bool pxt_plain_rest(
    const struct pxt_ring *ring, uint32_t pos, uint32_t seq, struct pxt_slot *to, uint32_t slots)
{
	return pxt_plain_rest_here(ring, pos, seq, to, slots);
}
#endif

bool pxt_contents_slots(
    struct pxt_stream *stream, const struct pxt_item *item, struct pxt_slot *slots)
{
	struct pxt_ring ring = pxt_block_ring(stream->block, item->lane);

	slots[0].word[0] = PXT_SLOT_BEGIN;
	slots[0].word[1] = item->info;
	/* What is reported of it is the log reader's to make. */
	slots[0].word[2] = (uint32_t)item->stamp;
	slots[0].word[3] = (uint32_t)(item->stamp >> 32);
	if (PXT_UNLIKELY(item->kind != PXT_ITEM_RECORD)) {
		build(item, slots);
		return true;
	}
	if (pxt_plain_rest(
	        &ring, (uint32_t)ring.lane->pos, (uint32_t)ring.lane->seq, slots, item->slots))
		return true;
	overwritten(stream, item);
	return false;
}
