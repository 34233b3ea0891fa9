/* SPDX-License-Identifier: MIT */
/*
 * merge.c - lanes put together by hand, compared with the plainest merge there is: of the lanes'
 * fronts, the one with the smallest stamp comes next.
 */
#include "kit.h"

#include "lanes/hand.h"

#define LANES 4u
#define MOST  160u

static uint32_t seed;

static uint32_t random_below(uint32_t limit)
{
	seed = seed * 1664525u + 1013904223u;
	return (seed >> 8) % limit;
}

/* ---- Records ---- */

/* Writer = lane, so that the order within a lane is checked as well. */
static void reserve_by(struct record *record, unsigned lane, uint32_t thread)
{
	memset(record, 0, sizeof(*record));
	kit_data(record->data, lane, ++kit_seen.sent[lane], 20);
	CU_ASSERT_FATAL(reserve_of(record, lane, kit_type(), 20, thread));
}

static void put_by(unsigned lane, uint32_t thread, uint64_t ticks)
{
	struct record record;

	reserve_by(&record, lane, thread);
	finish(&record, ticks);
}

/* Its begin slot is there, the rest is not. */
static void begin_only(struct record *record, uint64_t ticks)
{
	const struct pxt_place *place = &record->place;
	uint32_t tag = pxt_tag(place->ring.mask, place->pos, place->seq) | PXT_SLOT_BEGIN;

	pxt_slot_store(&place->ring.slots[place->pos & place->ring.mask],
	    (uint64_t)record->event.info << 32 | tag, ticks);
}

static void begin(int policy, unsigned lanes, size_t bytes)
{
	const struct kit_spec spec = { .policy = policy, .lanes = lanes, .bytes = bytes };

	use(kit_open(&spec));
	kit_start(stream);
	(void)kit_read_all(stream);
}

static void end(void)
{
	somebody_inside(false);
	CU_ASSERT(kit_settle(stream));
	CU_ASSERT(kit_law(stream));
	CU_ASSERT(kit_clean());
	PXT_EQ(posix_trace_shutdown(stream), 0);
}

/* Who was read: the sum of what each writer gave shows it. */
static int read_lane(void)
{
	uint32_t before[KIT_WRITERS];

	memcpy(before, kit_seen.last, sizeof(before));
	if (!kit_read(stream))
		return -1;
	for (unsigned i = 0; i < KIT_WRITERS; i++) {
		if (kit_seen.last[i] != before[i])
			return (int)i;
	}
	return -2;
}

/* ---- The plain merge ---- */

static struct {
	uint64_t ticks[LANES][MOST];
	uint32_t count[LANES];
	uint32_t next[LANES];
} model;

static int model_next(unsigned lanes)
{
	uint64_t least = UINT64_MAX;
	int chosen = -1;

	for (unsigned lane = 0; lane < lanes; lane++) {
		uint32_t front = model.next[lane];

		if (front < model.count[lane] && model.ticks[lane][front] < least) {
			least = model.ticks[lane][front];
			chosen = (int)lane;
		}
	}
	if (chosen >= 0)
		model.next[chosen]++;
	return chosen;
}

/* No two stamps are the same: which lane goes first then is nobody's business. */
static uint64_t stamp(uint64_t base, uint32_t at, uint32_t spread, uint64_t serial)
{
	return base + ((uint64_t)at * 8u + random_below(spread)) * 4096u + serial;
}

static void compare(int policy, unsigned lanes, uint32_t records, uint32_t spread, uint32_t batch)
{
	uint64_t base;
	uint32_t made = 0;
	int got;
	int want;

	memset(&model, 0, sizeof(model));
	begin(policy, lanes, 65536);
	base = pxt_port_ticks_ordered() - pxt_clock.hz;
	while (made < records) {
		for (uint32_t i = 0; i < batch && made < records; i++) {
			unsigned lane = random_below(lanes);
			uint64_t ticks = stamp(base, made, spread, made);

			if (model.count[lane] == MOST)
				continue;
			put_by(lane, 100 + made, ticks);
			model.ticks[lane][model.count[lane]++] = ticks;
			made++;
		}
		do {
			want = model_next(lanes);
			got = read_lane();
			if (got == want)
				continue;
			PXT_CHECK(false,
			    "%u lanes, %u records, spread %u, batch %u: lane %d, not %d", lanes,
			    records, spread, batch, got, want);
			end();
			return;
		} while (want >= 0);
	}
	end();
}

/* TIM-03, TIM-04; ruling 10 */
PXT_TEST(any_stamps_come_out_as_the_plain_merge_says)
{
	for (uint32_t round = 0; round < 300; round++) {
		seed = round;
		compare(round & 1 ? LOOP : FULL, 2, 100, 1u + random_below(400), 100);
		compare(LOOP, 2, 150, 1u + random_below(40), 1u + random_below(20));
		compare(FULL, 4, 300, 1u + random_below(3000), 300);
		compare(LOOP, 4, 200, 1u + random_below(100), 1u + random_below(70));
	}
}

/* ---- Unfinished records that hide others ---- */

/* The wait for one is over, the next one after it still has its own. */
PXT_TEST(an_unfinished_record_behind_one_that_was_given_up_still_holds_back)
{
	struct record dead;
	struct record slow;
	struct pxt_slot stored;
	struct pxt_lane *lane;

	begin(LOOP, 2, 4096);
	somebody_inside(true);
	pxt_holdback_ns = NO_END;
	lane = pxt_block_lane(block, 0);
	reserve_by(&dead, 0, 100);
	CU_ASSERT(!kit_read(stream));
	reserve_by(&slow, 0, 101);
	begin_only(&slow, pxt_port_ticks_ordered());
	CU_ASSERT(!kit_read(stream));
	/* As if the hold-back time had gone by for the first. */
	lane->stuck_since -= 11 * pxt_clock.hz;
	CU_ASSERT(!kit_read(stream));
	PXT_EQ(lane->pos, slow.place.pos);
	put_by(1, 102, pxt_port_ticks_ordered());
	PXT_EQ(read_lane(), -1);
	stored = pxt_slot_load(&slow.place.ring.slots[slow.place.pos & slow.place.ring.mask]);
	finish(&slow, pxt_slot_ticks(&stored));
	PXT_EQ(read_lane(), 0);
	PXT_EQ(read_lane(), 1);
	end();
}

/* What is after it comes after the hold-back time, and nothing of it is lost. */
PXT_TEST(other_lanes_wait_for_the_hold_back_time_and_no_longer)
{
	struct posix_trace_counts_np now;
	struct record dead;

	begin(FULL, 4, 4096);
	somebody_inside(true);
	reserve_by(&dead, 2, 100);
	for (unsigned i = 0; i < 20; i++)
		put_by(i % 4, 200 + i, pxt_port_ticks_ordered());
	CU_ASSERT(kit_settle(stream));
	kit_counts(stream, &now);
	PXT_EQ(now.posix_lost_np, 1);
	PXT_EQ(kit_seen.user, 20);
	end();
}

/* ---- Barriers ---- */

/* Everything of one run is between its START and its STOP, whatever its stamps say. */
static void runs(unsigned lanes, unsigned laps)
{
	begin(LOOP, lanes, laps ? 4096 : 16384);
	for (unsigned run = 0; run < 6; run++) {
		uint64_t base = pxt_port_ticks_ordered();
		uint32_t events = 12 + laps * 300;

		if (run)
			kit_start(stream);
		for (uint32_t i = 0; i < events; i++) {
			unsigned lane = i % (run % 2 ? 1 : lanes);

			put_by(lane, 1 + i, base + random_below(10));
		}
		PXT_EQ(posix_trace_stop(stream), 0);
	}
	for (unsigned run = 0; run < 6 && !laps; run++) {
		while (kit_seen.stops == run)
			CU_ASSERT_FATAL(kit_read(stream));
		PXT_EQ(kit_seen.user, 12 * (run + 1));
		PXT_EQ(kit_seen.starts, run + 1);
	}
	end();
}

/* STOP-03, START-02; ruling 10 */
PXT_TEST(start_and_stop_divide_what_any_number_of_lanes_recorded)
{
	seed = 1;
	for (unsigned lanes = 1; lanes <= 4; lanes *= 2)
		runs(lanes, 0);
}

/* Lanes that lost their marks do not keep the others waiting. */
PXT_TEST(lapped_lanes_do_not_stop_the_merge)
{
	seed = 2;
	for (unsigned lanes = 2; lanes <= 4; lanes *= 2)
		for (unsigned laps = 1; laps <= 3; laps++)
			runs(lanes, laps);
}

/* A writer may go round the ring while the lane's smallest stamp is looked for. */
PXT_TEST(the_floor_of_a_lapped_lane_is_that_of_what_is_left)
{
	const struct kit_spec spec = { .policy = LOOP, .lanes = 2, .bytes = 4096 };
	uint32_t fit;

	use(kit_open(&spec));
	kit_start(stream);
	fit = kit_slots(stream) /
	      pxt_info_slots(pxt_slot_info(kit_type(), 20, false, false, 1), PXT_CTX_BYTES);
	for (uint32_t written = 1; written <= 3 * fit; written++) {
		struct pxt_ring ring = pxt_block_ring(block, 1);
		uint64_t oldest;
		uint64_t least;

		put_by(1, 0, 1000u + written);
		/* A record of which a slot was overwritten is none. */
		oldest = written > fit ? written - fit + 1u : 1u;
		least = pxt_lane_floor(&ring);
		PXT_CHECK(least == 1000u + oldest, "%u records: %llu, not %llu", (unsigned)written,
		    (unsigned long long)least, (unsigned long long)(1000u + oldest));
	}
	PXT_EQ(posix_trace_shutdown(stream), 0);
}
