/* SPDX-License-Identifier: MIT */
/* waits.c - waits for locks, and times off the CPU; what threads did with their time; see waits.h. */
#include "tools/why/waits.h"

#include "tools/output/out.h"

#include <stdlib.h>
#include <string.h>

/* ---- Waits ---- */

static struct pxt_wait *wait_of(
    struct pxt_waits *waits, const struct pxt_actor *actor, enum pxt_wait_kind kind)
{
	waits->list = pxt_must_reach(waits->list, &waits->room, actor->index, sizeof *waits->list);
	return &waits->list[actor->index][kind];
}

static void begin(struct pxt_waits *waits, const struct pxt_actor *actor, enum pxt_wait_kind kind,
    const struct pxt_act *act)
{
	struct pxt_wait *wait = wait_of(waits, actor, kind);
	unsigned source = pxt_state_source(waits->state, act->event);

	*wait = (struct pxt_wait){ .is_on = true,
		.kind = kind,
		.actor = actor,
		.lock = act->lock,
		.mode = kind == PXT_WAIT_LOCK ? actor->wait_mode : PXT_NO_NAME,
		.since_ns = act->ns,
		.source = source,
		.epoch = waits->state->epochs[source],
		.cpu = actor->cpu };
	waits->begun(waits->self, wait, act);
}

/* A scheduler that does not tell of all threads tells all only of the program's own. */
static bool is_told(const struct pxt_waits *waits, const struct pxt_wait *wait)
{
	return wait->epoch == waits->state->epochs[wait->source] &&
	       (wait->kind != PXT_WAIT_CPU || !waits->state->others || wait->actor->own);
}

static void end(struct pxt_waits *waits, struct pxt_wait *wait, const struct pxt_act *act)
{
	if (wait->is_on && is_told(waits, wait))
		waits->ended(waits->self, wait, act);
	wait->is_on = false;
}

void pxt_waits_look(struct pxt_waits *waits, const struct pxt_act *act)
{
	if (act->deed == PXT_SWITCH) {
		if (act->former)
			begin(waits, act->former, PXT_WAIT_CPU, act);
		if (act->actor)
			end(waits, wait_of(waits, act->actor, PXT_WAIT_CPU), act);
		return;
	}
	/* Who asks anew does not wait for the former lock any more. */
	if (act->actor && (!act->actor->wait || act->deed == PXT_LOCK_WAIT))
		end(waits, wait_of(waits, act->actor, PXT_WAIT_LOCK), act);
	if (act->actor && act->lock && act->deed == PXT_LOCK_WAIT)
		begin(waits, act->actor, PXT_WAIT_LOCK, act);
}

void pxt_waits_close(struct pxt_waits *waits)
{
	for (uint32_t i = 0; i < waits->room; i++)
		end(waits, &waits->list[i][PXT_WAIT_LOCK], NULL);
}

void pxt_waits_free(struct pxt_waits *waits)
{
	free(waits->list);
}

/* ---- What the threads did with their time ---- */

static struct pxt_waits_times_row *row_of(
    struct pxt_waits_times *use, const struct pxt_actor *actor)
{
	use->rows = pxt_must_reach(use->rows, &use->row_room, actor->index, sizeof *use->rows);
	use->rows[actor->index].actor = actor;
	return &use->rows[actor->index];
}

/* ---- What the scheduler says ---- */

static void end_running(
    const struct pxt_waits_times *use, struct pxt_waits_times_row *row, int64_t ns)
{
	const struct pxt_actor *actor = row->actor;

	if (row->running == PXT_RUN_UNKNOWN ||
	    row->running_epoch != use->state->epochs[actor->running_source])
		return;
	if (row->running == PXT_RUN_RUNS)
		row->ran_ns += ns - row->running_since_ns;
	else if (row->running == PXT_RUN_READY)
		row->ready_ns += ns - row->running_since_ns;
}

static void look_running(struct pxt_waits_times *use, const struct pxt_actor *actor, int64_t ns)
{
	enum pxt_running running = pxt_actor_running(use->state, actor);
	struct pxt_waits_times_row *row = row_of(use, actor);

	if (running == row->running && actor->running_epoch == row->running_epoch)
		return;
	end_running(use, row, ns);
	row->running = running;
	row->running_since_ns = ns;
	row->running_epoch = actor->running_epoch;
}

/* ---- What the thread itself says ---- */

static void end_call(const struct pxt_waits_times *use, struct pxt_waits_times_row *row, int64_t ns)
{
	if (row->in_call && row->call_epoch == use->state->epochs[row->actor->source])
		row->calls_ns += ns - row->call_since_ns;
	row->in_call = false;
}

static void look_call(struct pxt_waits_times *use, const struct pxt_act *act)
{
	struct pxt_waits_times_row *row = row_of(use, act->actor);

	/* What another thread does to this one (a wake-up) ends no call of its own. */
	if (act->role && act->role->fields[PXT_USE_THREAD])
		return;
	if (act->deed == PXT_BLOCK || !act->actor->blocked)
		end_call(use, row, act->ns);
	if (act->deed != PXT_BLOCK)
		return;
	row->in_call = true;
	row->call_since_ns = act->ns;
	row->call_epoch = use->state->epochs[act->actor->source];
}

static void wait_begun(void *self, struct pxt_wait *wait, const struct pxt_act *act)
{
	(void)self;
	(void)wait;
	(void)act;
}

static void wait_ended(void *self, const struct pxt_wait *wait, const struct pxt_act *act)
{
	struct pxt_waits_times *use = self;
	int64_t ns = (act ? act->ns : use->last_ns) - wait->since_ns;

	if (wait->kind != PXT_WAIT_LOCK)
		return;
	/* Who waits for others to give it has nothing to do, mostly. */
	if (wait->lock && (wait->lock->is_given || wait->lock->is_futex))
		row_of(use, wait->actor)->calls_ns += ns;
	else
		row_of(use, wait->actor)->locks_ns += ns;
}

static void look(void *self, const struct pxt_act *act)
{
	struct pxt_waits_times *use = self;

	pxt_waits_look(&use->waits, act);
	if (act->deed == PXT_SWITCH && act->former)
		look_running(use, act->former, act->ns);
	if (!act->actor)
		return;
	look_running(use, act->actor, act->ns);
	if (act->deed != PXT_SWITCH)
		look_call(use, act);
}

/* ---- All of it ---- */

/* A thread that sleeps when the log ends may have ended. */
static void close_rows(struct pxt_waits_times *use)
{
	for (uint32_t i = 0; i < use->row_room; i++) {
		if (!use->rows[i].actor)
			continue;
		end_running(use, &use->rows[i], use->last_ns);
		end_call(use, &use->rows[i], use->last_ns);
	}
}

bool pxt_waits_times_read(
    struct pxt_waits_times *use, struct pxt_reader *reader, struct pxt_roles_book *book)
{
	struct pxt_state *state = pxt_state_new(book, reader);
	struct pxt_progress progress;
	struct pxt_event *event;

	use->state = state;
	state->lookers = (struct pxt_lookers){ .self = use, .act = look };
	use->waits = (struct pxt_waits){
		.state = state, .self = use, .begun = wait_begun, .ended = wait_ended
	};
	pxt_progress_reader(&progress, "adding up", reader, false);
	while (!book->failed && (event = pxt_reader_next(reader)) != NULL) {
		unsigned source = pxt_state_source(state, event);
		uint64_t lost;

		pxt_progress_step(&progress);
		(void)pxt_state_gap(state, event, source, &lost);
		pxt_state_take(state, event, source);
		use->last_ns = event->ns;
	}
	pxt_progress_end(&progress);
	pxt_state_end(use->state);
	pxt_waits_close(&use->waits);
	close_rows(use);
	return !book->failed;
}

void pxt_waits_times_free(struct pxt_waits_times *use)
{
	pxt_waits_free(&use->waits);
	if (use->state)
		pxt_state_free(use->state);
	free(use->rows);
}

/* ---- The order ---- */

static int by_wait(const void *a, const void *b)
{
	const struct pxt_waits_times_row *x = *(const struct pxt_waits_times_row *const *)a;
	const struct pxt_waits_times_row *y = *(const struct pxt_waits_times_row *const *)b;

	if (x->locks_ns != y->locks_ns)
		return x->locks_ns > y->locks_ns ? -1 : 1;
	if (x->ready_ns != y->ready_ns)
		return x->ready_ns > y->ready_ns ? -1 : 1;
	if (x->ran_ns != y->ran_ns)
		return x->ran_ns > y->ran_ns ? -1 : 1;
	return x < y ? -1 : 1;
}

uint32_t pxt_waits_times_sort(
    const struct pxt_waits_times *use, const struct pxt_waits_times_row **sorted, uint32_t most)
{
	const struct pxt_waits_times_row **all =
	    pxt_must(calloc((size_t)use->row_room + 1, sizeof(struct pxt_waits_times_row *)));
	uint32_t count = 0;

	for (uint32_t i = 0; i < use->row_room; i++) {
		const struct pxt_actor *actor = use->rows[i].actor;

		if (actor && actor->own && !pxt_actor_is_helper(actor))
			all[count++] = &use->rows[i];
	}
	qsort(all, count, sizeof(struct pxt_waits_times_row *), by_wait);
	memcpy(sorted, all, (count < most ? count : most) * sizeof(struct pxt_waits_times_row *));
	free(all);
	return count;
}
