/* SPDX-License-Identifier: MIT */
/*
 * hand.h - records put into lanes by hand: one thread plays all writers; it reserves and finishes records
 * in lanes of its choice, with stamps of its choice.
 */
#ifndef LANES_HAND_H
#define LANES_HAND_H

#include "beside.h"
#include "conformance/story.h"
#include "core/control/control.h"
#include "core/process/context.h"
#include "core/process/process.h"
#include "core/read/consumer.h"
#include "core/testpoints.h"
#include "suite.h"

#include <string.h>

#define NO_END UINT64_C(10000000000) /* a hold-back time that is never over */

static trace_id_t stream;
static struct pxt_block *block;

struct record {
	struct pxt_place place;
	struct pxt_ring_event event;
	unsigned char data[64];
};

/* @bytes of the record's data, which the caller fills, as an event of @type. */
static inline bool reserve_of(
    struct record *record, uint32_t lane, uint32_t type, uint32_t bytes, uint32_t thread)
{
	bool reserved;

	record->place.ring = pxt_block_ring(block, lane);
	record->event.data = record->data;
	record->event.bytes = bytes;
	record->event.info = pxt_slot_info(type, bytes, false, false, lane);
	record->event.ctx = pxt_context(thread, NULL);
	reserved = pxt_ring_reserve(&record->place,
	               pxt_info_slots(record->event.info, PXT_CTX_BYTES), 0) == PXT_RESERVED;
	/* A reader that found nothing a moment ago looks at head all the same (core/read/take.c). */
	if (!block->with_log)
		block->idle_since = 0;
	return reserved;
}

static inline void reserve(struct record *record, uint32_t lane, int number, uint32_t bytes)
{
	memset(record, 0, sizeof(*record));
	memcpy(record->data, &number, sizeof(number));
	(void)reserve_of(record, lane, (uint32_t)st_type(), bytes, 100 + lane);
}

static inline void finish(struct record *record, uint64_t ticks)
{
	record->event.ticks = ticks;
	pxt_ring_store(&record->place, &record->event);
}

static inline void put_long(
    struct record *record, uint32_t lane, int number, uint32_t bytes, uint64_t ticks)
{
	reserve(record, lane, number, bytes);
	finish(record, ticks);
}

static inline void put(uint32_t lane, int number, uint64_t ticks)
{
	struct record record;

	put_long(&record, lane, number, 4, ticks);
}

/* Its slot number @piece (from 0) is as if nobody had written it. */
static inline void lose_piece(const struct record *record, uint32_t piece)
{
	const struct pxt_ring *ring = &record->place.ring;

	pxt_slot_store(&ring->slots[(record->place.pos + piece) & ring->mask], 0, 0);
}

static inline uint64_t now(void)
{
	return pxt_port_ticks_ordered();
}

static inline void wait_until(uint64_t ticks)
{
	while (now() <= ticks)
		;
}

/* Stamps before this are no longer close to what the clock says. */
static inline void let_time_pass(void)
{
	wait_until(now() + pxt_clock.hz / 300000u);
}

/* The hold-back time is the usual one until the test says otherwise. */
static inline void use(trace_id_t trid)
{
	static uint64_t usual;
	struct pxt_stream *found = pxt_handle_find_kind(trid, &pxt_stream_kind);

	CU_ASSERT_FATAL(found != NULL);
	stream = trid;
	block = found->block;
	if (!usual)
		usual = pxt_holdback_ns;
	pxt_holdback_ns = usual;
}

static inline void open_stream(int policy, unsigned lanes)
{
	use(st_create(&(const struct st_spec){ .policy = policy, .size = 4096, .lanes = lanes }));
}

/* Running, START read: the reader's first snapshot is taken. */
static inline void open_running(int policy, unsigned lanes)
{
	open_stream(policy, lanes);
	PXT_EQ(posix_trace_start(stream), 0);
	st_expect(stream, "START");
}

#endif
