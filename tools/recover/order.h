/* SPDX-License-Identifier: MIT */
/*
 * order.h - one sequence out of the lanes of a stream's image, by the rules of core/read/merge.c for a stream
 * in which nothing happens any more: the smallest stamp of the lanes' fronts comes first; nobody passes
 * a mark before the others have.  What core/read/merge.c gives up because another lane has lost it (rule
 * 3) is not given up: nobody waits for it any more.
 */
#ifndef PXT_RECOVER_ORDER_H
#define PXT_RECOVER_ORDER_H

#include "tools/recover/streamimage.h"

enum pxt_order_next {
	PXT_ORDER_RECORD, /* the front of a lane */
	PXT_ORDER_SIDE,   /* the next of streamimage->oobs */
	PXT_ORDER_END,
};

struct pxt_order {
	struct pxt_streamimage *streamimage;
	uint32_t oob; /* the next one */
};

void pxt_order_begin(struct pxt_order *order, struct pxt_streamimage *streamimage);
/* *chosen: the lane of the record. */
enum pxt_order_next pxt_order_next(struct pxt_order *order, uint32_t *chosen);
/* It was taken. */
void pxt_order_done(struct pxt_order *order, enum pxt_order_next next, uint32_t lane);

#endif
