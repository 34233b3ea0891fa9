/* SPDX-License-Identifier: MIT */
/*
 * inspect.h - the writer's side of streams whose events are looked at one by one, after the filter of their
 * types: by process, by thread, by a handler of the program's; and types that are recorded short.
 *
 *   concurrency      decides        set_*
 *   decides             -              -
 *   set_*               -              X: both locks (core/stream/stream.h)
 *
 * The rules in force are not written: a change writes the other ones and then says that those are in
 * force, and waits for the trace points that are inside before and after it, as a change of the filter
 * does.  They are this process' own: a forked child has a copy, another process none.
 */
#ifndef PXT_INSPECT_H
#define PXT_INSPECT_H

#include "core/ring/ring.h"
#include "core/stream/block.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <trace_np.h>

/* An event on its way into a place: what a writer has of both, for those that look at it. */
struct pxt_inspect_candidate {
	struct pxt_place place; /* the first: its address is the candidate's */
	struct pxt_event event;
};

#if CONFIG_PTRACE_INSPECT
#define PXT_INSPECT_HANDLERS  16u
#define PXT_INSPECT_THREADS   32u
#define PXT_INSPECT_PROCESSES 16u
#define PXT_INSPECT_SHORT     4u /* bytes that an event keeps that is recorded short */

struct pxt_inspect_rules {
	struct {
		posix_trace_handler_np handler;
		void *arg;
	} handlers[PXT_INSPECT_HANDLERS];
	uint8_t handler_of[PXT_ID_COUNT]; /* 0: none; else its place, and 1 */
	uint32_t is_short[PXT_SET_WORDS];
	uint64_t threads[PXT_INSPECT_THREADS];
	int32_t processes[PXT_INSPECT_PROCESSES];
	uint32_t handlers_used;
	uint32_t threads_used;   /* 0: all threads */
	uint32_t processes_used; /* 0: all processes */
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
	struct pxt_inspect_rules rules[2];
	_Atomic uint32_t which; /* of the rules is in force */
	struct pxt_inspect_counts counts;
};

extern struct pxt_inspection pxt_inspections[CONFIG_PTRACE_MAX_STREAMS];

/* The slots it takes, which may be fewer than before; 0: it is not recorded.  System events always are. */
PXT_COLD uint32_t pxt_inspect_slots(const struct pxt_block *block, struct pxt_event *event);
#else
PXT_INLINE uint32_t pxt_inspect_slots(const struct pxt_block *block, struct pxt_event *event)
{
	(void)block;
	(void)event;
	return 0;
}
#endif

#endif
