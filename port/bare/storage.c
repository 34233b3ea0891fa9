/* SPDX-License-Identifier: MIT */
/*
 * storage.c - memory from one static array.
 *
 * Few pieces, long-lived and of few sizes: the lowest gap that is large enough is taken, and a
 * table beside the array says what is in use, so that no header lies between the pieces.
 */
#include "port/port.h"

#include <string.h>

#define ALIGNMENT 64u
/* Two tables of the process, two pieces for each stream, and some in between. */
#define PIECES    (2u * CONFIG_PTRACE_MAX_STREAMS + 8u)

struct piece {
	size_t begin;
	size_t end; /* 0: not in use */
};

static unsigned char storage[CONFIG_PTRACE_STATIC_BYTES] PXT_ALIGNED(ALIGNMENT);
static struct piece pieces[PIECES];
static struct pxt_port_mutex lock;

/* The end of a piece that lies in [begin, end), or 0. */
static size_t in_the_way(size_t begin, size_t end)
{
	for (unsigned i = 0; i < PIECES; i++) {
		if (pieces[i].end > begin && pieces[i].begin < end)
			return pieces[i].end;
	}
	return 0;
}

static void *take(size_t bytes)
{
	struct piece *unused = NULL;
	size_t begin = 0;
	size_t next;

	for (unsigned i = 0; i < PIECES && !unused; i++) {
		if (pieces[i].end == 0)
			unused = &pieces[i];
	}
	/* After whatever is in the way: @begin only grows. */
	do {
		if (bytes > sizeof(storage) - begin)
			return NULL;
		next = in_the_way(begin, begin + bytes);
		begin = next > begin ? next : begin;
	} while (next != 0 && begin < sizeof(storage));
	if (!unused || begin >= sizeof(storage))
		return NULL;
	*unused = (struct piece){ begin, begin + bytes };
	return &storage[begin];
}

void *pxt_port_alloc(size_t bytes)
{
	size_t size = (bytes + ALIGNMENT - 1) & ~(size_t)(ALIGNMENT - 1);
	void *memory = NULL;

	if (size == 0 || size < bytes)
		return NULL;
	pxt_port_mutex_lock(&lock);
	if (size <= sizeof(storage))
		memory = take(size);
	pxt_port_mutex_unlock(&lock);
	if (memory)
		memset(memory, 0, size);
	return memory;
}

/* There are no children here. */
void *pxt_port_alloc_shared(size_t bytes)
{
	return pxt_port_alloc(bytes);
}

void *pxt_port_alloc_sparse(size_t bytes)
{
	return pxt_port_alloc(bytes);
}

void pxt_port_free(void *memory, PXT_UNUSED size_t bytes)
{
	pxt_port_mutex_lock(&lock);
	for (unsigned i = 0; memory && i < PIECES; i++) {
		if (pieces[i].end != 0 && &storage[pieces[i].begin] == (unsigned char *)memory)
			pieces[i].end = 0;
	}
	pxt_port_mutex_unlock(&lock);
}

/* There are no pages: what is late finds what was there. */
void pxt_port_empty(PXT_UNUSED void *memory, PXT_UNUSED size_t bytes)
{
}

bool pxt_port_own(PXT_UNUSED void *memory, PXT_UNUSED size_t bytes, PXT_UNUSED bool with_children)
{
	return true;
}
