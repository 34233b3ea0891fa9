/* SPDX-License-Identifier: MIT */
/* state.c - what each event changes in the state (state.h): spans, locks, running threads. */
#include "tools/why/state_parts.h"

#include "format/ids.h"
#include "tools/output/out.h"

#include <stdlib.h>
#include <string.h>
#include <trace_hooks_np.h>

#define TABLE ((size_t)2 * PXT_ACTORS_MAX)
#define LOCKS ((size_t)2 * PXT_STATE_LOCKS_MAX)

/* ---- Making ---- */

/* Logs of one host share the numbers of threads. */
static unsigned host_of(const struct pxt_reader *reader, unsigned source)
{
	for (unsigned i = 0; i < source; i++)
		if (strcmp(reader->sources[i]->info.posix_host_np,
		        reader->sources[source]->info.posix_host_np) == 0)
			return i;
	return source;
}

struct pxt_state *pxt_state_new(struct pxt_roles_book *book, const struct pxt_reader *reader)
{
	struct pxt_state *state = pxt_must(calloc(1, sizeof *state));

	state->book = book;
	state->reader = reader;
	state->actors = pxt_must(calloc(PXT_ACTORS_MAX, sizeof(struct pxt_actor *)));
	state->by_id = pxt_must(calloc(TABLE, sizeof *state->by_id));
	state->by_tid = pxt_must(calloc(TABLE, sizeof *state->by_tid));
	state->locks = pxt_must(calloc(LOCKS, sizeof(struct pxt_state_lock *)));
	state->locks_at = pxt_must(calloc(LOCKS, sizeof(struct pxt_state_lock *)));
	state->cpus = pxt_must(calloc(PXT_STATE_CPUS_MAX, sizeof *state->cpus));
	state->epochs = pxt_must(calloc(reader->count, sizeof *state->epochs));
	state->steps = pxt_must(calloc(reader->count, sizeof *state->steps));
	state->hosts = pxt_must(calloc(reader->count, sizeof *state->hosts));
	state->stopped = pxt_must(calloc(reader->count, sizeof *state->stopped));
	state->sources = reader->count;
	state->numbers = pxt_threads_new(reader->count);
	for (unsigned i = 0; i < reader->count; i++)
		state->hosts[i] = host_of(reader, i);
	for (unsigned i = 0; i < PXT_RELEASES_MAX; i++)
		state->releases[i].name = PXT_NO_NAME;
	return state;
}

void pxt_state_free(struct pxt_state *state)
{
	for (uint32_t i = 0; i < state->actor_count; i++) {
		free(state->actors[i]->spans);
		free(state->actors[i]->functions);
		free(state->actors[i]);
	}
	for (uint32_t i = 0; i < LOCKS; i++) {
		if (state->locks[i]) {
			free(state->locks[i]->shares);
			free(state->locks[i]->taken_by);
		}
		free(state->locks[i]);
	}
	free(state->actors);
	free(state->by_id);
	free(state->by_tid);
	free(state->by_number);
	free(state->locks);
	free(state->locks_at);
	free(state->cpus);
	free(state->epochs);
	free(state->steps);
	free(state->hosts);
	free(state->stopped);
	pxt_threads_forget(state);
	free(state->renames);
	free(state);
}

unsigned pxt_state_source(const struct pxt_state *state, const struct pxt_event *event)
{
	unsigned source = 0;

	while (source + 1 < state->reader->count && state->reader->sources[source] != event->source)
		source++;
	return source;
}

/* ---- Events ---- */

bool pxt_state_gap(
    struct pxt_state *state, const struct pxt_event *event, unsigned source, uint64_t *lost)
{
	bool gap = event->extra.posix_lost_before_np > 0;

	*lost = event->extra.posix_lost_before_np;
	if (event->info.posix_event_id == POSIX_TRACE_STOP)
		state->stopped[source] = true;
	if (event->info.posix_event_id == POSIX_TRACE_START) {
		gap = gap || state->stopped[source];
		state->stopped[source] = false;
	}
	state->epochs[source] += (uint64_t)gap + event->source->steps;
	state->steps[source] += event->source->steps;
	return gap;
}

void pxt_state_end(struct pxt_state *state)
{
	for (unsigned i = 0; i < state->reader->count; i++)
		if (pxt_source_lost_rest(state->reader->sources[i]) > 0)
			state->epochs[i]++;
}

/* Another program in the same process, in which its thread has done nothing yet. */
static bool begins_anew(const struct pxt_event *event)
{
	return event->info.posix_event_id == POSIX_TRACE_PROCESS_NP &&
	       pxt_key_number(event, 0) == POSIX_TRACE_PROCESS_TRACED_NP;
}

/* The thread's own event: it is alive, here, and so far in its program. */
static void refresh(struct pxt_state *state, struct pxt_actor *actor, const struct pxt_event *event,
    unsigned source)
{
	if (actor->epoch != state->epochs[source] || begins_anew(event)) {
		actor->epoch = state->epochs[source];
		actor->wait = NULL;
		actor->hold_count = 0;
		actor->function_count = actor->functions_deeper = 0;
		actor->blocked = false;
	}
	actor->blocked = false;
	actor->in_call = false;
	pxt_threads_list_out(state, actor);
	if (event->extra.posix_cpu_np >= 0 && event->extra.posix_cpu_np < (int)PXT_STATE_CPUS_MAX)
		actor->cpu = event->extra.posix_cpu_np;
}

static void take_lock(
    struct pxt_state *state, const struct pxt_role *role, struct pxt_act *act, unsigned source)
{
	struct pxt_actor *actor = act->actor;
	int64_t tid;

	act->lock = pxt_locks_find(state, role, act->event, source);
	if (!act->lock)
		return;
	if (pxt_rolesystem_is_given(act->event, role))
		pxt_holders_judge(state, role, act);
	if (role->deed == PXT_LOCK_WAIT) {
		actor->wait = act->lock;
		actor->wait_mode = pxt_rolesystem_mode(state->book, act->event, role);
		actor->wait_ns = act->ns;
		if (pxt_number_of(act->event, role->fields[PXT_USE_HOLDER], &tid))
			pxt_holders_told(state, pxt_threads_told(state, act->event, source, tid),
			    act->lock, act->event);
	} else if (role->deed == PXT_LOCK_ACQUIRE) {
		if (!act->lock->is_given)
			pxt_holders_acquire(state, actor, act->lock, act->event,
			    pxt_rolesystem_shares(act->event, role));
	} else {
		pxt_holders_release(state, actor, act->lock, act);
	}
}

/* A thread that begins, ends, asks or takes does not wait any more. */
static void do_role(struct pxt_state *state, const struct pxt_role *role, struct pxt_act *act,
    unsigned source, struct pxt_open_span *ended)
{
	struct pxt_actor *actor = act->actor;
	bool means = pxt_rolesystem_is(act->event, role);

	if (!means && (role->deed == PXT_WAKE || role->deed == PXT_THREAD))
		return;
	if (role->deed == PXT_SWITCH) {
		pxt_sched_switch(state, role, act, source);
		return;
	}
	if (role->deed == PXT_WAKE) {
		pxt_sched_wake(state, role, act, source);
		return;
	}
	if (role->deed == PXT_THREAD) {
		pxt_sched_thread(state, role, act, source);
		return;
	}
	/* A lock that was not had after all: the wait is over. */
	if (!means) {
		if (actor)
			actor->wait = NULL;
		return;
	}
	if (role->deed == PXT_JOB_RELEASE)
		pxt_spans_release(state, role, act);
	if (!actor || role->deed == PXT_JOB_RELEASE || role->deed == PXT_DEADLINE_MISS)
		return;
	actor->wait = NULL;
	if (role->deed == PXT_JOB_START)
		pxt_spans_begin(state, act);
	else if (role->deed == PXT_JOB_END)
		pxt_spans_end(state, act, ended);
	else if (role->deed == PXT_BLOCK) {
		actor->blocked = true;
		actor->blocked_on = pxt_key_of(act->event, role);
		actor->in_call = pxt_id_is_specific(act->event->info.posix_event_id);
		actor->blocked_ns = act->ns;
		actor->blocked_name = pxt_rolesystem_name(state->book, act->event, role);
	} else {
		take_lock(state, role, act, source);
	}
}

/* What the kernel traced is no event of the thread that is in it. */
static bool is_own(const struct pxt_type_roles *roles)
{
	if (roles->of_kernel)
		return false;
	for (unsigned i = 0; i < roles->count; i++)
		if (roles->list[i].deed == PXT_SWITCH ||
		    (roles->list[i].deed == PXT_WAKE && roles->list[i].fields[PXT_USE_THREAD]))
			return false;
	return true;
}

/* Of an event about a process that tells of a thread by its number. */
static struct pxt_actor *numbered(
    struct pxt_state *state, const struct pxt_event *event, unsigned source)
{
	uint64_t what = pxt_key_number(event, 0);
	uint32_t number = (uint32_t)pxt_key_number(event, 1);

	if (what != POSIX_TRACE_PROCESS_HOLDS_NP && what != POSIX_TRACE_PROCESS_TAKEN_NP)
		return NULL;
	return number ? pxt_threads_told(state, event, source, number) : NULL;
}

void pxt_state_take(struct pxt_state *state, const struct pxt_event *event, unsigned source)
{
	const struct pxt_type_roles *roles = pxt_roles_of(state->book, event, source);
	struct pxt_actor *actor = NULL;
	struct pxt_open_span ended;

	pxt_places_take(state->book->places, event);
	if (event->info.posix_event_id == POSIX_TRACE_PROCESS_NP)
		pxt_locks_process(state, event, source, numbered(state, event, source));
	if (is_own(roles) && (event->info.posix_event_id > POSIX_TRACE_UNNAMED_USEREVENT ||
	                         pxt_id_is_specific(event->info.posix_event_id)))
		actor = pxt_threads_of(state, source, event->thread);
	state->latest = actor;
	if (actor) {
		pxt_threads_number(state, actor, event);
		refresh(state, actor, event, source);
		pxt_spans_function(actor, event);
	}
	for (unsigned i = 0; i < roles->count; i++) {
		if (!pxt_rolesystem_applies(event, &roles->list[i]))
			continue;
		struct pxt_act act = { .deed = roles->list[i].deed,
			.event = event,
			.ns = event->ns,
			.actor = actor,
			.role = &roles->list[i],
			.cpu = event->extra.posix_cpu_np };

		do_role(state, act.role, &act, source, &ended);
		state->lookers.act(state->lookers.self, &act);
	}
	if (roles->count == 0 && actor) {
		struct pxt_act act = {
			.deed = PXT_DEEDS, .event = event, .ns = event->ns, .actor = actor
		};

		state->lookers.act(state->lookers.self, &act);
	}
	if (actor && actor->cpu >= 0 && (actor->span_count > 0 || actor->hold_count > 0))
		pxt_threads_list_in(state, actor, actor->cpu);
}
