/* SPDX-License-Identifier: MIT */
/* holders.c - who has a lock, or reads with others under it. */
#include "tools/why/state_parts.h"

#include "tools/output/out.h"

#include <stdlib.h>
#include <string.h>

#define PAGE_REST UINT64_C(0xfff)

/* ---- Who has it ---- */

struct pxt_actor *pxt_lock_holder(
    const struct pxt_state *state, const struct pxt_state_lock *lock, bool *known)
{
	*known = lock->state != PXT_LOCK_UNKNOWN && lock->epoch == state->epochs[lock->source];
	return *known && lock->state == PXT_LOCK_HELD ? lock->holder : NULL;
}

static void forget_hold(struct pxt_actor *actor, const struct pxt_state_lock *lock)
{
	for (unsigned i = 0; i < actor->hold_count; i++) {
		if (actor->holds[i] != lock)
			continue;
		memmove(actor->holds + i, actor->holds + i + 1,
		    (actor->hold_count - i - 1) * sizeof(struct pxt_state_lock *));
		actor->hold_count--;
		return;
	}
}

static void note_hold(struct pxt_state *state, struct pxt_actor *actor, struct pxt_state_lock *lock)
{
	if (actor->hold_count < PXT_HOLDS_MAX)
		actor->holds[actor->hold_count++] = lock;
	else
		state->beyond++;
}

void pxt_holders_forget(struct pxt_state_lock *lock)
{
	if (lock->holder)
		forget_hold(lock->holder, lock);
	for (unsigned i = 0; i < lock->share_count; i++)
		forget_hold(lock->shares[i].actor, lock);
	lock->share_count = 0;
	lock->holder = NULL;
	lock->is_shared = false;
}

/* ---- Several readers ---- */

static struct pxt_share *share_of(const struct pxt_state_lock *lock, const struct pxt_actor *actor)
{
	for (unsigned i = 0; i < lock->share_count; i++)
		if (lock->shares[i].actor == actor)
			return &lock->shares[i];
	return NULL;
}

unsigned pxt_lock_depth(const struct pxt_state_lock *lock, const struct pxt_actor *actor)
{
	const struct pxt_share *mine = share_of(lock, actor);

	if (mine)
		return mine->depth;
	return lock->holder == actor ? lock->depth : 0;
}

/* One more that reads. */
static void share(struct pxt_state *state, struct pxt_actor *actor, struct pxt_state_lock *lock,
    const struct pxt_event *event)
{
	struct pxt_share *mine = share_of(lock, actor);

	if (mine) {
		mine->depth++;
		return;
	}
	if (lock->share_count == PXT_SHARES_MAX) {
		state->beyond++;
		return;
	}
	if (!lock->shares)
		lock->shares = pxt_must(calloc(PXT_SHARES_MAX, sizeof *lock->shares));
	lock->shares[lock->share_count++] = (struct pxt_share){
		.actor = actor, .depth = 1, .since_ns = event->ns, .place = pxt_places_of(event)
	};
	note_hold(state, actor, lock);
}

void pxt_holders_acquire(struct pxt_state *state, struct pxt_actor *actor,
    struct pxt_state_lock *lock, const struct pxt_event *event, bool shared)
{
	bool known;
	struct pxt_actor *holder = pxt_lock_holder(state, lock, &known);

	if (holder == actor) {
		lock->depth++;
		return;
	}
	if (holder && shared && lock->is_shared) {
		share(state, actor, lock, event);
		return;
	}
	/* Its release was not traced: this one has it now. */
	pxt_holders_forget(lock);
	lock->epoch = state->epochs[lock->source];
	lock->state = PXT_LOCK_HELD;
	lock->holder = actor;
	lock->is_shared = shared;
	lock->place = pxt_places_of(event);
	lock->depth = 1;
	lock->since_ns = event->ns;
	note_hold(state, actor, lock);
}

/*
 * The same lock as another process sees it, which has it: one in memory of both may have another address there,
 * but as far from the begin of a page.
 */
static const struct pxt_state_lock *twin_of(
    const struct pxt_actor *holder, const struct pxt_state_lock *lock)
{
	for (unsigned i = 0; i < holder->hold_count; i++) {
		const struct pxt_state_lock *other = holder->holds[i];

		if (lock->of_system && other->of_system && other->process != lock->process &&
		    other->name == lock->name &&
		    ((other->key.value ^ lock->key.value) & PAGE_REST) == 0)
			return other;
	}
	return NULL;
}

/* Where it took it, it does not say; another process may have seen that. */
void pxt_holders_told(struct pxt_state *state, struct pxt_actor *holder,
    struct pxt_state_lock *lock, const struct pxt_event *event)
{
	bool known;

	if (!holder || pxt_lock_holder(state, lock, &known) == holder)
		return;
	const struct pxt_state_lock *twin = twin_of(holder, lock);

	pxt_holders_acquire(state, holder, lock, event, false);
	lock->place.address.value = 0;
	if (twin) {
		lock->place = twin->place;
		lock->since_ns = twin->since_ns;
	}
}

void pxt_holders_judge(
    struct pxt_state *state, const struct pxt_role *role, const struct pxt_act *act)
{
	struct pxt_state_lock *lock = act->lock;
	bool known;
	const struct pxt_actor *holder = pxt_lock_holder(state, lock, &known);
	bool is_own = holder == act->actor;

	/* A lock is free or another's when it is waited for, free when it is had, its holder's when it is given back. */
	if (!pxt_rolesystem_tells_holder(act->event, role) ||
	    (role->deed == PXT_LOCK_WAIT && holder && is_own) ||
	    (role->deed == PXT_LOCK_ACQUIRE && holder) ||
	    (role->deed == PXT_LOCK_RELEASE && known && !is_own))
		lock->is_given = true;
	lock->is_futex = !pxt_rolesystem_tells_holder(act->event, role);
	if (!lock->is_given)
		return;
	pxt_holders_forget(lock);
	if (role->deed != PXT_LOCK_RELEASE)
		lock->state = PXT_LOCK_UNKNOWN;
}

/* The holder has gone: of those who read, the first one is the holder now. */
static void promote(struct pxt_state_lock *lock)
{
	struct pxt_share *first = &lock->shares[0];

	lock->holder = first->actor;
	lock->depth = first->depth;
	lock->since_ns = first->since_ns;
	lock->place = first->place;
	lock->share_count--;
	memmove(first, first + 1, lock->share_count * sizeof *first);
}

static void release_share(struct pxt_state_lock *lock, struct pxt_share *mine, struct pxt_act *act)
{
	act->former = mine->actor;
	act->held_since_ns = mine->since_ns;
	act->held_place = mine->place;
	if (--mine->depth > 0)
		return;
	act->gave_back = true;
	forget_hold(mine->actor, lock);
	lock->share_count--;
	memmove(mine, mine + 1, (size_t)(lock->shares + lock->share_count - mine) * sizeof *mine);
}

void pxt_holders_release(struct pxt_state *state, struct pxt_actor *actor,
    struct pxt_state_lock *lock, struct pxt_act *act)
{
	bool known;
	struct pxt_share *mine;

	act->former = pxt_lock_holder(state, lock, &known);
	mine = act->former ? share_of(lock, actor) : NULL;
	act->held_since_ns = lock->since_ns;
	act->held_place = lock->place;
	if (mine) {
		release_share(lock, mine, act);
		return;
	}
	if (actor && act->former == actor && lock->depth > 1) {
		lock->depth--;
		return;
	}
	act->gave_back = true;
	if (actor && act->former == actor && lock->share_count > 0) {
		forget_hold(actor, lock);
		promote(lock);
		return;
	}
	pxt_holders_forget(lock);
	lock->state = PXT_LOCK_FREE;
	lock->epoch = state->epochs[lock->source];
	lock->since_ns = act->ns;
}
