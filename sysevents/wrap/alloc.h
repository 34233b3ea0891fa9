/* SPDX-License-Identifier: MIT */
/*
 * alloc.h - memory for whoever looks for the real malloc().
 *
 *   concurrency: any thread; each piece is given once.
 */
#ifndef PXT_WRAP_ALLOC_H
#define PXT_WRAP_ALLOC_H

#include "sysevents/wrap/wrap.h"

#if PXT_WRAP_BY_LINKER
/* The linker has found it. */
PXT_WRAP_INLINE bool pxt_alloc_is_early(void)
{
	return false;
}

PXT_WRAP_INLINE bool pxt_alloc_has(const void *at)
{
	(void)at;
	return false;
}

PXT_WRAP_INLINE void *pxt_alloc_early(size_t bytes)
{
	(void)bytes;
	return NULL;
}

PXT_WRAP_INLINE void *pxt_alloc_move(void *old, size_t bytes)
{
	(void)old, (void)bytes;
	return NULL;
}
#else
#include <string.h>

#define PXT_ALLOC_EARLY ((size_t)16384)

extern unsigned char pxt_alloc_early_bytes[PXT_ALLOC_EARLY] __attribute__((visibility("hidden")));

/* The calling thread looks for a real function now (real.c). */
PXT_WRAP_INLINE bool pxt_alloc_is_early(void)
{
	return !PXT_WRAP_LIKELY(!pxt_real_looks);
}

/* Whether it is from here. */
PXT_WRAP_INLINE bool pxt_alloc_has(const void *at)
{
	return (uintptr_t)at - (uintptr_t)pxt_alloc_early_bytes < PXT_ALLOC_EARLY;
}

/* Zeros; NULL: there is no more. */
void *pxt_alloc_early(size_t bytes) __attribute__((visibility("hidden")));
/* A piece from here, or what a thread that looks has, as one of @bytes. */
void *pxt_alloc_move(void *old, size_t bytes) __attribute__((visibility("hidden")));
#endif

#endif
