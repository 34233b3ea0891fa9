/* SPDX-License-Identifier: MIT */
/*
 * frame.h - frames, in which a log crosses a serial line or a network: FORMAT.md, section 10, in C; and
 * compact ones.
 *
 * Packing needs no memory but the buffer that the frame goes to, and looks at each byte once.
 * Unpacking is the receiver's affair (tools/line/frame.c).
 */
#ifndef PXT_FRAME_H
#define PXT_FRAME_H

#include "format/ids.h"
#include "format/slot.h"

enum pxt_frame_kind {
	PXT_FRAME_DATA = 0,    /* slots */
	PXT_FRAME_HEAD = 1,    /* what a receiver needs to know before anything else */
	PXT_FRAME_META = 2,    /* entries of a block that is not DATA */
	PXT_FRAME_COMPACT = 3, /* records, not as slots (format/frame.h) */
};

#define PXT_FRAME_KIND_SHIFT   14u /* in the first word; below it the frame's number */
#define PXT_FRAME_NUMBER_MASK  0x3fffu
#define PXT_FRAME_START_BYTES  4u
#define PXT_FRAME_CRC_BYTES    4u
#define PXT_FRAME_OVERHEAD     (PXT_FRAME_START_BYTES + PXT_FRAME_CRC_BYTES)
#define PXT_FRAME_DELIMITER    0u
/* What fits a packet of Ethernet: 1,472 bytes. */
#define PXT_FRAME_CONTENTS_MAX 1456u
/* Of a HEAD: so much of the file head, a CLOCKS entry, and three counts. */
#define PXT_FRAME_FILE_HEAD    296u
#define PXT_FRAME_UUID_AT      32u
#define PXT_FRAME_CLOCKS_AT    PXT_FRAME_FILE_HEAD
#define PXT_FRAME_COUNTS_AT    (PXT_FRAME_CLOCKS_AT + 64u)
#define PXT_FRAME_HEAD_BYTES   (PXT_FRAME_COUNTS_AT + 24u)
/* Of a META: type and number of the entries after it. */
#define PXT_FRAME_META_START   4u
/* Room for a frame with @contents bytes of contents, a delimiter on both sides included. */
#define PXT_FRAME_ROOM(contents)                                                                   \
	((contents) + PXT_FRAME_OVERHEAD + ((contents) + PXT_FRAME_OVERHEAD) / 254u + 3u)

/* What a frame says before its contents. */
struct pxt_frame_start {
	enum pxt_frame_kind kind;
	uint32_t seed;    /* CRC of the stream's UUID; 0 for a HEAD */
	uint64_t frames;  /* of the stream before this one ... */
	uint64_t records; /* ... and records that begin in them */
};

/* A frame under construction. */
struct pxt_frame {
	unsigned char *to;
	uint32_t used;
	uint32_t code_at; /* where the number of bytes up to the next zero goes */
	uint32_t crc;
	bool plain; /* a packet of its own: no COBS */
};

/* @to: PXT_FRAME_ROOM() bytes.  @lone: what came before may be noise, so a delimiter comes first. */
void pxt_frame_begin(
    struct pxt_frame *frame, void *to, const struct pxt_frame_start *start, bool plain, bool lone);
void pxt_frame_add(struct pxt_frame *frame, const void *contents, uint32_t bytes);
/* Returns the frame's bytes. */
uint32_t pxt_frame_end(struct pxt_frame *frame);

/*
 * Records in the contents of a COMPACT frame: FORMAT.md, section 10, in C; and
 * compact ones.
 *
 * Each frame can be read by itself: what a record is like is said once in it, as a site, and its stamp
 * is told by the difference to the record before.  Unpacking is the receiver's affair
 * (tools/receive/compact.c).
 */

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

/* A frame of records under construction: what it has told so far. */
struct pxt_compact {
	struct pxt_frame *frame;
	uint32_t written; /* to the frame, which takes many at once */
	uint32_t waiting;
	uint64_t ticks;
	uintptr_t address; /* of the newest site */
	uint32_t thread;
	uint32_t sites; /* so many; the next one takes the place of the oldest */
	struct {
		uint32_t info;
		uintptr_t address;
	} site[PXT_COMPACT_SITES];
	unsigned char bytes[16];
};

/* @ticks: at creation of the stream. */
void pxt_compact_begin(struct pxt_compact *to, struct pxt_frame *frame, uint64_t ticks);
/* Whether a record of so many bytes of data fits @room bytes of contents in all. */
bool pxt_compact_fits(const struct pxt_compact *to, uint32_t data, uint32_t room);
void pxt_compact_put_loss(struct pxt_compact *to, uint64_t records);
/* A record's slots, as a log has them; in the smallest Core its payload has no gaps. */
void pxt_compact_put(struct pxt_compact *to, const struct pxt_slot *slot);
void pxt_compact_end(struct pxt_compact *to);
/* Whether the record that begins at @slot fits an empty frame. */
bool pxt_compact_takes(const struct pxt_slot *slot, uint32_t room);
/*
 * Adds records and losses, of @bytes bytes of slots as many as fit @room.  Returns the bytes of their slots.
 */
uint32_t pxt_compact_add(struct pxt_frame *frame, const struct pxt_slot *slot, uint32_t bytes,
    uint32_t room, uint64_t ticks);

#endif
