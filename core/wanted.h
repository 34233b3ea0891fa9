/* SPDX-License-Identifier: MIT */
/*
 * wanted.h - the table that decides at a trace point whether anything needs to happen: for each
 * event type the streams that are running or automatically stopped and do not filter it out
 * (LPT-33, ruling 11).
 *
 *   who beside whom: readers (trace points) at any time; changes under the process lock.
 *
 * The table is a hint that is never too small for long and may be too large for a moment: what
 * counts is the stream's own gate and filter, which a writer looks at behind it.
 */
#ifndef PXT_WANTED_H
#define PXT_WANTED_H

#include "base/ids.h"

#include <stdbool.h>
#include <stdint.h>
#include <trace_np.h>

typedef _PXT_WANTED_TYPE pxt_wanted_mask;

PXT_INLINE pxt_wanted_mask pxt_wanted_by(size_t id)
{
	return __atomic_load_n(&_pxt_wanted[id], __ATOMIC_RELAXED);
}

/*
 * The hot stream (pxt_fork.hot): the one that is live, where there is one only, it overwrites, and
 * its stamps and slots are plain.  While it is in force the wanted table is exact, so neither gate
 * nor filter is looked at; a stop is met in head.
 *
 * Read from inside a trace point only: whoever changes streams first takes it out of force, and
 * waits for those inside before a filter changes or the block goes.  It is the block itself, so
 * that a writer that is never seen to leave finds its geometry in the memory that is kept for it.
 */

/*
 * What a trace point's mask must be for the short path; relatives' streams change it (family.h).
 * Not 0 for "never": that is the mask of whoever looked at the table before its type was filtered
 * and comes in behind.
 */
#define PXT_HOT_NEVER UINT32_MAX

/* In place of a hot stream: its `wanted_bit` is PXT_HOT_NEVER, and nothing else of it may be read. */
extern const struct pxt_no_hot pxt_no_hot __attribute__((visibility("hidden")));
#define PXT_NO_HOT ((struct pxt_block *)(uintptr_t)&pxt_no_hot)

/* Takes the hot stream out of force until the next pxt_wanted_update(); under the process lock. */
void pxt_hot_suspend(void);
/* Brings the bit of stream @index up to date for all types; @live: running or auto-stopped. */
void pxt_wanted_update(unsigned index, bool live);
/* In a child: all that exists is wanted by the streams it inherits. */
void pxt_wanted_inherited(void);
/*
 * User type @id comes: it is wanted by every live stream that does not filter it, before anybody can
 * know its number; under the process lock.
 */
void pxt_wanted_type_comes(unsigned id);
/* The same for one that a relative may have defined; under no lock. */
void pxt_wanted_type_added(unsigned id);
/* Nothing is wanted; for a forked child, async-signal-safe. */
void pxt_wanted_none(void);

#endif
