/* SPDX-License-Identifier: MIT */
/*
 * places.h - places of the thread table that no record of any stream names any more are given again.
 *
 *   concurrency: begin() under the process lock; the look is taken by a thread that ends, one at a
 *   time, beside writers, readers and control calls.
 */
#ifndef PXT_PLACES_H
#define PXT_PLACES_H

#include "core/process/threads.h"

#if PXT_PLACES_AGAIN && !PXT_ENDS_ASIDE
/* With the first stream: from now on threads that end look, now and then. */
void pxt_places_begin(void);
#else
PXT_INLINE void pxt_places_begin(void)
{
}
#endif

#endif
