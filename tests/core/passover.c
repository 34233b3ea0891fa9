/* SPDX-License-Identifier: MIT */
/*
 * passover.c - records that nobody will finish: how many are counted, where reading goes on, and
 * what a writer that comes back a lap too late can still spoil (ruling 23).
 */
#include "core/process/process.h"
#include "kit.h"

#include <string.h>

#define LOOP POSIX_TRACE_LOOP
#define FULL POSIX_TRACE_UNTIL_FULL

static trace_id_t stream;

/* A record of @len bytes whose writer dies when it has passed the @nth of these points. */
static void dead(int point, uint32_t nth, size_t len)
{
	kit_interrupt(nth, UINT64_C(1) << point, kit_die, NULL);
	if (sigsetjmp(kit_way_out, 1) == 0)
		kit_write(1, len);
	PXT_EQ(kit_interrupted(), point);
	kit_heal();
}

static const struct remains {
	int point;
	uint32_t nth;
} kinds[] = {
	{ PXT_TP_RESERVED, 0 },      /* nothing stored */
	{ PXT_TP_BEGIN_STORED, 0 },  /* its begin slot only */
	{ PXT_TP_MIDDLE_STORED, 0 }, /* a continuation is missing */
	{ PXT_TP_MIDDLE_STORED, 2 }, /* the last one is missing */
};
#define KINDS (sizeof(kinds) / sizeof(kinds[0]))

static void begin(int policy, unsigned lanes)
{
	const struct kit_spec spec = { .policy = policy, .lanes = lanes, .bytes = 1024 };

	stream = kit_open(&spec);
	kit_start(stream);
	(void)kit_read_all(stream);
}

static void finish(uint64_t lost)
{
	struct posix_trace_counts_np now;

	CU_ASSERT(kit_settle(stream));
	CU_ASSERT(kit_law(stream));
	CU_ASSERT(kit_clean());
	kit_counts(stream, &now);
	PXT_EQ(now.posix_lost_np, lost);
	PXT_EQ(now.posix_held_np, 0);
	PXT_EQ(posix_trace_shutdown(stream), 0);
}

/* Every pair of remains in a row, between living records; both are counted, nothing else is. */
static void two_in_a_row(int policy, unsigned lanes)
{
	for (size_t i = 0; i < KINDS * KINDS; i++) {
		const struct remains *first = &kinds[i / KINDS];
		const struct remains *then = &kinds[i % KINDS];

		begin(policy, lanes);
		kit_write(2, 4);
		dead(first->point, first->nth, 40);
		dead(then->point, then->nth, 50);
		kit_write(2, 30);
		kit_write(2, 4);
		finish(2);
		PXT_EQ(kit_missing(2, 1, 3), 0);
		PXT_EQ(kit_missing(1, 1, 2), 2);
	}
}

/* POL-12, DEC-42; rulings 7, 20 */
PXT_TEST(two_dead_records_in_a_row_are_two_lost_records)
{
	two_in_a_row(LOOP, 1);
	two_in_a_row(FULL, 1);
	two_in_a_row(LOOP, 2);
	two_in_a_row(FULL, 2);
}

/* DEC-42; ruling 7 */
PXT_TEST(the_number_behind_dead_records_tells_how_many_they_were)
{
	for (uint32_t count = 1; count <= 25; count++) {
		begin(LOOP, 1);
		for (uint32_t i = 0; i < count; i++)
			dead(PXT_TP_RESERVED, 0, 4);
		kit_write(2, 4);
		finish(count);
		PXT_EQ(kit_seen.last_lost, count);
		PXT_EQ(kit_missing(2, 1, 1), 0);
	}
}

/* DEC-42; ruling 20 */
PXT_TEST(dead_records_with_nothing_behind_them_are_passed_over_as_well)
{
	for (size_t i = 0; i < KINDS; i++) {
		for (uint32_t count = 1; count <= 3; count++) {
			begin(LOOP, 1);
			kit_write(2, 4);
			for (uint32_t n = 0; n < count; n++)
				dead(kinds[i].point, kinds[i].nth, 40);
			CU_ASSERT(kit_settle(stream));
			kit_write(2, 4);
			finish(count);
			PXT_EQ(kit_missing(2, 1, 2), 0);
		}
	}
}

/* Not before its time: a record that is only slow is read when it is there. */
static void read_too_early(void *argument)
{
	pxt_holdback_ns = 5000000000u;
	PXT_EQ(kit_read_all(stream), 1);
	pxt_holdback_ns = KIT_HOLDBACK_NS;
}

static void read_beside_an_unfinished_one(void)
{
	kit_write(2, 4);
	kit_interrupt(0, UINT64_C(1) << PXT_TP_BEGIN_STORED, read_too_early, NULL);
	kit_write(1, 40);
	PXT_EQ(kit_interrupted(), PXT_TP_BEGIN_STORED);
}

static void expect_it_is_there(void)
{
	finish(0);
	PXT_EQ(kit_missing(1, 1, 1), 0);
}

/* POL-12; ruling 20 */
PXT_TEST(an_unfinished_record_is_waited_for)
{
	for (unsigned lanes = 1; lanes <= 2; lanes++) {
		begin(LOOP, lanes);
		read_beside_an_unfinished_one();
		expect_it_is_there();
	}
}

/* POL-12; ruling 20: of those without a place the reader knows only how many are inside. */
PXT_TEST(so_is_one_of_a_thread_without_a_place)
{
	for (unsigned lanes = 1; lanes <= 2; lanes++) {
		begin(LOOP, lanes);
		kit_lose_place();
		read_beside_an_unfinished_one();
		PXT_EQ(pxt_threads_outside_count(&pxt_unregistered), 0);
		kit_regain_place();
		expect_it_is_there();
	}
}

/* POL-12; ruling 20: that nobody was inside at a stop tells nothing once it was started again. */
PXT_TEST(so_is_one_behind_a_stop_and_a_start)
{
	for (unsigned lanes = 1; lanes <= 2; lanes++) {
		begin(LOOP, lanes);
		PXT_EQ(posix_trace_stop(stream), 0);
		kit_start(stream);
		(void)kit_read_all(stream);
		read_beside_an_unfinished_one();
		expect_it_is_there();
	}
}

/* ---- A writer that stopped between look and store, for a lap ---- */

/* What comes to be where the late writer is about to store. */
static uint32_t slots_before;

static void stop_and_start(void)
{
	PXT_EQ(posix_trace_stop(stream), 0);
	kit_start(stream);
}

static void lap_then_control(void *argument)
{
	for (uint32_t i = 0; i < slots_before; i += 2) {
		kit_write(3, 4);
		(void)kit_settle(stream);
	}
	stop_and_start();
	kit_lane(1);
	kit_write(4, 4);
	kit_write(4, 4);
	kit_lane(0);
}

/*
 * Wherever the late slot falls among records, marks, STOP and START: at most one of them is
 * spoiled, it is counted, and no lane waits for another for ever.
 */
static void late_by_a_lap(unsigned lanes, uint32_t before, size_t len, uint32_t nth)
{
	struct posix_trace_counts_np now;

	begin(LOOP, lanes);
	slots_before = before;
	kit_interrupt(nth, UINT64_C(1) << PXT_TP_LOOKED, lap_then_control, NULL);
	kit_write(1, len);
	PXT_EQ(kit_interrupted(), PXT_TP_LOOKED);
	kit_lane(lanes - 1);
	kit_write(5, 4);
	kit_lane(0);
	kit_write(5, 4);
	/* A spoiled START or STOP is not read; the law knows. */
	CU_ASSERT(kit_settle(stream));
	kit_counts(stream, &now);
	PXT_EQ(now.posix_written_np,
	    now.posix_retrieved_np + now.posix_lost_np + now.posix_cleared_np + now.posix_held_np);
	PXT_EQ(now.posix_held_np, 0);
	PXT_CHECK(now.posix_lost_np >= 1 && now.posix_lost_np <= 2,
	    "%u lanes, %u slots before, length %zu, slot %u: %llu lost", lanes, before, len, nth,
	    (unsigned long long)now.posix_lost_np);
	PXT_EQ(kit_missing(1, 1, 1), 1);
	CU_ASSERT(kit_missing(4, 1, 2) + kit_missing(5, 1, 2) <= now.posix_lost_np - 1);
	CU_ASSERT(!kit_seen.torn && !kit_seen.disordered && !kit_seen.back);
	PXT_EQ(posix_trace_shutdown(stream), 0);
}

/* DEC-42; rulings 7, 12, 23 */
PXT_TEST(a_writer_a_lap_late_spoils_at_most_one_record_and_no_mark)
{
	for (unsigned lanes = 1; lanes <= 2; lanes++)
		for (uint32_t before = 34; before <= 64; before += 2) {
			late_by_a_lap(lanes, before, 4, 0);
			late_by_a_lap(lanes, before, 4, 1);
			late_by_a_lap(lanes, before, 40, 0);
			late_by_a_lap(lanes, before, 40, 3);
		}
}

static void lap(void *argument)
{
	for (uint32_t i = 0; i < kit_slots(stream); i += kit_slots_of(4))
		kit_write(3, 4);
}

/* Short records and long ones, before each of their looks. */
static void lapped_before_a_look(unsigned lanes, size_t len, int point, uint32_t nth)
{
	uint32_t records = 0;

	begin(LOOP, lanes);
	/* The first one goes the careful way. */
	kit_write(2, 4);
	kit_interrupt(nth, UINT64_C(1) << point, lap, NULL);
	kit_write(1, len);
	PXT_EQ(kit_interrupted(), point);
	records = kit_seen.sent[3];
	CU_ASSERT(kit_settle(stream));
	CU_ASSERT(kit_law(stream));
	CU_ASSERT(kit_clean());
	/* The newest that fit are all there: the last one is where the late one began. */
	PXT_EQ(kit_missing(3, 1, records), 0);
	PXT_EQ(posix_trace_shutdown(stream), 0);
}

/* DEC-42; rulings 7, 23 */
PXT_TEST(a_writer_that_was_lapped_before_its_look_spoils_nothing)
{
	for (unsigned lanes = 1; lanes <= 2; lanes++) {
		lapped_before_a_look(lanes, 4, PXT_TP_RESERVED, 0);
		lapped_before_a_look(lanes, 4, PXT_TP_BEGIN_STORED, 0);
		lapped_before_a_look(lanes, 40, PXT_TP_RESERVED, 0);
		lapped_before_a_look(lanes, 40, PXT_TP_BEGIN_STORED, 0);
		lapped_before_a_look(lanes, 40, PXT_TP_MIDDLE_STORED, 0);
		lapped_before_a_look(lanes, 40, PXT_TP_MIDDLE_STORED, 1);
		lapped_before_a_look(lanes, 40, PXT_TP_MIDDLE_STORED, 2);
	}
}
