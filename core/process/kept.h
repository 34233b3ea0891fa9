/* SPDX-License-Identifier: MIT */
/*
 * kept.h - memory of trace points that did not leave in time: kept until they have.
 *
 *   concurrency: under the process lock.  Trace points may read and write the memory, but not the note.
 *
 * Whoever takes memory from trace points makes it unreachable, waits (pxt_threads_wait_left()), and
 * gives it here where the wait was in vain.  It is not used again before everybody has left.
 */
#ifndef PXT_KEPT_H
#define PXT_KEPT_H

#include <stdbool.h>
#include <stddef.h>

/* Lies in the memory itself, where no trace point looks. */
struct pxt_kept {
	struct pxt_kept *next;
	void *memory;
	size_t bytes;
	unsigned left; /* pxt_threads_left() since then, together */
};

void pxt_kept_add(struct pxt_kept *note, void *memory, size_t bytes);
/* Gives back what everybody has left. */
void pxt_kept_give_back(void);
/* Whether a trace point may still be inside of something that is gone. */
bool pxt_kept_any(void);
/* In a child: its thread may be one of those who were late.  The addresses stay, and cost nothing. */
void pxt_kept_after_fork(void);

#endif
