/* SPDX-License-Identifier: MIT */
/* locks.c - who has which lock. */
#include "tools/why/state_parts.h"

#include "format/ids.h"
#include "tools/output/say.h"

#include <stdlib.h>
#include <string.h>

#define LOCKS ((size_t)2 * PXT_STATE_LOCKS_MAX)

/* Where in the program the event was recorded. */
static uint64_t place_of(const struct pxt_event *event)
{
	return (uint64_t)(uintptr_t)event->info.posix_prog_address;
}

struct pxt_state_lock *pxt_locks_find(struct pxt_state *state, const struct pxt_role *role,
    const struct pxt_event *event, unsigned source)
{
	uint64_t process = (uint64_t)event->info.posix_pid;
	struct pxt_key key = pxt_key_of(event, role);
	uint32_t at =
	    pxt_state_mix(key.value, process + ((uint64_t)role->name << 32) + source) % LOCKS;

	for (; state->locks[at]; at = (at + 1) % LOCKS) {
		struct pxt_state_lock *lock = state->locks[at];

		if (lock->key.value == key.value && lock->name == role->name &&
		    lock->process == process && lock->source == source)
			return lock;
	}
	if (state->lock_count == PXT_STATE_LOCKS_MAX) {
		state->beyond++;
		return NULL;
	}
	struct pxt_state_lock *lock = pxt_must(calloc(1, sizeof *lock));
	lock->name = role->name;
	lock->key = key;
	lock->process = process;
	lock->source = source;
	lock->of_system = pxt_id_is_specific(event->info.posix_event_id);
	lock->first_place = place_of(event);
	state->locks[at] = lock;
	state->lock_count++;
	return lock;
}

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

void pxt_locks_acquire(
    struct pxt_state *state, struct pxt_actor *actor, struct pxt_state_lock *lock, int64_t ns)
{
	bool known;
	struct pxt_actor *holder = pxt_lock_holder(state, lock, &known);

	if (holder == actor) {
		lock->depth++;
		return;
	}
	/* Its release was not traced (a condition variable's wait does that): this one has it now. */
	if (lock->holder)
		forget_hold(lock->holder, lock);
	lock->epoch = state->epochs[lock->source];
	lock->state = PXT_LOCK_HELD;
	lock->holder = actor;
	lock->holder_place = 0;
	lock->depth = 1;
	lock->since_ns = ns;
	if (actor->hold_count < PXT_HOLDS_MAX)
		actor->holds[actor->hold_count++] = lock;
	else
		state->beyond++;
}

void pxt_locks_told(
    struct pxt_state *state, struct pxt_actor *holder, struct pxt_state_lock *lock, int64_t ns)
{
	bool known;

	if (holder && pxt_lock_holder(state, lock, &known) != holder)
		pxt_locks_acquire(state, holder, lock, ns);
}

void pxt_locks_release(struct pxt_state *state, struct pxt_actor *actor,
    struct pxt_state_lock *lock, struct pxt_act *act)
{
	bool known;

	act->former = pxt_lock_holder(state, lock, &known);
	act->held_since_ns = lock->since_ns;
	if (act->former == actor && lock->depth > 1) {
		lock->depth--;
		return;
	}
	if (lock->holder)
		forget_hold(lock->holder, lock);
	lock->state = PXT_LOCK_FREE;
	lock->holder = NULL;
	lock->epoch = state->epochs[lock->source];
	lock->since_ns = act->ns;
}
