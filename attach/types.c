/* SPDX-License-Identifier: MIT */
/*
 * types.c - a guest's event types in this process' numbers.  The same name is the same type; what
 * is new here is defined here, with its description, as if a thread of this process had done it.
 */
#include "attach/intake.h"
#include "core/process/names.h"
#include "core/stream/wanted.h"

#include <string.h>

/* A guest takes at most half of what is left of names and of room for descriptions. */
void pxt_guest_types_begin(struct pxt_guest_memory *guest)
{
	guest->names_left = (PXT_NAMES_MAX - pxt_names_count()) / 2u;
	guest->pool_left = (CONFIG_PTRACE_FORMAT_POOL_BYTES - pxt_directory->names.pool_used) / 2u;
	atomic_store_explicit(&guest->type[PXT_ID_UNNAMED], PXT_ID_UNNAMED, memory_order_relaxed);
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

/* Names beyond what it may take are the unnamed type, and so are those that no user can define. */
static trace_event_id_t type_of(struct pxt_guest_memory *guest, const char *name)
{
	bool old = exists(name);
	trace_event_id_t id;
	bool is_new;

	if ((!old && !guest->names_left) || pxt_names_open(name, &id, &is_new) != 0)
		return PXT_ID_UNNAMED;
	if (is_new)
		pxt_wanted_type_added(id);
	if (!old)
		guest->names_left--;
	return id < PXT_ID_USER_FIRST ? PXT_ID_UNNAMED : id;
}

static void learn_names(struct pxt_guest_memory *guest)
{
	const struct pxt_names *names = &guest->directory->names;
	uint32_t count = atomic_load_explicit(
	    (_Atomic uint32_t *)(uintptr_t)&names->count, memory_order_acquire);

	if (count > PXT_NAMES_MAX)
		count = PXT_NAMES_MAX;
	for (; guest->names < count; guest->names++) {
		char name[PXT_NAME_BYTES];
		trace_event_id_t id = PXT_ID_UNNAMED;

		pxt_guest_read(name, names->names[guest->names], sizeof(name));
		if (memchr(name, '\0', sizeof(name)))
			id = type_of(guest, name);
		atomic_store_explicit(&guest->type[PXT_ID_USER_FIRST + guest->names], (uint16_t)id,
		    memory_order_release);
	}
}

/* @at: in the guest's pool.  What does not end there, or is malformed, is none. */
static void learn_description(struct pxt_guest_memory *guest, uint32_t index, uint32_t at)
{
	const char *text = &guest->directory->names.pool[at];
	uint32_t id =
	    atomic_load_explicit(&guest->type[PXT_ID_USER_FIRST + index], memory_order_relaxed);
	char copy[POSIX_TRACE_FORMAT_MAX_NP + 1];
	size_t room = CONFIG_PTRACE_FORMAT_POOL_BYTES - at;
	const char *end;

	if (room > sizeof(copy))
		room = sizeof(copy);
	pxt_guest_read(copy, text, room);
	end = memchr(copy, '\0', room);
	if (!end || (size_t)(end - copy) >= guest->pool_left || id < PXT_ID_USER_FIRST ||
	    pxt_names_format(id)[0])
		return;
	if (pxt_names_set_format(id, copy) == 0)
		guest->pool_left -= (uint32_t)(end - copy) + 1u;
}

static void learn_descriptions(struct pxt_guest_memory *guest)
{
	const struct pxt_names *names = &guest->directory->names;

	for (uint32_t i = 0; i < guest->names; i++) {
		uint32_t at;

		if ((uint32_t)guest->described[i / 8u] >> i % 8u & 1u)
			continue;
		at = atomic_load_explicit(
		    (_Atomic uint32_t *)(uintptr_t)&names->format_at[i], memory_order_acquire);
		if (!at)
			continue;
		guest->described[i / 8u] |= (uint8_t)(1u << i % 8u);
		if (at <= CONFIG_PTRACE_FORMAT_POOL_BYTES)
			learn_description(guest, i, at - 1u);
	}
}

void pxt_intake_learn(struct pxt_guest_memory *guest)
{
	atomic_store_explicit(&guest->wanted, 0u, memory_order_relaxed);
	learn_names(guest);
	learn_descriptions(guest);
	/* Release: who sees that it was done sees the types. */
	atomic_fetch_add_explicit(&guest->learnt, 1u, memory_order_release);
}

bool pxt_intake_wants_types(const struct pxt_guest_memory *guest)
{
	return atomic_load_explicit(
	           (_Atomic uint32_t *)(uintptr_t)&guest->wanted, memory_order_relaxed) != 0;
}
