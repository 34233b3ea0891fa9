/* SPDX-License-Identifier: MIT */
/*
 * gap.h - what was lost before the next event, and whether that was reported.
 *
 *   concurrency: as consumer.h.
 */
#ifndef PXT_GAP_H
#define PXT_GAP_H

#include "core/stream/block.h"

/*
 * What writers were refused (but by the policy DISCARD: discarded.h) has its place at a stop: the restart
 * after an automatic one tells it.  A writer may be late: it has found the stream stopped, and is refused
 * when it runs again.  That is told with the next record that is handed out of a run that began since, so
 * before that writer's own next one.  A writer says in the block that it was refused, before it can
 * record anything else.
 */

/* LOOP: a gap is reported by OVERFLOW, then RESUME, before whatever comes next. */
enum pxt_gap {
	PXT_GAP_NONE,
	PXT_GAP_OVERFLOW_DUE,
	PXT_GAP_RESUME_DUE
};

/* Counts records that were lost before what comes next. */
void pxt_gap_lost(struct pxt_block *block, uint64_t records);
/*
 * Whether what was refused is told now: to the reader that has just seen its next record stored, @taken
 * records further than the lanes say.
 */
bool pxt_gap_tells(struct pxt_block *block, uint32_t taken);
PXT_INLINE bool pxt_gap_is_untold(struct pxt_block *block, uint32_t taken)
{
	return PXT_UNLIKELY(!pxt_word_is(&block->untold, 0u)) && pxt_gap_tells(block, taken);
}
/* Counts what was refused and not told yet, as lost before what comes next; how much that is. */
uint64_t pxt_gap_refused(struct pxt_block *block);
/* LOOP: a gap, for which OVERFLOW (with the stamp of the first lost, 0 unknown), RESUME are due. */
void pxt_gap_begin(struct pxt_block *block, uint64_t ticks);

#endif
