/* SPDX-License-Identifier: MIT */
/* tables.c - what the tables of all forms have in common: order, labels, durations. */
#include "tools/output/when.h"
#include "tools/stat/stat.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int by_count(const void *a, const void *b)
{
	const struct pxt_tally *x = a;
	const struct pxt_tally *y = b;

	if (x->count != y->count)
		return x->count > y->count ? -1 : 1;
	return strcmp(x->label, y->label);
}

size_t pxt_stat_sort(struct pxt_tally *tallies, size_t length)
{
	size_t used = 0;

	/* The labels point into the source: moving the tallies spoils nothing of it. */
	for (size_t i = 0; i < length; i++)
		if (tallies[i].count > 0)
			tallies[used++] = tallies[i];
	qsort(tallies, used, sizeof *tallies, by_count);
	return used;
}

size_t pxt_stat_pair_label(
    const struct pxt_stat *s, const struct pxt_row *row, char *label, size_t room)
{
	const struct pxt_pair *pair = &s->pairs->pairs[row->pair];
	const char *begin = pair->begin ? pair->begin->label : NULL;
	const char *end = pair->end ? pair->end->label : NULL;

	if (pair->system) {
		(void)snprintf(label, room, "%s", pair->base);
		return strlen(label);
	}
	if (pair->is_explicit) {
		begin = begin ? begin : s->options.pairs[row->pair].begin;
		end = end ? end : s->options.pairs[row->pair].end;
	}
	(void)snprintf(label, room, "%s .. %s", begin, end);
	return strlen(label);
}

void pxt_stat_duration(const struct pxt_stat *s, char *text, uint64_t ns)
{
	if (s->plain_ns)
		(void)snprintf(text, 24, "%llu", (unsigned long long)ns);
	else
		pxt_duration(text, ns);
}
