/* SPDX-License-Identifier: MIT */
/*
 * held.c - the hold-back time of unfinished records is over while their writers are still there: what is
 * after them is reported at its time all the same, to every reader, and the marks of a flush that
 * did not wait any longer are not later than what it left behind.
 */
#include "ground.h"

#include "conformance/story.h"
#include "core/control/control.h"
#include "core/process/process.h"
#include "core/testpoints.h"
#include "fakes/fakes.h"
#include "suite.h"

#define HOLDBACK_NS 1000000u
#define DEEPEST     3u

void (*_Atomic pxt_testpoint_hook)(int point);

static unsigned depth; /* unfinished records, one within the other */
static unsigned deepest;
static int where_to_stand;
static unsigned looks;

/* Time goes on while somebody waits. */
void __real_pxt_port_pause_ns(uint64_t ns);
void __wrap_pxt_port_pause_ns(uint64_t ns);
void __wrap_pxt_port_pause_ns(uint64_t ns)
{
	pxt_fake_clock_advance(ns);
}

static void look_until_it_is_over(void)
{
	for (unsigned i = 0; i < looks; i++) {
		ground_read();
		pxt_fake_clock_advance(HOLDBACK_NS / 2u);
		ground_say(1, LAP, 4);
	}
}

static void stand_within(int point)
{
	if (point != where_to_stand || depth == deepest)
		return;
	depth++;
	if (depth < deepest) {
		ground_say(0, depth == 1 ? NESTED : INNER, 32);
		return;
	}
	/* After all of them, and in the other lane. */
	ground_say(0, LAP, 4);
	ground_say(1, LAP, 4);
	look_until_it_is_over();
}

static void one_case(const struct ground *where, int point, unsigned records, unsigned times)
{
	ground_begin(where);
	pxt_holdback_ns = HOLDBACK_NS;
	where_to_stand = point;
	depth = 0;
	deepest = records;
	looks = times;
	pxt_testpoint_hook_set(stand_within);
	CU_ASSERT(rd_say_long(OUTER, 32));
	pxt_testpoint_hook_set(NULL);
	pxt_holdback_ns = LONG_NS;
	CU_ASSERT(ground_end(
	    st_text("%s: %u stand at %d, %u looks", ground_name(), records, point, times)));
}

static void on_grounds(struct ground where)
{
	static const int points[] = { PXT_TP_RESERVED, PXT_TP_BEGIN_STORED, PXT_TP_MIDDLE_STORED };

	for (where.lanes = 1; where.lanes <= 2; where.lanes++) {
		for (unsigned point = 0; point < 3; point++) {
			for (unsigned records = 1; records <= DEEPEST; records++) {
				for (unsigned times = 1; times <= 8; times++)
					one_case(&where, points[point], records, times);
			}
		}
	}
}

/* TIM-03, TIM-06, DEC-42; rulings 12, 26 */
PXT_TEST(what_stands_behind_records_that_were_given_up_is_reported_at_its_time)
{
	on_grounds((struct ground){ .policy = LOOP, .len = 32 });
	on_grounds((struct ground){ .policy = LOOP, .len = 32, .many = true });
	on_grounds((struct ground){ .policy = FULL, .len = 32 });
}

/* TIM-03, TIM-06, FLUSH-02, DEC-42; rulings 12, 26 */
PXT_TEST(it_is_in_a_log_whose_flush_did_not_wait_any_longer)
{
	on_grounds((struct ground){ .policy = LOOP, .len = 32, .logged = true });
	on_grounds((struct ground){ .policy = FULL, .len = 32, .logged = true });
}

PXT_BEFORE
{
	st_pin(true);
	pxt_fake_clock_start(1000000000);
	pxt_fake_clock_step(1);
}
