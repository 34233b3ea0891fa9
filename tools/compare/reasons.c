/* SPDX-License-Identifier: MIT */
/*
 * reasons.c - how long threads waited for which locks within their spans or rounds, and whether that is
 * what these became slower by.
 *
 * A span that waited for nothing waited 0 ns, so figures of waits and of spans are of as many values.  A
 * wait is a reason if it was longer in every log after than in any before, and if it is a good part of what
 * the span grew by.
 */
#include "tools/compare/compare.h"

#include "tools/output/out.h"
#include "tools/why/lockuse.h"
#include "tools/why/waits.h"
#include "tools/why/words.h"

#include <stdlib.h>
#include <string.h>

#define INNER   32u   /* waits of a thread that are kept for the spans that it is in; the newest */
#define USES    4096u /* of one log: names, each with a lock */
#define TABLE   (2 * USES)
#define REASONS 4096u /* of all logs */

/* What a wait has to explain of what a figure grew by. */
#define PART 0.25

struct inner_wait {
	struct pxt_state_lock *lock;
	int64_t since_ns;
	int64_t ns;
	const struct pxt_actor *holder; /* when it began; NULL: not known */
	struct pxt_log_address place;   /* where that one took the lock */
};

struct inner {
	struct inner_wait begun;
	struct inner_wait list[INNER];
	unsigned count;
};

/* A lock, and a name of spans, or, PXT_NO_NAME, a thread whose rounds these may be. */
struct use {
	uint32_t span;
	const struct pxt_actor *actor;
	struct pxt_state_lock *lock;
	struct pxt_series series;
	struct inner_wait longest;
};

struct pxt_compare_waited {
	struct inner **inner; /* by thread */
	uint32_t room;
	struct use *uses;
	uint32_t count;
	uint32_t table[TABLE]; /* of uses, + 1 */
};

struct pxt_compare_waited *pxt_compare_waited_new(void)
{
	struct pxt_compare_waited *waited = pxt_must(calloc(1, sizeof *waited));

	waited->uses = pxt_must(calloc(USES, sizeof *waited->uses));
	return waited;
}

/* ---- One log, while it is read ---- */

static struct inner *inner_of(struct pxt_compare_waited *waited, const struct pxt_actor *actor)
{
	waited->inner =
	    pxt_must_reach(waited->inner, &waited->room, actor->index, sizeof(struct inner *));
	if (!waited->inner[actor->index])
		waited->inner[actor->index] = pxt_must(calloc(1, sizeof(struct inner)));
	return waited->inner[actor->index];
}

/* NULL: there is no place. */
static struct use *use_of(struct pxt_compare_waited *waited, uint32_t span,
    const struct pxt_actor *actor, struct pxt_state_lock *lock)
{
	uint64_t key =
	    (uint64_t)(uintptr_t)lock ^ (uint64_t)(uintptr_t)actor << 7 ^ (uint64_t)span << 40;
	uint32_t at = (uint32_t)(key * UINT64_C(0x9e3779b97f4a7c15) >> 40);

	for (;; at++) {
		uint32_t *place = &waited->table[at % TABLE];
		struct use *use = *place > 0 ? &waited->uses[*place - 1] : NULL;

		if (use && (use->span != span || use->actor != actor || use->lock != lock))
			continue;
		if (!use && waited->count < USES) {
			use = &waited->uses[waited->count++];
			*use = (struct use){ .span = span, .actor = actor, .lock = lock };
			*place = waited->count;
		}
		return use;
	}
}

static void add_use(struct use *use, const struct inner_wait *wait, int64_t ns)
{
	if (!use)
		return;
	pxt_series_add(&use->series, (uint64_t)ns);
	if (wait->ns >= use->longest.ns)
		use->longest = *wait;
}

void pxt_compare_waited_begun(struct pxt_compare_waited *waited, const struct pxt_wait *wait)
{
	const struct pxt_state_lock *lock = wait->lock;
	bool known = lock->state == PXT_LOCK_HELD && lock->holder && lock->holder != wait->actor;

	inner_of(waited, wait->actor)->begun = (struct inner_wait){ .lock = wait->lock,
		.holder = known ? lock->holder : NULL,
		.place = known ? lock->place : (struct pxt_log_address){ 0 } };
}

void pxt_compare_waited_ended(
    struct pxt_compare_waited *waited, const struct pxt_wait *wait, int64_t end_ns)
{
	struct inner *inner = inner_of(waited, wait->actor);
	struct inner_wait *new;

	if (inner->count == INNER)
		memmove(inner->list, inner->list + 1, --inner->count * sizeof *inner->list);
	new = &inner->list[inner->count++];
	*new = inner->begun;
	new->lock = wait->lock;
	new->since_ns = wait->since_ns;
	new->ns = end_ns - wait->since_ns;
	add_use(use_of(waited, PXT_NO_NAME, wait->actor, wait->lock), new, new->ns);
	if (wait->actor->span_count == 0)
		inner->count = 0;
}

void pxt_compare_waited_span(struct pxt_compare_waited *waited, const struct pxt_actor *actor,
    const struct pxt_open_span *span)
{
	struct inner *inner = inner_of(waited, actor);

	for (unsigned i = 0; span->name < PXT_ROLE_NAMES_MAX && i < inner->count; i++) {
		const struct inner_wait *longest = &inner->list[i];
		int64_t ns = 0;
		bool earlier = inner->list[i].since_ns < span->begin_ns;

		for (unsigned k = 0; k < i; k++)
			earlier = earlier || (inner->list[k].lock == inner->list[i].lock &&
			                         inner->list[k].since_ns >= span->begin_ns);
		for (unsigned k = i; !earlier && k < inner->count; k++) {
			if (inner->list[k].lock != inner->list[i].lock)
				continue;
			ns += inner->list[k].ns;
			if (inner->list[k].ns > longest->ns)
				longest = &inner->list[k];
		}
		if (!earlier)
			add_use(use_of(waited, span->name, NULL, inner->list[i].lock), longest, ns);
	}
	if (actor->span_count == 0)
		inner->count = 0;
}

/* ---- The log ends ---- */

static struct pxt_reason *reason_of(
    struct pxt_comparison *comparison, struct pxt_compared *of, const char *lock)
{
	struct pxt_reason *reason;

	for (unsigned i = 0; i < comparison->reason_count; i++) {
		reason = comparison->reasons[i];
		if (reason->of == of && strcmp(reason->lock, lock) == 0)
			return reason;
	}
	if (comparison->reason_count == REASONS)
		return NULL;
	if (!comparison->reasons)
		comparison->reasons = pxt_must(calloc(REASONS, sizeof(struct pxt_reason *)));
	reason = pxt_must(calloc(1, sizeof *reason));
	reason->of = of;
	reason->lock = pxt_must(strdup(lock));
	comparison->reasons[comparison->reason_count++] = reason;
	return reason;
}

/* The holder in the longest wait of all logs after. */
static void take_holder(
    struct pxt_reason *reason, const struct use *use, const struct pxt_roles_book *book)
{
	const char *place =
	    use->longest.holder ? pxt_places_code(book->places, &use->longest.place) : NULL;

	if (use->longest.ns <= reason->longest_ns)
		return;
	free(reason->holder);
	free(reason->place);
	reason->longest_ns = use->longest.ns;
	reason->holder = use->longest.holder ? pxt_must(strdup(use->longest.holder->name)) : NULL;
	reason->place = place ? pxt_must(strdup(place)) : NULL;
}

void pxt_compare_waited_want(
    const struct pxt_compare_waited *waited, const struct pxt_roles_book *book)
{
	for (uint32_t i = 0; i < waited->count; i++)
		pxt_places_want(book->places, &waited->uses[i].longest.place);
}

void pxt_compare_waited_close(struct pxt_compare_waited *waited, struct pxt_comparison *comparison,
    enum pxt_side side, const struct pxt_roles_book *book, struct pxt_compared *const *spans)
{
	for (uint32_t i = 0; i < waited->count; i++) {
		struct use *use = &waited->uses[i];
		struct pxt_compared *of = use->actor
		                              ? pxt_compare_known(comparison, PXT_COMPARED_ROUND,
		                                    pxt_compare_rounds_of(use->actor))
		                              : spans[use->span];
		struct pxt_words lock = { 0 };
		struct pxt_reason *reason;

		if (of && !use->lock->is_given) {
			pxt_compare_lock_name(&lock, book, use->lock);
			reason = reason_of(comparison, of, lock.text);
			if (reason)
				pxt_series_join(&reason->series, &use->series);
			if (reason && side == PXT_AFTER)
				take_holder(reason, use, book);
		}
		pxt_series_free(&use->series);
	}
	for (uint32_t i = 0; i < waited->room; i++)
		free(waited->inner[i]);
	free(waited->inner);
	free(waited->uses);
	free(waited);
}

/* Of @count spans, of which those that are not in the series waited for nothing. */
static uint64_t figure_of(struct pxt_series *series, uint64_t count, unsigned per_mille)
{
	uint64_t waits = series->count;
	uint64_t zeros = count > waits ? count - waits : 0;
	uint64_t rank = ((count > waits ? count : waits) * per_mille + 999) / 1000;
	bool exact;

	if (waits == 0 || rank <= zeros)
		return 0;
	return pxt_series_quantile(
	    series, (unsigned)(((rank - zeros) * 1000 + waits - 1) / waits), &exact);
}

void pxt_compare_reasons_note(struct pxt_comparison *comparison, enum pxt_side side, unsigned log)
{
	static const unsigned per_mille[PXT_FIGURES] = { 500, 990, 1000 };

	for (unsigned i = 0; i < comparison->reason_count; i++) {
		struct pxt_reason *reason = comparison->reasons[i];

		for (unsigned k = 0; k < PXT_FIGURES; k++)
			reason->ns[side][log][k] =
			    figure_of(&reason->series, reason->of->series.count, per_mille[k]);
		pxt_series_free(&reason->series);
		memset(&reason->series, 0, sizeof reason->series);
	}
}

/* ---- All logs ---- */

/* The logs' values in order. */
static void sorted_of(const struct pxt_comparison *comparison, const struct pxt_reason *reason,
    enum pxt_side side, unsigned figure, uint64_t values[PXT_COMPARE_LOGS])
{
	for (unsigned i = 0; i < comparison->logs[side]; i++)
		values[i] = reason->ns[side][i][figure];
	qsort(values, comparison->logs[side], sizeof *values, pxt_series_ascending);
}

/* What it grew by; 0: not in all logs. */
static uint64_t growth(const struct pxt_comparison *comparison, const struct pxt_reason *reason,
    unsigned figure, struct pxt_cause_of *cause)
{
	uint64_t before[PXT_COMPARE_LOGS];
	uint64_t after[PXT_COMPARE_LOGS];

	sorted_of(comparison, reason, PXT_BEFORE, figure, before);
	sorted_of(comparison, reason, PXT_AFTER, figure, after);
	cause->reason = reason;
	cause->before_ns = before[(comparison->logs[PXT_BEFORE] - 1) / 2];
	cause->after_ns = after[(comparison->logs[PXT_AFTER] - 1) / 2];
	return after[0] > before[comparison->logs[PXT_BEFORE] - 1]
	           ? cause->after_ns - cause->before_ns
	           : 0;
}

bool pxt_compare_cause(const struct pxt_comparison *comparison, const struct pxt_compared *compared,
    struct pxt_cause_of *cause)
{
	static const unsigned order[PXT_FIGURES] = { PXT_FIGURE_P99, PXT_FIGURE_MEDIAN,
		PXT_FIGURE_WORST };
	uint64_t most = 0;

	for (unsigned k = 0; k < PXT_FIGURES && most == 0; k++) {
		unsigned figure = order[k];
		uint64_t grown =
		    compared->shown[PXT_AFTER][figure] - compared->shown[PXT_BEFORE][figure];

		if (compared->changes[figure].verdict != PXT_VERDICT_SLOWER ||
		    compared->shown[PXT_AFTER][figure] <= compared->shown[PXT_BEFORE][figure])
			continue;
		for (unsigned i = 0; i < comparison->reason_count; i++) {
			struct pxt_cause_of one = { .figure = (enum pxt_figure)figure };
			uint64_t ns = comparison->reasons[i]->of == compared
			                  ? growth(comparison, comparison->reasons[i], figure, &one)
			                  : 0;

			if (ns <= most || (double)ns < PART * (double)grown)
				continue;
			most = ns;
			*cause = one;
		}
	}
	return most > 0;
}

void pxt_compare_reasons_free(struct pxt_comparison *comparison, const struct pxt_compared *of)
{
	unsigned kept = 0;

	for (unsigned i = 0; i < comparison->reason_count; i++) {
		struct pxt_reason *reason = comparison->reasons[i];

		if (of && reason->of != of) {
			comparison->reasons[kept++] = reason;
			continue;
		}
		free(reason->lock);
		free(reason->holder);
		free(reason->place);
		free(reason);
	}
	comparison->reason_count = kept;
	if (!of)
		free(comparison->reasons);
}

/* ---- Who had a lock in the second set of logs, for which threads wait longer than in the first ---- */

static bool is_worse(const struct pxt_compared *compared)
{
	if (compared->found[PXT_BEFORE] == 0)
		return true;
	for (unsigned k = 0; k < PXT_FIGURES; k++)
		if (compared->changes[k].verdict == PXT_VERDICT_SLOWER)
			return true;
	return false;
}

/* Whether this is the log with the longest wait; of equal ones, the first. */
static bool asks(
    const struct pxt_comparison *comparison, const struct pxt_compared *compared, unsigned log)
{
	const struct pxt_measured *logs = compared->logs[PXT_AFTER];

	if (compared->kind != PXT_COMPARED_WAIT || !is_worse(compared) || logs[log].count == 0)
		return false;
	for (unsigned i = 0; i < comparison->logs[PXT_AFTER]; i++) {
		uint64_t ns = logs[i].ns[PXT_FIGURE_WORST];

		if (ns > logs[log].ns[PXT_FIGURE_WORST] ||
		    (i < log && ns == logs[log].ns[PXT_FIGURE_WORST]))
			return false;
	}
	return true;
}

bool pxt_compare_asks(const struct pxt_comparison *comparison, unsigned log)
{
	for (unsigned i = 0; i < comparison->count; i++)
		if (asks(comparison, comparison->list[i], log))
			return true;
	return false;
}

/* The place of a holder that is known by where it gave the lock back says nothing of where it took it. */
static void note(
    struct pxt_held *held, const struct pxt_lockuse_row *row, const struct pxt_roles_book *book)
{
	const char *place = row->longest_place.given_back
	                        ? NULL
	                        : pxt_places_code(book->places, &row->longest_place.at);

	free(held->thread);
	free(held->holder);
	free(held->place);
	held->thread = pxt_must(strdup(row->longest_by->name));
	held->holder = pxt_must(strdup(row->longest_holder->name));
	held->place = place ? pxt_must(strdup(place)) : NULL;
	held->ns = (uint64_t)row->longest_ns;
}

static void take(struct pxt_comparison *comparison, unsigned log, const struct pxt_lockuse_row *row,
    const struct pxt_roles_book *book)
{
	struct pxt_words words = { 0 };

	if (!row->longest_by || !row->longest_holder || row->longest_ns <= 0)
		return;
	pxt_compare_lock_name(&words, book, row->lock);
	for (unsigned i = 0; i < comparison->count; i++) {
		struct pxt_compared *compared = comparison->list[i];

		if (asks(comparison, compared, log) && strcmp(compared->name, words.text) == 0 &&
		    (uint64_t)row->longest_ns > compared->held.ns)
			note(&compared->held, row, book);
	}
}

void pxt_compare_ask(struct pxt_comparison *comparison, struct pxt_reader *reader, unsigned log)
{
	struct pxt_roles_book *book = pxt_roles_new();
	struct pxt_lockuse use = { 0 };

	pxt_roles_bind(book, reader);
	if (pxt_lockuse_read(&use, reader, book)) {
		for (uint32_t i = 0; i < use.row_count; i++) {
			pxt_places_want(book->places, &use.rows[i].lock->first);
			pxt_places_want(book->places, &use.rows[i].longest_place.at);
		}
		for (uint32_t i = 0; i < use.row_count; i++)
			take(comparison, log, &use.rows[i], book);
	}
	pxt_lockuse_free(&use);
	pxt_roles_free(book);
}
