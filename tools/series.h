/* SPDX-License-Identifier: MIT */
/*
 * series.h - durations of one kind: count, extremes and mean exactly; quantiles exactly up to
 * PXT_SERIES_EXACT values, then from a histogram.
 *
 * The histogram is log-linear: every power of two is divided into 128 equal parts, and a quantile
 * is the middle of its part.  It is wrong by at most 1/256 (0.4 %) of itself, values below 256 ns
 * by nothing; 58 KiB a series, however many values there are.
 */
#ifndef PXT_SERIES_H
#define PXT_SERIES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PXT_SERIES_EXACT 16384u
#define PXT_SERIES_SHIFT 7u
#define PXT_SERIES_PARTS (1u << PXT_SERIES_SHIFT)
#define PXT_SERIES_CELLS ((size_t)(64u - PXT_SERIES_SHIFT + 1u) * PXT_SERIES_PARTS)

struct pxt_series {
	uint64_t count;
	uint64_t least;
	uint64_t most;
	double sum;
	uint64_t *values; /* while there are few of them */
	uint32_t room;
	bool sorted;
	uint64_t *cells; /* when there are many */
};

void pxt_series_add(struct pxt_series *series, uint64_t value);
/* The value that @per_mille thousandths of the values do not exceed; *exact: it is one of them. */
uint64_t pxt_series_quantile(struct pxt_series *series, unsigned per_mille, bool *exact);
void pxt_series_free(struct pxt_series *series);

#endif
