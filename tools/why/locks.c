/* SPDX-License-Identifier: MIT */
/* locks.c - which lock an event is about, also when its memory becomes another one; counts of locks that were free. */
#include "tools/why/state_parts.h"

#include "format/ids.h"
#include "tools/event/event.h"
#include "tools/output/out.h"

#include <stdlib.h>
#include <string.h>
#include <trace_hooks_np.h>

#define LOCKS ((size_t)2 * PXT_STATE_LOCKS_MAX)

/* Where the packed data of posix_trace_process has what, in this machine's order. */
#define NUMBER_AT  1u
#define ADDRESS_AT 5u
#define SIZE_AT    13u
#define NAME_AT    21u

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
	lock->gone = lock->is_given = lock->is_futex = lock->of_several = false;
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

/* One that another process made, whose child this one may be: another program has it elsewhere. */
static struct pxt_state_lock *find_of_several(
    const struct pxt_state *state, uint32_t name, const struct pxt_key *key, unsigned source)
{
	for (unsigned i = 0; i < state->of_several_count; i++) {
		struct pxt_state_lock *lock = state->of_several[i];

		if (lock->of_several && lock->key.value == key->value && lock->name == name &&
		    lock->source == source && !lock->gone)
			return lock;
	}
	return NULL;
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
	if (!former) {
		struct pxt_state_lock *several = find_of_several(state, name, key, source);

		if (several)
			return several;
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

/* ---- Memory becomes another thing ---- */

static void forget(struct pxt_state_lock *lock)
{
	pxt_holders_forget(lock);
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

/* The same semaphore is opened once more: it has the same address. */
static bool is_open(
    const struct pxt_state *state, const struct pxt_event *event, unsigned source, uint64_t address)
{
	for (unsigned i = 0; event->bytes > NAME_AT && i < state->of_several_count; i++)
		if (state->of_several[i]->key.value == address &&
		    state->of_several[i]->of_several && !state->of_several[i]->gone &&
		    state->of_several[i]->process == (uint64_t)event->info.posix_pid &&
		    state->of_several[i]->source == source)
			return true;
	return false;
}

/*
 * A semaphore that can be had by nobody at first, or by several, is no lock: nobody has it.  One with a name is shared
 * by processes.
 */
static void make_semaphore(
    struct pxt_state *state, const struct pxt_event *event, unsigned source, uint32_t value)
{
	bool of_several = event->bytes > NAME_AT && event->data[NAME_AT] != '\0';
	uint32_t name = pxt_roles_name(state->book, "semaphore", 9);
	struct pxt_key key = pxt_key_in(event, pxt_field_named(event->type, "address"));
	struct pxt_state_lock *lock;

	if ((value == 1 && !of_several) || !key.is_set)
		return;
	key.field = "object";
	lock = find_lock(state, name, &key, event, source);
	if (!lock)
		return;
	lock->is_given = value != 1;
	if (of_several && !lock->of_several && state->of_several_count < PXT_STATE_OF_SEVERAL) {
		lock->of_several = true;
		state->of_several[state->of_several_count++] = lock;
	}
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
		pxt_holders_acquire(
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
	} else if (event->data[0] == POSIX_TRACE_PROCESS_SEMAPHORE_NP &&
	           !is_open(state, event, source, address)) {
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
