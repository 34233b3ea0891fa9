/* SPDX-License-Identifier: MIT */
/* consumer.c - the sequence of items that a stream holds; see consumer.h. */
#include "core/consumer.h"

#include "core/context.h"
#include "core/control.h"
#include "core/merge.h"

#include <string.h>
#include <trace.h>

/* ---- Automatic events ---- */

/* The consumer's own thread stands for automatic events (DEC-39). */
static void make(
    struct pxt_item *item, uint32_t id, uint64_t ticks, const void *data, uint32_t bytes)
{
	if (pxt_self.epoch != pxt_fork.epoch)
		(void)pxt_threads_register();
	item->kind = PXT_ITEM_MADE;
	item->lane = 0;
	item->info =
	    pxt_slot_info(id, bytes, false, pxt_context_extra(pxt_self.index), PXT_CPU_UNKNOWN);
	item->slots = pxt_info_slots(item->info, PXT_CTX_BYTES);
	item->ticks = ticks;
	item->ctx = pxt_context(pxt_self.index, NULL);
	if (bytes)
		memcpy(item->data, data, bytes);
}

static void make_start(struct pxt_block *block, struct pxt_item *item)
{
	make(item, PXT_ID_START, block->start_ticks, pxt_start_data(block), PXT_START_BYTES);
}

/* Writers may have died between turning the gate and saying when: then the last stamp serves. */
static void make_stop(struct pxt_block *block, struct pxt_item *item)
{
	const int automatic = 1;

	make(item, PXT_ID_STOP, pxt_cursor_load(&block->auto_stop_ticks), &automatic,
	    sizeof(automatic));
}

/* A gap is reported before whatever comes next: OVERFLOW, RESUME, then that. */
static void put_gap_first(struct pxt_block *block, struct pxt_item *item)
{
	uint64_t ticks = item->ticks;

	if (block->gap && pxt_stream_wants(block, PXT_ID_OVERFLOW))
		make(item, PXT_ID_OVERFLOW, block->gap_ticks, NULL, 0);
	else if ((block->gap || block->resume_due) && pxt_stream_wants(block, PXT_ID_RESUME))
		make(item, PXT_ID_RESUME, ticks, NULL, 0);
}

/* ---- What comes next ---- */

static bool side_is_next(struct pxt_block *block)
{
	if (!block->side[0].info)
		return false;
	for (uint32_t lane = 0; lane <= block->lane_mask; lane++) {
		if (pxt_block_lane(block, lane)->pos < block->side[0].pos[lane])
			return false;
	}
	return true;
}

static void take_side(const struct pxt_side *side, struct pxt_item *item)
{
	item->kind = PXT_ITEM_SIDE;
	item->lane = 0;
	item->info = side->info;
	item->slots = pxt_info_slots(side->info, PXT_CTX_BYTES);
	item->ticks = side->ticks;
	item->ctx = side->ctx;
	memcpy(item->data, side->data, sizeof(side->data));
}

static enum pxt_next pick(struct pxt_block *block, uint32_t *lane)
{
	struct pxt_ring ring;

	if (block->lane_mask)
		return pxt_merge_pick(block, lane);
	ring = pxt_block_ring(block, 0);
	*lane = 0;
	switch (pxt_lane_look(block, &ring)) {
	case PXT_FRONT_READY:
		return PXT_NEXT_READY;
	case PXT_FRONT_BUSY:
		return PXT_NEXT_HELD;
	case PXT_FRONT_MARK:
	case PXT_FRONT_UNKNOWN:
	case PXT_FRONT_EMPTY:
	default:
		return PXT_NEXT_NONE;
	}
}

static enum pxt_next next_record(struct pxt_block *block, struct pxt_item *item)
{
	enum pxt_next found;
	const struct pxt_slot *front;

	if (PXT_UNLIKELY(side_is_next(block))) {
		take_side(&block->side[0], item);
		return PXT_NEXT_READY;
	}
	found = pick(block, &item->lane);
	if (found != PXT_NEXT_READY)
		return found;
	front = &pxt_block_lane(block, item->lane)->front;
	item->kind = PXT_ITEM_RECORD;
	item->info = front->word[1];
	item->slots = pxt_info_slots(item->info, PXT_CTX_BYTES);
	item->ticks = pxt_slot_ticks(front);
	return PXT_NEXT_READY;
}

/* Behind the last record of an automatically stopped stream. */
static bool next_stop(struct pxt_block *block, struct pxt_item *item)
{
	bool due =
	    block->owes_stop || (pxt_block_state(block) == PXT_GATE_AUTO && !block->stop_told);

	if (!due || !pxt_stream_wants(block, PXT_ID_STOP) || !pxt_consumer_drained(block))
		return false;
	make_stop(block, item);
	return true;
}

enum pxt_next pxt_consumer_next(struct pxt_stream *stream, struct pxt_item *item)
{
	struct pxt_block *block = stream->block;
	enum pxt_next found = PXT_NEXT_READY;

	if (PXT_UNLIKELY(block->owes_start)) {
		make_start(block, item);
	} else if (PXT_UNLIKELY(block->stop_told)) {
		/* What came since, from a writer that is late, belongs behind the START. */
		found = PXT_NEXT_NONE;
	} else {
		found = next_record(block, item);
		if (found == PXT_NEXT_NONE && next_stop(block, item))
			found = PXT_NEXT_READY;
	}
	if (found != PXT_NEXT_READY)
		return found;
	if (PXT_UNLIKELY(block->gap | block->resume_due))
		put_gap_first(block, item);
	item->stamp = item->ticks;
	if (item->ticks < block->last_ticks)
		item->ticks = block->last_ticks;
	/* Nobody read a clock for what is made here; its moment may even be unknown. */
	if (item->kind == PXT_ITEM_MADE)
		item->stamp = item->ticks;
	item->lost_before = block->lost_before;
	return PXT_NEXT_READY;
}

/* ---- Done with it ---- */

static void done_side(struct pxt_block *block)
{
	block->retrieved += !block->side[0].automatic;
	for (uint32_t i = 1; i < PXT_SIDES; i++)
		block->side[i - 1] = block->side[i];
	block->side[PXT_SIDES - 1].info = 0;
}

static void done_made(struct pxt_block *block, uint32_t id)
{
	if (id == PXT_ID_OVERFLOW) {
		block->gap = 0;
		block->resume_due = 1;
	} else if (id == PXT_ID_RESUME) {
		block->gap = 0;
		block->resume_due = 0;
	} else if (id == PXT_ID_START) {
		block->owes_start = 0;
	} else if (block->owes_stop) {
		block->owes_stop = 0;
	} else {
		block->stop_told = 1;
	}
}

static void done_record(struct pxt_block *block, const struct pxt_item *item)
{
	struct pxt_ring ring = pxt_block_ring(block, item->lane);

	pxt_lane_advance(block, &ring, item->slots);
	block->retrieved++;
	if (block->lane_mask)
		pxt_merge_consumed(block, item->lane);
	PXT_TESTPOINT(PXT_TP_CONSUMED);
}

void pxt_consumer_settle(struct pxt_stream *stream)
{
	struct pxt_block *block = stream->block;

	if (pxt_block_state(block) != PXT_GATE_AUTO)
		return;
	if (!block->stop_told && pxt_stream_wants(block, PXT_ID_STOP))
		return;
	/* Behind a STOP that was handed out there is nothing but late writers' records. */
	if (block->stop_told || pxt_consumer_drained(block))
		pxt_stream_restart(stream);
}

void pxt_consumer_done(struct pxt_stream *stream, const struct pxt_item *item)
{
	struct pxt_block *block = stream->block;

	block->last_ticks = item->ticks;
	block->lost_before = 0;
	block->turn++;
	if (PXT_LIKELY(item->kind == PXT_ITEM_RECORD))
		done_record(block, item);
	else if (item->kind == PXT_ITEM_SIDE)
		done_side(block);
	else
		done_made(block, pxt_info_id(item->info));
	if (PXT_UNLIKELY(pxt_block_state(block) == PXT_GATE_AUTO || block->owes_stop)) {
		block->freed_since_full |= item->kind == PXT_ITEM_RECORD;
		if (!block->with_log)
			pxt_consumer_settle(stream);
	}
}

/* ---- Its contents ---- */

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
	pxt_merge_forget(lane);
	pxt_consumer_notice_laps(stream);
}

static bool read_record(struct pxt_stream *stream, const struct pxt_item *item, unsigned char *data,
    size_t room, struct pxt_origin *origin)
{
	struct pxt_ring ring = pxt_block_ring(stream->block, item->lane);
	uint32_t pos = (uint32_t)ring.lane->pos;
	uint32_t seq = (uint32_t)ring.lane->seq;
	unsigned char head[PXT_CTX_BYTES + PXT_THREAD_EXTRA_BYTES + 1];
	uint32_t heads = PXT_CTX_BYTES + (pxt_info_extra(item->info) ? PXT_THREAD_EXTRA_BYTES : 0);
	uint32_t total = heads + pxt_info_bytes(item->info);
	uint32_t at = 0;

	for (uint32_t i = 1; i < item->slots; i++, at += PXT_SLOT_PAYLOAD) {
		struct pxt_slot slot = pxt_slot_load(&ring.slots[(pos + i) & ring.mask]);
		const unsigned char *piece = (const unsigned char *)&slot.word[1];
		uint32_t count = total - at < PXT_SLOT_PAYLOAD ? total - at : PXT_SLOT_PAYLOAD;
		uint32_t skip = 0;

		if (slot.word[0] != pxt_tag(ring.mask, pos + i, seq))
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
	origin_of(stream->block, little(head, PXT_CTX_BYTES), origin);
	if (PXT_UNLIKELY(pxt_info_extra(item->info))) {
		origin->thread = little(head + PXT_CTX_BYTES, 8);
		origin->pid = (int32_t)little(head + PXT_CTX_BYTES + 8, 4);
		origin->known = true;
	}
	return true;
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
		slots[i] = pxt_slot_load(&ring.slots[(pos + i) & ring.mask]);
		if (slots[i].word[0] != pxt_tag(ring.mask, pos + i, seq)) {
			overwritten(stream, item);
			return false;
		}
		slots[i].word[0] = 0;
		PXT_TESTPOINT(PXT_TP_PIECE_READ);
	}
	return true;
}
