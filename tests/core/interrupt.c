/* SPDX-License-Identifier: MIT */
/*
 * interrupt.c - a write that is interrupted at each of its test points, by whatever may come: other
 * writes, the reader, a whole lap, control calls, its own end.  Every deed on every ground, at
 * every point; then the books must balance, and everybody goes on.
 */
#include "core/process/process.h"
#include "deeds.h"

/* False: the write has no such point. */
static bool one_case(const struct deed *deed, uint32_t nth)
{
	struct deed_case what = { .deed = deed, .inner = -1 };

	deed_begin(deed_ground);
	kit_interrupt(nth, KIT_WRITER_POINTS, deed->run, NULL);
	if (sigsetjmp(kit_way_out, 1) == 0)
		kit_write(OUTER, deed_ground->len);
	kit_lane(0);
	what.point = kit_interrupted();
	what.spoil = what.point == PXT_TP_LOOKED;
	if (what.point >= 0)
		deed_verdict(&what);
	deed_end();
	return what.point >= 0;
}

static void on(const struct ground *ground)
{
	deed_all_on(ground, 0, one_case);
}

/* POL-05, POL-12, EVENT-10, SAFE-01; rulings 7, 12, 20, 23 */
PXT_TEST(a_write_into_one_overwriting_lane_may_be_interrupted_anywhere)
{
	on(&(const struct ground){ LOOP, 1, 1024, 4, FRESH, 0, 0 });
	on(&(const struct ground){ LOOP, 1, 1024, 30, SOME, 0, 0 });
	on(&(const struct ground){ LOOP, 1, 4096, 64, LAPPED, 0, 0 });
	on(&(const struct ground){ LOOP, 1, 1024, 4, LAPPED, 0, 0 });
	on(&(const struct ground){ LOOP, 1, 1024, 30, EDGE, 0, 0 });
}

/* POL-05, POL-12, EVENT-10, TIM-04; rulings 7, 10, 12, 20, 23 */
PXT_TEST(a_write_into_two_overwriting_lanes_may_be_interrupted_anywhere)
{
	on(&(const struct ground){ LOOP, 2, 1024, 4, FRESH, 0, 0 });
	on(&(const struct ground){ LOOP, 2, 1024, 30, SOME, 0, 0 });
	on(&(const struct ground){ LOOP, 2, 4096, 64, LAPPED, 0, 0 });
	on(&(const struct ground){ LOOP, 2, 1024, 4, LAPPED, 0, 0 });
	on(&(const struct ground){ LOOP, 2, 1024, 30, EDGE, 0, 0 });
}

/* POL-03, POL-06, POL-07, POL-12, DEC-11; rulings 7, 12, 14 */
PXT_TEST(a_write_into_one_filling_lane_may_be_interrupted_anywhere)
{
	on(&(const struct ground){ FULL, 1, 1024, 4, FRESH, 0, 0 });
	on(&(const struct ground){ FULL, 1, 4096, 30, SOME, 0, 0 });
	for (int more = -1; more <= 2; more++)
		on(&(const struct ground){ FULL, 1, 1024, 30, FREE, more, 0 });
	on(&(const struct ground){ FULL, 1, 1024, 30, EDGE, 0, 0 });
}

/* POL-03, POL-06, POL-07, POL-12, DEC-11; rulings 7, 10, 12, 14 */
PXT_TEST(a_write_into_two_filling_lanes_may_be_interrupted_anywhere)
{
	on(&(const struct ground){ FULL, 2, 1024, 4, FRESH, 0, 0 });
	on(&(const struct ground){ FULL, 2, 4096, 30, SOME, 0, 0 });
	for (int more = -1; more <= 2; more++)
		on(&(const struct ground){ FULL, 2, 1024, 30, FREE, more, 0 });
	on(&(const struct ground){ FULL, 2, 1024, 30, EDGE, 0, 0 });
}

/* EVENT-10, SAFE-01; rulings 7, 10, 12 */
PXT_TEST(a_write_into_two_streams_may_be_interrupted_anywhere)
{
	on(&(const struct ground){ LOOP, 2, 1024, 30, SOME, 0, TWO });
	on(&(const struct ground){ FULL, 1, 1024, 4, FREE, 0, TWO });
}

/* TIM-03, TIM-04, POL-05; rulings 10, 25, 26 */
PXT_TEST(a_write_with_ordered_stamps_may_be_interrupted_anywhere)
{
	on(&(const struct ground){ LOOP, 2, 1024, 30, SOME, 0, ORDERED });
	on(&(const struct ground){ LOOP, 2, 1024, 4, LAPPED, 0, ORDERED });
	on(&(const struct ground){ FULL, 2, 1024, 30, FREE, 0, ORDERED });
	on(&(const struct ground){ FULL, 1, 1024, 4, FREE, 0, TWO | ORDERED });
}

/* POL-05; rulings 7, 12: it says how far its place goes, so nobody waits for it */
PXT_TEST(a_writer_that_comes_behind_a_stop_is_counted_lost_without_a_wait)
{
	for (unsigned lanes = 1; lanes <= 2; lanes++)
		for (unsigned i = 0; i < 4; i++) {
			const unsigned more = i % 2;
			const struct kit_spec spec = {
				.policy = i / 2 ? FULL : LOOP, .lanes = lanes, .bytes = 4096
			};
			struct posix_trace_counts_np now;

			deed_stream = kit_open(&spec);
			kit_start(deed_stream);
			/* The first one goes the careful way. */
			kit_write(BEFORE, 4);
			kit_interrupt(0, UINT64_C(1) << PXT_TP_GATE_SEEN, deed_stop, NULL);
			kit_write(OUTER, 30);
			PXT_EQ(kit_interrupted(), PXT_TP_GATE_SEEN);
			pxt_holdback_ns = UINT64_C(100000000000);
			if (more) {
				kit_start(deed_stream);
				kit_write(AFTER, 4);
			}
			CU_ASSERT(kit_settle(deed_stream));
			CU_ASSERT(kit_law(deed_stream));
			kit_counts(deed_stream, &now);
			PXT_EQ(now.posix_lost_np, 1);
			PXT_EQ(kit_missing(OUTER, 1, 1), 1);
			PXT_EQ(kit_missing(AFTER, 1, more), 0);
			pxt_holdback_ns = KIT_HOLDBACK_NS;
			deed_end();
		}
}
