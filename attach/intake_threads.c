/* SPDX-License-Identifier: MIT */
/*
 * intake_threads.c - a producer's threads as this process' entries, asked of its table when a record names them;
 * see intake.h.
 */
#include "attach/intake.h"

#include "attach/producer_put.h"

/*
 * What the system calls a thread, here.  A process of another pid namespace knows numbers of that one: its first
 * thread has the number of the process, as the system told it to the owner, and of others none is known here.  So
 * what the kernel tells of threads of this namespace is never taken for theirs.
 */
static int32_t tid_of(const struct pxt_producer_memory *producer, int32_t own_pid, int32_t own_tid)
{
	if (own_pid == producer->pid)
		return own_tid;
	return own_tid == own_pid ? producer->pid : 0;
}

/* What an entry of the producer's table says, and the stamp that it says it from. */
struct told {
	uint64_t since;
	uint64_t thread;
	int32_t pid;
	int32_t tid;
	char name[PXT_THREAD_NAME];
};

/* False: it became another thread's meanwhile.  @named: with its name. */
static bool ask_entry(const struct pxt_thread *entry, bool named, struct told *told)
{
	told->since = pxt_thread_since(entry);
	told->thread = pxt_wide_load((pxt_wide *)(uintptr_t)&entry->thread);
	told->pid =
	    atomic_load_explicit((_Atomic int32_t *)(uintptr_t)&entry->pid, memory_order_relaxed);
	told->tid =
	    atomic_load_explicit((_Atomic int32_t *)(uintptr_t)&entry->tid, memory_order_relaxed);
	told->name[0] = '\0';
	if (named)
		pxt_producer_read(told->name, entry->name, sizeof(told->name));
	told->name[sizeof(told->name) - 1u] = '\0';
	atomic_thread_fence(memory_order_acquire);
	return pxt_thread_since(entry) == told->since;
}

/* The entry of a thread that had another place in the producer's table, or one before an exec; or PXT_THREAD_EXTRA. */
static uint32_t former_entry(const struct pxt_producer_memory *producer, const struct told *told)
{
	if (told->tid == told->pid && producer->main)
		return producer->main;
	for (uint32_t i = 0; told->tid && i < producer->threads; i++) {
		uint32_t index = producer->thread[i];

		if (index && index != PXT_THREAD_EXTRA && producer->own_tid[i] == told->tid &&
		    pxt_wide_load(&pxt_threads->entry[index].thread) == told->thread)
			return index;
	}
	return PXT_THREAD_EXTRA;
}

static void know(struct pxt_producer_memory *producer, uint32_t at, const struct told *told)
{
	uint32_t index = former_entry(producer, told);

	if (index == PXT_THREAD_EXTRA)
		index = pxt_intake_put_thread(producer->pid, tid_of(producer, told->pid, told->tid),
		    told->thread, told->name);
	producer->thread[at] = (uint16_t)index;
	producer->since[at] = (uint32_t)told->since;
	producer->own_tid[at] = told->tid;
	if (producer->threads <= at)
		producer->threads = at + 1u;
	if (told->tid == told->pid && index != PXT_THREAD_EXTRA)
		producer->main = (uint16_t)index;
}

bool pxt_intake_thread(
    struct pxt_producer_memory *producer, uint64_t ticks, uint32_t *index, uint64_t *thread)
{
	struct told told;
	uint32_t at = *index;
	const struct pxt_thread *entry = &producer->directory->threads.entry[at];
	bool there = ask_entry(
	    entry, !pxt_intake_thread_known(producer, at, pxt_thread_since(entry)), &told);

	/* Its thread has ended, and another one has the place: nobody knows who it was. */
	if (!there || told.since > ticks) {
		*index = PXT_THREAD_EXTRA;
		*thread = 0;
		return false;
	}
	if (!told.thread)
		told.thread = at;
	*thread = told.thread;
	if (!pxt_intake_thread_known(producer, at, told.since))
		know(producer, at, &told);
	*index = producer->thread[at];
	if (*index != PXT_THREAD_EXTRA)
		return true;
	*index = pxt_extra_pack(thread, tid_of(producer, told.pid, told.tid));
	return false;
}

bool pxt_intake_thread_former(
    const struct pxt_producer_memory *producer, uint32_t *index, uint64_t thread)
{
	struct told told = { .thread = thread, .pid = -1 };
	uint32_t former;

	told.tid = pxt_extra_unpack(&told.thread, *index);
	if (producer->threads + 1u >= CONFIG_PTRACE_MAX_THREADS)
		return false;
	former = former_entry(producer, &told);
	if (former != PXT_THREAD_EXTRA)
		*index = former;
	return former != PXT_THREAD_EXTRA;
}

/* Without numbers: who is attached while another one's end is known has taken over its pid. */
static bool is_same(const struct pxt_producer_memory *producer, const struct pxt_intake_life *life)
{
	if (life->number && producer->life)
		return life->number == producer->life;
	return !producer->gone_at || life->ended;
}

uint32_t pxt_intake_main(
    struct pxt_producer_memory *producer, int32_t pid, const struct pxt_intake_life *life)
{
	const struct pxt_thread_table *table = &producer->directory->threads;
	uint32_t count = atomic_load_explicit(
	    (_Atomic uint32_t *)(uintptr_t)&table->count, memory_order_relaxed);
	struct told told;

	if (producer->pid != pid || !is_same(producer, life))
		return 0;
	/* Bound: the table. */
	for (uint32_t i = 1; !producer->main && i <= count && i < CONFIG_PTRACE_MAX_THREADS; i++) {
		if (ask_entry(&table->entry[i], true, &told) && told.thread && told.tid &&
		    told.tid == told.pid)
			know(producer, i, &told);
	}
	return producer->main;
}

void pxt_intake_goes_on(struct pxt_producer_memory *producer, const struct pxt_intake_life *life)
{
	producer->main = (uint16_t)life->main;
	producer->life = life->number;
}
