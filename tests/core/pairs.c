/* SPDX-License-Identifier: MIT */
/*
 * pairs.c - a write that is interrupted at one point by a write that is itself interrupted at
 * another: all pairs of points, as a handler in a handler or a preempter that is preempted.
 * The inner write may be in the same lane or in another one; it may die, and so may the outer one.
 */
#include "deeds.h"

#include <stdlib.h>
#include <string.h>

static const struct deed *now;
static sigjmp_buf way_out_of_the_outer;
static unsigned inner_lane;
static uint32_t inner_nth;
static int outer_point;
static int inner_point;

static void outer_dies(void *argument)
{
	siglongjmp(way_out_of_the_outer, 1);
}

static void lap_and_outer_dies(void *argument)
{
	for (uint32_t i = 0; i < kit_slots(deed_stream); i += kit_slots_of(4))
		kit_write(NESTED, 4);
	siglongjmp(way_out_of_the_outer, 1);
}

static const struct deed outer_deaths[] = {
	{ "the outer one dies", outer_dies, DIES, 0, 1 },
	{ "lap, and the outer one dies", lap_and_outer_dies, DIES | LAPS, LOOP, 1 },
};

/* Where the deed is done; the kit arms one point at a time. */
static void run_deed(void *argument)
{
	inner_point = kit_interrupted();
	now->run(argument);
}

static void write_inner(void *argument)
{
	outer_point = kit_interrupted();
	kit_lane(inner_lane);
	kit_interrupt(inner_nth, KIT_WRITER_POINTS, run_deed, NULL);
	if (sigsetjmp(kit_way_out, 1) == 0)
		kit_write(INNER, deed_inner_len);
	/* What the inner one did not come to shall not happen to the outer one. */
	(void)kit_interrupted();
	kit_lane(0);
}

/* False: one of the two has no such point. */
static bool one_case(uint32_t outer_nth)
{
	struct deed_case what = { .deed = now };

	outer_point = -1;
	inner_point = -1;
	deed_begin(deed_ground);
	kit_interrupt(outer_nth, KIT_WRITER_POINTS, write_inner, NULL);
	if (sigsetjmp(way_out_of_the_outer, 1) == 0)
		kit_write(OUTER, deed_ground->len);
	(void)kit_interrupted();
	kit_lane(0);
	what.point = outer_point;
	what.inner = inner_point;
	what.spoil =
	    (outer_point == PXT_TP_LOOKED ? 1u : 0u) + (inner_point == PXT_TP_LOOKED ? 1u : 0u);
	if (inner_point >= 0)
		deed_verdict(&what);
	deed_end();
	return inner_point >= 0;
}

static bool wanted(const struct deed *deed)
{
	static const char *const in_short[] = { "write", "write long", "read", "read and wait",
		"lap", "stop", "stop, start", "clear", "set_filter", "shutdown", "die",
		"the outer one dies" };

	if (pxt_in_full())
		return true;
	for (size_t i = 0; i < sizeof(in_short) / sizeof(in_short[0]); i++) {
		if (!strcmp(deed->name, in_short[i]))
			return true;
	}
	return false;
}

static uint64_t all_pairs(void)
{
	uint64_t pairs = 0;

	for (uint32_t outer_nth = 0;; outer_nth++) {
		inner_nth = 0;
		while (one_case(outer_nth))
			inner_nth++;
		if (outer_point < 0)
			break;
		pairs += inner_nth;
	}
	return pairs;
}

static void on(const struct ground *ground, unsigned lane, size_t inner_len)
{
	deed_ground = ground;
	deed_inner_len = inner_len;
	inner_lane = lane;
	for (size_t i = 0; i < DEEDS + 2; i++) {
		now = i < DEEDS ? &deeds[i] : &outer_deaths[i - DEEDS];
		if (deed_fits(now, ground) && wanted(now))
			CU_ASSERT(all_pairs() > 30);
	}
	deed_inner_len = 0;
}

/* POL-05, POL-12, EVENT-10, SAFE-01; rulings 7, 12, 20, 23 */
PXT_TEST(writes_that_overwrite_may_be_interrupted_at_any_two_points)
{
	on(&(const struct ground){ LOOP, 1, 1024, 4, SOME, 0, 0 }, 0, 4);
	on(&(const struct ground){ LOOP, 1, 1024, 30, EDGE, 0, 0 }, 0, 4);
	on(&(const struct ground){ LOOP, 1, 1024, 4, LAPPED, 0, 0 }, 0, 30);
	on(&(const struct ground){ LOOP, 2, 1024, 4, SOME, 0, 0 }, 1, 30);
	on(&(const struct ground){ LOOP, 2, 1024, 30, LAPPED, 0, 0 }, 0, 4);
}

/* POL-03, POL-06, POL-07, POL-12, DEC-11; rulings 7, 12, 14 */
PXT_TEST(writes_that_fill_may_be_interrupted_at_any_two_points)
{
	on(&(const struct ground){ FULL, 1, 4096, 30, SOME, 0, 0 }, 0, 4);
	on(&(const struct ground){ FULL, 1, 1024, 4, FREE, 0, 0 }, 0, 4);
	on(&(const struct ground){ FULL, 1, 1024, 30, FREE, 2, 0 }, 0, 4);
	on(&(const struct ground){ FULL, 2, 1024, 4, FREE, 1, 0 }, 1, 30);
}

/* EVENT-10, SAFE-01; rulings 7, 10, 12 */
PXT_TEST(writes_into_two_streams_may_be_interrupted_at_any_two_points)
{
	on(&(const struct ground){ LOOP, 2, 1024, 4, SOME, 0, TWO }, 1, 30);
}
