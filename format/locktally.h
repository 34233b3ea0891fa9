/* SPDX-License-Identifier: MIT */
/*
 * locktally.h - memory in which a traced program counts how often it takes its locks, as the stream's owner reads it
 * (sysevents/wrap/tally.c, attach/intake_put.c).
 *
 *   concurrency     the thread of a slot   other threads   the owner
 *   counts                   W                   -              R       W: alone, by relaxed stores
 *   who, kind                W                   X              R       X: those that make a slot theirs (tally.c)
 *   others                   A                   A              R       A: atomic additions
 *
 * A slot is of one thread and one lock, on a cache line of its own.  Nothing is ever taken out, so what a killed
 * process has counted is there.  It lies in the file of the process' stream, whose head says
 * that both have this build's sizes, and the file's size that it is there.  The owner believes nothing else.
 */
#ifndef PXT_LOCKTALLY_H
#define PXT_LOCKTALLY_H

#include <stdalign.h>
#include <stdatomic.h>
#include <stdint.h>

#define PXT_LOCKTALLY_SLOTS       4096u
/* What comes behind @bytes of a guest's file begins there: on a page of any machine. */
#define PXT_LOCKTALLY_PAGE(bytes) (((bytes) + 0xffffu) & ~(size_t)0xffffu)
/* First what the owner wants, on a line of its own (core/stream/share.h), then the counts: the owner reads one page. */
#define PXT_LOCKTALLY_BEHIND      64u
#define PXT_LOCKTALLY_AT(bytes)   (PXT_LOCKTALLY_PAGE(bytes) + PXT_LOCKTALLY_BEHIND)
enum pxt_locktally_kind {
	PXT_LOCKTALLY_MUTEX = 1,
	PXT_LOCKTALLY_SEMAPHORE,
	PXT_LOCKTALLY_READ,
	PXT_LOCKTALLY_WRITE,
	PXT_LOCKTALLY_SPIN,
	PXT_LOCKTALLY_KINDS
};

/* As events have it (FORMAT.md 5.1). */
#define PXT_LOCKTALLY_NAMES                                                                        \
	{                                                                                          \
		"", "mutex", "semaphore", "read", "write", "spin"                                  \
	}

/* who: the kernel's number of a thread, or ... */
#define PXT_LOCKTALLY_ENDED  UINT32_C(0x80000000) /* ... of one that has ended, ... */
#define PXT_LOCKTALLY_PAST   UINT32_C(0x80000000) /* ... or several of those, ... */
#define PXT_LOCKTALLY_BUSY   UINT32_C(0xffffffff) /* ... or somebody makes it another one's. */
#define PXT_LOCKTALLY_THREAD UINT32_C(0x7fffffff)

/* Of a word's width; `high` counts how often it ran over, where that is possible. */
struct pxt_locktally_count {
	_Atomic uintptr_t low;
	_Atomic uintptr_t high;
};

struct pxt_locktally_slot {
	alignas(64) struct pxt_locktally_count taken;
	_Atomic uintptr_t given; /* lowest bits; not of mutexes, which know who has them */
	_Atomic uintptr_t place; /* where it was taken last */
	_Atomic uintptr_t lock;  /* its address */
	_Atomic uintptr_t told;  /* lowest bits of `taken` as the last event told it */
	_Atomic uint32_t who;
	_Atomic uint32_t kind; /* set last; release */
};

struct pxt_locktally {
	_Atomic uint32_t used; /* slots; may be beyond the last one */
	/* Of locks that found no slot, by kind. */
	struct pxt_locktally_count others[PXT_LOCKTALLY_KINDS];
	struct pxt_locktally_slot slots[PXT_LOCKTALLY_SLOTS];
};

#endif
