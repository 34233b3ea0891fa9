/* SPDX-License-Identifier: MIT */
/*
 * lock.h - taking a lock that its holder may never give back.
 *
 *   concurrency: any thread, in signal handlers too.
 */
#ifndef PXT_LOCK_H
#define PXT_LOCK_H

#include "port/port.h"

#include <stdbool.h>
#include <stdint.h>

/*
 * The end of a process, in a handler or in exit(), waits for locks so long, all in all: a thread that
 * holds one may be the thread that was interrupted.  Tests shorten it.
 */
extern uint64_t pxt_lock_patience_ns;
/* Any lock of ours, in signal handlers too.  False: a thread holds it still, maybe the caller. */
bool pxt_lock_within(struct pxt_port_mutex *mutex, struct pxt_patience *patience);

#endif
