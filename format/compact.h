/* SPDX-License-Identifier: MIT */
/*
 * compact.h - records in the contents of a COMPACT frame: FORMAT.md, section 10, in C.
 *
 * Each frame can be read by itself: what a record is like is said once in it, as a site, and its stamp
 * is told by the difference to the record before.  Unpacking is the receiver's affair
 * (tools/receive/compact.c).
 */
#ifndef PXT_COMPACT_H
#define PXT_COMPACT_H

#include "format/frame.h"
#include "format/ids.h"
#include "format/slot.h"

#define PXT_COMPACT_SITES      14u
/* The site whose records are nobody's where no thread is told: FLUSH_START, as a frame begins. */
#define PXT_COMPACT_NOBODY     0u
/* The first byte of a record: the site, or one of these ... */
#define PXT_COMPACT_LOSS       14u
#define PXT_COMPACT_NEW        15u
#define PXT_COMPACT_SITE_SHIFT 4u
/* ... and what follows. */
#define PXT_COMPACT_SPARSE     8u /* data without its zero bytes */
#define PXT_COMPACT_THREAD     4u /* another thread than before */
#define PXT_COMPACT_FAR        3u /* the stamp's difference as a number; else so many bytes and one */
/* Of a new site's type: cut, extra and CPU follow. */
#define PXT_COMPACT_ODD        1u
/* A record takes at most so many bytes beside its data. */
#define PXT_COMPACT_MOST       40u

/*
 * Of a site is known its events' type, bytes and CPU (word 1 of the first slot), and address.  A frame begins
 * with these, which have no address.
 */
#define PXT_COMPACT_INFO(id)    ((uint32_t)(id) | PXT_CPU_UNKNOWN << 24)
#define PXT_COMPACT_FIRST       PXT_COMPACT_INFO(PXT_ID_FLUSH_START)
#define PXT_COMPACT_SECOND      PXT_COMPACT_INFO(PXT_ID_FLUSH_STOP)
#define PXT_COMPACT_FIRST_SITES 2u

/* Whether the record that begins at @slot fits @room bytes of contents. */
bool pxt_compact_fits(const struct pxt_slot *slot, uint32_t room);
/*
 * Adds records and losses, of @bytes bytes of slots as many as fit @room.  Returns the bytes of their slots.
 * @ticks: at creation of the stream.
 */
uint32_t pxt_compact_add(struct pxt_frame *frame, const struct pxt_slot *slot, uint32_t bytes,
    uint32_t room, uint64_t ticks);

#endif
