/* SPDX-License-Identifier: MIT */
/* lateness.c - which threads had late rounds in the last seconds; see model.h. */
#include "tools/top/model.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FLOOR_NS INT64_C(5000000) /* differences below it are those of any machine */

struct pxt_lateness_thread {
	struct {
		uint64_t late;
		int64_t ns;
		int64_t longest_ns;
	} slots[PXT_LATENESS_SLOTS];
};

static bool is_own(const void *self, const struct pxt_actor *actor)
{
	(void)self;
	return actor->own && !pxt_actor_is_helper(actor);
}

/* Whether the thread waits there between rounds: it is asked once a slot at most. */
static bool is_at_home(struct pxt_lateness *lateness, const struct pxt_home *home)
{
	if (!lateness->homes) {
		lateness->homes = pxt_rounds_homes(&lateness->rounds, is_own, NULL);
		lateness->home_count = lateness->rounds.state->actor_count;
	}
	return home->actor < lateness->home_count && lateness->homes[home->actor] == home;
}

static void round_ended(
    void *self, const struct pxt_home *home, const struct pxt_round *round, bool is_wait)
{
	struct pxt_lateness *lateness = self;
	int64_t usual;
	int64_t over;

	if (!lateness->counts || round->end_ns - round->begin_ns <= FLOOR_NS)
		return;
	over = pxt_rounds_late_by(home, round, is_wait, &usual);
	if (over <= FLOOR_NS || (!is_wait && over <= 2 * usual) || !is_at_home(lateness, home))
		return;
	lateness->threads = pxt_actor_rows(lateness->threads, &lateness->thread_room,
	    lateness->rounds.state->actors[home->actor], sizeof *lateness->threads);
	struct pxt_lateness_thread *thread = &lateness->threads[home->actor];
	thread->slots[lateness->slot].late++;
	thread->slots[lateness->slot].ns += over;
	if (over > thread->slots[lateness->slot].longest_ns)
		thread->slots[lateness->slot].longest_ns = over;
}

void pxt_lateness_open(struct pxt_lateness *lateness, const struct pxt_state *state)
{
	lateness->rounds.state = state;
	lateness->rounds.ended = round_ended;
	lateness->rounds.self = lateness;
}

void pxt_lateness_free(struct pxt_lateness *lateness)
{
	pxt_rounds_free(&lateness->rounds);
	free(lateness->homes);
	free(lateness->threads);
}

void pxt_lateness_take(
    struct pxt_lateness *lateness, const struct pxt_event *event, unsigned slot, bool counts)
{
	lateness->slot = slot;
	lateness->counts = counts;
	pxt_rounds_take(&lateness->rounds, event, 0);
}

void pxt_lateness_forget(struct pxt_lateness *lateness, unsigned slot)
{
	for (uint32_t i = 0; i < lateness->thread_room; i++)
		memset(
		    &lateness->threads[i].slots[slot], 0, sizeof lateness->threads[i].slots[slot]);
	free(lateness->homes);
	lateness->homes = NULL;
}

void pxt_lateness_rows(
    const struct pxt_lateness *lateness, uint32_t stream, struct pxt_numbers *numbers)
{
	for (uint32_t i = 0; i < lateness->thread_room; i++) {
		const struct pxt_lateness_thread *thread = &lateness->threads[i];
		uint64_t late = 0;
		double ns = 0;
		int64_t longest = 0;

		for (unsigned slot = 0; slot < PXT_LATENESS_SLOTS; slot++) {
			late += thread->slots[slot].late;
			ns += (double)thread->slots[slot].ns;
			if (thread->slots[slot].longest_ns > longest)
				longest = thread->slots[slot].longest_ns;
		}
		struct pxt_numbers_row *row =
		    late > 0 ? pxt_numbers_add(numbers, PXT_NUMBERS_ROUNDS, ns) : NULL;
		if (!row)
			continue;
		(void)snprintf(
		    row->label, sizeof row->label, "%s", lateness->rounds.state->actors[i]->name);
		row->stream = stream;
		row->values[PXT_NUMBERS_COUNT] = (double)late;
		row->values[PXT_NUMBERS_LONGEST] = (double)longest;
	}
}
