/* SPDX-License-Identifier: MIT */
/*
 * frame.h - frames out of bytes (FORMAT.md, section 10).  Nothing is trusted: whatever arrives, memory
 * is one frame; other bytes are counted and skipped up to the next delimiter.
 */
#ifndef PXT_LINKFRAME_H
#define PXT_LINKFRAME_H

#include "format/frame.h"
#include "format/order.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PXT_LINKFRAME_BYTES (PXT_FRAME_CONTENTS_MAX + PXT_FRAME_OVERHEAD)

/* A frame whose checksum nobody has looked at yet. */
struct pxt_linkframe {
	enum pxt_frame_kind kind;
	uint32_t number;  /* of the frame, lowest 14 bits */
	uint32_t records; /* before it, lowest 16 bits */
	const unsigned char *contents;
	uint32_t bytes;
	const unsigned char *all; /* as it was packed, checksum excluded */
	uint32_t sum;
};

/* False: too short or too long to be one. */
bool pxt_linkframe_parse(struct pxt_linkframe *frame, const unsigned char *bytes, size_t count);
/* Whether the checksum is right for the stream whose UUID has the CRC @seed (0: a HEAD). */
bool pxt_linkframe_sound(const struct pxt_linkframe *frame, uint32_t seed);

/* Takes COBS off.  Returns the bytes written to @to (of @count bytes at least), or 0: it is none. */
size_t pxt_linkframe_unstuff(const unsigned char *from, size_t count, unsigned char *to);

/* Puts COBS and a delimiter on: PXT_FRAME_ROOM() bytes at @to.  Returns the bytes written. */
size_t pxt_linkframe_stuff(const unsigned char *from, size_t count, unsigned char *to);

/* ---- Bytes as they come ---- */

struct pxt_linkcut {
	unsigned char bytes[PXT_FRAME_ROOM(PXT_FRAME_CONTENTS_MAX)];
	size_t used;
	bool overlong; /* the rest is passed over, up to the next delimiter */
	bool begun;    /* a delimiter was seen: what comes now has a beginning */
};

/*
 * What is between two delimiters: @bytes without COBS, or NULL and 0 when it is no frame.  The
 * piece before the first delimiter may be the end of a frame that began before we listened.
 */
struct pxt_linkpiece {
	const unsigned char *bytes;
	size_t count;
	bool torso;
};

/*
 * Takes bytes from *@at up to @end, stops after the next piece and returns true; false when they
 * are used up.  The piece is valid until the next call.
 */
bool pxt_linkcut_next(struct pxt_linkcut *cut, const unsigned char **at, const unsigned char *end,
    struct pxt_linkpiece *piece);
/* Another device, or the same one after a pause: what was begun is not continued. */
void pxt_linkcut_reset(struct pxt_linkcut *cut);

/*
 * ---- A trace among the text of a console (FORMAT.md, section 10) ----
 *
 * Lines that hold PTL: and base64 are bytes of the trace, others are somebody else's words.
 * Memory is one line; what is longer than PXT_LINKTEXT_BYTES is text, in pieces.
 */

#define PXT_LINKTEXT_BYTES 8192u

struct pxt_linktext {
	/* Bytes of the trace, as many as a line holds. */
	void (*trace)(void *context, const unsigned char *bytes, size_t count);
	/* A line of text, without its end. */
	void (*text)(void *context, const char *text, size_t count);
	/* A line that holds PTL: but no whole base64 after it. */
	void (*spoilt)(void *context);
	void *context;
	size_t used;
	char line[PXT_LINKTEXT_BYTES];
};

/* Whether these bytes hold a line that a console's trace would be taken from. */
bool pxt_linktext_is_in(const unsigned char *bytes, size_t count);

void pxt_linktext_bytes(struct pxt_linktext *text, const unsigned char *bytes, size_t count);
/* What is in the last line, though it has no end. */
void pxt_linktext_end(struct pxt_linktext *text);

/* What a target answers to an order, among all else that its line brings (format/order.h). */

struct pxt_linkanswer {
	bool console; /* the caller's: frames come in lines of text */
	struct pxt_linktext text;
	struct pxt_linkcut cut;
	const unsigned char *order; /* whose answer is waited for */
	bool swapped;
	bool has_head; /* of the stream whose frames come ... */
	uint32_t seed; /* ... with this in their checksums */
	bool answered;
	struct pxt_order_answer answer;
};

/* @order, as it goes out, stays the caller's. */
void pxt_linkanswer_begin(struct pxt_linkanswer *link, const unsigned char *order);
/* Any number of bytes of the line. */
void pxt_linkanswer_bytes(struct pxt_linkanswer *link, const unsigned char *bytes, size_t count);

#endif
