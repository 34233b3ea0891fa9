/* SPDX-License-Identifier: MIT */
/*
 * lap.h - a lane whose writers overtook its consumer by a whole ring: what is left, and what is lost.
 *
 *   concurrency: as consumer.h; notice_all() in control calls, too, by the stream's mutex.
 */
#ifndef PXT_LAP_H
#define PXT_LAP_H

#include "core/read/lane.h"

/*
 * Goes to the oldest record that is still whole, and counts what is gone.  @reading: room is left to
 * the writers, because the record has to stay until it was copied.
 */
void pxt_lap_pass(struct pxt_block *block, struct pxt_ring *ring, bool reading);
/*
 * How many marks are before @pos.  The lane is walked through only where two STARTs or STOPs or more are
 * between it and @end.
 */
uint64_t pxt_lap_marks_before(
    const struct pxt_block *block, const struct pxt_ring *ring, uint64_t pos, uint64_t end);
/* Makes losses of all lanes known that no thread has read up to yet. */
void pxt_lap_notice_all(struct pxt_block *block);

#endif
