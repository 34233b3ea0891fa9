/* SPDX-License-Identifier: MIT */
/*
 * perfring.h - the records in a buffer that the kernel fills, the mapping of perf_event_open(2).
 *
 * The kernel writes, and only this reads.  What the kernel wrote is seen once pxt_perfring_look()
 * has seen how far it came; the kernel gets room back by pxt_perfring_free().  Between the two the
 * bytes stay.
 *
 *	| who | what |
 *	|-----|------|
 *	| kernel | data_head: how far it came, after the bytes |
 *	| us     | data_tail: up to where it may overwrite, after the last look at the bytes |
 */
#ifndef PXT_PERFRING_H
#define PXT_PERFRING_H

#include <linux/perf_event.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct pxt_perfring {
	struct perf_event_mmap_page *page;
	const unsigned char *data;
	uint64_t size; /* of @data: a power of two */
	uint64_t head; /* as it was looked up last */
	uint64_t tail;
	uint64_t broken;         /* bytes that were no record */
	unsigned char *straight; /* a record that lies on both ends, in one piece: 64 KiB */
};

/* @size: a power of two, at least 4,096.  False: there is no memory. */
bool pxt_perfring_init(struct pxt_perfring *ring, struct perf_event_mmap_page *page,
    const unsigned char *data, uint64_t size);
void pxt_perfring_destroy(struct pxt_perfring *ring);
/* How far the kernel came; returns the bytes that are to be read. */
uint64_t pxt_perfring_look(struct pxt_perfring *ring);
/* The next record and its size; NULL: there is none.  It stays until the next call. */
const unsigned char *pxt_perfring_next(struct pxt_perfring *ring, size_t *size);
/* Behind the record that was the next one. */
void pxt_perfring_skip(struct pxt_perfring *ring, size_t size);
void pxt_perfring_free(struct pxt_perfring *ring);

#endif
