/* SPDX-License-Identifier: MIT */
/*
 * replica.c - which files have a copy of the directory, and the threads in it; see core/process/replica.h.
 *
 * A thread enters itself from its first trace point, or from a handler inside one, while another
 * one creates or shuts down a stream.  Both meet in one word, the thread after it has entered the
 * table and again after it has counted itself among those who have no place (threads.h), the list's
 * owner after each change: whichever of the two comes second there sees what the other did before.
 *
 *   - begin: the replica is in the list, then the table is read.  A thread that came too early to see the replica
 *     there has its entry in the table by then, and is copied.
 *   - end: the replica is out of the list, then pxt_threads_wait_left() waits for the thread as it does
 *     for those without a place, and the memory is kept where that takes too long.  A
 *     thread that comes later does not find the replica.
 */
#include "blackbox/blackbox.h"

#include "core/process/forks.h"
#include "core/testpoints.h"

static struct pxt_directory *_Atomic replicas[PXT_REPLICAS];

struct pxt_directory *pxt_replica_of(uint32_t index)
{
	return atomic_load_explicit(&replicas[index], memory_order_acquire);
}

static bool any(void)
{
	for (uint32_t i = 0; i < PXT_REPLICAS; i++) {
		if (pxt_replica_of(i))
			return true;
	}
	return false;
}

/* ---- Threads ---- */

static void raise_count(struct pxt_thread_table *table, uint32_t index)
{
	uint32_t count = atomic_load_explicit(&table->count, memory_order_relaxed);

	/* Bound: each further round means that another thread raised it; it is raised once for each. */
	PXT_BOUND(raises, CONFIG_PTRACE_MAX_THREADS);
	while (count < index) {
		PXT_ROUND(raises);
		if (atomic_compare_exchange_strong_explicit(
		        &table->count, &count, index, memory_order_release, memory_order_relaxed))
			return;
	}
}

/* By the thread and by begin() at once, perhaps: both store the same. */
static void copy_thread(struct pxt_thread_table *to, struct pxt_thread_table *from, uint32_t index)
{
	uint64_t thread = pxt_wide_load(&from->entry[index].thread);

	if (!thread)
		return;
	atomic_store_explicit(&to->entry[index].pid,
	    atomic_load_explicit(&from->entry[index].pid, memory_order_relaxed),
	    memory_order_relaxed);
	atomic_store_explicit(&to->entry[index].tid,
	    atomic_load_explicit(&from->entry[index].tid, memory_order_relaxed),
	    memory_order_relaxed);
	pxt_wide_set(&to->entry[index].thread, thread);
	PXT_TESTPOINT(PXT_TP_REPLICA_THREAD);
	raise_count(to, index);
}

/* Without a flush or registration there is none yet. */
static void copy_name(struct pxt_directory *replica, struct pxt_thread *from, uint32_t index)
{
	char name[PXT_THREAD_NAME];

	pxt_thread_get_name(from, name);
	if (name[0])
		pxt_thread_set_name(&replica->threads.entry[index], name);
}

static void enter(struct pxt_thread_table *table, uint32_t index)
{
	uint32_t counted_in;

	if (!any())
		return;
	counted_in = pxt_threads_outside_enter(&pxt_unregistered);
	pxt_replica_meet();
	PXT_TESTPOINT(PXT_TP_REPLICA_ENTERED);
	for (uint32_t i = 0; i < PXT_REPLICAS; i++) {
		struct pxt_directory *replica = pxt_replica_of(i);

		if (replica) {
			copy_name(replica, &table->entry[index], index);
			copy_thread(&replica->threads, table, index);
		}
	}
	/* A thread that sees the number go down sees the stores, and may take the memory away. */
	pxt_threads_outside_leave(&pxt_unregistered, counted_in);
}

static void named(uint32_t index)
{
	for (uint32_t i = 0; i < PXT_REPLICAS; i++) {
		struct pxt_directory *replica = pxt_replica_of(i);

		if (replica)
			copy_name(replica, &pxt_threads->entry[index], index);
	}
}

/* ---- The list ---- */

static void put_in(uint32_t index, struct pxt_directory *replica)
{
	struct pxt_thread_table *table = pxt_threads;
	struct pxt_patience patience;
	uint32_t count;
	bool locked;

	/* A child made meanwhile has the stream, and may define something.  One that stands still does not. */
	pxt_patience_begin(&patience, pxt_holdback_ns);
	locked = pxt_forks_lock(&patience);

	pxt_names_init(replica);
	pxt_names_copy(replica, pxt_directory);
	replica->header = pxt_directory->header;
	atomic_store_explicit(&replicas[index], replica, memory_order_release);
	if (locked)
		pxt_forks_unlock();
	pxt_replica_meet();
	count = atomic_load_explicit(&table->count, memory_order_acquire);
	for (uint32_t i = 1; i <= count && i < CONFIG_PTRACE_MAX_THREADS; i++) {
		copy_thread(&replica->threads, table, i);
		copy_name(replica, &table->entry[i], i);
	}
}

static void end(uint32_t index)
{
	if (!pxt_replica_of(index))
		return;
	atomic_store_explicit(&replicas[index], NULL, memory_order_release);
	pxt_replica_meet();
}

/* Not as the parent had them: it may have been creating a stream. */
static void after_fork(void)
{
	for (uint32_t i = 0; i < PXT_REPLICAS; i++) {
		struct pxt_block *block =
		    i < CONFIG_PTRACE_MAX_STREAMS ? pxt_stream_block(i) : NULL;
		uint64_t at = block ? block->header.directory_at : 0;

		atomic_store_explicit(&replicas[i],
		    at ? (struct pxt_directory *)(void *)((unsigned char *)block + at) : NULL,
		    memory_order_relaxed);
	}
}

/* The tables before the list: a thread that finds none has met nobody who put something into it. */
void pxt_replica_begin(uint32_t index, struct pxt_directory *replica)
{
	static const struct pxt_replica_ops ops = {
		.end = end,
		.after_fork = after_fork,
		.enter = enter,
		.named = named,
		.any = any,
	};

	atomic_store_explicit(&pxt_replica_ops, &ops, memory_order_release);
	pxt_replica_names_begin();
	put_in(index, replica);
}
