/* SPDX-License-Identifier: MIT */
/*
 * heir.h - children that write into their parent's streams, so that a writer can be killed by
 * SIGKILL while its parent looks on.  The library's children are not traced into their parent's
 * streams; here the test sets up what they need: the streams' memory is shared (link with
 * -Wl,--wrap=pxt_port_alloc), the thread table is anyway, and the child is told of its parent's
 * wanted table and hot stream.  A child gets an entry of the parent's choice.
 */
#ifndef PXT_KILL_HEIR_H
#define PXT_KILL_HEIR_H

#include <stdint.h>
#include <sys/types.h>

/* In the parent, when its stream runs: what its children shall know. */
void heir_note(void);
/* Entries of the thread table that children may use from now on; the first one. */
uint32_t heir_entries(uint32_t count);
/* In the child. */
void heir_begin(uint32_t entry);
/* In the parent: the thread with this entry is dead, and inside no longer. */
void heir_bury(uint32_t entry);

/* A child that stops at a test point of its write until it is killed there. */

/*
 * Forks a child that runs @body, and ends after it.  Returns the test point at which the child
 * is now, or -1: it came to its end.
 */
int stand_fork(void (*body)(const void *argument), const void *argument, pid_t *child);

/* In the child: from here on, it will be at the @nth test point of what it writes. */
void stand_at(uint32_t nth);

#endif
