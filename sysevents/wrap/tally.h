/* SPDX-License-Identifier: MIT */
/*
 * tally.h - counts of locks that were free when they were taken, where not each is an event (pxtrace run without
 * --all); who has a lock that another thread waits for.
 *
 *   concurrency: any thread, for itself; pxt_tally_start(): the only thread there is.
 *
 * A thread finds the slot of a lock in a small table of its own, and adds one there: no clock is read, and
 * no bus is locked.  What does not fit into memory is counted by kind alone.
 */
#ifndef PXT_WRAP_TALLY_H
#define PXT_WRAP_TALLY_H

#include "format/locktally.h"
#include "sysevents/wrap/wrap.h"

#define PXT_TALLY_NEAR 32u /* a power of two */
#define PXT_TALLY_HELD 4u

struct pxt_tally_here {
	struct pxt_tally_near {
		uint64_t key; /* lock and kind; 0: nothing */
		struct pxt_locktally_slot *slot;
	} near[PXT_TALLY_NEAR];
	const volatile void *held[PXT_TALLY_HELD]; /* taken by an event, so the end is one, too */
	uint32_t helds;
	uint32_t who;   /* 0: not asked yet */
	uint32_t slots; /* of this thread's, the last one made, and 1 */
	bool ended;
};
extern PXT_TLS struct pxt_tally_here pxt_tally_here;

/*
 * A page of its own, which the system wipes in every child: there the parent's counts are not mapped, and no function
 * of ours need have run before the first lock (clone(), _Fork(), handlers of fork()).
 */
extern struct pxt_tally_page {
	PXT_ALIGNED(4096) bool counts; /* a lock that is free is counted, and is no event */
} pxt_tally_page PXT_WRAP_HIDDEN;

/* Counts into @memory from now on, which is zeroed; NULL: nothing is counted. */
void pxt_tally_start(struct pxt_locktally *memory) PXT_WRAP_HIDDEN;
/* In a forked child: its parent's.  The first lock has the child attached. */
void pxt_tally_forget(void) PXT_WRAP_HIDDEN;
/* Gives back the memory that was not needed yet, but for little.  Any thread. */
void pxt_tally_shrink(void) PXT_WRAP_HIDDEN;
/* The calling thread ends. */
void pxt_tally_end(void) PXT_WRAP_HIDDEN;

PXT_WRAP_INLINE void pxt_tally_add(struct pxt_locktally_count *count)
{
	uintptr_t next = atomic_load_explicit(&count->low, memory_order_relaxed) + 1u;

	atomic_store_explicit(&count->low, next, memory_order_relaxed);
	if (sizeof(uintptr_t) < sizeof(uint64_t) && !next)
		atomic_store_explicit(&count->high,
		    atomic_load_explicit(&count->high, memory_order_relaxed) + 1u,
		    memory_order_relaxed);
}

PXT_WRAP_INLINE uint64_t pxt_tally_key(const volatile void *lock, unsigned kind)
{
	return pxt_wrap_address(lock) << 3 | kind;
}

PXT_WRAP_INLINE struct pxt_tally_near *pxt_tally_near(const volatile void *lock, unsigned kind)
{
	uintptr_t at = (uintptr_t)lock >> 3;

	return &pxt_tally_here.near[(at ^ at >> 5 ^ kind) % PXT_TALLY_NEAR];
}

/* The first time, or after others had its place. */
void pxt_tally_took_first(
    const volatile void *lock, unsigned kind, const void *caller) PXT_WRAP_HIDDEN;
void pxt_tally_gave_first(const volatile void *lock, unsigned kind) PXT_WRAP_HIDDEN;

/* The calling thread has taken @lock. */
PXT_WRAP_INLINE void pxt_tally_took(
    const volatile void *lock, enum pxt_locktally_kind kind, const void *caller)
{
	const struct pxt_tally_near *near = pxt_tally_near(lock, kind);

	if (PXT_WRAP_LIKELY(near->key == pxt_tally_key(lock, kind))) {
		pxt_tally_add(&near->slot->taken);
		atomic_store_explicit(&near->slot->place, (uintptr_t)caller, memory_order_relaxed);
	} else {
		pxt_tally_took_first(lock, kind, caller);
	}
}

/* It gives it back; not of mutexes. */
PXT_WRAP_INLINE void pxt_tally_gave(const volatile void *lock, enum pxt_locktally_kind kind)
{
	const struct pxt_tally_near *near = pxt_tally_near(lock, kind);

	if (PXT_WRAP_LIKELY(near->key == pxt_tally_key(lock, kind)))
		atomic_store_explicit(&near->slot->given,
		    atomic_load_explicit(&near->slot->given, memory_order_relaxed) + 1u,
		    memory_order_relaxed);
	else
		pxt_tally_gave_first(lock, kind);
}

/* ---- Locks that are waited for ---- */

/* An event told that the calling thread has @lock. */
void pxt_tally_hold(const volatile void *lock) PXT_WRAP_HIDDEN;
bool pxt_tally_release_held(const volatile void *lock) PXT_WRAP_HIDDEN;

/* It is given back: whether an event told that it was had. */
PXT_WRAP_INLINE bool pxt_tally_release(const volatile void *lock)
{
	return !PXT_WRAP_LIKELY(pxt_tally_here.helds == 0) && pxt_tally_release_held(lock);
}

/* Before a wait: who has it and where that one took it; @holder: who that is, 0: the thread that took and did not give. */
void pxt_tally_tell_holders(
    const volatile void *lock, enum pxt_locktally_kind kind, uint32_t holder) PXT_WRAP_HIDDEN;
/* What was counted of locks at these addresses, whose life ends. */
void pxt_tally_tell_taken(const volatile void *from, size_t bytes) PXT_WRAP_HIDDEN;

#endif
