/* SPDX-License-Identifier: MIT */
/* threads.c - the thread table: who traced, who is inside, waiting until those have left; see threads.h. */
#include "core/process/threads.h"

#include "core/process/forked.h"
#include "core/process/forks.h"
#include "core/process/replica.h"

#include <errno.h>
#include <string.h>
#include <trace_np.h>

struct pxt_thread_table *pxt_threads;
PXT_TLS struct pxt_self pxt_self = { .epoch = PXT_EPOCH_NONE };
struct pxt_thread pxt_no_entry = { .passes = 1u };

void pxt_threads_after_fork(void)
{
	for (unsigned i = 0; i < 2; i++) {
		atomic_store_explicit(&pxt_unregistered.inside[i], 0u, memory_order_relaxed);
		atomic_store_explicit(&pxt_unregistered.abandoned[i], 0u, memory_order_relaxed);
	}
}

/* ---- Threads without a place ---- */

void pxt_threads_enter_unregistered(struct pxt_pass *pass)
{
	pxt_self.depth++;
	pass->passes = pxt_unregistered_enter(&pxt_unregistered);
	if (CONFIG_PTRACE_INHERIT)
		pass->passes |= pxt_unregistered_enter(&pxt_threads->outside) << 1;
}

/* One that came back from before a fork counts in this process alone (core/process/forked.h). */
static bool leave_from_behind(void)
{
	if (!CONFIG_PTRACE_PORT_POSIX || pxt_self.depth > pxt_self.behind)
		return false;
	pxt_self.behind = --pxt_self.depth;
	pxt_unregistered_leave(&pxt_unregistered, 0);
	return true;
}

void pxt_threads_leave_unregistered(const struct pxt_pass *pass)
{
	if (PXT_UNLIKELY(leave_from_behind()))
		return;
	pxt_unregistered_leave(&pxt_unregistered, pass->passes & 1u);
	if (CONFIG_PTRACE_INHERIT)
		pxt_unregistered_leave(&pxt_threads->outside, pass->passes >> 1);
	pxt_self.depth--;
}

/*
 * May be interrupted by a handler that registers the same thread: then the thread has two
 * entries, both true, and uses the one that is set last.
 */
PXT_COLD bool pxt_threads_register(void)
{
	struct pxt_thread_table *table = pxt_threads;
	uintptr_t epoch = pxt_fork_epoch();
	uint32_t index = PXT_THREAD_EXTRA;
	struct pxt_thread *entry = &pxt_no_entry;

	if (!epoch || !table)
		return false;
	if (PXT_UNLIKELY(pxt_self.behind)) {
		if (pxt_forked_inside())
			return false;
		if (pxt_forked_keep())
			return true;
	}
	/* Looked at first, so that the count cannot run round. */
	if (atomic_load_explicit(&table->count, memory_order_relaxed) <
	    CONFIG_PTRACE_MAX_THREADS - 1u) {
		index = 1u + atomic_fetch_add_explicit(&table->count, 1u, memory_order_relaxed);
		if (index < CONFIG_PTRACE_MAX_THREADS) {
			entry = &table->entry[index];
			pxt_forks_sign(entry, pxt_process_pid());
			atomic_store_explicit(&entry->tid, pxt_port_tid(), memory_order_relaxed);
			/* Last, for those who walk through the table: 0 is not there yet. */
			pxt_wide_set(&entry->thread, pxt_port_thread());
			pxt_replica_thread(table, index);
		} else {
			index = PXT_THREAD_EXTRA;
		}
	}
	pxt_self_is(index, entry);
	/*
	 * Last: a handler that sees the epoch sees the rest.  Release: pairs with the acquire in
	 * core/record/emit.c, emit_short().
	 */
	atomic_signal_fence(memory_order_release);
	pxt_self.epoch = epoch;
	return true;
}

const struct pxt_self *pxt_threads_who(void)
{
	struct pxt_self interrupted;

	if (pxt_self.epoch == pxt_fork_epoch() || pxt_threads_register() ||
	    !pxt_forked_borrow(&interrupted))
		return &pxt_self;
	pxt_forked_give_back(&interrupted);
	return pxt_forked_own();
}

static uint32_t entries(const struct pxt_thread_table *table)
{
	uint32_t count = atomic_load_explicit(
	    &((struct pxt_thread_table *)(uintptr_t)table)->count, memory_order_acquire);

	return count < CONFIG_PTRACE_MAX_THREADS ? count + 1u : CONFIG_PTRACE_MAX_THREADS;
}

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

/* Threads without an entry, of which no thread knows more than their number. */
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
	count = entries(table);
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
	uint32_t count = entries(table);

	for (uint32_t i = 1; i < count; i++) {
		struct pxt_thread *entry = &table->entry[i];

		if (!is_inside(entry))
			continue;
		if (whose == PXT_OWN ? !pxt_forks_foreign(entry) : !pxt_forks_gone(entry))
			return false;
	}
	return behind_seen_outside() && !pxt_unregistered_count(&pxt_unregistered) &&
	       (whose == PXT_OWN || !pxt_unregistered_count(&table->outside));
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
	uint32_t count = table ? entries(table) : 0;
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

bool pxt_threads_find(uint32_t index, uint64_t *thread, int32_t *pid)
{
	if (!pxt_threads || index == 0 || index >= entries(pxt_threads))
		return false;
	*thread = pxt_wide_load(&pxt_threads->entry[index].thread);
	*pid = atomic_load_explicit(&pxt_threads->entry[index].pid, memory_order_relaxed);
	return true;
}
