/* SPDX-License-Identifier: MIT */
/*
 * slowpath.h - the slow path of a trace point: any number of streams, any policy, any stamps; signal
 * handlers that interrupt a trace point; threads without a place in the thread table; reserving where
 * nothing is overwritten.  Wakes a sleeping reader, and the flusher at its mark.
 *
 *   concurrency: as emit.h.
 */
#ifndef PXT_SLOWPATH_H
#define PXT_SLOWPATH_H

#include "core/record/emit.h"
#include "core/record/inspect.h"
#include "core/stream/stream.h"
#include "core/stream/wanted.h"

/* All of a trace point; the caller is not inside. */
PXT_NOINLINE void pxt_slowpath_emit(size_t id, const void *data, size_t bytes, const void *address);
/* The streams in @mask one by one; the caller is inside, and has seen those in @live running. */
PXT_NOINLINE void pxt_slowpath_each(pxt_wanted_mask mask, pxt_wanted_mask live, uint32_t id,
    const void *data, size_t bytes, const void *address);

/* The record is stored. */
PXT_INLINE void pxt_slowpath_wake(struct pxt_block *block, uint32_t used)
{
	PXT_TESTPOINT(PXT_TP_STORED);
	pxt_block_wake_at(block, used);
}

/* A place in a stream that overwrites.  False, and counted: overtaken for a whole ring, or stopped meanwhile. */
PXT_INLINE bool pxt_slowpath_overwrite(
    struct pxt_block *block, struct pxt_place *place, uint32_t slots, unsigned how)
{
	bool got = pxt_ring_reserve(place, slots, how) == PXT_RESERVED;

	if (PXT_UNLIKELY(!got))
		pxt_block_refuse(block, place->ring.lane);
	return got;
}

/*
 * The writer's side of the policies that do not overwrite.  UNTIL_FULL and FLUSH: the
 * writer that takes the last slot, or finds no room, turns the gate to "stopped automatically".
 * DISCARD: a record that finds no room is refused and counted, and the stream goes on.
 *
 *   concurrency: writers at once, and beside consumer and control; the gate is turned by
 *   compare-exchange from the value the writer saw, generation included, so that a late writer
 *   cannot stop a stream that was restarted meanwhile.
 *
 * DISCARD: the reader learns where records are missing.  The first record that finds room after some
 * were refused takes one slot more, for a mark that is before it and says how many the lane has refused
 * in all.  `marked` says what the last mark said.  It is written after the place was taken, so that a
 * writer that is killed in between leaves the mark to the next one; and writers beside each other may
 * mark the same twice, which the reader sees by the number.
 */

/* Whether there are policies that stop the stream; and any that does not overwrite. */
#define PXT_AUTOSTOP_STOPS (CONFIG_PTRACE_POLICY_UNTIL_FULL || CONFIG_PTRACE_POLICY_FLUSH)
#define PXT_AUTOSTOP_BUILT (PXT_AUTOSTOP_STOPS || CONFIG_PTRACE_POLICY_DISCARD)

/* With @how: the event was inspected, or need not be. */
#define PXT_AUTOSTOP_SEEN 128u

/*
 * Where the gate says that nothing is overwritten, or that events are inspected.
 *
 * @how: PXT_TAKE_ORDERED or 0.  False: no room, or the stream was stopped by call meanwhile; it is
 * counted.
 *
 * Where the gate says that events are inspected, and @how does not say that this one was, @place is a
 * candidate's (core/record/inspect.h).  Streams that overwrite come here for it, too.  False is then also
 * an event that is not wanted, and the event may be shorter afterwards.
 */
bool pxt_fullpolicy_reserve(
    struct pxt_block *block, uint32_t gate, struct pxt_place *place, uint32_t slots, unsigned how);
/* Turns the gate if it still is as @gate says.  Only if PXT_AUTOSTOP_STOPS. */
void pxt_fullpolicy_switch(struct pxt_block *block, uint32_t gate);

#endif
