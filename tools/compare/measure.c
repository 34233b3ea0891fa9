/* SPDX-License-Identifier: MIT */
/* measure.c - how long spans, rounds and waits for locks were in one log after another. */
#include "tools/compare/compare.h"
#include "tools/output/out.h"
#include "tools/why/rounds.h"
#include "tools/why/waits.h"
#include "tools/why/words.h"

#include <stdlib.h>
#include <string.h>

/* One log, while it is read. */
struct measuring {
	struct pxt_comparison *comparison;
	struct pxt_roles_book *book;
	struct pxt_state *state;
	struct pxt_rounds rounds;
	struct pxt_waits waits;
	struct pxt_compared *spans[PXT_ROLE_NAMES_MAX]; /* by name */
	/* Names of locks are asked for at the end. */
	struct lock_waits {
		struct pxt_state_lock *lock;
		struct pxt_series series;
	} * locks;
	uint32_t lock_count;
	struct pxt_compare_waited *waited;
};

/* ---- Names ---- */

struct pxt_compared *pxt_compare_known(
    const struct pxt_comparison *comparison, enum pxt_compared_kind kind, const char *name)
{
	for (unsigned i = 0; i < comparison->count; i++) {
		struct pxt_compared *compared = comparison->list[i];

		if (compared->kind == kind && strcmp(compared->name, name) == 0)
			return compared;
	}
	return NULL;
}

/* NULL: there is no place. */
static struct pxt_compared *find(
    struct pxt_comparison *comparison, enum pxt_compared_kind kind, const char *name)
{
	struct pxt_compared *compared = pxt_compare_known(comparison, kind, name);

	if (compared)
		return compared;
	if (comparison->count == PXT_COMPARE_NAMES)
		return NULL;
	if (!comparison->list)
		comparison->list =
		    pxt_must(calloc(PXT_COMPARE_NAMES, sizeof(struct pxt_compared *)));
	compared = pxt_must(calloc(1, sizeof *compared));
	compared->kind = kind;
	compared->name = pxt_must(strdup(name));
	for (unsigned side = 0; comparison->has_shares && side < PXT_SIDES; side++)
		compared->shares[side] = pxt_must(calloc(PXT_COMPARE_CELLS, sizeof(double)));
	comparison->list[comparison->count++] = compared;
	return compared;
}

static void join(struct pxt_comparison *comparison, enum pxt_compared_kind kind, const char *name,
    const struct pxt_series *series)
{
	struct pxt_compared *compared = find(comparison, kind, name);

	if (compared)
		pxt_series_join(&compared->series, series);
	else
		comparison->beyond += series->count;
}

void pxt_compare_lock_name(
    struct pxt_words *words, const struct pxt_roles_book *book, const struct pxt_state_lock *lock)
{
	const char *text;
	const char *line;

	if (!lock->of_system) {
		pxt_say_lock(words, book, lock);
		return;
	}
	pxt_say_name(words, book, lock->name, NULL);
	text = pxt_places_variable(book->places, &lock->self);
	if (text) {
		pxt_say(words, " %s", text);
		return;
	}
	text = pxt_places_code(book->places, &lock->first);
	/* "function (file:line)": lines move from version to version. */
	line = text ? strrchr(text, '(') : NULL;
	if (line && line > text + 1)
		pxt_say(words, " first used in %.*s", (int)(line - text - 1), text);
}

/* ---- Spans and waits ---- */

static void take_span(struct measuring *m, const struct pxt_open_span *span, int64_t end_ns)
{
	char name[4 * TRACE_EVENT_NAME_MAX + 1];
	const char *raw;

	if (span->name >= PXT_ROLE_NAMES_MAX || end_ns < span->begin_ns)
		return;
	if (!m->spans[span->name]) {
		raw = m->book->names[span->name];
		(void)pxt_escape(raw, strlen(raw), name, sizeof name, NULL);
		m->spans[span->name] = find(m->comparison, PXT_COMPARED_SPAN, name);
	}
	m->comparison->has_spans = true;
	if (m->spans[span->name])
		pxt_series_add(&m->spans[span->name]->series, (uint64_t)(end_ns - span->begin_ns));
	else
		m->comparison->beyond++;
}

static void look(void *self, const struct pxt_act *act)
{
	struct measuring *m = self;

	pxt_waits_look(&m->waits, act);
	if (act->deed == PXT_JOB_END && act->span) {
		if (pxt_span_measured(m->state, act->actor, act->span))
			take_span(m, act->span, act->ns);
		pxt_compare_waited_span(m->waited, act->actor, act->span);
	}
}

static void wait_begun(void *self, struct pxt_wait *wait, const struct pxt_act *act)
{
	struct measuring *m = self;

	(void)act;
	wait->wanted = wait->lock != NULL;
	if (wait->wanted)
		pxt_compare_waited_begun(m->waited, wait);
}

static void wait_ended(void *self, const struct pxt_wait *wait, const struct pxt_act *act)
{
	struct measuring *m = self;

	if (!wait->wanted || !act || act->ns < wait->since_ns)
		return;
	if (wait->lock->row == 0) {
		/* Room for twice as many, each time. */
		if ((m->lock_count & (m->lock_count - 1)) == 0)
			m->locks = pxt_must(
			    realloc(m->locks, (2u * m->lock_count + 1u) * sizeof *m->locks));
		m->locks[m->lock_count] = (struct lock_waits){ .lock = wait->lock };
		wait->lock->row = ++m->lock_count;
	}
	pxt_series_add(&m->locks[wait->lock->row - 1].series, (uint64_t)(act->ns - wait->since_ns));
	pxt_compare_waited_ended(m->waited, wait, act->ns);
}

/* ---- A log ---- */

static bool is_of_program(const void *self, const struct pxt_actor *actor)
{
	(void)self;
	return actor->own && !pxt_actor_is_helper(actor);
}

static void take_locks(struct measuring *m)
{
	for (uint32_t i = 0; i < m->lock_count; i++) {
		pxt_places_want(m->book->places, &m->locks[i].lock->first);
		pxt_places_want(m->book->places, &m->locks[i].lock->self);
	}
	pxt_compare_waited_want(m->waited, m->book);
	for (uint32_t i = 0; i < m->lock_count; i++) {
		struct pxt_words words = { 0 };

		/* A wait for a semaphore that others post is a wait for work, not a delay. */
		if (!m->locks[i].lock->is_given) {
			pxt_compare_lock_name(&words, m->book, m->locks[i].lock);
			join(m->comparison, PXT_COMPARED_WAIT, words.text, &m->locks[i].series);
		}
		pxt_series_free(&m->locks[i].series);
	}
	free(m->locks);
}

const char *pxt_compare_rounds_of(const struct pxt_actor *actor)
{
	return *actor->raw ? actor->name : "threads without a name";
}

static void take_rounds(struct measuring *m)
{
	const struct pxt_home **homes = pxt_rounds_homes(&m->rounds, is_of_program, NULL);

	for (uint32_t i = 0; i < m->state->actor_count; i++) {
		const struct pxt_actor *actor = m->state->actors[i];

		if (homes[i])
			join(m->comparison, PXT_COMPARED_ROUND, pxt_compare_rounds_of(actor),
			    &homes[i]->rounds);
	}
	free(homes);
}

static void read_all(struct measuring *m, struct pxt_reader *reader)
{
	struct pxt_progress progress;
	struct pxt_event *event;

	pxt_progress_reader(&progress, "comparing", reader, false);
	while ((event = pxt_reader_next(reader)) != NULL) {
		unsigned source = pxt_state_source(m->state, event);
		uint64_t lost;

		pxt_progress_step(&progress);
		(void)pxt_state_gap(m->state, event, source, &lost);
		pxt_state_take(m->state, event, source);
		pxt_rounds_take(&m->rounds, event, source);
	}
	pxt_progress_end(&progress);
	pxt_state_end(m->state);
	pxt_waits_close(&m->waits);
}

uint64_t pxt_compare_cell_low(unsigned cell)
{
	if (cell < 8)
		return cell;
	return cell < PXT_COMPARE_CELLS ? (8u + cell % 8u) * (UINT64_C(1) << (cell / 8u - 1u))
	                                : UINT64_MAX;
}

static void add_shares(double *shares, struct pxt_series *series)
{
	for (unsigned i = 0; i < PXT_COMPARE_CELLS; i++) {
		uint64_t low = pxt_compare_cell_low(i);
		uint64_t high = pxt_compare_cell_low(i + 1);

		if (low <= series->most && high > series->least)
			shares[i] +=
			    (double)pxt_series_between(series, low, high) / (double)series->count;
	}
}

/* The figures of the log; the series begin anew. */
static void note(struct pxt_comparison *comparison, enum pxt_side side)
{
	static const unsigned per_mille[PXT_FIGURES] = { 500, 990, 1000 };
	unsigned log = comparison->logs[side]++;
	bool exact;

	pxt_compare_reasons_note(comparison, side, log);
	for (unsigned i = 0; i < comparison->count; i++) {
		struct pxt_compared *compared = comparison->list[i];
		struct pxt_measured *measured = &compared->logs[side][log];
		struct pxt_series *series = &compared->series;

		measured->count = series->count;
		for (unsigned k = 0; series->count > 0 && k < PXT_FIGURES; k++)
			measured->ns[k] = k == PXT_FIGURE_WORST
			                      ? series->most
			                      : pxt_series_quantile(series, per_mille[k], &exact);
		if (series->count > 0 && compared->shares[side])
			add_shares(compared->shares[side], series);
		compared->found[side] += series->count > 0;
		compared->counts[side] += series->count;
		pxt_series_free(series);
		memset(series, 0, sizeof *series);
	}
}

void pxt_compare_measure(
    struct pxt_comparison *comparison, struct pxt_reader *reader, enum pxt_side side)
{
	struct measuring *m = pxt_must(calloc(1, sizeof *m));

	m->comparison = comparison;
	m->book = pxt_roles_new();
	pxt_roles_bind(m->book, reader);
	m->state = pxt_state_new(m->book, reader);
	m->state->lookers = (struct pxt_lookers){ .self = m, .act = look };
	m->rounds.state = m->state;
	m->waited = pxt_compare_waited_new();
	m->waits = (struct pxt_waits){
		.state = m->state, .self = m, .begun = wait_begun, .ended = wait_ended
	};
	read_all(m, reader);
	take_locks(m);
	take_rounds(m);
	pxt_compare_waited_close(m->waited, comparison, side, m->book, m->spans);
	note(comparison, side);
	pxt_waits_free(&m->waits);
	pxt_rounds_free(&m->rounds);
	pxt_state_free(m->state);
	pxt_roles_free(m->book);
	free(m);
}

/* ---- All logs ---- */

static uint64_t middle(
    const struct pxt_compared *compared, enum pxt_side side, unsigned logs, unsigned figure)
{
	uint64_t values[PXT_COMPARE_LOGS];
	unsigned count = 0;

	for (unsigned i = 0; i < logs; i++)
		if (compared->logs[side][i].count > 0)
			values[count++] = compared->logs[side][i].ns[figure];
	qsort(values, count, sizeof *values, pxt_series_ascending);
	return count > 0 ? values[(count - 1) / 2] : 0;
}

static int by_kind_and_name(const void *a, const void *b)
{
	const struct pxt_compared *x = *(const struct pxt_compared *const *)a;
	const struct pxt_compared *y = *(const struct pxt_compared *const *)b;

	if (x->kind != y->kind)
		return x->kind < y->kind ? -1 : 1;
	return strcmp(x->name, y->name);
}

static void free_one(struct pxt_compared *compared)
{
	pxt_series_free(&compared->series);
	free(compared->shares[PXT_BEFORE]);
	free(compared->shares[PXT_AFTER]);
	free(compared->name);
	free(compared->held.thread);
	free(compared->held.holder);
	free(compared->held.place);
	free(compared);
}

void pxt_compare_finish(struct pxt_comparison *comparison)
{
	unsigned kept = 0;

	for (unsigned i = 0; i < comparison->count; i++) {
		struct pxt_compared *compared = comparison->list[i];

		if (comparison->has_spans && compared->kind == PXT_COMPARED_ROUND) {
			pxt_compare_reasons_free(comparison, compared);
			free_one(compared);
			continue;
		}
		for (unsigned side = 0; side < PXT_SIDES; side++)
			for (unsigned k = 0; k < PXT_FIGURES; k++)
				compared->shown[side][k] = middle(
				    compared, (enum pxt_side)side, comparison->logs[side], k);
		comparison->list[kept++] = compared;
	}
	comparison->count = kept;
	if (kept > 0)
		qsort(comparison->list, kept, sizeof(struct pxt_compared *), by_kind_and_name);
}

void pxt_compare_free(struct pxt_comparison *comparison)
{
	pxt_compare_reasons_free(comparison, NULL);
	for (unsigned i = 0; i < comparison->count; i++)
		free_one(comparison->list[i]);
	free(comparison->list);
}
