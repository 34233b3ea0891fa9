/* SPDX-License-Identifier: MIT */
/*
 * relatives.h - the fence that reaches other processes, for wait.c.
 *
 *   who beside whom: any thread, at any time.
 */
#ifndef PXT_RELATIVES_H
#define PXT_RELATIVES_H

#include "base/compiler.h"

#include <stdbool.h>

#if CONFIG_PTRACE_INHERIT
/* Whether pxt_port_fence_relatives() was called in this process, or before the fork it came from. */
bool pxt_has_relatives(void);
/* A fence in all processes of which that is true; false: the system cannot. */
bool pxt_fence_relatives(void);
#else
PXT_INLINE bool pxt_has_relatives(void)
{
	return false;
}

PXT_INLINE bool pxt_fence_relatives(void)
{
	return false;
}
#endif

#endif
