/* SPDX-License-Identifier: MIT */
/*
 * rules.c - the rules of the merge (core/read/merge.c), and what a ring owes its reader, one by one.
 * The one thread that plays all writers interrupts itself at test points.
 */
#include "core/stream/gate.h"
#include "fakes/fakes.h"

#include "hand.h"

#define HOLDBACK_NS UINT64_C(2000000)

void (*_Atomic pxt_testpoint_hook)(int point);

static void begin(int policy, unsigned lanes)
{
	UNREPORTED();
	open_running(policy, lanes);
	pxt_holdback_ns = HOLDBACK_NS;
}

static void close_stream(void)
{
	pxt_testpoint_hook_set(NULL);
	somebody_inside(false);
	PXT_EQ(posix_trace_shutdown(stream), 0);
}

/* ---- Something in the middle of a step ---- */

static int interrupt_at;
static void (*interrupt)(void);

static void interrupt_once(int point)
{
	if (point != interrupt_at)
		return;
	pxt_testpoint_hook_set(NULL);
	interrupt();
}

static void at(int point, void (*what)(void))
{
	interrupt_at = point;
	interrupt = what;
	pxt_testpoint_hook_set(interrupt_once);
}

/* ---- The merge ---- */

static int lanes_seen;

/* One lane was seen empty, the other was not looked at: first something in that one, then in this. */
static void write_between_looks(int point)
{
	if (point != PXT_TP_LANE_SEEN || lanes_seen++ > 0)
		return;
	put(0, 1, block->snapshot + 2u);
	put(1, 2, block->snapshot + 3u);
}

/* Rule 1 */
PXT_TEST(a_record_from_behind_the_snapshot_waits_for_the_next_one)
{
	begin(LOOP, 2);
	lanes_seen = 0;
	block->idle_since = 0;
	pxt_testpoint_hook_set(write_between_looks);
	st_expect(stream, "1..2");
	close_stream();
}

/* Rules 1 and 2; rulings 26 and 27: its call has not returned, so nothing came after it. */
PXT_TEST(an_unfinished_record_with_nothing_behind_it_holds_back_nobody)
{
	struct record late;

	begin(LOOP, 2);
	pxt_holdback_ns = NO_END;
	reserve(&late, 0, 1, 4);
	somebody_inside(true);
	put(1, 2, now());
	st_expect(stream, "2");
	finish(&late, late.place.ticks);
	st_expect(stream, "1");
	close_stream();
}

/* Rule 1; ruling 26: what had returned is not reported after what was recorded later. */
PXT_TEST(what_stands_behind_an_unfinished_record_holds_back_what_is_later)
{
	struct record late;
	uint64_t base;

	begin(LOOP, 2);
	pxt_holdback_ns = NO_END;
	somebody_inside(true);
	base = now();
	reserve(&late, 0, 2, 4);
	put(0, 3, base + 3u);
	put(1, 1, base + 1u);
	put(1, 4, base + 4u);
	st_expect(stream, "1");
	finish(&late, base + 2u);
	st_expect(stream, "2..4");
	close_stream();
}

/* Rule 1: what is after a mark waits for the other lanes anyway, so they need not wait for it. */
PXT_TEST(what_stands_behind_a_mark_holds_back_nobody_before_it)
{
	struct record late;

	begin(LOOP, 2);
	reserve(&late, 0, 2, 4);
	put(1, 1, now());
	PXT_EQ(posix_trace_stop(stream), 0);
	block->quiet = 0;
	pxt_holdback_ns = NO_END;
	somebody_inside(true);
	st_expect(stream, "1");
	finish(&late, late.place.ticks);
	st_expect(stream, "2 STOP0");
	close_stream();
}

/* Rule 1; the law (ruling 7) */
PXT_TEST(an_unfinished_record_is_passed_over_and_counted)
{
	struct posix_trace_counts_np counts;
	struct record late;

	begin(LOOP, 2);
	somebody_inside(true);
	reserve(&late, 0, 1, 4);
	put(0, 2, now());
	put(1, 3, now());
	st_expect(stream, "");
	pxt_sleep_ms(2 * HOLDBACK_NS / 1000000u);
	st_expect(stream, "2..3");
	CU_ASSERT(st_law(stream, &counts));
	PXT_EQ(counts.posix_lost_np, 1);
	PXT_EQ(counts.posix_held_np, 0);
	close_stream();
}

/* Ruling 27: nobody who lives is inside a trace point, so nobody can finish it. */
PXT_TEST(an_unfinished_record_that_nobody_can_finish_is_passed_over_at_once)
{
	struct posix_trace_counts_np counts;
	struct record dead;

	for (unsigned lanes = 1; lanes <= 2; lanes++) {
		begin(LOOP, lanes);
		pxt_holdback_ns = NO_END;
		reserve(&dead, 0, 1, 4);
		put(0, 2, now());
		st_expect(stream, "2");
		reserve(&dead, 0, 1, 4);
		st_expect(stream, "");
		CU_ASSERT(st_law(stream, &counts));
		PXT_EQ(counts.posix_lost_np, 2);
		PXT_EQ(counts.posix_held_np, 0);
		close_stream();
	}
}

static struct record fresh;

static void reserve_behind(void)
{
	reserve(&fresh, 0, 2, 4);
	somebody_inside(true);
}

/* Ruling 27: what was reserved since the wait began has its own. */
PXT_TEST(what_was_reserved_behind_a_dead_record_is_waited_for)
{
	struct record dead;

	begin(LOOP, 1);
	pxt_holdback_ns = NO_END;
	reserve(&dead, 0, 1, 4);
	at(PXT_TP_GIVES_UP, reserve_behind);
	st_expect(stream, "");
	finish(&fresh, now());
	st_expect(stream, "2");
	CU_ASSERT(st_law(stream, NULL));
	close_stream();
}

/* Two lanes whose unfinished records are after finished ones */
PXT_TEST(lanes_do_not_wait_for_each_other)
{
	struct record late[2];

	begin(LOOP, 2);
	somebody_inside(true);
	pxt_holdback_ns = NO_END;
	put(0, 1, now());
	reserve(&late[0], 0, 9, 4);
	put(1, 2, now());
	reserve(&late[1], 1, 9, 4);
	st_expect(stream, "1..2");
	pxt_holdback_ns = 0;
	close_stream();
}

/* Rule 3 */
PXT_TEST(what_is_older_than_a_lapped_lanes_rest_is_given_up_everywhere)
{
	struct posix_trace_counts_np counts;
	struct st_event event;
	int before = 0;
	int number = 0;

	begin(LOOP, 2);
	put(1, 1, now());
	for (int i = 2; i < 400; i++)
		put(0, i, now());
	put(1, 400, now());
	while (st_take_user(stream, &event)) {
		number = st_number(&event);
		CU_ASSERT(number != 1);
		CU_ASSERT(before == 0 || number == before + 1);
		before = number;
	}
	PXT_EQ(number, 400);
	CU_ASSERT(st_law(stream, &counts));
	PXT_EQ(counts.posix_held_np, 0);
	close_stream();
}

/* DEC-42 */
PXT_TEST(start_by_call_comes_before_all_that_was_recorded_behind_it)
{
	uint64_t early;

	open_stream(LOOP, 2);
	early = now();
	PXT_EQ(posix_trace_start(stream), 0);
	put(1, 1, early);
	st_expect(stream, "START 1");
	close_stream();
}

/* DEC-42: a lapped lane may have lost its marks, and is after them all the same. */
PXT_TEST(a_lapped_lane_waits_for_the_stop_that_the_others_have_before_them)
{
	struct st_event event;
	uint64_t early;

	begin(LOOP, 2);
	early = now();
	put(0, 1, early + 10u);
	PXT_EQ(posix_trace_stop(stream), 0);
	PXT_EQ(posix_trace_start(stream), 0);
	for (int i = 2; i < 400; i++)
		put(1, i, early);
	CU_ASSERT_FATAL(st_take_user(stream, &event));
	PXT_EQ(st_number(&event), 1);
	st_expect_most(stream, 2, "STOP0 START");
	close_stream();
}

/*
 * DEC-42: lane 0 has no room for them, so several wait beside the lanes, and each has its place in every
 * lane, whatever the stamps say.
 */
PXT_TEST(stops_and_starts_that_wait_beside_the_lanes_divide_each_lane)
{
	uint64_t early;
	int last = 1;

	begin(FULL, 2);
	early = now();
	put(1, last, early);
	/* A record takes two slots, and so does a STOP, which wants one more for its mark. */
	while (pxt_block_room(block) > 3u)
		put(0, ++last, early + 1u);
	PXT_EQ(pxt_block_room(block), 2);
	PXT_EQ(posix_trace_stop(stream), 0);
	PXT_EQ(posix_trace_start(stream), 0);
	put(0, last + 1, early + 2u);
	put(1, last + 2, early + 3u);
	PXT_EQ(posix_trace_stop(stream), 0);
	st_expect(stream, st_text("1..%d STOP0 START %d..%d STOP0", last, last + 1, last + 2));
	close_stream();
}

/* ---- The ring ---- */

/* Ruling 4 */
PXT_TEST(a_record_with_a_piece_missing_is_never_shown)
{
	const uint32_t slots = pxt_slots_for(PXT_CTX_BYTES + 40u);

	for (uint32_t piece = 1; piece < slots; piece++) {
		struct posix_trace_counts_np counts;
		struct record record;

		begin(LOOP, 1);
		somebody_inside(true);
		put_long(&record, 0, 1, 40, now());
		lose_piece(&record, piece);
		put(0, 2, now());
		st_expect(stream, "");
		pxt_sleep_ms(2 * HOLDBACK_NS / 1000000u);
		st_expect(stream, "2");
		CU_ASSERT(st_law(stream, &counts));
		PXT_EQ(counts.posix_lost_np, 1);
		close_stream();
	}
}

/* The tag holds the lap: without it, numbers that agree in their low bits would be enough. */
PXT_TEST(an_unfinished_record_does_not_show_what_stood_there_two_laps_before)
{
	struct record dead;
	int records;

	begin(LOOP, 1);
	pxt_holdback_ns = 0;
	records = (int)(block->slot_mask + 1u) / 2;
	for (int i = 0; i < records; i++)
		put(0, i, now());
	for (int i = 0; i < records; i++) {
		struct st_event event;

		CU_ASSERT_FATAL(st_take(stream, &event));
	}
	for (int i = 0; i < records; i++)
		reserve(&dead, 0, i, 4);
	pxt_sleep_ms(1);
	st_expect(stream, "");
	st_expect(stream, "");
	pxt_holdback_ns = NO_END;
	for (int i = 0; i < records; i++)
		reserve(&dead, 0, i, 4);
	st_expect(stream, "");
	close_stream();
}

/* ---- Interrupts ---- */

static int times;

/* Each time that the interrupted one looks, but not for ever. */
static void say_and_read_often(void)
{
	for (int round = 0; round < 100; round++) {
		st_say(1);
		st_expect(stream, "1");
	}
	if (--times > 0)
		at(PXT_TP_HEAD_SEEN, say_and_read_often);
}

PXT_TEST(a_stale_head_is_not_taken_for_a_full_ring)
{
	begin(FULL, 1);
	times = 5;
	at(PXT_TP_HEAD_SEEN, say_and_read_often);
	st_say(2);
	st_expect(stream, "2");
	st_expect_status(stream, "RUNNING NOT_FULL NO_OVERRUN");
	close_stream();
}

static int said;

static void fill_it(void)
{
	while (pxt_block_state(block) == PXT_GATE_RUNNING)
		st_say(++said);
}

/* POL-07: what is being read is nobody's room yet. */
PXT_TEST(a_record_that_is_being_read_is_not_overwritten)
{
	/* After a look at all lanes, then within a turn of its lane. */
	for (int turn = 0; turn < 2; turn++) {
		struct st_event event;

		begin(FULL, 1);
		if (turn)
			st_say(1);
		st_say_long(7, 40);
		if (turn)
			CU_ASSERT_FATAL(st_take(stream, &event));
		said = 100;
		at(PXT_TP_PIECE_READ, fill_it);
		CU_ASSERT_FATAL(st_take(stream, &event));
		PXT_EQ(st_number(&event), 7);
		CU_ASSERT(st_data_intact(&event));
		CU_ASSERT(st_law(stream, NULL));
		close_stream();
	}
}

static void say_two(void)
{
	st_say(2);
}

static uint64_t stamp_at(uint64_t pos)
{
	struct pxt_ring ring = pxt_block_ring(block, 0);
	struct pxt_slot slot = pxt_slot_load(&ring.slots[(uint32_t)pos & ring.mask]);

	CU_ASSERT((slot.word[0] & PXT_SLOT_BEGIN) != 0);
	return pxt_slot_ticks(&slot);
}

/* TIM-03; ruling 25: stamps rise along a lane, also when another writer comes between reading and reservation. */
PXT_TEST(a_record_that_was_overtaken_reads_its_stamp_again)
{
	uint64_t pos;

	begin(FULL, 1);
	pos = pxt_block_lane(block, 0)->pos;
	at(PXT_TP_STAMPED, say_two);
	st_say(1);
	/* Two slots each. */
	CU_ASSERT(stamp_at(pos) < stamp_at(pos + 2));
	st_expect(stream, "2 1");
	close_stream();
}

/* POL-05, SYS-06: of the first unread record one slot goes, or two, or all three. */
PXT_TEST(the_stamp_of_the_first_lost_record_is_kept_however_little_of_it_is_overwritten)
{
	for (int twos = 0; twos < 3; twos++) {
		struct pxt_lane *lane;
		uint64_t first;
		uint64_t pos;

		begin(LOOP, 1);
		lane = pxt_block_lane(block, 0);
		pos = lane->pos;
		/* Of three slots each, after some of two. */
		st_say_long(1, 16);
		first = stamp_at(pos);
		for (int i = 0; i < twos; i++)
			st_say(2);
		while ((pxt_head_pos(pxt_cursor_load(&lane->head)) - (uint32_t)pos) <=
		       block->slot_mask + 1u)
			st_say_long(3, 16);
		PXT_EQ(pxt_wide_load(&lane->first_lost), first);
		close_stream();
	}
}

/* Lane 1 has nothing but marks from there on.  The first event after them is lost first. */
static void lap_from(struct pxt_lane *lane, uint32_t pos)
{
	uint64_t first = now();

	put(1, 1, first);
	while (pxt_head_pos(pxt_cursor_load(&lane->head)) - pos <= block->slot_mask + 1u)
		put(1, 2, now());
	PXT_EQ(pxt_wide_load(&lane->first_lost), first);
}

/* POL-05, SYS-06: a mark is no event, and has no stamp.  Here it is in the ring's last slot. */
PXT_TEST(where_a_mark_is_overwritten_the_stamp_is_that_of_the_record_behind_it)
{
	struct pxt_lane *lane;
	struct st_event event;
	uint32_t pos;

	begin(LOOP, 2);
	lane = pxt_block_lane(block, 1);
	/* Two slots each; and one for the mark of STOP. */
	while (
	    (pxt_head_pos(pxt_cursor_load(&lane->head)) & block->slot_mask) < block->slot_mask - 1u)
		put(1, 1, now());
	PXT_EQ(posix_trace_stop(stream), 0);
	while (st_take(stream, &event))
		;
	pos = (uint32_t)lane->pos;
	PXT_EQ(pos & block->slot_mask, block->slot_mask);
	PXT_EQ(posix_trace_start(stream), 0);
	PXT_EQ(pxt_head_pos(pxt_cursor_load(&lane->head)), pos + 1u);
	lap_from(lane, pos);
	close_stream();
}

/* POL-05, SYS-06: a stop and a start that nobody has read leave two marks in a lane without events. */
PXT_TEST(so_it_is_behind_several_marks)
{
	for (unsigned restarts = 1; restarts <= 3; restarts++) {
		struct pxt_lane *lane;
		uint32_t pos;

		begin(LOOP, 2);
		lane = pxt_block_lane(block, 1);
		pos = (uint32_t)lane->pos;
		for (unsigned i = 0; i < restarts; i++) {
			PXT_EQ(posix_trace_stop(stream), 0);
			PXT_EQ(posix_trace_start(stream), 0);
		}
		PXT_EQ(pxt_head_pos(pxt_cursor_load(&lane->head)), pos + 2u * restarts);
		lap_from(lane, pos);
		close_stream();
	}
}

static void lap_it(void)
{
	for (int i = 1000; i < 1400; i++)
		st_say(i);
}

/* Ruling 7: further than a lap ahead, the low bits of a number do not tell how many are lost. */
PXT_TEST(a_reader_overtaken_while_it_gives_up_a_record_counts_all_that_are_lost)
{
	struct posix_trace_counts_np counts;
	struct st_event event;
	struct record dead;
	int last = 0;

	begin(LOOP, 1);
	somebody_inside(true);
	reserve(&dead, 0, 1, 4);
	st_expect(stream, "");
	pxt_holdback_ns = 0;
	at(PXT_TP_GIVES_UP, lap_it);
	while (st_take_user(stream, &event))
		last = st_number(&event);
	PXT_EQ(last, 1399);
	CU_ASSERT(st_law(stream, &counts));
	PXT_EQ(counts.posix_held_np, 0);
	close_stream();
}

/* Another writer is turned away, too; the reader empties the stream, which runs again. */
static void another_one_and_the_reader(void)
{
	struct st_event event;

	st_say_long(8, 60);
	while (st_take(stream, &event))
		;
}

/* POL-03, ruling 14: the gate's generation */
PXT_TEST(a_writer_that_found_no_room_stops_only_the_run_that_had_none)
{
	begin(FULL, 1);
	at(PXT_TP_FULL, another_one_and_the_reader);
	for (int i = 0; i < 1000 && pxt_testpoint_hook; i++)
		st_say_long(i, 60);
	CU_ASSERT_FATAL(!pxt_testpoint_hook);
	PXT_EQ(pxt_block_state(block), PXT_GATE_RUNNING);
	close_stream();
}

/* As the flusher has it while it writes the block that ends with the automatic STOP. */
static void open_with_stop_told(void)
{
	struct st_event event;

	begin(FULL, 1);
	block->with_log = 1;
	said = 0;
	fill_it();
	while (!pxt_gate_stop_told(block))
		CU_ASSERT_FATAL(st_take(stream, &event));
	/* From a writer that had seen the stream running. */
	put(0, 77, now());
}

/* Ruling 12, STA-01: nothing is between STOP and START. */
PXT_TEST(what_comes_late_behind_an_automatic_stop_stands_behind_the_next_start)
{
	open_with_stop_told();
	PXT_EQ(posix_trace_start(stream), 0);
	st_expect(stream, "START 77");
	close_stream();
	open_with_stop_told();
	PXT_EQ(posix_trace_stop(stream), 0);
	st_expect(stream, "START 77 STOP0");
	CU_ASSERT(st_law(stream, NULL));
	close_stream();
}

static void come_just_before(void)
{
	put(0, 77, now());
}

/* CLEAR-01: an automatically stopped stream is empty after a clear, and stays stopped. */
PXT_TEST(what_is_reserved_while_a_stopped_stream_is_cleared_goes_too)
{
	begin(FULL, 1);
	said = 0;
	fill_it();
	at(PXT_TP_CLOSED_LANE, come_just_before);
	PXT_EQ(posix_trace_clear(stream), 0);
	CU_ASSERT(pxt_testpoint_hook == NULL);
	st_expect(stream, "");
	CU_ASSERT(st_law(stream, NULL));
	close_stream();
}

static void look_at_the_status(void)
{
	struct posix_trace_status_info status;
	uint32_t used;

	PXT_EQ(posix_trace_get_status(stream, &status), 0);
	CU_ASSERT(status.posix_stream_status != POSIX_TRACE_RUNNING ||
	          status.posix_stream_full_status != POSIX_TRACE_FULL);
	used = pxt_head_pos(pxt_cursor_load(&pxt_block_lane(block, 0)->head)) -
	       atomic_load(&pxt_block_lane(block, 0)->limit);
	if (used <= block->slot_mask)
		pxt_testpoint_hook_set(interrupt_once);
	else
		said = -1;
}

/* POL-03, ruling 14: between the reservation of the last slot and the flip of the gate */
PXT_TEST(running_and_full_is_not_seen_while_the_last_slot_is_taken)
{
	begin(FULL, 1);
	said = 0;
	at(PXT_TP_RESERVED, look_at_the_status);
	for (int i = 0; i < 1000 && pxt_block_state(block) == PXT_GATE_RUNNING; i++)
		st_say(i);
	PXT_EQ(said, -1);
	close_stream();
}

static void store_without_waking(void)
{
	put(0, 5, now());
}

/* Ruling 13: the sleeper looks again after its announcement. */
PXT_TEST(what_is_stored_before_the_reader_sleeps_is_seen)
{
	struct timespec until = pxt_in_ms(2000);
	struct posix_trace_event_info info;
	unsigned char data[64];
	size_t len;
	int unavailable = 1;

	begin(LOOP, 1);
	pxt_fault_arm(&pxt_fault_wait, 0, 0);
	at(PXT_TP_SLEEPS, store_without_waking);
	PXT_EQ(posix_trace_timedgetnext_event(
	           stream, &info, data, sizeof(data), &len, &unavailable, &until),
	    0);
	PXT_EQ(unavailable, 0);
	PXT_EQ(atomic_load(&pxt_fault_wait.calls), 0);
	close_stream();
}
