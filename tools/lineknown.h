/* SPDX-License-Identifier: MIT */
/*
 * lineknown.h - what a target has told already.  It says the same names again and again, and the
 * log needs them once.
 *
 * Memory: 16 bytes for each thing told, at most PXT_LINEKNOWN_MAX of them (2 MiB and a half).
 */
#ifndef PXT_LINEKNOWN_H
#define PXT_LINEKNOWN_H

#include <stdbool.h>
#include <stdint.h>

/* All that a log can name: types, threads, modules (FORMAT.md, section 9), and one process. */
#define PXT_LINEKNOWN_MAX (1024u + 65536u + 4096u + 1u)

struct pxt_lineknown {
	struct pxt_lineknown_cell {
		uint64_t key; /* never 0 */
		uint64_t value;
	} * cells;
	uint32_t count;
	uint32_t mask;
};

enum pxt_lineknown_news {
	PXT_LINEKNOWN_NEW,     /* nothing was told of @key before */
	PXT_LINEKNOWN_CHANGED, /* something else was */
	PXT_LINEKNOWN_SAME,
	PXT_LINEKNOWN_FULL /* no room, or no memory */
};

enum pxt_lineknown_news pxt_lineknown_tell(
    struct pxt_lineknown *known, uint64_t key, uint64_t value);
void pxt_lineknown_free(struct pxt_lineknown *known);

/* A number that stands for @count bytes; @start: what came before. */
uint64_t pxt_lineknown_hash(uint64_t start, const void *bytes, uint32_t count);

#endif
