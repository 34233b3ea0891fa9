/* SPDX-License-Identifier: MIT */
/*
 * stepback.h - what it means for a consumer that the counter has stepped back: the machine was
 * suspended, or the process restored elsewhere.
 *
 *   concurrency: as consumer.h.
 *
 * A stamp is read before its record is there.  So a front that was there before the clock was read
 * has no later stamp, or it is of a time before the step.  It does not wait for the clock then, and
 * holds nothing else up; waits that were begun before the step begin anew.
 */
#ifndef PXT_STEPBACK_H
#define PXT_STEPBACK_H

#include "core/read/merge.h"

#if CONFIG_PTRACE_LANES_MAX > 1
/* As pxt_merge_pick(), which says HELD, but for fronts of before the step, one at a time. */
enum pxt_next pxt_stepback_pick(struct pxt_block *block, uint32_t *chosen);
/* A gap of before the step gives up nothing after it: true when it has been forgotten. */
bool pxt_stepback_forgives(struct pxt_block *block);
#else
PXT_INLINE enum pxt_next pxt_stepback_pick(struct pxt_block *block, uint32_t *chosen)
{
	(void)block;
	(void)chosen;
	return PXT_NEXT_HELD;
}
#endif

#endif
