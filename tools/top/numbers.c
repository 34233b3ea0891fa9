/* SPDX-License-Identifier: MIT */
/* numbers.c - tables of numbers and their order; which threads had late rounds in the last seconds. */
#include "tools/top/top.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const words[PXT_NUMBERS_COLUMNS] = {
	[PXT_NUMBERS_USUAL] = "usual",
	[PXT_NUMBERS_NAME] = "name",
	[PXT_NUMBERS_EVENTS] = "events",
	[PXT_NUMBERS_LOST] = "lost",
	[PXT_NUMBERS_FILL] = "fill",
	[PXT_NUMBERS_SHARE] = "share",
	[PXT_NUMBERS_COUNT] = "count",
	[PXT_NUMBERS_P50] = "p50",
	[PXT_NUMBERS_P99] = "p99",
	[PXT_NUMBERS_MAX] = "max",
	[PXT_NUMBERS_LATE] = "late",
	[PXT_NUMBERS_WAITED] = "waited",
	[PXT_NUMBERS_LONGEST] = "longest",
	[PXT_NUMBERS_WAITS] = "waits",
	[PXT_NUMBERS_WAITING] = "waiting",
};

#define BIT(column) (1u << (unsigned)(column))

/* The columns that a table has, and its usual order. */
static const struct {
	enum pxt_numbers_column usual;
	unsigned columns;
} tables[PXT_NUMBERS_TABLES] = {
	[PXT_NUMBERS_STREAMS] = { PXT_NUMBERS_EVENTS,
	    BIT(PXT_NUMBERS_NAME) | BIT(PXT_NUMBERS_EVENTS) | BIT(PXT_NUMBERS_LOST) |
	        BIT(PXT_NUMBERS_FILL) },
	[PXT_NUMBERS_THREADS] = { PXT_NUMBERS_EVENTS,
	    BIT(PXT_NUMBERS_NAME) | BIT(PXT_NUMBERS_EVENTS) | BIT(PXT_NUMBERS_SHARE) },
	[PXT_NUMBERS_PAIRS] = { PXT_NUMBERS_P99, BIT(PXT_NUMBERS_NAME) | BIT(PXT_NUMBERS_COUNT) |
	                                             BIT(PXT_NUMBERS_P50) | BIT(PXT_NUMBERS_P99) |
	                                             BIT(PXT_NUMBERS_MAX) },
	[PXT_NUMBERS_ROUNDS] = { PXT_NUMBERS_LATE, BIT(PXT_NUMBERS_NAME) | BIT(PXT_NUMBERS_LATE) |
	                                               BIT(PXT_NUMBERS_LONGEST) |
	                                               BIT(PXT_NUMBERS_COUNT) },
	[PXT_NUMBERS_LOCKS] = { PXT_NUMBERS_WAITED,
	    BIT(PXT_NUMBERS_NAME) | BIT(PXT_NUMBERS_WAITED) | BIT(PXT_NUMBERS_LONGEST) |
	        BIT(PXT_NUMBERS_WAITS) | BIT(PXT_NUMBERS_WAITING) },
};

const char *pxt_numbers_word(enum pxt_numbers_column column)
{
	return words[column];
}

enum pxt_numbers_column pxt_numbers_called(const char *word)
{
	unsigned column = 0;

	while (column < PXT_NUMBERS_COLUMNS && strcmp(words[column], word) != 0)
		column++;
	return (enum pxt_numbers_column)column;
}

static bool has_number(enum pxt_numbers_table table, enum pxt_numbers_column column)
{
	return (tables[table].columns & BIT(column)) != 0;
}

/* What @table is sorted by where @column is asked for. */
static enum pxt_numbers_column in_order(
    enum pxt_numbers_table table, enum pxt_numbers_column column)
{
	return has_number(table, column) ? column : tables[table].usual;
}

void pxt_numbers_clear(struct pxt_numbers *numbers)
{
	for (unsigned i = 0; i < PXT_NUMBERS_TABLES; i++)
		numbers->tables[i].count = 0;
}

struct pxt_numbers_row *pxt_numbers_add(
    struct pxt_numbers *numbers, enum pxt_numbers_table table, double value)
{
	enum pxt_numbers_column usual = tables[table].usual;
	struct pxt_numbers_row *rows = numbers->tables[table].rows;
	struct pxt_numbers_row *row = &rows[0];

	if (numbers->tables[table].count < PXT_NUMBERS_ROWS) {
		row = &rows[numbers->tables[table].count++];
	} else {
		for (unsigned i = 1; i < PXT_NUMBERS_ROWS; i++)
			if (rows[i].values[usual] < row->values[usual])
				row = &rows[i];
		if (row->values[usual] >= value)
			return NULL;
	}
	memset(row, 0, sizeof *row);
	row->values[usual] = value;
	return row;
}

/* ---- The order ---- */

static int by_name(const void *a, const void *b)
{
	const struct pxt_numbers_row *x = a;
	const struct pxt_numbers_row *y = b;
	int order = strcmp(x->label, y->label);

	return order != 0 ? order : (x->stream > y->stream) - (x->stream < y->stream);
}

static enum pxt_numbers_column sorted_by;

/* Where values are equal by name, so that a row does not move without a cause. */
static int by_value(const void *a, const void *b)
{
	const struct pxt_numbers_row *x = a;
	const struct pxt_numbers_row *y = b;
	double one = x->values[sorted_by];
	double other = y->values[sorted_by];

	return one < other ? 1 : one > other ? -1 : by_name(a, b);
}

void pxt_numbers_sort(struct pxt_numbers *numbers, enum pxt_numbers_column column)
{
	for (unsigned i = 0; i < PXT_NUMBERS_TABLES; i++) {
		sorted_by = in_order((enum pxt_numbers_table)i, column);
		qsort(numbers->tables[i].rows, numbers->tables[i].count,
		    sizeof *numbers->tables[i].rows,
		    sorted_by == PXT_NUMBERS_NAME ? by_name : by_value);
	}
}

const char *pxt_numbers_stream(const struct pxt_numbers *numbers, uint32_t stream)
{
	for (uint32_t i = 0; i < numbers->tables[PXT_NUMBERS_STREAMS].count; i++)
		if (numbers->tables[PXT_NUMBERS_STREAMS].rows[i].stream == stream)
			return numbers->tables[PXT_NUMBERS_STREAMS].rows[i].label;
	return "";
}

/* ---- Which threads had late rounds in the last seconds ---- */

#define FLOOR_NS INT64_C(5000000) /* differences below it are those of any machine */

struct pxt_lateness_thread {
	struct {
		uint64_t late;
		int64_t ns;
		int64_t longest_ns;
	} slots[PXT_LATENESS_SLOTS];
};

static bool is_own(const void *self, const struct pxt_actor *actor)
{
	(void)self;
	return actor->own && !pxt_actor_is_helper(actor);
}

/* Whether the thread waits there between rounds: it is asked once a slot at most. */
static bool is_at_home(struct pxt_lateness *lateness, const struct pxt_home *home)
{
	if (!lateness->homes) {
		lateness->homes = pxt_rounds_homes(&lateness->rounds, is_own, NULL);
		lateness->home_count = lateness->rounds.state->actor_count;
	}
	return home->actor < lateness->home_count && lateness->homes[home->actor] == home;
}

static void round_ended(
    void *self, const struct pxt_home *home, const struct pxt_round *round, bool is_wait)
{
	struct pxt_lateness *lateness = self;
	int64_t usual;
	int64_t over;

	if (!lateness->counts || round->end_ns - round->begin_ns <= FLOOR_NS)
		return;
	over = pxt_rounds_late_by(home, round, is_wait, &usual);
	if (over <= FLOOR_NS || (!is_wait && over <= 2 * usual) || !is_at_home(lateness, home))
		return;
	lateness->threads = pxt_must_reach(
	    lateness->threads, &lateness->thread_room, home->actor, sizeof *lateness->threads);
	struct pxt_lateness_thread *thread = &lateness->threads[home->actor];
	thread->slots[lateness->slot].late++;
	thread->slots[lateness->slot].ns += over;
	if (over > thread->slots[lateness->slot].longest_ns)
		thread->slots[lateness->slot].longest_ns = over;
}

void pxt_lateness_open(struct pxt_lateness *lateness, const struct pxt_state *state)
{
	lateness->rounds.state = state;
	lateness->rounds.ended = round_ended;
	lateness->rounds.self = lateness;
}

void pxt_lateness_free(struct pxt_lateness *lateness)
{
	pxt_rounds_free(&lateness->rounds);
	free(lateness->homes);
	free(lateness->threads);
}

void pxt_lateness_take(
    struct pxt_lateness *lateness, const struct pxt_event *event, unsigned slot, bool counts)
{
	lateness->slot = slot;
	lateness->counts = counts;
	pxt_rounds_take(&lateness->rounds, event, 0);
}

void pxt_lateness_forget(struct pxt_lateness *lateness, unsigned slot)
{
	for (uint32_t i = 0; i < lateness->thread_room; i++)
		memset(
		    &lateness->threads[i].slots[slot], 0, sizeof lateness->threads[i].slots[slot]);
	free(lateness->homes);
	lateness->homes = NULL;
}

void pxt_lateness_rows(
    const struct pxt_lateness *lateness, uint32_t stream, struct pxt_numbers *numbers)
{
	for (uint32_t i = 0; i < lateness->thread_room; i++) {
		const struct pxt_lateness_thread *thread = &lateness->threads[i];
		uint64_t late = 0;
		double ns = 0;
		int64_t longest = 0;

		for (unsigned slot = 0; slot < PXT_LATENESS_SLOTS; slot++) {
			late += thread->slots[slot].late;
			ns += (double)thread->slots[slot].ns;
			if (thread->slots[slot].longest_ns > longest)
				longest = thread->slots[slot].longest_ns;
		}
		struct pxt_numbers_row *row =
		    late > 0 ? pxt_numbers_add(numbers, PXT_NUMBERS_ROUNDS, ns) : NULL;
		if (!row)
			continue;
		(void)snprintf(
		    row->label, sizeof row->label, "%s", lateness->rounds.state->actors[i]->name);
		row->stream = stream;
		row->values[PXT_NUMBERS_COUNT] = (double)late;
		row->values[PXT_NUMBERS_LONGEST] = (double)longest;
	}
}
