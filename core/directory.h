/* SPDX-License-Identifier: MIT */
/*
 * directory.h - the process' own block of memory: the name map with its descriptions, and the
 * thread table.  Beside a stream's block it is all that is needed to read a stream elsewhere.
 *
 *   who beside whom: made under the process lock, never moved or given back in this process;
 *   its parts have their own rules (names.h, threads.h).
 *
 * It begins with a label (base/label.h) and holds no pointers: it can be mapped anywhere, and
 * found in a dump.  Children share its pages instead of copying them, so that a fork brings no fault to
 * the parent's next trace point; a child that traces makes its own, with the names so far.
 */
#ifndef PXT_DIRECTORY_H
#define PXT_DIRECTORY_H

#include "core/label.h"
#include "core/names_map.h"
#include "core/threads.h"

struct pxt_directory {
	PXT_DIRECTORY_LABEL
	_Atomic int32_t
	    lock; /* core/family.h: pid of the process that defines something; 0: none */
	struct pxt_thread_table threads;
	PXT_NAMES_MEMBER
};

/* NULL until the first event type or stream of the process. */
extern struct pxt_directory *pxt_directory;

/* Makes it, if it is not there.  ENOMEM or 0.  Under the process lock. */
int pxt_directory_start(void);
/* In a child: makes its own out of its parent's, if there is one.  Under no lock: no threads. */
void pxt_directory_after_fork(void);

#endif
