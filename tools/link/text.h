/* SPDX-License-Identifier: MIT */
/*
 * text.h - a trace among the text of a console (FORMAT.md, section 10): lines that hold PTL: and
 * base64 are bytes of the trace, others are somebody else's words.
 *
 * Memory is one line; what is longer than PXT_LINKTEXT_BYTES is text, in pieces.
 */
#ifndef PXT_LINKTEXT_H
#define PXT_LINKTEXT_H

#include <stdbool.h>
#include <stddef.h>

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

#endif
