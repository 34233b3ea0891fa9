/* SPDX-License-Identifier: MIT */
/* order.c - orders out of bytes as they come. */
#include "format/order.h"

#include "format/crc32.h"
#include "format/frame.h"

#include <string.h>

/* Takes COBS off in place: codes are below 255, as a frame is short.  0: it is no frame. */
static uint32_t unstuff(unsigned char *bytes, uint32_t count)
{
	uint32_t used = 0;

	/* Bound: @count; each turn passes over a code. */
	for (uint32_t at = 0; at < count;) {
		uint32_t run = bytes[at++] - 1u;

		if (run > count - at)
			return 0;
		memmove(bytes + used, bytes + at, run);
		used += run;
		at += run;
		if (at < count)
			bytes[used++] = 0;
	}
	return used;
}

static uint32_t little(const unsigned char *at, uint32_t bytes)
{
	uint32_t value = 0;

	for (uint32_t i = 0; i < bytes; i++)
		value |= (uint32_t)at[i] << 8 * i;
	return value;
}

/* Names are whole, so that a reader of them stays in the frame. */
static bool is_order(struct pxt_order_line *line, struct pxt_order *order)
{
	const unsigned char *bytes = line->bytes;
	uint32_t count = unstuff(line->bytes, line->used);
	uint32_t end = count - PXT_ORDER_CRC;

	if (count < PXT_ORDER_TEXT_AT + PXT_ORDER_CRC || count > PXT_ORDER_BYTES ||
	    pxt_crc32(PXT_ORDER_SEED, bytes, end) != little(bytes + end, PXT_ORDER_CRC))
		return false;
	order->number = little(bytes, 2);
	order->what = bytes[2];
	order->how = bytes[3];
	order->text = (const char *)bytes + PXT_ORDER_TEXT_AT;
	order->text_bytes = end - PXT_ORDER_TEXT_AT;
	return !order->text_bytes || bytes[end - 1u] == 0;
}

/*
 * A delimiter ends a frame and may begin the next one: after an order what comes is text again, after
 * anything else it may be the frame whose beginning was taken for an end.
 */
enum pxt_order_byte pxt_order_take(
    struct pxt_order_line *line, unsigned char byte, struct pxt_order *order)
{
	bool whole;

	if (byte == PXT_FRAME_DELIMITER) {
		whole = line->inside && line->used && is_order(line, order);
		line->inside = !whole;
		line->used = 0;
		return whole ? PXT_ORDER_WHOLE : PXT_ORDER_TAKEN;
	}
	if (!line->inside)
		return PXT_ORDER_TEXT;
	if (line->used == sizeof(line->bytes)) {
		/* Longer than any order: a zero that nobody meant. */
		line->inside = 0;
		return PXT_ORDER_TEXT;
	}
	line->bytes[line->used++] = byte;
	return PXT_ORDER_TAKEN;
}
