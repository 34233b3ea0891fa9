/* SPDX-License-Identifier: MIT */
/* known.c - a hash table that grows up to its bound. */
#include "tools/receive/known.h"

#include <stdlib.h>

#define FIRST_CELLS 256u

/* FNV-1a; a stranger who makes two things equal loses the second one's name, no more. */
uint64_t pxt_receive_known_hash(uint64_t start, const void *bytes, uint32_t count)
{
	const unsigned char *at = bytes;
	uint64_t hash = start ^ 0xcbf29ce484222325u;

	for (uint32_t i = 0; i < count; i++)
		hash = (hash ^ at[i]) * 0x100000001b3u;
	return hash;
}

static struct pxt_receive_known_cell *find(const struct pxt_receive_known *known, uint64_t key)
{
	uint32_t place = (uint32_t)(key >> 32 ^ key) * 0x9e3779b1u & known->mask;

	while (known->cells[place].key && known->cells[place].key != key)
		place = (place + 1u) & known->mask;
	return &known->cells[place];
}

/* At most three quarters are taken, so that a search ends. */
static bool grow(struct pxt_receive_known *known)
{
	struct pxt_receive_known larger = { .mask = known->mask ? known->mask * 2u + 1u
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

enum pxt_receive_known_news pxt_receive_known_tell(
    struct pxt_receive_known *known, uint64_t key, uint64_t value)
{
	struct pxt_receive_known_cell *cell;
	enum pxt_receive_known_news news;

	key = key ? key : 1u;
	if (!grow(known))
		return PXT_RECEIVE_KNOWN_FULL;
	cell = find(known, key);
	if (!cell->key && known->count >= PXT_RECEIVE_KNOWN_MAX)
		return PXT_RECEIVE_KNOWN_FULL;
	if (!cell->key) {
		known->count++;
		news = PXT_RECEIVE_KNOWN_NEW;
	} else {
		news = cell->value == value ? PXT_RECEIVE_KNOWN_SAME : PXT_RECEIVE_KNOWN_CHANGED;
	}
	cell->key = key;
	cell->value = value;
	return news;
}

void pxt_receive_known_free(struct pxt_receive_known *known)
{
	free(known->cells);
	*known = (struct pxt_receive_known){ 0 };
}
