/* SPDX-License-Identifier: MIT */
/* lineknown.c - a hash table that grows up to its bound. */
#include "lineknown.h"

#include <stdlib.h>

#define FIRST_CELLS 256u

/* FNV-1a; a stranger who makes two things equal loses the second one's name, no more. */
uint64_t pxt_lineknown_hash(uint64_t start, const void *bytes, uint32_t count)
{
	const unsigned char *at = bytes;
	uint64_t hash = start ^ 0xcbf29ce484222325u;

	for (uint32_t i = 0; i < count; i++)
		hash = (hash ^ at[i]) * 0x100000001b3u;
	return hash;
}

static struct pxt_lineknown_cell *find(const struct pxt_lineknown *known, uint64_t key)
{
	uint32_t place = (uint32_t)(key >> 32 ^ key) * 0x9e3779b1u & known->mask;

	while (known->cells[place].key && known->cells[place].key != key)
		place = (place + 1u) & known->mask;
	return &known->cells[place];
}

/* At most three quarters are taken, so that a search ends. */
static bool grow(struct pxt_lineknown *known)
{
	struct pxt_lineknown larger = { .mask = known->mask ? known->mask * 2u + 1u
		                                            : FIRST_CELLS - 1u };

	if (known->cells && known->count < known->mask / 4u * 3u)
		return true;
	larger.cells = calloc((size_t)larger.mask + 1u, sizeof *larger.cells);
	if (!larger.cells)
		return false;
	for (uint32_t i = 0; known->cells && i <= known->mask; i++)
		if (known->cells[i].key)
			*find(&larger, known->cells[i].key) = known->cells[i];
	larger.count = known->count;
	free(known->cells);
	*known = larger;
	return true;
}

enum pxt_lineknown_news pxt_lineknown_tell(
    struct pxt_lineknown *known, uint64_t key, uint64_t value)
{
	struct pxt_lineknown_cell *cell;
	enum pxt_lineknown_news news;

	key = key ? key : 1u;
	if (!grow(known))
		return PXT_LINEKNOWN_FULL;
	cell = find(known, key);
	if (!cell->key && known->count >= PXT_LINEKNOWN_MAX)
		return PXT_LINEKNOWN_FULL;
	if (!cell->key) {
		known->count++;
		news = PXT_LINEKNOWN_NEW;
	} else {
		news = cell->value == value ? PXT_LINEKNOWN_SAME : PXT_LINEKNOWN_CHANGED;
	}
	cell->key = key;
	cell->value = value;
	return news;
}

void pxt_lineknown_free(struct pxt_lineknown *known)
{
	free(known->cells);
	*known = (struct pxt_lineknown){ 0 };
}
