/* SPDX-License-Identifier: MIT */
/*
 * gaps.c - losses that show while another lane's records are taken: they are told where they are, and
 * nothing older comes after them.
 */
#include "hand.h"

void (*_Atomic pxt_testpoint_hook)(int point);

static struct st_spec spec;

static void begin(void)
{
	spec = (struct st_spec){
		.policy = LOOP, .size = 4096, .lanes = 2, .log_policy = POSIX_TRACE_APPEND
	};
	use(lk_logging(&spec));
}

static void end(void)
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
	end();
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
	trace_id_t log = lk_open_log(spec.fd);

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
	begin();
	for (int i = 1; i < 4; i++)
		put(0, i, now());
	flush_with(lap_the_other_lane);
	end();
	expect_overflow_before(1000);
}

static void let_it_be_abandoned(void)
{
	somebody_inside(false);
	st_sleep_ms(1);
}

/* LPT-25; ruling 7: what a run passes over is counted before the record after it. */
PXT_TEST(an_abandoned_record_that_a_run_finds_is_told_before_what_follows)
{
	struct record abandoned;
	struct st_event event;
	trace_id_t log;
	int found = 0;

	begin();
	for (int i = 1; i < 4; i++)
		put(0, i, now());
	reserve(&abandoned, 1, 9, 4);
	put(1, 4, now());
	put(1, 5, now());
	somebody_inside(true);
	pxt_holdback_ns = NO_END;
	flush_with(let_it_be_abandoned);
	end();
	log = lk_open_log(spec.fd);
	while (st_take_user(log, &event)) {
		struct posix_trace_eventextra_np extra;

		PXT_EQ(posix_trace_eventinfo_getextra_np(&event.info, &extra, sizeof(extra)), 0);
		PXT_EQ(extra.posix_lost_before_np, st_number(&event) == 4 ? 1u : 0u);
		found++;
	}
	PXT_EQ(found, 5);
	lk_close_log(log, spec.fd);
}
