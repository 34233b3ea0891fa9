/* SPDX-License-Identifier: MIT */
/*
 * exclude.h - threads whose system events nobody wants, as those of a thread that reads the trace; and what
 * the library itself does in a thread of the program's.
 *
 *   concurrency: a thread asks and changes only what is its own; so do its signal handlers.
 */
#ifndef PXT_EXCLUDE_H
#define PXT_EXCLUDE_H

#include "format/compiler.h"

#include <stdbool.h>

#if CONFIG_PTRACE_PORT_HAS_THREADS
#include "port/port_untold.h"

PXT_INLINE bool pxt_exclude_is(void)
{
	return pxt_port_untold != 0;
}

/* The same for wrappers that are linked into one program with this (sysevents/wrap/). */
bool pxt_exclude_now(void);
#else
/* One thread of execution: what its hooks report is always wanted. */
PXT_INLINE bool pxt_exclude_is(void)
{
	return false;
}
#endif

#endif
