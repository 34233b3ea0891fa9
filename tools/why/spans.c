/* SPDX-License-Identifier: MIT */
/* spans.c - which spans a thread has open, and which it ended last; in which functions it is (QNX-54). */
#include "tools/why/state_parts.h"

#include "tools/output/out.h"
#include "tools/read/source.h"

#include <stdlib.h>
#include <string.h>
#include <trace_hooks_np.h>

bool pxt_state_time(struct pxt_state *state, const struct pxt_event *event,
    const struct pxt_layout *field, int64_t *ns)
{
	int64_t lasted = pxt_lasting_ns(&event->source->info);

	if (!pxt_number_of(event, field, ns))
		return false;
	if (*ns >= 0 && (lasted == 0 || *ns <= lasted))
		return true;
	if (state->impossible++ == 0) {
		state->impossible_ns = *ns;
		state->impossible_field = field->name;
	}
	return false;
}

static int64_t release_of(struct pxt_state *state, const struct pxt_role *role,
    const struct pxt_act *act, const struct pxt_key *key)
{
	int64_t delay;

	if (pxt_state_time(state, act->event, role->fields[PXT_USE_TIME], &delay))
		return act->ns - delay;
	for (unsigned i = 0; i < PXT_RELEASES_MAX; i++) {
		unsigned at = (state->release_next + PXT_RELEASES_MAX - 1 - i) % PXT_RELEASES_MAX;

		if (state->releases[at].name != role->name ||
		    (pxt_key_comparable(key, &state->releases[at].key) &&
		        state->releases[at].key.value != key->value))
			continue;
		state->releases[at].name = PXT_NO_NAME;
		return state->releases[at].ns <= act->ns ? state->releases[at].ns : act->ns;
	}
	return act->ns;
}

static struct pxt_open_span *open_place(struct pxt_state *state, struct pxt_actor *actor)
{
	if (actor->span_count == actor->span_room && actor->span_room < PXT_SPANS_DEEP &&
	    state->span_count < PXT_STATE_SPANS_MAX) {
		unsigned room = actor->span_room ? 2 * actor->span_room : 4;

		actor->spans = pxt_must(realloc(actor->spans, room * sizeof *actor->spans));
		state->span_count += room - actor->span_room;
		actor->span_room = room;
	}
	if (actor->span_count == actor->span_room) {
		state->beyond++;
		return NULL;
	}
	return &actor->spans[actor->span_count++];
}

void pxt_spans_begin(struct pxt_state *state, struct pxt_act *act)
{
	struct pxt_key key = pxt_key_of(act->event, act->role);
	struct pxt_open_span *span = open_place(state, act->actor);

	if (!span)
		return;
	*span = (struct pxt_open_span){ .name = act->role->name,
		.key = key,
		.begin_ns = act->ns,
		.release_ns = release_of(state, act->role, act, &key),
		.cpu = act->cpu,
		.epoch = state->epochs[act->actor->source],
		.steps = state->steps[act->actor->source] };
	span->has_ran = pxt_number_of(act->event, act->role->fields[PXT_USE_RAN], &span->ran_ns);
	act->span = span;
	act->outermost = act->actor->span_count == 1;
}

/* Whether the number of an open span can be compared with that of an end: asked once of a type's. */
struct comparable {
	const char *field; /* of the span before */
	bool is_named;
	bool is_so;
};

/* Whether an end of this number ends the span: across a loss only the number tells. */
static bool ends(const struct pxt_state *state, const struct pxt_actor *actor,
    const struct pxt_open_span *span, const struct pxt_key *key, struct comparable *before)
{
	if (!before->field || span->key.field != before->field ||
	    span->key.is_named != before->is_named) {
		before->field = span->key.field;
		before->is_named = span->key.is_named;
		before->is_so = pxt_key_comparable(&span->key, key);
	}
	if (before->is_so)
		return span->key.value == key->value;
	return span->epoch - span->steps ==
	       state->epochs[actor->source] - state->steps[actor->source];
}

/*
 * Takes the @index-th span out.  Inner ones whose ends never came end with it, but not other jobs of
 * its name with numbers of their own: a thread may have several of them at once.
 */
static void drop_inner(struct pxt_actor *actor, unsigned index)
{
	const struct pxt_open_span outer = actor->spans[index];
	unsigned kept = index;

	for (unsigned i = index + 1; i < actor->span_count; i++)
		if (actor->spans[i].name == outer.name &&
		    pxt_key_comparable(&actor->spans[i].key, &outer.key))
			actor->spans[kept++] = actor->spans[i];
	actor->span_count = kept;
}

/* How long the thread ran within, where both ends tell its CPU time. */
static void end_ran(struct pxt_open_span *ended, const struct pxt_act *act)
{
	int64_t ran;

	ended->has_ran = ended->has_ran &&
	                 pxt_number_of(act->event, act->role->fields[PXT_USE_RAN], &ran) &&
	                 ran >= ended->ran_ns;
	ended->ran_ns = ended->has_ran ? ran - ended->ran_ns : 0;
}

void pxt_spans_end(struct pxt_state *state, struct pxt_act *act, struct pxt_open_span *ended)
{
	struct pxt_actor *actor = act->actor;
	struct pxt_key key = pxt_key_of(act->event, act->role);
	struct comparable before = { 0 };

	for (unsigned i = actor->span_count; i-- > 0;) {
		struct pxt_open_span *span = &actor->spans[i];

		if (span->name != act->role->name || !ends(state, actor, span, &key, &before))
			continue;
		*ended = *span;
		end_ran(ended, act);
		drop_inner(actor, i);
		act->span = ended;
		act->outermost = i == 0;
		memmove(actor->last + 1, actor->last, 3 * sizeof *actor->last);
		memmove(actor->last_end_ns + 1, actor->last_end_ns, 3 * sizeof *actor->last_end_ns);
		actor->last[0] = *span;
		actor->last_end_ns[0] = act->ns;
		return;
	}
}

struct pxt_open_span *pxt_actor_span(const struct pxt_state *state, struct pxt_actor *actor,
    uint32_t name, const struct pxt_key *key, int64_t *end_ns, bool *is_open)
{
	struct pxt_open_span *any = NULL;

	*is_open = true;
	for (unsigned i = 0; i < actor->span_count; i++) {
		struct pxt_open_span *span = &actor->spans[i];

		if (name != PXT_NO_NAME && span->name != name)
			continue;
		if (pxt_key_comparable(&span->key, key)
		        ? span->key.value == key->value
		        : !any && span->epoch == state->epochs[actor->source])
			any = span;
		if (any && pxt_key_comparable(&any->key, key))
			return any;
	}
	if (any && !key->is_set)
		return any;
	*is_open = false;
	for (unsigned i = 0; i < 4; i++) {
		struct pxt_open_span *span = &actor->last[i];

		if (actor->last_end_ns[i] == 0 || (name != PXT_NO_NAME && span->name != name) ||
		    (pxt_key_comparable(&span->key, key) && span->key.value != key->value) ||
		    (!pxt_key_comparable(&span->key, key) &&
		        span->epoch != state->epochs[actor->source]))
			continue;
		*end_ns = actor->last_end_ns[i];
		return span;
	}
	*is_open = true;
	return any;
}

void pxt_spans_release(
    struct pxt_state *state, const struct pxt_role *role, const struct pxt_act *act)
{
	unsigned at = state->release_next++ % PXT_RELEASES_MAX;

	state->release_next %= PXT_RELEASES_MAX;
	state->releases[at].name = role->name;
	state->releases[at].key = pxt_key_of(act->event, role);
	state->releases[at].ns = act->ns;
}

/* ---- Functions ---- */

static void enter_function(struct pxt_actor *actor, const struct pxt_event *event)
{
	if (!actor->functions)
		actor->functions = pxt_must(calloc(PXT_FUNCTIONS_DEEP, sizeof *actor->functions));
	if (actor->function_count == PXT_FUNCTIONS_DEEP)
		actor->functions_deeper++;
	else
		actor->functions[actor->function_count++] = pxt_places_of(event);
}

/* What was left by a jump told of no end: it is over with the function around it. */
static void leave_function(struct pxt_actor *actor, const struct pxt_event *event)
{
	uint64_t function = pxt_places_of(event).address.value;

	if (actor->functions_deeper > 0) {
		actor->functions_deeper--;
		return;
	}
	for (unsigned i = actor->function_count; i-- > 0;) {
		if (actor->functions[i].address.value != function)
			continue;
		actor->function_count = i;
		return;
	}
}

void pxt_spans_function(struct pxt_actor *actor, const struct pxt_event *event)
{
	if (event->info.posix_event_id == POSIX_TRACE_FUNCTION_ENTER_NP)
		enter_function(actor, event);
	else if (event->info.posix_event_id == POSIX_TRACE_FUNCTION_EXIT_NP)
		leave_function(actor, event);
}
