/* SPDX-License-Identifier: MIT */
/*
 * exclude.h - threads whose system events nobody wants, as those of a thread that reads the trace.
 *
 *   concurrency: a thread asks and changes only what is its own; so do its signal handlers.
 */
#ifndef PXT_EXCLUDE_H
#define PXT_EXCLUDE_H

#include "format/compiler.h"

#include <stdbool.h>

#if CONFIG_PTRACE_PORT_HAS_THREADS
extern PXT_TLS bool pxt_exclude_thread;

PXT_INLINE bool pxt_exclude_is(void)
{
	return pxt_exclude_thread;
}
#else
/* One thread of execution: what its hooks report is always wanted. */
PXT_INLINE bool pxt_exclude_is(void)
{
	return false;
}
#endif

#endif
