/* SPDX-License-Identifier: MIT */
/*
 * passed.h - what is called when a reader has passed over a record that was never completed.
 *
 *   concurrency: as consumer.h.  The hook is core/control/error.c's, and never changes.
 */
#ifndef PXT_PASSED_H
#define PXT_PASSED_H

#include "format/compiler.h"

struct pxt_block;

#if CONFIG_PTRACE_SYSEV_ERROR
extern void (*pxt_passed_hook)(struct pxt_block *block, int error);

/* EOWNERDEAD: no thread is left that could complete it; ETIMEDOUT: the hold-back time is over. */
PXT_INLINE void pxt_passed_report(struct pxt_block *block, int error)
{
	if (pxt_passed_hook)
		pxt_passed_hook(block, error);
}
#else
PXT_INLINE void pxt_passed_report(struct pxt_block *block, int error)
{
	(void)block;
	(void)error;
}
#endif

#endif
