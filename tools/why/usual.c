/* SPDX-License-Identifier: MIT */
/*
 * usual.c - what is usual for a thread without spans (the median of its rounds), and which threads were later;
 * see rounds.h.
 */
#include "tools/why/rounds.h"

#include "tools/output/out.h"
#include "tools/why/state_parts.h"

#include <stdlib.h>
#include <string.h>
#include <trace_hooks_np.h>

#define MS INT64_C(1000000)

/* Halves of the usual time. */
#define FAR  6u
#define NEAR 3u

/* ---- Homes ---- */

static bool is_timer(const struct pxt_home *home)
{
	return home->call == POSIX_TRACE_CALL_SLEEP_NP || home->call == POSIX_TRACE_CALL_TIMER_NP;
}

/* What a sleep asked for; 0: it did not say, or a date. */
static int64_t asked_ns(const struct pxt_home *home)
{
	return home->call == POSIX_TRACE_CALL_SLEEP_NP ? home->asked_ns : 0;
}

static int64_t quantile(const struct pxt_series *series, unsigned per_mille)
{
	bool exact;

	/* It sorts the values that it keeps: their order is nobody's business. */
	return (int64_t)pxt_series_quantile(
	    (struct pxt_series *)(uintptr_t)series, per_mille, &exact);
}

static uint64_t above(const struct pxt_series *series, int64_t limit)
{
	return pxt_series_between(
	    (struct pxt_series *)(uintptr_t)series, (uint64_t)limit + 1, UINT64_MAX);
}

static int64_t larger(int64_t a, int64_t b)
{
	return a > b ? a : b;
}

/* How often it began to wait there. */
static uint64_t times(const struct pxt_home *home)
{
	return home->waits.count - home->again;
}

/* It waits there often and long enough to be its place. */
static bool may_be_home(const struct pxt_home *home)
{
	return home->waits.count >= PXT_ROUNDS_LEAST &&
	       home->rounds.count >= PXT_ROUNDS_LEAST - 1 &&
	       (quantile(&home->waits, 500) > 3 * MS / 10 ||
	           home->waited_ns > (home->last_ns - home->first_ns) / 200);
}

/* What those of a list take that are much longer than is usual. */
static int64_t unusual_ns(const struct pxt_round_list *list, const struct pxt_series *all)
{
	int64_t usual = quantile(all, 500);
	int64_t ns = 0;

	for (unsigned i = 0; list && i < list->count; i++) {
		int64_t length = list->list[i].end_ns - list->list[i].begin_ns;

		if (length > larger(3 * usual, usual + 5 * MS))
			ns += length;
	}
	return ns;
}

/* The time that usual rounds and waits make up. */
static int64_t regular_ns(const struct pxt_home *home)
{
	return home->last_ns - home->first_ns - unusual_ns(home->long_rounds, &home->rounds) -
	       unusual_ns(home->long_waits, &home->waits);
}

/*
 * Who tries a lock again and again waits there often, but only now and then: the better home is where the
 * regular time is spent.  Else the more frequent one; of about equally frequent ones a timer, and a barrier
 * last.
 */
static bool is_better(const struct pxt_home *a, const struct pxt_home *b)
{
	if (regular_ns(a) > 2 * regular_ns(b) || regular_ns(b) > 2 * regular_ns(a))
		return regular_ns(a) > regular_ns(b);
	/* Sleeps of any length may stand between those that end at dates. */
	if (is_timer(a) && is_timer(b) && (a->date_ns != 0) != (b->date_ns != 0) &&
	    a->waits.count < 2 * b->waits.count && b->waits.count < 2 * a->waits.count)
		return a->date_ns != 0;
	if (times(a) * 5 < times(b) * 4 || times(b) * 5 < times(a) * 4)
		return times(a) > times(b);
	if (is_timer(a) != is_timer(b))
		return is_timer(a);
	if ((a->call == POSIX_TRACE_CALL_BARRIER_WAIT_NP) !=
	    (b->call == POSIX_TRACE_CALL_BARRIER_WAIT_NP))
		return b->call == POSIX_TRACE_CALL_BARRIER_WAIT_NP;
	if (times(a) != times(b))
		return times(a) > times(b);
	return a->first_ns < b->first_ns;
}

/* ---- Excess ---- */

/*
 * What was planned is no excess, except where somebody else had the lock that it tried in vain.  What came from
 * outside of the program says little of it: many timers that fire late on a busy machine are less than a few
 * waits for one lock.
 */
int64_t pxt_rounds_unplanned(const struct pxt_round *round, int64_t ns)
{
	if (!round->tried)
		ns -= round->planned_ns * 7 / 10;
	return ns > 0 ? ns : 0;
}

static int64_t less_planned(const struct pxt_round *round, int64_t ns)
{
	ns = pxt_rounds_unplanned(round, ns);
	return ns - (round->outside_ns < ns ? round->outside_ns : ns) * 7 / 10;
}

/* Of the excess @ns: what the program caused itself. */
static int64_t inside(const struct pxt_round *round, int64_t ns)
{
	ns = pxt_rounds_unplanned(round, ns) - round->outside_ns;
	return ns > 0 ? ns : 0;
}

/* The excess over @usual_ns of all whose rank is above @limit, in a list and beyond it. */
static void add_up(struct pxt_excess *excess, int64_t usual_ns, int64_t limit)
{
	unsigned listed = 0;

	for (; excess->longest && listed < excess->longest->count; listed++) {
		const struct pxt_round *round = &excess->longest->list[listed];

		if (round->rank_ns <= limit)
			break;
		excess->sum_ns += less_planned(round, round->rank_ns - usual_ns);
		excess->inside_ns += inside(round, round->rank_ns - usual_ns);
	}
	/* Of those beyond the list at least this is known. */
	if (excess->late > listed)
		excess->sum_ns += (int64_t)(excess->late - listed) * (limit - usual_ns);
}

/* Beyond a limit that was known before. */
static struct pxt_excess beyond(
    const struct pxt_home *home, const struct pxt_beyond *by, bool is_wait, int64_t limit)
{
	struct pxt_excess excess = { .home = home,
		.is_wait = is_wait,
		.measure = home->measure,
		.longest = by->worst,
		.of = by->by.count };

	if (excess.of == 0)
		return excess;
	excess.late = above(&by->by, limit);
	add_up(&excess, 0, limit);
	excess.sum_ns += by->followed_ns;
	excess.inside_ns += by->followed_ns;
	return excess;
}

/* Of those above @limit in a list, how many would not be but for other programs. */
static uint64_t made_late_outside(const struct pxt_round_list *list, int64_t limit)
{
	uint64_t count = 0;

	for (unsigned i = 0; list && i < list->count && list->list[i].rank_ns > limit; i++)
		count += list->list[i].rank_ns - list->list[i].outside_ns <= limit;
	return count;
}

/* Beyond the usual; nothing, where most are, or where the program itself made more than a quarter late. */
static void add_unusual(struct pxt_excess *excess, const struct pxt_series *series,
    const struct pxt_series *but, int64_t limit)
{
	excess->of = series->count;
	excess->late = above(series, limit) - (but ? above(but, limit) : 0);
	if (excess->late * 2 >= excess->of ||
	    (excess->late - made_late_outside(excess->longest, limit)) * 4 >= excess->of) {
		excess->no_usual = excess->late > 0;
		excess->late = 0;
		return;
	}
	add_up(excess, excess->usual_ns, limit);
}

/* Late is what took more than @halves halves of what is usual. */
static struct pxt_excess round_excess(const struct pxt_home *home, int64_t floor, unsigned halves)
{
	struct pxt_excess excess = { .home = home, .longest = home->long_rounds };
	struct pxt_excess dated;

	excess.usual_ns = quantile(&home->rounds, 500);
	add_unusual(&excess, &home->rounds, NULL,
	    larger(excess.usual_ns * halves / 2, excess.usual_ns + floor));
	if (excess.sum_ns > 0 || home->measure != PXT_MEASURE_DATE)
		return excess;
	/* Its timer's date is a measure where nothing is usual, or where all rounds are longer than its period. */
	dated = beyond(home, &home->late_rounds, false, floor);
	return dated.sum_ns > 0 ? beyond(home, &home->late_rounds, false, 0) : excess;
}

/* Waits of all lengths are waits for work; not so those for children or replies: what these do was asked for. */
static bool is_for_work(const struct pxt_home *home, int64_t usual_ns)
{
	return !is_timer(home) && home->call != POSIX_TRACE_CALL_WAIT_NP &&
	       !pxt_home_is_for_reply(home) && quantile(&home->waits, 250) < usual_ns * 3 / 10;
}

static struct pxt_excess wait_excess(const struct pxt_home *home, int64_t floor)
{
	struct pxt_excess excess = { .home = home, .is_wait = true, .longest = home->long_waits };
	int64_t asked = asked_ns(home);
	bool timer = is_timer(home);
	int64_t limit;

	if (home->measure == PXT_MEASURE_DATE)
		return beyond(home, &home->late_waits, true, floor);
	excess.measure = asked > 0 ? PXT_MEASURE_ASKED : PXT_MEASURE_USUAL;
	excess.usual_ns = asked > 0 ? asked : quantile(&home->waits, 750);
	if (is_for_work(home, excess.usual_ns))
		return excess;
	limit = excess.usual_ns + larger(floor, timer ? excess.usual_ns / 5 : 2 * excess.usual_ns);
	if (asked == 0) {
		add_unusual(&excess, &home->waits, &home->client_waits, limit);
		excess.idle = above(&home->client_waits, limit);
		return excess;
	}
	/* What was asked for is a measure, however many are late. */
	excess.of = home->waits.count;
	excess.late = above(&home->waits, limit);
	add_up(&excess, asked, limit);
	return excess;
}

int64_t pxt_rounds_late_by(
    const struct pxt_home *home, const struct pxt_round *round, bool is_wait, int64_t *usual_ns)
{
	int64_t asked = asked_ns(home);

	if (!is_wait)
		*usual_ns = quantile(&home->rounds, 500);
	else if (home->date_ns > round->begin_ns)
		*usual_ns = home->date_ns - round->begin_ns;
	else
		*usual_ns = asked > 0 ? asked : quantile(&home->waits, 750);
	/* Waits for clients are idle; one that began behind its date ends at once. */
	if (is_wait && (home->is_behind || round->for_client || is_for_work(home, *usual_ns)))
		return 0;
	if (is_wait)
		return larger(round->end_ns - round->begin_ns - *usual_ns, 0);
	return less_planned(round, round->end_ns - round->begin_ns - *usual_ns);
}

/* ---- The choice ---- */

static void add_candidate(struct pxt_rounds *rounds, const struct pxt_excess *excess)
{
	unsigned at = rounds->candidate_count;

	while (at > 0 && rounds->candidates[at - 1].sum_ns < excess->sum_ns)
		at--;
	if (at == PXT_ROUNDS_CANDIDATES)
		return;
	if (rounds->candidate_count < PXT_ROUNDS_CANDIDATES)
		rounds->candidate_count++;
	memmove(rounds->candidates + at + 1, rounds->candidates + at,
	    (rounds->candidate_count - 1 - at) * sizeof *rounds->candidates);
	rounds->candidates[at] = *excess;
}

/* Of both the one that the program caused more of: on a busy machine all timers are late. */
static const struct pxt_excess *larger_of(
    const struct pxt_excess *round, const struct pxt_excess *wait)
{
	if (round->sum_ns > 0 && (wait->sum_ns <= 0 || round->inside_ns >= wait->inside_ns))
		return round;
	return wait;
}

/*
 * What the program made late itself hides on a busy machine, on which all is late: where it is more than next to
 * nothing, it alone counts.
 */
static void add_candidates(struct pxt_rounds *rounds, struct pxt_excess *all, uint32_t count)
{
	int64_t most_ns = 0;
	int64_t inside_ns = 0;
	bool only_inside;

	for (uint32_t i = 0; i < count; i++) {
		most_ns = larger(most_ns, all[i].sum_ns);
		inside_ns = larger(inside_ns, all[i].inside_ns);
	}
	only_inside = inside_ns > 5 * MS && inside_ns > most_ns / 20;
	for (uint32_t i = 0; i < count; i++) {
		if (only_inside)
			all[i].sum_ns = all[i].inside_ns;
		if (all[i].sum_ns > 0)
			add_candidate(rounds, &all[i]);
	}
}

static void note_idle(struct pxt_rounds *rounds, const struct pxt_excess *wait)
{
	if (wait->idle == 0)
		return;
	rounds->idle_waits += wait->idle;
	if ((int64_t)wait->home->client_waits.most > rounds->idle_ns) {
		rounds->idle_ns = (int64_t)wait->home->client_waits.most;
		rounds->idle = wait->home;
	}
}

/* @homes: of each thread, its home.  Differences below @floor are those of any machine. */
static void compare(
    struct pxt_rounds *rounds, const struct pxt_home **homes, int64_t floor, unsigned halves)
{
	struct pxt_excess *all =
	    pxt_must(calloc((size_t)rounds->state->actor_count + 1, sizeof *all));
	uint32_t count = 0;

	rounds->idle_waits = 0;
	for (uint32_t i = 0; i < rounds->state->actor_count; i++) {
		struct pxt_excess round;
		struct pxt_excess wait;

		if (!homes[i])
			continue;
		round = round_excess(homes[i], floor, halves);
		wait = wait_excess(homes[i], floor);
		if (round.no_usual && round.sum_ns == 0 && wait.sum_ns == 0)
			rounds->unmeasured = homes[i];
		all[count++] = *larger_of(&round, &wait);
		note_idle(rounds, &wait);
	}
	add_candidates(rounds, all, count);
	free(all);
}

/* Where the user demands something, only that counts. */
static void compare_demanded(struct pxt_rounds *rounds, const struct pxt_home **homes)
{
	for (uint32_t i = 0; i < rounds->state->actor_count; i++) {
		struct pxt_excess round;
		struct pxt_excess wait;

		if (!homes[i] || homes[i]->measure < PXT_MEASURE_PERIOD)
			continue;
		round = beyond(homes[i], &homes[i]->late_rounds, false, 0);
		wait = beyond(homes[i], &homes[i]->late_waits, true, 0);
		if (larger_of(&round, &wait)->sum_ns > 0)
			add_candidate(rounds, larger_of(&round, &wait));
	}
}

/*
 * Those with much less excess than the first one are beside the point.  How much of it other programs caused
 * further along is known when the chains are (choose_round.c).
 */
static void drop_small(struct pxt_rounds *rounds)
{
	while (
	    rounds->candidate_count > 1 && rounds->candidates[rounds->candidate_count - 1].sum_ns <
	                                       rounds->candidates[0].sum_ns * 3 / 10)
		rounds->candidate_count--;
}

/* A wait that never ends comes before all. */
static void add_stuck(struct pxt_rounds *rounds,
    bool (*wanted)(const void *self, const struct pxt_actor *actor), const void *self)
{
	struct pxt_round wait = { .end_ns = rounds->now_ns };
	const struct pxt_home *home = pxt_rounds_stuck(rounds, &wait.begin_ns);

	if (!home || !wanted(self, rounds->state->actors[home->actor]))
		return;
	wait.rank_ns = wait.end_ns - wait.begin_ns;
	pxt_rounds_keep(&rounds->stuck, &wait);
	rounds->candidates[0] = (struct pxt_excess){ .home = home,
		.is_wait = true,
		.usual_ns = quantile(&home->waits, 750),
		.late = 1,
		.of = home->waits.count + 1,
		.sum_ns = wait.rank_ns,
		.inside_ns = wait.rank_ns,
		.longest = rounds->stuck };
	rounds->candidate_count = 1;
}

const struct pxt_home **pxt_rounds_homes(const struct pxt_rounds *rounds,
    bool (*wanted)(const void *self, const struct pxt_actor *actor), const void *self)
{
	const struct pxt_home **homes =
	    pxt_must(calloc((size_t)rounds->state->actor_count + 1, sizeof(struct pxt_home *)));

	for (uint32_t i = 0; rounds->homes && i < PXT_ROUNDS_TABLE; i++) {
		const struct pxt_home *home = rounds->homes[i];

		if (home && may_be_home(home) &&
		    (!homes[home->actor] || is_better(home, homes[home->actor])))
			homes[home->actor] = home;
	}
	for (uint32_t i = 0; i < rounds->state->actor_count; i++)
		if (homes[i] && !wanted(self, rounds->state->actors[i]))
			homes[i] = NULL;
	return homes;
}

/* The latest late rounds have no follower any more. */
static void end_heads(struct pxt_rounds *rounds)
{
	for (uint32_t i = 0; rounds->homes && i < PXT_ROUNDS_TABLE; i++) {
		struct pxt_home *home = rounds->homes[i];

		if (!home || home->head.end_ns == 0)
			continue;
		pxt_rounds_keep(&home->late_rounds.worst, &home->head);
		home->head.end_ns = 0;
	}
}

void pxt_rounds_choose(struct pxt_rounds *rounds,
    bool (*wanted)(const void *self, const struct pxt_actor *actor), const void *self)
{
	const struct pxt_home **homes = pxt_rounds_homes(rounds, wanted, self);

	end_heads(rounds);
	pxt_rounds_settle(rounds);
	rounds->kinds =
	    pxt_must(calloc((size_t)rounds->state->actor_count + 1, sizeof *rounds->kinds));
	for (uint32_t i = 0; i < rounds->state->actor_count; i++) {
		if (!homes[i])
			continue;
		rounds->threads_with_rounds++;
		rounds->kinds[i] = 1 | pxt_state_mix(homes[i]->place,
		                           ((uint64_t)homes[i]->call << 32) + homes[i]->asked);
	}
	if (rounds->limits && rounds->limits->count > 0) {
		compare_demanded(rounds, homes);
	} else {
		compare(rounds, homes, 5 * MS, FAR);
		/* Where nothing differs so much, what is nearer to the usual counts, then what is shorter. */
		if (rounds->candidate_count == 0)
			compare(rounds, homes, 5 * MS, NEAR);
		if (rounds->candidate_count == 0)
			compare(rounds, homes, MS / 5, FAR);
	}
	drop_small(rounds);
	add_stuck(rounds, wanted, self);
	free(homes);
}

/* ---- Waits that never end ---- */

const struct pxt_home *pxt_rounds_stuck(const struct pxt_rounds *rounds, int64_t *since_ns)
{
	const struct pxt_home *stuck = NULL;
	uint64_t most = 0;

	for (uint32_t i = 0; i < rounds->thread_room; i++) {
		const struct pxt_round_thread *thread = &rounds->threads[i];
		const struct pxt_home *home = thread->waits && !thread->ended ? thread->home : NULL;
		uint64_t ns = home ? (uint64_t)(rounds->now_ns - thread->since_ns) : 0;

		if (!home || thread->asked_ns > 0 || home->waits.count < PXT_ROUNDS_LEAST ||
		    ns < PXT_STUCK_NS || ns / 10 < home->waits.most || ns <= most ||
		    home->ended_times * 2 <= home->waits.count ||
		    home->ended_by >= rounds->thread_room || !rounds->threads[home->ended_by].ended)
			continue;
		most = ns;
		stuck = home;
		*since_ns = thread->since_ns;
	}
	return stuck;
}
