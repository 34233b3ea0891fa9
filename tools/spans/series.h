/* SPDX-License-Identifier: MIT */
/*
 * series.h - durations of one kind: count, extremes, mean and deviation; quantiles exactly up to
 * PXT_SERIES_EXACT values, then from a histogram.
 *
 * The histogram is log-linear: every power of two is divided into 128 equal parts, and a quantile
 * is the middle of its part.  It is wrong by at most 1/256 (0.4 %) of itself, values below 256 ns
 * by nothing, however many values there are.
 *
 * Memory, of all series together: PXT_SERIES_VALUES exact values (8 MiB), then PXT_SERIES_CHUNKS
 * chunks of 128 parts (64 MiB), a chunk for each power of two that occurs in a series.  Who finds no
 * chunk any more counts whole powers of two: their quantiles are within a third.  No log of a program
 * gets there, but a hostile one may.
 */
#ifndef PXT_SERIES_H
#define PXT_SERIES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PXT_SERIES_EXACT  16384u
#define PXT_SERIES_VALUES (UINT32_C(1) << 20)
#define PXT_SERIES_CHUNKS (UINT32_C(1) << 16)
#define PXT_SERIES_SHIFT  7u
#define PXT_SERIES_PARTS  (1u << PXT_SERIES_SHIFT)
#define PXT_SERIES_POWERS (64u - PXT_SERIES_SHIFT)

/* When a series is counted in cells. */
struct pxt_cells {
	/* Values from 2^(p+7) up to 2^(p+8) - 1 (p = 0: from 0), in PARTS parts (p = 0: two times). */
	uint64_t *chunks[PXT_SERIES_POWERS + 1];
	uint64_t whole[PXT_SERIES_POWERS + 1]; /* what found no chunk */
};

struct pxt_series {
	uint64_t count;
	uint64_t least;
	uint64_t most;
	double mean;
	double squares;   /* of the distances from the mean: their sum */
	uint64_t *values; /* while there are few of them */
	uint32_t room;
	bool sorted;
	struct pxt_cells *cells; /* when there are many */
};

void pxt_series_add(struct pxt_series *series, uint64_t value);
/* Adds all that is in @from; what that has counted in cells becomes the middle of them. */
void pxt_series_join(struct pxt_series *series, const struct pxt_series *from);
/* The value that @per_mille thousandths of the values do not exceed; *exact: it is one of them. */
uint64_t pxt_series_quantile(struct pxt_series *series, unsigned per_mille, bool *exact);
/* Standard deviation of the values, as of a whole population. */
double pxt_series_deviation(const struct pxt_series *series);
/*
 * How many values there are from @low up to, but without, @high: exactly where both are multiples
 * of an eighth of the power of two below them.
 */
uint64_t pxt_series_between(struct pxt_series *series, uint64_t low, uint64_t high);
void pxt_series_free(struct pxt_series *series);

#endif
