/* SPDX-License-Identifier: MIT */
/*
 * order.h - orders of a host, which come over the line that a log goes out on: FORMAT.md, section 10, in C.
 *
 * Nothing that comes is trusted: a frame is an order with its checksum, or nothing.  All other bytes are text.
 */
#ifndef PXT_ORDER_H
#define PXT_ORDER_H

#include <stdbool.h>
#include <stdint.h>

/* Number (2 bytes), what, how, names with a zero each, checksum (4 bytes, little-endian like the number). */
#define PXT_ORDER_BYTES   120u
#define PXT_ORDER_TEXT_AT 4u
#define PXT_ORDER_CRC     4u
/* No frame of a stream has such a checksum, so no echo is an order. */
#define PXT_ORDER_SEED    0x6b6e696cu

enum pxt_order_what {
	PXT_ORDER_STAT = 1,
	PXT_ORDER_START = 2,
	PXT_ORDER_STOP = 3,
	PXT_ORDER_FLUSH = 4,
	PXT_ORDER_FILTER = 5,
};

/* Numbers of the line, not of a library. */
enum pxt_order_how {
	PXT_ORDER_SET = 1,
	PXT_ORDER_ADD = 2,
	PXT_ORDER_SUB = 3,
};

enum pxt_order_result {
	PXT_ORDER_DONE = 0,
	PXT_ORDER_UNKNOWN = 1, /* no such order */
	PXT_ORDER_NO_TYPE =
	    2, /* nothing is called like the name of this number; nothing was changed */
	PXT_ORDER_FAILED = 3,
};

#define PXT_ORDER_ANSWER_BYTES 32u
/* The entry of an answer: in the target's order of bytes. */
struct pxt_order_answer {
	uint16_t bytes;
	uint16_t number; /* of the order */
	uint8_t what;
	uint8_t result;
	uint8_t state; /* of the stream: 0 stopped, 1 running, 2 stopped by itself */
	uint8_t at;    /* PXT_ORDER_NO_TYPE: the name's number, from 0 */
	uint64_t written;
	uint64_t retrieved;
	uint64_t lost;
};

struct pxt_order {
	uint32_t number;
	uint32_t what;
	uint32_t how;
	const char *text; /* names with a zero each */
	uint32_t text_bytes;
};

/* What came of a frame; zeros at the beginning. */
struct pxt_order_line {
	uint8_t inside; /* after a delimiter */
	uint8_t used;
	uint8_t bytes[PXT_ORDER_BYTES + 2u];
};

enum pxt_order_byte {
	PXT_ORDER_TEXT,  /* it is somebody else's */
	PXT_ORDER_TAKEN, /* it may be a part of an order */
	PXT_ORDER_WHOLE, /* with it an order is there, until the next byte */
};

enum pxt_order_byte pxt_order_take(
    struct pxt_order_line *line, unsigned char byte, struct pxt_order *order);

#endif
