/* SPDX-License-Identifier: MIT */
/* late.c - which spans are late: the first pass; see late.h. */
#include "tools/why/late.h"

#include "tools/output/out.h"

#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

/* ---- Lists ---- */

/* Keeps the highest ranks; of equal ones, what came first. */
void pxt_late_keep(struct pxt_late_list *list, const struct pxt_late *late)
{
	unsigned at = list->count;

	list->all++;
	while (at > 0 && list->list[at - 1].rank < late->rank)
		at--;
	if (at == PXT_LATE_MAX)
		return;
	if (list->count < PXT_LATE_MAX)
		list->count++;
	memmove(list->list + at + 1, list->list + at, (list->count - 1 - at) * sizeof *list->list);
	list->list[at] = *late;
}

/* ---- What was asked for ---- */

static bool name_wanted(const struct pxt_late_search *search, uint32_t name)
{
	for (unsigned i = 0; i < search->select->event_count; i++)
		if (name != PXT_NO_NAME &&
		    fnmatch(search->select->events[i], search->state->book->names[name], 0) == 0)
			return true;
	return search->select->event_count == 0;
}

/* Of the event that @act is about: the condition of --where. */
static bool fulfils(const struct pxt_late_search *search, const struct pxt_act *act)
{
	return !search->select->where ||
	       pxt_where_true(search->select->where, act->event, search->reader->start_ns);
}

static bool wanted(const struct pxt_late_search *search, const struct pxt_act *act,
    const struct pxt_open_span *span)
{
	const struct pxt_event *event = act->event;

	return event->thread->selected &&
	       (event->type->selected || span->selected || name_wanted(search, span->name)) &&
	       (search->select->pid_count == 0 ||
	           pxt_select_pids(search->select, event->info.posix_pid) != 0) &&
	       pxt_select_time(search->select, act->ns, search->reader->start_ns) == 0 &&
	       (span->fulfils || fulfils(search, act));
}

static bool narrowed(const struct pxt_late_search *search)
{
	return search->select->event_count > 0 || search->select->thread_count > 0 ||
	       search->select->where;
}

static bool at_that_time(const struct pxt_late_search *search, const struct pxt_late *late)
{
	int64_t at = search->at.ns + (search->at.absolute ? 0 : search->reader->start_ns);

	return late->release_ns <= at && at <= late->end_ns;
}

/* ---- Spans ---- */

static struct pxt_late late_of(
    const struct pxt_actor *actor, const struct pxt_open_span *span, int64_t end_ns)
{
	struct pxt_late late = { .actor = actor->index,
		.name = span->name,
		.key = span->key,
		.release_ns = span->release_ns,
		.begin_ns = span->begin_ns,
		.end_ns = end_ns,
		.cpu = span->cpu,
		.missed = span->missed,
		.has_late = span->has_late,
		.late_ns = span->late_ns };

	late.rank = pxt_late_length(&late);
	return late;
}

/* In place of what is there of it, if it is; it is counted once. */
static void keep_again(struct pxt_late_list *list, const struct pxt_late *late)
{
	for (unsigned i = 0; i < list->count; i++) {
		if (list->list[i].actor != late->actor || list->list[i].name != late->name ||
		    list->list[i].begin_ns != late->begin_ns)
			continue;
		list->count--;
		memmove(list->list + i, list->list + i + 1, (list->count - i) * sizeof *late);
		break;
	}
	list->all--;
	pxt_late_keep(list, late);
}

static struct pxt_late_chain *chain_of(struct pxt_late_search *search, uint32_t actor)
{
	search->chains =
	    pxt_must_reach(search->chains, &search->chain_room, actor, sizeof *search->chains);
	return &search->chains[actor];
}

/*
 * What was released before the miss before it had ended is late because of that one: it is explained there.
 */
static void add_miss(struct pxt_late_search *search, struct pxt_late *late)
{
	struct pxt_late_chain *chain = chain_of(search, late->actor);

	if (late->has_late && late->late_ns >= 0)
		late->rank = (uint64_t)late->late_ns;
	if (chain->is_on && chain->head.name == late->name && late->release_ns < late->begin_ns &&
	    late->release_ns < chain->end_ns && late->begin_ns >= chain->end_ns) {
		chain->head.followers++;
		if (late->has_late && late->late_ns > chain->head.worst_ns)
			chain->head.worst_ns = late->late_ns;
		if (late->rank > chain->head.rank)
			chain->head.rank = late->rank;
		search->misses.all++;
		keep_again(&search->misses, &chain->head);
	} else {
		chain->head = *late;
		chain->is_on = true;
		pxt_late_keep(&search->misses, late);
	}
	chain->end_ns = late->end_ns;
}

/* What the user says of spans of that name, or of all outermost ones of the thread. */
static void demand(struct pxt_late_search *search, struct pxt_late *late,
    const struct pxt_actor *actor, bool outermost)
{
	struct pxt_limits *limits = &search->limits;
	const struct pxt_limit *limit = NULL;
	int64_t length = late->end_ns - late->release_ns;

	if (late->name != PXT_NO_NAME)
		limit = pxt_limits_of(limits, search->state->book->names[late->name]);
	if (!limit && outermost)
		limit = pxt_limits_of(limits, actor->raw);
	if (!limit || length <= limit->ns)
		return;
	late->missed = late->has_late = true;
	late->late_ns = length - limit->ns;
	late->usual_ns = limit->ns;
	late->measure = limit->is_period ? PXT_MEASURE_PERIOD : PXT_MEASURE_DEADLINE;
}

static void add_span(struct pxt_late_search *search, struct pxt_late *late, bool outermost)
{
	if (search->at.set) {
		if (at_that_time(search, late) && (outermost || search->select->event_count > 0))
			pxt_late_keep(&search->found, late);
	} else if (search->has_limit && pxt_late_length(late) > (uint64_t)search->limit_ns) {
		pxt_late_keep(&search->found, late);
	}
}

/* Less the time in which its thread was still at the one before: that is explained there. */
static uint64_t own_length(struct pxt_late_search *search, const struct pxt_late *late)
{
	struct pxt_late_chain *chain = chain_of(search, late->actor);
	bool follows = chain->latest == late->name && late->release_ns < chain->latest_ns &&
	               chain->latest_ns <= late->begin_ns;
	int64_t from_ns = follows ? chain->latest_ns : late->release_ns;

	chain->latest = late->name;
	chain->latest_ns = late->end_ns;
	return late->end_ns > from_ns ? (uint64_t)(late->end_ns - from_ns) : 0;
}

static void measure(struct pxt_late_search *search, const struct pxt_late *measured)
{
	struct pxt_late copy = *measured;
	struct pxt_late *late = &copy;

	if (late->name >= PXT_LATE_NAMES_MAX) {
		search->beyond++;
		return;
	}
	struct pxt_late_name **name = &search->names[late->name];
	if (!*name)
		*name = pxt_must(calloc(1, sizeof **name));
	late->rank = own_length(search, late);
	pxt_series_add(&(*name)->series, late->rank);
	pxt_late_keep(&(*name)->longest, late);
}

static void ended(struct pxt_late_search *search, const struct pxt_act *act)
{
	struct pxt_late late = late_of(act->actor, act->span, act->ns);

	late.has_ran = act->span->has_ran;
	late.ran_ns = act->span->ran_ns;
	if (!wanted(search, act, act->span))
		return;
	if (!pxt_span_measured(search->state, act->actor, act->span)) {
		search->unjudged++;
		return;
	}
	search->spans++;
	demand(search, &late, act->actor, act->outermost);
	measure(search, &late);
	add_span(search, &late, act->outermost);
	if (late.missed)
		add_miss(search, &late);
}

static struct pxt_actor *who_missed(struct pxt_late_search *search, const struct pxt_act *act)
{
	const struct pxt_layout *field = act->role->fields[PXT_USE_THREAD];
	int64_t tid;

	if (!pxt_number_of(act->event, field, &tid))
		return act->actor;
	return pxt_state_thread(search->state, act->event, tid);
}

static void missed(struct pxt_late_search *search, const struct pxt_act *act)
{
	struct pxt_key key = pxt_key_of(act->event, act->role);
	struct pxt_actor *actor = who_missed(search, act);
	struct pxt_open_span *span = NULL;
	struct pxt_open_span none = { .name = act->role->name,
		.key = key,
		.begin_ns = act->ns,
		.release_ns = act->ns,
		.cpu = -1 };
	int64_t end_ns = act->ns;
	bool is_open = false;

	if (!actor)
		return;
	span = pxt_actor_span(search->state, actor, act->role->name, &key, &end_ns, &is_open);
	if (!wanted(search, act, span ? span : &none))
		return;
	struct pxt_open_span *mine = span ? span : &none;
	mine->missed = true;
	mine->has_late = pxt_state_time(
	    search->state, act->event, act->role->fields[PXT_USE_TIME], &mine->late_ns);
	if (span && is_open)
		return;
	struct pxt_late late = late_of(actor, mine, end_ns);
	late.no_begin = !span;
	add_miss(search, &late);
}

/* ---- Waits ---- */

/* Of times off the CPU the scheduler tells: its event is that of another thread. */
static bool thread_wanted(const struct pxt_select *select, const struct pxt_actor *actor)
{
	struct pxt_thread thread = { .tid = actor->tid, .recorded = true };

	memcpy(thread.name, actor->raw, sizeof actor->raw);
	return actor->selected || pxt_select_thread(select, &thread);
}

bool pxt_late_is_selected(const void *self, const struct pxt_actor *actor)
{
	const struct pxt_select *select = self;

	return actor->own && !pxt_actor_is_helper(actor) && thread_wanted(select, actor) &&
	       (select->pid_count == 0 ||
	           pxt_select_pids((struct pxt_select *)(uintptr_t)select, actor->pid) != 0);
}

static void wait_begun(void *self, struct pxt_wait *wait, const struct pxt_act *act)
{
	const struct pxt_late_search *search = self;

	wait->wanted =
	    (wait->lock || !pxt_actor_is_helper(wait->actor)) &&
	    thread_wanted(search->select, wait->actor) &&
	    (search->select->pid_count == 0 ||
	        pxt_select_pids(search->select, act->event->info.posix_pid) != 0) &&
	    (act->event->type->selected || (wait->lock && name_wanted(search, wait->lock->name))) &&
	    fulfils(search, act);
}

static void wait_ended(void *self, const struct pxt_wait *wait, const struct pxt_act *act)
{
	struct pxt_late_search *search = self;
	struct pxt_late late = { .kind = wait->lock ? PXT_LATE_WAIT : PXT_LATE_OFF,
		.actor = wait->actor->index,
		.name = wait->lock ? wait->lock->name : PXT_NO_NAME,
		.release_ns = wait->since_ns,
		.begin_ns = wait->since_ns,
		.end_ns = act ? act->ns : search->last_ns,
		.cpu = wait->cpu,
		.mode = wait->mode,
		.unfinished = !act };

	late.rank = pxt_late_length(&late);
	if (wait->lock) {
		late.key = wait->lock->key;
		late.lock = wait->lock;
		wait->lock->waits++;
		wait->lock->waits_ns += (int64_t)late.rank;
	}
	if (!wait->wanted || (search->at.set && !at_that_time(search, &late)) ||
	    (search->has_limit && late.rank <= (uint64_t)search->limit_ns) ||
	    pxt_select_time(search->select, late.end_ns, search->reader->start_ns) != 0)
		return;
	pxt_late_keep(wait->lock ? &search->waits : &search->off_cpu, &late);
}

/* ---- Events ---- */

static void look(void *self, const struct pxt_act *act)
{
	struct pxt_late_search *search = self;

	pxt_waits_look(&search->waiting, act);
	pxt_rounds_look(&search->rounds, act);
	if (act->deed == PXT_JOB_START && act->span) {
		act->span->selected = act->event->type->selected;
		act->span->fulfils = fulfils(self, act);
	}
	if (act->deed == PXT_JOB_END && act->span)
		ended(self, act);
	if (act->deed == PXT_DEADLINE_MISS)
		missed(self, act);
}

/* Spans that are open at the end: late ones, and those that were asked for. */
static void take_open(struct pxt_late_search *search, const struct pxt_actor *actor)
{
	for (unsigned i = 0; i < actor->span_count; i++) {
		struct pxt_open_span *span = &actor->spans[i];
		struct pxt_late late = late_of(actor, span, search->last_ns);

		late.unfinished = true;
		if ((!span->selected && !name_wanted(search, span->name)) || !span->fulfils ||
		    span->epoch != search->state->epochs[actor->source])
			continue;
		demand(search, &late, actor, i == 0);
		add_span(search, &late, i == 0);
		if (late.missed)
			add_miss(search, &late);
		else if (narrowed(search) && actor->selected)
			measure(search, &late);
	}
}

/* What outlives the state. */
static void note_lock(struct pxt_late *late)
{
	const struct pxt_state_lock *lock = late->lock;

	late->of_system = lock->of_system;
	late->self = lock->self;
	late->first = lock->first;
	late->waits = lock->waits;
	late->waits_ns = lock->waits_ns;
	late->lock = NULL;
}

void pxt_late_begin(
    struct pxt_late_search *search, const struct pxt_reader *reader, struct pxt_roles_book *book)
{
	struct pxt_state *state = pxt_state_new(book, reader);

	search->reader = reader;
	search->state = state;
	search->rounds.state = state;
	search->rounds.limits = &search->limits;
	state->lookers = (struct pxt_lookers){ .self = search, .act = look };
	search->waiting = (struct pxt_waits){
		.state = state, .self = search, .begun = wait_begun, .ended = wait_ended
	};
}

bool pxt_late_take(struct pxt_late_search *search, const struct pxt_event *event)
{
	struct pxt_state *state = search->state;
	unsigned source = pxt_state_source(state, event);
	uint64_t lost;

	(void)pxt_state_gap(state, event, source, &lost);
	pxt_state_take(state, event, source);
	if (pxt_select_time(search->select, event->ns, search->reader->start_ns) == 0)
		pxt_rounds_take(&search->rounds, event, source);
	search->last_ns = event->ns;
	return !state->book->failed;
}

bool pxt_late_end(struct pxt_late_search *search)
{
	struct pxt_state *state = search->state;
	bool failed = state->book->failed;

	for (uint32_t i = 0; i < state->actor_count; i++)
		take_open(search, state->actors[i]);
	pxt_state_end(state);
	pxt_waits_close(&search->waiting);
	pxt_choose(search);
	for (unsigned i = 0; i < search->waits.count; i++)
		note_lock(&search->waits.list[i]);
	search->beyond += state->beyond + search->rounds.beyond;
	search->impossible = state->impossible;
	search->impossible_ns = state->impossible_ns;
	search->impossible_field = state->impossible_field;
	pxt_waits_free(&search->waiting);
	pxt_rounds_free(&search->rounds);
	pxt_state_free(state);
	search->state = NULL;
	return !failed;
}

bool pxt_late_search(
    struct pxt_late_search *search, struct pxt_reader *reader, struct pxt_roles_book *book)
{
	struct pxt_progress progress;
	struct pxt_event *event;
	bool goes_on = !book->failed;

	pxt_late_begin(search, reader, book);
	pxt_progress_reader(&progress, "searching", reader, false);
	while (goes_on && (event = pxt_reader_next(reader)) != NULL) {
		pxt_progress_step(&progress);
		goes_on = pxt_late_take(search, event);
	}
	pxt_progress_end(&progress);
	return pxt_late_end(search);
}

const struct pxt_late_list *pxt_late_result(const struct pxt_late_search *search)
{
	if (search->mode == PXT_LATE_ROUNDS)
		return &search->late_rounds;
	if (search->mode == PXT_LATE_WAITS)
		return &search->waits;
	if (search->mode == PXT_LATE_OFF_CPU)
		return &search->off_cpu;
	return search->mode == PXT_LATE_MISSES ? &search->misses : &search->found;
}

uint64_t pxt_late_median(struct pxt_late_search *search, uint32_t name, uint64_t *count)
{
	bool exact;

	*count = 0;
	if (name >= PXT_LATE_NAMES_MAX || !search->names[name])
		return 0;
	*count = search->names[name]->series.count;
	return pxt_series_quantile(&search->names[name]->series, 500, &exact);
}

void pxt_late_free(struct pxt_late_search *search)
{
	for (uint32_t i = 0; i < PXT_LATE_NAMES_MAX; i++) {
		if (search->names[i])
			pxt_series_free(&search->names[i]->series);
		free(search->names[i]);
	}
	free(search->all_rounds);
	free(search->kinds);
	free(search->usual_ends);
	free(search->chains);
}
