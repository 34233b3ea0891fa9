/* SPDX-License-Identifier: MIT */
/*
 * intake_lane.c - one lane of an attached process' memory, as its owner reads it (attach/intake_lane.c):
 * what is ready, what holds others back and up to when, what is lost.  The memory is made here, and
 * the clock stands still, so that each word and each border is known.
 */
#include "../beside.h"
#include "attach/intake.h"
#include "core/control/control.h"
#include "core/process/context.h"
#include "core/process/process.h"
#include "fakes/fakes.h"
#include "suite.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <trace.h>
#include <trace_np.h>

#define SLOTS 4096u
#define HZ    1000000000u

static struct {
	struct pxt_block block;
	struct pxt_lane lane[1];
	pxt_cell cells[SLOTS];
} memory;

static struct pxt_producer_memory producer;
static struct pxt_producer_pull pull;
static struct pxt_block owners_block;
static struct pxt_stream owners = { .block = &owners_block };
static struct pxt_slot copied[PXT_PRODUCER_ROW];
static struct pxt_intake_lane *const lane = &producer.lane[0];
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
	pxt_cells_init(memory.cells, SLOTS);
	memset(&producer, 0, sizeof(producer));
	memory.block.slot_mask = SLOTS - 1u;
	memory.lane[0].cells_at = sizeof(struct pxt_lane);
	pxt_cursor_set(&memory.lane[0].head, (uint64_t)SLOTS << 32);
	pxt_twins_set(&memory.lane[0].epoch, 0);
	producer.memory = (const unsigned char *)&memory;
	producer.lanes = 1;
	producer.mask = SLOTS - 1u;
	producer.last_mask = SLOTS - 1u;
	producer.max_data = 1000;
	UNREPORTED();
	pull = (struct pxt_producer_pull){ .stream = &owners, .clock = now };
	pxt_intake_lane_begin(lane, &producer, 0, now);
}

/* The place of a record of @slots, which is not stored. */
static struct pxt_place reserve(uint32_t slots)
{
	uint64_t head = pxt_cursor_add(&memory.lane[0].head, pxt_head_step(slots));

	return (struct pxt_place){
		.ring = { .lane = &memory.lane[0], .slots = memory.cells, .mask = SLOTS - 1u },
		.pos = pxt_head_pos(head),
		.seq = pxt_head_seq(head)
	};
}

/* The producer says that so much more was recorded. */
static void claim(uint32_t slots, uint32_t records)
{
	pxt_cursor *head = &memory.lane[0].head;

	/* Not by add(), which takes steps of one record. */
	pxt_cursor_set(head, pxt_cursor_load(head) + ((uint64_t)slots << 32 | records << 1));
}

static struct pxt_ring_event event_of(uint32_t id, uint32_t bytes, uint64_t ticks)
{
	static unsigned char data[1024];

	for (unsigned i = 0; i < sizeof(data); i++)
		data[i] = (unsigned char)(i * 7u + 1u);
	return (struct pxt_ring_event){ .data = data,
		.bytes = bytes,
		.info = pxt_slot_info(id, bytes, false, false, 0),
		.ticks = ticks };
}

static struct pxt_place record(uint32_t bytes, uint64_t ticks)
{
	const struct pxt_ring_event event = event_of(PXT_ID_UNNAMED, bytes, ticks);
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
	pxt_intake_lane_look(&pull, lane);
	pxt_intake_lane_fill(&pull, &producer, lane);
}

/* The front, which is ready, is copied as it was recorded. */
static void expect_copy(void)
{
	uint32_t bytes = pxt_info_bytes(pxt_intake_lane_info(lane));
	const unsigned char *data = event_of(0, 0, 0).data;

	memset(copied, 0, sizeof(copied));
	CU_ASSERT(pxt_intake_lane_copy(lane, copied));
	for (uint32_t i = 0, at = PXT_CTX_BYTES; i < bytes; i++, at++) {
		const struct pxt_slot *slot = &copied[1u + at / PXT_SLOT_PAYLOAD];

		PXT_EQ(((const unsigned char *)&slot->word[1])[at % PXT_SLOT_PAYLOAD], data[i]);
	}
}

/* Takes what must be ready, with that stamp. */
static void take(uint64_t ticks)
{
	PXT_EQ(lane->front, PXT_PRODUCER_READY);
	PXT_EQ(lane->ticks, ticks);
	expect_copy();
	pxt_intake_lane_advance(lane);
	pxt_intake_lane_fill(&pull, &producer, lane);
}

/* LPT-31 */
PXT_TEST(what_is_finished_is_ready_in_its_order_and_nothing_behind_it)
{
	begin();
	look();
	PXT_EQ(lane->front, PXT_PRODUCER_EMPTY);
	(void)record(0, now);
	(void)record(100, now + 1u);
	look();
	take(now);
	take(now + 1u);
	PXT_EQ(lane->front, PXT_PRODUCER_EMPTY);
	PXT_EQ(pull.lost, 0);
}

PXT_TEST(what_has_begun_behind_an_unfinished_record_bounds_it)
{
	begin();
	(void)reserve(3);
	(void)record(4, now + 50u);
	(void)record(4, now + 60u);
	look();
	PXT_EQ(lane->front, PXT_PRODUCER_STUCK);
	PXT_EQ(lane->floor, now + 50u);
	/* The unfinished one itself, when it has a stamp. */
	begin();
	record_begun(100, now + 40u);
	(void)record(4, now + 50u);
	look();
	PXT_EQ(lane->front, PXT_PRODUCER_STUCK);
	PXT_EQ(lane->floor, now + 40u);
}

PXT_TEST(a_bound_is_not_before_what_was_taken_nor_before_the_run)
{
	begin();
	producer.run_from = now + 10u;
	(void)record(4, now + 70u);
	(void)reserve(3);
	(void)record(4, now + 50u);
	look();
	take(now + 70u);
	PXT_EQ(lane->front, PXT_PRODUCER_STUCK);
	PXT_EQ(lane->floor, now + 70u);
	begin();
	producer.run_from = now + 80u;
	(void)record(4, now + 70u);
	(void)reserve(3);
	(void)record(4, now + 50u);
	look();
	take(now + 70u);
	PXT_EQ(lane->floor, now + 80u);
}

PXT_TEST(where_nothing_has_begun_nobody_is_held_back)
{
	begin();
	(void)reserve(3);
	(void)reserve(3);
	look();
	PXT_EQ(lane->front, PXT_PRODUCER_STUCK);
	PXT_EQ(lane->floor, UINT64_MAX);
}

/* 1024 slots: beyond, what was taken last is the bound, but in the last round. */
PXT_TEST(what_has_begun_is_looked_for_near_by_and_in_the_last_round_everywhere)
{
	for (uint32_t away = 1023; away <= 1024; away++) {
		begin();
		producer.run_from = now - 5u;
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
PXT_TEST(an_unfinished_record_is_waited_for_as_long_as_the_hold_back_time)
{
	begin();
	(void)reserve(3);
	(void)reserve(3);
	(void)record(4, now + 50u);
	look();
	PXT_EQ(lane->front, PXT_PRODUCER_STUCK);
	advance(pxt_process_holdback_ticks() - 1u);
	look();
	PXT_EQ(lane->front, PXT_PRODUCER_STUCK);
	PXT_EQ(pull.lost, 0);
	advance(1);
	look();
	PXT_EQ(lane->front, PXT_PRODUCER_READY);
	PXT_EQ(pull.lost, 2);
	/* Now and for 64 times as long nobody waits for it. */
	PXT_EQ(producer.patient_from, now + 64u * pxt_process_holdback_ticks());
}

PXT_TEST(who_is_not_waited_for_loses_in_the_last_round_what_holds_others_back)
{
	begin();
	producer.patient_from = now + 1u;
	(void)reserve(3);
	(void)record(4, now + 50u);
	look();
	PXT_EQ(lane->front, PXT_PRODUCER_STUCK);
	pull.last = true;
	look();
	PXT_EQ(lane->front, PXT_PRODUCER_READY);
	PXT_EQ(pull.lost, 1);
	/* But what holds back nobody, as nothing is after it, may still be finished. */
	begin();
	producer.patient_from = now + 1u;
	pull.last = true;
	(void)reserve(3);
	look();
	PXT_EQ(lane->front, PXT_PRODUCER_STUCK);
	PXT_EQ(pull.lost, 0);
	/* From that moment on it is waited for again. */
	begin();
	producer.patient_from = now;
	pull.last = true;
	(void)reserve(3);
	(void)record(4, now + 50u);
	look();
	PXT_EQ(lane->front, PXT_PRODUCER_STUCK);
}

PXT_TEST(of_one_that_is_gone_nothing_is_waited_for)
{
	begin();
	producer.gone_at = now + 90u;
	(void)record(4, now + 50u);
	(void)reserve(3);
	(void)record(4, now + 60u);
	(void)reserve(5);
	look();
	take(now + 50u);
	take(now + 60u);
	PXT_EQ(lane->front, PXT_PRODUCER_EMPTY);
	PXT_EQ(pull.lost, 2);
	PXT_EQ(lane->pos, lane->head);
	PXT_EQ(lane->seq, lane->head_seq);
}

#if CONFIG_PTRACE_SYSEV_ERROR
static int reported;

static void note_error(struct pxt_block *block, int error)
{
	reported = error;
}

PXT_TEST(what_was_passed_over_is_reported_as_late_or_as_left_by_the_dead)
{
	begin();
	pxt_lane_passed_hook = note_error;
	reported = 0;
	(void)reserve(3);
	look();
	PXT_EQ(reported, 0);
	advance(pxt_process_holdback_ticks());
	look();
	PXT_EQ(reported, ETIMEDOUT);
	begin();
	pxt_lane_passed_hook = note_error;
	producer.gone_at = now;
	(void)reserve(3);
	look();
	PXT_EQ(reported, EOWNERDEAD);
	UNREPORTED();
}
#endif

/* One slot less than the ring, the ring, one record more. */
PXT_TEST(a_ring_that_is_just_full_has_lost_nothing)
{
	begin();
	while (pxt_head_pos(pxt_cursor_load(&memory.lane[0].head)) < 2u * SLOTS)
		(void)record(4, now);
	PXT_EQ(pxt_head_pos(pxt_cursor_load(&memory.lane[0].head)), 2u * SLOTS);
	look();
	PXT_EQ(pull.lost, 0);
	PXT_EQ(lane->front, PXT_PRODUCER_READY);
	(void)record(4, now);
	look();
	CU_ASSERT(pull.lost > 0 && pull.lost <= SLOTS / 16u);
	/* What is left, and what was lost, is all there was. */
	while (lane->front == PXT_PRODUCER_READY) {
		pull.lost++;
		pxt_intake_lane_advance(lane);
		pxt_intake_lane_fill(&pull, &producer, lane);
	}
	PXT_EQ(pull.lost, SLOTS / 2u + 1u);
}

/* Each lap in a row leaves twice as many slots to the writers, from a sixteenth of the ring to half. */
PXT_TEST(a_lap_loses_by_number_and_leaves_more_room_each_time)
{
	static const uint32_t slack[] = { SLOTS / 16, SLOTS / 8, SLOTS / 4, SLOTS / 2, SLOTS / 2 };
	uint64_t records = 0;
	uint64_t from;

	begin();
	from = now;
	for (unsigned turn = 0; turn < 5; turn++) {
		uint64_t kept = (SLOTS - slack[turn]) / 2u;

		for (unsigned i = 0; i < SLOTS; i++, records++)
			(void)record(4, from + records);
		/* So much can have been recorded meanwhile. */
		advance(HZ);
		look();
		PXT_EQ(pull.lost, records - kept);
		PXT_EQ(lane->seq, records - kept);
		PXT_EQ(lane->front, PXT_PRODUCER_READY);
		PXT_EQ(lane->ticks, from + records - kept);
	}
	/* The front is copied whole, or not. */
	CU_ASSERT(pxt_intake_lane_copy(lane, copied));
	(void)memset(&memory.cells[(lane->pos + 1u) & (SLOTS - 1u)], 0, sizeof(pxt_cell));
	CU_ASSERT(!pxt_intake_lane_copy(lane, copied));
	(void)memset(&memory.cells[lane->pos & (SLOTS - 1u)], 0, sizeof(pxt_cell));
	CU_ASSERT(!pxt_intake_lane_copy(lane, copied));
}

/* What was reserved while the wait went on has not had its own; then all of it goes together. */
PXT_TEST(what_was_reserved_lately_is_waited_for_in_its_turn)
{
	begin();
	(void)reserve(3);
	look();
	advance(pxt_process_holdback_ticks() - 1u);
	(void)reserve(4);
	look();
	advance(1);
	look();
	PXT_EQ(lane->front, PXT_PRODUCER_STUCK);
	PXT_EQ(pull.lost, 0);
	/* Nobody waits for this producer now, but neither does it hold up anybody. */
	pull.last = true;
	look();
	PXT_EQ(lane->front, PXT_PRODUCER_STUCK);
	advance(64u * pxt_process_holdback_ticks() - 1u);
	look();
	PXT_EQ(lane->front, PXT_PRODUCER_STUCK);
	advance(1);
	look();
	PXT_EQ(lane->front, PXT_PRODUCER_EMPTY);
	PXT_EQ(pull.lost, 2);
}

/* Nobody records so much in no time: it is not believed. */
PXT_TEST(more_than_can_have_been_recorded_is_one_loss)
{
	begin();
	claim(SLOTS * 8u, SLOTS * 4u);
	look();
	PXT_EQ(pull.lost, 1);
	PXT_EQ(lane->pos, lane->head);
	PXT_EQ(lane->seq, lane->head_seq);
	/* In a second it can have been. */
	begin();
	advance(HZ);
	claim(SLOTS * 8u, SLOTS * 4u);
	look();
	PXT_EQ(pull.lost, SLOTS * 4u);
	/* But a record takes two slots. */
	begin();
	advance(HZ);
	claim(SLOTS * 8u, SLOTS * 4u + 1u);
	look();
	PXT_EQ(pull.lost, 1);
}

/* Beyond 2^32 slots and 2^31 records the quarters tell. */
PXT_TEST(a_position_that_ran_over_is_known_by_its_quarters)
{
	begin();
	pxt_cursor_set(&memory.lane[0].head, UINT64_C(0x12345678) << 32 | UINT64_C(0x2345678) << 1);
	pxt_twins_set(&memory.lane[0].epoch, pxt_epoch_make(8, 12));
	look();
	PXT_EQ(lane->head, (UINT64_C(2) << 32) + 0x12345678u);
	PXT_EQ(lane->head_seq, (UINT64_C(3) << 31) + 0x2345678u);
}

/* ---- Types that are not known yet ---- */

#define FIRST  PXT_ID_USER_FIRST
#define SECOND (PXT_ID_USER_FIRST + 1u)

/* With a lane for the records of others; nobody is attached but the memory above. */
static trace_id_t named_stream(void)
{
	char name[256];
	trace_attr_t attr;
	trace_id_t trid = 0;

	(void)snprintf(name, sizeof(name), "%s/intake", pxt_temp_folder());
	PXT_EQ(posix_trace_attr_init(&attr), 0);
	PXT_EQ(posix_trace_attr_setsharename_np(&attr, name), 0);
	PXT_EQ_FATAL(posix_trace_create(0, &attr, &trid), 0);
	PXT_EQ(posix_trace_start(trid), 0);
	return trid;
}

static void record_of(uint32_t id)
{
	struct pxt_ring_event event = event_of(id, 4, now);
	struct pxt_place place = reserve(pxt_info_slots(event.info, PXT_CTX_BYTES));

	event.ctx = pxt_context(1, NULL);
	pxt_ring_store(&place, &event);
	advance(1);
}

static void learn(uint32_t id)
{
	atomic_store(&producer.type[id], PXT_ID_UNNAMED);
	atomic_fetch_add(&producer.learnt, 1u);
}

/* What of the producer's records is in the stream, and what it has lost of them, by now. */
static void expect_pulled(trace_id_t trid, uint64_t taken, uint64_t lost)
{
	struct pxt_producer_memory *const producers[] = { &producer };
	static struct pxt_producer_payload room;
	struct pxt_stream *stream = pxt_stream_lock(trid);
	struct posix_trace_counts_np counts;

	CU_ASSERT_FATAL(stream != NULL);
	(void)pxt_intake_pull(stream, producers, 1, &room, now, false);
	pxt_stream_unlock(stream);
	PXT_EQ(posix_trace_getcounts_np(trid, &counts, sizeof(counts)), 0);
	PXT_EQ(counts.posix_lost_np, lost);
	PXT_EQ(counts.posix_written_np, taken + lost + CONFIG_PTRACE_SYSEV_START_STOP);
}

/* LPT-31: who looks for a type a second time looks anew. */
PXT_TEST(each_type_that_is_late_is_waited_for)
{
	static struct pxt_directory directory;
	trace_id_t trid;

	/* One by one; and in a row, as records of a thread that is known are taken. */
	for (uint16_t known = 0; known <= 1; known++) {
		begin();
		producer.directory = &directory;
		producer.thread[1] = known;
		trid = named_stream();
		record_of(FIRST);
		expect_pulled(trid, 0, 0);
		learn(FIRST);
		expect_pulled(trid, 1, 0);
		advance(2 * HZ);
		learn(FIRST);
		record_of(SECOND);
		expect_pulled(trid, 1, 0);
		learn(SECOND);
		expect_pulled(trid, 2, 0);
		PXT_EQ(posix_trace_shutdown(trid), 0);
	}
}

/* LPT-31: one that never comes is no type: it was looked for twice, or for a second. */
PXT_TEST(a_type_that_does_not_come_is_lost)
{
	static struct pxt_directory directory;
	trace_id_t trid;

	for (unsigned looks = 0; looks <= 1; looks++) {
		begin();
		producer.directory = &directory;
		trid = named_stream();
		record_of(SECOND);
		expect_pulled(trid, 0, 0);
		learn(FIRST);
		advance(HZ);
		expect_pulled(trid, 0, 0);
		atomic_fetch_add(&producer.learnt, looks);
		advance(1u - looks);
		expect_pulled(trid, 0, 1);
		PXT_EQ(posix_trace_shutdown(trid), 0);
	}
}

#if CONFIG_PTRACE_SYSEV_OVERFLOW_RESUME
static void expect_next(trace_id_t trid, trace_event_id_t id)
{
	struct posix_trace_event_info info = { 0 };
	int unavailable = 1;
	char data[64];
	size_t len;

	PXT_EQ(
	    posix_trace_trygetnext_event(trid, &info, data, sizeof(data), &len, &unavailable), 0);
	PXT_EQ(unavailable, 0);
	PXT_EQ(info.posix_event_id, id);
}

/* LPT-31, POL-12: also where the reader is amid events of one lane, which it takes in a row. */
PXT_TEST(a_loss_of_another_process_is_told_before_the_next_event)
{
	static struct pxt_directory directory;
	trace_event_id_t own;
	trace_id_t trid;

	begin();
	producer.directory = &directory;
	trid = named_stream();
	PXT_EQ(posix_trace_eventid_open("intake.own", &own), 0);
	for (int i = 0; i < 4; i++) {
		advance(1);
		posix_trace_event(own, NULL, 0);
	}
	advance(1);
	if (CONFIG_PTRACE_SYSEV_START_STOP)
		expect_next(trid, POSIX_TRACE_START);
	expect_next(trid, own);
	expect_next(trid, own);
	/* More than there can have been in no time: it is not believed, and counts as one. */
	claim(SLOTS * 8u, SLOTS * 4u);
	expect_pulled(trid, 4, 1);
	expect_next(trid, POSIX_TRACE_OVERFLOW);
	expect_next(trid, POSIX_TRACE_RESUME);
	expect_next(trid, own);
	PXT_EQ(posix_trace_shutdown(trid), 0);
}
#endif

/* ---- Drawn lanes against a list ---- */

static uint64_t state;

static uint32_t draw(uint32_t below)
{
	return (uint32_t)(pxt_drawn(&state) >> 20) % below;
}

static uint64_t expected[SLOTS]; /* stamps */
static unsigned expected_count;
static uint64_t expected_lost;

static void draw_record(bool unfinished)
{
	static const uint32_t ids[] = { PXT_ID_UNNAMED, PXT_ID_COUNT - 1u };
	static const uint32_t wrong[] = { 0, PXT_ID_COUNT, 30, PXT_ID_UNNAMED };
	uint32_t bytes = draw(4) ? draw(30) : 1000u - draw(3);
	uint64_t ticks = now + state % 1000u;
	uint32_t kind = draw(10);
	struct pxt_ring_event event = event_of(ids[draw(2)], bytes, ticks);
	struct pxt_place place;

	if (kind == 0 || kind == 9) {
		if (!unfinished)
			return;
		if (kind == 0)
			(void)reserve(2 + draw(5));
		else
			record_begun(bytes, ticks);
		expected_lost++;
		return;
	}
	if (kind == 1) {
		event.info = pxt_slot_info(PXT_ID_MARK, 0, false, false, PXT_CPU_UNKNOWN);
		place = reserve(1);
		pxt_cursor_set(&memory.lane[0].head, pxt_cursor_load(&memory.lane[0].head) - 2u);
		pxt_ring_store_mark(&place, PXT_MARK_BARRIER, 7);
		return;
	}
	if (kind == 2)
		event = event_of(PXT_ID_START, 4, ticks);
	if (kind == 3)
		event = event_of(wrong[draw(3)], 4, ticks);
	if (kind == 4)
		event = event_of(PXT_ID_UNNAMED, 1001, ticks);
	place = reserve(pxt_info_slots(event.info, PXT_CTX_BYTES));
	pxt_ring_store(&place, &event);
	expected_lost += kind == 3 || kind == 4;
	if (kind > 4)
		expected[expected_count++] = ticks;
}

/*
 * All that is whole and well formed comes in its order, all else is counted; of one that is gone,
 * also what is not finished.
 */
PXT_TEST(what_is_whole_comes_and_what_is_not_is_counted_one_by_one)
{
	for (unsigned seed = 1; seed <= 2000; seed++) {
		unsigned taken = 0;
		unsigned count;

		state = seed * UINT64_C(0x9e3779b97f4a7c15);
		begin();
		if (seed % 2)
			producer.gone_at = now + 1000u;
		expected_count = 0;
		expected_lost = 0;
		count = 1 + draw(40);
		for (unsigned i = 0; i < count; i++)
			draw_record(seed % 2);
		for (look(); lane->front == PXT_PRODUCER_READY;) {
			if (taken < expected_count)
				PXT_EQ(lane->ticks, expected[taken]);
			taken++;
			expect_copy();
			pxt_intake_lane_advance(lane);
			pxt_intake_lane_fill(&pull, &producer, lane);
		}
		PXT_EQ(taken, expected_count);
		PXT_EQ(pull.lost, expected_lost);
		PXT_EQ(lane->pos, lane->head);
		PXT_EQ(lane->seq, lane->head_seq);
	}
}
