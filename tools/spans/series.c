/* SPDX-License-Identifier: MIT */
/* series.c - extremes, mean and quantiles of durations; see pairs.h. */
#include "tools/spans/pairs.h"

#include "tools/output/out.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* What all series have taken. */
static uint32_t values_taken;
static uint32_t chunks_taken;

/* ---- Cells: number p * PARTS + part; the first two powers share the parts of one width ---- */

/* The cell of a value: values below 2 * PARTS have one each. */
static uint32_t cell_of(uint64_t value)
{
	uint64_t rest = value >> (PXT_SERIES_SHIFT + 1);
	unsigned power = rest ? 64u - (unsigned)__builtin_clzll(rest) : 0;

	/* The leading bit is counted with @power, so that cells of one power follow the last. */
	return power * PXT_SERIES_PARTS + (uint32_t)(value >> power);
}

/* The smallest value of a cell. */
static uint64_t low_of(uint32_t cell)
{
	uint32_t power = cell < 2 * PXT_SERIES_PARTS ? 0 : cell / PXT_SERIES_PARTS - 1;

	return (uint64_t)(cell - power * PXT_SERIES_PARTS) << power;
}

static uint64_t width_of(uint32_t cell)
{
	return UINT64_C(1) << (cell < 2 * PXT_SERIES_PARTS ? 0 : cell / PXT_SERIES_PARTS - 1);
}

static void count_in_cells(struct pxt_cells *cells, uint64_t value, uint64_t times)
{
	uint32_t cell = cell_of(value);
	uint32_t power = cell / PXT_SERIES_PARTS;

	if (!cells->chunks[power] && chunks_taken < PXT_SERIES_CHUNKS) {
		cells->chunks[power] = pxt_must(calloc(PXT_SERIES_PARTS, sizeof(uint64_t)));
		chunks_taken++;
	}
	if (cells->chunks[power])
		cells->chunks[power][cell % PXT_SERIES_PARTS] += times;
	else
		cells->whole[power] += times;
}

static void to_cells(struct pxt_series *series)
{
	series->cells = pxt_must(calloc(1, sizeof *series->cells));
	for (uint64_t i = 0; i < series->count; i++)
		count_in_cells(series->cells, series->values[i], 1);
	free(series->values);
	values_taken -= series->room;
	series->values = NULL;
	series->room = 0;
}

/* ---- Adding ---- */

/* Room for one more exact value; false: there are too many, of this series or of all. */
static bool make_room(struct pxt_series *series)
{
	uint32_t room = series->room ? 2 * series->room : 64;

	if (series->count < series->room)
		return true;
	if (series->count == PXT_SERIES_EXACT ||
	    PXT_SERIES_VALUES - values_taken < room - series->room)
		return false;
	series->values = pxt_must(realloc(series->values, (size_t)room * sizeof *series->values));
	values_taken += room - series->room;
	series->room = room;
	return true;
}

void pxt_series_add(struct pxt_series *series, uint64_t value)
{
	double distance = (double)value - series->mean;

	if (!series->cells && make_room(series)) {
		series->values[series->count] = value;
		series->sorted = false;
	} else {
		if (!series->cells)
			to_cells(series);
		count_in_cells(series->cells, value, 1);
	}
	if (series->count == 0 || value < series->least)
		series->least = value;
	if (value > series->most)
		series->most = value;
	series->count++;
	/* Step by step: a sum of squares would lose the small distances of large values. */
	series->mean += distance / (double)series->count;
	series->squares += distance * ((double)value - series->mean);
}

/* ---- Joining ---- */

static void join_cells(struct pxt_cells *cells, const struct pxt_cells *from)
{
	for (uint32_t power = 0; power <= PXT_SERIES_POWERS; power++) {
		uint32_t first = power * PXT_SERIES_PARTS;

		if (from->whole[power] > 0)
			count_in_cells(
			    cells, low_of(first + PXT_SERIES_PARTS / 2), from->whole[power]);
		for (uint32_t part = 0; from->chunks[power] && part < PXT_SERIES_PARTS; part++)
			if (from->chunks[power][part] > 0)
				count_in_cells(
				    cells, low_of(first + part), from->chunks[power][part]);
	}
}

/* Mean and distances of two groups as of one. */
static void join_moments(struct pxt_series *series, const struct pxt_series *from)
{
	double ours = (double)series->count;
	double theirs = (double)from->count;
	double distance = from->mean - series->mean;

	series->mean += distance * theirs / (ours + theirs);
	series->squares += from->squares + distance * distance * ours * theirs / (ours + theirs);
}

void pxt_series_join(struct pxt_series *series, const struct pxt_series *from)
{
	if (from->count == 0)
		return;
	if (!from->cells) {
		for (uint64_t i = 0; i < from->count; i++)
			pxt_series_add(series, from->values[i]);
		return;
	}
	if (!series->cells)
		to_cells(series);
	join_cells(series->cells, from->cells);
	join_moments(series, from);
	if (series->count == 0 || from->least < series->least)
		series->least = from->least;
	if (from->most > series->most)
		series->most = from->most;
	series->count += from->count;
}

/* ---- Asking ---- */

int pxt_series_ascending(const void *a, const void *b)
{
	uint64_t x;
	uint64_t y;

	memcpy(&x, a, sizeof x);
	memcpy(&y, b, sizeof y);
	return (x > y) - (x < y);
}

static void sort(struct pxt_series *series)
{
	if (!series->sorted && series->values)
		qsort(series->values, (size_t)series->count, sizeof *series->values,
		    pxt_series_ascending);
	series->sorted = true;
}

static uint64_t within(const struct pxt_series *series, uint64_t value)
{
	value = value < series->least ? series->least : value;
	return value > series->most ? series->most : value;
}

static uint64_t quantile_of_cells(const struct pxt_series *series, uint64_t rank)
{
	const struct pxt_cells *cells = series->cells;
	uint64_t passed = 0;

	for (uint32_t power = 0; power <= PXT_SERIES_POWERS; power++) {
		uint32_t first = power * PXT_SERIES_PARTS;

		passed += cells->whole[power];
		if (passed >= rank)
			return within(series, low_of(first + PXT_SERIES_PARTS / 2));
		for (uint32_t part = 0; cells->chunks[power] && part < PXT_SERIES_PARTS; part++) {
			passed += cells->chunks[power][part];
			if (passed >= rank)
				return within(
				    series, low_of(first + part) + width_of(first + part) / 2);
		}
	}
	return series->most;
}

uint64_t pxt_series_quantile(struct pxt_series *series, unsigned per_mille, bool *exact)
{
	*exact = !series->cells;
	if (series->count == 0)
		return 0;
	/* Nearest rank: the smallest value with at least that share at or below it. */
	uint64_t rank =
	    series->count / 1000 * per_mille + (series->count % 1000 * per_mille + 999) / 1000;
	rank = rank == 0 ? 1 : rank;
	if (series->cells)
		return quantile_of_cells(series, rank);
	sort(series);
	return series->values[rank - 1];
}

double pxt_series_deviation(const struct pxt_series *series)
{
	return series->count > 0 && series->squares > 0
	           ? sqrt(series->squares / (double)series->count)
	           : 0;
}

static uint64_t between_cells(const struct pxt_cells *cells, uint64_t low, uint64_t high)
{
	uint32_t last = cell_of(high - 1);
	uint64_t sum = 0;

	for (uint32_t cell = cell_of(low); cell <= last; cell++) {
		uint32_t power = cell / PXT_SERIES_PARTS;
		uint32_t part = cell % PXT_SERIES_PARTS;

		if (cells->chunks[power])
			sum += cells->chunks[power][part];
		/* Whole powers count where their middle is. */
		if (part == PXT_SERIES_PARTS / 2)
			sum += cells->whole[power];
	}
	return sum;
}

uint64_t pxt_series_between(struct pxt_series *series, uint64_t low, uint64_t high)
{
	uint64_t sum = 0;

	if (high <= low)
		return 0;
	if (series->cells)
		return between_cells(series->cells, low, high);
	sort(series);
	for (uint64_t i = 0; i < series->count; i++)
		sum += series->values[i] >= low && series->values[i] < high;
	return sum;
}

void pxt_series_free(struct pxt_series *series)
{
	free(series->values);
	values_taken -= series->room;
	for (uint32_t power = 0; series->cells && power <= PXT_SERIES_POWERS; power++) {
		chunks_taken -= series->cells->chunks[power] != NULL;
		free(series->cells->chunks[power]);
	}
	free(series->cells);
	*series = (struct pxt_series){ 0 };
}
