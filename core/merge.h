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
/*
 * READY: the front of lane *chosen is next, and front_info and front_ticks are its begin slot's.
 * Opens the turn of that lane, as far as what was found out holds for more (consumer.h).
 */
enum pxt_next pxt_merge_pick(struct pxt_block *block, uint32_t *chosen);
#else
PXT_INLINE enum pxt_next pxt_merge_pick(struct pxt_block *block, uint32_t *lane)
{
	(void)block;
	(void)lane;
	return PXT_NEXT_NONE;
}
#endif

#endif
