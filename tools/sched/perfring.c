/* SPDX-License-Identifier: MIT */
/* perfring.c - whole records out of a ring of bytes; see perfring.h. */
#include "tools/sched/perfring.h"

#include <stdlib.h>
#include <string.h>

#define RECORD_MAX 65536u /* its size has 16 bits */

bool pxt_perfring_init(struct pxt_perfring *ring, struct perf_event_mmap_page *page,
    const unsigned char *data, uint64_t size)
{
	*ring = (struct pxt_perfring){ .page = page, .data = data, .size = size };
	ring->straight = malloc(RECORD_MAX);
	return ring->straight != NULL;
}

void pxt_perfring_destroy(struct pxt_perfring *ring)
{
	free(ring->straight);
	ring->straight = NULL;
}

uint64_t pxt_perfring_look(struct pxt_perfring *ring)
{
	/* The partner of the kernel's barrier before it writes data_head: the bytes are there. */
	ring->head = __atomic_load_n(&ring->page->data_head, __ATOMIC_ACQUIRE);
	return ring->head - ring->tail;
}

/* Whatever is there is no record, so nobody knows where the next one begins. */
static const unsigned char *give_up(struct pxt_perfring *ring)
{
	ring->broken += ring->head - ring->tail;
	ring->tail = ring->head;
	return NULL;
}

const unsigned char *pxt_perfring_next(struct pxt_perfring *ring, size_t *size)
{
	uint64_t there = ring->head - ring->tail;
	uint64_t at = ring->tail & (ring->size - 1);
	struct perf_event_header head;

	if (there == 0)
		return NULL;
	/* Records begin at multiples of 8, so that no head lies on both ends. */
	if (there > ring->size || there < sizeof head || ring->size - at < sizeof head)
		return give_up(ring);
	memcpy(&head, ring->data + at, sizeof head);
	if (head.size < sizeof head || head.size > there)
		return give_up(ring);
	*size = head.size;
	if (head.size <= ring->size - at)
		return ring->data + at;
	memcpy(ring->straight, ring->data + at, (size_t)(ring->size - at));
	memcpy(
	    ring->straight + (ring->size - at), ring->data, head.size - (size_t)(ring->size - at));
	return ring->straight;
}

void pxt_perfring_skip(struct pxt_perfring *ring, size_t size)
{
	ring->tail += size;
}

void pxt_perfring_free(struct pxt_perfring *ring)
{
	/* All bytes were looked at before: the kernel may write there when it sees this. */
	__atomic_store_n(&ring->page->data_tail, ring->tail, __ATOMIC_RELEASE);
}
