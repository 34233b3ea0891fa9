/* SPDX-License-Identifier: MIT */
/*
 * window.c - what was found out for one record is kept for the next ones (core/read/consumer.h: the turn),
 * and not for longer than it is true.  As in rules.c one thread plays all writers.
 */
#include "beside.h"
#include "conformance/story.h"
#include "core/control/control.h"
#include "core/process/context.h"
#include "core/process/process.h"
#include "suite.h"

#include <string.h>

static trace_id_t stream;
static struct pxt_block *block;

struct record {
	struct pxt_place place;
	struct pxt_ring_event event;
	int number;
};

/* Started, START read: there is a first snapshot. */
static void begin(int policy, unsigned lanes)
{
	const struct st_spec spec = { .policy = policy, .size = 4096, .lanes = lanes };
	struct pxt_stream *found;

	stream = st_create(&spec);
	found = pxt_handle_find_kind(stream, &pxt_stream_kind);
	CU_ASSERT_FATAL(found != NULL);
	block = found->block;
	PXT_EQ(posix_trace_start(stream), 0);
	st_expect(stream, "START");
}

static void end(void)
{
	PXT_EQ(posix_trace_shutdown(stream), 0);
}

static void reserve(struct record *record, uint32_t lane, int number)
{
	memset(record, 0, sizeof(*record));
	record->number = number;
	record->place.ring = pxt_block_ring(block, lane);
	record->event.data = (const unsigned char *)&record->number;
	record->event.bytes = sizeof(record->number);
	record->event.info =
	    pxt_slot_info((uint32_t)st_type(), sizeof(record->number), false, false, lane);
	record->event.ctx = pxt_context(100 + lane, NULL);
	(void)pxt_ring_reserve(
	    &record->place, pxt_info_slots(record->event.info, PXT_CTX_BYTES), 0);
}

static void finish(struct record *record, uint64_t ticks)
{
	record->event.ticks = ticks;
	pxt_ring_store(&record->place, &record->event);
}

static void put(uint32_t lane, int number, uint64_t ticks)
{
	struct record record;

	reserve(&record, lane, number);
	finish(&record, ticks);
}

static uint64_t now(void)
{
	return pxt_port_ticks_ordered();
}

/* Stamps before this are no longer close to what the clock says. */
static void let_time_pass(void)
{
	uint64_t until = now() + pxt_clock.hz / 300000u;

	while (now() < until)
		;
}

/* TIM-03 */
PXT_TEST(lanes_take_turns_by_stamp)
{
	static const unsigned char lanes[] = { 0, 2, 2, 0, 3, 2, 3, 0, 0, 3, 2, 0 };
	uint64_t base;

	begin(POSIX_TRACE_LOOP, 4);
	base = now();
	for (int i = 0; i < (int)sizeof(lanes); i++)
		put(lanes[i], i + 1, base + 10u * (uint64_t)i);
	let_time_pass();
	st_expect(stream, "1..12");
	end();
}

/* TIM-03: of equal stamps that of the lower lane comes first, whichever was read before. */
PXT_TEST(equal_stamps_come_in_the_order_of_lanes)
{
	uint64_t base;

	begin(POSIX_TRACE_LOOP, 2);
	base = now();
	put(1, 1, base);
	put(0, 2, base + 1u);
	put(1, 3, base + 1u);
	put(0, 4, base + 2u);
	let_time_pass();
	st_expect(stream, "1..4");
	end();
}

/* Rule 1 of core/read/merge.c */
PXT_TEST(a_turn_ends_with_its_snapshot)
{
	uint64_t later;

	begin(POSIX_TRACE_LOOP, 2);
	put(0, 1, now());
	later = now() + pxt_clock.hz / 100u;
	put(0, 3, later);
	let_time_pass();
	st_expect_most(stream, 1, "1");
	put(1, 2, now());
	st_expect_most(stream, 1, "2");
	while (now() <= later)
		;
	st_expect(stream, "3");
	end();
}

/* Rule 1 of core/read/merge.c */
PXT_TEST(a_turn_ends_at_what_an_unfinished_record_hides)
{
	const uint64_t holdback = pxt_holdback_ns;
	struct record late;
	uint64_t base;

	begin(POSIX_TRACE_LOOP, 2);
	pxt_holdback_ns = UINT64_C(10000000000);
	somebody_inside(true);
	base = now();
	put(0, 1, base);
	put(0, 4, base + 3u);
	reserve(&late, 1, 2);
	put(1, 3, base + 2u);
	let_time_pass();
	st_expect(stream, "1");
	finish(&late, base + 1u);
	st_expect(stream, "2..4");
	somebody_inside(false);
	pxt_holdback_ns = holdback;
	end();
}

/* DEC-42: START found no room in the lane, what follows it did. */
PXT_TEST(a_start_put_aside_comes_before_what_follows_it_though_a_turn_is_open)
{
	struct pxt_lane *lane;
	int number = 0;

	begin(POSIX_TRACE_UNTIL_FULL, 1);
	lane = pxt_block_lane(block, 0);
	while (atomic_load(&lane->limit) + block->slot_mask + 1u -
	           pxt_head_pos(pxt_cursor_load(&lane->head)) >
	       8u)
		st_say(++number);
	PXT_EQ(posix_trace_stop(stream), 0);
	st_expect_most(stream, 1, "1");
	PXT_EQ(posix_trace_start(stream), 0);
	CU_ASSERT(block->oob[0].info != 0);
	st_say(number + 1);
	st_expect(stream, st_text("2..%d STOP0 START %d", number, number + 1));
	end();
}

/* SYS-06: told also when the status noticed the gap first. */
PXT_TEST(a_gap_is_told_though_a_turn_is_open)
{
	struct posix_trace_status_info status;

	begin(POSIX_TRACE_LOOP, 1);
	for (int i = 1; i <= 10; i++)
		st_say(i);
	st_expect_most(stream, 1, "1");
	for (int i = 11; i <= 400; i++)
		st_say(i);
	PXT_EQ(posix_trace_get_status(stream, &status), 0);
	st_expect_most(stream, 2, "OVERFLOW RESUME");
	end();
}
