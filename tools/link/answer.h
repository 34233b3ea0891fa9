/* SPDX-License-Identifier: MIT */
/* answer.h - what a target answers to an order, among all else that its line brings (format/order.h). */
#ifndef PXT_LINK_ANSWER_H
#define PXT_LINK_ANSWER_H

#include "format/order.h"
#include "tools/link/frame.h"

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
