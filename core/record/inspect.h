/* SPDX-License-Identifier: MIT */
/*
 * inspect.h - the writer's side of streams whose events are looked at one by one, after the filter of their
 * types: by process, by thread, by a handler of the program's; and types that are recorded short.
 *
 *   concurrency      decides        set_*
 *   decides             -              -
 *   set_*               -              X: both locks (core/stream/stream.h)
 *
 * Rules that are in force are never written.  A change makes new ones, says that those are in force, and
 * waits for the trace points that are inside before and after it, as a change of the filter does.  The
 * old ones are given back when everybody has left them (core/process/threads.h).  A forked child keeps those
 * that were in force at the fork; another process has none.
 *
 * A stream's rules end with it.  Who is late in a stream that is gone judges by no rules: those that it
 * finds may be the next stream's (pxt_inspect_slots()).
 */
#ifndef PXT_INSPECT_H
#define PXT_INSPECT_H

#include "core/process/threads.h"
#include "core/stream/block.h"

/* An event on its way into a place: what a writer has of both, for those that look at it. */
struct pxt_inspect_candidate {
	struct pxt_place place; /* the first: its address is the candidate's */
	struct pxt_ring_event event;
};

#if CONFIG_PTRACE_INSPECT
#define PXT_INSPECT_HANDLERS  ((uint32_t)POSIX_TRACE_HANDLERS_MAX_NP)
#define PXT_INSPECT_THREADS   ((uint32_t)POSIX_TRACE_THREADS_MAX_NP)
#define PXT_INSPECT_PROCESSES ((uint32_t)POSIX_TRACE_PROCESSES_MAX_NP)
#define PXT_INSPECT_SHORT     4u /* bytes that an event keeps that is recorded short */

struct pxt_inspect_handler {
	posix_trace_handler_np handler;
	void *arg;
};

struct pxt_inspect_rules {
	struct pxt_inspect_handler handlers[PXT_INSPECT_HANDLERS];
	uint8_t handler_of[PXT_ID_COUNT]; /* 0: none; else its place, and 1 */
	uint32_t is_short[PXT_SET_WORDS];
	uint64_t threads[PXT_INSPECT_THREADS];
	int32_t processes[PXT_INSPECT_PROCESSES];
	uint32_t handlers_used;
	uint32_t threads_used;   /* 0: all threads */
	uint32_t processes_used; /* 0: all processes */
	struct pxt_kept note;    /* no trace point's */
};

/* How many events came to each level, cheap ones first, and were not let through; modulo a machine word. */
struct pxt_inspect_counts {
	atomic_uintptr_t came;
	atomic_uintptr_t not_process;
	atomic_uintptr_t not_thread;
	atomic_uintptr_t handled;
	atomic_uintptr_t not_handler;
	atomic_uintptr_t shortened;
};

struct pxt_inspection {
	struct pxt_inspect_rules *_Atomic rules; /* in force; NULL: none */
	struct pxt_inspect_counts counts;
};

extern struct pxt_inspection pxt_inspections[CONFIG_PTRACE_MAX_STREAMS];

/* From now on stream @index has none.  Returns what it had; acquire: the rules as they were stored. */
PXT_INLINE struct pxt_inspect_rules *pxt_inspect_withdraw(uint32_t index)
{
	return atomic_exchange_explicit(&pxt_inspections[index].rules, NULL, memory_order_acq_rel);
}

/* Nobody finds them any more, and, if @left, nobody is in them.  @rules may be NULL. */
PXT_INLINE void pxt_inspect_give_back(struct pxt_inspect_rules *rules, bool left)
{
	if (rules && left)
		pxt_port_free(rules, sizeof(*rules));
	else if (rules)
		pxt_threads_kept_add(&rules->note, rules, sizeof(*rules));
}

/* The slots it takes, which may be fewer than before; 0: it is not recorded.  System events always are. */
PXT_COLD uint32_t pxt_inspect_slots(const struct pxt_block *block, struct pxt_ring_event *event);
#else
PXT_OFF_RETURNS(
    0, uint32_t, pxt_inspect_slots, const struct pxt_block *block, struct pxt_ring_event *event);
PXT_OFF_RETURNS(NULL, struct pxt_inspect_rules *, pxt_inspect_withdraw, uint32_t index);
PXT_OFF(pxt_inspect_give_back, struct pxt_inspect_rules *rules, bool left);
#endif

#endif
