/* SPDX-License-Identifier: MIT */
/*
 * run.c - records that a flush takes in a row (core/read/take.c), put into lanes by hand: the log holds
 * what the rules say, in their order, and no more than the flush covers.  Losses that show meanwhile are told
 * where they are, and nothing older comes after them; what was found out for one record is kept for the next
 * ones (core/read/consumer.h: the turn), and not for longer than it is true.
 */
#include "hand.h"

void (*_Atomic pxt_testpoint_hook)(int point);

static struct st_spec spec;

static void begin(unsigned lanes)
{
	spec = (struct st_spec){
		.policy = LOOP, .size = 4096, .lanes = lanes, .log_policy = POSIX_TRACE_APPEND
	};
	use(lk_logging(&spec));
}

static void end(const char *story)
{
	trace_id_t log = lk_finish(stream, &spec);

	st_expect_without(log, "ERROR", story);
	lk_close_log(log, spec.fd);
}

/* TIM-03 */
PXT_TEST(lanes_take_turns_in_a_log_too)
{
	static const unsigned char lanes[] = { 0, 2, 2, 0, 3, 2, 3, 0, 0, 3, 2, 0 };
	uint64_t base;

	begin(4);
	base = now();
	for (int i = 0; i < (int)sizeof(lanes); i++)
		put(lanes[i], i + 1, base + 10u * (uint64_t)i);
	wait_until(base + 120u + pxt_clock.hz / 300000u);
	PXT_EQ(posix_trace_flush(stream), 0);
	end("START 1..12 FLUSH_START FLUSH_STOP STOP0");
}

/* The stamp of event 2, as the log has it. */
static uint64_t stamp_of_two(trace_id_t log)
{
	struct posix_trace_eventextra_np extra = { 0 };
	struct st_event event;

	while (st_take(log, &event)) {
		if (event.info.posix_event_id != st_type() || st_number(&event) != 2)
			continue;
		PXT_EQ(posix_trace_eventinfo_getextra_np(&event.info, &extra, sizeof(extra)), 0);
		break;
	}
	return extra.posix_ticks_np;
}

/* A thread that was kept from running once it had read the counter is no step of the clock. */
static void expect_no_step(int fd)
{
	struct posix_trace_logcheck_np sum;

	PXT_EQ(posix_trace_log_check_np(fd, &sum, sizeof(sum), NULL, 0, 0, NULL, NULL), 0);
	PXT_EQ(sum.posix_backward_np, 0);
}

/* TIM-03, TIM-06: what is reported never steps back, what the log keeps is what was read */
PXT_TEST(a_log_keeps_the_stamp_of_what_came_later_than_it_should)
{
	const uint64_t late = pxt_clock.hz / 500u;
	trace_id_t log;
	uint64_t base;

	begin(2);
	base = now();
	put(0, 1, base + late);
	wait_until(base + late + pxt_clock.hz / 300000u);
	PXT_EQ(posix_trace_flush(stream), 0);
	put(1, 2, base + 10);
	PXT_EQ(posix_trace_flush(stream), 0);
	log = lk_finish(stream, &spec);
	PXT_EQ(stamp_of_two(log), base + 10);
	expect_no_step(spec.fd);
	lk_close_log(log, spec.fd);
}

/* Once the flush has read its clock, and before it looks at the lanes. */
static void record_beside(int point)
{
	if (point != PXT_TP_FLUSH_BEGUN)
		return;
	pxt_testpoint_hook_set(NULL);
	wait_until(now());
	put(0, 2, now());
}

/* A flush covers what was recorded before it; its end is told by the next, where it was. */
PXT_TEST(what_came_behind_the_begin_of_a_flush_is_left_for_the_next)
{
	struct posix_trace_counts_np counts;

	begin(1);
	put(0, 1, now());
	pxt_testpoint_hook_set(record_beside);
	PXT_EQ(posix_trace_flush(stream), 0);
	PXT_EQ(posix_trace_getcounts_np(stream, &counts, sizeof(counts)), 0);
	PXT_EQ(counts.posix_held_np, 1);
	put(0, 3, now());
	PXT_EQ(posix_trace_flush(stream), 0);
	end("START 1 FLUSH_START 2 FLUSH_STOP 3 FLUSH_START FLUSH_STOP STOP0");
}

/* Rulings 4 and 7 */
PXT_TEST(a_record_with_a_piece_missing_is_in_no_log)
{
	struct record record;

	begin(1);
	pxt_holdback_ns = 2000000;
	put(0, 1, now());
	put_long(&record, 0, 9, 40, now());
	lose_piece(&record, 2);
	put(0, 2, now());
	PXT_EQ(posix_trace_flush(stream), 0);
	end("START 1..2 FLUSH_START FLUSH_STOP STOP0");
}

/* ---- Long turns: slots are copied many at a time ---- */

static void put_many(uint32_t lane, int first, int last)
{
	for (int i = first; i <= last; i++) {
		struct record record;

		put_long(&record, lane, i, 4u + 7u * (uint32_t)(i % 3), now());
	}
}

/* Ruling 4 */
PXT_TEST(a_long_turn_goes_past_the_rings_end)
{
	begin(1);
	put_many(0, 1, 60);
	PXT_EQ(posix_trace_flush(stream), 0);
	put_many(0, 61, 140);
	PXT_EQ(posix_trace_flush(stream), 0);
	CU_ASSERT(st_law(stream, NULL));
	end("START 1..60 FLUSH_START FLUSH_STOP 61..140 FLUSH_START FLUSH_STOP STOP0");
}

/* Rulings 4 and 7 */
PXT_TEST(a_record_with_a_piece_missing_ends_a_stretch_and_is_in_no_log)
{
	struct posix_trace_counts_np counts;
	struct record record;

	begin(1);
	pxt_holdback_ns = 2000000;
	put_many(0, 1, 30);
	put_long(&record, 0, 99, 40, now());
	lose_piece(&record, 2);
	put_many(0, 31, 60);
	PXT_EQ(posix_trace_flush(stream), 0);
	CU_ASSERT(st_law(stream, &counts));
	PXT_EQ(counts.posix_lost_np, 1);
	end("START 1..60 FLUSH_START FLUSH_STOP STOP0");
}

/* DEC-29 */
PXT_TEST(what_was_stopped_and_started_between_long_turns_is_where_it_was)
{
	begin(2);
	put_many(1, 1, 30);
	PXT_EQ(posix_trace_stop(stream), 0);
	PXT_EQ(posix_trace_start(stream), 0);
	put_many(1, 31, 60);
	PXT_EQ(posix_trace_flush(stream), 0);
	end("START 1..30 STOP0 START 31..60 FLUSH_START FLUSH_STOP STOP0");
}

static void record_many_beside(int point)
{
	if (point != PXT_TP_FLUSH_BEGUN)
		return;
	pxt_testpoint_hook_set(NULL);
	wait_until(now());
	put_many(0, 81, 100);
}

/* TIM-03, FLUSH-05 */
PXT_TEST(a_long_turn_ends_where_another_lane_comes_next_and_where_the_flush_ends)
{
	begin(2);
	put_many(0, 1, 30);
	put_many(1, 31, 60);
	put_many(0, 61, 80);
	pxt_testpoint_hook_set(record_many_beside);
	PXT_EQ(posix_trace_flush(stream), 0);
	PXT_EQ(posix_trace_flush(stream), 0);
	end("START 1..80 FLUSH_START 81..100 FLUSH_STOP FLUSH_START FLUSH_STOP STOP0");
}

#if !PXT_SMALL /* no stretch is copied there */
static int stretches;

static void count_stretch(int point)
{
	stretches += point == PXT_TP_STRETCH_READ;
}

/* Of three sizes in turn, nine slots together; a stretch has up to 512. */
PXT_TEST(records_of_different_sizes_are_one_stretch)
{
	begin(1);
	put_many(0, 1, 40);
	stretches = 0;
	pxt_testpoint_hook_set(count_stretch);
	PXT_EQ(posix_trace_flush(stream), 0);
	pxt_testpoint_hook_set(NULL);
	CU_ASSERT(stretches > 0 && stretches <= 3);
	end("START 1..40 FLUSH_START FLUSH_STOP STOP0");
}

static void lap_the_copy(int point)
{
	if (point != PXT_TP_STRETCH_READ)
		return;
	pxt_testpoint_hook_set(NULL);
	put_many(0, 1000, 1300);
}

/* Rulings 4 and 7: what was taken is whole, the rest is lost and counted. */
PXT_TEST(a_stretch_that_is_overwritten_behind_its_copy_is_in_the_log)
{
	struct posix_trace_counts_np counts;
	struct st_event event;
	trace_id_t log;
	int last = 0;
	uint64_t found = 0;

	begin(1);
	put_many(0, 1, 80);
	pxt_testpoint_hook_set(lap_the_copy);
	PXT_EQ(posix_trace_flush(stream), 0);
	PXT_EQ(posix_trace_flush(stream), 0);
	CU_ASSERT(st_law(stream, &counts));
	log = lk_finish(stream, &spec);
	while (st_take(log, &event)) {
		if (event.info.posix_event_id != st_type())
			continue;
		CU_ASSERT(st_number(&event) > last);
		last = st_number(&event);
		found++;
		/* 16 are taken one by one, then a stretch. */
		if (found <= 50)
			PXT_EQ((uint64_t)last, found);
	}
	PXT_EQ(last, 1300);
	PXT_EQ(found + counts.posix_lost_np, 80 + 301);
	lk_close_log(log, spec.fd);
}
#endif

/* Ruling 7 */
PXT_TEST(what_a_flush_takes_is_counted)
{
	struct posix_trace_counts_np counts;

	begin(2);
	for (int i = 1; i <= 20; i++)
		put((uint32_t)i & 1u, i, now());
	PXT_EQ(posix_trace_flush(stream), 0);
	CU_ASSERT(st_law(stream, &counts));
	PXT_EQ(counts.posix_held_np, 0);
	PXT_EQ(counts.posix_lost_np, 0);
	end("START 1..20 FLUSH_START FLUSH_STOP STOP0");
}

/* ---- Losses that show while another lane's records are taken ---- */

static void end_online(void)
{
	pxt_testpoint_hook_set(NULL);
	somebody_inside(false);
	PXT_EQ(posix_trace_shutdown(stream), 0);
}

/* ---- On-line ---- */

/* Rule 3; ruling 26: nothing older than what was lost is shown after OVERFLOW. */
PXT_TEST(where_only_a_mark_is_left_of_a_lap_older_records_are_given_up_as_well)
{
	struct st_event event;
	bool overflow = false;
	int records;

	open_running(LOOP, 2);
	put(0, 1, now());
	for (int i = 2; i < 6; i++)
		put(1, i, now());
	PXT_EQ(posix_trace_stop(stream), 0);
	PXT_EQ(posix_trace_start(stream), 0);
	records = (int)(block->slot_mask - 1u) / 2;
	for (int i = 0; i < records; i++)
		put(1, 100 + i, now());
	while (st_take(stream, &event)) {
		overflow |= event.info.posix_event_id == POSIX_TRACE_OVERFLOW;
		CU_ASSERT(
		    !overflow || event.info.posix_event_id != st_type() || st_number(&event) != 1);
	}
	CU_ASSERT(overflow);
	CU_ASSERT(st_law(stream, NULL));
	end_online();
}

/* ---- While a flush takes a run ---- */

static int runs_left;
static void (*meanwhile)(void);

static void behind_a_run(int point)
{
	if (point != PXT_TP_CONSUMED || --runs_left)
		return;
	pxt_testpoint_hook_set(NULL);
	meanwhile();
}

static void lap_the_other_lane(void)
{
	for (int i = 1000; i < 1400; i++)
		put(1, i, now());
}

static void flush_with(void (*what)(void))
{
	meanwhile = what;
	runs_left = 2;
	pxt_testpoint_hook_set(behind_a_run);
	PXT_EQ(posix_trace_flush(stream), 0);
	PXT_EQ(posix_trace_flush(stream), 0);
}

/* Of the log: whether OVERFLOW is before what is left of the lap. */
static void expect_overflow_before(int first)
{
	struct st_event event;
	bool overflow = false;
	trace_id_t log = pxt_open_log(spec.fd);

	while (st_take(log, &event)) {
		overflow |= event.info.posix_event_id == POSIX_TRACE_OVERFLOW;
		if (event.info.posix_event_id == st_type() && st_number(&event) >= first)
			CU_ASSERT(overflow);
	}
	CU_ASSERT(overflow);
	lk_close_log(log, spec.fd);
}

/* SYS-06 */
PXT_TEST(a_lap_of_another_lane_that_a_run_finds_is_told_before_its_rest)
{
	begin(2);
	for (int i = 1; i < 4; i++)
		put(0, i, now());
	flush_with(lap_the_other_lane);
	end_online();
	expect_overflow_before(1000);
}

static void let_it_be_abandoned(void)
{
	somebody_inside(false);
	pxt_sleep_ms(1);
}

/* LPT-25; ruling 7: what a run passes over is counted before the record after it. */
PXT_TEST(an_abandoned_record_that_a_run_finds_is_told_before_what_follows)
{
	struct record abandoned;
	struct st_event event;
	trace_id_t log;
	int found = 0;

	begin(2);
	for (int i = 1; i < 4; i++)
		put(0, i, now());
	reserve(&abandoned, 1, 9, 4);
	put(1, 4, now());
	put(1, 5, now());
	somebody_inside(true);
	pxt_holdback_ns = NO_END;
	flush_with(let_it_be_abandoned);
	end_online();
	log = pxt_open_log(spec.fd);
	while (st_take_user(log, &event)) {
		struct posix_trace_eventextra_np extra;

		PXT_EQ(posix_trace_eventinfo_getextra_np(&event.info, &extra, sizeof(extra)), 0);
		PXT_EQ(extra.posix_lost_before_np, st_number(&event) == 4 ? 1u : 0u);
		found++;
	}
	PXT_EQ(found, 5);
	lk_close_log(log, spec.fd);
}

/* ---- What was found out for one record is kept for the next ones ---- */

/* TIM-03 */
PXT_TEST(lanes_take_turns_by_stamp)
{
	static const unsigned char lanes[] = { 0, 2, 2, 0, 3, 2, 3, 0, 0, 3, 2, 0 };
	uint64_t base;

	open_running(LOOP, 4);
	base = now();
	for (int i = 0; i < (int)sizeof(lanes); i++)
		put(lanes[i], i + 1, base + 10u * (uint64_t)i);
	let_time_pass();
	st_expect(stream, "1..12");
	end_online();
}

/* TIM-03: of equal stamps that of the lower lane comes first, whichever was read before. */
PXT_TEST(equal_stamps_come_in_the_order_of_lanes)
{
	uint64_t base;

	open_running(LOOP, 2);
	base = now();
	put(1, 1, base);
	put(0, 2, base + 1u);
	put(1, 3, base + 1u);
	put(0, 4, base + 2u);
	let_time_pass();
	st_expect(stream, "1..4");
	end_online();
}

/* Rule 1 of core/read/merge.c */
PXT_TEST(a_turn_ends_with_its_snapshot)
{
	uint64_t later;

	open_running(LOOP, 2);
	put(0, 1, now());
	later = now() + pxt_clock.hz / 100u;
	put(0, 3, later);
	let_time_pass();
	st_expect_most(stream, 1, "1");
	put(1, 2, now());
	st_expect_most(stream, 1, "2");
	wait_until(later);
	st_expect(stream, "3");
	end_online();
}

/* Rule 1 of core/read/merge.c */
PXT_TEST(a_turn_ends_at_what_an_unfinished_record_hides)
{
	struct record late;
	uint64_t base;

	open_running(LOOP, 2);
	pxt_holdback_ns = NO_END;
	somebody_inside(true);
	base = now();
	put(0, 1, base);
	put(0, 4, base + 3u);
	reserve(&late, 1, 2, 4);
	put(1, 3, base + 2u);
	let_time_pass();
	st_expect(stream, "1");
	finish(&late, base + 1u);
	st_expect(stream, "2..4");
	somebody_inside(false);
	end_online();
}

/* DEC-42: START found no room in the lane, what follows it did. */
PXT_TEST(a_start_put_aside_comes_before_what_follows_it_though_a_turn_is_open)
{
	int number = 0;

	open_running(FULL, 1);
	while (pxt_block_room(block) > 8u)
		st_say(++number);
	PXT_EQ(posix_trace_stop(stream), 0);
	st_expect_most(stream, 1, "1");
	PXT_EQ(posix_trace_start(stream), 0);
	CU_ASSERT(block->oob[0].info != 0);
	st_say(number + 1);
	st_expect(stream, st_text("2..%d STOP0 START %d", number, number + 1));
	end_online();
}

/* SYS-06: told also when the status noticed the gap first. */
PXT_TEST(a_gap_is_told_though_a_turn_is_open)
{
	struct posix_trace_status_info status;

	open_running(LOOP, 1);
	st_say_many(1, 10);
	st_expect_most(stream, 1, "1");
	st_say_many(11, 400);
	PXT_EQ(posix_trace_get_status(stream, &status), 0);
	st_expect_most(stream, 2, "OVERFLOW RESUME");
	end_online();
}
