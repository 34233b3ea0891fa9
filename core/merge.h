/* SPDX-License-Identifier: MIT */
/*
 * merge.h - which lane's front record comes next.
 *
 *   who beside whom: as consumer.h.
 */
#ifndef PXT_MERGE_H
#define PXT_MERGE_H

#include "core/consumer.h"

#if CONFIG_PTRACE_LANES_MAX > 1
/* READY: the front of lane *chosen is next, and pxt_lane.front holds its begin slot. */
enum pxt_next pxt_merge_pick(struct pxt_block *block, uint32_t *chosen);
/* The front of lane @chosen comes next: how far does that tell what comes behind it (window.h)? */
void pxt_merge_open_window(struct pxt_block *block, uint32_t chosen);
/*
 * The window's next lane, when the front of turn_lane is @front and not within its bounds.  False:
 * the window tells no more.
 */
bool pxt_merge_turn(struct pxt_block *block, struct pxt_halves front);
/* The record at the lane's position was scanned. */
PXT_INLINE bool pxt_merge_covers(const struct pxt_block *block, const struct pxt_lane *lane)
{
	return !pxt_block_merges(block) || lane->pos < lane->scan_pos;
}
/* A lane's position was changed other than by consuming its front. */
void pxt_merge_forget(struct pxt_lane *lane);
/* The front of lane @index was consumed. */
void pxt_merge_consumed(struct pxt_block *block, uint32_t index);
#else
PXT_INLINE enum pxt_next pxt_merge_pick(struct pxt_block *block, uint32_t *lane)
{
	(void)block;
	(void)lane;
	return PXT_NEXT_NONE;
}

PXT_INLINE void pxt_merge_open_window(struct pxt_block *block, uint32_t chosen)
{
	(void)block;
	(void)chosen;
}

PXT_INLINE bool pxt_merge_turn(struct pxt_block *block, struct pxt_halves front)
{
	(void)block;
	(void)front;
	return false;
}

PXT_INLINE bool pxt_merge_covers(const struct pxt_block *block, const struct pxt_lane *lane)
{
	(void)block;
	(void)lane;
	return true;
}

PXT_INLINE void pxt_merge_forget(struct pxt_lane *lane)
{
	(void)lane;
}

PXT_INLINE void pxt_merge_consumed(struct pxt_block *block, uint32_t lane)
{
	(void)block;
	(void)lane;
}
#endif

#endif
