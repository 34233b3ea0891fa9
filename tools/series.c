/* SPDX-License-Identifier: MIT */
#include "series.h"

#include "command.h"

#include <stdlib.h>
#include <string.h>

/* The cell of a value: values below 2 * PARTS have one each. */
static uint32_t cell_of(uint64_t value)
{
	unsigned power = 0;

	for (uint64_t rest = value >> (PXT_SERIES_SHIFT + 1); rest != 0; rest >>= 1)
		power++;
	/* The leading bit is counted with @power, so that cells of one power follow the last. */
	return power * PXT_SERIES_PARTS + (uint32_t)(value >> power);
}

static uint64_t middle_of(uint32_t cell)
{
	uint32_t power = cell < 2 * PXT_SERIES_PARTS ? 0 : cell / PXT_SERIES_PARTS - 1;
	uint64_t low = (uint64_t)(cell - power * PXT_SERIES_PARTS) << power;

	return low + ((UINT64_C(1) << power) >> 1);
}

static void to_cells(struct pxt_series *series)
{
	series->cells = pxt_must(calloc(PXT_SERIES_CELLS, sizeof *series->cells));
	for (uint64_t i = 0; i < series->count; i++)
		series->cells[cell_of(series->values[i])]++;
	free(series->values);
	series->values = NULL;
}

void pxt_series_add(struct pxt_series *series, uint64_t value)
{
	if (!series->cells && series->count == PXT_SERIES_EXACT)
		to_cells(series);
	if (series->cells) {
		series->cells[cell_of(value)]++;
	} else {
		if (series->count == series->room) {
			series->room = series->room ? 2 * series->room : 64;
			series->values = pxt_must(
			    realloc(series->values, (size_t)series->room * sizeof *series->values));
		}
		series->values[series->count] = value;
		series->sorted = false;
	}
	if (series->count == 0 || value < series->least)
		series->least = value;
	if (value > series->most)
		series->most = value;
	series->sum += (double)value;
	series->count++;
}

static int ascending(const void *a, const void *b)
{
	uint64_t x;
	uint64_t y;

	memcpy(&x, a, sizeof x);
	memcpy(&y, b, sizeof y);
	return (x > y) - (x < y);
}

uint64_t pxt_series_quantile(struct pxt_series *series, unsigned per_mille, bool *exact)
{
	uint64_t passed = 0;

	*exact = !series->cells;
	if (series->count == 0)
		return 0;
	/* Nearest rank: the smallest value with at least that share at or below it. */
	uint64_t rank =
	    series->count / 1000 * per_mille + (series->count % 1000 * per_mille + 999) / 1000;
	rank = rank == 0 ? 1 : rank;
	if (!series->cells) {
		if (!series->sorted)
			qsort(series->values, (size_t)series->count, sizeof *series->values,
			    ascending);
		series->sorted = true;
		return series->values[rank - 1];
	}
	for (uint32_t cell = 0; cell < PXT_SERIES_CELLS; cell++) {
		passed += series->cells[cell];
		if (passed < rank)
			continue;
		uint64_t value = middle_of(cell);
		value = value < series->least ? series->least : value;
		return value > series->most ? series->most : value;
	}
	return series->most;
}

void pxt_series_free(struct pxt_series *series)
{
	free(series->values);
	free(series->cells);
	*series = (struct pxt_series){ 0 };
}
