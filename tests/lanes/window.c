/* SPDX-License-Identifier: MIT */
/*
 * window.c - what was found out for one record is kept for the next ones (core/read/consumer.h: the turn),
 * and not for longer than it is true.
 */
#include "hand.h"

static void end(void)
{
	PXT_EQ(posix_trace_shutdown(stream), 0);
}

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
	end();
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
	end();
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
	end();
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
	end();
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
	end();
}

/* SYS-06: told also when the status noticed the gap first. */
PXT_TEST(a_gap_is_told_though_a_turn_is_open)
{
	struct posix_trace_status_info status;

	open_running(LOOP, 1);
	for (int i = 1; i <= 10; i++)
		st_say(i);
	st_expect_most(stream, 1, "1");
	for (int i = 11; i <= 400; i++)
		st_say(i);
	PXT_EQ(posix_trace_get_status(stream, &status), 0);
	st_expect_most(stream, 2, "OVERFLOW RESUME");
	end();
}
