/* SPDX-License-Identifier: MIT */
/*
 * holdback.h - how long a thread that is inside a trace point is waited for.
 *
 *   concurrency: read at any time; written by tests alone.
 */
#ifndef PXT_HOLDBACK_H
#define PXT_HOLDBACK_H

#include <stdint.h>

/* Kconfig's time in ticks; fixed by the first create. */
uint64_t pxt_holdback_ticks(void);
/* Tests shorten the hold-back time. */
extern uint64_t pxt_holdback_ns;

#endif
