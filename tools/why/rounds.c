/* SPDX-License-Identifier: MIT */
/* rounds.c - which threads were later than is usual for them; see rounds.h. */
#include "tools/why/rounds.h"

#include "tools/event/fields.h"
#include "tools/output/say.h"
#include "tools/why/state_parts.h"

#include <stdlib.h>
#include <string.h>
#include <trace_hooks_np.h>

#define TABLE   ((size_t)2 * PXT_ROUNDS_HOMES)
#define MS      INT64_C(1000000)
#define NO_HOME UINT32_MAX

/* What one thread does at the moment. */
struct pxt_round_thread {
	bool waits;
	struct pxt_home *home; /* where it waits; NULL: there was no place for it */
	uint32_t call;
	uint64_t asked;
	int64_t since_ns;
	uint64_t epoch;
	int64_t planned_ns; /* in all waits that took as long as they said */
	uint64_t tries;     /* locks that it asked for and did not get */
};

/* ---- Homes ---- */

static struct pxt_round_thread *thread_of(struct pxt_rounds *rounds, const struct pxt_actor *actor)
{
	if (actor->index >= rounds->thread_room) {
		uint32_t room = 2 * actor->index + 64;

		rounds->threads =
		    pxt_must(realloc(rounds->threads, room * sizeof *rounds->threads));
		memset(rounds->threads + rounds->thread_room, 0,
		    (room - rounds->thread_room) * sizeof *rounds->threads);
		rounds->thread_room = room;
	}
	return &rounds->threads[actor->index];
}

static struct pxt_home *home_of(struct pxt_rounds *rounds, const struct pxt_home *key)
{
	uint32_t at = pxt_state_mix(key->object ^ key->place,
	                  key->actor + ((uint64_t)key->call << 32) + key->asked) %
	              TABLE;

	for (; rounds->homes[at]; at = (at + 1) % TABLE) {
		struct pxt_home *home = rounds->homes[at];

		if (home->actor == key->actor && home->call == key->call &&
		    home->object == key->object && home->asked == key->asked &&
		    home->place == key->place)
			return home;
	}
	if (rounds->home_count == PXT_ROUNDS_HOMES)
		return NULL;
	rounds->home_count++;
	rounds->homes[at] = pxt_must(calloc(1, sizeof *key));
	*rounds->homes[at] = *key;
	return rounds->homes[at];
}

/* Keeps the longest. */
static void keep(struct pxt_round_list **list, const struct pxt_round *round)
{
	int64_t length = round->end_ns - round->begin_ns;

	if (!*list)
		*list = pxt_must(calloc(1, sizeof **list));
	struct pxt_round *all = (*list)->list;
	unsigned at = (*list)->count;
	while (at > 0 && all[at - 1].end_ns - all[at - 1].begin_ns < length)
		at--;
	if (at == PXT_ROUNDS_KEPT)
		return;
	if ((*list)->count < PXT_ROUNDS_KEPT)
		(*list)->count++;
	memmove(all + at + 1, all + at, ((*list)->count - 1 - at) * sizeof *all);
	all[at] = *round;
}

/* ---- Waits ---- */

/* Calls that wait for something to happen.  A lock or a disk is no home: they are in the way. */
static bool is_home(uint64_t call)
{
	switch (call) {
	case POSIX_TRACE_CALL_SEM_WAIT_NP:
	case POSIX_TRACE_CALL_BARRIER_WAIT_NP:
	case POSIX_TRACE_CALL_SLEEP_NP:
	case POSIX_TRACE_CALL_READ_NP:
	case POSIX_TRACE_CALL_ACCEPT_NP:
	case POSIX_TRACE_CALL_RECV_NP:
	case POSIX_TRACE_CALL_POLL_NP:
	case POSIX_TRACE_CALL_SELECT_NP:
	case POSIX_TRACE_CALL_EPOLL_WAIT_NP:
	case POSIX_TRACE_CALL_FUTEX_WAIT_NP:
	case POSIX_TRACE_CALL_TIMER_NP:
	case POSIX_TRACE_CALL_WAIT_NP:
	case POSIX_TRACE_CALL_PAUSE_NP:
	case POSIX_TRACE_CALL_MQ_NP:
	case PXT_CALL_COND:
		return true;
	default:
		return false;
	}
}

static bool is_timer(const struct pxt_home *home)
{
	return home->call == POSIX_TRACE_CALL_SLEEP_NP || home->call == POSIX_TRACE_CALL_TIMER_NP;
}

/* What a sleep asked for; 0: it did not say, or only a date. */
static int64_t asked_ns(const struct pxt_home *home)
{
	if (home->call != POSIX_TRACE_CALL_SLEEP_NP || home->asked > INT64_MAX / MS)
		return 0;
	return (int64_t)home->asked * MS;
}

static uint64_t number(const struct pxt_event *event, unsigned field)
{
	uint64_t value = 0;

	if (field < event->type->field_count)
		(void)pxt_field_key(event, &event->type->fields[field], &value);
	return value;
}

static void begin(struct pxt_rounds *rounds, struct pxt_actor *actor,
    struct pxt_round_thread *thread, struct pxt_home key, const struct pxt_event *event)
{
	uint64_t epoch = rounds->state->epochs[actor->source];

	key.actor = actor->index;
	/* Sleeps of other lengths are others; what limits another wait is no part of what it is. */
	thread->asked = key.asked;
	if (key.call != POSIX_TRACE_CALL_SLEEP_NP)
		key.asked = 0;
	key.place = (uint64_t)(uintptr_t)event->info.posix_prog_address;
	thread->waits = true;
	thread->call = key.call;
	thread->since_ns = event->ns;
	thread->epoch = epoch;
	thread->home = is_home(key.call) ? home_of(rounds, &key) : NULL;
	struct pxt_home *home = thread->home;
	if (!home || home->waits.count == 0 || home->epoch != epoch)
		return;
	const struct pxt_round round = { .begin_ns = home->last_ns,
		.end_ns = event->ns,
		.planned_ns = thread->planned_ns - home->planned_ns,
		.tried = thread->tries != home->tries };

	pxt_series_add(&home->rounds, (uint64_t)(round.end_ns - round.begin_ns));
	keep(&home->long_rounds, &round);
	rounds->rounds_read++;
}

/* Calls of which @asked is a limit in milliseconds (FORMAT.md 5.1). */
static bool has_limit(uint32_t call)
{
	return call == POSIX_TRACE_CALL_SLEEP_NP || call == POSIX_TRACE_CALL_POLL_NP ||
	       call == POSIX_TRACE_CALL_SELECT_NP || call == POSIX_TRACE_CALL_EPOLL_WAIT_NP;
}

/* It waited as long as it had said: its own plan. */
static bool is_planned(const struct pxt_round_thread *thread, int64_t length)
{
	if (!has_limit(thread->call) || thread->asked == 0 || thread->asked > INT64_MAX / (2 * MS))
		return false;
	int64_t asked = (int64_t)thread->asked * MS;
	return length >= asked - MS && length < asked + asked / 9;
}

static void end(struct pxt_rounds *rounds, const struct pxt_actor *actor,
    struct pxt_round_thread *thread, int64_t ns)
{
	struct pxt_home *home = thread->home;
	int64_t length = ns - thread->since_ns;
	struct pxt_round wait = { .begin_ns = thread->since_ns, .end_ns = ns };

	if (!thread->waits)
		return;
	thread->waits = false;
	if (thread->epoch != rounds->state->epochs[actor->source])
		return;
	if (is_planned(thread, length)) {
		thread->planned_ns += length;
		wait.planned_ns = length;
	}
	if (!home)
		return;
	if (home->waits.count == 0)
		home->first_ns = thread->since_ns;
	pxt_series_add(&home->waits, (uint64_t)length);
	keep(&home->long_waits, &wait);
	home->waited_ns += length;
	home->last_ns = ns;
	home->epoch = thread->epoch;
	home->planned_ns = thread->planned_ns;
	home->tries = thread->tries;
}

/* A lock that was asked for and not got. */
static bool is_refusal(const struct pxt_event *event)
{
	if (event->info.posix_event_id != POSIX_TRACE_MUTEX_LOCK_NP &&
	    event->info.posix_event_id != POSIX_TRACE_SYNC_LOCK_NP)
		return false;
	return number(event, 2) != 0 && number(event, 1) == 0;
}

/* By events of the program's own: X_block, X_wake, or what a roles file says. */
static void take_roles(struct pxt_rounds *rounds, struct pxt_actor *actor,
    struct pxt_round_thread *thread, const struct pxt_event *event, unsigned source)
{
	const struct pxt_type_roles *roles = pxt_roles_of(rounds->state->book, event, source);

	for (unsigned i = 0; i < roles->count; i++) {
		struct pxt_key object;

		if (roles->list[i].deed == PXT_BLOCK) {
			object = pxt_key_of(event, &roles->list[i]);
			begin(rounds, actor, thread,
			    (struct pxt_home){ .call = PXT_CALL_COND, .object = object.value },
			    event);
			return;
		}
	}
	end(rounds, actor, thread, event->ns);
}

void pxt_rounds_take(struct pxt_rounds *rounds, const struct pxt_event *event, unsigned source)
{
	struct pxt_actor *actor = rounds->state->latest;
	struct pxt_round_thread *thread;

	if (!actor)
		return;
	if (!rounds->homes)
		rounds->homes = pxt_must(calloc(TABLE, sizeof(struct pxt_home *)));
	thread = thread_of(rounds, actor);
	switch (event->info.posix_event_id) {
	case POSIX_TRACE_CALL_ENTER_NP:
		begin(rounds, actor, thread,
		    (struct pxt_home){ .call = (uint32_t)number(event, 0),
		        .object = number(event, 1),
		        .asked = number(event, 2) },
		    event);
		return;
	case POSIX_TRACE_COND_WAIT_NP:
		begin(rounds, actor, thread,
		    (struct pxt_home){ .call = PXT_CALL_COND, .object = number(event, 0) }, event);
		return;
	case POSIX_TRACE_CALL_EXIT_NP:
	case POSIX_TRACE_COND_RESUME_NP:
		end(rounds, actor, thread, event->ns);
		return;
	default:
		thread->tries += is_refusal(event);
		if (event->info.posix_event_id > POSIX_TRACE_UNNAMED_USEREVENT)
			take_roles(rounds, actor, thread, event, source);
	}
}

/* ---- The choice ---- */

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

/* It waits there often and long enough to be its place. */
static bool may_be_home(const struct pxt_home *home)
{
	return home->waits.count >= PXT_ROUNDS_LEAST &&
	       home->rounds.count >= PXT_ROUNDS_LEAST - 1 &&
	       (quantile(&home->waits, 500) > 3 * MS / 10 ||
	           home->waited_ns > (home->last_ns - home->first_ns) / 200);
}

/* The time that usual rounds and waits make up. */
static int64_t regular_ns(const struct pxt_home *home)
{
	int64_t ns = home->last_ns - home->first_ns;
	int64_t usual = quantile(&home->rounds, 500);

	for (unsigned i = 0; i < home->long_rounds->count; i++) {
		const struct pxt_round *round = &home->long_rounds->list[i];
		int64_t length = round->end_ns - round->begin_ns;

		if (length > larger(3 * usual, usual + 5 * MS))
			ns -= length;
	}
	return ns;
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
	if (a->waits.count * 5 < b->waits.count * 4 || b->waits.count * 5 < a->waits.count * 4)
		return a->waits.count > b->waits.count;
	if (is_timer(a) != is_timer(b))
		return is_timer(a);
	if ((a->call == POSIX_TRACE_CALL_BARRIER_WAIT_NP) !=
	    (b->call == POSIX_TRACE_CALL_BARRIER_WAIT_NP))
		return b->call == POSIX_TRACE_CALL_BARRIER_WAIT_NP;
	if (a->waits.count != b->waits.count)
		return a->waits.count > b->waits.count;
	return a->first_ns < b->first_ns;
}

/* What was planned is no excess, except where somebody else had the lock that it tried in vain. */
static int64_t excess_of(const struct pxt_round *round, int64_t usual)
{
	int64_t ns = round->end_ns - round->begin_ns - usual;

	if (!round->tried)
		ns -= round->planned_ns * 7 / 10;
	return ns > 0 ? ns : 0;
}

/* The excess over @usual of all that are longer than @limit. */
static void add_up(struct pxt_excess *excess, const struct pxt_series *series, int64_t limit)
{
	unsigned listed = 0;

	excess->of = series->count;
	excess->late = above(series, limit);
	/* Where most are late, late is what is usual: no measure of its own says which. */
	if (excess->late * 4 >= excess->of) {
		excess->late = 0;
		return;
	}
	for (; listed < excess->longest->count; listed++) {
		const struct pxt_round *round = &excess->longest->list[listed];

		if (round->end_ns - round->begin_ns <= limit)
			break;
		excess->sum_ns += excess_of(round, excess->usual_ns);
	}
	/* Of those beyond the list at least this is known. */
	if (excess->late > listed)
		excess->sum_ns += (int64_t)(excess->late - listed) * (limit - excess->usual_ns);
}

static struct pxt_excess round_excess(const struct pxt_home *home, int64_t floor)
{
	struct pxt_excess excess = { .home = home, .longest = home->long_rounds };

	excess.usual_ns = quantile(&home->rounds, 500);
	add_up(&excess, &home->rounds, larger(3 * excess.usual_ns, excess.usual_ns + floor));
	return excess;
}

static struct pxt_excess wait_excess(const struct pxt_home *home, int64_t floor)
{
	struct pxt_excess excess = { .home = home, .is_wait = true, .longest = home->long_waits };
	int64_t asked = asked_ns(home);
	bool timer = is_timer(home);

	excess.is_asked = asked > 0;
	excess.usual_ns = asked > 0 ? asked : quantile(&home->waits, 750);
	/* Waits of all lengths are waits for work. */
	if (!timer && quantile(&home->waits, 250) < excess.usual_ns * 3 / 10)
		return excess;
	add_up(&excess, &home->waits,
	    excess.usual_ns + larger(floor, timer ? excess.usual_ns / 5 : 2 * excess.usual_ns));
	return excess;
}

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

/* @homes: of each thread, its home.  Differences below @floor are those of any machine. */
static void compare(struct pxt_rounds *rounds, const struct pxt_home **homes, int64_t floor)
{
	for (uint32_t i = 0; i < rounds->state->actor_count; i++) {
		struct pxt_excess round;
		struct pxt_excess wait;

		if (!homes[i])
			continue;
		round = round_excess(homes[i], floor);
		wait = wait_excess(homes[i], floor);
		if (round.sum_ns > 0 && round.sum_ns >= wait.sum_ns)
			add_candidate(rounds, &round);
		else if (wait.sum_ns > 0)
			add_candidate(rounds, &wait);
	}
}

/* Those with much less excess than the first one are beside the point. */
static void drop_small(struct pxt_rounds *rounds)
{
	while (
	    rounds->candidate_count > 1 && rounds->candidates[rounds->candidate_count - 1].sum_ns <
	                                       rounds->candidates[0].sum_ns * 6 / 10)
		rounds->candidate_count--;
}

const struct pxt_home **pxt_rounds_homes(const struct pxt_rounds *rounds,
    bool (*wanted)(const void *self, const struct pxt_actor *actor), const void *self)
{
	const struct pxt_home **homes =
	    pxt_must(calloc((size_t)rounds->state->actor_count + 1, sizeof(struct pxt_home *)));

	for (uint32_t i = 0; rounds->homes && i < TABLE; i++) {
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

void pxt_rounds_choose(struct pxt_rounds *rounds,
    bool (*wanted)(const void *self, const struct pxt_actor *actor), const void *self)
{
	const struct pxt_home **homes = pxt_rounds_homes(rounds, wanted, self);

	for (uint32_t i = 0; i < rounds->state->actor_count; i++)
		rounds->threads_with_rounds += homes[i] != NULL;
	compare(rounds, homes, 5 * MS);
	/* Where nothing differs by milliseconds, what is smaller counts. */
	if (rounds->candidate_count == 0)
		compare(rounds, homes, MS / 5);
	drop_small(rounds);
	free(homes);
}

void pxt_rounds_free(struct pxt_rounds *rounds)
{
	for (uint32_t i = 0; rounds->homes && i < TABLE; i++) {
		if (!rounds->homes[i])
			continue;
		pxt_series_free(&rounds->homes[i]->waits);
		pxt_series_free(&rounds->homes[i]->rounds);
		free(rounds->homes[i]->long_waits);
		free(rounds->homes[i]->long_rounds);
		free(rounds->homes[i]);
	}
	free(rounds->homes);
	free(rounds->threads);
}
