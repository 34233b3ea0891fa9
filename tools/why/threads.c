/* SPDX-License-Identifier: MIT */
/* threads.c - the threads of all logs, and which of them had events on which CPU. */
#include "tools/why/state_parts.h"

#include "tools/output/out.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <trace_hooks_np.h>

#define TABLE ((size_t)2 * PXT_ACTORS_MAX)

void pxt_threads_list_out(struct pxt_state *state, struct pxt_actor *actor)
{
	if (actor->listed < 0)
		return;
	if (actor->newer)
		actor->newer->older = actor->older;
	else
		state->cpus[actor->listed].newest = actor->older;
	if (actor->older)
		actor->older->newer = actor->newer;
	actor->newer = actor->older = NULL;
	actor->listed = -1;
}

void pxt_threads_list_in(struct pxt_state *state, struct pxt_actor *actor, int cpu)
{
	struct pxt_state_cpu *on = &state->cpus[cpu];

	actor->older = on->newest;
	if (actor->older)
		actor->older->newer = actor;
	on->newest = actor;
	actor->listed = cpu;
}

static struct pxt_actor *new_actor(struct pxt_state *state, unsigned source)
{
	if (state->actor_count == PXT_ACTORS_MAX) {
		state->beyond++;
		return NULL;
	}
	struct pxt_actor *actor = pxt_must(calloc(1, sizeof *actor));

	actor->index = state->actor_count;
	actor->source = source;
	actor->host = state->hosts[source];
	actor->cpu = actor->listed = -1;
	state->actors[state->actor_count++] = actor;
	return actor;
}

/* The place of a thread of the system in the table: taken, or where it would be. */
static uint32_t *tid_place(const struct pxt_state *state, unsigned source, int64_t tid)
{
	unsigned host = state->hosts[source];
	uint32_t at = pxt_state_mix((uint64_t)tid, host + 1u) % TABLE;

	while (state->by_tid[at] != 0) {
		const struct pxt_actor *actor = state->actors[state->by_tid[at] - 1];

		if (actor->tid == tid && actor->host == host)
			break;
		at = (at + 1) % TABLE;
	}
	return &state->by_tid[at];
}

/* ---- Numbers in a log's table ---- */

struct number {
	pid_t tid;
	uint32_t entry;
};

struct pxt_numbers {
	/* Threads with a name, by their numbers, then in the table's order; ... */
	struct number *of;
	uint32_t count;
	bool is_read; /* ... before that, nothing */
};

static int by_tid(const void *a, const void *b)
{
	const struct number *x = a;
	const struct number *y = b;

	if (x->tid != y->tid)
		return x->tid < y->tid ? -1 : 1;
	return (x->entry > y->entry) - (x->entry < y->entry);
}

/* Read once: a run of many processes asks for each of them. */
static void read_numbers(struct pxt_numbers *numbers, const struct pxt_source *log)
{
	uint32_t threads = log->info.posix_threads_np;
	uint32_t room = threads < PXT_ACTORS_MAX ? threads : PXT_ACTORS_MAX;
	struct posix_trace_logthread_np entry;

	numbers->is_read = true;
	numbers->of = pxt_must(calloc((size_t)room + 1, sizeof *numbers->of));
	for (uint32_t i = 0; i < room; i++) {
		if (posix_trace_log_getthread_np(log->trid, i, &entry, sizeof entry) != 0)
			break;
		if (entry.posix_tid_np <= 0 || entry.posix_name_np[0] == '\0')
			continue;
		numbers->of[numbers->count].tid = entry.posix_tid_np;
		numbers->of[numbers->count++].entry = i;
	}
	qsort(numbers->of, numbers->count, sizeof *numbers->of, by_tid);
}

struct pxt_numbers *pxt_threads_new(unsigned sources)
{
	return pxt_must(calloc(sources, sizeof(struct pxt_numbers)));
}

void pxt_threads_forget(struct pxt_state *state)
{
	/* The reader may be closed. */
	for (unsigned i = 0; i < state->sources; i++)
		free(state->numbers[i].of);
	free(state->numbers);
}

/* A thread that only the scheduler has named so far may be in the log's table. */
static void name_by_table(struct pxt_state *state, struct pxt_actor *actor, unsigned source)
{
	const struct pxt_source *log = state->reader->sources[source];
	struct pxt_numbers *numbers = &state->numbers[source];
	struct posix_trace_logthread_np entry;
	uint32_t low = 0;
	uint32_t high;

	(void)snprintf(actor->name, sizeof actor->name, "thread %ld", (long)actor->tid);
	if (!numbers->is_read)
		read_numbers(numbers, log);
	high = numbers->count;
	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if (numbers->of[middle].tid < actor->tid)
			low = middle + 1;
		else
			high = middle;
	}
	if (low == numbers->count || numbers->of[low].tid != actor->tid ||
	    posix_trace_log_getthread_np(log->trid, numbers->of[low].entry, &entry, sizeof entry) !=
	        0)
		return;
	memcpy(actor->raw, entry.posix_name_np, sizeof entry.posix_name_np);
	(void)pxt_escape(actor->raw, strlen(actor->raw), actor->name, sizeof actor->name, NULL);
}

struct pxt_actor *pxt_threads_tid(struct pxt_state *state, unsigned source, int64_t tid)
{
	if (tid <= 0 || tid > INT32_MAX)
		return NULL;
	uint32_t *place = tid_place(state, source, tid);
	if (*place == 0) {
		struct pxt_actor *actor = new_actor(state, source);

		if (!actor)
			return NULL;
		actor->tid = (pid_t)tid;
		name_by_table(state, actor, source);
		*place = actor->index + 1;
	}
	return state->actors[*place - 1];
}

void pxt_threads_begin(struct pxt_state *state, unsigned source, int64_t tid)
{
	uint32_t *place;
	struct pxt_actor *actor;

	if (tid <= 0 || tid > INT32_MAX)
		return;
	place = tid_place(state, source, tid);
	if (*place == 0 || state->actors[*place - 1]->id == 0)
		return;
	actor = new_actor(state, source);
	if (!actor)
		return;
	actor->tid = (pid_t)tid;
	name_by_table(state, actor, source);
	*place = actor->index + 1;
}

struct pxt_actor *pxt_threads_others(struct pxt_state *state, unsigned source)
{
	if (!state->others)
		state->others = new_actor(state, source);
	if (!state->others)
		return NULL;
	state->others->tid = -1;
	(void)snprintf(state->others->name, sizeof state->others->name, "others");
	return state->others;
}

struct pxt_actor *pxt_state_met(
    const struct pxt_state *state, const struct pxt_event *event, int64_t tid)
{
	uint32_t at = *tid_place(state, pxt_state_source(state, event), tid);

	return at ? state->actors[at - 1] : NULL;
}

/* ---- Numbers in a pid namespace of a process' own ---- */

/* Taken, or where it would be. */
static struct pxt_numbered *numbered_place(
    const struct pxt_state *state, unsigned host, pid_t pid, uint32_t number)
{
	uint32_t at = pxt_state_mix((uint64_t)pid << 32 | number, host + 1u) % TABLE;
	struct pxt_numbered *place = &state->by_number[at];

	while (place->actor != 0 && (place->pid != pid || place->number != number ||
	                                state->actors[place->actor - 1]->host != host)) {
		at = (at + 1) % TABLE;
		place = &state->by_number[at];
	}
	return place;
}

static bool has_numbers(const struct pxt_state *state, unsigned host, pid_t pid)
{
	return state->by_number && numbered_place(state, host, pid, 0)->actor != 0;
}

/* Half of the places stay free, whatever a log says; numbers beyond them are not known. */
static void put_numbered(struct pxt_state *state, unsigned host, const struct pxt_numbered *own)
{
	struct pxt_numbered *place = numbered_place(state, host, own->pid, own->number);

	if (place->actor == 0) {
		if (state->number_count == TABLE / 2)
			return;
		state->number_count++;
	}
	*place = *own;
}

/* A process that numbers one of its threads otherwise than the machine does so with all. */
void pxt_threads_number(
    struct pxt_state *state, const struct pxt_actor *actor, const struct pxt_event *event)
{
	struct pxt_numbered own = { .pid = actor->pid, .actor = actor->index + 1 };

	if (event->info.posix_event_id != POSIX_TRACE_PROCESS_NP ||
	    pxt_key_number(event, 0) != POSIX_TRACE_PROCESS_THREAD_BEGIN_NP || actor->pid <= 0)
		return;
	own.number = (uint32_t)pxt_key_number(event, 1);
	if (own.number == 0 || own.number == (uint32_t)actor->tid)
		return;
	if (!state->by_number)
		state->by_number = pxt_must(calloc(TABLE, sizeof *state->by_number));
	put_numbered(state, actor->host, &own);
	own.number = 0;
	put_numbered(state, actor->host, &own);
}

struct pxt_actor *pxt_state_numbered(
    const struct pxt_state *state, const struct pxt_event *event, int64_t number)
{
	unsigned host = state->hosts[pxt_state_source(state, event)];
	struct pxt_actor *met = pxt_state_met(state, event, number);
	pid_t pid = event->thread->pid;
	const struct pxt_numbered *place;

	if (number <= 0 || number > INT32_MAX || !has_numbers(state, host, pid))
		return met;
	place = numbered_place(state, host, pid, (uint32_t)number);
	if (place->actor != 0)
		return state->actors[place->actor - 1];
	return met && met->pid == pid ? met : NULL;
}

struct pxt_actor *pxt_threads_told(
    struct pxt_state *state, const struct pxt_event *event, unsigned source, int64_t number)
{
	if (has_numbers(state, state->hosts[source], event->thread->pid))
		return pxt_state_numbered(state, event, number);
	return pxt_threads_tid(state, source, number);
}

struct pxt_actor *pxt_state_thread(
    struct pxt_state *state, const struct pxt_event *event, int64_t tid)
{
	return pxt_threads_told(state, event, pxt_state_source(state, event), tid);
}

void pxt_threads_name(struct pxt_actor *actor, struct pxt_key text)
{
	if (!text.is_set || !*text.label)
		return;
	(void)snprintf(actor->name, sizeof actor->name, "%s", text.label);
	(void)snprintf(actor->raw, sizeof actor->raw, "%s", text.label);
}

#define RENAMES_MAX (UINT32_C(1) << 20)

void pxt_threads_rename(struct pxt_state *state, struct pxt_actor *actor,
    const struct pxt_role *role, const struct pxt_event *event)
{
	struct pxt_key former = pxt_key_in(event, role->fields[PXT_USE_FROM_NAME]);
	struct pxt_key name = pxt_key_in(event, role->fields[PXT_USE_TO_NAME]);
	struct pxt_rename *rename;

	if (!actor || !name.is_set || !*name.label)
		return;
	if (state->rename_count == RENAMES_MAX) {
		state->beyond++;
		return;
	}
	state->renames = pxt_must_grow(
	    state->renames, &state->rename_room, state->rename_count, sizeof *state->renames);
	rename = &state->renames[state->rename_count++];
	*rename = (struct pxt_rename){ .actor = actor->index, .ns = event->ns };
	/* The log's table has the last name: what there was before is what the kernel says. */
	(void)snprintf(rename->former, sizeof rename->former, "%s",
	    former.is_set && (!*actor->raw || strcmp(actor->raw, name.label) == 0) ? former.label
	                                                                           : actor->raw);
	pxt_threads_name(actor, name);
	memcpy(rename->name, actor->raw, sizeof rename->name);
}

static void name_actor(struct pxt_actor *actor, const struct pxt_thread *thread)
{
	actor->id = thread->id;
	actor->own = true;
	actor->key = pxt_thread_key(thread);
	actor->selected = thread->selected;
	memcpy(actor->raw, thread->name, sizeof actor->raw);
	actor->raw[sizeof actor->raw - 1] = '\0';
	if (*thread->name)
		(void)pxt_escape(
		    thread->name, strlen(thread->name), actor->name, sizeof actor->name, NULL);
	else
		(void)snprintf(actor->name, sizeof actor->name, "%s", thread->label);
}

/* A thread that was renamed may be wanted by either name. */
static struct pxt_actor *with_selected(struct pxt_actor *actor, const struct pxt_thread *thread)
{
	actor->selected = actor->selected || thread->selected;
	return actor;
}

struct pxt_actor *pxt_threads_of(
    struct pxt_state *state, unsigned source, const struct pxt_thread *thread)
{
	uint32_t at = pxt_state_mix(thread->id, source + 1u) % TABLE;

	if (!thread->recorded || thread->index == PXT_INDEX_NONE)
		return NULL;
	while (state->by_id[at] != 0) {
		struct pxt_actor *actor = state->actors[state->by_id[at] - 1];

		/* A pthread_t is used again when its thread has ended; then the key is another one. */
		if (actor->id == thread->id && actor->key == pxt_thread_key(thread) &&
		    actor->source == source)
			return with_selected(actor, thread);
		at = (at + 1) % TABLE;
	}
	struct pxt_actor *actor =
	    thread->tid > 0 ? pxt_threads_tid(state, source, thread->tid) : NULL;
	/* The system uses the numbers of dead threads again. */
	if (!actor || actor->id != 0)
		actor = new_actor(state, source);
	if (!actor)
		return NULL;
	actor->tid = thread->tid;
	actor->pid = thread->pid;
	/* One that the scheduler of another log named first belongs to the log of its own events. */
	actor->source = source;
	name_actor(actor, thread);
	state->by_id[at] = actor->index + 1;
	if (actor->tid > 0)
		*tid_place(state, source, actor->tid) = actor->index + 1;
	return actor;
}

/* ---- Namesakes ---- */

static int by_name(const void *a, const void *b)
{
	const struct pxt_actor *x = *(const struct pxt_actor *const *)a;
	const struct pxt_actor *y = *(const struct pxt_actor *const *)b;
	int order = strcmp(x->name, y->name);

	return order != 0 ? order : (x->index > y->index) - (x->index < y->index);
}

static void add_number(struct pxt_actor *actor)
{
	char text[16];
	int bytes = snprintf(text, sizeof text, "/%ld", (long)actor->tid);
	size_t used = strlen(actor->name);

	if (actor->tid > 0 && bytes > 0 && used + (size_t)bytes < sizeof actor->name)
		memcpy(actor->name + used, text, (size_t)bytes + 1);
}

static void tell_apart(struct pxt_state *state)
{
	struct pxt_actor **sorted =
	    pxt_must(calloc((size_t)state->actor_count + 1, sizeof(struct pxt_actor *)));
	uint32_t count = 0;
	uint32_t next;

	for (uint32_t i = 0; i < state->actor_count; i++)
		if (state->actors[i]->own && *state->actors[i]->raw)
			sorted[count++] = state->actors[i];
	qsort(sorted, count, sizeof(struct pxt_actor *), by_name);
	for (uint32_t i = 0; i < count; i = next) {
		next = i + 1;
		while (next < count && strcmp(sorted[i]->name, sorted[next]->name) == 0)
			next++;
		for (uint32_t k = i; k < next && next - i > 1; k++)
			/* The first one's name is compared with the others'. */
			add_number(sorted[next - 1 - (k - i)]);
	}
	free(sorted);
}

static void set_name(struct pxt_actor *actor, const char *name)
{
	if (!*name)
		return;
	memmove(actor->raw, name, strlen(name) + 1);
	(void)pxt_escape(name, strlen(name), actor->name, sizeof actor->name, NULL);
}

void pxt_state_names_at(struct pxt_state *state, int64_t ns)
{
	for (uint32_t i = 0; i < state->actor_count; i++)
		set_name(state->actors[i], state->actors[i]->raw);
	/* Backwards: the name before the first one that came later. */
	for (uint32_t i = state->rename_count; i-- > 0;)
		if (state->renames[i].ns > ns)
			set_name(state->actors[state->renames[i].actor], state->renames[i].former);
	for (uint32_t i = 0; i < state->rename_count && state->renames[i].ns <= ns; i++)
		set_name(state->actors[state->renames[i].actor], state->renames[i].name);
	tell_apart(state);
}
