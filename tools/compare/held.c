/* SPDX-License-Identifier: MIT */
/* held.c - who had a lock in the second set of logs, where threads wait longer for it than in the first. */
#include "tools/compare/compare.h"
#include "tools/output/out.h"
#include "tools/why/lockuse.h"
#include "tools/why/words.h"

#include <stdlib.h>
#include <string.h>

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
