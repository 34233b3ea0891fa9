/* SPDX-License-Identifier: MIT */
/*
 * numbers.h - what `pxtrace top` shows at one moment: five tables of numbers, which know neither logs
 * nor the screen, so that they can stand still while all goes on.
 *
 * Bounded: PXT_NUMBERS_ROWS rows of a table.  Where there are more, those stay that are first in the
 * table's usual order.
 */
#ifndef PXT_TOP_NUMBERS_H
#define PXT_TOP_NUMBERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PXT_NUMBERS_ROWS  256u
#define PXT_NUMBERS_LABEL 160u

enum pxt_numbers_table {
	PXT_NUMBERS_STREAMS,
	PXT_NUMBERS_THREADS,
	PXT_NUMBERS_PAIRS,
	PXT_NUMBERS_ROUNDS, /* late ones, by thread */
	PXT_NUMBERS_LOCKS,
	PXT_NUMBERS_TABLES
};

enum pxt_numbers_column {
	PXT_NUMBERS_USUAL, /* each table by its own most telling column */
	PXT_NUMBERS_NAME,
	PXT_NUMBERS_EVENTS, /* a second */
	PXT_NUMBERS_LOST,   /* a second */
	PXT_NUMBERS_FILL,   /* per cent */
	PXT_NUMBERS_SHARE,  /* of its stream's events, per cent */
	PXT_NUMBERS_COUNT,
	PXT_NUMBERS_P50, /* nanoseconds, as all that follow but the last two */
	PXT_NUMBERS_P99,
	PXT_NUMBERS_MAX,
	PXT_NUMBERS_LATE,
	PXT_NUMBERS_WAITED,
	PXT_NUMBERS_LONGEST,
	PXT_NUMBERS_WAITS,
	PXT_NUMBERS_WAITING, /* threads, now */
	PXT_NUMBERS_COLUMNS
};

struct pxt_numbers_row {
	char label[PXT_NUMBERS_LABEL]; /* escaped, as all texts here */
	uint32_t stream;               /* whose it is: a number that the stream keeps */
	double values[PXT_NUMBERS_COLUMNS];
	/* Of streams alone. */
	char program[PXT_NUMBERS_LABEL];
	const char *state;
	long pid;
	double lost_all;
	double seen; /* per cent of its events that were read here; below 0: none are read */
};

struct pxt_numbers {
	double seconds; /* of which they are */
	struct {
		uint32_t count;
		struct pxt_numbers_row rows[PXT_NUMBERS_ROWS];
	} tables[PXT_NUMBERS_TABLES];
};

void pxt_numbers_clear(struct pxt_numbers *numbers);
/*
 * An empty row; @value is that of the table's usual column.  NULL where the table is full of rows that come
 * before it.
 */
struct pxt_numbers_row *pxt_numbers_add(
    struct pxt_numbers *numbers, enum pxt_numbers_table table, double value);
/* By a column, largest first, names by the alphabet; a table that lacks it in its usual order. */
void pxt_numbers_sort(struct pxt_numbers *numbers, enum pxt_numbers_column column);
bool pxt_numbers_has(enum pxt_numbers_table table, enum pxt_numbers_column column);
/* What @table is sorted by where @column is asked for. */
enum pxt_numbers_column pxt_numbers_order(
    enum pxt_numbers_table table, enum pxt_numbers_column column);
/* The name of the stream of that number, "" where there is none. */
const char *pxt_numbers_stream(const struct pxt_numbers *numbers, uint32_t stream);

/* What a column is called by --by. */
const char *pxt_numbers_word(enum pxt_numbers_column column);
/* PXT_NUMBERS_COLUMNS: none is called so. */
enum pxt_numbers_column pxt_numbers_called(const char *word);

#endif
