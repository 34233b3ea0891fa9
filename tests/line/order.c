/* SPDX-License-Identifier: MIT */
/* order.c - orders of a host out of the bytes of a line: what is one, and what is text or nothing. */
#include "suite.h"

#include "format/crc32.h"
#include "format/order.h"
#include "tools/link/frame.h"

#include <string.h>

static const char names[] = "net_*\0loop";

/* As it goes over a line, a delimiter on both sides; returns its bytes. */
static size_t pack(unsigned char *out, unsigned char what, const void *text, size_t bytes)
{
	unsigned char plain[PXT_ORDER_BYTES] = { 0x34, 0x12, what, PXT_ORDER_ADD };
	size_t end = PXT_ORDER_TEXT_AT + bytes;
	uint32_t sum;

	if (bytes)
		memcpy(plain + PXT_ORDER_TEXT_AT, text, bytes);
	sum = pxt_crc32(PXT_ORDER_SEED, plain, end);
	for (unsigned i = 0; i < PXT_ORDER_CRC; i++)
		plain[end++] = (unsigned char)(sum >> 8 * i);
	out[0] = 0;
	return 1 + pxt_linkframe_stuff(plain, end, out + 1);
}

struct heard {
	struct pxt_order_line line;
	unsigned orders;
	struct pxt_order order; /* the last one; its text is gone with the next byte */
	size_t texts;
	char text[256];
};

static void hear(struct heard *heard, const unsigned char *bytes, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		switch (pxt_order_take(&heard->line, bytes[i], &heard->order)) {
		case PXT_ORDER_WHOLE:
			heard->orders++;
			break;
		case PXT_ORDER_TEXT:
			heard->text[heard->texts++ % sizeof heard->text] = (char)bytes[i];
			break;
		case PXT_ORDER_TAKEN:
		default:
			break;
		}
	}
}

/* ZEP-43 */
PXT_TEST(an_order_is_taken_out_of_text)
{
	unsigned char bytes[256] = "before ";
	size_t count = 7 + pack(bytes + 7, PXT_ORDER_FILTER, names, sizeof names);
	struct heard heard = { .orders = 0 };

	memcpy(bytes + count, "after", 5);
	hear(&heard, bytes, count);
	PXT_EQ(heard.orders, 1);
	PXT_EQ(heard.order.number, 0x1234);
	PXT_EQ(heard.order.what, PXT_ORDER_FILTER);
	PXT_EQ(heard.order.how, PXT_ORDER_ADD);
	PXT_EQ(heard.order.text_bytes, sizeof names);
	CU_ASSERT(memcmp(heard.order.text, names, sizeof names) == 0);
	hear(&heard, bytes + count, 5);
	CU_ASSERT(heard.texts == 12 && memcmp(heard.text, "before after", 12) == 0);
}

PXT_TEST(an_order_that_is_cut_or_changed_is_none)
{
	unsigned char bytes[256];
	size_t count = pack(bytes, PXT_ORDER_STOP, NULL, 0);

	for (size_t i = 0; i < count; i++) {
		struct heard cut = { .orders = 0 };

		hear(&cut, bytes, i);
		hear(&cut, bytes + i + 1, count - i - 1);
		/* Without the delimiter in front it is text. */
		PXT_EQ(cut.orders, 0);
		for (unsigned bit = 0; bit < 8 && i > 0 && i < count - 1; bit++) {
			struct heard changed = { .orders = 0 };

			bytes[i] ^= (unsigned char)(1u << bit);
			hear(&changed, bytes, count);
			PXT_EQ(changed.orders, 0);
			bytes[i] ^= (unsigned char)(1u << bit);
		}
	}
}

PXT_TEST(the_next_order_is_taken_whatever_came_before)
{
	unsigned char bytes[256];
	unsigned char noise[997] = { 0 };
	size_t count = pack(bytes, PXT_ORDER_START, NULL, 0);
	struct heard heard = { .orders = 0 };
	uint32_t state = 1;

	for (unsigned round = 1; round <= 2000; round++) {
		size_t much = state >> 8 & 511u;

		for (size_t i = 0; i < much; i++) {
			state = state * 1664525u + 1013904223u;
			noise[i] =
			    round % 2 ? (unsigned char)(state >> 24) : bytes[(state >> 24) % count];
		}
		hear(&heard, noise, much);
		hear(&heard, bytes, count);
		PXT_EQ_FATAL(heard.orders, round);
	}
}

PXT_TEST(names_that_have_no_end_are_no_order)
{
	unsigned char bytes[256];
	size_t count = pack(bytes, PXT_ORDER_FILTER, names, sizeof names - 1);
	struct heard heard = { .orders = 0 };

	hear(&heard, bytes, count);
	PXT_EQ(heard.orders, 0);
}

/* A zero that nobody meant costs the text behind it, up to the length of an order. */
PXT_TEST(text_after_a_stray_zero_comes_back)
{
	unsigned char letters[200];
	struct heard heard = { .orders = 0 };

	memset(letters, 'x', sizeof letters);
	letters[0] = 0;
	hear(&heard, letters, sizeof letters);
	PXT_EQ(heard.texts, sizeof letters - 1 - sizeof heard.line.bytes);
}
