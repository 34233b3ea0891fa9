/* SPDX-License-Identifier: MIT */
/* take.c - what an item of the sequence holds: data and origin, or the slots of a log; see take.h. */
#include "core/read/take.h"

/* ---- One item ---- */

static uint64_t little(const unsigned char *bytes, uint32_t count)
{
	uint64_t value = 0;

	for (uint32_t i = 0; i < count; i++)
		value |= (uint64_t)bytes[i] << 8 * i;
	return value;
}

void pxt_take_who(
    const struct pxt_block *block, uint64_t ctx, uint64_t stamp, struct pxt_origin *origin)
{
	origin->address = pxt_context_address(ctx);
	origin->thread = 0;
	origin->pid = block->pid;
	origin->known =
	    pxt_threads_find(pxt_context_thread(ctx), stamp, &origin->thread, &origin->pid);
}

/* By newer records, or spoiled by a writer that was stopped for a lap (ruling 23): look again. */
static void overwritten(struct pxt_stream *stream, const struct pxt_item *item)
{
	struct pxt_lane *lane = pxt_block_lane(stream->block, item->lane);

	lane->front_state = PXT_FRONT_UNKNOWN;
	pxt_block_end_turn(stream->block);
	pxt_lane_notice_laps(stream->block);
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

	if (!PXT_SMALL && pxt_take_is_plain(item->info)) {
		if (!pxt_take_plain(&ring, (uint32_t)ring.lane->pos, (uint32_t)ring.lane->seq,
		        item->info, data, room, &got.ctx))
			return false;
	} else if (!read_pieces(&ring, item, data, room, &got)) {
		return false;
	}
	pxt_take_who(stream->block, got.ctx, item->stamp, origin);
	if (PXT_UNLIKELY(pxt_info_extra(item->info))) {
		(void)pxt_extra_unpack(&got.thread, pxt_context_thread(got.ctx));
		origin->thread = got.thread;
		origin->pid = got.pid;
		origin->known = true;
	}
	return true;
}

bool pxt_take_data(struct pxt_stream *stream, const struct pxt_item *item, void *data, size_t room,
    struct pxt_origin *origin)
{
	uint32_t bytes = pxt_info_bytes(item->info);

	if (PXT_LIKELY(item->kind == PXT_ITEM_RECORD)) {
		if (PXT_LIKELY(read_record(stream, item, data, room, origin)))
			return true;
		overwritten(stream, item);
		return false;
	}
	pxt_take_who(stream->block, item->ctx, UINT64_MAX, origin);
	if (pxt_info_extra(item->info)) {
		origin->thread = item->thread;
		(void)pxt_extra_unpack(&origin->thread, pxt_context_thread(item->ctx));
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
	uint32_t bytes = pxt_info_bytes(item->info);
	uint32_t at = 0;

	for (uint32_t i = 0; i != PXT_CTX_BYTES; i++)
		head[at++] = (unsigned char)(item->ctx >> 8 * i);
	if (pxt_info_extra(item->info)) {
		for (uint32_t i = 0; i < 8; i++)
			head[at++] = (unsigned char)(item->thread >> 8 * i);
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
bool pxt_take_rest(
    const struct pxt_ring *ring, uint32_t pos, uint32_t seq, struct pxt_slot *to, uint32_t slots)
{
	return pxt_take_rest_here(ring, pos, seq, to, slots);
}
#endif

bool pxt_take_slots(struct pxt_stream *stream, const struct pxt_item *item, struct pxt_slot *slots)
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
	if (pxt_take_rest(
	        &ring, (uint32_t)ring.lane->pos, (uint32_t)ring.lane->seq, slots, item->slots))
		return true;
	overwritten(stream, item);
	return false;
}

/* ---- The next event ---- */

/* How long "nothing stored" is taken to mean "nothing reserved": 2 us. */
#define IDLE_PER_SECOND 500000u

/*
 * A moment ago all lanes were empty, and no slot was stored since at their positions.  A reader that
 * polls so takes no line from the writers but that of the slot it waits for.
 */
static bool is_idle(struct pxt_block *block)
{
	if (!block->idle_since || PXT_PRODUCERS_LANES(block) ||
	    pxt_port_ticks() - block->idle_since >= pxt_divide(pxt_clock.hz, IDLE_PER_SECOND) ||
	    pxt_block_state(block) != PXT_GATE_RUNNING)
		return false;
	for (uint32_t i = 0; i <= pxt_block_last(block); i++) {
		struct pxt_ring ring = pxt_block_ring(block, i);
		uint32_t pos = (uint32_t)ring.lane->pos;
		uint32_t want = pxt_tag(ring.mask, pos, (uint32_t)ring.lane->seq);

		if (pxt_tag_ahead(pxt_slot_peek_acquire(&ring.slots[pos & ring.mask]), want) >= 0)
			return false;
	}
	return true;
}

enum pxt_next pxt_take_any(struct pxt_stream *stream, struct pxt_item *item, void *data,
    size_t room, struct pxt_origin *origin)
{
	struct pxt_block *block = stream->block;
	enum pxt_next found;

	if (is_idle(block))
		return PXT_NEXT_NONE;
	do {
		found = pxt_consumer_next(stream, item);
		if (found == PXT_NEXT_NONE)
			block->idle_since = block->snapshot;
		if (found != PXT_NEXT_READY)
			return found;
	} while (!pxt_take_data(stream, item, data, room, origin));
	pxt_consumer_done(stream, item);
	return PXT_NEXT_READY;
}

#if PXT_SMALL
enum pxt_next pxt_take_next(struct pxt_stream *stream, struct pxt_item *item, void *data,
    size_t room, struct pxt_origin *origin)
{
	return pxt_take_here(stream, item, data, room, origin);
}
#endif

/*
 * ---- Records in a row ----
 *
 * What next(), slots() and done() do one by one, as long as the turn (consumer.h) tells what comes
 * next.  In a long turn slots that are reserved are taken many at a time: each is loaded once, and what was
 * loaded is checked and copied.
 */

#define STRETCH_AFTER 16u  /* taken one by one, before head, the writers' word, is worth a look */
#define STRETCH_SLOTS 512u /* that are looked at before they count */
#define AHEAD_BYTES   2048u

PXT_INLINE void add_record(struct pxt_run *run, uint32_t info, uint64_t ticks, uint32_t slots)
{
	run->slots += slots;
	run->records++;
	run->least = ticks < run->least ? ticks : run->least;
	run->most = ticks > run->most ? ticks : run->most;
	run->last_id = pxt_info_id(info);
}

PXT_INLINE uint32_t least_of(uint32_t a, uint32_t b)
{
	return a < b ? a : b;
}

/*
 * The lines of @slots slots ahead are on their way from the writer's cache, a few at a time: more at once would wait
 * for each other.  Behind the ring's end this asks for nothing that is read.
 */
PXT_INLINE void fetch_ahead(const pxt_cell *from, uint32_t slots)
{
	const char *ahead = (const char *)from + AHEAD_BYTES;

	/* Bound: the lines of the record. */
	for (uint32_t i = 0; i < slots * PXT_SLOT_BYTES; i += PXT_CACHE_LINE)
		__builtin_prefetch(ahead + i);
}

/* Slots in a row, and what was taken of them. */
struct stretch {
	const pxt_cell *from;
	const pxt_cell *end;
	struct pxt_slot *to;
	uint32_t seq;
	uint32_t last; /* word 1 of the last record */
	uint64_t least;
	uint64_t most;
};

/* Stamps hardly ever step back, so one comparison is for both: the first record's is looked at in the end. */
PXT_INLINE void note_stamp(struct stretch *stretch, uint64_t ticks)
{
	if (PXT_LIKELY(ticks >= stretch->most))
		stretch->most = ticks;
	else if (ticks < stretch->least)
		stretch->least = ticks;
}

/* Records of @slots slots, which fit: those that are whole, and no mark. */
PXT_INLINE void take_row(struct stretch *stretch, uint32_t mask, uint32_t lap, uint32_t slots)
{
	const uint32_t first = stretch->seq & mask;
	const uint32_t fit = (uint32_t)(stretch->end - stretch->from) - slots;
	/* Behind it the next does not fit, or the numbers in tags begin anew. */
	const pxt_cell *last = stretch->from + least_of(fit, (mask - first) * slots);
	struct stretch row = *stretch;
	uint32_t tag = first | lap;
	uint32_t before;

	/* Bound: each round takes a record. */
	do {
		const uint32_t info = pxt_record_info(row.from);

		before = tag;
		if (pxt_info_id(info) == PXT_ID_MARK ||
		    pxt_info_slots(info, PXT_CTX_BYTES) != slots)
			break;
		/* Bound: the slots of the stretch. */
		do {
			uint64_t ticks;

			fetch_ahead(row.from, slots);
			if (!pxt_record_take(row.to, row.from, slots, info, tag, &ticks))
				break;
			note_stamp(&row, ticks);
			row.from += slots;
			row.to += slots;
			tag++;
		} while (row.from <= last);
		if (tag != before)
			row.last = info;
	} while (tag != before && row.from <= last);
	row.seq += tag - (first | lap);
	*stretch = row;
}

/* Apart, so that each has the registers for itself; most records have two slots. */
static PXT_NOINLINE void take_pairs(struct stretch *stretch, uint32_t mask, uint32_t lap)
{
	take_row(stretch, mask, lap, 2);
}

static PXT_NOINLINE void take_longer(
    struct stretch *stretch, uint32_t mask, uint32_t lap, uint32_t slots)
{
	take_row(stretch, mask, lap, slots);
}

/* The next @left slots, of which nothing was taken yet. */
PXT_INLINE struct stretch stretch_of(
    const struct pxt_walk *walk, const struct pxt_run *run, uint32_t left)
{
	const pxt_cell *from = &walk->ring.slots[(uint32_t)walk->pos & walk->ring.mask];

	return (struct stretch){ .from = from,
		.end = from + left,
		.to = run->to + run->slots,
		.seq = (uint32_t)walk->seq,
		.least = run->least,
		.most = run->most };
}

/* @kept: as the stretch was.  Takes back the first record whose stamp is not below @end, and what is after it. */
static PXT_NOINLINE void end_before(struct stretch *stretch, struct stretch kept, uint64_t end)
{
	/* Bound: the slots of the stretch. */
	while (kept.to != stretch->to && pxt_slot_ticks(kept.to) < end) {
		const uint32_t slots = pxt_info_slots(kept.to->word[1], PXT_CTX_BYTES);

		note_stamp(&kept, pxt_slot_ticks(kept.to));
		kept.last = kept.to->word[1];
		kept.from += slots;
		kept.to += slots;
		kept.seq++;
	}
	*stretch = kept;
}

/*
 * Of the next @left slots, which are in a row, the records that come before anything else.  They count
 * once it is known that nobody was refused before them.
 */
static void take_stretch(struct pxt_block *block, struct pxt_walk *walk, struct pxt_run *run,
    uint32_t left, uint64_t end)
{
	const uint32_t mask = walk->ring.mask;
	const uint32_t lap = (uint32_t)walk->pos & ~mask & PXT_TAG_MASK;
	const pxt_cell *from = &walk->ring.slots[(uint32_t)walk->pos & mask];
	const struct pxt_slot *to = run->to + run->slots;
	struct stretch stretch = stretch_of(walk, run, left);
	uint32_t records;
	uint32_t before;

	/* Bound: each round takes a record. */
	do {
		const uint32_t info = pxt_record_info(stretch.from);
		const uint32_t slots = pxt_info_slots(info, PXT_CTX_BYTES);

		before = stretch.seq;
		if (slots > (size_t)(stretch.end - stretch.from))
			break;
		if (slots == 2u)
			take_pairs(&stretch, mask, lap);
		else
			take_longer(&stretch, mask, lap, slots);
	} while (stretch.seq != before && stretch.from != stretch.end);
	if (stretch.most >= end)
		end_before(&stretch, stretch_of(walk, run, left), end);
	records = stretch.seq - (uint32_t)walk->seq;
	PXT_TESTPOINT(PXT_TP_STRETCH_READ);
	/* Who was refused says so before it stores a record.  Pairs with the slot's release. */
	atomic_thread_fence(memory_order_acquire);
	if (!records || pxt_lane_gap_is_unreported(block, walk->records + records - 1u))
		return;
	run->slots += (uint32_t)(stretch.from - from);
	run->records += records;
	run->least = stretch.least;
	run->most = stretch.most;
	if (pxt_slot_ticks(to) < run->least)
		run->least = pxt_slot_ticks(to);
	run->last_id = pxt_info_id(stretch.last);
	walk->pos += (uint32_t)(stretch.from - from);
	walk->seq += records;
	walk->records += records;
}

/* What was reserved by now, until something is not plain. */
static PXT_NOINLINE void take_stretches(
    struct pxt_block *block, struct pxt_walk *walk, struct pxt_run *run, uint64_t end)
{
	const struct pxt_ring *ring = &walk->ring;
	uint32_t size = ring->mask + 1u;
	uint32_t before;
	uint64_t head;
	uint64_t seq;

	pxt_lane_head(ring->lane, &head, &seq);
	/* Bound: each round takes a record, of those in the lane. */
	do {
		uint32_t at = (uint32_t)walk->pos & ring->mask;
		uint64_t left = head - walk->pos;
		uint32_t count = least_of(STRETCH_SLOTS, run->room - run->slots);

		/* Overtaken, by as much as it may be; or behind a carry all is elsewhere. */
		if (left > size || !left ||
		    PXT_SEQ_MASK - ((uint32_t)walk->seq & PXT_SEQ_MASK) < STRETCH_SLOTS)
			return;
		count = least_of(count, least_of((uint32_t)left, size - at));
		before = run->records;
		take_stretch(block, walk, run, count, end);
	} while (run->records != before);
}

/* What the lane has in its turn.  False: the next is not wanted, has no room, or is not whole. */
static bool take_turn(struct pxt_stream *stream, struct pxt_run *run, uint64_t until)
{
	struct pxt_block *block = stream->block;
	struct pxt_walk walk = pxt_consumer_walk_begin(block);
	uint64_t end = until < walk.turn_end ? until + 1u : walk.turn_end;
	uint32_t stretch_at = STRETCH_AFTER;
	struct pxt_halves front;
	bool wanted = true;

	/* Bound: each round moves the position forward, and fills the room. */
	while (pxt_consumer_walk_front(block, &walk, &front)) {
		uint32_t info = (uint32_t)(front.low >> 32);
		uint32_t slots = pxt_info_slots(info, PXT_CTX_BYTES);

		wanted = front.high <= until && slots <= run->room - run->slots &&
		         pxt_take_rest(&walk.ring, (uint32_t)walk.pos, (uint32_t)walk.seq,
		             run->to + run->slots, slots);
		if (!wanted)
			break;
		front.low = (front.low & UINT64_C(0xffffffff00000000)) | PXT_SLOT_BEGIN;
		run->to[run->slots] = pxt_slot_of(front);
		add_record(run, info, front.high, slots);
		pxt_consumer_walk_on(&walk, slots);
		if (!PXT_SMALL && walk.records >= stretch_at && pxt_record_takes()) {
			take_stretches(block, &walk, run, end);
			stretch_at = walk.records + STRETCH_AFTER;
		}
	}
	if (walk.records)
		pxt_consumer_walk_end(stream, &walk, run->most);
	return wanted;
}

void pxt_take_run(struct pxt_stream *stream, struct pxt_run *run, uint64_t until)
{
	struct pxt_block *block = stream->block;
	uint32_t before;

	run->slots = 0;
	run->records = 0;
	run->last_id = 0;
	run->least = UINT64_MAX;
	run->most = 0;
	if (block->lost_before || !block->turn_end)
		return;
	/* Bound: each round takes a record; who has none was overtaken since: only next() can tell. */
	do
		before = run->records;
	while (
	    take_turn(stream, run, until) && run->records != before && pxt_merge_next_turn(block));
}
