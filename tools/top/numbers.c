/* SPDX-License-Identifier: MIT */
/* numbers.c - tables of numbers, and their order; see model.h. */
#include "tools/top/model.h"

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

bool pxt_numbers_has(enum pxt_numbers_table table, enum pxt_numbers_column column)
{
	return (tables[table].columns & BIT(column)) != 0;
}

enum pxt_numbers_column pxt_numbers_order(
    enum pxt_numbers_table table, enum pxt_numbers_column column)
{
	return pxt_numbers_has(table, column) ? column : tables[table].usual;
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
		sorted_by = pxt_numbers_order((enum pxt_numbers_table)i, column);
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
