/* SPDX-License-Identifier: MIT */
/* suggest.c - the distance of two words. */
#include "tools/command/suggest.h"

#include <string.h>

/* Insertions, deletions and replacements that lead from @a to @b; words beyond 31 bytes: many. */
static unsigned distance(const char *a, const char *b)
{
	unsigned row[32];
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

const char *pxt_suggest(const char *word, const char *const *names)
{
	const char *best = NULL;
	unsigned least = 3;

	for (; *names; names++) {
		unsigned d = distance(word, *names);

		/* A beginning of two letters is as good as a word with few mistakes. */
		if (strlen(word) >= 2 && strncmp(word, *names, strlen(word)) == 0)
			d = 0;
		if (d < least && d < strlen(*names) - 1) {
			least = d;
			best = *names;
		}
	}
	return best;
}
