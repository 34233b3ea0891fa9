/* SPDX-License-Identifier: MIT */
/*
 * intake_numbers.c - a producer's event types and threads in this process' numbers; see intake.h.
 *
 * The same name is the same type.  What is new here is defined here, with its description, as if a thread of this
 * process had done it.  Threads are this process' entries, asked of the producer's table when a record names them.
 */
#include "attach/intake.h"

#include "core/stream/wanted.h"

/* A producer takes at most half of what is left of names and of room for descriptions. */
void pxt_intake_numbers_begin(struct pxt_producer_memory *producer)
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

/* @at: in the producer's pool.  Text that does not end there, or is malformed, is ignored.  False: not now. */
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

void pxt_intake_numbers_learn(struct pxt_producer_memory *producer)
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

bool pxt_intake_numbers_wanted(const struct pxt_producer_memory *producer)
{
	return atomic_load_explicit(
	           (_Atomic uint32_t *)(uintptr_t)&producer->wanted, memory_order_relaxed) != 0;
}

/* ---- Threads ---- */

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
