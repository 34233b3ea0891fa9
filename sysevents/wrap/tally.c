/* SPDX-License-Identifier: MIT */
/*
 * tally.c - counts of locks; see tally.h.
 *
 * Slots are found by the lock's address, in lists that only grow.  A slot is one thread's from the moment that
 * `who` says so.  Where a lock has many slots, or there are no more, a new thread takes over the slot of one that
 * has ended; its counts go to a slot that stands for several of those.
 */
#define _GNU_SOURCE
#include "sysevents/wrap/tally.h"

#include "sysevents/wrap/process.h"

#include <sys/mman.h>

#define HEADS   1024u
#define ALIKE   64u /* slots of a lock before those of ended threads are used again */
#define HOLDERS 4u  /* that are told of one lock */

__thread struct pxt_tally_here pxt_tally_here;

static struct pxt_locktally *table;
static size_t mapped; /* bytes of it */
/* Numbers of slots, and 1: of the first one with such an address, ... */
static _Atomic uint16_t heads[HEADS] PXT_SELDOM;
/* ... of the next one, and of the next one of the same thread. */
static _Atomic uint16_t next_alike[PXT_LOCKTALLY_SLOTS] PXT_SELDOM;
static uint16_t next_own[PXT_LOCKTALLY_SLOTS] PXT_SELDOM;

static _Atomic bool has_slots; /* what is above is not as it was at the begin */
static bool wiped;             /* the page is, in children */

struct pxt_tally_page pxt_tally_page PXT_WIPED;

/* After shrinking: the next slot, and the end of those that are left. */
static _Atomic uint32_t spare;
static _Atomic uint32_t spare_end;

/* ---- Begin ---- */

/* In a child: the parent's slots, of which it does not have the memory (attach/producer.c). */
static void forget(void)
{
	table = NULL;
	if (!has_slots)
		return;
	memset(heads, 0, sizeof(heads));
	memset(&pxt_tally_here, 0, sizeof(pxt_tally_here));
	spare = spare_end = 0;
	has_slots = false;
}

void pxt_tally_start(struct pxt_locktally *memory)
{
	forget();
	table = memory;
	mapped = sizeof(*table);
	if (memory && !wiped) {
		(void)madvise(&pxt_tally_page, sizeof(pxt_tally_page), MADV_WIPEONFORK);
		wiped = true;
	}
	pxt_tally_page.counts = memory != NULL;
}

void pxt_tally_forget(void)
{
	pxt_tally_page.counts = table != NULL;
	forget();
}

/* False: there is no table, since the process could not attach. */
static bool has_table(void)
{
	if (!table)
		pxt_start_now();
	return table != NULL;
}

/* A new slot's number; PXT_LOCKTALLY_SLOTS: there is none. */
static uint32_t new_index(void)
{
	uint32_t index = atomic_load_explicit(&table->used, memory_order_relaxed);

	if (index < PXT_LOCKTALLY_SLOTS)
		index = atomic_fetch_add_explicit(&table->used, 1u, memory_order_relaxed);
	if (index < PXT_LOCKTALLY_SLOTS)
		return index;
	index = atomic_load_explicit(&spare, memory_order_relaxed);
	if (index < atomic_load_explicit(&spare_end, memory_order_acquire))
		index = atomic_fetch_add_explicit(&spare, 1u, memory_order_relaxed);
	return index < atomic_load_explicit(&spare_end, memory_order_relaxed) ? index
	                                                                      : PXT_LOCKTALLY_SLOTS;
}

static bool is_full(void)
{
	return atomic_load_explicit(&table->used, memory_order_relaxed) >= PXT_LOCKTALLY_SLOTS &&
	       atomic_load_explicit(&spare, memory_order_relaxed) >=
	           atomic_load_explicit(&spare_end, memory_order_relaxed);
}

#define SPARE_SLOTS 256u
#define PAGE        4096u /* of the machine, or less */

void pxt_tally_shrink(void)
{
	uint32_t used;
	uintptr_t from;
	uintptr_t end = (uintptr_t)table + sizeof(*table);

	if (!table || !pxt_tally_page.counts)
		return;
	/* Nobody gets a number from there any more; those that were given out are below it. */
	used = atomic_exchange_explicit(&table->used, PXT_LOCKTALLY_SLOTS, memory_order_relaxed);
	if (used + SPARE_SLOTS >= PXT_LOCKTALLY_SLOTS)
		return;
	atomic_store_explicit(&spare, used, memory_order_relaxed);
	atomic_store_explicit(&spare_end, used + SPARE_SLOTS, memory_order_release);
	from = ((uintptr_t)&table->slots[used + SPARE_SLOTS] + PAGE - 1u) & ~(uintptr_t)(PAGE - 1u);
	if (from >= end)
		return;
	mapped = from - (uintptr_t)table;
	(void)munmap((unsigned char *)table + mapped, end - from);
}

/* ---- Slots ---- */

static _Atomic uint16_t *head_of(const volatile void *lock)
{
	uintptr_t at = (uintptr_t)lock >> 2;

	return &heads[(at ^ at >> 10 ^ at >> 20) % HEADS];
}

static uint32_t who_has(const struct pxt_locktally_slot *slot)
{
	return atomic_load_explicit(&slot->who, memory_order_acquire);
}

static bool is_of(const struct pxt_locktally_slot *slot, const volatile void *lock, unsigned kind)
{
	return atomic_load_explicit(&slot->lock, memory_order_relaxed) == (uintptr_t)lock &&
	       atomic_load_explicit(&slot->kind, memory_order_acquire) == kind;
}

/* Of a lock: this thread's, one of a thread that has ended, and the one of several of those. */
struct found {
	struct pxt_locktally_slot *own;
	struct pxt_locktally_slot *ended;
	struct pxt_locktally_slot *past;
	unsigned count;
};

/* Bound: the slots with such an address. */
static struct found find(const volatile void *lock, unsigned kind, uint32_t who)
{
	struct found found = { 0 };
	uint32_t at = atomic_load_explicit(head_of(lock), memory_order_acquire);

	for (; at && !found.own;
	     at = atomic_load_explicit(&next_alike[at - 1], memory_order_relaxed)) {
		struct pxt_locktally_slot *slot = &table->slots[at - 1];
		uint32_t has = who_has(slot);

		if (!is_of(slot, lock, kind))
			continue;
		found.count++;
		if (has == who)
			found.own = slot;
		else if (has == PXT_LOCKTALLY_PAST)
			found.past = slot;
		else if (has & PXT_LOCKTALLY_ENDED && has != PXT_LOCKTALLY_BUSY)
			found.ended = slot;
	}
	return found;
}

/* The slot becomes this thread's, whose list it is in from now on. */
static void own(struct pxt_locktally_slot *slot, uint32_t who)
{
	uint32_t index = (uint32_t)(slot - table->slots);

	next_own[index] = (uint16_t)pxt_tally_here.slots;
	pxt_tally_here.slots = index + 1;
	atomic_store_explicit(&slot->who, who, memory_order_release);
}

static struct pxt_locktally_slot *make_slot(const volatile void *lock, unsigned kind, uint32_t who)
{
	_Atomic uint16_t *head = head_of(lock);
	struct pxt_locktally_slot *slot;
	uint32_t index;
	uint16_t first;

	index = new_index();
	if (index >= PXT_LOCKTALLY_SLOTS)
		return NULL;
	slot = &table->slots[index];
	atomic_store_explicit(&has_slots, true, memory_order_relaxed);
	atomic_store_explicit(&slot->lock, (uintptr_t)lock, memory_order_relaxed);
	own(slot, who);
	atomic_store_explicit(&slot->kind, kind, memory_order_release);
	first = atomic_load_explicit(head, memory_order_relaxed);
	do
		atomic_store_explicit(&next_alike[index], first, memory_order_relaxed);
	while (!atomic_compare_exchange_weak_explicit(
	    head, &first, (uint16_t)(index + 1), memory_order_release, memory_order_relaxed));
	return slot;
}

static bool claim(struct pxt_locktally_slot *slot, uint32_t was)
{
	return atomic_compare_exchange_strong_explicit(
	    &slot->who, &was, PXT_LOCKTALLY_BUSY, memory_order_acquire, memory_order_relaxed);
}

/* Both are nobody's meanwhile.  A process that is killed here has told these counts twice. */
static void pour(struct pxt_locktally_slot *to, struct pxt_locktally_slot *from)
{
	uintptr_t low = to->taken.low + from->taken.low;

	to->taken.high += from->taken.high + (low < to->taken.low);
	to->taken.low = low;
	to->given += from->given;
	to->told += from->told;
	from->taken.low = from->taken.high = from->given = from->told = 0;
}

/* That of a thread that has ended; NULL: it cannot be had. */
static struct pxt_locktally_slot *take_over(const struct found *found, uint32_t who)
{
	uint32_t was = found->ended ? who_has(found->ended) : 0;

	if (!(was & PXT_LOCKTALLY_THREAD) || !(was & PXT_LOCKTALLY_ENDED) ||
	    !claim(found->ended, was))
		return NULL;
	/* The first of them stands for all. */
	if (!found->past || !claim(found->past, PXT_LOCKTALLY_PAST)) {
		atomic_store_explicit(&found->ended->who, found->past ? was : PXT_LOCKTALLY_PAST,
		    memory_order_release);
		return NULL;
	}
	pour(found->past, found->ended);
	atomic_store_explicit(&found->past->who, PXT_LOCKTALLY_PAST, memory_order_release);
	own(found->ended, who);
	return found->ended;
}

/* The calling thread's slot of @lock; NULL: there is no room. */
static struct pxt_locktally_slot *slot_of(const volatile void *lock, unsigned kind)
{
	uint32_t who = pxt_tally_here.who;
	struct found found;
	struct pxt_locktally_slot *slot;

	if (!has_table())
		return NULL;
	if (!who)
		who = pxt_tally_here.who =
		    pxt_process_thread_number(pthread_self()) & PXT_LOCKTALLY_THREAD;
	found = find(lock, kind, pxt_tally_here.ended ? PXT_LOCKTALLY_ENDED | who : who);
	if (found.own && !pxt_tally_here.ended)
		return found.own;
	if (found.own && claim(found.own, PXT_LOCKTALLY_ENDED | who)) {
		own(found.own, who);
		return found.own;
	}
	slot = found.count >= ALIKE || is_full() ? take_over(&found, who) : NULL;
	return slot ? slot : make_slot(lock, kind, who);
}

/* ---- Counting ---- */

static struct pxt_locktally_slot *remember(const volatile void *lock, unsigned kind)
{
	struct pxt_tally_near *near = pxt_tally_near(lock, kind);
	struct pxt_locktally_slot *slot = slot_of(lock, kind);

	/* A handler of a signal may come in between. */
	near->key = 0;
	atomic_signal_fence(memory_order_seq_cst);
	near->slot = slot;
	atomic_signal_fence(memory_order_seq_cst);
	if (slot)
		near->key = pxt_tally_key(lock, kind);
	return slot;
}

/* What a key's destructor takes after this thread's end: its slots are others' to take over, too. */
static void end_again(void)
{
	pxt_tally_here.ended = false;
	pxt_tally_end();
}

void pxt_tally_took_first(const volatile void *lock, unsigned kind, const void *caller)
{
	struct pxt_locktally_slot *slot = remember(lock, kind);

	if (slot) {
		pxt_tally_add(&slot->taken);
		atomic_store_explicit(&slot->place, (uintptr_t)caller, memory_order_relaxed);
	} else if (table && atomic_fetch_add_explicit(&table->others[kind].low, 1u,
	                        memory_order_relaxed) == UINTPTR_MAX) {
		atomic_fetch_add_explicit(&table->others[kind].high, 1u, memory_order_relaxed);
	}
	if (pxt_tally_here.ended)
		end_again();
}

void pxt_tally_gave_first(const volatile void *lock, unsigned kind)
{
	struct pxt_locktally_slot *slot = remember(lock, kind);

	if (slot)
		atomic_store_explicit(&slot->given,
		    atomic_load_explicit(&slot->given, memory_order_relaxed) + 1u,
		    memory_order_relaxed);
	if (pxt_tally_here.ended)
		end_again();
}

void pxt_tally_end(void)
{
	struct pxt_tally_here *here = &pxt_tally_here;

	if (!table || !pxt_tally_page.counts || here->ended)
		return;
	memset(here->near, 0, sizeof(here->near));
	for (uint32_t at = here->slots; at; at = next_own[at - 1])
		atomic_store_explicit(&table->slots[at - 1].who, PXT_LOCKTALLY_ENDED | here->who,
		    memory_order_release);
	here->slots = 0;
	here->ended = true;
}

/* ---- Locks that are waited for ---- */

void pxt_tally_hold(const volatile void *lock)
{
	struct pxt_tally_here *here = &pxt_tally_here;

	for (uint32_t i = 0; i < here->helds; i++)
		if (here->held[i] == lock)
			return;
	if (here->helds < PXT_TALLY_HELD)
		here->held[here->helds++] = lock;
}

bool pxt_tally_release_held(const volatile void *lock)
{
	struct pxt_tally_here *here = &pxt_tally_here;

	for (uint32_t i = here->helds; i-- > 0;) {
		if (here->held[i] != lock)
			continue;
		here->held[i] = here->held[--here->helds];
		return true;
	}
	return false;
}

static const char *name_of(unsigned kind)
{
	static const char names[][10] = PXT_LOCKTALLY_NAMES;

	return names[kind];
}

static const void *place_of(const struct pxt_locktally_slot *slot)
{
	union {
		uintptr_t number;
		const void *at;
	} place = { atomic_load_explicit(&slot->place, memory_order_relaxed) };

	return place.at;
}

/* Threads that took it and did not give it back.  One that gives more often than it takes signals by it: 0. */
static unsigned holders_of(
    const volatile void *lock, unsigned kind, const struct pxt_locktally_slot *holders[HOLDERS])
{
	uint32_t at = atomic_load_explicit(head_of(lock), memory_order_acquire);
	unsigned count = 0;

	for (; at; at = atomic_load_explicit(&next_alike[at - 1], memory_order_relaxed)) {
		const struct pxt_locktally_slot *slot = &table->slots[at - 1];
		uintptr_t had = atomic_load_explicit(&slot->taken.low, memory_order_relaxed) -
		                atomic_load_explicit(&slot->given, memory_order_relaxed);

		if (!is_of(slot, lock, kind) || had == 0)
			continue;
		if (had > UINTPTR_MAX / 2 || (kind == PXT_LOCKTALLY_SEMAPHORE && had > 1))
			return 0;
		if (count < HOLDERS && !(who_has(slot) & PXT_LOCKTALLY_ENDED))
			holders[count++] = slot;
	}
	return count;
}

static void tell_holder(const struct pxt_locktally_slot *slot, const volatile void *lock,
    unsigned kind, uint32_t holder)
{
	pxt_process_tell(POSIX_TRACE_PROCESS_HOLDS_NP, holder, pxt_wrap_address(lock),
	    atomic_load_explicit(&slot->taken.low, memory_order_relaxed), name_of(kind),
	    place_of(slot));
}

void pxt_tally_tell_holders(
    const volatile void *lock, enum pxt_locktally_kind kind, uint32_t holder)
{
	const struct pxt_locktally_slot *holders[HOLDERS];
	unsigned count;

	if (!pxt_tally_page.counts || !has_table())
		return;
	if (holder) {
		const struct found found = find(lock, kind, holder);

		if (found.own)
			tell_holder(found.own, lock, kind, holder);
		return;
	}
	count = holders_of(lock, kind, holders);
	for (unsigned i = 0; i < count; i++)
		tell_holder(holders[i], lock, kind, who_has(holders[i]));
}

static void tell_taken(struct pxt_locktally_slot *slot)
{
	uintptr_t taken = atomic_load_explicit(&slot->taken.low, memory_order_relaxed);
	uintptr_t told = atomic_load_explicit(&slot->told, memory_order_relaxed);
	uint32_t kind = atomic_load_explicit(&slot->kind, memory_order_acquire);
	uint32_t who = who_has(slot);

	if (taken == told || !kind || kind >= PXT_LOCKTALLY_KINDS)
		return;
	pxt_process_tell(POSIX_TRACE_PROCESS_TAKEN_NP,
	    who == PXT_LOCKTALLY_BUSY ? 0 : who & PXT_LOCKTALLY_THREAD,
	    atomic_load_explicit(&slot->lock, memory_order_relaxed), taken - told, name_of(kind),
	    place_of(slot));
	atomic_store_explicit(&slot->told, taken, memory_order_relaxed);
}

/* Larger than any lock: all slots are looked at. */
#define LARGE 256u

void pxt_tally_tell_taken(const volatile void *from, size_t bytes)
{
	uint32_t used;

	if (!pxt_tally_page.counts || !table)
		return;
	if (bytes <= LARGE) {
		uint32_t at = atomic_load_explicit(head_of(from), memory_order_acquire);

		for (; at; at = atomic_load_explicit(&next_alike[at - 1], memory_order_relaxed))
			if (table->slots[at - 1].lock == (uintptr_t)from)
				tell_taken(&table->slots[at - 1]);
		return;
	}
	used = atomic_load_explicit(&table->used, memory_order_acquire);
	if (used >= PXT_LOCKTALLY_SLOTS) {
		used = atomic_load_explicit(&spare_end, memory_order_acquire);
		used = used ? used : PXT_LOCKTALLY_SLOTS;
	}
	for (uint32_t i = 0; i < used; i++)
		if (table->slots[i].lock - (uintptr_t)from < bytes)
			tell_taken(&table->slots[i]);
}
