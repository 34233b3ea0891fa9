/* SPDX-License-Identifier: MIT */
/*
 * known.h - what a target has told already.  It says the same names again and again, and the
 * log needs them once.
 *
 * Memory: 16 bytes for each thing told, at most PXT_RECEIVE_KNOWN_MAX of them (2 MiB and a half).
 */
#ifndef PXT_RECEIVE_KNOWN_H
#define PXT_RECEIVE_KNOWN_H

#include <stdbool.h>
#include <stdint.h>

/* All that a log can name: types, threads, modules (FORMAT.md, section 9), and one process. */
#define PXT_RECEIVE_KNOWN_MAX (1024u + 65536u + 4096u + 1u)

struct pxt_receive_known {
	struct pxt_receive_known_cell {
		uint64_t key; /* never 0 */
		uint64_t value;
	} * cells;
	uint32_t count;
	uint32_t mask;
};

enum pxt_receive_known_news {
	PXT_RECEIVE_KNOWN_NEW,     /* nothing was told of @key before */
	PXT_RECEIVE_KNOWN_CHANGED, /* something else was */
	PXT_RECEIVE_KNOWN_SAME,
	PXT_RECEIVE_KNOWN_FULL /* no room, or no memory */
};

enum pxt_receive_known_news pxt_receive_known_tell(
    struct pxt_receive_known *known, uint64_t key, uint64_t value);
void pxt_receive_known_free(struct pxt_receive_known *known);

/* A number that stands for @count bytes; @start: what came before. */
uint64_t pxt_receive_known_hash(uint64_t start, const void *bytes, uint32_t count);

#endif
