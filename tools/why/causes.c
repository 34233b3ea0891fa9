/* SPDX-License-Identifier: MIT */
/*
 * causes.c - which cause a moment of a late span has, from the state as it was then; whether a wait was a priority
 * inversion; see blame.h.
 */
#include "tools/why/blame.h"

/* ---- Causes ---- */

static bool same_cause(const struct pxt_cause *a, const struct pxt_cause *b)
{
	if (a->kind != b->kind || a->inside != b->inside || a->with != b->with ||
	    a->links != b->links || a->last != b->last || a->runner != b->runner ||
	    a->call != b->call || a->object.address.value != b->object.address.value ||
	    a->function.address.value != b->function.address.value || a->exact != b->exact ||
	    a->sealed != b->sealed)
		return false;
	for (unsigned i = 0; i < a->links; i++)
		if (a->chain[i].lock != b->chain[i].lock ||
		    a->chain[i].holder != b->chain[i].holder ||
		    a->chain[i].others != b->chain[i].others)
			return false;
	return true;
}

static struct pxt_cause *find_cause(struct pxt_blame *blame, const struct pxt_cause *cause)
{
	if (blame->cause_count > 0 && same_cause(&blame->causes[blame->last_cause], cause))
		return &blame->causes[blame->last_cause];
	for (unsigned i = 0; i < blame->cause_count; i++) {
		if (same_cause(&blame->causes[i], cause)) {
			blame->last_cause = i;
			return &blame->causes[i];
		}
	}
	return NULL;
}

static struct pxt_cause *place_of(struct pxt_blame *blame, const struct pxt_cause *cause)
{
	static const struct pxt_cause other = {
		.kind = PXT_CAUSE_OTHER, .inside = PXT_NO_NAME, .call = PXT_NO_NAME
	};
	struct pxt_cause *place = find_cause(blame, cause);

	/* Two places are kept: for what is lost, and for all beyond. */
	if (!place && blame->cause_count >= PXT_CAUSES_MAX - 2 && cause->kind < PXT_CAUSE_LOST) {
		cause = &other;
		place = find_cause(blame, cause);
	}
	if (place)
		return place;
	blame->last_cause = blame->cause_count++;
	blame->causes[blame->last_cause] = *cause;
	return &blame->causes[blame->last_cause];
}

void pxt_causes_add(struct pxt_blame *blame, const struct pxt_cause *cause, int64_t ns)
{
	struct pxt_cause *place = place_of(blame, cause);

	place->ns += ns;
	place->recent_ns += ns;
	place->touched = true;
}

static const struct pxt_cause lost_cause = {
	.kind = PXT_CAUSE_LOST, .inside = PXT_NO_NAME, .call = PXT_NO_NAME
};

void pxt_causes_settle(struct pxt_blame *blame, bool gap)
{
	int64_t ns = 0;

	for (unsigned i = 0; i < blame->cause_count; i++) {
		struct pxt_cause *cause = &blame->causes[i];

		if (cause->touched && gap) {
			ns += cause->recent_ns;
			cause->ns -= cause->recent_ns;
		}
		cause->recent_ns = 0;
		cause->touched = false;
	}
	if (ns > 0) {
		struct pxt_cause *lost = place_of(blame, &lost_cause);

		lost->ns += ns;
	}
}

/* ---- What a thread does at the moment ---- */

/* By its own events; in a call it may sleep several times, or be kept from running. */
static bool is_blocked(
    const struct pxt_state *state, const struct pxt_actor *actor, enum pxt_running running)
{
	if (!actor || !pxt_actor_certain(state, actor) || running == PXT_RUN_ENDED)
		return false;
	if (actor->in_call)
		return running == PXT_RUN_SLEEPS || (running == PXT_RUN_UNKNOWN && actor->blocked);
	return actor->blocked;
}

static void note_function(
    const struct pxt_state *state, const struct pxt_actor *actor, struct pxt_cause *cause)
{
	if (actor && actor->function_count > 0 && pxt_actor_certain(state, actor))
		cause->function = actor->functions[actor->function_count - 1];
}

/* What the last of a chain does: as the scheduler says, else as its CPU's events say. */
static void state_of(
    const struct pxt_state *state, const struct pxt_actor *actor, int cpu, struct pxt_cause *cause)
{
	enum pxt_running running = actor ? pxt_actor_running(state, actor) : PXT_RUN_UNKNOWN;
	bool exact;

	cause->exact = running != PXT_RUN_UNKNOWN;
	if (running == PXT_RUN_RUNS) {
		cause->last = PXT_LAST_RAN;
		note_function(state, actor, cause);
		return;
	}
	if (is_blocked(state, actor, running)) {
		cause->last = PXT_LAST_BLOCKED;
		if (actor->in_call) {
			cause->call = actor->blocked_name;
			cause->object.source = actor->source;
			cause->object.address =
			    (struct pxt_address){ .value = actor->blocked_on.value,
				    .pid = actor->pid,
				    .ns = actor->blocked_ns };
		}
		return;
	}
	if (running == PXT_RUN_SLEEPS || running == PXT_RUN_ENDED) {
		cause->last = running == PXT_RUN_SLEEPS ? PXT_LAST_SLEPT : PXT_LAST_ENDED;
		return;
	}
	struct pxt_actor *runner = pxt_cpu_runner(state, cpu, &exact);
	if (runner == actor)
		runner = NULL;
	cause->runner = runner;
	cause->exact = cause->exact && exact;
	cause->last = runner || running == PXT_RUN_READY ? PXT_LAST_READY : PXT_LAST_RAN;
	if (cause->last == PXT_LAST_RAN)
		note_function(state, actor, cause);
}

static bool in_chain(const struct pxt_cause *cause, const struct pxt_actor *actor)
{
	for (unsigned i = 0; i + 1 < cause->links; i++)
		if (cause->chain[i].holder == actor)
			return true;
	return false;
}

/* From the lock that @actor waits for to who could give it back. */
static void follow(
    const struct pxt_state *state, const struct pxt_actor *actor, struct pxt_cause *cause)
{
	const struct pxt_actor *last = actor;

	while (last->wait && cause->links < PXT_CHAIN_MAX) {
		const struct pxt_state_lock *lock = last->wait;
		bool known;
		struct pxt_actor *holder = pxt_lock_holder(state, lock, &known);

		cause->chain[cause->links].lock = lock;
		cause->chain[cause->links].holder = holder;
		if (holder) {
			cause->chain[cause->links].place = lock->place;
			cause->chain[cause->links].others = lock->share_count;
		}
		cause->chain[cause->links++].since_ns = holder ? lock->since_ns : 0;
		if (!known) {
			cause->last = PXT_LAST_UNKNOWN;
			return;
		}
		if (!holder) {
			state_of(state, last, last->cpu, cause);
			/* Who waits for what is free was stopped, or the field is not the lock. */
			cause->last =
			    lock->since_ns > last->wait_ns ? PXT_LAST_FREE : PXT_LAST_DOUBT;
			return;
		}
		if (holder == actor || in_chain(cause, holder)) {
			cause->last = PXT_LAST_DEADLOCK;
			return;
		}
		if (!pxt_actor_certain(state, holder)) {
			cause->last = PXT_LAST_LOST;
			return;
		}
		last = holder;
	}
	state_of(state, last, last->cpu, cause);
	/* Of several that read, one runs: that is what is waited for. */
	if (cause->links > 0 && cause->runner &&
	    pxt_lock_depth(cause->chain[cause->links - 1].lock, cause->runner) > 0) {
		cause->last = PXT_LAST_RAN;
		cause->runner = NULL;
	}
}

static void own_work(
    const struct pxt_blame *blame, const struct pxt_actor *actor, struct pxt_cause *cause)
{
	cause->runner = NULL;
	cause->last = PXT_LAST_RAN;
	if (actor->span_count > 0) {
		const struct pxt_open_span *span = &actor->spans[actor->span_count - 1];

		if (span->begin_ns != blame->late.begin_ns || span->name != blame->late.name)
			cause->inside = span->name;
	}
	if (actor->hold_count > 0)
		cause->with = actor->holds[actor->hold_count - 1];
}

/* Before the begin: the thread may still be at the job before, and wait for a lock there. */
static struct pxt_cause before_begin(const struct pxt_state *state, const struct pxt_blame *blame)
{
	struct pxt_cause cause = {
		.kind = PXT_CAUSE_PENDING, .inside = PXT_NO_NAME, .call = PXT_NO_NAME
	};
	const struct pxt_actor *actor = blame->actor;
	bool busy = actor && pxt_actor_certain(state, actor) && actor->span_count > 0;

	if (busy)
		cause.inside = actor->spans[0].name;
	if (busy && actor->wait)
		follow(state, actor, &cause);
	else
		state_of(state, actor, busy ? actor->cpu : blame->late.cpu, &cause);
	return cause;
}

/* Off the CPU it is the scheduler that says what a thread does, also of one without events. */
static bool knows(const struct pxt_state *state, const struct pxt_blame *blame)
{
	return pxt_actor_certain(state, blame->actor) ||
	       (blame->late.kind == PXT_LATE_OFF &&
	           pxt_actor_running(state, blame->actor) != PXT_RUN_UNKNOWN);
}

struct pxt_cause pxt_causes_of(
    const struct pxt_state *state, const struct pxt_blame *blame, int64_t ns)
{
	struct pxt_cause cause = {
		.kind = PXT_CAUSE_OWN, .inside = PXT_NO_NAME, .call = PXT_NO_NAME
	};
	const struct pxt_actor *actor = blame->actor;

	if (ns < blame->late.begin_ns)
		return before_begin(state, blame);
	if (!actor || !knows(state, blame))
		return lost_cause;
	if (actor->wait && pxt_actor_certain(state, actor)) {
		cause.kind = PXT_CAUSE_WAIT;
		follow(state, actor, &cause);
		return cause;
	}
	state_of(state, actor, actor->cpu, &cause);
	if (cause.last == PXT_LAST_RAN)
		own_work(blame, actor, &cause);
	else if (cause.last == PXT_LAST_READY)
		cause.kind = PXT_CAUSE_PREEMPTED;
	else
		cause.kind = cause.last == PXT_LAST_BLOCKED ? PXT_CAUSE_BLOCKED : PXT_CAUSE_SLEPT;
	return cause;
}

/* ---- Priority inversion ---- */

bool pxt_is_inversion(const struct pxt_blame *blame, const struct pxt_cause *cause, bool *sure)
{
	const struct pxt_actor *runner = cause->runner;

	*sure = false;
	if (cause->kind != PXT_CAUSE_WAIT || cause->last != PXT_LAST_READY || !runner ||
	    runner->tid < 0)
		return false;
	for (unsigned i = 0; i < cause->links; i++)
		if (cause->chain[i].holder == runner)
			return false;
	*sure = blame->actor && blame->actor->has_prio && runner->has_prio;
	/* Who nobody changed tells no priorities: the scheduler does, and who ran. */
	if (cause->chain[0].lock->of_system && !(*sure && cause->exact))
		return false;
	return !*sure || (blame->actor->prio < PXT_REAL_TIME && blame->actor->prio < runner->prio);
}

/* A nice program only gets less: nobody less urgent keeps a CPU from it for ever. */
bool pxt_chain_is_inversion(const struct pxt_chain *chain)
{
	const struct pxt_link *last = &chain->links[chain->count ? chain->count - 1 : 0];
	const struct pxt_actor *first = chain->links[0].actor;

	return chain->count > 1 && last->kind == PXT_LINK_READY && last->peer &&
	       chain->links[0].kind == PXT_LINK_LOCK && first->has_prio && last->peer->has_prio &&
	       first->prio < PXT_REAL_TIME && first->prio < last->peer->prio && last->peer != first;
}
