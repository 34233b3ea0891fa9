/* SPDX-License-Identifier: MIT */
/*
 * wanted.c - the table that trace points look at first says, after every call, exactly which
 * streams want which type (ruling 11): eight streams, all transitions, against a model that knows
 * the rule and nothing of the library.
 */
#include "kit.h"

#include "core/process/names.h"
#include "core/record/emit.h"
#include "core/stream/wanted.h"

#include <stdio.h>
#include <string.h>

#define STREAMS CONFIG_PTRACE_MAX_STREAMS

enum state {
	ABSENT,
	STOPPED,
	RUNNING,
	BY_ITSELF
};

static struct {
	trace_id_t trid;
	enum state state;
	bool keeps;
	uint32_t bit;
	bool filtered[PXT_ID_COUNT];
} model[STREAMS];
static bool exists[PXT_ID_COUNT];
static unsigned types;
static uint32_t seed;

static uint32_t random_below(uint32_t limit)
{
	seed = seed * 1664525u + 1013904223u;
	return (seed >> 8) % limit;
}

/* ---- Transitions ---- */

static void create(unsigned i)
{
	const struct kit_spec spec = { .policy = i % 2 ? POSIX_TRACE_UNTIL_FULL : POSIX_TRACE_LOOP,
		.lanes = 1 + i % 2 };

	if (model[i].state != ABSENT)
		return;
	model[i].trid = kit_open(&spec);
	model[i].state = STOPPED;
	model[i].keeps = i % 2;
	model[i].bit = 1u << kit_stream(model[i].trid)->index;
	memset(model[i].filtered, 0, sizeof(model[i].filtered));
}

static void shut_down(unsigned i)
{
	if (model[i].state == ABSENT)
		return;
	PXT_EQ(posix_trace_shutdown(model[i].trid), 0);
	model[i].state = ABSENT;
}

static void drain(unsigned i)
{
	if (model[i].state == ABSENT)
		return;
	(void)kit_settle(model[i].trid);
	if (model[i].state == BY_ITSELF)
		model[i].state = RUNNING;
}

/* A full stream cannot be started: so it is read first, or is not full. */
static void start(unsigned i)
{
	if (model[i].state == ABSENT)
		return;
	drain(i);
	PXT_EQ(posix_trace_start(model[i].trid), 0);
	model[i].state = RUNNING;
}

static void start_full(unsigned i)
{
	if (model[i].state != BY_ITSELF)
		return;
	PXT_EQ(posix_trace_start(model[i].trid), 0);
}

static void stop(unsigned i)
{
	if (model[i].state == ABSENT)
		return;
	PXT_EQ(posix_trace_stop(model[i].trid), 0);
	model[i].state = STOPPED;
}

static void clear(unsigned i)
{
	if (model[i].state == ABSENT)
		return;
	PXT_EQ(posix_trace_clear(model[i].trid), 0);
	if (model[i].state == BY_ITSELF)
		model[i].state = STOPPED;
	memset(model[i].filtered, 0, sizeof(model[i].filtered));
}

/* All streams that want the type get the events; those that keep theirs stop by themselves. */
static void fill(unsigned i)
{
	for (unsigned n = 0; n < 40; n++)
		posix_trace_event(kit_type(), "fill", 4);
	for (unsigned s = 0; s < STREAMS; s++) {
		if (model[s].state == RUNNING && model[s].keeps && !model[s].filtered[kit_type()])
			model[s].state = BY_ITSELF;
	}
}

static void filter(unsigned i)
{
	static const int hows[] = { POSIX_TRACE_SET_EVENTSET, POSIX_TRACE_ADD_EVENTSET,
		POSIX_TRACE_SUB_EVENTSET };
	unsigned how = random_below(3);
	trace_event_set_t set;

	if (model[i].state == ABSENT)
		return;
	if (how == 0)
		memset(model[i].filtered, 0, sizeof(model[i].filtered));
	PXT_EQ(posix_trace_eventset_empty(&set), 0);
	for (unsigned n = 0; n < 5; n++) {
		trace_event_id_t id = PXT_ID_UNNAMED + random_below(types + 1u);

		PXT_EQ(posix_trace_eventset_add(id, &set), 0);
		model[i].filtered[id] = how != 2;
	}
	PXT_EQ(posix_trace_set_filter(model[i].trid, &set, hows[how]), 0);
	/* The FILTER event may take the last slots. */
	if (model[i].keeps && model[i].state == RUNNING) {
		struct posix_trace_status_info status;

		PXT_EQ(posix_trace_get_status(model[i].trid, &status), 0);
		if (status.posix_stream_status != POSIX_TRACE_RUNNING)
			model[i].state = BY_ITSELF;
	}
}

static void new_type(unsigned i)
{
	trace_event_id_t id;
	char name[32];

	if (types >= 200)
		return;
	(void)snprintf(name, sizeof(name), "wanted %u", types);
	PXT_EQ(posix_trace_eventid_open(name, &id), 0);
	PXT_EQ(id, PXT_ID_USER_FIRST + types);
	exists[id] = true;
	types++;
}

static const struct {
	const char *name;
	void (*run)(unsigned stream);
} transitions[] = {
	{ "create", create },
	{ "create", create },
	{ "start", start },
	{ "start", start },
	{ "start full", start_full },
	{ "stop", stop },
	{ "fill", fill },
	{ "drain", drain },
	{ "clear", clear },
	{ "filter", filter },
	{ "new type", new_type },
	{ "shutdown", shut_down },
};
#define TRANSITIONS (sizeof(transitions) / sizeof(transitions[0]))

/* ---- The rule ---- */

static uint32_t wanted(unsigned id)
{
	/* Of trace points that were not opened, in any thread. */
	bool opens = id == 0 && CONFIG_PTRACE_EXTENSIONS;
	uint32_t mask = 0;

	for (unsigned i = 0; i < STREAMS && (exists[id] || opens); i++) {
		if (model[i].state >= RUNNING && (opens || !model[i].filtered[id]))
			mask |= model[i].bit;
	}
	return mask;
}

/* What the library's own trace points look at. */
static bool bits_agree(unsigned id, bool want)
{
	struct pxt_look look = id < PXT_ID_UNNAMED ? pxt_look_system() : pxt_look_user(id);
	/* What defines never goes the short way. */
	bool hot = atomic_load(&pxt_fork.hot) != PXT_NO_HOT && id != POSIX_TRACE_PROCESS_NP;

	return pxt_look_wanted(look, id) == want && pxt_look_hot(look, id) == (hot && want);
}

static bool agrees(const char *what, unsigned stream, unsigned step)
{
	for (unsigned id = 0; id < PXT_ID_COUNT; id++) {
		uint32_t want = wanted(id);
		uint32_t got = pxt_wanted_by(id);

		if (got == want && !posix_trace_wanted_np(id) == !want && bits_agree(id, want != 0))
			continue;
		PXT_CHECK(false, "step %u, %s of stream %u: type %u is wanted by %x, not %x", step,
		    what, stream, id, got, want);
		return false;
	}
	return true;
}

static void begin(uint32_t seeded)
{
	seed = seeded;
	for (unsigned id = PXT_ID_SYSTEM_FIRST; id <= PXT_ID_SYSTEM_LAST; id++)
		exists[id] = true;
	exists[PXT_ID_UNNAMED] = true;
	while (!exists[kit_type()]) {
		exists[kit_type()] = true;
		types++;
	}
}

/* LPT-33; ruling 11 */
PXT_TEST_FRESH(the_table_follows_every_transition_of_eight_streams)
{
	begin(7);
	for (unsigned step = 0; step < 6000; step++) {
		unsigned stream = random_below(STREAMS);
		unsigned what = random_below((uint32_t)TRANSITIONS);

		transitions[what].run(stream);
		if (!agrees(transitions[what].name, stream, step))
			break;
	}
	for (unsigned i = 0; i < STREAMS; i++)
		shut_down(i);
	(void)agrees("the end", 0, 0);
}

/* LPT-33; ruling 11: each transition from each state, one stream among seven others */
PXT_TEST_FRESH(each_transition_from_each_state_is_followed)
{
	begin(8);
	for (unsigned i = 0; i < STREAMS; i++)
		create(i);
	for (unsigned i = 2; i < STREAMS; i++)
		if (i % 3)
			start(i);
	for (unsigned before = 0; before < TRANSITIONS; before++)
		for (unsigned then = 0; then < TRANSITIONS; then++)
			for (unsigned i = 0; i < 2; i++) {
				create(i);
				start(i);
				transitions[before].run(i);
				if (!agrees(transitions[before].name, i, before))
					return;
				transitions[then].run(i);
				if (!agrees(transitions[then].name, i, then))
					return;
			}
	for (unsigned i = 0; i < STREAMS; i++)
		shut_down(i);
	(void)agrees("the end", 0, 0);
}

#if CONFIG_PTRACE_INHERIT
/* A trace point that has looked, and been told that it is wanted, whenever that was. */
static void late_emit(const char *data)
{
	const uint32_t id = (uint32_t)kit_type();

	pxt_emit(id, data, 1, NULL, pxt_look_user(id));
}

/* It looked at the table before, and enters after set_filter(). */
static void keep_late_writers_out(int inherited)
{
	trace_id_t trid = 0;
	struct posix_trace_counts_np before;
	struct posix_trace_counts_np after;
	trace_event_set_t set;
	trace_attr_t attr;

	PXT_EQ(posix_trace_attr_init(&attr), 0);
	PXT_EQ(posix_trace_attr_setstreamfullpolicy(&attr, POSIX_TRACE_LOOP), 0);
	PXT_EQ(posix_trace_attr_setinherited(&attr, inherited), 0);
	PXT_EQ_FATAL(posix_trace_create(0, &attr, &trid), 0);
	PXT_EQ(posix_trace_start(trid), 0);
	late_emit("1");
	PXT_EQ(posix_trace_eventset_empty(&set), 0);
	PXT_EQ(posix_trace_eventset_add(kit_type(), &set), 0);
	PXT_EQ(posix_trace_set_filter(trid, &set, POSIX_TRACE_SET_EVENTSET), 0);
	kit_counts(trid, &before);
	late_emit("2");
	kit_counts(trid, &after);
	PXT_EQ(after.posix_written_np, before.posix_written_np);
	PXT_EQ(posix_trace_stop(trid), 0);
	kit_counts(trid, &before);
	late_emit("3");
	kit_counts(trid, &after);
	PXT_EQ(after.posix_written_np, before.posix_written_np);
	PXT_EQ(posix_trace_shutdown(trid), 0);
}

/* SFILT-01 */
PXT_TEST_FRESH(a_late_writer_is_kept_out_by_a_filter)
{
	keep_late_writers_out(POSIX_TRACE_CLOSE_FOR_CHILD);
}

/* SFILT-01, DEC-43 */
PXT_TEST_FRESH(a_late_writer_is_kept_out_of_an_inherited_stream_by_its_filter)
{
	keep_late_writers_out(POSIX_TRACE_INHERITED);
}
#endif

/* ---- Two threads that open one name (EVENT-11) ---- */

static void look_whether_wanted(void *argument)
{
	*(bool *)argument = pxt_wanted_by(PXT_ID_USER_FIRST + pxt_names_count()) != 0;
}

/* The other one finds the name as soon as it is counted, and records at once. */
PXT_TEST_FRESH(a_type_is_wanted_before_anybody_can_find_its_name)
{
	const struct kit_spec spec = { .policy = POSIX_TRACE_LOOP, .lanes = 1 };
	trace_id_t trid = kit_open(&spec);
	trace_event_id_t id;
	bool wanted = false;

	kit_start(trid);
	kit_interrupt(0, UINT64_C(1) << PXT_TP_NAME_WRITTEN, look_whether_wanted, &wanted);
	PXT_EQ(posix_trace_eventid_open("opened by two", &id), 0);
	PXT_EQ(kit_interrupted(), PXT_TP_NAME_WRITTEN);
	CU_ASSERT(wanted);
	CU_ASSERT(posix_trace_wanted_np(id));
	PXT_EQ(posix_trace_shutdown(trid), 0);
}
