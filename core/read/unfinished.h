/* SPDX-License-Identifier: MIT */
/*
 * unfinished.h - a record that was reserved and is not complete: its writer was interrupted, stopped,
 * or killed.
 *
 *   concurrency: as consumer.h.
 */
#ifndef PXT_UNFINISHED_H
#define PXT_UNFINISHED_H

#include "core/read/lane.h"

/*
 * Whether the record at the lane's position is not waited for any more: the hold-back time is over,
 * or no thread is left that could finish it.  It was passed over and counted as lost then.
 */
bool pxt_unfinished_expired(struct pxt_block *block, struct pxt_ring *ring);

#endif
