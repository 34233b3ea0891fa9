/* SPDX-License-Identifier: MIT */
/* suggest.c - the distance of two words. */
#include "tools/command/suggest.h"

#include <string.h>

/* Insertions, deletions and replacements that lead from @a to @b; words beyond 63 bytes: many. */
static unsigned distance(const char *a, const char *b)
{
	unsigned row[64];
	size_t length = strlen(b);

	if (length >= sizeof row / sizeof *row || strlen(a) >= sizeof row / sizeof *row)
		return 99;
	for (unsigned k = 0; k <= length; k++)
		row[k] = k;
	for (unsigned i = 1; *a; i++, a++) {
		unsigned diagonal = row[0];

		row[0] = i;
		for (size_t k = 1; k <= length; k++) {
			unsigned replaced = diagonal + (*a != b[k - 1]);
			unsigned other = (row[k] < row[k - 1] ? row[k] : row[k - 1]) + 1;

			diagonal = row[k];
			row[k] = replaced < other ? replaced : other;
		}
	}
	return row[length];
}

bool pxt_suggest_nearer(const char *word, const char *name, unsigned *least)
{
	unsigned d = distance(word, name);

	/* A beginning of two letters is as good as a word with few mistakes. */
	if (strlen(word) >= 2 && strncmp(word, name, strlen(word)) == 0)
		d = 0;
	if (d >= *least || d + 1 >= strlen(name))
		return false;
	*least = d;
	return true;
}

const char *pxt_suggest(const char *word, const char *const *names)
{
	const char *best = NULL;
	unsigned least = PXT_SUGGEST_FAR;

	for (; *names; names++)
		if (pxt_suggest_nearer(word, *names, &least))
			best = *names;
	return best;
}
