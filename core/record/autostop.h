/* SPDX-License-Identifier: MIT */
/*
 * autostop.h - the writer's side of the policies that do not overwrite.  UNTIL_FULL and FLUSH: the
 * writer that takes the last slot, or finds no room, turns the gate to "stopped automatically".
 * DISCARD: core/record/discard.h.
 *
 *   concurrency: writers at once, and beside consumer and control; the gate is turned by
 *   compare-exchange from the value the writer saw, generation included, so that a late writer
 *   cannot stop a stream that was restarted meanwhile.
 */
#ifndef PXT_AUTOSTOP_H
#define PXT_AUTOSTOP_H

#include "core/record/discard.h"
#include "core/record/inspect.h"
#include "core/stream/stream.h"

/* With @how: the event was inspected, or need not be. */
#define PXT_AUTOSTOP_SEEN 128u

#if CONFIG_PTRACE_POLICY_UNTIL_FULL || CONFIG_PTRACE_POLICY_FLUSH
/*
 * @how: PXT_TAKE_ORDERED or 0.  False: no room, or the stream was stopped by call meanwhile; it is
 * counted.
 *
 * Where the gate says that events are inspected, and @how does not say that this one was, @place is a
 * candidate's (core/record/inspect.h).  Streams that overwrite come here for it, too.  False is then also
 * an event that is not wanted, and the event may be shorter afterwards.
 */
bool pxt_autostop_reserve(
    struct pxt_block *block, uint32_t gate, struct pxt_place *place, uint32_t slots, unsigned how);
/* Turns the gate if it still is as @gate says. */
void pxt_autostop_switch(struct pxt_block *block, uint32_t gate);
#else
PXT_INLINE bool pxt_autostop_reserve(
    struct pxt_block *block, uint32_t gate, struct pxt_place *place, uint32_t slots, unsigned how)
{
	(void)block;
	(void)gate;
	return pxt_discard_reserve(place, slots, how & ~PXT_AUTOSTOP_SEEN);
}

PXT_INLINE void pxt_autostop_switch(struct pxt_block *block, uint32_t gate)
{
	(void)block;
	(void)gate;
}
#endif

#endif
