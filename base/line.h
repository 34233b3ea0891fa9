/* SPDX-License-Identifier: MIT */
/*
 * line.h - frames, in which a log crosses a serial line or a network: FORMAT.md, section 10, in C.
 *
 * Packing needs no memory but the buffer that the frame goes to, and looks at each byte once.
 * Unpacking is the receiver's affair (tools/lineframe.c).
 */
#ifndef PXT_LINE_H
#define PXT_LINE_H

#include "base/compiler.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum pxt_line_kind {
	PXT_LINE_DATA = 0, /* slots */
	PXT_LINE_HEAD = 1, /* what a receiver needs to know before anything else */
	PXT_LINE_META = 2, /* entries of a block that is not DATA */
};

#define PXT_LINE_KIND_SHIFT   14u /* in the first word; below it the frame's number */
#define PXT_LINE_NUMBER_MASK  0x3fffu
#define PXT_LINE_START_BYTES  4u
#define PXT_LINE_CRC_BYTES    4u
#define PXT_LINE_OVERHEAD     (PXT_LINE_START_BYTES + PXT_LINE_CRC_BYTES)
#define PXT_LINE_DELIMITER    0u
/* What fits a packet of Ethernet: 1,472 bytes. */
#define PXT_LINE_CONTENTS_MAX 1456u
/* Of a HEAD: so much of the file head, a CLOCKS entry, and three counts. */
#define PXT_LINE_FILE_HEAD    296u
#define PXT_LINE_UUID_AT      32u
#define PXT_LINE_CLOCKS_AT    PXT_LINE_FILE_HEAD
#define PXT_LINE_COUNTS_AT    (PXT_LINE_CLOCKS_AT + 64u)
#define PXT_LINE_HEAD_BYTES   (PXT_LINE_COUNTS_AT + 24u)
/* Of a META: type and number of the entries behind it. */
#define PXT_LINE_META_START   4u
/* Room for a frame with @contents bytes of contents, a delimiter on both sides included. */
#define PXT_LINE_ROOM(contents)                                                                    \
	((contents) + PXT_LINE_OVERHEAD + ((contents) + PXT_LINE_OVERHEAD) / 254u + 3u)

/* What a frame says before its contents. */
struct pxt_line_start {
	enum pxt_line_kind kind;
	uint32_t seed;    /* CRC of the stream's UUID; 0 for a HEAD */
	uint64_t frames;  /* of the stream before this one ... */
	uint64_t records; /* ... and records that begin in them */
};

/* A frame under construction. */
struct pxt_line_frame {
	unsigned char *to;
	uint32_t used;
	uint32_t code_at; /* where the number of bytes up to the next zero goes */
	uint32_t crc;
	bool plain; /* a packet of its own: no COBS */
};

/* @to: PXT_LINE_ROOM() bytes.  @lone: what came before may be noise, so a delimiter comes first. */
void pxt_line_begin(struct pxt_line_frame *frame, void *to, const struct pxt_line_start *start,
    bool plain, bool lone);
void pxt_line_add(struct pxt_line_frame *frame, const void *contents, uint32_t bytes);
/* Returns the frame's bytes. */
uint32_t pxt_line_end(struct pxt_line_frame *frame);

#endif
