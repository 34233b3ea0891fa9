/* SPDX-License-Identifier: MIT */
/* choose.c - when all was read: what is to be explained; see late.h. */
#include "tools/output/out.h"
#include "tools/why/late.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define STUCK_NS UINT64_C(500000000)

/* Without deadlines and limits: what lies farthest above the median of its kind. */
static void choose_unusual(struct pxt_late_search *search)
{
	for (uint32_t i = 0; i < PXT_LATE_NAMES_MAX; i++) {
		uint64_t count;
		uint64_t median = pxt_late_median(search, i, &count);

		for (unsigned k = 0; search->names[i] && k < search->names[i]->longest.count; k++) {
			struct pxt_late late = search->names[i]->longest.list[k];

			late.rank = late.rank > median ? late.rank - median : 0;
			pxt_late_keep(&search->found, &late);
		}
	}
}

static enum pxt_late_mode choose_mode(const struct pxt_late_search *search)
{
	if (search->at.set)
		return PXT_LATE_AT;
	if (search->has_limit)
		return PXT_LATE_LONGER;
	return search->misses.count > 0 || search->limits.count > 0 ? PXT_LATE_MISSES
	                                                            : PXT_LATE_UNUSUAL;
}

static int64_t own_ns(const struct pxt_round *round)
{
	/* Of those that the program made as long, the clearest one. */
	return pxt_rounds_unplanned(round, round->rank_ns) - round->outside_ns * 51 / 50;
}

/* What other programs made long says nothing of the program: the rest decides which rounds are explained. */
static void own_first(struct pxt_round_list *rounds)
{
	for (unsigned i = 1; i < rounds->count; i++) {
		struct pxt_round round = rounds->list[i];
		unsigned at = i;

		for (; at > 0 && own_ns(&rounds->list[at - 1]) < own_ns(&round); at--)
			rounds->list[at] = rounds->list[at - 1];
		rounds->list[at] = round;
	}
}

/* The worst rounds of a candidate, the @place-th; at most @share are explained. */
static void take_candidate(struct pxt_late_search *search, unsigned place, unsigned share)
{
	const struct pxt_excess *excess = &search->rounds.candidates[place];
	struct pxt_round_list sorted = *excess->longest;

	if (sorted.count > excess->late)
		sorted.count = (unsigned)excess->late;
	own_first(&sorted);
	for (unsigned k = 0; k < sorted.count; k++) {
		const struct pxt_round *round = &sorted.list[k];
		struct pxt_late late = {
			.kind = excess->is_wait ? PXT_LATE_HOME : PXT_LATE_ROUND,
			.actor = excess->home->actor,
			.name = PXT_NO_NAME,
			.mode = PXT_NO_NAME,
			.release_ns = round->begin_ns,
			.begin_ns = round->begin_ns,
			.end_ns = round->end_ns,
			.cpu = -1,
			.measure = excess->measure,
			.usual_ns = round->limit_ns > 0 ? round->limit_ns : excess->usual_ns,
			.late_count = excess->late,
			.of = excess->of,
			.followers = round->followers,
			/* The worst of each thread first, in the order of the threads. */
			.rank = PXT_LATE_MAX * (PXT_LATE_MAX - k) + PXT_LATE_MAX - place,
		};

		search->all_rounds[search->all_round_count++] =
		    (struct pxt_late_round){ .actor = late.actor,
			    .begin_ns = late.begin_ns,
			    .end_ns = late.end_ns,
			    .excess_ns =
			        pxt_rounds_unplanned(round, round->rank_ns - excess->usual_ns),
			    .outside_ns = round->outside_ns };
		if (k < share)
			pxt_late_keep(&search->late_rounds, &late);
	}
}

static void take_rounds(struct pxt_late_search *search)
{
	const struct pxt_rounds *rounds = &search->rounds;

	search->all_rounds = pxt_must(
	    calloc((size_t)PXT_ROUNDS_CANDIDATES * PXT_ROUNDS_KEPT, sizeof *search->all_rounds));
	for (unsigned i = 0; i < rounds->candidate_count; i++)
		take_candidate(search, i, PXT_LATE_MAX / rounds->candidate_count);
	search->kinds = search->rounds.kinds;
	search->kind_count = search->state->actor_count;
	search->rounds.kinds = NULL;
	if (rounds->idle)
		(void)snprintf(search->idle, sizeof search->idle, "%s",
		    search->state->actors[rounds->idle->actor]->name);
	if (rounds->unmeasured)
		(void)snprintf(search->unmeasured, sizeof search->unmeasured, "%s",
		    search->state->actors[rounds->unmeasured->actor]->name);
}

/* A wait for a lock that somebody has, and that never ends. */
static bool is_stuck(const struct pxt_late *late)
{
	return late->unfinished && late->rank > STUCK_NS && late->lock && !late->lock->is_given &&
	       late->lock->state == PXT_LOCK_HELD;
}

static bool stuck_first(struct pxt_late_list *waits)
{
	for (unsigned i = 0; i < waits->count; i++) {
		struct pxt_late late = waits->list[i];

		if (!is_stuck(&late))
			continue;
		memmove(waits->list + 1, waits->list, i * sizeof late);
		waits->list[0] = late;
		return true;
	}
	return false;
}

/* Where nothing says what a job is, rounds are what can be late; where there are none, waits. */
static void turn_to_waits(struct pxt_late_search *search)
{
	bool no_spans = search->spans == 0 && pxt_late_result(search)->count == 0;
	bool asks = search->asks_waits || search->asks_off_cpu || search->at.set ||
	            search->has_limit || search->select->event_count > 0 || search->select->where;

	if (no_spans && !asks) {
		pxt_rounds_choose(&search->rounds, pxt_late_is_selected, search->select);
		take_rounds(search);
		bool stuck = stuck_first(&search->waits);

		/* Where threads work in rounds and none is late, nothing is. */
		if (!stuck && (search->late_rounds.count > 0 ||
		                  (search->rounds.threads_with_rounds > 0 &&
		                      (search->waits.count == 0 || search->limits.count > 0)))) {
			search->mode = PXT_LATE_ROUNDS;
			return;
		}
	}
	if (search->asks_waits || (no_spans && !search->asks_off_cpu && search->waits.count > 0))
		search->mode = PXT_LATE_WAITS;
	else if (search->asks_off_cpu || (no_spans && search->off_cpu.count > 0))
		search->mode = PXT_LATE_OFF_CPU;
}

/* False: nothing was given, or the thread is not in the logs. */
static bool take_given(struct pxt_late_search *search)
{
	for (uint32_t i = 0; i < search->state->actor_count && search->given_tid > 0; i++) {
		const struct pxt_actor *actor = search->state->actors[i];

		if (actor->tid != search->given_tid || !actor->own)
			continue;
		search->given.actor = actor->index;
		search->given.name = search->given.mode = PXT_NO_NAME;
		search->given.cpu = -1;
		search->given.release_ns = search->given.begin_ns;
		pxt_late_keep(&search->late_rounds, &search->given);
		search->mode = PXT_LATE_ROUNDS;
		return true;
	}
	return false;
}

void pxt_choose(struct pxt_late_search *search)
{
	search->mode = choose_mode(search);
	search->usual_ends = pxt_rounds_usual_ends(&search->rounds, &search->usual_end_count);
	if (take_given(search))
		return;
	if (search->mode == PXT_LATE_UNUSUAL)
		choose_unusual(search);
	turn_to_waits(search);
}
