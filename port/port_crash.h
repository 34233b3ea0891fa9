/* SPDX-License-Identifier: MIT */
/*
 * port_crash.h - being told of the signals that end a process, before they do.
 *
 *   concurrency: watch() under a lock of the caller's; the handler at any time, in any thread.
 */
#ifndef PXT_PORT_CRASH_H
#define PXT_PORT_CRASH_H

#include "format/compiler.h"
#include "format/crash.h"

#include <stddef.h>
#include <trace_np.h>

/* So many different ones can be watched in the life of a process. */
#define PXT_CRASH_SIGNALS 16

/*
 * From now on @tell is called, in a signal handler with all signals blocked, when one of @signals
 * comes to a thread; in one thread at a time.  Then the signal does what it would have done: the
 * action that was in force before comes back, and the signal is sent again, with all that the
 * system said of it, to be delivered where it interrupted the thread.
 *
 * @which:   POSIX_TRACE_SEAL_..._NP: none, those that tell of a fault, or also those by which people end programs.
 * @signals: @count more of them.
 *
 * They replace those of the last call, whose former actions come back.  What the process ignores stays ignored,
 * unless it is a fault.
 *
 * EINVAL: a signal that cannot be caught, or that ends no process.  ENOMEM: too many different
 * ones.  Nothing was changed.
 */
int pxt_port_crash_watch(
    int which, const int *signals, size_t count, void (*tell)(const struct pxt_crash *crash));
/* A forked child goes on as its parent, with those of the signals that nobody has set an action for since. */
void pxt_port_crash_inherit(void);

#endif
