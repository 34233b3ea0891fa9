/* SPDX-License-Identifier: MIT */
/* sched.c - who runs: as the scheduler says, or as the order of events on a CPU says. */
#include "tools/why/state_parts.h"

#define LOOK_DEEP 64 /* threads on a CPU's list that are looked at */

enum pxt_running pxt_actor_running(const struct pxt_state *state, const struct pxt_actor *actor)
{
	return actor->running_epoch == state->epochs[actor->running_source] ? actor->running
	                                                                    : PXT_RUN_UNKNOWN;
}

struct pxt_actor *pxt_cpu_runner(const struct pxt_state *state, int cpu, bool *exact)
{
	*exact = false;
	if (cpu < 0 || cpu >= (int)PXT_STATE_CPUS_MAX)
		return NULL;
	const struct pxt_state_cpu *on = &state->cpus[cpu];
	if (on->known && on->epoch == state->epochs[on->source]) {
		*exact = true;
		return on->runs;
	}
	struct pxt_actor *actor = on->newest;
	for (unsigned i = 0; actor && i < LOOK_DEEP; i++, actor = actor->older) {
		if (!pxt_actor_certain(state, actor))
			return NULL;
		if (!actor->wait && !actor->blocked)
			return actor;
	}
	return NULL;
}

static void set_running(struct pxt_state *state, struct pxt_actor *actor, enum pxt_running running,
    unsigned source, int cpu)
{
	if (!actor)
		return;
	actor->running = running;
	actor->running_source = source;
	actor->running_epoch = state->epochs[source];
	if (cpu >= 0)
		actor->cpu = cpu;
}

static void learn_thread(const struct pxt_event *event, const struct pxt_role *role,
    struct pxt_actor *actor, enum pxt_use name, enum pxt_use prio)
{
	if (!actor)
		return;
	if (pxt_number_of(event, role->fields[prio], &actor->prio)) {
		actor->has_prio = true;
		/* Compared as Linux counts: smaller is more urgent. */
		if (event->source->info.posix_larger_priority_np)
			actor->prio = -actor->prio;
	}
	/* The log's table knows better than the scheduler, which cuts names. */
	if (actor->id == 0 && !*actor->raw)
		pxt_threads_name(actor, pxt_key_in(event, role->fields[name]));
}

#define LINUX_DEAD 0x30 /* EXIT_DEAD, EXIT_ZOMBIE */

/* Linux says what the thread that leaves the CPU is about: 0 or R..., it could go on; X or Z, it ends. */
static enum pxt_running leaves_as(const struct pxt_event *event, const struct pxt_layout *state)
{
	int64_t bits = 1;
	int letter;

	if (!state)
		return PXT_RUN_SLEEPS;
	if (state->kind == POSIX_TRACE_FIELD_TEXT_NP) {
		letter = event->bytes > state->offset ? event->data[state->offset] : 'S';
		return letter == 'R'                    ? PXT_RUN_READY
		       : letter == 'X' || letter == 'Z' ? PXT_RUN_ENDED
		                                        : PXT_RUN_SLEEPS;
	}
	(void)pxt_number_of(event, state, &bits);
	return (bits & 0xff) == 0  ? PXT_RUN_READY
	       : bits & LINUX_DEAD ? PXT_RUN_ENDED
	                           : PXT_RUN_SLEEPS;
}

void pxt_sched_switch(
    struct pxt_state *state, const struct pxt_role *role, struct pxt_act *act, unsigned source)
{
	const struct pxt_event *event = act->event;
	int64_t from = 0;
	int64_t to = 0;
	int64_t cpu = act->cpu;

	(void)pxt_number_of(event, role->fields[PXT_USE_FROM], &from);
	(void)pxt_number_of(event, role->fields[PXT_USE_TO], &to);
	(void)pxt_number_of(event, role->fields[PXT_USE_CPU], &cpu);
	state->has_switches = true;
	if (cpu < 0 || cpu >= (int64_t)PXT_STATE_CPUS_MAX) {
		state->beyond++;
		return;
	}
	struct pxt_actor *old = pxt_threads_tid(state, source, from);
	struct pxt_actor *new = pxt_threads_tid(state, source, to);
	/* They may run on several CPUs at once: no state of theirs is kept. */
	struct pxt_actor *others =
	    to == -1 || from == -1 ? pxt_threads_others(state, source) : NULL;
	act->cpu = (int)cpu;
	act->former = old;
	act->actor = to == -1 ? others : new;
	learn_thread(event, role, old, PXT_USE_FROM_NAME, PXT_USE_FROM_PRIO);
	learn_thread(event, role, new, PXT_USE_TO_NAME, PXT_USE_TO_PRIO);
	set_running(state, old, leaves_as(event, role->fields[PXT_USE_STATE]), source, (int)cpu);
	set_running(state, new, PXT_RUN_RUNS, source, (int)cpu);
	state->cpus[cpu] = (struct pxt_state_cpu){ .newest = state->cpus[cpu].newest,
		.known = true,
		.epoch = state->epochs[source],
		.source = source,
		.runs = act->actor };
}

void pxt_sched_wake(
    struct pxt_state *state, const struct pxt_role *role, struct pxt_act *act, unsigned source)
{
	int64_t tid;
	int64_t cpu;

	if (role->fields[PXT_USE_THREAD]) {
		if (!pxt_number_of(act->event, role->fields[PXT_USE_THREAD], &tid))
			return;
		act->actor = pxt_threads_tid(state, source, tid);
	}
	if (!act->actor)
		return;
	act->actor->blocked = false;
	if (!role->is_new && pxt_actor_running(state, act->actor) != PXT_RUN_SLEEPS)
		return;
	if (!pxt_number_of(act->event, role->fields[PXT_USE_CPU], &cpu) ||
	    cpu >= (int64_t)PXT_STATE_CPUS_MAX)
		cpu = -1;
	set_running(state, act->actor, PXT_RUN_READY, source, (int)cpu);
}

/* A thread of the program; its priority holds until a switch says another one. */
void pxt_sched_thread(struct pxt_state *state, const struct pxt_role *role,
    const struct pxt_act *act, unsigned source)
{
	bool is_rename = role->fields[PXT_USE_FROM_NAME] || role->fields[PXT_USE_WHAT];
	int64_t tid;

	if (!pxt_number_of(act->event, role->fields[PXT_USE_THREAD], &tid))
		return;
	if (role->is_new)
		pxt_threads_begin(state, source, tid);
	struct pxt_actor *actor = role->fields[PXT_USE_WHAT]
	                              ? pxt_threads_told(state, act->event, source, tid)
	                              : pxt_threads_tid(state, source, tid);
	if (is_rename)
		pxt_threads_rename(state, actor, role, act->event);
	else
		learn_thread(act->event, role, actor, PXT_USE_TO_NAME, PXT_USE_TO_PRIO);
	/* The kernel tells of renamed threads of all programs. */
	if (actor && !role->fields[PXT_USE_FROM_NAME])
		actor->own = true;
}
