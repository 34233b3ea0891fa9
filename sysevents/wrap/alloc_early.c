/* SPDX-License-Identifier: MIT */
/* alloc_early.c - memory for whoever looks for the real malloc(); see alloc.h. */
#define _GNU_SOURCE
#include "sysevents/wrap/alloc.h"

#include <stdatomic.h>
#include <stdlib.h>

#define ALIGNMENT 16u

_Alignas(ALIGNMENT) unsigned char pxt_alloc_early_bytes[PXT_ALLOC_EARLY];
static _Atomic size_t used;

void *pxt_alloc_early(size_t bytes)
{
	size_t whole = (bytes + ALIGNMENT - 1u) / ALIGNMENT * ALIGNMENT;
	size_t at;

	if (bytes > PXT_ALLOC_EARLY)
		return NULL;
	at = atomic_fetch_add_explicit(&used, whole, memory_order_relaxed);
	return at + whole <= PXT_ALLOC_EARLY ? pxt_alloc_early_bytes + at : NULL;
}

/* How long the old one is nobody knows: no longer than what is left behind it. */
void *pxt_alloc_move(void *old, size_t bytes)
{
	void *moved = malloc(bytes);
	size_t most;

	if (!moved || !old)
		return moved;
	most = pxt_alloc_has(old)
	           ? (size_t)(pxt_alloc_early_bytes + PXT_ALLOC_EARLY - (const unsigned char *)old)
	           : 0;
	memcpy(moved, old, bytes < most ? bytes : most);
	return moved;
}
