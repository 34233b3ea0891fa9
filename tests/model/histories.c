/* SPDX-License-Identifier: MIT */
/*
 * histories.c - short drawn histories of streams and logs, held against a naive reference
 * (reference.h).  One that differs is shrunk and printed as steps.  PXT_MODEL_SEED=n in the
 * environment begins with that seed, PXT_MODEL_COUNT=n plays so many.
 */
#define _GNU_SOURCE 1
#include "model/reference.h"
#include "suite.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <trace_np.h>
#include <unistd.h>

#define BATCH 100u /* histories in one process: all their types must find identifiers */

static struct shared {
	struct hi_history history; /* the one that is played */
	uint64_t next;
	char text[256];
} * shared;

/* One that runs for ever has used five seconds; one that sleeps for ever is beside others, whose time it is. */
static int play_one(void *argument)
{
	static const struct itimerval limit = { { 0, 0 }, { 5, 0 } };

	(void)setitimer(ITIMER_PROF, &limit, NULL);
	(void)alarm(120);
	return hi_play(&shared->history, shared->text, sizeof(shared->text)) ? 0 : 1;
}

static int play_batch(void *argument)
{
	uint64_t end = *(const uint64_t *)argument;

	for (; shared->next < end; shared->next++) {
		hi_draw(&shared->history, shared->next);
		if (play_one(NULL) != 0)
			return 1;
	}
	return 0;
}

/* Steps, and the second stream, go as long as it still fails. */
static void shrink(struct hi_history *history)
{
	for (unsigned i = history->count; i-- > 0;) {
		shared->history = *history;
		memmove(&shared->history.steps[i], &shared->history.steps[i + 1],
		    (history->count - i - 1u) * sizeof(history->steps[0]));
		shared->history.count--;
		if (pxt_in_child(play_one, NULL) != 0)
			*history = shared->history;
	}
	shared->history = *history;
	shared->history.streams = 1;
	if (history->streams > 1 && pxt_in_child(play_one, NULL) != 0)
		*history = shared->history;
	for (unsigned i = 0; i < history->count; i++) {
		for (unsigned count = 1; count < history->steps[i].count; count *= 2) {
			shared->history = *history;
			shared->history.steps[i].count = (uint16_t)count;
			if (pxt_in_child(play_one, NULL) != 0)
				*history = shared->history;
		}
	}
}

static void tell(void)
{
	struct hi_history history = shared->history;
	int result;
	int rounds = 3;

	fprintf(
	    stderr, "  seed %llu, as drawn: %s\n", (unsigned long long)history.seed, shared->text);
	shared->history = history;
	result = pxt_in_child(play_one, NULL);
	if (result == 0)
		(void)fprintf(stderr, "  it fails only behind the histories before it\n");
	/* One that hangs takes too long. */
	if (result == 0 || result == -SIGALRM || result == -SIGPROF)
		rounds = 0;
	for (int round = 0; round < rounds; round++)
		shrink(&history);
	shared->history = history;
	shared->text[0] = '\0';
	result = pxt_in_child(play_one, NULL);
	hi_print(&history);
	(void)fprintf(stderr, "  result %d: %s\n", result, shared->text);
}

static uint64_t number(const char *name, uint64_t otherwise)
{
	const char *text = getenv(name);

	return text ? strtoull(text, NULL, 0) : otherwise;
}

/*
 * POL-01, POL-02, POL-03, POL-05, POL-06, POL-07, POL-08, POL-09, POL-10, POL-12, POL-13, POL-14,
 * LOGP-01, LOGP-02, LOGP-03, LOGP-04, STA-02, STA-07, SYS-02, SYS-03, SYS-04, SYS-05, SYS-07,
 * SYS-12, TRU-01, TRU-04, TRU-05, TRU-07, SIZ-05, START-01, START-03, SFILT-01, SFILT-02, SFILT-03,
 * SFILT-04, SFILT-06, GFILT-01, CLEAR-04, DEC-09, DEC-10, DEC-11, DEC-12, DEC-14, DEC-15, DEC-25,
 * DEC-28, DEC-31, LPT-33
 */
PXT_TEST(every_history_reads_as_the_reference_says)
{
	uint64_t first = number("PXT_MODEL_SEED", 1);
	bool slow = PXT_SANITIZED || pxt_emulated();
	uint64_t many = (slow ? 2000u : 10000u) * (pxt_in_full() ? 20u : 1u);
	uint64_t end = first + number("PXT_MODEL_COUNT", many);
	int result = 0;

	printf("seeds %llu to %llu\n", (unsigned long long)first, (unsigned long long)end - 1u);
	shared =
	    mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	CU_ASSERT_FATAL(shared != MAP_FAILED);
	shared->next = first;
	while (shared->next < end && result == 0) {
		uint64_t stop = shared->next + BATCH < end ? shared->next + BATCH : end;

		result = pxt_in_child(play_batch, &stop);
	}
	if (result != 0)
		tell();
	PXT_CHECK(result == 0, "seed %llu: see above", (unsigned long long)shared->next);
	(void)munmap(shared, sizeof(*shared));
}

/* ---- Drawing a history, and saying it in words ---- */

static uint64_t state;

static uint32_t draw(uint32_t below)
{
	return (uint32_t)(pxt_drawn(&state) >> 20) % below;
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
