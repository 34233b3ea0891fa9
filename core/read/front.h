/* SPDX-License-Identifier: MIT */
/*
 * front.h - the record that a lane has to offer next: whole, unfinished, overwritten, or none.
 *
 *   concurrency: as consumer.h.
 */
#ifndef PXT_FRONT_H
#define PXT_FRONT_H

#include "core/process/clock.h"
#include "core/read/lane.h"

/*
 * So much later than the last look at head may a record be, or head is looked at again: a tag that
 * comes again is not taken for the old one.
 */
PXT_INLINE uint64_t pxt_front_look_ticks(void)
{
	return pxt_clock.hz / 2u;
}

/*
 * Finds out what is at the lane's position (front_state); passes marks, goes on after what was
 * overwritten or is not waited for any more.
 */
void pxt_front_look(struct pxt_block *block, struct pxt_ring *ring);

#endif
