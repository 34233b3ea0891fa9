/* SPDX-License-Identifier: MIT */
/*
 * wraps.c - positions and numbers that run over: quarters, halves and the whole of their words,
 * alone and together; readers that were away for longer than that.
 */
#include "kit.h"

#include <string.h>

#define LOOP POSIX_TRACE_LOOP
#define FULL POSIX_TRACE_UNTIL_FULL

static trace_id_t stream;

static const uint64_t positions[] = { UINT64_C(1) << 20, UINT64_C(1) << 30, UINT64_C(1) << 31,
	UINT64_C(3) << 30, UINT64_C(1) << 32, UINT64_C(5) << 30, UINT64_C(1) << 34 };
static const uint64_t numbers[] = { 0, UINT64_C(1) << 29, UINT64_C(1) << 30, UINT64_C(3) << 29,
	UINT64_C(1) << 31, UINT64_C(5) << 29, UINT64_C(1) << 32, UINT64_C(1) << 36 };
#define POSITIONS (sizeof(positions) / sizeof(positions[0]))
#define NUMBERS   (sizeof(numbers) / sizeof(numbers[0]))

static void begin(int policy, unsigned lanes, uint64_t pos, uint64_t seq)
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
	begin(policy, lanes, pos, seq);
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

	begin(LOOP, lanes, pos, seq);
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

			begin(FULL, lanes, UINT64_C(1) << 32, (UINT64_C(1) << 31) - before);
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

			begin(LOOP, lanes, 12345, 678);
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

			begin(LOOP, lanes, 4096, 0);
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
