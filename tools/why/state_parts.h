/* SPDX-License-Identifier: MIT */
/* state_parts.h - the functions of one part of the state (threads, locks, spans, scheduler) that the others call. */
#ifndef PXT_STATE_PARTS_H
#define PXT_STATE_PARTS_H

#include "tools/why/state.h"

static inline uint32_t pxt_state_mix(uint64_t a, uint64_t b)
{
	return (uint32_t)(((a ^ b * UINT64_C(0xff51afd7ed558ccd)) * UINT64_C(0x9e3779b97f4a7c15)) >>
	                  32);
}

/* keys.c */
struct pxt_key pxt_key_in(const struct pxt_event *event, const struct pxt_layout *field);

/* threads.c */
struct pxt_numbers *pxt_threads_new(unsigned sources);
void pxt_threads_forget(struct pxt_state *state);
/* NULL where there is no place left, or no thread is named. */
struct pxt_actor *pxt_threads_tid(struct pxt_state *state, unsigned source, int64_t tid);
/* The same, of a number that the event's own process says (pxt_state_numbered()). */
struct pxt_actor *pxt_threads_told(
    struct pxt_state *state, const struct pxt_event *event, unsigned source, int64_t number);
/* A thread begins that has the number: who had it before has ended, if it had events of its own. */
void pxt_threads_begin(struct pxt_state *state, unsigned source, int64_t tid);
/* Where a thread begins, its process says which number it has. */
void pxt_threads_number(
    struct pxt_state *state, const struct pxt_actor *actor, const struct pxt_event *event);
/* One for all threads that are not told: the number -1 of a scheduler that tells of some threads only. */
struct pxt_actor *pxt_threads_others(struct pxt_state *state, unsigned source);
struct pxt_actor *pxt_threads_of(
    struct pxt_state *state, unsigned source, const struct pxt_thread *thread);
/* A text as the thread's name; nothing where it is none. */
void pxt_threads_name(struct pxt_actor *actor, struct pxt_key text);
/* The event says what the thread is called from now on. */
void pxt_threads_rename(struct pxt_state *state, struct pxt_actor *actor,
    const struct pxt_role *role, const struct pxt_event *event);
/* On the list of a CPU: the newest event first. */
void pxt_threads_list_out(struct pxt_state *state, struct pxt_actor *actor);
void pxt_threads_list_in(struct pxt_state *state, struct pxt_actor *actor, int cpu);

/* locks.c */
struct pxt_state_lock *pxt_locks_find(struct pxt_state *state, const struct pxt_role *role,
    const struct pxt_event *event, unsigned source);
/*
 * An event about a process: locks in memory that is another thing from now on are gone.  One that was made there
 * later is another lock; where nobody waited for the old one and no order has it, it may stand for the new one.
 * @numbered: the thread that the event's number is of, if it is one's.
 */
void pxt_locks_process(struct pxt_state *state, const struct pxt_event *event, unsigned source,
    struct pxt_actor *numbered);

/* holders.c */
/* Nobody is known to have it. */
void pxt_holders_forget(struct pxt_state_lock *lock);
/* @shared: others may have it at the same time, if they have it like that, too. */
void pxt_holders_acquire(struct pxt_state *state, struct pxt_actor *actor,
    struct pxt_state_lock *lock, const struct pxt_event *event, bool shared);
/* Who has the lock, as it told the thread that has to wait; NULL: it did not. */
void pxt_holders_told(struct pxt_state *state, struct pxt_actor *holder,
    struct pxt_state_lock *lock, const struct pxt_event *event);
/*
 * Of a semaphore or a futex, before what the event does: whether it is a lock, which who took it gives back, or
 * others give it.
 */
void pxt_holders_judge(
    struct pxt_state *state, const struct pxt_role *role, const struct pxt_act *act);
/* Says in @act who was known to have had it. */
void pxt_holders_release(struct pxt_state *state, struct pxt_actor *actor,
    struct pxt_state_lock *lock, struct pxt_act *act);

/* spans.c */
/* A function begins or ends. */
void pxt_spans_function(struct pxt_actor *actor, const struct pxt_event *event);
void pxt_spans_release(
    struct pxt_state *state, const struct pxt_role *role, const struct pxt_act *act);
void pxt_spans_begin(struct pxt_state *state, struct pxt_act *act);
void pxt_spans_end(struct pxt_state *state, struct pxt_act *act, struct pxt_open_span *ended);

/* sched.c */
void pxt_sched_switch(
    struct pxt_state *state, const struct pxt_role *role, struct pxt_act *act, unsigned source);
void pxt_sched_wake(
    struct pxt_state *state, const struct pxt_role *role, struct pxt_act *act, unsigned source);
void pxt_sched_thread(struct pxt_state *state, const struct pxt_role *role,
    const struct pxt_act *act, unsigned source);

#endif
