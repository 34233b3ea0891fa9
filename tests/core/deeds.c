/* SPDX-License-Identifier: MIT */
/* deeds.c - see deeds.h. */
#include "deeds.h"
#include "core/process/process.h"

#include <string.h>

#define AFTERS 5u

const struct ground *deed_ground;
trace_id_t deed_stream;
size_t deed_inner_len;
static trace_id_t second;
static uint32_t outer_slots;

/* ---- Deeds ---- */

static void write_one(void *argument)
{
	kit_write(NESTED, 4);
}

static void write_elsewhere(void *argument)
{
	kit_lane(1);
	kit_write(NESTED, 30);
	kit_write(NESTED, 4);
	kit_lane(0);
}

static void write_long(void *argument)
{
	kit_write(NESTED, 30);
	kit_write(NESTED, 64);
	kit_write(NESTED, 5);
}

static void read_it(void *argument)
{
	/* The machine may be slow, the record is not given up for that. */
	pxt_holdback_ns = UINT64_C(100000000000);
	(void)kit_read_all(deed_stream);
	pxt_holdback_ns = KIT_HOLDBACK_NS;
}

/* What is later in the other lane must wait for what is after an unfinished record. */
static void write_both_and_read(void *argument)
{
	kit_write(NESTED, 4);
	kit_lane(1);
	kit_write(NESTED, 16);
	kit_lane(0);
	read_it(argument);
}

static void write_other_first_and_read(void *argument)
{
	kit_lane(1);
	kit_write(NESTED, 16);
	kit_lane(0);
	kit_write(NESTED, 4);
	read_it(argument);
}

static void read_and_wait(void *argument)
{
	(void)kit_settle(deed_stream);
}

static void write_of(enum deed_writer writer, uint32_t slots)
{
	for (; slots >= 5; slots -= 2)
		kit_write(writer, 4);
	for (; slots >= 2; slots -= slots == 3 ? 3 : 2)
		kit_write(writer, slots == 3 ? 16 : 4);
}

static void write_slots(uint32_t slots)
{
	write_of(NESTED, slots);
}

static uint32_t inner_slots(void)
{
	return deed_inner_len ? kit_slots_of(deed_inner_len) : 0u;
}

/* The interrupted records are the oldest ones that are still there in the end. */
static void write_to_the_brim(void *argument)
{
	write_slots(
	    kit_slots(deed_stream) - outer_slots - inner_slots() - AFTERS * kit_slots_of(4));
}

static void write_lap(void *argument)
{
	write_slots(kit_slots(deed_stream));
}

static void write_laps(void *argument)
{
	write_slots(3 * kit_slots(deed_stream) + 7);
}

/* The same with a reader that keeps up, through the hold-back. */
static void write_and_read_lap(void *argument)
{
	for (uint32_t i = 0; i < kit_slots(deed_stream); i += 8) {
		write_slots(8);
		(void)kit_settle(deed_stream);
	}
}

void deed_stop(void *argument)
{
	PXT_EQ(posix_trace_stop(deed_stream), 0);
}

static void stop_and_start(void *argument)
{
	deed_stop(argument);
	kit_start(deed_stream);
}

static void stop_settle_start(void *argument)
{
	deed_stop(argument);
	(void)kit_settle(deed_stream);
	kit_start(deed_stream);
}

/* Control records and marks come to be on the slot that the writer is about to store. */
static void lap_and_marks(void *argument)
{
	uint32_t slots = kit_slots(deed_stream);

	write_slots(slots - outer_slots);
	for (int i = 0; i < 3; i++)
		stop_and_start(argument);
	(void)kit_read_all(deed_stream);
}

static void clear(void *argument)
{
	kit_seen.due_starts = 0;
	PXT_EQ(posix_trace_clear(deed_stream), 0);
}

static void clear_and_lap(void *argument)
{
	clear(argument);
	write_lap(argument);
}

void deed_filter(int how)
{
	trace_event_set_t set;

	PXT_EQ(posix_trace_eventset_empty(&set), 0);
	PXT_EQ(posix_trace_eventset_add(kit_type(), &set), 0);
	PXT_EQ(posix_trace_set_filter(deed_stream, &set, how), 0);
}

static void filter_out(void *argument)
{
	deed_filter(POSIX_TRACE_ADD_EVENTSET);
	deed_filter(POSIX_TRACE_SUB_EVENTSET);
}

static void shut_down(void *argument)
{
	PXT_EQ(posix_trace_shutdown(deed_stream), 0);
	deed_stream = 0;
}

/* The next stream gets the same place, smaller or larger. */
static void shut_down_and_reopen(void *argument)
{
	const struct kit_spec spec = { .policy = deed_ground->policy,
		.lanes = 3 - deed_ground->lanes,
		.bytes = 8192 - deed_ground->bytes };

	shut_down(argument);
	deed_stream = kit_open(&spec);
	kit_seen.sent[OUTER] = 1;
	kit_seen.sent[INNER] = deed_inner_len != 0;
	kit_start(deed_stream);
	kit_write(AFTER, 4);
}

static void lap_and_die(void *argument)
{
	write_lap(argument);
	kit_die(NULL);
}

const struct deed deeds[DEEDS] = {
	{ "write", write_one, 0, 0, 1 },
	{ "write in another lane", write_elsewhere, 0, 0, 2 },
	{ "write long", write_long, 0, 0, 1 },
	{ "read", read_it, 0, 0, 1 },
	{ "write in both lanes, read", write_both_and_read, 0, 0, 2 },
	{ "write in both lanes, the other first, read", write_other_first_and_read, 0, 0, 2 },
	{ "read and wait", read_and_wait, WAITS, 0, 1 },
	{ "write to the brim", write_to_the_brim, 0, LOOP, 1 },
	{ "lap", write_lap, LAPS, 0, 1 },
	{ "laps", write_laps, LAPS, 0, 1 },
	{ "write and read a lap", write_and_read_lap, LAPS | WAITS, 0, 1 },
	{ "stop", deed_stop, STOPS, 0, 1 },
	{ "stop, start", stop_and_start, STOPS | MARKS, 0, 1 },
	{ "stop, settle, start", stop_settle_start, STOPS | MARKS | WAITS, 0, 1 },
	{ "lap with marks", lap_and_marks, STOPS | MARKS | LAPS, LOOP, 1 },
	{ "clear", clear, CLEARS, 0, 1 },
	{ "clear and lap", clear_and_lap, CLEARS | LAPS, 0, 1 },
	{ "set_filter", filter_out, WAITS | MARKS | STOPS, 0, 1 },
	{ "shutdown", shut_down, ENDS, 0, 1 },
	{ "shutdown and create", shut_down_and_reopen, ENDS, 0, 1 },
	{ "die", kit_die, DIES, 0, 1 },
	{ "lap and die", lap_and_die, DIES | LAPS, LOOP, 1 },
};

/* ---- Grounds ---- */

static uint32_t position(void)
{
	return pxt_head_pos(pxt_cursor_load(&pxt_block_lane(kit_block(deed_stream), 0)->head));
}

static uint32_t free_slots(void)
{
	struct pxt_lane *lane = pxt_block_lane(kit_block(deed_stream), 0);

	return kit_slots(deed_stream) - (position() - (uint32_t)lane->pos);
}

static void prepare(void)
{
	uint32_t slots = kit_slots(deed_stream);
	uint32_t left;

	outer_slots = kit_slots_of(deed_ground->len);
	(void)kit_read_all(deed_stream);
	switch (deed_ground->fill) {
	case SOME:
		write_of(BEFORE, 11);
		break;
	case FREE:
		left = outer_slots + (uint32_t)deed_ground->more;
		write_of(BEFORE, free_slots() - left);
		break;
	case LAPPED:
		write_of(BEFORE, slots + slots / 2);
		break;
	case EDGE:
		while ((position() & (slots - 1u)) != slots - 1u) {
			write_of(BEFORE, (position() & (slots - 1u)) == slots - 3u ? 2 : 3);
			(void)kit_read_all(deed_stream);
		}
		break;
	case FRESH:
	default:
		break;
	}
}

/* ---- The verdict ---- */

static void complain(const struct deed_case *what, const char *why)
{
	struct posix_trace_counts_np now = { 0 };
	const struct ground *on = deed_ground;
	const struct kit_seen *seen = &kit_seen;

	if (deed_stream)
		kit_counts(deed_stream, &now);
	/* Short: a message has room for little. */
	PXT_CHECK(false,
	    "%s: %s at %d (%d), policy %d, %u lanes, %zu, len %zu %zu, fill %d%+d%s; w %llu r %llu "
	    "l %llu c %llu h %llu; missing %u %u %u %u; torn %llu strange %llu dis %llu back %llu "
	    "misp %llu untrue %llu swapped %llu",
	    why, what->deed->name, what->point, what->inner, on->policy, on->lanes, on->bytes,
	    on->len, deed_inner_len, (int)on->fill, on->more, on->kind & TWO ? ", two" : "",
	    (unsigned long long)now.posix_written_np, (unsigned long long)now.posix_retrieved_np,
	    (unsigned long long)now.posix_lost_np, (unsigned long long)now.posix_cleared_np,
	    (unsigned long long)now.posix_held_np, kit_missing(OUTER, 1, seen->sent[OUTER]),
	    kit_missing(INNER, 1, seen->sent[INNER]), kit_missing(NESTED, 1, seen->sent[NESTED]),
	    kit_missing(AFTER, 1, seen->sent[AFTER]), (unsigned long long)seen->torn,
	    (unsigned long long)seen->strange, (unsigned long long)seen->disordered,
	    (unsigned long long)seen->back, (unsigned long long)seen->misplaced,
	    (unsigned long long)seen->untrue, (unsigned long long)seen->swapped);
}

static uint32_t missing_in_all(void)
{
	uint32_t missing = 0;

	for (unsigned writer = OUTER; writer <= SPARE; writer++)
		missing += kit_missing(writer, 1, kit_seen.sent[writer]);
	return missing;
}

/* Nothing but the interrupted records themselves may be missing. */
static bool nothing_else_lost(const struct deed_case *what)
{
	const struct deed *deed = what->deed;
	struct posix_trace_counts_np now;
	uint32_t own = kit_missing(OUTER, 1, kit_seen.sent[OUTER]) +
	               kit_missing(INNER, 1, kit_seen.sent[INNER]);

	kit_counts(deed_stream, &now);
	if (deed->effect & (LAPS | CLEARS | STOPS | ENDS) || deed_ground->fill == LAPPED)
		return true;
	if (deed_ground->policy != LOOP && deed_ground->fill == FREE)
		return now.posix_lost_np <= missing_in_all();
	if (own && !(deed->effect & (DIES | WAITS)))
		return false;
	if (!strcmp(deed->name, "write to the brim"))
		return missing_in_all() == own + kit_missing(BEFORE, 1, kit_seen.sent[BEFORE]);
	return missing_in_all() == own && now.posix_lost_np <= own;
}

/*
 * LOOP: of the newest ring's worth of slots all is there but the record that a lap cut, the
 * interrupted ones, and (ruling 23) those they spoiled.
 */
static bool newest_is_whole(const struct deed_case *what)
{
	unsigned effect = what->deed->effect;
	uint32_t longest = kit_slots_of(30);
	uint32_t gone = longest - 1u + outer_slots + inner_slots() + what->spoil * longest;

	if (deed_ground->policy != LOOP || !(effect & LAPS) || (effect & WAITS))
		return true;
	if (effect & MARKS)
		return kit_missing(AFTER, 1, AFTERS) <= what->spoil;
	return kit_seen.slots + gone >= kit_slots(deed_stream) &&
	       kit_missing(AFTER, 1, AFTERS) <= what->spoil;
}

static void go_on(const struct deed *deed)
{
	bool one_lane = deed->effect & LAPS || deed_ground->policy != LOOP ||
	                !strcmp(deed->name, "write to the brim");

	if (deed_ground->policy != LOOP)
		(void)kit_settle(deed_stream);
	kit_start(deed_stream);
	if (deed_ground->policy == LOOP && deed->effect & LAPS)
		kit_seen.slots = 0;
	for (uint32_t i = 0; i < AFTERS; i++) {
		kit_lane(one_lane ? 0 : i % deed_ground->lanes);
		kit_write(AFTER, 4);
	}
	kit_lane(0);
}

void deed_verdict(const struct deed_case *what)
{
	struct posix_trace_counts_np before;

	if (!deed_stream) {
		CU_ASSERT(kit_clean());
		return;
	}
	kit_counts(deed_stream, &before);
	if (before.posix_written_np != before.posix_retrieved_np + before.posix_lost_np +
	                                   before.posix_cleared_np + before.posix_held_np)
		complain(what, "the law is broken at once");
	go_on(what->deed);
	if (!kit_settle(deed_stream))
		complain(what, "something is held for ever");
	if (!kit_law(deed_stream))
		complain(what, "the law is broken");
	if (!kit_clean())
		complain(what, "torn, strange, out of order or at a wrong time");
	if (!nothing_else_lost(what))
		complain(what, "too much is lost");
	if (!newest_is_whole(what))
		complain(what, "the newest records are not all there");
	if (!(what->deed->effect & LAPS) && kit_missing(AFTER, 1, kit_seen.sent[AFTER]))
		complain(what, "later records are missing");
}

/* ---- One case ---- */

bool deed_fits(const struct deed *deed, const struct ground *ground)
{
	return (!deed->policy || deed->policy == ground->policy) && deed->lanes <= ground->lanes;
}

void deed_at_all_points(const struct deed *deed, bool (*one_case)(const struct deed *, uint32_t))
{
	uint32_t nth = 0;

	while (one_case(deed, nth))
		nth++;
	CU_ASSERT(nth > 4);
}

void deed_all_on(
    const struct ground *ground, unsigned without, bool (*one_case)(const struct deed *, uint32_t))
{
	deed_ground = ground;
	for (size_t i = 0; i < DEEDS; i++)
		if (!(deeds[i].effect & without) && deed_fits(&deeds[i], ground))
			deed_at_all_points(&deeds[i], one_case);
}

void deed_begin(const struct ground *ground)
{
	const struct kit_spec spec = { .policy = ground->policy,
		.lanes = ground->lanes,
		.bytes = ground->bytes,
		.ordered = ground->kind & ORDERED };
	const struct kit_spec beside = { .policy = LOOP, .lanes = 1 };

	deed_ground = ground;
	kit_time_calls();
	if (ground->kind & TWO) {
		second = kit_open(&beside);
		PXT_EQ(posix_trace_start(second), 0);
	}
	deed_stream = kit_open(&spec);
	kit_start(deed_stream);
	prepare();
}

void deed_end(void)
{
	if (deed_stream)
		PXT_EQ(posix_trace_shutdown(deed_stream), 0);
	if (second)
		PXT_EQ(posix_trace_shutdown(second), 0);
	deed_stream = 0;
	second = 0;
	kit_heal();
}
