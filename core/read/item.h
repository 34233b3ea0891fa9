/* SPDX-License-Identifier: MIT */
/* item.h - one item of the sequence that a stream holds for its consumer (consumer.h). */
#ifndef PXT_ITEM_H
#define PXT_ITEM_H

#include "core/stream/startset.h"

#include <stdint.h>

enum pxt_item_kind {
	PXT_ITEM_RECORD, /* in a lane */
	PXT_ITEM_OOB,    /* a START or STOP by call that had found no room */
	PXT_ITEM_MADE,   /* made by the consumer: automatic STOP, START, OVERFLOW, RESUME */
};

#define PXT_MADE_BYTES (PXT_START_BYTES > sizeof(int) ? PXT_START_BYTES : sizeof(int))

struct pxt_item {
	enum pxt_item_kind kind;
	uint32_t lane;
	uint32_t info;  /* pxt_slot_info() */
	uint32_t slots; /* that the record takes in a log */
	uint64_t ticks; /* as reported: never less than the event's before */
	uint64_t stamp; /* as the trace point read it; of what is made: the same as ticks */
	uint64_t lost_before;
	uint64_t ctx; /* OOB, MADE */
	unsigned char data[PXT_MADE_BYTES];
};

#endif
