/* SPDX-License-Identifier: MIT */
/* kept.c - memory of trace points that did not leave in time; see kept.h. */
#include "core/process/kept.h"

#include "core/process/threads.h"

static struct pxt_kept *kept;

void pxt_kept_add(struct pxt_kept *note, void *memory, size_t bytes)
{
	*note = (struct pxt_kept){ kept, memory, bytes, 0 };
	kept = note;
}

/* [proof: kept] */
void pxt_kept_give_back(void)
{
	unsigned left = kept ? pxt_threads_left() : 0;
	struct pxt_kept **at = &kept;

	while (*at) {
		struct pxt_kept *note = *at;

		note->left |= left;
		if (note->left == PXT_ALL_LEFT) {
			*at = note->next;
			pxt_port_free(note->memory, note->bytes);
		} else {
			at = &note->next;
		}
	}
}

bool pxt_kept_any(void)
{
	pxt_kept_give_back();
	return kept != NULL;
}

void pxt_kept_after_fork(void)
{
	kept = NULL;
}
