/* SPDX-License-Identifier: MIT */
/*
 * owndescriptors.h - the descriptors that attaching keeps open, and what each is open on: the library uses
 * none that the program has closed, and wrappers of close() and its kin see which are not the program's to close.
 *
 *   concurrency: first before the library opens any; bits and places at any time, signal handlers too.  Who has
 *   taken a place by its `number` fills it in and then stores the number (release); who looks loads that first
 *   (acquire).
 */
#ifndef PXT_OWNDESCRIPTORS_H
#define PXT_OWNDESCRIPTORS_H

#include "format/compiler.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Wrappers do not look at numbers from here on: there the library has none while `first` is below. */
#define PXT_OWN_DESCRIPTORS 1024u
/* So many it has at once. */
#define PXT_OWN_PLACES      512u

struct pxt_own_place {
	int number;           /* and 1; 0: free; -1: being filled in */
	uint32_t device : 31; /* its low bits */
	uint32_t
	    marked : 1; /* an inode that many share: the open file has the library's mark, too */
	uint64_t file;
};

struct pxt_own_descriptors {
	int first;      /* the library's get this number, or the next one that is free; 0: any */
	uint32_t count; /* places from here on were never used */
	uint32_t bits[PXT_OWN_DESCRIPTORS / 32u];
	struct pxt_own_place of[PXT_OWN_PLACES];
};

/* Exported, so that a library of wrappers sees it; port/posix/kept.c has it. */
extern PXT_API struct pxt_own_descriptors _pxt_own_descriptors;

PXT_INLINE bool pxt_own_descriptor(int fd)
{
	return fd >= 0 && (unsigned)fd < PXT_OWN_DESCRIPTORS &&
	       __atomic_load_n(&_pxt_own_descriptors.bits[fd / 32], __ATOMIC_RELAXED) >>
	               (unsigned)fd % 32u &
	           1u;
}

PXT_INLINE void pxt_own_descriptor_set(int fd, bool own)
{
	uint32_t *word;
	uint32_t bit;

	if (fd < 0 || (unsigned)fd >= PXT_OWN_DESCRIPTORS)
		return;
	word = &_pxt_own_descriptors.bits[fd / 32];
	bit = 1u << (unsigned)fd % 32u;
	if (own)
		(void)__atomic_fetch_or(word, bit, __ATOMIC_RELAXED);
	else
		(void)__atomic_fetch_and(word, ~bit, __ATOMIC_RELAXED);
}

/* Where @fd's place is; NULL: the library does not think that it has this one. */
PXT_INLINE struct pxt_own_place *pxt_own_place(int fd)
{
	uint32_t count = __atomic_load_n(&_pxt_own_descriptors.count, __ATOMIC_RELAXED);

	for (uint32_t i = 0; i < count; i++) {
		struct pxt_own_place *place = &_pxt_own_descriptors.of[i];

		if (__atomic_load_n(&place->number, __ATOMIC_ACQUIRE) == fd + 1)
			return place;
	}
	return NULL;
}

#endif
