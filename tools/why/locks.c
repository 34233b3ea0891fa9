/* SPDX-License-Identifier: MIT */
/* locks.c - who has which lock. */
#include "tools/why/state_parts.h"

#include "format/ids.h"
#include "tools/event/fields.h"
#include "tools/output/say.h"

#include <stdlib.h>
#include <string.h>
#include <trace_hooks_np.h>

#define LOCKS ((size_t)2 * PXT_STATE_LOCKS_MAX)

/* Where the packed data of posix_trace_process has what, in this machine's order. */
#define NUMBER_AT  1u
#define ADDRESS_AT 5u
#define SIZE_AT    13u
#define NAME_AT    21u

#define PAGE_REST UINT64_C(0xfff)

/* No lock is as large: such memory may have several. */
#define LARGEST 1024u
/* Locks that are looked at in larger memory, in all: a log that has more of it has said enough. */
#define STEPS   UINT64_C(100000000)

/* ---- Which lock it is ---- */

static struct pxt_state_lock *new_lock(
    uint32_t name, const struct pxt_key *key, const struct pxt_event *event, unsigned source)
{
	struct pxt_state_lock *lock = pxt_must(calloc(1, sizeof *lock));

	lock->name = name;
	lock->key = *key;
	lock->process = (uint64_t)event->info.posix_pid;
	lock->source = source;
	lock->of_system = pxt_id_is_specific(event->info.posix_event_id);
	lock->first = lock->self = pxt_places_of(event);
	lock->self.address.value = key->value;
	return lock;
}

static struct pxt_state_lock **head_at(
    const struct pxt_state *state, uint64_t address, uint64_t process, unsigned source)
{
	return &state->locks_at[pxt_state_mix(address, process + source) % LOCKS];
}

/* In both tables; @at: its place in the first. */
static struct pxt_state_lock *add_lock(
    struct pxt_state *state, uint32_t at, struct pxt_state_lock *lock)
{
	struct pxt_state_lock **head = head_at(state, lock->key.value, lock->process, lock->source);

	state->locks[at] = lock;
	state->lock_count++;
	if (lock->of_system) {
		lock->next_at = *head;
		*head = lock;
	}
	return lock;
}

/* From now on it stands for another one, which nobody has used. */
static void revive(struct pxt_state_lock *lock, const struct pxt_event *event)
{
	lock->life++;
	lock->gone = lock->is_given = lock->is_futex = false;
	lock->counted = 0;
	lock->taken_by_count = 0;
	lock->first = lock->self = pxt_places_of(event);
	lock->self.address.value = lock->key.value;
}

/* Nobody will be told of it. */
static bool is_dull(const struct pxt_state_lock *lock)
{
	return lock->waits == 0 && !lock->kept;
}

static void forget(struct pxt_state_lock *lock);

/* A new lock: what else was at its address is no more, if it was of another kind.  A futex may be part of a lock. */
static void end_others(const struct pxt_state *state, const struct pxt_state_lock *lock)
{
	uint32_t futex = pxt_roles_name(state->book, "futex", 5);

	if (!lock->of_system || lock->name == futex)
		return;
	for (struct pxt_state_lock *other =
	         *head_at(state, lock->key.value, lock->process, lock->source);
	     other; other = other->next_at)
		if (other != lock && other->name != lock->name && other->name != futex &&
		    other->key.value == lock->key.value && other->process == lock->process &&
		    other->source == lock->source && !other->gone)
			forget(other);
}

static struct pxt_state_lock *find_lock(struct pxt_state *state, uint32_t name,
    const struct pxt_key *key, const struct pxt_event *event, unsigned source)
{
	uint64_t process = (uint64_t)event->info.posix_pid;
	uint32_t at = pxt_state_mix(key->value, process + ((uint64_t)name << 32) + source) % LOCKS;
	struct pxt_state_lock *former = NULL;

	for (; state->locks[at]; at = (at + 1) % LOCKS) {
		struct pxt_state_lock *lock = state->locks[at];

		if (lock->key.value != key->value || lock->name != name ||
		    lock->process != process || lock->source != source)
			continue;
		if (!lock->gone)
			return lock;
		if (!former || is_dull(lock))
			former = lock;
	}
	if (former && (is_dull(former) || state->lock_count == PXT_STATE_LOCKS_MAX)) {
		revive(former, event);
		end_others(state, former);
		return former;
	}
	if (state->lock_count == PXT_STATE_LOCKS_MAX) {
		state->beyond++;
		return NULL;
	}
	former = add_lock(state, at, new_lock(name, key, event, source));
	end_others(state, former);
	return former;
}

struct pxt_state_lock *pxt_locks_find(struct pxt_state *state, const struct pxt_role *role,
    const struct pxt_event *event, unsigned source)
{
	const struct pxt_key key = pxt_key_of(event, role);

	return find_lock(state, pxt_rolesystem_name(state->book, event, role), &key, event, source);
}

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

static void forget_holders(struct pxt_state_lock *lock)
{
	if (lock->holder)
		forget_hold(lock->holder, lock);
	for (unsigned i = 0; i < lock->share_count; i++)
		forget_hold(lock->shares[i].actor, lock);
	lock->share_count = 0;
	lock->holder = NULL;
	lock->is_shared = false;
}

/* ---- Memory becomes another thing ---- */

static void forget(struct pxt_state_lock *lock)
{
	forget_holders(lock);
	lock->state = PXT_LOCK_UNKNOWN;
	lock->gone = true;
}

static void forget_memory(
    struct pxt_state *state, uint64_t process, unsigned source, uint64_t address, uint64_t bytes)
{
	if (bytes <= LARGEST) {
		for (struct pxt_state_lock *lock = *head_at(state, address, process, source); lock;
		     lock = lock->next_at)
			if (lock->key.value == address && lock->process == process &&
			    lock->source == source)
				forget(lock);
		return;
	}
	if (state->lock_count == 0 || state->lock_steps > STEPS)
		return;
	state->lock_steps += LOCKS;
	for (uint32_t i = 0; i < LOCKS; i++) {
		struct pxt_state_lock *lock = state->locks[i];

		if (lock && lock->of_system && lock->process == process && lock->source == source &&
		    lock->key.value - address < bytes)
			forget(lock);
	}
}

/* A semaphore that can be had by nobody at first, or by several, is no lock: nobody has it. */
static void make_semaphore(
    struct pxt_state *state, const struct pxt_event *event, unsigned source, uint32_t value)
{
	uint32_t name = pxt_roles_name(state->book, "semaphore", 9);
	struct pxt_key key = pxt_key_in(event, pxt_field_named(event->type, "address"));
	struct pxt_state_lock *lock;

	if (value == 1 || !key.is_set)
		return;
	key.field = "object";
	lock = find_lock(state, name, &key, event, source);
	if (lock)
		lock->is_given = true;
}

/* ---- Counts, and who is waited for where taking a lock was no event ---- */

/* @event tells of a lock of that kind, as a word. */
static struct pxt_state_lock *lock_of_kind(struct pxt_state *state, const struct pxt_event *event,
    unsigned source, const char *kind, size_t bytes)
{
	struct pxt_key key = pxt_key_in(event, pxt_field_named(event->type, "address"));
	const char *name = "mutex";

	if (!key.is_set)
		return NULL;
	key.field = "lock";
	if (bytes == 9 && memcmp(kind, "semaphore", 9) == 0) {
		name = "semaphore";
		key.field = "object";
	} else if (bytes == 4 && memcmp(kind, "spin", 4) == 0) {
		name = "spin lock";
	} else if (bytes >= 4 && memcmp(kind, "mute", 4) != 0) {
		name = "rwlock";
	}
	return find_lock(
	    state, pxt_roles_name(state->book, name, strlen(name)), &key, event, source);
}

static void add_taken(struct pxt_state_lock *lock, const struct pxt_actor *actor, uint64_t times)
{
	uint32_t i = 0;

	lock->counted += times;
	while (i < lock->taken_by_count && lock->taken_by[i].actor != actor)
		i++;
	if (i == lock->taken_by_count) {
		lock->taken_by =
		    pxt_must(realloc(lock->taken_by, (i + (size_t)1) * sizeof *lock->taken_by));
		lock->taken_by[lock->taken_by_count++] = (struct pxt_taken){ .actor = actor };
	}
	lock->taken_by[i].times += times;
}

/* What a traced program counted: @actor, NULL: several, took it so often. */
static void count_taken(struct pxt_state *state, const struct pxt_event *event, unsigned source,
    const struct pxt_actor *actor, uint64_t times)
{
	struct pxt_state_lock *lock;
	uint64_t address;

	memcpy(&address, event->data + ADDRESS_AT, sizeof address);
	state->counts_locks = true;
	if (address == 0) {
		state->counted_beyond += times;
		return;
	}
	lock = lock_of_kind(
	    state, event, source, (const char *)event->data + NAME_AT, event->bytes - NAME_AT);
	if (lock)
		add_taken(lock, actor, times);
}

/* Before a wait: @holder has it since an unknown time, and took it where the event is. */
static void note_holder(struct pxt_state *state, const struct pxt_event *event, unsigned source,
    struct pxt_actor *holder)
{
	const char *kind = (const char *)event->data + NAME_AT;
	size_t bytes = event->bytes - NAME_AT;
	struct pxt_state_lock *lock = lock_of_kind(state, event, source, kind, bytes);
	bool known;

	state->counts_locks = true;
	if (lock && holder && !lock->is_given && pxt_lock_holder(state, lock, &known) != holder &&
	    pxt_lock_depth(lock, holder) == 0)
		pxt_locks_acquire(
		    state, holder, lock, event, bytes == 4 && memcmp(kind, "read", 4) == 0);
}

void pxt_locks_process(struct pxt_state *state, const struct pxt_event *event, unsigned source,
    struct pxt_actor *numbered)
{
	uint64_t process = (uint64_t)event->info.posix_pid;
	uint64_t address;
	uint64_t bytes;
	uint32_t number;

	if (event->bytes < NAME_AT)
		return;
	memcpy(&number, event->data + NUMBER_AT, sizeof number);
	memcpy(&address, event->data + ADDRESS_AT, sizeof address);
	memcpy(&bytes, event->data + SIZE_AT, sizeof bytes);
	if (event->data[0] == POSIX_TRACE_PROCESS_MEMORY_NP) {
		forget_memory(state, process, source, address, bytes);
	} else if (event->data[0] == POSIX_TRACE_PROCESS_SEMAPHORE_NP) {
		forget_memory(state, process, source, address, bytes);
		make_semaphore(state, event, source, number);
	} else if (event->data[0] == POSIX_TRACE_PROCESS_TAKEN_NP) {
		count_taken(state, event, source, numbered, bytes);
	} else if (event->data[0] == POSIX_TRACE_PROCESS_HOLDS_NP) {
		note_holder(state, event, source, numbered);
	} else if (event->data[0] == POSIX_TRACE_PROCESS_TRACED_NP) {
		/* It is another program now. */
		forget_memory(state, process, source, 0, UINT64_MAX);
	}
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

void pxt_locks_acquire(struct pxt_state *state, struct pxt_actor *actor,
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
	forget_holders(lock);
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
void pxt_locks_told(struct pxt_state *state, struct pxt_actor *holder, struct pxt_state_lock *lock,
    const struct pxt_event *event)
{
	bool known;

	if (!holder || pxt_lock_holder(state, lock, &known) == holder)
		return;
	const struct pxt_state_lock *twin = twin_of(holder, lock);

	pxt_locks_acquire(state, holder, lock, event, false);
	lock->place.address.value = 0;
	if (twin) {
		lock->place = twin->place;
		lock->since_ns = twin->since_ns;
	}
}

void pxt_locks_judge(
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
	forget_holders(lock);
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

void pxt_locks_release(struct pxt_state *state, struct pxt_actor *actor,
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
	forget_holders(lock);
	lock->state = PXT_LOCK_FREE;
	lock->epoch = state->epochs[lock->source];
	lock->since_ns = act->ns;
}
