/* SPDX-License-Identifier: MIT */
/*
 * interrupt.c - a write that is interrupted at each of its test points, by whatever may come: other
 * writes, the reader, a whole lap, control calls, its own end.  Every action in every setting, at
 * every point; then the books must balance, and everybody goes on.
 * So is a read, by writes and laps (nothing else can come between: the stream's mutex keeps control calls
 * and other readers out), and a write by a write that is itself interrupted at another point.
 */
#include "core/process/process.h"
#include "kit.h"

#include <string.h>

/* False: the write has no such point. */
static bool one_case(const struct action *action, uint32_t nth)
{
	struct action_case what = { .action = action, .inner = -1 };

	action_begin(action_setting);
	kit_interrupt(nth, KIT_WRITER_POINTS, action->run, NULL);
	if (sigsetjmp(kit_way_out, 1) == 0)
		kit_write(OUTER, action_setting->len);
	kit_lane(0);
	what.point = kit_interrupted();
	what.spoil = what.point == PXT_TP_LOOKED;
	if (what.point >= 0)
		action_verdict(&what);
	action_end();
	return what.point >= 0;
}

static void on(const struct setting *setting)
{
	action_all_on(setting, 0, one_case);
}

/* POL-05, POL-12, EVENT-10, SAFE-01; rulings 7, 12, 20, 23 */
PXT_TEST(a_write_into_one_overwriting_lane_may_be_interrupted_anywhere)
{
	on(&(const struct setting){ LOOP, 1, 1024, 4, FRESH, 0, 0 });
	on(&(const struct setting){ LOOP, 1, 1024, 30, SOME, 0, 0 });
	on(&(const struct setting){ LOOP, 1, 4096, 64, LAPPED, 0, 0 });
	on(&(const struct setting){ LOOP, 1, 1024, 4, LAPPED, 0, 0 });
	on(&(const struct setting){ LOOP, 1, 1024, 30, EDGE, 0, 0 });
}

/* POL-05, POL-12, EVENT-10, TIM-04; rulings 7, 10, 12, 20, 23 */
PXT_TEST(a_write_into_two_overwriting_lanes_may_be_interrupted_anywhere)
{
	on(&(const struct setting){ LOOP, 2, 1024, 4, FRESH, 0, 0 });
	on(&(const struct setting){ LOOP, 2, 1024, 30, SOME, 0, 0 });
	on(&(const struct setting){ LOOP, 2, 4096, 64, LAPPED, 0, 0 });
	on(&(const struct setting){ LOOP, 2, 1024, 4, LAPPED, 0, 0 });
	on(&(const struct setting){ LOOP, 2, 1024, 30, EDGE, 0, 0 });
}

/* POL-03, POL-06, POL-07, POL-12, DEC-11; rulings 7, 12, 14 */
PXT_TEST(a_write_into_one_filling_lane_may_be_interrupted_anywhere)
{
	on(&(const struct setting){ FULL, 1, 1024, 4, FRESH, 0, 0 });
	on(&(const struct setting){ FULL, 1, 4096, 30, SOME, 0, 0 });
	for (int more = -1; more <= 2; more++)
		on(&(const struct setting){ FULL, 1, 1024, 30, FREE, more, 0 });
	on(&(const struct setting){ FULL, 1, 1024, 30, EDGE, 0, 0 });
}

/* POL-03, POL-06, POL-07, POL-12, DEC-11; rulings 7, 10, 12, 14 */
PXT_TEST(a_write_into_two_filling_lanes_may_be_interrupted_anywhere)
{
	on(&(const struct setting){ FULL, 2, 1024, 4, FRESH, 0, 0 });
	on(&(const struct setting){ FULL, 2, 4096, 30, SOME, 0, 0 });
	for (int more = -1; more <= 2; more++)
		on(&(const struct setting){ FULL, 2, 1024, 30, FREE, more, 0 });
	on(&(const struct setting){ FULL, 2, 1024, 30, EDGE, 0, 0 });
}

/* EVENT-10, SAFE-01; rulings 7, 10, 12 */
PXT_TEST(a_write_into_two_streams_may_be_interrupted_anywhere)
{
	on(&(const struct setting){ LOOP, 2, 1024, 30, SOME, 0, TWO });
	on(&(const struct setting){ FULL, 1, 1024, 4, FREE, 0, TWO });
}

/* TIM-03, TIM-04, POL-05; rulings 10, 25, 26 */
PXT_TEST(a_write_with_ordered_stamps_may_be_interrupted_anywhere)
{
	on(&(const struct setting){ LOOP, 2, 1024, 30, SOME, 0, ORDERED });
	on(&(const struct setting){ LOOP, 2, 1024, 4, LAPPED, 0, ORDERED });
	on(&(const struct setting){ FULL, 2, 1024, 30, FREE, 0, ORDERED });
	on(&(const struct setting){ FULL, 1, 1024, 4, FREE, 0, TWO | ORDERED });
}

/* POL-05; rulings 7, 12: it says how far its place goes, so nobody waits for it */
PXT_TEST(a_writer_that_comes_behind_a_stop_is_counted_lost_without_a_wait)
{
	for (unsigned lanes = 1; lanes <= 2; lanes++)
		for (unsigned i = 0; i < 8; i++) {
			const unsigned more = i % 2;
			const struct kit_spec spec = { .policy = i / 2 % 2 ? FULL : LOOP,
				.lanes = lanes,
				.bytes = 4096,
				.ordered = i / 4 };
			struct posix_trace_counts_np now;

			action_stream = kit_open(&spec);
			kit_start(action_stream);
			/* The first one goes the slow path; with ordered stamps all do. */
			kit_write(BEFORE, 4);
			kit_interrupt(0, UINT64_C(1) << PXT_TP_GATE_SEEN, action_stop, NULL);
			kit_write(OUTER, 30);
			PXT_EQ(kit_interrupted(), PXT_TP_GATE_SEEN);
			pxt_holdback_ns = UINT64_C(100000000000);
			if (more) {
				kit_start(action_stream);
				kit_write(AFTER, 4);
			}
			CU_ASSERT(kit_settle(action_stream));
			CU_ASSERT(kit_law(action_stream));
			kit_counts(action_stream, &now);
			PXT_EQ(now.posix_lost_np, 1);
			PXT_EQ(kit_missing(OUTER, 1, 1), 1);
			PXT_EQ(kit_missing(AFTER, 1, more), 0);
			pxt_holdback_ns = KIT_HOLDBACK_NS;
			action_end();
		}
}

/* ---- A read that is interrupted ---- */

static unsigned lanes_here;

static void write_slots(unsigned writer, uint32_t slots)
{
	for (uint32_t i = 0; i < slots; i += kit_slots_of(i % 5 ? 4 : 30))
		kit_write(writer, i % 5 ? 4 : 30);
}

static void write_one(void *argument)
{
	kit_write(NESTED, 30);
}

static void write_elsewhere(void *argument)
{
	kit_lane(lanes_here - 1);
	kit_write(NESTED, 4);
	kit_write(NESTED, 30);
	kit_lane(0);
}

/* The earlier one where the reader has looked already, or has not yet. */
static void write_here_and_elsewhere(void *argument)
{
	kit_write(NESTED, 4);
	write_elsewhere(argument);
}

static void write_elsewhere_and_here(void *argument)
{
	write_elsewhere(argument);
	kit_write(NESTED, 4);
}

/* Up to the record that is being read, and no further. */
static void write_half(void *argument)
{
	write_slots(NESTED, kit_slots(action_stream) / 2);
}

static void write_lap(void *argument)
{
	write_slots(NESTED, kit_slots(action_stream) + 3);
}

static void write_laps_everywhere(void *argument)
{
	for (unsigned lane = 0; lane < lanes_here; lane++) {
		kit_lane(lane);
		write_slots(NESTED, 3 * kit_slots(action_stream));
	}
	kit_lane(0);
}

static const struct meanwhile {
	const char *name;
	void (*run)(void *);
	bool laps;
} meanwhiles[] = {
	{ "write", write_one, false },
	{ "write in another lane", write_elsewhere, false },
	{ "write here and in another lane", write_here_and_elsewhere, false },
	{ "write in another lane and here", write_elsewhere_and_here, false },
	{ "write half a ring", write_half, true },
	{ "lap", write_lap, true },
	{ "laps in all lanes", write_laps_everywhere, true },
};
#define MEANWHILES (sizeof(meanwhiles) / sizeof(meanwhiles[0]))

static void begin_read(int policy, unsigned lanes, uint32_t slots)
{
	const struct kit_spec spec = { .policy = policy, .lanes = lanes, .bytes = 1024 };

	lanes_here = lanes;
	kit_time_calls();
	action_stream = kit_open(&spec);
	kit_start(action_stream);
	(void)kit_read_all(action_stream);
	for (unsigned lane = 0; lane < lanes; lane++) {
		kit_lane(lane);
		write_slots(BEFORE, slots);
	}
	kit_lane(0);
}

static bool one_read(
    const struct meanwhile *action, int policy, unsigned lanes, uint32_t slots, uint32_t nth)
{
	struct posix_trace_counts_np now;
	uint32_t missing = 0;
	int point;

	begin_read(policy, lanes, slots);
	kit_interrupt(nth, KIT_READER_POINTS, action->run, NULL);
	(void)kit_read_all(action_stream);
	point = kit_interrupted();
	if (point >= 0) {
		for (int i = 0; i < 5; i++) {
			if (policy == FULL)
				(void)kit_settle(action_stream);
			kit_write(AFTER, 30);
		}
		CU_ASSERT(kit_settle(action_stream));
		kit_counts(action_stream, &now);
		for (unsigned writer = BEFORE; writer <= AFTER; writer++)
			missing += kit_missing(writer, 1, kit_seen.sent[writer]);
		PXT_CHECK(kit_law(action_stream) && kit_clean() && now.posix_lost_np == missing &&
		              (missing == 0 || action->laps || slots > 64) &&
		              !kit_missing(AFTER, 1, 5),
		    "%s at point %d (%u), policy %d, %u lanes, %u slots before: %u missing, %llu "
		    "lost, torn %llu, disordered %llu",
		    action->name, point, nth, policy, lanes, slots, missing,
		    (unsigned long long)now.posix_lost_np, (unsigned long long)kit_seen.torn,
		    (unsigned long long)kit_seen.disordered);
	}
	PXT_EQ(posix_trace_shutdown(action_stream), 0);
	return point >= 0;
}

static void all_reads(int policy, unsigned lanes, uint32_t slots)
{
	for (size_t i = 0; i < MEANWHILES; i++) {
		uint32_t nth = 0;

		while (one_read(&meanwhiles[i], policy, lanes, slots, nth))
			nth++;
		CU_ASSERT(nth > 0);
	}
}

/* POL-05, POL-12, EVENT-10, TIM-06; rulings 7, 25, 26 */
PXT_TEST(a_read_of_overwriting_lanes_may_be_interrupted_by_writers_anywhere)
{
	for (unsigned lanes = 1; lanes <= 4; lanes *= 2) {
		all_reads(LOOP, lanes, 20);
		all_reads(LOOP, lanes, 100);
	}
}

/* POL-06, POL-12, EVENT-10; ruling 7 */
PXT_TEST(a_read_of_filling_lanes_may_be_interrupted_by_writers_anywhere)
{
	for (unsigned lanes = 1; lanes <= 4; lanes *= 2)
		all_reads(FULL, lanes, 20);
}

/* ---- Two points ---- */

static const struct action *now;
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
	for (uint32_t i = 0; i < kit_slots(action_stream); i += kit_slots_of(4))
		kit_write(NESTED, 4);
	siglongjmp(way_out_of_the_outer, 1);
}

static const struct action outer_deaths[] = {
	{ "the outer one dies", outer_dies, DIES, 0, 1 },
	{ "lap, and the outer one dies", lap_and_outer_dies, DIES | LAPS, LOOP, 1 },
};

/* Where the action is done; the kit arms one point at a time. */
static void run_action(void *argument)
{
	inner_point = kit_interrupted();
	now->run(argument);
}

static void write_inner(void *argument)
{
	outer_point = kit_interrupted();
	kit_lane(inner_lane);
	kit_interrupt(inner_nth, KIT_WRITER_POINTS, run_action, NULL);
	if (sigsetjmp(kit_way_out, 1) == 0)
		kit_write(INNER, action_inner_len);
	/* What the inner one did not come to shall not happen to the outer one. */
	(void)kit_interrupted();
	kit_lane(0);
}

/* False: one of the two has no such point. */
static bool one_pair(uint32_t outer_nth)
{
	struct action_case what = { .action = now };

	outer_point = -1;
	inner_point = -1;
	action_begin(action_setting);
	kit_interrupt(outer_nth, KIT_WRITER_POINTS, write_inner, NULL);
	if (sigsetjmp(way_out_of_the_outer, 1) == 0)
		kit_write(OUTER, action_setting->len);
	(void)kit_interrupted();
	kit_lane(0);
	what.point = outer_point;
	what.inner = inner_point;
	what.spoil =
	    (outer_point == PXT_TP_LOOKED ? 1u : 0u) + (inner_point == PXT_TP_LOOKED ? 1u : 0u);
	if (inner_point >= 0)
		action_verdict(&what);
	action_end();
	return inner_point >= 0;
}

static bool wanted(const struct action *action)
{
	static const char *const in_short[] = { "write", "write long", "read", "read and wait",
		"lap", "stop", "stop, start", "clear", "set_filter", "shutdown", "die",
		"the outer one dies" };

	if (pxt_in_full())
		return true;
	for (size_t i = 0; i < sizeof(in_short) / sizeof(in_short[0]); i++) {
		if (!strcmp(action->name, in_short[i]))
			return true;
	}
	return false;
}

static uint64_t all_pairs(void)
{
	uint64_t pairs = 0;

	for (uint32_t outer_nth = 0;; outer_nth++) {
		inner_nth = 0;
		while (one_pair(outer_nth))
			inner_nth++;
		if (outer_point < 0)
			break;
		pairs += inner_nth;
	}
	return pairs;
}

static void on_pairs(const struct setting *setting, unsigned lane, size_t inner_len)
{
	action_setting = setting;
	action_inner_len = inner_len;
	inner_lane = lane;
	for (size_t i = 0; i < ACTIONS + 2; i++) {
		now = i < ACTIONS ? &actions[i] : &outer_deaths[i - ACTIONS];
		if (action_fits(now, setting) && wanted(now))
			CU_ASSERT(all_pairs() > 30);
	}
	action_inner_len = 0;
}

/* POL-05, POL-12, EVENT-10, SAFE-01; rulings 7, 12, 20, 23 */
PXT_TEST(writes_that_overwrite_may_be_interrupted_at_any_two_points)
{
	on_pairs(&(const struct setting){ LOOP, 1, 1024, 4, SOME, 0, 0 }, 0, 4);
	on_pairs(&(const struct setting){ LOOP, 1, 1024, 30, EDGE, 0, 0 }, 0, 4);
	on_pairs(&(const struct setting){ LOOP, 1, 1024, 4, LAPPED, 0, 0 }, 0, 30);
	on_pairs(&(const struct setting){ LOOP, 2, 1024, 4, SOME, 0, 0 }, 1, 30);
	on_pairs(&(const struct setting){ LOOP, 2, 1024, 30, LAPPED, 0, 0 }, 0, 4);
}

/* POL-03, POL-06, POL-07, POL-12, DEC-11; rulings 7, 12, 14 */
PXT_TEST(writes_that_fill_may_be_interrupted_at_any_two_points)
{
	on_pairs(&(const struct setting){ FULL, 1, 4096, 30, SOME, 0, 0 }, 0, 4);
	on_pairs(&(const struct setting){ FULL, 1, 1024, 4, FREE, 0, 0 }, 0, 4);
	on_pairs(&(const struct setting){ FULL, 1, 1024, 30, FREE, 2, 0 }, 0, 4);
	on_pairs(&(const struct setting){ FULL, 2, 1024, 4, FREE, 1, 0 }, 1, 30);
}

/* EVENT-10, SAFE-01; rulings 7, 10, 12 */
PXT_TEST(writes_into_two_streams_may_be_interrupted_at_any_two_points)
{
	on_pairs(&(const struct setting){ LOOP, 2, 1024, 4, SOME, 0, TWO }, 1, 30);
}
