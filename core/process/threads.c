/* SPDX-License-Identifier: MIT */
/* threads.c - the thread table: who traced, and who is inside; see threads.h. */
#include "core/process/threads.h"

#include "core/process/forked.h"
#include "core/process/forks.h"
#include "core/process/replica.h"
#include "port/port_sysinfo.h"

/* ---- Threads without an entry: counted in and out ---- */

struct pxt_unregistered pxt_unregistered;

uint32_t pxt_threads_outside_enter(struct pxt_unregistered *outside)
{
	uint32_t index = atomic_load_explicit(&outside->index, memory_order_relaxed) & 1u;

	atomic_fetch_add_explicit(&outside->inside[index], 1u, memory_order_seq_cst);
	return index;
}

/* Release: a thread that sees the number go down sees no later access of this trace point. */
void pxt_threads_outside_leave(struct pxt_unregistered *outside, uint32_t index)
{
	atomic_fetch_sub_explicit(&outside->inside[index], 1u, memory_order_release);
}

/* ---- The table ---- */

struct pxt_thread_table *pxt_threads;
PXT_SELF_MADE;
struct pxt_thread pxt_no_entry = { .passes = 1u };

/* ---- Threads without a place ---- */

#if PXT_ENDS_ASIDE

/* With interrupts away: a task that is deleted is counted and says where, or neither. */
static void count(_Atomic uint32_t *inside, struct pxt_who *self, uint32_t by)
{
	uint32_t state = pxt_irq_save();

	atomic_store_explicit(
	    inside, atomic_load_explicit(inside, memory_order_relaxed) + by, memory_order_relaxed);
	self->depth += by;
	pxt_irq_restore(state);
}

void pxt_threads_enter_unregistered(struct pxt_pass *pass)
{
	pass->passes = atomic_load_explicit(&pxt_unregistered.index, memory_order_relaxed) & 1u;
	pxt_self.at_fork = pass->passes;
	count(&pxt_unregistered.inside[pass->passes], &pxt_self, 1u);
}

void pxt_threads_leave_unregistered(const struct pxt_pass *pass)
{
	count(&pxt_unregistered.inside[pass->passes], &pxt_self, -1u);
}

#else

void pxt_threads_enter_unregistered(struct pxt_pass *pass)
{
	pxt_self.depth++;
	pass->passes = pxt_threads_outside_enter(&pxt_unregistered);
	if (CONFIG_PTRACE_INHERIT)
		pass->passes |= pxt_threads_outside_enter(&pxt_threads->outside) << 1;
}

/* One that came back from before a fork counts in this process alone (core/process/forked.h). */
static bool leave_from_behind(void)
{
	if (!CONFIG_PTRACE_PORT_POSIX || pxt_self.depth > pxt_self.behind)
		return false;
	pxt_self.behind = --pxt_self.depth;
	pxt_threads_outside_leave(&pxt_unregistered, 0);
	return true;
}

void pxt_threads_leave_unregistered(const struct pxt_pass *pass)
{
	if (PXT_UNLIKELY(leave_from_behind()))
		return;
	pxt_threads_outside_leave(&pxt_unregistered, pass->passes & 1u);
	if (CONFIG_PTRACE_INHERIT)
		pxt_threads_outside_leave(&pxt_threads->outside, pass->passes >> 1);
	pxt_self.depth--;
}

#endif

/* ---- Places that are given again ---- */

_Atomic uint32_t pxt_threads_given;

#if PXT_PLACES_AGAIN

/* `life`: 0 its thread lives, or is not known to have ended; or one of these; or the look that came next. */
#define GIVEN_BACK PXT_THREAD_GIVEN_BACK
#define KEPT       2u
#define LOOKS      4u

static _Atomic uint32_t given_back[PXT_PLACES_WORDS]; /* a bit for each place */
static _Atomic uint32_t given_back_count;
static _Atomic uint32_t pins;
static _Atomic uint32_t looks = LOOKS;

/* Replicas are read while this process runs: there an index and what it means may be of two moments. */
static bool may_be_given(void)
{
	return atomic_load_explicit(&given_back_count, memory_order_relaxed) && !pxt_forks_any() &&
	       !pxt_replica_any();
}

static uint32_t take_given_back(struct pxt_thread_table *table)
{
	if (!may_be_given())
		return PXT_THREAD_EXTRA;
	/* Bound: the words of the table's places, and in each its bits, which others may take. */
	for (uint32_t i = 0; i < PXT_PLACES_WORDS; i++) {
		uint32_t bits = atomic_load_explicit(&given_back[i], memory_order_relaxed);

		while (bits) {
			uint32_t index = i * 32u + (uint32_t)__builtin_ctz(bits);
			struct pxt_thread *entry = &table->entry[index];

			if (!atomic_compare_exchange_strong_explicit(&given_back[i], &bits,
			        bits & (bits - 1u), memory_order_acquire, memory_order_relaxed))
				continue;
			(void)atomic_fetch_sub_explicit(
			    &given_back_count, 1u, memory_order_relaxed);
			pxt_thread_set_name(entry, (const char[PXT_THREAD_NAME]){ "" });
			atomic_store_explicit(&entry->life, 0u, memory_order_relaxed);
			/* A reader that finds a record of the new thread finds the place given. */
			(void)atomic_fetch_add_explicit(
			    &pxt_threads_given, 1u, memory_order_relaxed);
			atomic_thread_fence(memory_order_seq_cst);
			return index;
		}
	}
	return PXT_THREAD_EXTRA;
}

/* Release: its records are seen by who looks for them. */
static void note_end(struct pxt_thread *entry)
{
	uint32_t lives = 0;

	(void)atomic_compare_exchange_strong_explicit(&entry->life, &lives,
	    atomic_load_explicit(&looks, memory_order_relaxed), memory_order_release,
	    memory_order_relaxed);
}

void pxt_threads_pin(void)
{
	(void)atomic_fetch_add_explicit(&pins, 1u, memory_order_seq_cst);
}

void pxt_threads_unpin(void)
{
	(void)atomic_fetch_sub_explicit(&pins, 1u, memory_order_seq_cst);
}

bool pxt_threads_pinned(void)
{
	atomic_thread_fence(memory_order_seq_cst);
	return atomic_load_explicit(&pins, memory_order_seq_cst) != 0;
}

void pxt_threads_keep(const struct pxt_who *self)
{
	if (self->index != PXT_THREAD_EXTRA)
		atomic_store_explicit(&self->entry->life, KEPT, memory_order_relaxed);
}

bool pxt_threads_few_places(void)
{
	const struct pxt_thread_table *table = pxt_threads;
	const uint32_t few = CONFIG_PTRACE_MAX_THREADS / 4u;

	return table && !pxt_forks_any() && !pxt_replica_any() &&
	       pxt_threads_entries(table) >= CONFIG_PTRACE_MAX_THREADS - few &&
	       atomic_load_explicit(&given_back_count, memory_order_relaxed) < few;
}

void pxt_threads_next_look(void)
{
	uint32_t next = 1u + atomic_load_explicit(&looks, memory_order_relaxed);

	atomic_store_explicit(&looks, next < LOOKS ? LOOKS : next, memory_order_relaxed);
}

bool pxt_threads_has_ended(uint32_t index)
{
	uint32_t life = atomic_load_explicit(&pxt_threads->entry[index].life, memory_order_acquire);

	return life >= LOOKS && atomic_load_explicit(&looks, memory_order_relaxed) - life >= 2u;
}

void pxt_threads_give_back(uint32_t index, uint64_t since)
{
	struct pxt_thread *entry = &pxt_threads->entry[index];

	/* In this order: a concurrent reader of the entry finds no thread, or sees that `since` moved. */
	pxt_wide_set(&entry->thread, 0);
	atomic_thread_fence(memory_order_seq_cst);
	pxt_wide_set(&entry->since, since);
	atomic_thread_fence(memory_order_seq_cst);
	atomic_store_explicit(&entry->life, GIVEN_BACK, memory_order_relaxed);
	(void)atomic_fetch_or_explicit(
	    &given_back[index / 32u], 1u << index % 32u, memory_order_release);
	(void)atomic_fetch_add_explicit(&given_back_count, 1u, memory_order_relaxed);
}

static void forget_given_back(void)
{
	memset((void *)(uintptr_t)given_back, 0, sizeof(given_back));
	atomic_store_explicit(&given_back_count, 0u, memory_order_relaxed);
	atomic_store_explicit(&pins, 0u, memory_order_relaxed);
}

#else

PXT_OFF_RETURNS(PXT_THREAD_EXTRA, uint32_t, take_given_back, struct pxt_thread_table *table);
PXT_OFF(forget_given_back, void);
PXT_OFF(note_end, struct pxt_thread *entry);

#endif

/* ---- The end of a thread ---- */

#if PXT_PLACES_AGAIN && !PXT_ENDS_ASIDE

void (*_Atomic pxt_threads_one_ended)(void);

static bool ends_are_told;

static void tell_end(void)
{
	if (ends_are_told)
		pxt_port_thread_end_mark();
}

/* What comes later in this thread, of handlers and destructors, is recorded without a place. */
static void thread_ends(void)
{
	void (*one_ended)(void) =
	    atomic_load_explicit(&pxt_threads_one_ended, memory_order_acquire);
	struct pxt_thread *entry = pxt_self.entry;

	if (!one_ended || !pxt_fork_epoch() || pxt_self.epoch != pxt_fork_epoch() ||
	    pxt_self.index == PXT_THREAD_EXTRA || pxt_self.behind)
		return;
	one_ended();
	pxt_self.ended = 1;
	atomic_signal_fence(memory_order_seq_cst);
	pxt_self.epoch = PXT_EPOCH_NONE;
	(void)pxt_threads_register();
	/* One that was left by a jump, inside a trace point, is waited for as ever. */
	if (!(atomic_load_explicit(&entry->passes, memory_order_relaxed) & 1u))
		note_end(entry);
}

void pxt_threads_watch_ends(void)
{
	if (!ends_are_told)
		ends_are_told = pxt_port_thread_end_watch(thread_ends);
}

#else

PXT_OFF(tell_end, void);

#endif

#if PXT_ENDS_ASIDE

void pxt_threads_end(struct pxt_who *who)
{
	struct pxt_thread *entry = who->entry;
	uint32_t passes;

	if (who->epoch == PXT_EPOCH_NONE)
		return;
	who->epoch = PXT_EPOCH_NONE;
	/* Nobody waits for one that stood inside: it never comes back. */
	for (; who->depth; who->depth--)
		pxt_threads_outside_leave(&pxt_unregistered, who->at_fork);
	if (who->index == PXT_THREAD_EXTRA)
		return;
	passes = atomic_load_explicit(&entry->passes, memory_order_relaxed);
	atomic_store_explicit(&entry->passes, passes + (passes & 1u), memory_order_release);
	note_end(entry);
}

#endif

/* One that no thread has had.  Looked at first, so that the count cannot run round. */
static uint32_t take_fresh(struct pxt_thread_table *table)
{
	uint32_t index;

	if (atomic_load_explicit(&table->count, memory_order_relaxed) >=
	    CONFIG_PTRACE_MAX_THREADS - 1u)
		return PXT_THREAD_EXTRA;
	index = 1u + atomic_fetch_add_explicit(&table->count, 1u, memory_order_relaxed);
	return index < CONFIG_PTRACE_MAX_THREADS ? index : PXT_THREAD_EXTRA;
}

/* Where the name is at hand (port/bare/task.c), nobody need ask for it later. */
static void name_at_once(struct pxt_thread *entry)
{
	struct pxt_port_thread_info self;

	pxt_port_thread_self(&self);
	pxt_thread_set_name(entry, self.name);
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
	if (!pxt_self.ended)
		index = take_given_back(table);
	if (!pxt_self.ended && index == PXT_THREAD_EXTRA)
		index = take_fresh(table);
	if (index != PXT_THREAD_EXTRA) {
		entry = &table->entry[index];
		pxt_forks_sign(entry, pxt_process_pid());
		atomic_store_explicit(&entry->tid, pxt_port_tid(), memory_order_relaxed);
		if (CONFIG_PTRACE_PORT_BARE)
			name_at_once(entry);
		/* Last, for those who walk through the table: 0 is not there yet. */
		pxt_wide_set(&entry->thread, pxt_port_thread());
		pxt_replica_thread(table, index);
		tell_end();
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

void pxt_threads_after_fork(void)
{
	for (unsigned i = 0; i < 2; i++) {
		atomic_store_explicit(&pxt_unregistered.inside[i], 0u, memory_order_relaxed);
		atomic_store_explicit(&pxt_unregistered.abandoned[i], 0u, memory_order_relaxed);
	}
	forget_given_back();
}

const struct pxt_who *pxt_threads_who(void)
{
	struct pxt_who interrupted;

	if (pxt_self.epoch == pxt_fork_epoch() || pxt_threads_register() ||
	    !pxt_forked_borrow(&interrupted))
		return &pxt_self;
	pxt_forked_give_back(&interrupted);
	return pxt_forked_own();
}

void pxt_threads_sign_again(void)
{
	uint32_t count = pxt_threads ? pxt_threads_entries(pxt_threads) : 0;

	for (uint32_t i = 1; i < count; i++) {
		struct pxt_thread *entry = &pxt_threads->entry[i];

		if (atomic_load_explicit(&entry->pid, memory_order_relaxed) == pxt_process_pid())
			pxt_forks_sign(entry, pxt_process_pid());
	}
}

bool pxt_threads_find(uint32_t index, uint64_t ticks, uint64_t *thread, int32_t *pid)
{
	const struct pxt_thread *entry;
	uint64_t since;

	if (!pxt_threads || index == 0 || index >= pxt_threads_entries(pxt_threads))
		return false;
	entry = &pxt_threads->entry[index];
	since = pxt_thread_since(entry);
	if (since > ticks)
		return false;
	*thread = pxt_wide_load(&pxt_threads->entry[index].thread);
	*pid = atomic_load_explicit(&entry->pid, memory_order_relaxed);
	atomic_thread_fence(memory_order_acquire);
	return pxt_thread_since(entry) == since;
}
