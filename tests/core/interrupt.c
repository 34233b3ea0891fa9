/* SPDX-License-Identifier: MIT */
/*
 * interrupt.c - a write that is interrupted at each of its test points, by whatever may come: other
 * writes, the reader, a whole lap, control calls, its own end.  Every deed on every ground, at
 * every point; then the books must balance, and everybody goes on.
 */
#include "kit.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

/* Who writes. */
enum {
	OUTER = 1,
	BEFORE,
	NESTED,
	AFTER,
	SPARE
};

#define LOOP   POSIX_TRACE_LOOP
#define FULL   POSIX_TRACE_UNTIL_FULL
#define AFTERS 5u

enum fill {
	FRESH, /* START was read, nothing else is there */
	SOME,  /* a few unread records */
	FREE,  /* so many slots are left as the record has, plus `more` */
	LAPPED,
	EDGE, /* the record crosses the ring's end */
};

/* Where it happens. */
struct ground {
	int policy;
	unsigned lanes;
	size_t bytes;
	size_t len;
	enum fill fill;
	int more;
	bool two; /* a second stream wants the event as well */
};

enum effect {
	LAPS = 1,   /* more than a ring is written meanwhile */
	STOPS = 2,  /* the stream is stopped when the writer goes on */
	CLEARS = 4, /* what was there is cleared */
	ENDS = 8,   /* the stream is gone */
	DIES = 16,
	WAITS = 32, /* long enough that the unfinished record is given up */
	MARKS = 64, /* START and STOP take room */
};

static const struct ground *here;
static trace_id_t stream;
static trace_id_t second;
static uint32_t outer_slots;

/* ---- Deeds ---- */

static void write_one(void *argument)
{
	(void)argument;
	kit_write(NESTED, 4);
}

static void write_elsewhere(void *argument)
{
	(void)argument;
	kit_lane(1);
	kit_write(NESTED, 30);
	kit_write(NESTED, 4);
	kit_lane(0);
}

static void write_long(void *argument)
{
	(void)argument;
	kit_write(NESTED, 30);
	kit_write(NESTED, 64);
	kit_write(NESTED, 5);
}

static void read_it(void *argument)
{
	(void)argument;
	/* The machine may be slow, the record is not given up for that. */
	pxt_holdback_ns = UINT64_C(100000000000);
	(void)kit_read_all(stream);
	pxt_holdback_ns = KIT_HOLDBACK_NS;
}

static void read_and_wait(void *argument)
{
	(void)argument;
	(void)kit_settle(stream);
}

static void write_slots(uint32_t slots)
{
	for (; slots >= 5; slots -= 2)
		kit_write(NESTED, 4);
	for (; slots >= 2; slots -= slots == 3 ? 3 : 2)
		kit_write(NESTED, slots == 3 ? 16 : 4);
}

/* The outer record is the oldest one that is still there in the end. */
static void write_to_the_brim(void *argument)
{
	(void)argument;
	write_slots(kit_slots(stream) - outer_slots - AFTERS * kit_slots_of(4));
}

static void write_lap(void *argument)
{
	(void)argument;
	write_slots(kit_slots(stream));
}

static void write_laps(void *argument)
{
	(void)argument;
	write_slots(3 * kit_slots(stream) + 7);
}

/* The same with a reader that keeps up, through the hold-back. */
static void write_and_read_lap(void *argument)
{
	(void)argument;
	for (uint32_t i = 0; i < kit_slots(stream); i += 8) {
		write_slots(8);
		(void)kit_settle(stream);
	}
}

static void stop(void *argument)
{
	(void)argument;
	PXT_EQ(posix_trace_stop(stream), 0);
}

static void stop_and_start(void *argument)
{
	stop(argument);
	kit_start(stream);
}

static void stop_settle_start(void *argument)
{
	stop(argument);
	(void)kit_settle(stream);
	kit_start(stream);
}

/* Control records and marks come to stand on the slot that the writer is about to store. */
static void lap_and_marks(void *argument)
{
	uint32_t slots = kit_slots(stream);

	write_slots(slots - outer_slots);
	for (int i = 0; i < 3; i++)
		stop_and_start(argument);
	(void)kit_read_all(stream);
}

static void clear(void *argument)
{
	(void)argument;
	kit_seen.due_starts = 0;
	PXT_EQ(posix_trace_clear(stream), 0);
}

static void clear_and_lap(void *argument)
{
	clear(argument);
	write_lap(argument);
}

static void filter_out(void *argument)
{
	trace_event_set_t set;

	(void)argument;
	PXT_EQ(posix_trace_eventset_empty(&set), 0);
	PXT_EQ(posix_trace_eventset_add(kit_type(), &set), 0);
	PXT_EQ(posix_trace_set_filter(stream, &set, POSIX_TRACE_ADD_EVENTSET), 0);
	PXT_EQ(posix_trace_set_filter(stream, &set, POSIX_TRACE_SUB_EVENTSET), 0);
}

static void shut_down(void *argument)
{
	(void)argument;
	PXT_EQ(posix_trace_shutdown(stream), 0);
	stream = 0;
}

/* The next stream gets the same place, smaller or larger. */
static void shut_down_and_reopen(void *argument)
{
	const struct kit_spec spec = {
		.policy = here->policy, .lanes = 3 - here->lanes, .bytes = 8192 - here->bytes
	};

	shut_down(argument);
	stream = kit_open(&spec);
	kit_seen.sent[OUTER] = 1;
	kit_start(stream);
	kit_write(AFTER, 4);
}

static void die(void *argument)
{
	(void)argument;
	kit_die();
}

static void lap_and_die(void *argument)
{
	write_lap(argument);
	kit_die();
}

static const struct deed {
	const char *name;
	void (*run)(void *);
	unsigned effect;
	int policy;     /* 0: any */
	unsigned lanes; /* at least */
} deeds[] = {
	{ "write", write_one, 0, 0, 1 },
	{ "write in another lane", write_elsewhere, 0, 0, 2 },
	{ "write long", write_long, 0, 0, 1 },
	{ "read", read_it, 0, 0, 1 },
	{ "read and wait", read_and_wait, WAITS, 0, 1 },
	{ "write to the brim", write_to_the_brim, 0, LOOP, 1 },
	{ "lap", write_lap, LAPS, 0, 1 },
	{ "laps", write_laps, LAPS, 0, 1 },
	{ "write and read a lap", write_and_read_lap, LAPS | WAITS, 0, 1 },
	{ "stop", stop, STOPS, 0, 1 },
	{ "stop, start", stop_and_start, STOPS | MARKS, 0, 1 },
	{ "stop, settle, start", stop_settle_start, STOPS | MARKS | WAITS, 0, 1 },
	{ "lap with marks", lap_and_marks, STOPS | MARKS | LAPS, LOOP, 1 },
	{ "clear", clear, CLEARS, 0, 1 },
	{ "clear and lap", clear_and_lap, CLEARS | LAPS, 0, 1 },
	{ "set_filter", filter_out, WAITS | MARKS | STOPS, 0, 1 },
	{ "shutdown", shut_down, ENDS, 0, 1 },
	{ "shutdown and create", shut_down_and_reopen, ENDS, 0, 1 },
	{ "die", die, DIES, 0, 1 },
	{ "lap and die", lap_and_die, DIES | LAPS, LOOP, 1 },
};
#define DEEDS (sizeof(deeds) / sizeof(deeds[0]))

/* ---- Grounds ---- */

static uint32_t position(void)
{
	return pxt_head_pos(pxt_cursor_load(&pxt_block_lane(kit_block(stream), 0)->head));
}

static uint32_t free_slots(void)
{
	struct pxt_lane *lane = pxt_block_lane(kit_block(stream), 0);

	return kit_slots(stream) - (position() - (uint32_t)lane->pos);
}

static void write_before(uint32_t slots)
{
	for (; slots >= 5; slots -= 2)
		kit_write(BEFORE, 4);
	for (; slots >= 2; slots -= slots == 3 ? 3 : 2)
		kit_write(BEFORE, slots == 3 ? 16 : 4);
}

static void prepare(void)
{
	uint32_t slots = kit_slots(stream);
	uint32_t left;

	outer_slots = kit_slots_of(here->len);
	(void)kit_read_all(stream);
	switch (here->fill) {
	case SOME:
		write_before(11);
		break;
	case FREE:
		left = outer_slots + (uint32_t)here->more;
		write_before(free_slots() - left);
		break;
	case LAPPED:
		write_before(slots + slots / 2);
		break;
	case EDGE:
		while ((position() & (slots - 1u)) != slots - 1u) {
			write_before((position() & (slots - 1u)) == slots - 3u ? 2 : 3);
			(void)kit_read_all(stream);
		}
		break;
	case FRESH:
	default:
		break;
	}
}

/* ---- The verdict ---- */

static void complain(const struct deed *deed, int point, const char *what)
{
	struct posix_trace_counts_np now = { 0 };

	if (stream)
		kit_counts(stream, &now);
	PXT_CHECK(false,
	    "%s: %s at point %d, policy %d, %u lanes, %zu bytes, length %zu, fill %d%+d%s; written "
	    "%llu retrieved %llu lost %llu cleared %llu held %llu; outer %u of %u, nested %u of "
	    "%u, "
	    "after %u of %u missing; torn %llu strange %llu disordered %llu back %llu misplaced "
	    "%llu",
	    what, deed->name, point, here->policy, here->lanes, here->bytes, here->len,
	    (int)here->fill, here->more, here->two ? ", two streams" : "",
	    (unsigned long long)now.posix_written_np, (unsigned long long)now.posix_retrieved_np,
	    (unsigned long long)now.posix_lost_np, (unsigned long long)now.posix_cleared_np,
	    (unsigned long long)now.posix_held_np, kit_missing(OUTER, 1, kit_seen.sent[OUTER]),
	    kit_seen.sent[OUTER], kit_missing(NESTED, 1, kit_seen.sent[NESTED]),
	    kit_seen.sent[NESTED], kit_missing(AFTER, 1, kit_seen.sent[AFTER]),
	    kit_seen.sent[AFTER], (unsigned long long)kit_seen.torn,
	    (unsigned long long)kit_seen.strange, (unsigned long long)kit_seen.disordered,
	    (unsigned long long)kit_seen.back, (unsigned long long)kit_seen.misplaced);
}

static uint32_t missing_in_all(void)
{
	uint32_t missing = 0;

	for (unsigned writer = OUTER; writer <= AFTER; writer++)
		missing += kit_missing(writer, 1, kit_seen.sent[writer]);
	return missing;
}

/* Nothing but the interrupted record itself may be missing. */
static bool nothing_else_lost(const struct deed *deed)
{
	struct posix_trace_counts_np now;
	uint32_t outer = kit_missing(OUTER, 1, 1);

	kit_counts(stream, &now);
	if (deed->effect & (LAPS | CLEARS | STOPS | ENDS) || here->fill == LAPPED)
		return true;
	if (here->policy == FULL && here->fill == FREE)
		return now.posix_lost_np <= missing_in_all();
	if (outer && !(deed->effect & (DIES | WAITS)))
		return false;
	if (deed->run == write_to_the_brim)
		return missing_in_all() == kit_missing(BEFORE, 1, kit_seen.sent[BEFORE]);
	return missing_in_all() == outer && now.posix_lost_np <= outer;
}

/*
 * LOOP: of the newest ring's worth of slots all is there but the record that a lap cut, the
 * interrupted one, and (ruling 23) the one it spoiled.
 */
static bool newest_is_whole(const struct deed *deed, int point)
{
	uint32_t longest = kit_slots_of(30);
	uint32_t gone = longest - 1u + outer_slots;

	if (here->policy != LOOP || !(deed->effect & LAPS) || (deed->effect & WAITS))
		return true;
	if (deed->effect & MARKS)
		return kit_missing(AFTER, 1, AFTERS) <= (point == PXT_TP_LOOKED);
	if (point == PXT_TP_LOOKED)
		gone += longest;
	return kit_seen.slots + gone >= kit_slots(stream) &&
	       kit_missing(AFTER, 1, AFTERS) <= (point == PXT_TP_LOOKED);
}

static void go_on(const struct deed *deed)
{
	if (here->policy == FULL)
		(void)kit_settle(stream);
	kit_start(stream);
	if (here->policy == LOOP && deed->effect & LAPS)
		kit_seen.slots = 0;
	for (uint32_t i = 0; i < AFTERS; i++) {
		kit_lane(deed->effect & LAPS || here->policy == FULL ? 0 : i % here->lanes);
		if (deed->run == write_to_the_brim)
			kit_lane(0);
		kit_write(AFTER, 4);
	}
	kit_lane(0);
}

static void verdict(const struct deed *deed, int point)
{
	struct posix_trace_counts_np before;

	kit_counts(stream, &before);
	if (before.posix_written_np != before.posix_retrieved_np + before.posix_lost_np +
	                                   before.posix_cleared_np + before.posix_held_np)
		complain(deed, point, "the law is broken at once");
	go_on(deed);
	if (!kit_settle(stream))
		complain(deed, point, "something is held for ever");
	if (!kit_law(stream))
		complain(deed, point, "the law is broken");
	if (!kit_clean())
		complain(deed, point, "torn, strange or out of order");
	if (!nothing_else_lost(deed))
		complain(deed, point, "too much is lost");
	if (!newest_is_whole(deed, point))
		complain(deed, point, "the newest records are not all there");
	if (!(deed->effect & LAPS) && kit_missing(AFTER, 1, kit_seen.sent[AFTER]))
		complain(deed, point, "later records are missing");
}

/* ---- One case ---- */

static void write_outer(const struct deed *deed, uint32_t nth)
{
	kit_interrupt(nth, KIT_WRITER_POINTS, deed->run, NULL);
	if (sigsetjmp(kit_way_out, 1) == 0)
		kit_write(OUTER, here->len);
	kit_lane(0);
}

static void end_streams(void)
{
	if (stream)
		PXT_EQ(posix_trace_shutdown(stream), 0);
	if (second)
		PXT_EQ(posix_trace_shutdown(second), 0);
	stream = 0;
	second = 0;
	kit_heal();
}

/* False: the write has no such point, or the test has failed enough. */
static bool one_case(const struct deed *deed, uint32_t nth)
{
	const struct kit_spec spec = {
		.policy = here->policy, .lanes = here->lanes, .bytes = here->bytes
	};
	const struct kit_spec beside = { .policy = LOOP, .lanes = 1 };
	int point;

	if (here->two) {
		second = kit_open(&beside);
		PXT_EQ(posix_trace_start(second), 0);
	}
	stream = kit_open(&spec);
	kit_start(stream);
	prepare();
	write_outer(deed, nth);
	point = kit_interrupted();
	if (point >= 0) {
		if (stream)
			verdict(deed, point);
		else
			CU_ASSERT(kit_clean());
	}
	end_streams();
	return point >= 0;
}

static void on(const struct ground *ground)
{
	here = ground;
	for (size_t i = 0; i < DEEDS; i++) {
		uint32_t nth = 0;

		if ((deeds[i].policy && deeds[i].policy != ground->policy) ||
		    deeds[i].lanes > ground->lanes)
			continue;
		while (one_case(&deeds[i], nth))
			nth++;
		CU_ASSERT(nth > 0);
	}
}

/* POL-05, POL-12, EVENT-10, SAFE-01; rulings 7, 12, 20, 23 */
static void a_write_into_one_overwriting_lane_may_be_interrupted_anywhere(void)
{
	on(&(const struct ground){ LOOP, 1, 1024, 4, FRESH, 0, false });
	on(&(const struct ground){ LOOP, 1, 1024, 30, SOME, 0, false });
	on(&(const struct ground){ LOOP, 1, 4096, 64, LAPPED, 0, false });
	on(&(const struct ground){ LOOP, 1, 1024, 4, LAPPED, 0, false });
	on(&(const struct ground){ LOOP, 1, 1024, 30, EDGE, 0, false });
}

/* POL-05, POL-12, EVENT-10, TIM-04; rulings 7, 10, 12, 20, 23 */
static void a_write_into_two_overwriting_lanes_may_be_interrupted_anywhere(void)
{
	on(&(const struct ground){ LOOP, 2, 1024, 4, FRESH, 0, false });
	on(&(const struct ground){ LOOP, 2, 1024, 30, SOME, 0, false });
	on(&(const struct ground){ LOOP, 2, 4096, 64, LAPPED, 0, false });
	on(&(const struct ground){ LOOP, 2, 1024, 4, LAPPED, 0, false });
	on(&(const struct ground){ LOOP, 2, 1024, 30, EDGE, 0, false });
}

/* POL-03, POL-06, POL-07, POL-12, DEC-11; rulings 7, 12, 14 */
static void a_write_into_one_filling_lane_may_be_interrupted_anywhere(void)
{
	on(&(const struct ground){ FULL, 1, 1024, 4, FRESH, 0, false });
	on(&(const struct ground){ FULL, 1, 4096, 30, SOME, 0, false });
	for (int more = -1; more <= 2; more++)
		on(&(const struct ground){ FULL, 1, 1024, 30, FREE, more, false });
	on(&(const struct ground){ FULL, 1, 1024, 30, EDGE, 0, false });
}

/* POL-03, POL-06, POL-07, POL-12, DEC-11; rulings 7, 10, 12, 14 */
static void a_write_into_two_filling_lanes_may_be_interrupted_anywhere(void)
{
	on(&(const struct ground){ FULL, 2, 1024, 4, FRESH, 0, false });
	on(&(const struct ground){ FULL, 2, 4096, 30, SOME, 0, false });
	for (int more = -1; more <= 2; more++)
		on(&(const struct ground){ FULL, 2, 1024, 30, FREE, more, false });
	on(&(const struct ground){ FULL, 2, 1024, 30, EDGE, 0, false });
}

/* EVENT-10, SAFE-01; rulings 7, 10, 12 */
static void a_write_into_two_streams_may_be_interrupted_anywhere(void)
{
	on(&(const struct ground){ LOOP, 2, 1024, 30, SOME, 0, true });
	on(&(const struct ground){ FULL, 1, 1024, 4, FREE, 0, true });
}

/* POL-05; rulings 7, 12: it says how far its place goes, so nobody waits for it */
static void a_writer_that_comes_behind_a_stop_is_counted_lost_without_a_wait(void)
{
	for (unsigned lanes = 1; lanes <= 2; lanes++)
		for (unsigned more = 0; more < 2; more++) {
			const struct kit_spec spec = {
				.policy = LOOP, .lanes = lanes, .bytes = 4096
			};
			struct posix_trace_counts_np now;

			stream = kit_open(&spec);
			kit_start(stream);
			kit_interrupt(0, UINT64_C(1) << PXT_TP_GATE_SEEN, stop, NULL);
			kit_write(OUTER, 30);
			PXT_EQ(kit_interrupted(), PXT_TP_GATE_SEEN);
			pxt_holdback_ns = UINT64_C(100000000000);
			if (more) {
				kit_start(stream);
				kit_write(AFTER, 4);
			}
			CU_ASSERT(kit_settle(stream));
			CU_ASSERT(kit_law(stream));
			kit_counts(stream, &now);
			PXT_EQ(now.posix_lost_np, 1);
			PXT_EQ(kit_missing(OUTER, 1, 1), 1);
			PXT_EQ(kit_missing(AFTER, 1, more), 0);
			pxt_holdback_ns = KIT_HOLDBACK_NS;
			end_streams();
		}
}

static const struct pxt_case cases[] = {
	PXT_CASE(a_write_into_one_overwriting_lane_may_be_interrupted_anywhere),
	PXT_CASE(a_write_into_two_overwriting_lanes_may_be_interrupted_anywhere),
	PXT_CASE(a_write_into_one_filling_lane_may_be_interrupted_anywhere),
	PXT_CASE(a_write_into_two_filling_lanes_may_be_interrupted_anywhere),
	PXT_CASE(a_writer_that_comes_behind_a_stop_is_counted_lost_without_a_wait),
	PXT_CASE(a_write_into_two_streams_may_be_interrupted_anywhere),
};
PXT_SUITE("core: a write interrupted", cases)
