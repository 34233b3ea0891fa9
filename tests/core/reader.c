/* SPDX-License-Identifier: MIT */
/*
 * reader.c - a read that is interrupted at each of its test points by writes and laps (nothing else
 * can come between: the stream's mutex keeps control calls and other readers out).
 */
#include "kit.h"

#include <string.h>

#define LOOP POSIX_TRACE_LOOP
#define FULL POSIX_TRACE_UNTIL_FULL

enum {
	BEFORE = 1,
	NESTED,
	AFTER
};

static trace_id_t stream;
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
	write_slots(NESTED, kit_slots(stream) / 2);
}

static void write_lap(void *argument)
{
	write_slots(NESTED, kit_slots(stream) + 3);
}

static void write_laps_everywhere(void *argument)
{
	for (unsigned lane = 0; lane < lanes_here; lane++) {
		kit_lane(lane);
		write_slots(NESTED, 3 * kit_slots(stream));
	}
	kit_lane(0);
}

static const struct deed {
	const char *name;
	void (*run)(void *);
	bool laps;
} deeds[] = {
	{ "write", write_one, false },
	{ "write in another lane", write_elsewhere, false },
	{ "write here and in another lane", write_here_and_elsewhere, false },
	{ "write in another lane and here", write_elsewhere_and_here, false },
	{ "write half a ring", write_half, true },
	{ "lap", write_lap, true },
	{ "laps in all lanes", write_laps_everywhere, true },
};
#define DEEDS (sizeof(deeds) / sizeof(deeds[0]))

static void begin(int policy, unsigned lanes, uint32_t slots)
{
	const struct kit_spec spec = { .policy = policy, .lanes = lanes, .bytes = 1024 };

	lanes_here = lanes;
	kit_time_calls();
	stream = kit_open(&spec);
	kit_start(stream);
	(void)kit_read_all(stream);
	for (unsigned lane = 0; lane < lanes; lane++) {
		kit_lane(lane);
		write_slots(BEFORE, slots);
	}
	kit_lane(0);
}

static bool one_case(
    const struct deed *deed, int policy, unsigned lanes, uint32_t slots, uint32_t nth)
{
	struct posix_trace_counts_np now;
	uint32_t missing = 0;
	int point;

	begin(policy, lanes, slots);
	kit_interrupt(nth, KIT_READER_POINTS, deed->run, NULL);
	(void)kit_read_all(stream);
	point = kit_interrupted();
	if (point >= 0) {
		for (int i = 0; i < 5; i++) {
			if (policy == FULL)
				(void)kit_settle(stream);
			kit_write(AFTER, 30);
		}
		CU_ASSERT(kit_settle(stream));
		kit_counts(stream, &now);
		for (unsigned writer = BEFORE; writer <= AFTER; writer++)
			missing += kit_missing(writer, 1, kit_seen.sent[writer]);
		PXT_CHECK(kit_law(stream) && kit_clean() && now.posix_lost_np == missing &&
		              (missing == 0 || deed->laps || slots > 64) &&
		              !kit_missing(AFTER, 1, 5),
		    "%s at point %d (%u), policy %d, %u lanes, %u slots before: %u missing, %llu "
		    "lost, torn %llu, disordered %llu",
		    deed->name, point, nth, policy, lanes, slots, missing,
		    (unsigned long long)now.posix_lost_np, (unsigned long long)kit_seen.torn,
		    (unsigned long long)kit_seen.disordered);
	}
	PXT_EQ(posix_trace_shutdown(stream), 0);
	return point >= 0;
}

static void all(int policy, unsigned lanes, uint32_t slots)
{
	for (size_t i = 0; i < DEEDS; i++) {
		uint32_t nth = 0;

		while (one_case(&deeds[i], policy, lanes, slots, nth))
			nth++;
		CU_ASSERT(nth > 0);
	}
}

/* POL-05, POL-12, EVENT-10, TIM-06; rulings 7, 25, 26 */
PXT_TEST(a_read_of_overwriting_lanes_may_be_interrupted_by_writers_anywhere)
{
	for (unsigned lanes = 1; lanes <= 4; lanes *= 2) {
		all(LOOP, lanes, 20);
		all(LOOP, lanes, 100);
	}
}

/* POL-06, POL-12, EVENT-10; ruling 7 */
PXT_TEST(a_read_of_filling_lanes_may_be_interrupted_by_writers_anywhere)
{
	for (unsigned lanes = 1; lanes <= 4; lanes *= 2)
		all(FULL, lanes, 20);
}
