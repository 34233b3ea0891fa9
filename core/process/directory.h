/* SPDX-License-Identifier: MIT */
/*
 * directory.h - the process' own block of memory: the name map with its descriptions, and the
 * thread table.  Beside a stream's block it is all that is needed to read a stream elsewhere.
 *
 *   concurrency: made under the process lock, never moved or given back in this process;
 *   its parts have their own rules (names.h, threads.h).
 *
 * It begins with a header (format/imageheader.h) and holds no pointers: it can be mapped anywhere, and
 * found in a dump.  Children share its pages instead of copying them, so that a fork brings no fault to
 * the parent's next trace point; a child that traces makes its own, with the names so far.
 */
#ifndef PXT_DIRECTORY_H
#define PXT_DIRECTORY_H

#include "core/process/imageheader.h"
#include "core/process/names_map.h"
#include "core/process/threads.h"

/* core/process/forks.h: the pid namespaces of forked processes, in the order in which they came. */
#if CONFIG_PTRACE_INHERIT
#define PXT_SPACES        7u
#define PXT_SPACES_MEMBER _Atomic uint32_t spaces[PXT_SPACES];
#else
#define PXT_SPACES_MEMBER
#endif

struct pxt_directory {
	PXT_DIRECTORY_HEADER
	_Atomic uint32_t
	    lock; /* core/process/forks.h: the process that defines something; 0: none */
	PXT_SPACES_MEMBER
	struct pxt_thread_table threads;
	PXT_NAMES_MEMBER
};

/* NULL until the first event type or stream of the process. */
extern struct pxt_directory *pxt_directory;

/*
 * Its pages come when they are touched: of a process that does not trace of its own accord, for which they are
 * most of what its start costs.  Set before there is one, under the process lock.
 */
extern bool pxt_directory_sparse;

/* Makes it, if it is not there.  ENOMEM or 0.  Under the process lock. */
int pxt_directory_start(void);
/* In a child that comes back into a trace point (forked.h): the forked processes' one, which the child goes on with, at another address. */
bool pxt_directory_move(void);

#endif
