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

#include <errno.h>
#include <stdbool.h>

#if CONFIG_PTRACE_PORT_HAS_THREADS
#include "port/port.h"

PXT_INLINE bool pxt_exclude_is(void)
{
	return pxt_port_untold != 0;
}

PXT_INLINE int pxt_exclude_set(bool exclude)
{
	if (exclude)
		pxt_port_untold |= PXT_PORT_UNTOLD_THREAD;
	else
		pxt_port_untold &= ~PXT_PORT_UNTOLD_THREAD;
	return 0;
}
#else
/* One thread of execution: what its hooks report is always wanted. */
PXT_OFF_RETURNS(false, bool, pxt_exclude_is, void);

PXT_INLINE int pxt_exclude_set(bool exclude)
{
	return exclude ? ENOTSUP : 0;
}
#endif

/* The same for wrappers that are linked into one program with this (sysevents/wrap/). */
bool pxt_exclude_now(void);

#endif
