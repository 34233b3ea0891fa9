/* SPDX-License-Identifier: MIT */
/*
 * synthetic.h - the events that are in no ring, because the consumer makes them: OVERFLOW and RESUME
 * around a gap, STOP and START of an automatic stop.
 *
 *   concurrency: as consumer.h.
 */
#ifndef PXT_SYNTHETIC_H
#define PXT_SYNTHETIC_H

#include "core/read/item.h"
#include "core/stream/block.h"

/* The START that is owed after an automatic stop. */
void pxt_synthetic_start(struct pxt_block *block, struct pxt_item *item);
/* True: *item is the STOP, since the last record of an automatically stopped stream was handed out. */
bool pxt_synthetic_stop(struct pxt_block *block, struct pxt_item *item);
/*
 * A gap is reported before whatever comes next, and no later: OVERFLOW, RESUME, then that.  If one
 * of them is due, it takes the place of *item.
 */
void pxt_synthetic_gap_first(struct pxt_block *block, struct pxt_item *item);
/* The event @id was handed out. */
void pxt_synthetic_done(struct pxt_block *block, uint32_t id);

#endif
