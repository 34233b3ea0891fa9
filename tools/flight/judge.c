/* SPDX-License-Identifier: MIT */
/*
 * judge.c - events of a log, one by one while it grows: is the condition met? What a round is, who has which
 * lock, and what a span is, the parts of `pxtrace why` say; see flight.h.
 */
#include "tools/flight/flight.h"

#include "tools/event/event.h"
#include "tools/output/out.h"
#include "tools/select/select.h"
#include "tools/why/rounds.h"
#include "tools/why/waits.h"

#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>
#include <trace_hooks_np.h>

/* So long a thread's home is taken to be where it was found. */
#define HOME_NS INT64_C(200000000)

/* What one thread does, by its index. */
struct deed {
	const struct pxt_home *home; /* NULL: it has none, ... */
	int64_t home_ns;             /* ... as it was then; 0: nobody looked yet */
	int64_t ready_ns;            /* woken, and not running since; 0: it is not */
	int64_t call_ns;             /* in the call that is asked for, since; 0: it is not */
	int64_t told_ns;             /* what began then was met before it ended */
};

struct pxt_judge {
	const struct pxt_condition *condition;
	struct pxt_reader *reader;
	struct pxt_roles_book *book;
	struct pxt_state *state;
	struct pxt_rounds rounds;
	struct pxt_waits waits;
	struct deed *deeds;
	uint32_t deed_room;
	int64_t now_ns;
	void (*met)(void *self, const struct pxt_meeting *meeting);
	void *self;
};

static struct deed *deed_of(struct pxt_judge *judge, const struct pxt_actor *actor)
{
	judge->deeds =
	    pxt_must_reach(judge->deeds, &judge->deed_room, actor->index, sizeof *judge->deeds);
	return &judge->deeds[actor->index];
}

static bool is_named(const char *glob, const char *name)
{
	return *glob == '\0' || fnmatch(glob, name, 0) == 0;
}

static bool is_meant(const struct pxt_condition *condition, const struct pxt_actor *actor)
{
	struct pxt_thread thread = { .tid = actor->tid, .recorded = true };

	memcpy(thread.name, actor->raw, sizeof actor->raw);
	return !pxt_actor_is_helper(actor) &&
	       (*condition->name == '\0' || pxt_select_means(condition->name, &thread));
}

static void tell(struct pxt_judge *judge, const struct pxt_actor *actor, struct pxt_meeting meeting)
{
	if (actor) {
		meeting.tid = actor->tid;
		memcpy(meeting.who, actor->name, sizeof meeting.who);
	}
	judge->met(judge->self, &meeting);
}

/* Something took its time, and has ended now. */
static void tell_length(struct pxt_judge *judge, const struct pxt_actor *actor, int64_t begin_ns)
{
	int64_t length = judge->now_ns - begin_ns;

	if (length > judge->condition->limit_ns)
		tell(judge, actor,
		    (struct pxt_meeting){
		        .begin_ns = begin_ns, .end_ns = judge->now_ns, .over_ns = length });
}

/* ---- Rounds ---- */

struct one {
	uint32_t index;
};

static bool is_this(const void *self, const struct pxt_actor *actor)
{
	return ((const struct one *)self)->index == actor->index;
}

/* Where the thread waits between rounds, as far as that is known by now. */
static const struct pxt_home *home_of(struct pxt_judge *judge, const struct pxt_actor *actor)
{
	struct deed *deed = deed_of(judge, actor);
	const struct one one = { actor->index };
	const struct pxt_home **homes;

	if (deed->home_ns != 0 && judge->now_ns - deed->home_ns < HOME_NS)
		return deed->home;
	homes = pxt_rounds_homes(&judge->rounds, is_this, &one);
	deed->home = homes[actor->index];
	deed->home_ns = judge->now_ns;
	free(homes);
	return deed->home;
}

/* Most rounds end the first question. */
static void round_ended(
    void *self, const struct pxt_home *home, const struct pxt_round *round, bool is_wait)
{
	struct pxt_judge *judge = self;
	const struct pxt_actor *actor = judge->state->actors[home->actor];
	struct pxt_meeting meeting = {
		.begin_ns = round->begin_ns, .end_ns = round->end_ns, .is_wait = is_wait
	};

	if (round->end_ns - round->begin_ns <= judge->condition->limit_ns ||
	    !is_meant(judge->condition, actor) || home_of(judge, actor) != home ||
	    deed_of(judge, actor)->told_ns == round->begin_ns)
		return;
	meeting.over_ns = pxt_rounds_late_by(home, round, is_wait, &meeting.usual_ns);
	if (meeting.over_ns > judge->condition->limit_ns)
		tell(judge, actor, meeting);
}

/* ---- Waits ---- */

static void wait_begun(void *self, struct pxt_wait *wait, const struct pxt_act *act)
{
	(void)self;
	(void)act;
	wait->wanted = wait->kind == PXT_WAIT_LOCK;
}

/* By its kind (mutex), or by the variable that it is, which takes a look into the binary. */
static bool is_lock(const struct pxt_judge *judge, const struct pxt_state_lock *lock)
{
	const char *glob = judge->condition->name;
	const char *variable;

	if (*glob == '\0' ||
	    (lock->name != PXT_NO_NAME && is_named(glob, judge->book->names[lock->name])))
		return true;
	variable = pxt_places_variable(judge->book->places, &lock->self);
	return variable && is_named(glob, variable);
}

static void wait_ended(void *self, const struct pxt_wait *wait, const struct pxt_act *act)
{
	struct pxt_judge *judge = self;

	if (act && wait->wanted && deed_of(judge, wait->actor)->told_ns != wait->since_ns &&
	    judge->now_ns - wait->since_ns > judge->condition->limit_ns &&
	    is_lock(judge, wait->lock))
		tell_length(judge, wait->actor, wait->since_ns);
}

/* Whether the thread is in the call that is asked for, behind this event; false: the event says nothing of it. */
static bool says_call(const struct pxt_judge *judge, const struct pxt_event *event, bool *is_in)
{
	uint64_t asked = judge->condition->call;
	uint64_t call = PXT_CONDITION_COND;
	trace_event_id_t id = event->info.posix_event_id;

	if ((id == POSIX_TRACE_CALL_ENTER_NP || id == POSIX_TRACE_CALL_EXIT_NP) &&
	    event->type->field_count > 0)
		(void)pxt_field_key(event, &event->type->fields[0], &call);
	else if (id != POSIX_TRACE_COND_WAIT_NP && id != POSIX_TRACE_COND_RESUME_NP)
		return false;
	*is_in =
	    call == asked && (id == POSIX_TRACE_CALL_ENTER_NP || id == POSIX_TRACE_COND_WAIT_NP);
	return true;
}

static void take_call(struct pxt_judge *judge, const struct pxt_event *event)
{
	struct pxt_actor *actor = judge->state->latest;
	struct deed *deed;
	bool is_in;

	if (!actor || !says_call(judge, event, &is_in))
		return;
	deed = deed_of(judge, actor);
	if (!is_in && deed->call_ns != 0)
		tell_length(judge, actor, deed->call_ns);
	deed->call_ns = is_in ? event->ns : 0;
}

/* ---- Acts ---- */

static void take_wakeup(struct pxt_judge *judge, const struct pxt_act *act)
{
	struct deed *deed;

	if (act->deed == PXT_SWITCH && act->former)
		deed_of(judge, act->former)->ready_ns = 0;
	if (!act->actor)
		return;
	/* Second: the table may move when the other one gets its place. */
	deed = deed_of(judge, act->actor);
	if (act->deed == PXT_WAKE) {
		if (pxt_actor_running(judge->state, act->actor) == PXT_RUN_READY &&
		    deed->ready_ns == 0)
			deed->ready_ns = act->ns;
	} else if (act->deed == PXT_SWITCH && deed->ready_ns != 0) {
		int64_t since = deed->ready_ns;

		deed->ready_ns = 0;
		if (is_meant(judge->condition, act->actor))
			tell_length(judge, act->actor, since);
	}
}

static void look(void *self, const struct pxt_act *act)
{
	struct pxt_judge *judge = self;
	const struct pxt_condition *condition = judge->condition;

	if (condition->kind == PXT_CONDITION_LOCK)
		pxt_waits_look(&judge->waits, act);
	else if (condition->kind == PXT_CONDITION_WAKEUP)
		take_wakeup(judge, act);
	else if (condition->kind == PXT_CONDITION_SPAN && act->deed == PXT_JOB_END && act->span &&
	         act->span->name != PXT_NO_NAME &&
	         is_named(condition->name, judge->book->names[act->span->name]))
		tell_length(judge, act->actor, act->span->release_ns);
}

static void take_event(struct pxt_judge *judge, const struct pxt_event *event)
{
	struct pxt_meeting meeting = { .begin_ns = event->ns, .end_ns = event->ns };
	size_t bytes = event->thread->bytes;

	if (!is_named(judge->condition->name, event->type->name) ||
	    (judge->condition->where &&
	        !pxt_where_true(judge->condition->where, event, judge->reader->start_ns)))
		return;
	meeting.tid = event->thread->tid;
	memcpy(meeting.who, event->thread->label, bytes);
	judge->met(judge->self, &meeting);
}

/* ---- Life ---- */

struct pxt_judge *pxt_judge_new(const struct pxt_condition *condition, struct pxt_reader *reader,
    void (*met)(void *self, const struct pxt_meeting *meeting), void *self)
{
	struct pxt_judge *judge = pxt_must(calloc(1, sizeof *judge));

	judge->condition = condition;
	judge->reader = reader;
	judge->met = met;
	judge->self = self;
	judge->book = pxt_roles_new();
	pxt_roles_bind(judge->book, reader);
	judge->state = pxt_state_new(judge->book, reader);
	judge->state->lookers = (struct pxt_lookers){ .self = judge, .act = look };
	judge->rounds.state = judge->state;
	judge->rounds.ended = round_ended;
	judge->rounds.self = judge;
	judge->waits = (struct pxt_waits){
		.state = judge->state, .self = judge, .begun = wait_begun, .ended = wait_ended
	};
	return judge;
}

void pxt_judge_free(struct pxt_judge *judge)
{
	if (!judge)
		return;
	pxt_waits_free(&judge->waits);
	pxt_rounds_free(&judge->rounds);
	pxt_state_free(judge->state);
	pxt_roles_free(judge->book);
	free(judge->deeds);
	free(judge);
}

void pxt_judge_take(struct pxt_judge *judge, const struct pxt_event *event)
{
	uint64_t lost;

	judge->now_ns = event->ns;
	if (judge->condition->kind == PXT_CONDITION_EVENT) {
		take_event(judge, event);
		return;
	}
	unsigned source = pxt_state_source(judge->state, event);
	if (pxt_state_gap(judge->state, event, source, &lost) && judge->deed_room > 0)
		memset(judge->deeds, 0, judge->deed_room * sizeof *judge->deeds);
	pxt_state_take(judge->state, event, source);
	if (judge->condition->kind == PXT_CONDITION_LATE)
		pxt_rounds_take(&judge->rounds, event, source);
	else if (judge->condition->kind == PXT_CONDITION_CALL)
		take_call(judge, event);
}

void pxt_judge_forget(struct pxt_judge *judge)
{
	judge->state->epochs[0]++;
	if (judge->deed_room > 0)
		memset(judge->deeds, 0, judge->deed_room * sizeof *judge->deeds);
}

/* A wait is met as soon as it is too long; it is asked once what it is for. */
static void look_at_wait(struct pxt_judge *judge, const struct pxt_actor *actor)
{
	struct deed *deed = deed_of(judge, actor);

	if (deed->told_ns == actor->wait_ns ||
	    judge->now_ns - actor->wait_ns <= judge->condition->limit_ns)
		return;
	deed->told_ns = actor->wait_ns;
	if (is_lock(judge, actor->wait))
		tell_length(judge, actor, actor->wait_ns);
}

/* A round does not end while the thread waits. */
static void look_at_round(struct pxt_judge *judge, const struct pxt_actor *actor)
{
	const struct pxt_home *home = home_of(judge, actor);
	struct deed *deed = deed_of(judge, actor);
	struct pxt_meeting meeting = { .end_ns = judge->now_ns, .waits = true };
	struct pxt_round round = { .end_ns = judge->now_ns };

	if (!home || deed->told_ns == home->last_ns || !is_meant(judge->condition, actor))
		return;
	meeting.begin_ns = round.begin_ns = home->last_ns;
	meeting.over_ns = pxt_rounds_late_by(home, &round, false, &meeting.usual_ns);
	if (meeting.over_ns <= judge->condition->limit_ns)
		return;
	deed->told_ns = home->last_ns;
	tell(judge, actor, meeting);
}

void pxt_judge_look(struct pxt_judge *judge, int64_t now_ns)
{
	enum pxt_condition_kind kind = judge->condition->kind;

	if (kind != PXT_CONDITION_LOCK && kind != PXT_CONDITION_LATE)
		return;
	if (now_ns > judge->now_ns)
		judge->now_ns = now_ns;
	for (uint32_t i = 0; i < judge->state->actor_count; i++) {
		const struct pxt_actor *actor = judge->state->actors[i];

		/* Who waits for what others give has nothing to do, or so it may be. */
		if (!actor->wait || actor->wait->is_given ||
		    !pxt_actor_certain(judge->state, actor))
			continue;
		if (kind == PXT_CONDITION_LOCK)
			look_at_wait(judge, actor);
		else
			look_at_round(judge, actor);
	}
}

static bool knows_thread(const struct pxt_judge *judge)
{
	for (uint32_t i = 0; i < judge->state->actor_count; i++)
		if (is_meant(judge->condition, judge->state->actors[i]))
			return true;
	return false;
}

static bool knows_span(const struct pxt_judge *judge)
{
	for (uint32_t i = 0; i < judge->book->name_count; i++)
		if (is_named(judge->condition->name, judge->book->names[i]))
			return true;
	return false;
}

static bool knows_type(const struct pxt_judge *judge)
{
	const struct pxt_source *source = judge->reader->sources[0];

	for (unsigned i = 0; i < PXT_TYPES_MAX; i++)
		if (source->types[i] && is_named(judge->condition->name, source->types[i]->name))
			return true;
	return false;
}

static bool knows_lock(const struct pxt_judge *judge)
{
	for (size_t i = 0; i < (size_t)2 * PXT_STATE_LOCKS_MAX; i++)
		if (judge->state->locks[i] && is_lock(judge, judge->state->locks[i]))
			return true;
	return *judge->condition->name == '\0';
}

bool pxt_judge_knows(const struct pxt_judge *judge)
{
	switch (judge->condition->kind) {
	case PXT_CONDITION_LATE:
	case PXT_CONDITION_WAKEUP:
		return knows_thread(judge);
	case PXT_CONDITION_SPAN:
		return knows_span(judge);
	case PXT_CONDITION_EVENT:
		return knows_type(judge);
	case PXT_CONDITION_LOCK:
		return knows_lock(judge);
	case PXT_CONDITION_CALL:
	default:
		return true;
	}
}
