/* SPDX-License-Identifier: MIT */
/*
 * guestlane.c - one lane of an attached process' memory, as its owner reads it (attach/guestlane.c):
 * what is ready, what holds others back and up to when, what is lost.  The memory is made here, and
 * the clock stands still, so that each word and each border is known.
 */
#include "attach/intake.h"
#include "core/control.h"
#include "fakes/fakes.h"
#include "suite.h"

#include <string.h>
#include <trace.h>

#define SLOTS 4096u
#define HZ    1000000000u

static struct {
	struct pxt_block block;
	struct pxt_lane lane[1];
	pxt_cell cells[SLOTS];
} memory;

static struct pxt_guest_memory guest;
static struct pxt_guest_pull pull;
static unsigned char payload[PXT_GUEST_PAYLOAD];
static struct pxt_guest_lane *const lane = &guest.lane[0];
static uint64_t now;

static void advance(uint64_t ticks)
{
	now += ticks;
	pxt_fake_clock_set(now);
}

static void begin(void)
{
	trace_id_t trid;

	/* The clock is chosen by the first stream. */
	if (!pxt_clock.hz) {
		pxt_fake_clock_start(HZ);
		PXT_EQ_FATAL(posix_trace_create(0, NULL, &trid), 0);
		PXT_EQ(posix_trace_shutdown(trid), 0);
	}
	advance(HZ);
	memset(&memory, 0, sizeof(memory));
	memset(&guest, 0, sizeof(guest));
	memory.block.slot_mask = SLOTS - 1u;
	memory.lane[0].cells_at = sizeof(struct pxt_lane);
	pxt_cursor_set(&memory.lane[0].head, (uint64_t)SLOTS << 32);
	pxt_twins_set(&memory.lane[0].epoch, 0);
	guest.memory = (const unsigned char *)&memory;
	guest.lanes = 1;
	guest.mask = SLOTS - 1u;
	guest.max_data = 1000;
	pull = (struct pxt_guest_pull){ .payload = payload, .clock = now };
	pxt_guest_lane_begin(lane, &guest, 0, now);
}

/* The place of a record of @slots, which is not stored. */
static struct pxt_place reserve(uint32_t slots)
{
	uint64_t head = pxt_cursor_add(&memory.lane[0].head, pxt_ring_step(slots));

	return (struct pxt_place){
		.ring = { .lane = &memory.lane[0], .slots = memory.cells, .mask = SLOTS - 1u },
		.pos = pxt_head_pos(head),
		.seq = pxt_head_seq(head)
	};
}

static struct pxt_event event_of(uint32_t id, uint32_t bytes, uint64_t ticks)
{
	static const unsigned char data[1000] = { 'a', 'b', 'c', 'd' };

	return (struct pxt_event){ .data = data,
		.bytes = bytes,
		.info = pxt_slot_info(id, bytes, false, false, 0),
		.ticks = ticks };
}

static struct pxt_place record(uint32_t bytes, uint64_t ticks)
{
	const struct pxt_event event = event_of(PXT_ID_UNNAMED, bytes, ticks);
	struct pxt_place place = reserve(pxt_info_slots(event.info, PXT_CTX_BYTES));

	pxt_ring_store(&place, &event);
	return place;
}

/* Its first slot alone: it has begun, and is not finished. */
static void record_begun(uint32_t bytes, uint64_t ticks)
{
	struct pxt_place place = record(bytes, ticks);

	memset(&memory.cells[(place.pos + 1u) & (SLOTS - 1u)], 0, sizeof(pxt_cell));
}

static void look(void)
{
	pxt_guest_lane_look(&pull, &guest, lane);
	pxt_guest_lane_fill(&pull, &guest, lane);
}

/* Takes what must be ready, with that stamp. */
static void take(uint64_t ticks)
{
	PXT_EQ(lane->front, PXT_GUEST_READY);
	PXT_EQ(lane->ticks, ticks);
	CU_ASSERT(pxt_guest_lane_copy(&pull, &guest, lane));
	pxt_guest_lane_advance(lane);
	pxt_guest_lane_fill(&pull, &guest, lane);
}

/* LPT-31 */
static void what_is_finished_is_ready_in_its_order_and_nothing_behind_it(void)
{
	begin();
	look();
	PXT_EQ(lane->front, PXT_GUEST_EMPTY);
	(void)record(0, now);
	(void)record(100, now + 1u);
	look();
	take(now);
	take(now + 1u);
	PXT_EQ(lane->front, PXT_GUEST_EMPTY);
	PXT_EQ(pull.lost, 0);
}

static void what_has_begun_behind_an_unfinished_record_bounds_it(void)
{
	begin();
	(void)reserve(3);
	(void)record(4, now + 50u);
	(void)record(4, now + 60u);
	look();
	PXT_EQ(lane->front, PXT_GUEST_STUCK);
	PXT_EQ(lane->floor, now + 50u);
	/* The unfinished one itself, when it has a stamp. */
	begin();
	record_begun(100, now + 40u);
	(void)record(4, now + 50u);
	look();
	PXT_EQ(lane->front, PXT_GUEST_STUCK);
	PXT_EQ(lane->floor, now + 40u);
}

static void a_bound_is_not_before_what_was_taken_nor_before_the_run(void)
{
	begin();
	guest.run_from = now + 10u;
	(void)record(4, now + 70u);
	(void)reserve(3);
	(void)record(4, now + 50u);
	look();
	take(now + 70u);
	PXT_EQ(lane->front, PXT_GUEST_STUCK);
	PXT_EQ(lane->floor, now + 70u);
	begin();
	guest.run_from = now + 80u;
	(void)record(4, now + 70u);
	(void)reserve(3);
	(void)record(4, now + 50u);
	look();
	take(now + 70u);
	PXT_EQ(lane->floor, now + 80u);
}

static void where_nothing_has_begun_nobody_is_held_back(void)
{
	begin();
	(void)reserve(3);
	(void)reserve(3);
	look();
	PXT_EQ(lane->front, PXT_GUEST_STUCK);
	PXT_EQ(lane->floor, UINT64_MAX);
}

/* 1024 slots: beyond, what was taken last is the bound, but in the last round. */
static void what_has_begun_is_looked_for_near_by_and_in_the_last_round_everywhere(void)
{
	for (uint32_t away = 1023; away <= 1024; away++) {
		begin();
		guest.run_from = now - 5u;
		for (uint32_t left = away; left > 0;) {
			uint32_t slots = left > 100 ? 64 : left;

			(void)reserve(slots);
			left -= slots;
		}
		(void)record(4, now + 50u);
		look();
		PXT_EQ(lane->floor, away < 1024 ? now + 50u : now - 5u);
		pull.last = true;
		look();
		PXT_EQ(lane->floor, now + 50u);
	}
}

/* Exactly the hold-back time, and what was lost is counted by number. */
static void an_unfinished_record_is_waited_for_as_long_as_the_hold_back_time(void)
{
	begin();
	(void)reserve(3);
	(void)reserve(3);
	(void)record(4, now + 50u);
	look();
	PXT_EQ(lane->front, PXT_GUEST_STUCK);
	advance(pxt_holdback_ticks() - 1u);
	look();
	PXT_EQ(lane->front, PXT_GUEST_STUCK);
	PXT_EQ(pull.lost, 0);
	advance(1);
	look();
	PXT_EQ(lane->front, PXT_GUEST_READY);
	PXT_EQ(pull.lost, 2);
	/* Now and for 64 times as long nobody waits for it. */
	PXT_EQ(guest.patient_from, now + 64u * pxt_holdback_ticks());
}

static void who_is_not_waited_for_loses_in_the_last_round_what_holds_others_back(void)
{
	begin();
	guest.patient_from = now + 1u;
	(void)reserve(3);
	(void)record(4, now + 50u);
	look();
	PXT_EQ(lane->front, PXT_GUEST_STUCK);
	pull.last = true;
	look();
	PXT_EQ(lane->front, PXT_GUEST_READY);
	PXT_EQ(pull.lost, 1);
	/* But what holds back nobody, as nothing stands behind it, may still be finished. */
	begin();
	guest.patient_from = now + 1u;
	pull.last = true;
	(void)reserve(3);
	look();
	PXT_EQ(lane->front, PXT_GUEST_STUCK);
	PXT_EQ(pull.lost, 0);
	/* From that moment on it is waited for again. */
	begin();
	guest.patient_from = now;
	pull.last = true;
	(void)reserve(3);
	(void)record(4, now + 50u);
	look();
	PXT_EQ(lane->front, PXT_GUEST_STUCK);
}

static void of_one_that_is_gone_nothing_is_waited_for(void)
{
	begin();
	guest.gone_at = now + 90u;
	(void)record(4, now + 50u);
	(void)reserve(3);
	(void)record(4, now + 60u);
	(void)reserve(5);
	look();
	take(now + 50u);
	take(now + 60u);
	PXT_EQ(lane->front, PXT_GUEST_EMPTY);
	PXT_EQ(pull.lost, 2);
	PXT_EQ(lane->pos, lane->head);
	PXT_EQ(lane->seq, lane->head_seq);
}

/* One slot less than the ring, the ring, one record more. */
static void a_ring_that_is_just_full_has_lost_nothing(void)
{
	begin();
	while (pxt_head_pos(pxt_cursor_load(&memory.lane[0].head)) < 2u * SLOTS)
		(void)record(4, now);
	PXT_EQ(pxt_head_pos(pxt_cursor_load(&memory.lane[0].head)), 2u * SLOTS);
	look();
	PXT_EQ(pull.lost, 0);
	PXT_EQ(lane->front, PXT_GUEST_READY);
	(void)record(4, now);
	look();
	CU_ASSERT(pull.lost > 0 && pull.lost <= SLOTS / 16u);
	/* What is left, and what was lost, is all there was. */
	while (lane->front == PXT_GUEST_READY) {
		pull.lost++;
		pxt_guest_lane_advance(lane);
		pxt_guest_lane_fill(&pull, &guest, lane);
	}
	PXT_EQ(pull.lost, SLOTS / 2u + 1u);
}

static const struct pxt_case cases[] = {
	PXT_CASE(what_is_finished_is_ready_in_its_order_and_nothing_behind_it),
	PXT_CASE(what_has_begun_behind_an_unfinished_record_bounds_it),
	PXT_CASE(a_bound_is_not_before_what_was_taken_nor_before_the_run),
	PXT_CASE(where_nothing_has_begun_nobody_is_held_back),
	PXT_CASE(what_has_begun_is_looked_for_near_by_and_in_the_last_round_everywhere),
	PXT_CASE(an_unfinished_record_is_waited_for_as_long_as_the_hold_back_time),
	PXT_CASE(who_is_not_waited_for_loses_in_the_last_round_what_holds_others_back),
	PXT_CASE(of_one_that_is_gone_nothing_is_waited_for),
	PXT_CASE(a_ring_that_is_just_full_has_lost_nothing),
};
PXT_SUITE("attach: a lane of a guest", cases)
