/* SPDX-License-Identifier: MIT */
/*
 * owndescriptors.h - the descriptors that attaching keeps open, as the wrappers of close() and its kin see
 * them: a program that closes what it does not know closes none of them.
 *
 *   concurrency: first before the library opens any; bits at any time, signal handlers too.
 */
#ifndef PXT_OWNDESCRIPTORS_H
#define PXT_OWNDESCRIPTORS_H

#include "format/compiler.h"

#include <stdbool.h>
#include <stdint.h>

/* Numbers from here on are not looked at: there the library has none while `first` is below. */
#define PXT_OWN_DESCRIPTORS 1024u

struct pxt_own_descriptors {
	int first; /* the library's get this number, or the next one that is free; 0: any */
	uint32_t bits[PXT_OWN_DESCRIPTORS / 32u];
};

/* Exported, so that a library of wrappers sees it; port/posix/local.c has it. */
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

#endif
