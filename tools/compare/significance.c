/* SPDX-License-Identifier: MIT */
/*
 * significance.c - statistics: which figures of two sets of logs differ by more than noise (a permutation test).
 *
 * Were there no difference, it would not matter which logs are called before and which after.  So the
 * logs are called so in all ways that there are (or PERMUTATIONS ways that are drawn), and each time
 * the largest difference of all figures is noted, measured by its standard error.  A figure differs if
 * hardly any of these is as large as its own (Westfall and Young, 1993, maxT in a single step).  As
 * each is held against the largest of all, a comparison of a hundred names is not more often wrong
 * than one of a single name.  Logarithms are compared: what counts is how many times as long.
 *
 * The interval is that of Hodges and Lehmann: of the ratios of each log after to each log before, those
 * that the exact distribution of the rank sum (Mann and Whitney) leaves.  It is one figure's own.
 */
#include "tools/compare/compare.h"
#include "tools/output/out.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define LOGS         ((size_t)2 * PXT_COMPARE_LOGS)
#define ALL_MOST     20000.0 /* so many permutations are tried, all of them, ... */
#define PERMUTATIONS 10000u  /* ... else so many of them */
/* Logs of a clock that measures nothing else have no noise at all: this much is assumed. */
#define LEAST_NOISE  0.001
/* Of so many values, the p99 is not the worst. */
#define P99_LEAST    100u

/* A figure of a name: its logarithms less their mean, before's first. */
struct judged {
	struct pxt_change *change;
	double values[LOGS];
	double squares; /* their sum */
	double distance;
	uint64_t as_far;
};

struct judging {
	unsigned before;
	unsigned all;
	struct judged *list;
	size_t count;
	unsigned order[LOGS]; /* the first @before of these are called so */
};

/* ---- Which ---- */

static double ways(unsigned before, unsigned all)
{
	double ways = 1;

	for (unsigned i = 1; i <= before; i++)
		ways = ways * (all - before + i) / i;
	return ways;
}

bool pxt_compare_enough(unsigned before, unsigned after)
{
	return before > 0 && after > 0 && 2 / ways(before, before + after) <= PXT_COMPARE_ERROR;
}

/* Whether the figure can be compared: all logs have it, and it does not depend on how many there are. */
static bool comparable(const struct pxt_comparison *comparison, const struct pxt_compared *compared,
    enum pxt_figure figure)
{
	double mean[PXT_SIDES];
	uint64_t least = UINT64_MAX;

	for (unsigned side = 0; side < PXT_SIDES; side++) {
		if (compared->found[side] < comparison->logs[side])
			return false;
		mean[side] = (double)compared->counts[side] / comparison->logs[side];
		for (unsigned i = 0; i < comparison->logs[side]; i++)
			if (compared->logs[side][i].count < least)
				least = compared->logs[side][i].count;
	}
	/* The worst of many is worse than the worst of a few. */
	if (figure == PXT_FIGURE_MEDIAN || (figure == PXT_FIGURE_P99 && least >= P99_LEAST))
		return true;
	return mean[PXT_AFTER] <= 1.25 * mean[PXT_BEFORE] &&
	       mean[PXT_BEFORE] <= 1.25 * mean[PXT_AFTER];
}

/* ---- The interval ---- */

/*
 * How many ratios at each end are left out, so that the rest is an interval of @level.  t[k][u]: in how
 * many ways k of one side, and so many of the other as were counted, have the rank sum u above its least.
 */
static unsigned left_out(unsigned before, unsigned after, double *level)
{
	size_t width = (size_t)before * after + 1;
	double *t = pxt_must(calloc((before + 1u) * width, sizeof *t));
	double tail = 0;
	unsigned out = 0;

	for (unsigned k = 0; k <= before; k++)
		t[k * width] = 1;
	for (unsigned j = 1; j <= after; j++)
		for (unsigned k = 1; k <= before; k++)
			for (size_t u = width; u-- > 0;)
				t[k * width + u] =
				    t[(k - 1) * width + u] + (u >= k ? t[k * width + u - k] : 0);
	while (out < width / 2 && 2 * (tail + t[before * width + out]) <=
	                              PXT_COMPARE_ERROR * ways(before, before + after))
		tail += t[before * width + out++];
	*level = out > 0 ? 1 - 2 * tail / ways(before, before + after) : 0;
	free(t);
	return out;
}

static int ascending(const void *a, const void *b)
{
	double x;
	double y;

	memcpy(&x, a, sizeof x);
	memcpy(&y, b, sizeof y);
	return x < y ? -1 : x > y;
}

static double of_log(const struct pxt_compared *compared, unsigned side, unsigned log, unsigned k)
{
	uint64_t ns = compared->logs[side][log].ns[k];

	return ns > 0 ? (double)ns : 1;
}

static void put_interval(const struct pxt_comparison *comparison,
    const struct pxt_compared *compared, unsigned figure, unsigned out, struct pxt_change *change)
{
	size_t count = 0;
	double *ratios =
	    pxt_must(calloc((size_t)comparison->logs[0] * comparison->logs[1], sizeof *ratios));

	for (unsigned i = 0; i < comparison->logs[PXT_BEFORE]; i++)
		for (unsigned k = 0; k < comparison->logs[PXT_AFTER]; k++)
			ratios[count++] = of_log(compared, PXT_AFTER, k, figure) /
			                  of_log(compared, PXT_BEFORE, i, figure);
	qsort(ratios, count, sizeof *ratios, ascending);
	change->ratio = (ratios[(count - 1) / 2] + ratios[count / 2]) / 2;
	change->low = ratios[out - 1];
	change->high = ratios[count - out];
	free(ratios);
}

/* ---- The permutations ---- */

/* The difference of the means, by its standard error; squared. */
static double distance_of(const struct judging *j, const struct judged *judged)
{
	double after = j->all - j->before;
	double parts = 1.0 / j->before + 1 / after;
	double sum = 0;
	double within;

	for (unsigned i = 0; i < j->before; i++)
		sum += judged->values[j->order[i]];
	within = judged->squares - sum * sum * parts;
	within = within > 0 ? within / (j->all - 2) : 0;
	return sum * sum * parts * parts / (within * parts + LEAST_NOISE * LEAST_NOISE);
}

static void try_order(struct judging *j)
{
	double largest = 0;

	for (size_t i = 0; i < j->count; i++) {
		double distance = distance_of(j, &j->list[i]);

		largest = distance > largest ? distance : largest;
	}
	/* Equal ones differ in the last digits, by the order of adding. */
	for (size_t i = 0; i < j->count; i++)
		j->list[i].as_far += largest >= j->list[i].distance * (1 - 1e-9);
}

/* The next choice of @before logs, in the order of their numbers; false: that was the last. */
static bool next_order(struct judging *j)
{
	unsigned i = j->before;

	while (i > 0 && j->order[i - 1] == j->all - j->before + i - 1)
		i--;
	if (i == 0)
		return false;
	j->order[i - 1]++;
	for (; i < j->before; i++)
		j->order[i] = j->order[i - 1] + 1;
	return true;
}

/* The same logs have the same answer, each time. */
static void draw_order(struct judging *j, uint64_t *random)
{
	for (unsigned i = 0; i < j->before; i++) {
		*random ^= *random << 13;
		*random ^= *random >> 7;
		*random ^= *random << 17;
		unsigned other = i + (unsigned)(*random % (j->all - i));
		unsigned log = j->order[i];

		j->order[i] = j->order[other];
		j->order[other] = log;
	}
}

static void permute(struct judging *j, struct pxt_comparison *comparison)
{
	uint64_t random = UINT64_C(0x9e3779b97f4a7c15);

	for (unsigned i = 0; i < j->all; i++)
		j->order[i] = i;
	for (size_t i = 0; i < j->count; i++)
		j->list[i].distance = distance_of(j, &j->list[i]);
	comparison->all_permutations = ways(j->before, j->all) <= ALL_MOST;
	/* The order as it is counts as one. */
	do {
		try_order(j);
		comparison->permutations++;
		if (!comparison->all_permutations)
			draw_order(j, &random);
	} while (
	    comparison->all_permutations ? next_order(j) : comparison->permutations < PERMUTATIONS);
}

/* ---- All of it ---- */

static void add(struct judging *j, const struct pxt_compared *compared, unsigned figure)
{
	struct judged *judged = &j->list[j->count++];
	double mean = 0;

	for (unsigned i = 0; i < j->all; i++) {
		bool is_after = i >= j->before;

		judged->values[i] =
		    log(of_log(compared, is_after, is_after ? i - j->before : i, figure));
		mean += judged->values[i] / j->all;
	}
	for (unsigned i = 0; i < j->all; i++) {
		judged->values[i] -= mean;
		judged->squares += judged->values[i] * judged->values[i];
	}
}

static void conclude(struct judged *judged, uint64_t permutations)
{
	struct pxt_change *change = judged->change;

	change->p = (double)judged->as_far / (double)permutations;
	change->verdict = PXT_VERDICT_NOISE;
	if (change->p <= PXT_COMPARE_ERROR && change->low > 1)
		change->verdict = PXT_VERDICT_SLOWER;
	else if (change->p <= PXT_COMPARE_ERROR && change->high < 1)
		change->verdict = PXT_VERDICT_FASTER;
}

static void judge_all(struct judging *j, struct pxt_comparison *comparison, unsigned out)
{
	for (unsigned i = 0; i < comparison->count; i++) {
		struct pxt_compared *compared = comparison->list[i];

		for (unsigned k = 0; k < PXT_FIGURES; k++) {
			if (!comparable(comparison, compared, (enum pxt_figure)k))
				continue;
			put_interval(comparison, compared, k, out, &compared->changes[k]);
			j->list[j->count].change = &compared->changes[k];
			add(j, compared, k);
		}
	}
	if (j->count > 0)
		permute(j, comparison);
	for (size_t i = 0; i < j->count; i++)
		conclude(&j->list[i], comparison->permutations);
}

void pxt_compare_judge(struct pxt_comparison *comparison)
{
	const unsigned *logs = comparison->logs;
	struct judging j = { .before = logs[PXT_BEFORE],
		.all = logs[PXT_BEFORE] + logs[PXT_AFTER] };

	if (pxt_compare_enough(logs[PXT_BEFORE], logs[PXT_AFTER])) {
		j.list =
		    pxt_must(calloc((size_t)comparison->count * PXT_FIGURES + 1, sizeof *j.list));
		judge_all(&j, comparison,
		    left_out(logs[PXT_BEFORE], logs[PXT_AFTER], &comparison->level));
		free(j.list);
	}
	for (unsigned i = 0; i < comparison->count; i++)
		for (unsigned k = 0; k < PXT_FIGURES; k++)
			comparison->verdicts[comparison->list[i]->changes[k].verdict]++;
}
