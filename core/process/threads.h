/* SPDX-License-Identifier: MIT */
/*
 * threads.h - the process' thread table: who traced, and who is inside a trace point now.
 *
 *   concurrency     enter/leave    wait_left    look-up
 *   enter/leave              -             -            -      any threads, signal handlers too
 *   wait_left                -             X            -
 *   look-up                  -             -            -
 *
 * A thread marks itself inside by a plain store to an entry that only it writes.  Before memory is taken
 * away, the streams become unwanted; then all processors pass a fence (pxt_port_fence_all); then the
 * entries are looked at.  A thread that is outside then will see the stream unwanted when it enters.
 * So the trace path carries no fence.
 *
 * An index in a record means the same thread as long as any stream holds the record.  Afterwards the
 * entry may belong to another thread; it has the stamp from which it does (DESIGN.md 5.7).
 */
#ifndef PXT_THREADS_H
#define PXT_THREADS_H

#include "core/process/process.h"
#include "core/process/thread.h"
#include "format/slot.h"

/*
 * ---- Threads that have no entry ----
 *
 * Any threads enter and leave at once, in signal handlers too; a thread that waits for them changes the
 * index, one at a time.
 */

/* After the widths: newlib's needs them under clang. */

/*
 * Threads without an entry that are inside now, in two numbers: who comes in counts itself in the one
 * that the index names (as in SRCU).  A thread that waits changes the index, so that the number it waits for
 * comes to 0 however many come in meanwhile.
 */
struct pxt_unregistered {
	_Atomic uint32_t index;
	_Atomic uint32_t inside[2];
	_Atomic uint32_t abandoned[2]; /* ... of which so many were waited for in vain */
};

/*
 * The same of this process alone: a forked process that dies inside counts for ever among theirs,
 * but it touches no memory of this process.
 */
extern struct pxt_unregistered pxt_unregistered;

/* A thread counts itself; which number it was is what it goes out with. */
uint32_t pxt_threads_outside_enter(struct pxt_unregistered *outside);
void pxt_threads_outside_leave(struct pxt_unregistered *outside, uint32_t index);

/* Everybody who is inside and has no entry. */
PXT_INLINE uint32_t pxt_threads_outside_count(struct pxt_unregistered *outside)
{
	return atomic_load_explicit(&outside->inside[0], memory_order_acquire) +
	       atomic_load_explicit(&outside->inside[1], memory_order_acquire);
}

/* ---- The table ---- */

/* No pointers inside: may be mapped anywhere. */
struct pxt_thread_table {
	_Atomic uint32_t count;          /* entries given out, entry 0 not counted */
	struct pxt_unregistered outside; /* of the forked processes */
	struct pxt_thread entry[CONFIG_PTRACE_MAX_THREADS];
};

/* Of a thread that was never registered: no process has it, not even one that was not started. */
#if CONFIG_PTRACE_PORT_POSIX
#define PXT_EPOCH_NONE UINTPTR_MAX
#else
#define PXT_EPOCH_NONE 0u /* no thread forks, and nothing is wanted before the start */
#endif

/* What a thread knows of itself; a line of its own. */
struct pxt_who {
	/* Of the process that registered it; another one: not registered.  First: see pxt_self_known(). */
	PXT_ALIGNED(PXT_CACHE_LINE) uintptr_t epoch;
	struct pxt_thread *entry; /* without a place: pxt_no_entry, which is always inside */
	/* Where its CPU's number is kept; a number no CPU has, where that is not known. */
	const volatile uint32_t *cpu;
	uint32_t index; /* in the table; PXT_THREAD_EXTRA: no place */
	uint32_t no_cpu;
	/* For core/record/emit.c: the index and the CPU as they are in slots. */
	uint32_t cpu_bits; /* added to the CPU's, all ones where that is not known */
	uint64_t index_high;
	uint32_t depth; /* without a place: trace points that this thread is inside of */
	/* core/process/forked.h; without a place their number, else 1. */
	/* Trace points that it was inside of before its last fork; on boards, which number it counts in. */
	uint32_t at_fork;
	uint32_t behind; /* in a child: of those, the ones that it has yet to come back from */
	uint32_t ended;  /* its place may be another thread's already */
};

/* In the process' directory; NULL until that is made. */
extern struct pxt_thread_table *pxt_threads;
#if CONFIG_PTRACE_PORT_BARE
/* A task and an interrupt have words of their own, which the port finds. */
#define pxt_self (*(struct pxt_who *)pxt_port_words())
#define PXT_SELF_MADE                                                                              \
	_Static_assert(sizeof(struct pxt_who) <= PXT_PORT_WORDS_BYTES, "the port has the room")
#else
extern PXT_TLS struct pxt_who pxt_self; /* before: its epoch is PXT_EPOCH_NONE */
#define PXT_SELF_MADE PXT_TLS struct pxt_who pxt_self = { .epoch = PXT_EPOCH_NONE }
#endif
extern struct pxt_thread pxt_no_entry;

/*
 * What a trace point reads of the calling thread.  Where the machine has a register for that, by
 * the distance from the thread pointer, pxt_fork.self_at, which is the same in all threads: the
 * shared library's own table of such distances is another line, on another page.
 *
 * In a wiped page the distance is 0, and what is there instead of the epoch is the thread
 * pointer itself (the platform's rule for thread-local storage): never 0, as the epoch is there.
 */
#if PXT_OWN_BY_DISTANCE
PXT_INLINE intptr_t pxt_self_find(void)
{
	return pxt_own_distance(&pxt_self);
}

PXT_INLINE bool pxt_self_known(intptr_t at, uintptr_t epoch)
{
	return pxt_own_is(at, epoch);
}

PXT_INLINE struct pxt_thread *pxt_self_entry(intptr_t at)
{
	const intptr_t where = at + (intptr_t)offsetof(struct pxt_who, entry);

	return (struct pxt_thread *)pxt_own_load(where);
}

PXT_INLINE uint32_t pxt_self_cpu(intptr_t at)
{
	const intptr_t where = at + (intptr_t)offsetof(struct pxt_who, cpu);

	return *(const volatile uint32_t *)pxt_own_load(where);
}

PXT_INLINE uint64_t pxt_self_index_high(intptr_t at)
{
	return pxt_own_load(at + (intptr_t)offsetof(struct pxt_who, index_high));
}

PXT_INLINE uint32_t pxt_self_with_cpu_bits(intptr_t at, uint32_t bits)
{
	return pxt_own_or(at + (intptr_t)offsetof(struct pxt_who, cpu_bits), bits);
}
#else
PXT_OFF_RETURNS(0, intptr_t, pxt_self_find, void);
PXT_OFF_RETURNS(pxt_self.epoch == epoch, bool, pxt_self_known, intptr_t at, uintptr_t epoch);
PXT_OFF_RETURNS(pxt_self.entry, struct pxt_thread *, pxt_self_entry, intptr_t at);
PXT_OFF_RETURNS(*pxt_self.cpu, uint32_t, pxt_self_cpu, intptr_t at);
PXT_OFF_RETURNS(pxt_self.index_high, uint64_t, pxt_self_index_high, intptr_t at);
PXT_OFF_RETURNS(
    pxt_self.cpu_bits | bits, uint32_t, pxt_self_with_cpu_bits, intptr_t at, uint32_t bits);
#endif

/* Who the calling thread is, but for the epoch, which makes it known. */
PXT_INLINE void pxt_self_is(uint32_t index, struct pxt_thread *entry)
{
	const volatile uint32_t *cpu = pxt_port_cpu_word();

	pxt_self.no_cpu = index | 0x80000000u;
	pxt_self.cpu = cpu ? cpu : &pxt_self.no_cpu;
	pxt_self.cpu_bits = cpu ? 0u : PXT_CPU_UNKNOWN << 24;
	pxt_self.entry = entry;
	pxt_self.index = index;
	pxt_self.index_high = (uint64_t)index << 32;
}

/* The calling thread's entry; async-signal-safe, no system call.  False in a forked child. */
bool pxt_threads_register(void);
/* Registers it unless it is known: for records that are no trace point's. */
PXT_INLINE void pxt_threads_known(void)
{
	if (PXT_UNLIKELY(pxt_self.epoch != pxt_fork_epoch()))
		(void)pxt_threads_register();
}

/* Places that have been taken, the first one, which is no thread's, included. */
PXT_INLINE uint32_t pxt_threads_entries(const struct pxt_thread_table *table)
{
	uint32_t count = atomic_load_explicit(
	    &((struct pxt_thread_table *)(uintptr_t)table)->count, memory_order_acquire);

	return count < CONFIG_PTRACE_MAX_THREADS ? count + 1u : CONFIG_PTRACE_MAX_THREADS;
}

/* ---- Waiting until those inside have left (leaving.c) ---- */

/* Whose trace points are waited for: a block that others share, they may be inside of, too. */
enum pxt_whose {
	PXT_OWN,
	PXT_FORKED
};
/*
 * Returns when every thread that was inside a trace point has left it.  False: some did not
 * within @limit_ns (killed, jumped out, never scheduled); what they may touch must be kept.
 */
bool pxt_threads_wait_left(uint64_t limit_ns, enum pxt_whose whose);
/*
 * Whether no living thread is inside a trace point: records that are reserved by now and not stored
 * after this call never will be.  False also where that cannot be told.  Does not wait; a fence only
 * where the answer may be true.
 */
bool pxt_threads_none_inside(enum pxt_whose whose);
/*
 * Kinds of threads (bits) for which wait_left() waited in vain and which have all left since.  When all
 * bits were seen since such a wait, at once or one by one, memory that was kept for it can be freed.
 * Does not wait.  Under the process lock.
 */
unsigned pxt_threads_left(void);
#define PXT_ALL_LEFT 7u /* those in the table, and both numbers of those who are not */

/* ---- Who has a place ---- */

/* In a child: the parent's threads are not in it. */
void pxt_threads_after_fork(void);
/* This process' entries, in which its pid namespace was not known (forks.h). */
void pxt_threads_sign_again(void);
/* The calling thread for a record that no trace point makes: its index, and its CPU. */
const struct pxt_who *pxt_threads_who(void);
/* Whose record with the stamp @ticks has the index; false where nobody knows. */
bool pxt_threads_find(uint32_t index, uint64_t ticks, uint64_t *thread, int32_t *pid);

/* ---- Places that are given again ---- */

/* How often one was: who keeps what an index meant keeps this with it. */
extern _Atomic uint32_t pxt_threads_given;

#if PXT_PLACES_AGAIN

#define PXT_PLACES_WORDS (CONFIG_PTRACE_MAX_THREADS / 32u + 1u)

#if !PXT_ENDS_ASIDE
/* A thread with a place ends, and calls it, still inside of nothing; NULL: nothing is to be done. */
extern void (*_Atomic pxt_threads_one_ended)(void);
/* Called when the process starts: threads tell their end from now on. */
void pxt_threads_watch_ends(void);
#endif
/* As long as one holds, no place is given back: records are outside of the streams, with indices. */
void pxt_threads_pin(void);
void pxt_threads_unpin(void);
bool pxt_threads_pinned(void);
/* Something outside of the lanes names the thread: its place is its own for ever. */
void pxt_threads_keep(const struct pxt_who *self);
/* Few places are left that no thread has had. */
bool pxt_threads_few_places(void);
/* A look at the streams begins, and whether the thread of a place ended before the one before. */
void pxt_threads_next_look(void);
bool pxt_threads_has_ended(uint32_t index);
/* No record names the place any more; the next thread's have stamps from @since on. */
void pxt_threads_give_back(uint32_t index, uint64_t since);

#else

PXT_OFF(pxt_threads_pin, void);
PXT_OFF(pxt_threads_unpin, void);
PXT_OFF(pxt_threads_keep, const struct pxt_who *self);

#endif

/* A task never runs again, wherever it stands. */
void pxt_threads_end(struct pxt_who *who);

#if !PXT_PLACES_AGAIN || PXT_ENDS_ASIDE
PXT_OFF(pxt_threads_watch_ends, void);
#endif

/* Proof of being inside; lives on the trace point's stack. */
struct pxt_pass {
	struct pxt_thread *entry;
	/* Without a place: the numbers it counts in, 1 own, 2 the forked processes'. */
	uint32_t passes;
	bool outermost;
};

/* The same for a thread without a place (core/process/threads.c). */
PXT_NOINLINE void pxt_threads_enter_unregistered(struct pxt_pass *pass);
PXT_NOINLINE void pxt_threads_leave_unregistered(const struct pxt_pass *pass);

/* False: this process has no streams (a forked child's first event). */
PXT_INLINE bool pxt_enter(struct pxt_pass *pass)
{
	if (PXT_UNLIKELY(pxt_self.epoch != pxt_fork_epoch()) && !pxt_threads_register())
		return false;
	pass->entry = pxt_self.entry;
	if (PXT_UNLIKELY(pass->entry == &pxt_no_entry)) {
		pxt_threads_enter_unregistered(pass);
		return true;
	}
	/* A handler that comes between load and store leaves an even number after, too. */
	pass->passes = atomic_load_explicit(&pass->entry->passes, memory_order_relaxed);
	pass->outermost = !(pass->passes & 1u);
	if (pass->outermost)
		atomic_store_explicit(
		    &pass->entry->passes, pass->passes + 1u, memory_order_relaxed);
	/* Pairs with pxt_port_fence_all() in wait_left().  [proof: enter] */
	atomic_signal_fence(memory_order_seq_cst);
	return true;
}

PXT_INLINE void pxt_leave(const struct pxt_pass *pass)
{
	if (PXT_UNLIKELY(pass->entry == &pxt_no_entry)) {
		pxt_threads_leave_unregistered(pass);
	} else if (pass->outermost) {
		/* Release: a thread that sees it sees no later access of this trace point.  [proof: leave] */
		atomic_store_explicit(
		    &pass->entry->passes, pass->passes + 2u, memory_order_release);
	}
}

/*
 * ---- Memory of trace points that did not leave in time: kept until they have (leaving.c) ----
 *
 * Under the process lock.  Trace points may read and write the memory, but not the note.  A caller that
 * takes memory from trace points makes it unreachable, waits (pxt_threads_wait_left()), and gives it
 * here if the wait was in vain.  It is not used again before all have left.
 */

/* Lies in the memory itself, where no trace point looks. */
struct pxt_kept {
	struct pxt_kept *next;
	void *memory;
	size_t bytes;
	unsigned left; /* pxt_threads_left() since then, together */
};

void pxt_threads_kept_add(struct pxt_kept *note, void *memory, size_t bytes);
/* Gives back what everybody has left. */
void pxt_threads_kept_give_back(void);
/* Whether a trace point may still be inside of something that is gone. */
bool pxt_threads_kept_any(void);
/* In a child: its thread may be one of those who were late.  The addresses stay, and cost nothing. */
void pxt_threads_kept_after_fork(void);

#endif
