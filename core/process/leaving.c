/* SPDX-License-Identifier: MIT */
/*
 * leaving.c - waiting until those inside trace points have left, and memory that is kept for those who
 * have not; see threads.h.
 */
#include "core/process/forked.h"
#include "core/process/forks.h"

/* Who is inside is looked at so often. */
#define SLICE_NS 50000u

/* Waits for one entry; true when it was or came outside.  [proof: wait] */
static bool wait_entry(
    struct pxt_thread *entry, struct pxt_patience *patience, enum pxt_whose whose)
{
	uint32_t seen = atomic_load_explicit(&entry->passes, memory_order_acquire);

	if ((seen & 1u) && whose == PXT_OWN && pxt_forks_foreign(entry))
		return true;
	if (!(seen & 1u) || seen == entry->gave_up)
		return !(seen & 1u);
	while (atomic_load_explicit(&entry->passes, memory_order_acquire) == seen) {
		/* No other thread writes there any more. */
		if (pxt_forks_gone(entry)) {
			atomic_store_explicit(&entry->passes, seen + 1u, memory_order_relaxed);
			return true;
		}
		if (!pxt_patience_pause(patience, SLICE_NS)) {
			entry->gave_up = seen;
			return false;
		}
	}
	return true;
}

/* Threads without an entry, of which only the number is known. */
static bool wait_index(
    struct pxt_unregistered *outside, uint32_t index, struct pxt_patience *patience)
{
	uint32_t abandoned = atomic_load_explicit(&outside->abandoned[index], memory_order_relaxed);
	uint32_t inside;

	for (;;) {
		inside = atomic_load_explicit(&outside->inside[index], memory_order_acquire);
		if (inside <= abandoned)
			break;
		if (!pxt_patience_pause(patience, SLICE_NS)) {
			atomic_store_explicit(
			    &outside->abandoned[index], inside, memory_order_relaxed);
			return false;
		}
	}
	if (inside < abandoned)
		atomic_store_explicit(&outside->abandoned[index], inside, memory_order_relaxed);
	return inside == 0;
}

/*
 * Who is inside counts in one of the two.  First those who saw an earlier index; then the index changes,
 * and those who saw the last one.
 */
static bool wait_unregistered(struct pxt_unregistered *outside, struct pxt_patience *patience)
{
	uint32_t index = atomic_load_explicit(&outside->index, memory_order_relaxed) & 1u;
	bool all = wait_index(outside, index ^ 1u, patience);

	atomic_store_explicit(&outside->index, index ^ 1u, memory_order_relaxed);
	return wait_index(outside, index, patience) && all;
}

bool pxt_threads_wait_left(uint64_t limit_ns, enum pxt_whose whose)
{
	struct pxt_thread_table *table = pxt_threads;
	struct pxt_thread *left_behind;
	struct pxt_patience patience;
	bool all = true;
	uint32_t count;

	if (!table)
		return true;
	pxt_patience_begin(&patience, limit_ns);
	/* [proof: fence]  Without the system's fence a store may still be under way: give it time to arrive. */
	if (!pxt_port_fence_all())
		pxt_port_pause_ns(1000000);
	count = pxt_threads_entries(table);
	for (uint32_t i = 1; i < count; i++)
		all &= wait_entry(&table->entry[i], &patience, whose);
	/* Bound: forked.c, BEHIND. */
	for (uint32_t i = 0; (left_behind = pxt_forked_entry(i)) != NULL; i++)
		all &= wait_entry(left_behind, &patience, PXT_OWN);
	return wait_unregistered(
	           whose == PXT_OWN ? &pxt_unregistered : &table->outside, &patience) &&
	       all;
}

static bool is_inside(struct pxt_thread *entry)
{
	return atomic_load_explicit(&entry->passes, memory_order_acquire) & 1u;
}

static bool behind_seen_outside(void)
{
	struct pxt_thread *entry;

	/* Bound: forked.c, BEHIND. */
	for (uint32_t i = 0; (entry = pxt_forked_entry(i)) != NULL; i++) {
		if (is_inside(entry))
			return false;
	}
	return true;
}

/* A thread that has no entry may be anywhere. */
static bool all_seen_unregistered(struct pxt_thread_table *table, enum pxt_whose whose)
{
	uint32_t count = pxt_threads_entries(table);

	for (uint32_t i = 1; i < count; i++) {
		struct pxt_thread *entry = &table->entry[i];

		if (!is_inside(entry))
			continue;
		if (whose == PXT_OWN ? !pxt_forks_foreign(entry) : !pxt_forks_gone(entry))
			return false;
	}
	return behind_seen_outside() && !pxt_threads_outside_count(&pxt_unregistered) &&
	       (whose == PXT_OWN || !pxt_threads_outside_count(&table->outside));
}

/* [proof: dead] */
bool pxt_threads_none_inside(enum pxt_whose whose)
{
	struct pxt_thread_table *table = pxt_threads;

	/* First without the fence: usually the writer is seen. */
	return table && all_seen_unregistered(table, whose) && pxt_port_fence_all() &&
	       all_seen_unregistered(table, whose);
}

/* The index changes where it can be, so that the other number comes to 0 by the next call. */
static unsigned unregistered_left(void)
{
	uint32_t index = atomic_load_explicit(&pxt_unregistered.index, memory_order_relaxed) & 1u;
	unsigned left = 0;

	for (uint32_t i = 0; i < 2; i++) {
		if (!atomic_load_explicit(&pxt_unregistered.inside[i], memory_order_acquire))
			left |= 1u << i;
	}
	if (left & 1u << (index ^ 1u))
		atomic_store_explicit(&pxt_unregistered.index, index ^ 1u, memory_order_relaxed);
	return left;
}

static bool has_left(struct pxt_thread *entry)
{
	uint32_t passes = atomic_load_explicit(&entry->passes, memory_order_acquire);

	return !(passes & 1u) || passes != entry->gave_up || pxt_forks_foreign(entry);
}

static bool entries_left(void)
{
	struct pxt_thread_table *table = pxt_threads;
	uint32_t count = table ? pxt_threads_entries(table) : 0;
	struct pxt_thread *left_behind;

	for (uint32_t i = 1; i < count; i++) {
		if (!has_left(&table->entry[i]))
			return false;
	}
	/* Bound: forked.c, BEHIND. */
	for (uint32_t i = 0; (left_behind = pxt_forked_entry(i)) != NULL; i++) {
		if (!has_left(left_behind))
			return false;
	}
	return true;
}

/* [proof: kept] */
unsigned pxt_threads_left(void)
{
	return unregistered_left() | (entries_left() ? 4u : 0u);
}

/* ---- Memory of trace points that did not leave in time ---- */

static struct pxt_kept *kept;

void pxt_threads_kept_add(struct pxt_kept *note, void *memory, size_t bytes)
{
	*note = (struct pxt_kept){ kept, memory, bytes, 0 };
	kept = note;
}

/* [proof: kept] */
void pxt_threads_kept_give_back(void)
{
	unsigned left = kept ? pxt_threads_left() : 0;
	struct pxt_kept **at = &kept;

	while (*at) {
		struct pxt_kept *note = *at;

		note->left |= left;
		if (note->left == PXT_ALL_LEFT) {
			*at = note->next;
			pxt_port_free(note->memory, note->bytes);
		} else {
			at = &note->next;
		}
	}
}

bool pxt_threads_kept_any(void)
{
	pxt_threads_kept_give_back();
	return kept != NULL;
}

void pxt_threads_kept_after_fork(void)
{
	kept = NULL;
}
