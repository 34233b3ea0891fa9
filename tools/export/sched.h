/* SPDX-License-Identifier: MIT */
/*
 * sched.h - what scheduler events say, by the names and fields that Linux and LTTng gave them:
 *
 *	sched_switch    prev_tid|prev_pid, next_tid|next_pid [prev_state, prev_prio, next_prio,
 *	                prev_comm, next_comm, cpu|cpu_id]
 *	sched_wakeup, sched_waking    tid|pid [comm, prio]
 *
 * Thread 0, which is every processor's idle thread at once, is left out.
 */
#ifndef PXT_SCHED_H
#define PXT_SCHED_H

#include "tools/event/event.h"

enum pxt_task_state {
	PXT_TASK_READY,
	PXT_TASK_RUNS,
	PXT_TASK_SLEEPS,
	PXT_TASK_WAITS, /* cannot be interrupted */
	PXT_TASK_STOPPED,
	PXT_TASK_DEAD
};

struct pxt_task {
	int64_t tid;
	enum pxt_task_state state;
	int cpu; /* -1: unknown */
	bool has_prio;
	int64_t prio;
	char comm[64]; /* escaped; "": unknown */
};

/* Which role each type of a log has, asked once. */
struct pxt_sched {
	unsigned char roles[PXT_TYPES_MAX];
};

/* The states that @event changes, in their order: 0 for an event of another kind. */
unsigned pxt_sched_take(
    struct pxt_sched *sched, const struct pxt_event *event, struct pxt_task tasks[2]);

#endif
