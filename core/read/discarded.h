/* SPDX-License-Identifier: MIT */
/*
 * discarded.h - what a stream with the policy DISCARD refused, as its reader reports it: before the
 * first event that was recorded into the same lane after it (core/record/discard.h).
 *
 *   concurrency: as consumer.h; forget(), in control calls, too, by the stream's mutex.
 */
#ifndef PXT_DISCARDED_H
#define PXT_DISCARDED_H

#include "core/read/gap.h"

#if CONFIG_PTRACE_POLICY_DISCARD
/*
 * The lane's position passes a mark: @refused of its records were refused before, modulo 2^32.
 * Writers that work beside each other may put a smaller number after a larger one.
 */
PXT_INLINE void pxt_discarded_pass(struct pxt_lane *lane, uint32_t refused)
{
	if ((int32_t)(refused - lane->refused_marked) > 0)
		lane->refused_marked = refused;
}

/* The record that comes next is at the lane's position. */
PXT_INLINE void pxt_discarded_tell(struct pxt_block *block, struct pxt_lane *lane)
{
	uint32_t more;

	/* Of other policies the words are others'. */
	if (PXT_LIKELY(block->full_policy != POSIX_TRACE_DISCARD_NP))
		return;
	more = lane->refused_marked - lane->refused_told;
	if (!more)
		return;
	lane->refused_told = lane->refused_marked;
	block->refused_told += more;
	block->lost_before += more;
	pxt_gap_begin(block, 0);
}

/* Of what @from has refused by now, no mark of @lane reports anything any more. */
PXT_INLINE void pxt_discarded_forget(
    const struct pxt_block *block, struct pxt_lane *lane, struct pxt_lane *from)
{
	if (block->full_policy != POSIX_TRACE_DISCARD_NP)
		return;
	lane->refused_told = (uint32_t)pxt_counter_load(&from->refused);
	lane->refused_marked = lane->refused_told;
}
#else
PXT_INLINE void pxt_discarded_pass(struct pxt_lane *lane, uint32_t refused)
{
	(void)lane;
	(void)refused;
}

PXT_INLINE void pxt_discarded_tell(struct pxt_block *block, struct pxt_lane *lane)
{
	(void)block;
	(void)lane;
}

PXT_INLINE void pxt_discarded_forget(
    const struct pxt_block *block, struct pxt_lane *lane, struct pxt_lane *from)
{
	(void)block;
	(void)lane;
	(void)from;
}
#endif

#endif
