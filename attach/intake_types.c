/* SPDX-License-Identifier: MIT */
/*
 * intake_types.c - a producer's event types in this process' numbers.  The same name is the same type; what
 * is new here is defined here, with its description, as if a thread of this process had done it.
 */
#include "attach/intake.h"
#include "core/process/names.h"
#include "core/stream/wanted.h"

#include <errno.h>
#include <string.h>

/* A producer takes at most half of what is left of names and of room for descriptions. */
void pxt_intake_types_begin(struct pxt_producer_memory *producer)
{
	producer->names_left = (PXT_NAMES_MAX - pxt_names_count()) / 2u;
	producer->pool_left =
	    (CONFIG_PTRACE_FORMAT_POOL_BYTES - pxt_directory->names.pool_used) / 2u;
	atomic_store_explicit(
	    &producer->type[PXT_ID_UNNAMED], PXT_ID_UNNAMED, memory_order_relaxed);
	/* Their numbers are everybody's; what this build does not know stays behind. */
	for (unsigned id = PXT_ID_SPECIFIC_FIRST; id <= PXT_ID_SYSTEM_LAST; id++) {
		if (pxt_names_of(id))
			atomic_store_explicit(
			    &producer->type[id], (uint16_t)id, memory_order_relaxed);
	}
}

static bool exists(const char *name)
{
	unsigned count = pxt_names_count();

	for (unsigned i = 0; i < count; i++) {
		if (strcmp(pxt_names_of(PXT_ID_USER_FIRST + i), name) == 0)
			return true;
	}
	return false;
}

/*
 * Names beyond what it may take are the unnamed type, and so are those that no user can define.  0: a process
 * that was forked from the owner keeps it from defining any; a later look does.
 */
static trace_event_id_t type_of(struct pxt_producer_memory *producer, const char *name)
{
	bool old = exists(name);
	trace_event_id_t id;
	bool is_new;
	int error;

	if (!old && !producer->names_left)
		return PXT_ID_UNNAMED;
	error = pxt_names_open(name, &id, &is_new);
	if (error)
		return error == EAGAIN ? 0 : PXT_ID_UNNAMED;
	if (is_new)
		pxt_wanted_type_added(id);
	if (!old)
		producer->names_left--;
	return id < PXT_ID_USER_FIRST ? PXT_ID_UNNAMED : id;
}

/* A type of an attached process gets the owner's number of that name.  False: some have to wait. */
static bool learn_names(struct pxt_producer_memory *producer)
{
	const struct pxt_names *names = &producer->directory->names;
	uint32_t count = atomic_load_explicit(
	    (_Atomic uint32_t *)(uintptr_t)&names->count, memory_order_acquire);

	if (count > PXT_NAMES_MAX)
		count = PXT_NAMES_MAX;
	for (; producer->names < count; producer->names++) {
		char name[PXT_NAME_BYTES];
		trace_event_id_t id = PXT_ID_UNNAMED;

		pxt_producer_read(name, names->names[producer->names], sizeof(name));
		if (memchr(name, '\0', sizeof(name)))
			id = type_of(producer, name);
		if (!id)
			return false;
		atomic_store_explicit(&producer->type[PXT_ID_USER_FIRST + producer->names],
		    (uint16_t)id, memory_order_release);
	}
	return true;
}

/* @at: in the producer's pool.  What does not end there, or is malformed, is none.  False: not now. */
static bool learn_description(struct pxt_producer_memory *producer, uint32_t index, uint32_t at)
{
	const char *text = &producer->directory->names.pool[at];
	uint32_t id =
	    atomic_load_explicit(&producer->type[PXT_ID_USER_FIRST + index], memory_order_relaxed);
	char copy[POSIX_TRACE_FORMAT_MAX_NP + 1];
	size_t room = CONFIG_PTRACE_FORMAT_POOL_BYTES - at;
	const char *end;
	int error;

	if (room > sizeof(copy))
		room = sizeof(copy);
	pxt_producer_read(copy, text, room);
	end = memchr(copy, '\0', room);
	if (!end || (size_t)(end - copy) >= producer->pool_left || id < PXT_ID_USER_FIRST ||
	    pxt_names_format(id)[0])
		return true;
	error = pxt_names_set_format(id, copy);
	if (error == 0)
		producer->pool_left -= (uint32_t)(end - copy) + 1u;
	return error != EAGAIN;
}

static void learn_descriptions(struct pxt_producer_memory *producer)
{
	const struct pxt_names *names = &producer->directory->names;

	for (uint32_t i = 0; i < producer->names; i++) {
		uint32_t at;

		if ((uint32_t)producer->described[i / 8u] >> i % 8u & 1u)
			continue;
		at = atomic_load_explicit(
		    (_Atomic uint32_t *)(uintptr_t)&names->format_at[i], memory_order_acquire);
		if (!at)
			continue;
		/* Each that is refused would be waited for: one a look. */
		if (at <= CONFIG_PTRACE_FORMAT_POOL_BYTES &&
		    !learn_description(producer, i, at - 1u))
			return;
		producer->described[i / 8u] |= (uint8_t)(1u << i % 8u);
	}
}

void pxt_intake_types_learn(struct pxt_producer_memory *producer)
{
	bool all;

	atomic_store_explicit(&producer->wanted, 0u, memory_order_relaxed);
	all = learn_names(producer);
	if (all)
		learn_descriptions(producer);
	atomic_store_explicit(&producer->refused, !all, memory_order_relaxed);
	/* Release: who sees that it was done sees the types. */
	atomic_fetch_add_explicit(&producer->learnt, 1u, memory_order_release);
}

bool pxt_intake_types_wanted(const struct pxt_producer_memory *producer)
{
	return atomic_load_explicit(
	           (_Atomic uint32_t *)(uintptr_t)&producer->wanted, memory_order_relaxed) != 0;
}
