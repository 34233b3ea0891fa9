/* SPDX-License-Identifier: MIT */
/*
 * inherited.h - whether other processes may write into a stream's block (core/process/forks.h).
 *
 *   concurrency: any; what it reads does not change.
 */
#ifndef PXT_INHERITED_H
#define PXT_INHERITED_H

#include "core/process/threads.h"
#include "core/stream/block.h"

#if CONFIG_PTRACE_INHERIT
PXT_INLINE bool pxt_inherited_shares(const struct pxt_block *block)
{
	return block->attr._pxt_inherit == POSIX_TRACE_INHERITED;
}
#else
PXT_INLINE bool pxt_inherited_shares(const struct pxt_block *block)
{
	(void)block;
	return false;
}
#endif

/* Who may be inside a trace point that writes into @block. */
PXT_INLINE enum pxt_whose pxt_inherited_whose(const struct pxt_block *block)
{
	return pxt_inherited_shares(block) ? PXT_FORKED : PXT_OWN;
}

#endif
