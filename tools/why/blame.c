/* SPDX-License-Identifier: MIT */
/* blame.c - the second pass: the time line of a late span; see blame.h. */
#include "tools/why/blame.h"

#include "format/mul64.h"
#include "tools/event/event.h"
#include "tools/output/out.h"

#include <stdlib.h>
#include <string.h>
#include <trace_hooks_np.h>

#define HALF (PXT_LINES_MAX / 2)

/* ---- Lines ---- */

static struct pxt_blame_line *new_line(struct pxt_blame *blame, int64_t ns)
{
	uint64_t at = blame->line_count++;
	struct pxt_blame_line *line =
	    &blame->lines[at < PXT_LINES_MAX ? at : HALF + (at - HALF) % HALF];

	*line = (struct pxt_blame_line){ .ns = ns, .deed = PXT_DEEDS, .cpu = -1 };
	return line;
}

uint64_t pxt_blame_lines(const struct pxt_blame *blame)
{
	return blame->line_count < PXT_LINES_MAX ? blame->line_count : PXT_LINES_MAX;
}

const struct pxt_blame_line *pxt_blame_line(const struct pxt_blame *blame, uint64_t index)
{
	if (index < HALF || blame->line_count <= PXT_LINES_MAX)
		return &blame->lines[index];
	return &blame->lines[HALF + (blame->line_count - HALF + index - HALF) % HALF];
}

/* The event as `pxtrace print` would show it, cut to the room. */
static void describe_event(struct pxt_blame_line *line, const struct pxt_event *event)
{
	static struct pxt_out scratch;
	static const struct pxt_fields all = { .dump_limit = 16 };
	size_t bytes;

	scratch.fd = -1;
	scratch.used = 0;
	pxt_out_bytes(&scratch, event->type->label, event->type->bytes);
	pxt_out_fields(&scratch, &all, event);
	bytes = scratch.used;
	if (bytes >= sizeof line->text) {
		bytes = sizeof line->text - 4;
		/* Not in the middle of a character. */
		while (bytes > 0 && ((unsigned char)scratch.buffer[bytes] & 0xc0) == 0x80)
			bytes--;
		memcpy(scratch.buffer + bytes, "...", 3);
		bytes += 3;
	}
	memcpy(line->text, scratch.buffer, bytes);
	line->text[bytes] = '\0';
}

/* An event that means two things is one line. */
static bool is_again(const struct pxt_blame *blame, const struct pxt_blame_line *line)
{
	const struct pxt_blame_line *last;

	if (pxt_blame_lines(blame) < 2 || blame->line_count > PXT_LINES_MAX)
		return false;
	last = pxt_blame_line(blame, pxt_blame_lines(blame) - 2);
	return last->ns == line->ns && last->actor == line->actor &&
	       strcmp(last->text, line->text) == 0;
}

/* Who called where the wait for a lock ended. */
static void note_callers(struct pxt_blame *blame, const struct pxt_act *act)
{
	uint64_t callers[PXT_CALLERS_MAX];

	if (blame->late.kind != PXT_LATE_WAIT || act->actor != blame->actor ||
	    act->ns != blame->late.end_ns || act->deed != PXT_LOCK_ACQUIRE)
		return;
	blame->asked_in = pxt_places_of(act->event);
	blame->caller_count = pxt_callers_of(act->event, callers);
	for (unsigned i = 0; i < blame->caller_count; i++) {
		blame->callers[i] = blame->asked_in;
		blame->callers[i].address.value = callers[i];
	}
}

/* Who got the lock was in no deadlock: what was taken for the lock is not it, or it was tried for a while. */
static void doubt_deadlock(struct pxt_blame *blame, const struct pxt_act *act)
{
	if (act->actor != blame->actor || act->deed != PXT_LOCK_ACQUIRE || !act->lock)
		return;
	for (unsigned i = 0; i < blame->cause_count; i++) {
		struct pxt_cause *cause = &blame->causes[i];

		if (cause->last != PXT_LAST_DEADLOCK || cause->chain[0].lock != act->lock)
			continue;
		cause->last = PXT_LAST_DOUBT;
		cause->links = 1;
		cause->chain[0].holder = NULL;
	}
}

static void write_line(
    const struct pxt_state *state, struct pxt_blame *blame, const struct pxt_act *act)
{
	struct pxt_blame_line *line = new_line(blame, act->ns);

	line->deed = act->deed;
	line->actor = act->actor;
	line->other = act->former;
	line->lock = act->lock;
	line->cpu = act->cpu;
	if (act->role)
		line->key = pxt_key_of(act->event, act->role);
	if (act->deed == PXT_LOCK_WAIT && act->lock)
		line->other = pxt_lock_holder(state, act->lock, &line->known);
	describe_event(line, act->event);
	if (is_again(blame, line))
		blame->line_count--;
}

/* Events that another log lost are shown; what this thread did they do not hide. */
static void write_gap(struct pxt_blame *blame, int64_t ns, uint64_t lost, bool mine)
{
	struct pxt_blame_line *line = new_line(blame, ns);

	line->gap = true;
	line->lost = lost;
	if (!mine)
		return;
	pxt_sum_add(&blame->lost, lost);
	blame->gaps++;
}

/* ---- Spans of others ---- */

static void overlap(struct pxt_blame *blame, const struct pxt_actor *actor,
    const struct pxt_open_span *span, int64_t end_ns)
{
	int64_t from =
	    span->begin_ns > blame->late.release_ns ? span->begin_ns : blame->late.release_ns;
	int64_t to = end_ns < blame->late.end_ns ? end_ns : blame->late.end_ns;
	unsigned at = 0;

	if (actor == blame->actor || to <= from)
		return;
	while (at < blame->overlap_count &&
	       (blame->overlaps[at].actor != actor || blame->overlaps[at].name != span->name))
		at++;
	if (at == PXT_OVERLAPS_MAX) {
		blame->overlaps_beyond++;
		return;
	}
	struct pxt_overlap *place = &blame->overlaps[at];
	if (at == blame->overlap_count) {
		blame->overlap_count++;
		*place = (struct pxt_overlap){ .actor = actor, .name = span->name };
	}
	place->count++;
	place->ns += to - from;
	if (to - from > place->longest_ns) {
		place->longest_ns = to - from;
		place->key = span->key;
	}
}

/* After its last event: what others had open then overlaps up to its end. */
static void finish(const struct pxt_state *state, struct pxt_blame *blame)
{
	blame->over = true;
	pxt_causes_settle(blame, false);
	for (uint32_t i = 0; i < state->actor_count; i++) {
		const struct pxt_actor *actor = state->actors[i];

		for (unsigned k = 0; k < actor->span_count; k++)
			if (actor->spans[k].epoch == state->epochs[actor->source])
				overlap(blame, actor, &actor->spans[k], blame->late.end_ns);
	}
}

/* ---- Events ---- */

static bool is_on(const struct pxt_blame *blame, int64_t ns)
{
	return !blame->over && blame->late.release_ns <= ns;
}

/* Up to @event nothing has changed. */
static void advance(struct pxt_blames *blames, const struct pxt_event *event, unsigned source,
    bool gap, uint64_t lost)
{
	const struct pxt_state *state = blames->state;

	for (unsigned i = 0; i < blames->count; i++) {
		struct pxt_blame *blame = &blames->list[i];
		int64_t from = blames->now_ns > blame->late.release_ns ? blames->now_ns
		                                                       : blame->late.release_ns;
		int64_t to = event->ns < blame->late.end_ns ? event->ns : blame->late.end_ns;

		if (blame->over || event->ns < blame->late.release_ns)
			continue;
		if (!blame->actor && blame->late.actor < state->actor_count)
			blame->actor = state->actors[blame->late.actor];
		bool mine = !blame->actor || blame->actor->source == source;
		if (to > from) {
			struct pxt_cause cause = pxt_causes_of(state, blame, from);

			pxt_causes_add(blame, &cause, to - from);
		}
		if (mine && event->ns <= blame->late.end_ns)
			pxt_causes_settle(blame, gap);
		if (gap && to >= from)
			write_gap(blame, to, lost, mine);
		if (event->ns > blame->late.end_ns) {
			finish(state, blame);
			blames->finished++;
		}
	}
	if (event->ns > blames->now_ns)
		blames->now_ns = event->ns;
}

/* Who gives back a lock that nobody was known to have had it all the while. */
static void reveal(
    struct pxt_blame *blame, const struct pxt_state_lock *lock, struct pxt_actor *holder)
{
	for (unsigned i = 0; i < blame->cause_count; i++) {
		struct pxt_cause *cause = &blame->causes[i];

		if ((cause->last != PXT_LAST_UNKNOWN && cause->last != PXT_LAST_DOUBT) ||
		    cause->sealed || cause->links == 0 ||
		    cause->chain[cause->links - 1].lock != lock)
			continue;
		if (holder) {
			cause->chain[cause->links - 1].holder = holder;
			cause->last = PXT_LAST_SEEN;
		}
		cause->sealed = true;
	}
}

/* Where it gives back what, as the lock itself told, it had. */
static void reveal_place(struct pxt_blame *blame, const struct pxt_act *act)
{
	if (!act->event->info.posix_prog_address)
		return;
	for (unsigned i = 0; i < blame->cause_count; i++) {
		struct pxt_cause *cause = &blame->causes[i];

		for (unsigned k = 0; k < cause->links; k++) {
			struct pxt_cause_link *link = &cause->chain[k];

			if (link->lock != act->lock || link->holder != act->actor ||
			    link->place.address.value != 0 || !link->lock->of_system)
				continue;
			link->place = pxt_places_of(act->event);
			link->given_back = true;
		}
	}
}

/* A signal or broadcast to what the thread is blocked in: it may be what wakes it. */
static void note_signal(struct pxt_blame *blame, const struct pxt_act *act)
{
	trace_event_id_t id = act->event->info.posix_event_id;
	const struct pxt_actor *actor = blame->actor;
	uint64_t condition;

	if ((id != POSIX_TRACE_COND_SIGNAL_NP && id != POSIX_TRACE_COND_BROADCAST_NP) || !actor ||
	    !actor->in_call || act->event->type->field_count == 0 ||
	    act->event->info.posix_pid != actor->pid ||
	    !pxt_field_key(act->event, &act->event->type->fields[0], &condition) ||
	    condition != actor->blocked_on.value)
		return;
	blame->signal = (struct pxt_blame_signal){
		.by = act->actor, .condition = condition, .place = pxt_places_of(act->event)
	};
}

static void look(void *self, const struct pxt_act *act)
{
	struct pxt_blames *blames = self;

	pxt_history_look(&blames->history, act);
	for (unsigned i = 0; i < blames->count; i++) {
		struct pxt_blame *blame = &blames->list[i];

		if (!is_on(blame, act->ns) || act->ns > blame->late.end_ns)
			continue;
		write_line(blames->state, blame, act);
		note_callers(blame, act);
		doubt_deadlock(blame, act);
		note_signal(blame, act);
		if (act->deed == PXT_JOB_END && act->span)
			overlap(blame, act->actor, act->span, act->ns);
		if (act->deed == PXT_LOCK_RELEASE && act->lock && !act->former)
			reveal(blame, act->lock, act->actor);
		if (act->deed == PXT_LOCK_RELEASE && act->lock)
			reveal_place(blame, act);
		if (act->deed == PXT_LOCK_ACQUIRE && act->lock)
			reveal(blame, act->lock, NULL);
	}
}

/* ---- The reading ---- */

/* What is kept of all threads: returns when the last of it ends. */
static int64_t set_windows(
    struct pxt_blames *blames, const struct pxt_late_search *search, bool all_rounds)
{
	unsigned rounds = all_rounds ? search->all_round_count : 0;
	struct pxt_window *windows = pxt_must(calloc(blames->count + rounds + 1, sizeof *windows));
	uint32_t count = 0;
	int64_t last_ns = INT64_MIN;

	for (unsigned i = 0; i < blames->count; i++) {
		windows[count].begin_ns = blames->list[i].late.release_ns;
		windows[count++].end_ns = blames->list[i].late.end_ns;
	}
	for (unsigned i = 0; i < rounds; i++) {
		windows[count].begin_ns = search->all_rounds[i].begin_ns;
		windows[count++].end_ns = search->all_rounds[i].end_ns;
	}
	for (uint32_t i = 0; i < count; i++)
		if (windows[i].end_ns > last_ns)
			last_ns = windows[i].end_ns;
	pxt_history_windows(&blames->history, windows, count);
	return last_ns;
}

static void follow_all(struct pxt_blames *blames, const struct pxt_late_search *search)
{
	blames->followed = pxt_must(calloc(search->all_round_count + 1, sizeof *blames->followed));
	for (unsigned i = 0; i < search->all_round_count; i++) {
		const struct pxt_late_round *round = &search->all_rounds[i];
		struct pxt_followed *followed = &blames->followed[blames->followed_count];

		if (round->actor >= blames->state->actor_count)
			continue;
		followed->actor = blames->state->actors[round->actor];
		pxt_chain_follow(&followed->chain, &blames->history, followed->actor,
		    round->begin_ns, round->end_ns);
		pxt_choose_round_weigh(followed, round);
		blames->followed_count++;
	}
}

static void conclude(struct pxt_blames *blames, bool with_log)
{
	pxt_history_close(&blames->history, with_log);
	blames->state->beyond += blames->history.beyond;
	for (unsigned i = 0; i < blames->count; i++) {
		struct pxt_blame *blame = &blames->list[i];

		if (!blame->actor && blame->late.actor < blames->state->actor_count)
			blame->actor = blames->state->actors[blame->late.actor];
		if (!blame->over)
			finish(blames->state, blame);
		if (!blame->actor)
			continue;
		/* The longer part: before it began, or after. */
		if (pxt_blame_began_late(blame))
			pxt_chain_follow(&blame->chain, &blames->history, blame->actor,
			    blame->late.release_ns, blame->late.begin_ns);
		else
			pxt_chain_follow(&blame->chain, &blames->history, blame->actor,
			    blame->late.begin_ns, blame->late.end_ns);
	}
}

/* What a cgroup had used up is told when it is looked at next. */
#define LOOKS_LATER INT64_C(1000000000)

static void read_on(struct pxt_blames *blames, struct pxt_reader *reader, int64_t last_ns)
{
	struct pxt_event *event;

	while (blames->state->book->throttles && (event = pxt_reader_next(reader)) != NULL &&
	       event->ns < last_ns + LOOKS_LATER)
		pxt_history_later(&blames->history, event, pxt_state_source(blames->state, event));
}

void pxt_blames_read(struct pxt_blames *blames, struct pxt_reader *reader,
    struct pxt_roles_book *book, const struct pxt_late_search *search, unsigned count)
{
	const struct pxt_late_list *list = pxt_late_result(search);
	bool all_rounds = list == &search->late_rounds;
	struct pxt_progress progress;
	struct pxt_event *event = NULL;
	int64_t last_ns;

	blames->reader = reader;
	blames->state = pxt_state_new(book, reader);
	blames->state->lookers = (struct pxt_lookers){ .self = blames, .act = look };
	blames->history.state = blames->state;
	blames->history.usual_ends = search->usual_ends;
	blames->history.usual_end_count = search->usual_end_count;
	blames->count = count;
	blames->now_ns = INT64_MIN;
	for (unsigned i = 0; i < count; i++) {
		blames->list[i].late = list->list[i];
		blames->list[i].lines =
		    pxt_must(calloc(PXT_LINES_MAX, sizeof(struct pxt_blame_line)));
	}
	last_ns = set_windows(blames, search, all_rounds);
	pxt_progress_reader(&progress, "explaining", reader, false);
	/* What comes after the last of them need not be read. */
	while ((blames->finished < count || blames->now_ns <= last_ns) &&
	       (event = pxt_reader_next(reader)) != NULL) {
		pxt_progress_step(&progress);
		unsigned source = pxt_state_source(blames->state, event);
		uint64_t lost;
		bool gap = pxt_state_gap(blames->state, event, source, &lost);

		advance(blames, event, source, gap, lost);
		pxt_state_take(blames->state, event, source);
		pxt_history_take(&blames->history, event, source);
	}
	pxt_progress_end(&progress);
	if (event)
		read_on(blames, reader, last_ns);
	conclude(blames, !event);
	if (all_rounds)
		follow_all(blames, search);
	pxt_choose_round_first(blames, search);
	pxt_state_names_at(
	    blames->state, blames->count > 0 ? blames->list[0].late.end_ns : INT64_MAX);
}

void pxt_blames_free(struct pxt_blames *blames)
{
	for (unsigned i = 0; i < blames->count; i++)
		free(blames->list[i].lines);
	free(blames->followed);
	pxt_history_free(&blames->history);
	if (blames->state)
		pxt_state_free(blames->state);
}
