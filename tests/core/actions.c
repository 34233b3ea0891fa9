/* SPDX-License-Identifier: MIT */
/* actions.c - what may come between two steps of a write, in which setting, and the verdict; see kit.h. */
#include "core/process/process.h"
#include "kit.h"

#include <string.h>

#define AFTERS 5u

const struct setting *action_setting;
trace_id_t action_stream;
size_t action_inner_len;
static trace_id_t second;
static uint32_t outer_slots;

/* ---- Actions ---- */

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
	(void)kit_read_all(action_stream);
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
	(void)kit_settle(action_stream);
}

static void write_of(enum action_writer writer, uint32_t slots)
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
	return action_inner_len ? kit_slots_of(action_inner_len) : 0u;
}

/* The interrupted records are the oldest ones that are still there in the end. */
static void write_to_the_brim(void *argument)
{
	write_slots(
	    kit_slots(action_stream) - outer_slots - inner_slots() - AFTERS * kit_slots_of(4));
}

static void write_lap(void *argument)
{
	write_slots(kit_slots(action_stream));
}

static void write_laps(void *argument)
{
	write_slots(3 * kit_slots(action_stream) + 7);
}

/* The same with a reader that keeps up, through the hold-back. */
static void write_and_read_lap(void *argument)
{
	for (uint32_t i = 0; i < kit_slots(action_stream); i += 8) {
		write_slots(8);
		(void)kit_settle(action_stream);
	}
}

void action_stop(void *argument)
{
	PXT_EQ(posix_trace_stop(action_stream), 0);
}

static void stop_and_start(void *argument)
{
	action_stop(argument);
	kit_start(action_stream);
}

static void stop_settle_start(void *argument)
{
	action_stop(argument);
	(void)kit_settle(action_stream);
	kit_start(action_stream);
}

/* Control records and marks come to be on the slot that the writer is about to store. */
static void lap_and_marks(void *argument)
{
	uint32_t slots = kit_slots(action_stream);

	write_slots(slots - outer_slots);
	for (int i = 0; i < 3; i++)
		stop_and_start(argument);
	(void)kit_read_all(action_stream);
}

static void clear(void *argument)
{
	kit_seen.due_starts = 0;
	PXT_EQ(posix_trace_clear(action_stream), 0);
}

static void clear_and_lap(void *argument)
{
	clear(argument);
	write_lap(argument);
}

void action_filter(int how)
{
	trace_event_set_t set;

	PXT_EQ(posix_trace_eventset_empty(&set), 0);
	PXT_EQ(posix_trace_eventset_add(kit_type(), &set), 0);
	PXT_EQ(posix_trace_set_filter(action_stream, &set, how), 0);
}

static void filter_out(void *argument)
{
	action_filter(POSIX_TRACE_ADD_EVENTSET);
	action_filter(POSIX_TRACE_SUB_EVENTSET);
}

static void shut_down(void *argument)
{
	PXT_EQ(posix_trace_shutdown(action_stream), 0);
	action_stream = 0;
}

/* The next stream gets the same place, smaller or larger. */
static void shut_down_and_reopen(void *argument)
{
	const struct kit_spec spec = { .policy = action_setting->policy,
		.lanes = 3 - action_setting->lanes,
		.bytes = 8192 - action_setting->bytes };

	shut_down(argument);
	action_stream = kit_open(&spec);
	kit_seen.sent[OUTER] = 1;
	kit_seen.sent[INNER] = action_inner_len != 0;
	kit_start(action_stream);
	kit_write(AFTER, 4);
}

static void lap_and_die(void *argument)
{
	write_lap(argument);
	kit_die(NULL);
}

const struct action actions[ACTIONS] = {
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
	{ "stop", action_stop, STOPS, 0, 1 },
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

/* ---- Settings ---- */

static uint32_t position(void)
{
	return pxt_head_pos(pxt_cursor_load(&pxt_block_lane(kit_block(action_stream), 0)->head));
}

static uint32_t free_slots(void)
{
	struct pxt_lane *lane = pxt_block_lane(kit_block(action_stream), 0);

	return kit_slots(action_stream) - (position() - (uint32_t)lane->pos);
}

static void prepare(void)
{
	uint32_t slots = kit_slots(action_stream);
	uint32_t left;

	outer_slots = kit_slots_of(action_setting->len);
	(void)kit_read_all(action_stream);
	switch (action_setting->fill) {
	case SOME:
		write_of(BEFORE, 11);
		break;
	case FREE:
		left = outer_slots + (uint32_t)action_setting->more;
		write_of(BEFORE, free_slots() - left);
		break;
	case LAPPED:
		write_of(BEFORE, slots + slots / 2);
		break;
	case EDGE:
		while ((position() & (slots - 1u)) != slots - 1u) {
			write_of(BEFORE, (position() & (slots - 1u)) == slots - 3u ? 2 : 3);
			(void)kit_read_all(action_stream);
		}
		break;
	case FRESH:
	default:
		break;
	}
}

/* ---- The verdict ---- */

static void complain(const struct action_case *what, const char *why)
{
	struct posix_trace_counts_np now = { 0 };
	const struct setting *on = action_setting;
	const struct kit_seen *seen = &kit_seen;

	if (action_stream)
		kit_counts(action_stream, &now);
	/* Short: a message has room for little. */
	PXT_CHECK(false,
	    "%s: %s at %d (%d), policy %d, %u lanes, %zu, len %zu %zu, fill %d%+d%s; w %llu r %llu "
	    "l %llu c %llu h %llu; missing %u %u %u %u; torn %llu strange %llu dis %llu back %llu "
	    "misp %llu untrue %llu swapped %llu",
	    why, what->action->name, what->point, what->inner, on->policy, on->lanes, on->bytes,
	    on->len, action_inner_len, (int)on->fill, on->more, on->kind & TWO ? ", two" : "",
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
static bool nothing_else_lost(const struct action_case *what)
{
	const struct action *action = what->action;
	struct posix_trace_counts_np now;
	uint32_t own = kit_missing(OUTER, 1, kit_seen.sent[OUTER]) +
	               kit_missing(INNER, 1, kit_seen.sent[INNER]);

	kit_counts(action_stream, &now);
	if (action->effect & (LAPS | CLEARS | STOPS | ENDS) || action_setting->fill == LAPPED)
		return true;
	if (action_setting->policy != LOOP && action_setting->fill == FREE)
		return now.posix_lost_np <= missing_in_all();
	if (own && !(action->effect & (DIES | WAITS)))
		return false;
	if (!strcmp(action->name, "write to the brim"))
		return missing_in_all() == own + kit_missing(BEFORE, 1, kit_seen.sent[BEFORE]);
	return missing_in_all() == own && now.posix_lost_np <= own;
}

/*
 * LOOP: of the newest ring's worth of slots all is there but the record that a lap cut, the
 * interrupted ones, and (ruling 23) those they spoiled.
 */
static bool newest_is_whole(const struct action_case *what)
{
	unsigned effect = what->action->effect;
	uint32_t longest = kit_slots_of(30);
	uint32_t gone = longest - 1u + outer_slots + inner_slots() + what->spoil * longest;

	if (action_setting->policy != LOOP || !(effect & LAPS) || (effect & WAITS))
		return true;
	if (effect & MARKS)
		return kit_missing(AFTER, 1, AFTERS) <= what->spoil;
	return kit_seen.slots + gone >= kit_slots(action_stream) &&
	       kit_missing(AFTER, 1, AFTERS) <= what->spoil;
}

static void go_on(const struct action *action)
{
	bool one_lane = action->effect & LAPS || action_setting->policy != LOOP ||
	                !strcmp(action->name, "write to the brim");

	if (action_setting->policy != LOOP)
		(void)kit_settle(action_stream);
	kit_start(action_stream);
	if (action_setting->policy == LOOP && action->effect & LAPS)
		kit_seen.slots = 0;
	for (uint32_t i = 0; i < AFTERS; i++) {
		kit_lane(one_lane ? 0 : i % action_setting->lanes);
		kit_write(AFTER, 4);
	}
	kit_lane(0);
}

void action_verdict(const struct action_case *what)
{
	struct posix_trace_counts_np before;

	if (!action_stream) {
		CU_ASSERT(kit_clean());
		return;
	}
	kit_counts(action_stream, &before);
	if (before.posix_written_np != before.posix_retrieved_np + before.posix_lost_np +
	                                   before.posix_cleared_np + before.posix_held_np)
		complain(what, "the law is broken at once");
	go_on(what->action);
	if (!kit_settle(action_stream))
		complain(what, "something is held for ever");
	if (!kit_law(action_stream))
		complain(what, "the law is broken");
	if (!kit_clean())
		complain(what, "torn, strange, out of order or at a wrong time");
	if (!nothing_else_lost(what))
		complain(what, "too much is lost");
	if (!newest_is_whole(what))
		complain(what, "the newest records are not all there");
	if (!(what->action->effect & LAPS) && kit_missing(AFTER, 1, kit_seen.sent[AFTER]))
		complain(what, "later records are missing");
}

/* ---- One case ---- */

bool action_fits(const struct action *action, const struct setting *setting)
{
	return (!action->policy || action->policy == setting->policy) &&
	       action->lanes <= setting->lanes;
}

void action_at_all_points(
    const struct action *action, bool (*one_case)(const struct action *, uint32_t))
{
	uint32_t nth = 0;

	while (one_case(action, nth))
		nth++;
	CU_ASSERT(nth > 4);
}

void action_all_on(const struct setting *setting, unsigned without,
    bool (*one_case)(const struct action *, uint32_t))
{
	action_setting = setting;
	for (size_t i = 0; i < ACTIONS; i++)
		if (!(actions[i].effect & without) && action_fits(&actions[i], setting))
			action_at_all_points(&actions[i], one_case);
}

void action_begin(const struct setting *setting)
{
	const struct kit_spec spec = { .policy = setting->policy,
		.lanes = setting->lanes,
		.bytes = setting->bytes,
		.ordered = setting->kind & ORDERED };
	const struct kit_spec beside = { .policy = LOOP, .lanes = 1 };

	action_setting = setting;
	kit_time_calls();
	if (setting->kind & TWO) {
		second = kit_open(&beside);
		PXT_EQ(posix_trace_start(second), 0);
	}
	action_stream = kit_open(&spec);
	kit_start(action_stream);
	prepare();
}

void action_end(void)
{
	if (action_stream)
		PXT_EQ(posix_trace_shutdown(action_stream), 0);
	if (second)
		PXT_EQ(posix_trace_shutdown(second), 0);
	action_stream = 0;
	second = 0;
	kit_heal();
}
