/* SPDX-License-Identifier: MIT */
/*
 * back.c - a counter that steps back by a quarter of an hour, as it does when a machine is suspended or
 * restored.  Nothing waits until it has caught up: all there is can be read while the clock is.
 */
#include "fakes/fakes.h"
#include "kit.h"

#include <stdio.h>
#include <unistd.h>

#define HZ    UINT64_C(1000000000)
#define LATE  (1000 * HZ)
#define EARLY (100 * HZ)

static trace_id_t begin(int policy, unsigned lanes)
{
	const struct kit_spec spec = { .policy = policy, .lanes = lanes, .bytes = 16384 };
	trace_id_t trid;

	pxt_fake_clock_start(HZ);
	pxt_fake_clock_set(LATE);
	trid = kit_open(&spec);
	kit_start(trid);
	return trid;
}

static void write_into(unsigned lane, unsigned writer, unsigned count)
{
	kit_lane(lane);
	for (unsigned i = 0; i < count; i++) {
		pxt_fake_clock_advance(10);
		kit_write(writer, 4);
	}
}

static uint64_t lost(trace_id_t trid)
{
	struct posix_trace_counts_np counts;

	kit_counts(trid, &counts);
	return counts.posix_lost_np;
}

/* Everything, at this moment, in an order that a reader believes. */
static void expect_all(trace_id_t trid, unsigned writers)
{
	struct posix_trace_counts_np counts;

	(void)kit_read_all(trid);
	kit_counts(trid, &counts);
	PXT_EQ(counts.posix_held_np, 0);
	PXT_EQ(counts.posix_lost_np, 0);
	CU_ASSERT(kit_law(trid));
	PXT_EQ(kit_seen.back, 0);
	PXT_EQ(kit_seen.torn, 0);
	for (unsigned i = 0; i < writers; i++)
		PXT_EQ(kit_missing(i, 1, kit_seen.sent[i]), 0);
}

static void step_back(unsigned lanes)
{
	trace_id_t trid = begin(POSIX_TRACE_LOOP, lanes);

	write_into(0, 0, 5);
	write_into(1, 1, 5);
	(void)kit_read_all(trid);
	write_into(0, 0, 5);
	write_into(1, 1, 5);
	pxt_fake_clock_set(EARLY);
	write_into(0, 2, 5);
	expect_all(trid, 3);
	write_into(1, 3, 5);
	write_into(0, 2, 5);
	expect_all(trid, 4);
	write_into(0, 2, 3);
	expect_all(trid, 4);
	PXT_EQ(posix_trace_shutdown(trid), 0);
}

/* TIM-04, TIM-06 */
PXT_TEST_FRESH(what_was_recorded_before_a_step_back_is_read_at_once)
{
	step_back(1);
	step_back(2);
	step_back(4);
}

/* After a step, records come in the order of their stamps again. */
PXT_TEST_FRESH(what_was_recorded_behind_it_is_in_order)
{
	trace_id_t trid = begin(POSIX_TRACE_LOOP, 2);

	write_into(0, 0, 1);
	pxt_fake_clock_set(EARLY);
	expect_all(trid, 1);
	for (unsigned i = 0; i < 20; i++)
		write_into(i % 2, 1, 1);
	expect_all(trid, 2);
	PXT_EQ(kit_seen.disordered, 0);
	PXT_EQ(posix_trace_shutdown(trid), 0);
}

/* What is taken from before the step tells nothing of what comes after it. */
PXT_TEST_FRESH(what_comes_behind_it_is_seen_in_all_lanes)
{
	trace_id_t trid = begin(POSIX_TRACE_LOOP, 2);

	(void)kit_read_all(trid);
	write_into(0, 0, 1);
	pxt_fake_clock_set(EARLY);
	write_into(0, 1, 1);
	CU_ASSERT(kit_read(trid));
	write_into(1, 1, 1);
	write_into(0, 1, 1);
	expect_all(trid, 2);
	PXT_EQ(kit_seen.disordered, 0);
	PXT_EQ(posix_trace_shutdown(trid), 0);
}

/* START and STOP are not waited for either. */
PXT_TEST_FRESH(a_stop_and_a_start_before_it_are_read_at_once)
{
	trace_id_t trid = begin(POSIX_TRACE_LOOP, 2);

	write_into(1, 1, 2);
	PXT_EQ(posix_trace_stop(trid), 0);
	kit_start(trid);
	write_into(1, 1, 2);
	pxt_fake_clock_set(EARLY);
	write_into(0, 0, 2);
	expect_all(trid, 2);
	PXT_EQ(kit_seen.starts, 2);
	PXT_EQ(kit_seen.stops, 1);
	PXT_EQ(posix_trace_shutdown(trid), 0);
}

/* DEC-42: an unfinished record is waited for as long as ever, and no longer. */
PXT_TEST_FRESH(the_hold_back_time_begins_anew)
{
	trace_id_t trid = begin(POSIX_TRACE_LOOP, 2);
	struct posix_trace_counts_np counts;

	(void)kit_read_all(trid);
	kit_lane(0);
	kit_interrupt(0, UINT64_C(1) << PXT_TP_RESERVED, kit_die, NULL);
	if (sigsetjmp(kit_way_out, 1) == 0)
		kit_write(0, 4);
	(void)kit_interrupted();
	write_into(0, 1, 1);
	/* Without it the reader would not look at lanes where nothing new is whole. */
	write_into(1, 2, 1);
	PXT_EQ(kit_read_all(trid), 0);
	pxt_fake_clock_set(EARLY);
	PXT_EQ(kit_read_all(trid), 0);
	pxt_fake_clock_advance(HZ / 1000000 * (KIT_HOLDBACK_NS / 1000) + 1);
	(void)kit_read_all(trid);
	kit_counts(trid, &counts);
	PXT_EQ(counts.posix_held_np, 0);
	PXT_EQ(counts.posix_lost_np, 1);
	PXT_EQ(kit_missing(1, 1, 1), 0);
	PXT_EQ(kit_missing(2, 1, 1), 0);
	kit_heal();
	PXT_EQ(posix_trace_shutdown(trid), 0);
}

/* POL-05: what was overwritten before the step is no reason to give up what comes after it. */
PXT_TEST_FRESH(a_gap_before_it_costs_nothing_behind_it)
{
	trace_id_t trid = begin(POSIX_TRACE_LOOP, 2);
	uint64_t before;

	write_into(0, 0, 4000);
	(void)kit_read_all(trid);
	before = lost(trid);
	CU_ASSERT(before > 0);
	pxt_fake_clock_set(EARLY);
	write_into(0, 1, 20);
	write_into(1, 2, 20);
	(void)kit_read_all(trid);
	PXT_EQ(lost(trid), before);
	PXT_EQ(kit_missing(1, 1, 20), 0);
	PXT_EQ(kit_missing(2, 1, 20), 0);
	PXT_EQ(posix_trace_shutdown(trid), 0);
}

/* SYS-06, TIM-06: OVERFLOW is not later than what comes behind it, whenever that was which was lost. */
PXT_TEST_FRESH(a_gap_before_it_makes_nothing_behind_it_later)
{
	for (unsigned lanes = 1; lanes <= 2; lanes++) {
		trace_id_t trid = begin(POSIX_TRACE_LOOP, lanes);
		int64_t before;

		(void)kit_read_all(trid);
		before = kit_seen.last_ns;
		write_into(0, 0, 5);
		pxt_fake_clock_set(EARLY);
		write_into(0, 1, 4000);
		(void)kit_read_all(trid);
		CU_ASSERT(lost(trid) > 0);
		PXT_EQ(kit_missing(1, 4000, 4000), 0);
		PXT_EQ(kit_seen.last_ns, before);
		PXT_EQ(posix_trace_shutdown(trid), 0);
	}
}

/* ---- Logs ---- */

static unsigned read_log(FILE *file)
{
	struct posix_trace_event_info info;
	unsigned char data[64];
	unsigned found = 0;
	trace_id_t log = 0;
	size_t bytes;
	int none = 0;

	PXT_EQ_FATAL(posix_trace_open(fileno(file), &log), 0);
	while (
	    posix_trace_getnext_event(log, &info, data, sizeof(data), &bytes, &none) == 0 && !none)
		found += info.posix_event_id >= kit_type();
	PXT_EQ(posix_trace_close(log), 0);
	return found;
}

static trace_id_t begin_log(FILE *file, unsigned lanes)
{
	trace_attr_t attr;
	trace_id_t trid = 0;

	pxt_fake_clock_start(HZ);
	pxt_fake_clock_set(LATE);
	PXT_EQ_FATAL(posix_trace_attr_init(&attr), 0);
	PXT_EQ(posix_trace_attr_setstreamfullpolicy(&attr, POSIX_TRACE_LOOP), 0);
	PXT_EQ(posix_trace_attr_setstreamsize(&attr, 16384), 0);
	PXT_EQ(posix_trace_attr_setlanes_np(&attr, lanes), 0);
	PXT_EQ(posix_trace_attr_setlogfullpolicy(&attr, POSIX_TRACE_APPEND), 0);
	PXT_EQ_FATAL(posix_trace_create_withlog(0, &attr, fileno(file), &trid), 0);
	PXT_EQ(posix_trace_thread_register_np(), 0);
	(void)kit_type();
	kit_start(trid);
	return trid;
}

static uint64_t held(trace_id_t trid)
{
	struct posix_trace_counts_np counts;

	kit_counts(trid, &counts);
	return counts.posix_held_np;
}

/* FLUSH-01: a flush takes what is older than itself, by whatever clock. */
PXT_TEST_FRESH(a_flush_behind_it_takes_all)
{
	for (unsigned lanes = 1; lanes <= 2; lanes++) {
		FILE *file = tmpfile();
		trace_id_t trid;

		PXT_EQ_FATAL(file != NULL, true);
		trid = begin_log(file, lanes);
		write_into(0, 0, 5);
		PXT_EQ(posix_trace_flush(trid), 0);
		write_into(0, 0, 5);
		pxt_fake_clock_set(EARLY);
		write_into(1, 1, 5);
		pxt_fake_clock_advance(10);
		PXT_EQ(posix_trace_flush(trid), 0);
		PXT_EQ(held(trid), 0);
		write_into(1, 1, 5);
		pxt_fake_clock_advance(10);
		PXT_EQ(posix_trace_flush(trid), 0);
		PXT_EQ(held(trid), 0);
		PXT_EQ(posix_trace_shutdown(trid), 0);
		PXT_EQ(read_log(file), 20);
		(void)fclose(file);
	}
}

/* LPT-31: a snapshot leaves out what is younger than itself, and nothing else. */
PXT_TEST_FRESH(a_snapshot_behind_it_has_all)
{
	for (unsigned lanes = 1; lanes <= 2; lanes++) {
		trace_id_t trid = begin(POSIX_TRACE_LOOP, lanes);
		FILE *file = tmpfile();

		PXT_EQ_FATAL(file != NULL, true);
		write_into(0, 0, 5);
		pxt_fake_clock_set(EARLY);
		write_into(1, 1, 5);
		pxt_fake_clock_advance(10);
		PXT_EQ(posix_trace_snapshot_np(trid, fileno(file)), 0);
		PXT_EQ(read_log(file), 10);
		(void)fclose(file);
		PXT_EQ(posix_trace_shutdown(trid), 0);
	}
}
