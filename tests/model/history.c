/* SPDX-License-Identifier: MIT */
/* history.c - drawing a history, and saying it in words. */
#include "model/reference.h"

#include <stdio.h>
#include <trace_np.h>

static uint64_t state;

static uint32_t draw(uint32_t below)
{
	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return (uint32_t)(state >> 20) % below;
}

static bool one_in(uint32_t n)
{
	return draw(n) == 0;
}

static void draw_spec(struct hi_spec *spec)
{
	static const size_t data[] = { 0, 1, 4, 5, 16, 64, 100, 300 };

	spec->policy = one_in(2)   ? POSIX_TRACE_LOOP
	               : one_in(2) ? POSIX_TRACE_UNTIL_FULL
	                           : POSIX_TRACE_DISCARD_NP;
	spec->size = one_in(2) ? 1024 : 512 + draw(3000);
	spec->max_data = data[draw(8)];
	spec->lanes = one_in(3) ? 1u << draw(3) : 1u;
	spec->with_log = one_in(3);
	/* Such a stream has a log; its helper's flushes are steps of the history (play.c). */
	if (spec->with_log && one_in(3))
		spec->policy = POSIX_TRACE_FLUSH;
	spec->log_policy = one_in(3)   ? POSIX_TRACE_APPEND
	                   : one_in(2) ? POSIX_TRACE_LOOP
	                               : POSIX_TRACE_UNTIL_FULL;
	spec->log_size = 512 + draw(one_in(2) ? 1500 : 12000);
}

static void draw_step(struct hi_step *step, const struct hi_history *history)
{
	static const uint8_t often[] = { HI_START, HI_START, HI_START, HI_STOP, HI_STOP, HI_CLEAR,
		HI_FILTER, HI_FILTER, HI_FILTER, HI_OPEN, HI_EVENTS, HI_EVENTS, HI_EVENTS,
		HI_EVENTS, HI_EVENTS, HI_EVENTS, HI_FILL, HI_FILL, HI_STRANGE, HI_READ, HI_READ,
		HI_READ, HI_READ, HI_STATUS, HI_STATUS, HI_COUNTS };
	size_t max;

	step->op = often[draw(sizeof(often))];
	step->stream = (uint8_t)draw(history->streams);
	step->lane = (uint8_t)draw(4);
	step->type = (uint8_t)draw(HI_TYPES);
	max = history->specs[step->stream].max_data;
	step->len = (uint16_t)(one_in(3) ? draw(12) : one_in(2) ? max + draw(3) : draw(400));
	step->count = (uint16_t)(one_in(2) ? 1 + draw(3) : 1 + draw(30));
	if (step->op == HI_READ && one_in(3))
		step->count = 500;
	step->draw = draw(1u << 30);
}

void hi_draw(struct hi_history *history, uint64_t seed)
{
	state = (seed + 1u) * UINT64_C(0x9e3779b97f4a7c15);
	for (int i = 0; i < 4; i++)
		(void)draw(2);
	history->seed = seed;
	history->streams = one_in(5) ? 2 : 1;
	for (unsigned i = 0; i < HI_STREAMS; i++)
		draw_spec(&history->specs[i]);
	history->count = 6 + draw(HI_STEPS - 6);
	for (unsigned i = 0; i < history->count; i++)
		draw_step(&history->steps[i], history);
	/* Most begin with that. */
	if (!one_in(4))
		history->steps[0].op = HI_START;
}

static const char *policy_name(int policy)
{
	return policy == POSIX_TRACE_LOOP         ? "LOOP"
	       : policy == POSIX_TRACE_UNTIL_FULL ? "UNTIL_FULL"
	       : policy == POSIX_TRACE_DISCARD_NP ? "DISCARD"
	       : policy == POSIX_TRACE_FLUSH      ? "FLUSH"
	                                          : "APPEND";
}

void hi_print(const struct hi_history *history)
{
	static const char *const words[HI_OPS] = { "start", "stop", "clear", "set_filter",
		"eventid_open", "events", "fill up", "strange event", "read (or flush)",
		"get_status", "counts" };

	(void)fprintf(stderr, "history of seed %llu:\n", (unsigned long long)history->seed);
	for (unsigned i = 0; i < history->streams; i++) {
		const struct hi_spec *spec = &history->specs[i];

		(void)fprintf(stderr, "  stream %u: %s, size %zu, data %zu, lanes %u", i,
		    policy_name(spec->policy), spec->size, spec->max_data, spec->lanes);
		if (spec->with_log)
			(void)fprintf(stderr, ", log %s of %zu", policy_name(spec->log_policy),
			    spec->log_size);
		(void)fprintf(stderr, "\n");
	}
	for (unsigned i = 0; i < history->count; i++) {
		const struct hi_step *step = &history->steps[i];

		(void)fprintf(stderr,
		    "  %2u %s: stream %u, lane %u, type %u, len %u, count %u, %#x\n", i,
		    words[step->op], step->stream, step->lane, step->type, step->len, step->count,
		    step->draw);
	}
}
