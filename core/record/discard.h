/* SPDX-License-Identifier: MIT */
/*
 * discard.h - the writer's side of the policy DISCARD: a record that finds no room is refused and
 * counted, and the stream goes on.
 *
 *   concurrency: writers at once, and beside consumer and control.
 *
 * The reader is told where records are missing.  The first record that finds room after some were
 * refused takes one slot more, for a mark that is before it and says how many the lane has refused
 * in all.  `marked` says what the last mark said.  It is written after the place was taken, so that
 * a writer that is killed in between leaves the mark to the next one; and writers beside each other
 * may mark the same twice, which the reader sees by the number.
 */
#ifndef PXT_DISCARD_H
#define PXT_DISCARD_H

#include "core/stream/block.h"

#if CONFIG_PTRACE_POLICY_DISCARD
/* @how: PXT_TAKE_ORDERED or 0.  False: no room, or the stream was stopped; it is counted. */
bool pxt_discard_reserve(
    struct pxt_block *block, struct pxt_place *place, uint32_t slots, unsigned how);
#else
PXT_INLINE bool pxt_discard_reserve(
    struct pxt_block *block, struct pxt_place *place, uint32_t slots, unsigned how)
{
	(void)block;
	(void)place;
	(void)slots;
	(void)how;
	return false;
}
#endif

#endif
