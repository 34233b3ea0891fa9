/* SPDX-License-Identifier: MIT */
/* roundsched.c - what the scheduler tells of rounds: who ran instead, who woke, who was stopped; see rounds.h. */
#include "tools/why/rounds.h"

#include "tools/output/out.h"

#include <stdlib.h>

#define LINUX_SLEEPING 1 /* a state of who leaves a CPU: a signal may end the sleep */

/* How long other programs have run on a CPU, up to now. */
static int64_t others_on(const struct pxt_rounds *rounds, int cpu, int64_t ns)
{
	const struct pxt_rounds_cpu *on = &rounds->cpus[cpu];

	return on->others_ns + (on->others_run ? ns - on->since_ns : 0);
}

static void switch_cpu(struct pxt_rounds *rounds, const struct pxt_act *act)
{
	struct pxt_rounds_cpu *on = &rounds->cpus[act->cpu];

	on->others_ns = others_on(rounds, act->cpu, act->ns);
	on->since_ns = act->ns;
	on->others_run = act->actor && !act->actor->own && act->actor->tid != 0;
}

/* It could run from now on, where it was queued. */
static void get_ready(const struct pxt_rounds *rounds, struct pxt_round_thread *thread,
    const struct pxt_act *act, int cpu)
{
	thread->ready_ns = act->ns;
	thread->ready_cpu = cpu >= 0 && cpu < (int)PXT_STATE_CPUS_MAX ? cpu : -1;
	if (thread->ready_cpu >= 0)
		thread->others_ns = others_on(rounds, cpu, act->ns);
}

static void run_again(struct pxt_rounds *rounds, const struct pxt_act *act)
{
	struct pxt_round_thread *thread = pxt_rounds_thread(rounds, act->actor);

	if (thread->ready_ns != 0 && thread->ready_cpu >= 0) {
		thread->outside_ns +=
		    others_on(rounds, thread->ready_cpu, act->ns) - thread->others_ns;
		thread->others_from_ns = thread->ready_ns;
		thread->others_to_ns = act->ns;
	}
	thread->ready_ns = 0;
}

static void leave(struct pxt_rounds *rounds, const struct pxt_act *act)
{
	struct pxt_round_thread *thread = pxt_rounds_thread(rounds, act->former);

	thread->is_patient = pxt_act_left_state(act) == LINUX_SLEEPING;
	if (act->former->running == PXT_RUN_READY)
		get_ready(rounds, thread, act, act->cpu);
	else if (thread->waits && pxt_act_is_stop(act))
		thread->stopped_ns = act->ns;
}

/* An interrupt wakes in the name of whom it interrupts: of a thread of the program it is not known. */
static void note_waker(
    struct pxt_rounds *rounds, struct pxt_round_thread *thread, const struct pxt_act *act)
{
	const struct pxt_thread *by = act->event->thread;
	const struct pxt_actor *peer = NULL;

	if (by->recorded && by->tid > 0)
		peer = pxt_state_met(rounds->state, act->event, by->tid);
	/* The thread's own event says that its call is over. */
	if (peer == act->actor)
		return;
	rounds->has_wakes = rounds->has_wakes || act->role->fields[PXT_USE_THREAD];
	thread->woken_by = peer && peer->own ? peer : NULL;
	thread->woken_outside = thread->is_patient && !thread->woken_by;
}

static void wake(struct pxt_rounds *rounds, const struct pxt_act *act)
{
	struct pxt_round_thread *thread = pxt_rounds_thread(rounds, act->actor);

	note_waker(rounds, thread, act);
	if (thread->stopped_ns != 0)
		thread->outside_ns += act->ns - thread->stopped_ns;
	thread->stopped_ns = 0;
	if (thread->ready_ns == 0 && act->actor->running == PXT_RUN_READY)
		get_ready(rounds, thread, act, act->actor->cpu);
}

void pxt_rounds_look(struct pxt_rounds *rounds, const struct pxt_act *act)
{
	if (act->deed == PXT_SWITCH && (act->cpu < 0 || act->cpu >= (int)PXT_STATE_CPUS_MAX))
		return;
	if (!rounds->cpus)
		rounds->cpus = pxt_must(calloc(PXT_STATE_CPUS_MAX, sizeof *rounds->cpus));
	if (act->deed == PXT_SWITCH)
		switch_cpu(rounds, act);
	if (act->deed == PXT_SWITCH && act->former)
		leave(rounds, act);
	if (act->deed == PXT_SWITCH && act->actor)
		run_again(rounds, act);
	if (act->deed == PXT_WAKE && act->actor)
		wake(rounds, act);
}
