/* SPDX-License-Identifier: MIT */
/* scribble.c - see scribble.h.  It knows all that the library knows, and keeps to none of it. */
#include "scribble.h"

#include "base/attr.h"
#include "blackbox/blackbox.h"
#include "core/process/directory.h"
#include "core/read/consumer.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static uint64_t state;
static struct pxt_block *block;
static size_t block_bytes;
static uint32_t lanes;
static uint32_t mask;
static struct pxt_directory *replica;

static uint64_t any(void)
{
	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return state * UINT64_C(0x2545f4914f6cdd1d);
}

static uint64_t below(uint64_t limit)
{
	return any() % limit;
}

/* Likely to be wrong in an interesting way. */
static uint64_t odd(void)
{
	switch (below(8)) {
	case 0:
		return below(4);
	case 1:
		return UINT64_MAX - below(4);
	case 2:
		return UINT64_C(1) << below(64);
	case 3:
		return (UINT64_C(1) << below(64)) - 1u;
	case 4:
		return UINT32_MAX - below(4);
	default:
		return any();
	}
}

static void find_memory(void)
{
	for (unsigned i = 0; i < CONFIG_PTRACE_MAX_STREAMS; i++) {
		if (pxt_streams[i].block && pxt_attr_producer(&pxt_streams[i].block->attr)) {
			block = pxt_streams[i].block;
			block_bytes = pxt_streams[i].block_bytes;
		}
	}
	if (!block || !pxt_replica_of(PXT_REPLICA_PRODUCERS))
		_exit(8);
	lanes = block->lane_mask + 1u;
	mask = block->slot_mask;
	replica = pxt_replica_of(PXT_REPLICA_PRODUCERS);
}

static struct pxt_lane *some_lane(void)
{
	return pxt_block_lane(block, (uint32_t)below(lanes));
}

static uint64_t some_stamp(void)
{
	uint64_t now = pxt_port_ticks();

	switch (below(6)) {
	case 0:
		return odd();
	case 1:
		return now + below(UINT64_C(1) << 40);
	case 2:
		return now - below(UINT64_C(1) << 40);
	default:
		return now;
	}
}

static uint32_t some_info(void)
{
	static const uint32_t ids[] = { 0, 1, 2, 3, 8, PXT_ID_MARK, PXT_ID_VOID, PXT_ID_UNNAMED,
		PXT_ID_USER_FIRST, PXT_ID_USER_FIRST + 1, PXT_ID_USER_FIRST + 2, PXT_ID_COUNT - 1,
		1023 };
	uint32_t id = below(3) ? ids[below(sizeof(ids) / sizeof(ids[0]))] : (uint32_t)below(1024);

	return id | (uint32_t)below(below(2) ? 16 : 4096) << 10 | (uint32_t)below(4) << 22 |
	       (uint32_t)below(256) << 24;
}

/* ---- Kinds ---- */

static void words(void)
{
	if (below(2))
		((volatile uint64_t *)(void *)block)[below(block_bytes / 8)] = odd();
	else
		((volatile uint64_t *)(void *)replica)[below(sizeof(*replica) / 8)] = odd();
}

static void heads(void)
{
	struct pxt_lane *lane = some_lane();
	uint64_t head = pxt_cursor_peek(&lane->head);

	switch (below(6)) {
	case 0:
		pxt_cursor_set(&lane->head, odd());
		break;
	case 1:
		pxt_twins_set(&lane->epoch, odd());
		break;
	case 2:
		pxt_cursor_set(&lane->head, head - (below(100) << 32));
		break;
	case 3:
		pxt_cursor_set(&lane->head, head + (below(2 * (uint64_t)mask) << 32));
		break;
	case 4:
		pxt_cursor_set(&lane->head, head + 2 * below(100));
		break;
	default:
		pxt_twins_set(&lane->epoch, pxt_epoch_make((uint32_t)odd(), (uint32_t)below(4)));
		break;
	}
}

static void slots(void)
{
	struct pxt_lane *lane = some_lane();
	uint64_t head = pxt_cursor_peek(&lane->head);
	uint32_t pos = pxt_head_pos(head) - (uint32_t)below(mask + 1u);
	uint32_t seq = pxt_head_seq(head) - (uint32_t)below(mask + 1u);
	uint64_t tag = pxt_tag(mask, pos, seq) | (below(2) ? PXT_SLOT_BEGIN : 0u);

	pxt_slot_store(
	    &pxt_lane_slots(lane)[pos & mask], (uint64_t)some_info() << 32 | tag, some_stamp());
}

/* As a writer would, but for what is in it. */
static void records(void)
{
	static unsigned char data[4096 + 64];
	struct pxt_lane *lane = some_lane();
	uint32_t info = some_info();
	uint32_t count = pxt_info_slots(info, PXT_CTX_BYTES);
	struct pxt_place place = {
		.ring = { .lane = lane, .slots = pxt_lane_slots(lane), .mask = mask }
	};
	struct pxt_ring_event event = { .data = data + 32,
		.bytes = pxt_info_bytes(info),
		.info = info,
		.ctx = below(4) ? below(8) : odd(),
		.thread = odd(),
		.pid = (uint32_t)odd(),
		.ticks = some_stamp() };
	uint64_t head;

	if (count > mask / 2u)
		return;
	head = pxt_cursor_add(&lane->head, (uint64_t)count << 32 | 2u);
	place.pos = pxt_head_pos(head);
	place.seq = pxt_head_seq(head);
	if (below(16) == 0)
		return; /* never finished */
	pxt_ring_store(&place, &event);
}

static void names(void)
{
	struct pxt_names *map = &replica->names;
	size_t at = (size_t)below(PXT_NAMES_ROOM);

	switch (below(5)) {
	case 0:
		atomic_store(&map->count, (uint32_t)(below(2) ? below(PXT_NAMES_MAX + 2u) : odd()));
		break;
	case 1:
		for (size_t i = 0; i < PXT_NAME_BYTES; i++)
			map->names[at][i] =
			    (char)(below(20) ? 'a' + (int)below(26) : (int)below(256));
		break;
	case 2:
		atomic_store(
		    &map->format_at[at], (uint32_t)(below(2) ? below(PXT_POOL_ROOM + 2u) : odd()));
		break;
	case 3:
		(void)strcpy(map->names[at], below(2) ? "posix_trace_error" : "posix_trace_start");
		break;
	default:
		memset(&map->pool[below(PXT_POOL_ROOM)], (int)below(256), 1);
		break;
	}
}

static void threads(void)
{
	struct pxt_thread *entry = &replica->threads.entry[below(16)];

	pxt_wide_set(&entry->thread, odd());
	atomic_store(&entry->tid, (int32_t)odd());
	atomic_store(&entry->pid, (int32_t)odd());
	memset(entry->name, 'n', sizeof(entry->name));
}

static void headers(void)
{
	unsigned char *at =
	    below(2) ? (unsigned char *)&block->header : (unsigned char *)&replica->header;

	at[below(sizeof(block->header))] = (unsigned char)any();
}

static void flicker(void)
{
	struct pxt_lane *lane = some_lane();
	uint64_t head = pxt_cursor_peek(&lane->head);
	uint32_t pos = pxt_head_pos(head) - 1u - (uint32_t)below(8);
	pxt_cell *cell = &pxt_lane_slots(lane)[pos & mask];
	uint64_t tag = pxt_tag(mask, pos, pxt_head_seq(head) - 1u);

	for (int i = 0; i < 200; i++)
		pxt_slot_store(cell, (uint64_t)some_info() << 32 | tag | (any() & PXT_SLOT_BEGIN),
		    some_stamp());
}

void scribble(uint64_t seed, unsigned kinds)
{
	static void (*const all[])(
	    void) = { words, heads, slots, records, names, threads, headers, flicker };

	state = seed | 1u;
	find_memory();
	for (uint64_t i = 0;; i++) {
		unsigned kind = (unsigned)below(8);

		if (kinds >> kind & 1u)
			all[kind]();
		if (i % 64 == 0)
			pxt_port_pause_ns(below(100000));
	}
}

void craft_record(const struct craft *craft)
{
	static unsigned char data[4096 + 64];
	uint32_t info = pxt_slot_info(craft->id, craft->bytes, false, craft->extra != 0, 0);
	uint32_t count = pxt_info_slots(info, PXT_CTX_BYTES);
	struct pxt_ring_event event = { .data = data + 32,
		.bytes = craft->bytes,
		.info = info,
		.ctx = craft->extra ? PXT_THREAD_EXTRA : craft->thread,
		.thread = 1234,
		.pid = craft->pid,
		.ticks = pxt_port_ticks() + (uint64_t)craft->later };
	struct pxt_place place;
	struct pxt_lane *lane;
	uint64_t head;

	memset(data, 'd', sizeof(data));
	find_memory();
	lane = pxt_block_lane(block, craft->lane);
	place.ring = (struct pxt_ring){ .lane = lane, .slots = pxt_lane_slots(lane), .mask = mask };
	head = pxt_cursor_add(&lane->head, (uint64_t)count << 32 | 2u);
	place.pos = pxt_head_pos(head);
	place.seq = pxt_head_seq(head);
	pxt_ring_store(&place, &event);
}

void craft_nothing(void)
{
	find_memory();
	(void)pxt_cursor_add(
	    &((struct pxt_lane *)(void *)(block + 1))->head, UINT64_C(2) << 32 | 2u);
}

void craft_head(unsigned quarters)
{
	struct pxt_lane *lane;

	find_memory();
	lane = (struct pxt_lane *)(void *)(block + 1);
	/* A quarter of the numbers is half as long: records of four slots. */
	pxt_twins_set(&lane->epoch, pxt_epoch_make(quarters, quarters / 2u));
}

void craft_name(uint32_t id, const char *bytes, uint32_t count)
{
	find_memory();
	memcpy(replica->names.names[id - PXT_ID_USER_FIRST], bytes, count);
	if (atomic_load(&replica->names.count) <= id - PXT_ID_USER_FIRST)
		atomic_store(&replica->names.count, id - PXT_ID_USER_FIRST + 1u);
}

uint64_t craft_ticks_per_second(void)
{
	return pxt_clock.hz;
}
