/* SPDX-License-Identifier: MIT */
/*
 * passover.c - records that nobody will finish, and positions and numbers that run over their words.
 */
#include "core/process/process.h"
#include "kit.h"

/* ---- Records that nobody will finish ---- */

/*
 * How many are counted, where reading goes on, and what a writer that comes back a lap too late
 * can still spoil (ruling 23).
 */

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
	/* The first one goes the slow path. */
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

/* ---- Positions and numbers that run over ---- */

/*
 * Quarters, halves and the whole of their words, alone and together; readers that were away for
 * longer than that.
 */

static const uint64_t positions[] = { UINT64_C(1) << 20, UINT64_C(1) << 30, UINT64_C(1) << 31,
	UINT64_C(3) << 30, UINT64_C(1) << 32, UINT64_C(5) << 30, UINT64_C(1) << 34 };
static const uint64_t numbers[] = { 0, UINT64_C(1) << 29, UINT64_C(1) << 30, UINT64_C(3) << 29,
	UINT64_C(1) << 31, UINT64_C(5) << 29, UINT64_C(1) << 32, UINT64_C(1) << 36 };
#define POSITIONS (sizeof(positions) / sizeof(positions[0]))
#define NUMBERS   (sizeof(numbers) / sizeof(numbers[0]))

static void wraps_begin(int policy, unsigned lanes, uint64_t pos, uint64_t seq)
{
	const struct kit_spec spec = { .policy = policy, .lanes = lanes, .bytes = 1024 };

	stream = kit_open(&spec);
	for (unsigned lane = 0; lane < lanes; lane++)
		kit_move(stream, lane, pos, seq);
	kit_start(stream);
}

static void end(uint64_t lost)
{
	struct posix_trace_counts_np now;

	CU_ASSERT(kit_settle(stream));
	CU_ASSERT(kit_law(stream));
	CU_ASSERT(kit_clean());
	kit_counts(stream, &now);
	PXT_CHECK(now.posix_lost_np == lost, "%llu lost, not %llu",
	    (unsigned long long)now.posix_lost_np, (unsigned long long)lost);
	PXT_EQ(posix_trace_shutdown(stream), 0);
}

/* Writes through a boundary @before slots or records away and reads in step. */
static void run_through(int policy, unsigned lanes, uint64_t pos, uint64_t seq)
{
	wraps_begin(policy, lanes, pos, seq);
	for (uint32_t i = 0; i < 120; i++) {
		kit_lane(i % lanes);
		kit_write(1, i % 3 ? 4 : 30);
		if (i % 5 == 4)
			(void)kit_read_all(stream);
	}
	CU_ASSERT(kit_settle(stream));
	/* Somebody in the new quarter has said so: two unsaid would be one too many. */
	for (unsigned i = 0; i < lanes; i++) {
		struct pxt_lane *lane = pxt_block_lane(kit_block(stream), i);

		PXT_EQ(pxt_twins_load(&lane->epoch),
		    pxt_epoch_make((uint32_t)(lane->pos >> 30), (uint32_t)(lane->seq >> 29)));
	}
	end(0);
	PXT_EQ(kit_missing(1, 1, 120), 0);
}

/* POL-05, POL-12; ruling 7 */
PXT_TEST(positions_and_numbers_run_over_and_nothing_is_lost)
{
	for (size_t p = 0; p < POSITIONS; p++)
		for (size_t n = 0; n < NUMBERS; n++)
			for (uint64_t before = 1; before <= 97; before += 16) {
				uint64_t seq = numbers[n] ? numbers[n] - before / 2 : 0;

				run_through(LOOP, 1, positions[p] - before, seq);
				run_through(FULL, 1, positions[p] - before, seq);
				run_through(LOOP, 2, positions[p] - before, seq);
				run_through(FULL, 2, positions[p] - before, seq);
			}
}

/* Several laps over the boundary unread: what is lost is counted, the newest lap is there. */
static void lap_through(unsigned lanes, uint64_t pos, uint64_t seq)
{
	struct posix_trace_counts_np now;
	uint32_t events;

	wraps_begin(LOOP, lanes, pos, seq);
	events = kit_slots(stream) * 2u;
	for (uint32_t i = 0; i < events; i++)
		kit_write(1, 4);
	kit_counts(stream, &now);
	PXT_EQ(now.posix_written_np, seq * lanes + events + 1u);
	CU_ASSERT(kit_settle(stream));
	CU_ASSERT(kit_law(stream));
	CU_ASSERT(kit_clean());
	/* One slot is unused where the number runs over. */
	PXT_EQ(kit_missing(1, events - kit_slots(stream) / 2 + 2, events), 0);
	PXT_EQ(kit_missing(1, 1, events - kit_slots(stream) / 2), events - kit_slots(stream) / 2);
	kit_counts(stream, &now);
	PXT_EQ(now.posix_lost_np + kit_seen.user + kit_seen.starts, events + 1u);
	end(now.posix_lost_np);
}

/* POL-05, POL-12; ruling 7 */
PXT_TEST(a_lap_over_a_boundary_is_counted_exactly)
{
	for (size_t p = 0; p < POSITIONS; p++)
		for (size_t n = 0; n < NUMBERS; n++)
			for (uint64_t before = 3; before <= 200; before += 49) {
				uint64_t seq = numbers[n] ? numbers[n] - before : 0;

				lap_through(1, positions[p] - before, seq);
				lap_through(2, positions[p] - before, seq);
			}
}

/* POL-03, POL-06; rulings 7, 14 */
PXT_TEST(the_number_that_runs_over_costs_one_slot_and_the_stream_still_stops_exactly_full)
{
	for (uint64_t before = 1; before <= 30; before++)
		for (unsigned lanes = 1; lanes <= 2; lanes++) {
			struct posix_trace_status_info status;
			struct posix_trace_counts_np now;
			uint32_t room = 64u - 13u - (lanes - 1u);
			bool within = before <= 26;

			wraps_begin(FULL, lanes, UINT64_C(1) << 32, (UINT64_C(1) << 31) - before);
			for (uint32_t i = 0; i < 40; i++)
				kit_write(1, 4);
			PXT_EQ(posix_trace_get_status(stream, &status), 0);
			PXT_EQ(status.posix_stream_full_status, POSIX_TRACE_FULL);
			kit_counts(stream, &now);
			/* 64 slots; START has 13 (and a mark), the others 2, the last needs 1 more. */
			CU_ASSERT(kit_settle(stream));
			PXT_CHECK(kit_seen.user == (room - within) / 2u,
			    "%llu records fit %llu before the end",
			    (unsigned long long)kit_seen.user, (unsigned long long)before);
			end(40 - kit_seen.user);
		}
}

/* ---- Readers that were away ---- */

/* STA-03, POL-05; ruling 7 */
PXT_TEST(a_reader_that_was_away_for_more_than_a_quarter_knows_what_it_missed)
{
	static const uint64_t away[] = { UINT64_C(1) << 30, (UINT64_C(1) << 30) + 5,
		UINT64_C(1) << 31, (UINT64_C(1) << 31) + 64, UINT64_C(1) << 32, UINT64_C(1) << 33,
		(UINT64_C(1) << 33) + 77, UINT64_C(100) << 30 };

	for (size_t i = 0; i < sizeof(away) / sizeof(away[0]); i++)
		for (unsigned lanes = 1; lanes <= 2; lanes++) {
			uint64_t records = away[i] / 2;

			wraps_begin(LOOP, lanes, 12345, 678);
			kit_write(1, 4);
			(void)kit_read_all(stream);
			kit_write(1, 4);
			kit_skip(stream, 0, away[i], records);
			kit_write(1, 4);
			kit_write(1, 30);
			end(records + 1);
			PXT_EQ(kit_missing(1, 1, 4), 1);
			PXT_EQ(kit_missing(1, 2, 2), 1);
		}
}

/* DEC-42; ruling 7: the same slot, lap and number again, 2^31 slots later */
PXT_TEST(a_tag_that_comes_again_is_not_taken_for_the_old_record)
{
	for (unsigned lanes = 1; lanes <= 2; lanes++)
		for (unsigned first = 0; first <= 1; first++) {
			struct pxt_lane *lane;

			wraps_begin(LOOP, lanes, 4096, 0);
			(void)kit_read_all(stream);
			lane = pxt_block_lane(kit_block(stream), 0);
			if (first)
				kit_write(1, 4);
			/* It looked at head more than half a second ago. */
			lane->look_ticks -= pxt_clock.hz;
			kit_skip(stream, 0, (UINT64_C(1) << 31) - 2u * first,
			    (UINT64_C(1) << 28) - first);
			kit_write(1, 4);
			kit_write(1, 4);
			end(UINT64_C(1) << 28);
			PXT_EQ(kit_missing(1, 1 + first, 2 + first), 0);
		}
}
